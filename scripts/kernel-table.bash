# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts/check-kernels: the tables of docs/reference/kernels.md, of what was seen on each kernel. They are their own memory: a run reads
# them, puts its results in, and writes them back. A row says which version was seen and on which day; a cell that was seen with
# another one, or another day, says so itself: "ok (6.1.176-1, 2026-11-22)".

BEGIN_MARK='<!-- seen by check-kernels -->' END_MARK='<!-- end of what was seen -->'
# A table for the tests of each of these
GROUPS_OF_FILES=(
	'tests/vm/kernels.bats tests/vm/kernels_arm64.bats tests/vm/full/kernels_arm64.bats tests/vm/full/lockdown.bats'
	'tests/vm/rungs.bats tests/vm/full/rungs.bats tests/vm/suites.bats tests/vm/full/file_systems.bats tests/vm/full/suites.bats'
)

# What there is to see: "want GROUP KERNEL ARCH COLUMN NOTE" of each test
wanted_cells() {
	local group=0 files
	for files in "${GROUPS_OF_FILES[@]}"; do
		# shellcheck disable=SC2086 # words
		sed -nE 's/^@test "vm ([^ ]+) ([^ ]+) ([^ :]+): ((none|limit): )?([^"]*)".*/want\t'$((++group))'\t\1\t\2\t\3\t\6/p' $files
	done
}

# What the tables of FILE say, as results
known_cells() { # FILE
	sed -n "/^$BEGIN_MARK\$/,/^$END_MARK\$/p" "$1" | awk -F ' *[|] *' '
		/^[|] kernel / { for (i = 3; i < NF; i++) { columns[i] = $i; gsub(/`/, "", columns[i]) } next }
		/^[|] [0-9]/ {
			split($2, row, " ")
			split($3, seen, ", ")
			for (i = 4; i < NF; i++) {
				split($i, state, " ")
				if (state[1] !~ /^(ok|FAIL|none|limit)$/) continue
				version = seen[1]; day = seen[2]
				if (match($i, /[(].*[)]/)) {
					split(substr($i, RSTART + 1, RLENGTH - 2), own, ", ")
					version = own[1]; day = own[2]
				}
				printf "cell\t%s\t%s\t%s\t%s\t%s\t%s\n", row[1], row[2], columns[i], state[1], version, day
			}
		}'
}

# Markdown of what there is to see and of results, the later ones instead of the earlier ones
markdown() { # WANTED RESULTS...
	awk -F '\t' -v OFS='' '
		$1 == "want" {
			group = $2; row = $3 " " $4
			if (group > n_groups) n_groups = group
			if (!((group, row) in row_seen)) { row_seen[group, row]; rows[group, ++n_rows[group]] = row }
			if (!((group, $5) in column_seen)) { column_seen[group, $5]; columns[group, ++n_columns[group]] = $5 }
			wanted[row, $5]; note[row, $5] = $6
		}
		$1 == "cell" && $5 != "skip" && $6 != "" {
			key = $2 " " $3 SUBSEP $4
			state[key] = $5; seen[key] = $6 ", " $7
		}
		function usual(group, row, c, key, n, best) { # when most of the cells of the row were seen
			best = "not seen yet"
			for (c = 1; c <= n_columns[group]; c++) {
				key = row SUBSEP columns[group, c]
				if (key in state && ++n[seen[key]] > n[best]) best = seen[key]
			}
			return best
		}
		function cell(key, row_seen_at) {
			if (!(key in wanted)) return "–"
			if (!(key in state)) return "not run"
			return state[key] (seen[key] == row_seen_at ? "" : " (" seen[key] ")")
		}
		function table(group, r, c, row, at, line) {
			line = "| kernel | seen |"
			for (c = 1; c <= n_columns[group]; c++) line = line " `" columns[group, c] "` |"
			print line
			gsub(/[^|]+/, "---", line)
			print line
			for (r = 1; r <= n_rows[group]; r++) {
				row = rows[group, r]; at = usual(group, row)
				line = "| " row " | " at " |"
				for (c = 1; c <= n_columns[group]; c++) line = line " " cell(row SUBSEP columns[group, c], at) " |"
				print line
			}
			print ""
		}
		function limits(group, r, c, i, row, key, where, texts, n) {
			for (r = 1; r <= n_rows[group]; r++) for (c = 1; c <= n_columns[group]; c++) {
				row = rows[group, r]; key = row SUBSEP columns[group, c]
				if (state[key] !~ /^(none|limit)$/) continue
				if (!(note[key] in where)) texts[++n] = note[key]
				where[note[key]] = where[note[key]] (where[note[key]] == "" ? "" : ", ") row " `" columns[group, c] "`"
			}
			for (i = 1; i <= n; i++) print "* ", where[texts[i]], ": ", texts[i]
			if (n) print ""
		}
		END { for (group = 1; group <= n_groups; group++) { table(group); limits(group) } }' "$@"
}

# write_tables RESULTS FILE: the tables of FILE with the results in them. False: it has no place for them.
write_tables() {
	local dir=${1%/*} lock
	if ! grep -qxF -e "$BEGIN_MARK" "$2" || ! grep -qxF -e "$END_MARK" "$2"; then
		echo "$2 has no place for the tables: $BEGIN_MARK, $END_MARK" >&2
		return 1
	fi
	exec {lock}<"$2" && flock "$lock"
	wanted_cells | sort -t $'\t' -s -k 2,2n -k 3,3V -k 4,4r >"$dir/wanted"
	known_cells "$2" >"$dir/known"
	markdown "$dir/wanted" "$dir/known" "$1" >"$dir/tables"
	sed -e "/^$BEGIN_MARK\$/r $dir/tables" -e "/^$BEGIN_MARK\$/,/^$END_MARK\$/{/^<!--/!d;}" "$2" >"$dir/doc" && cat "$dir/doc" >"$2"
	exec {lock}<&-
}
