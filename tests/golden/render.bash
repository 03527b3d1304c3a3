# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the expected bytes in tests/golden/expected are, for golden.bats and for update. Needs $BT and $TOP.
#
# Of the recording sqlite every output is there to be read, each fact in one place: scripts, style sheets and the page's
# frames (flame.svg has them) stand there by name, the database has one row of each table (the others are those of the CSV: agree.bats),
# and of what is many in report and trace there is enough to see its form. SHA256SUMS has what these three were before they were
# shortened. Of the other recordings it is the text (text.txt), the folded stacks and what went to standard error; the rest is in
# SHA256SUMS. What a difference there is, `barriertrace report` shows, of this build and of one before.

RECORDINGS=$TOP/tests/golden/recordings
EXPECTED=$TOP/tests/golden/expected
FULL=sqlite

# report DIR NAME ARGUMENT...: its status and its words, if any, are a part of what is expected
report() {
	local dir=$1 name=$2 status=0
	shift 2
	# the name of the recording stands in messages
	(cd "$RECORDINGS" && LC_ALL=C.UTF-8 "$BT" report "$name.btrec" "$@") >>"$dir/messages" 2>&1 || status=$?
	((!status)) || printf 'status %d\n' "$status" >>"$dir/messages"
}

# ask FILE: what the SQL on standard input yields
ask() {
	sqlite3 -batch -init /dev/null -readonly "$1"
}

# The text of a database: neither the bytes of the file nor what .dump makes of it are the same in all versions of SQLite.
dump_db() { # FILE
	ask "$1" <<-'SQL'
		SELECT 'application_id ' || application_id FROM pragma_application_id;
		SELECT 'user_version ' || user_version FROM pragma_user_version;
		SELECT sql || ';' FROM sqlite_master WHERE sql NOT NULL ORDER BY rowid;
	SQL
	ask "$1" <<-'SQL' | ask "$1"
		SELECT printf('SELECT ''%s'', %s ORDER BY %s;', t.name,
			(SELECT group_concat(printf('CASE typeof("%w") WHEN ''real'' THEN printf(''%%.9f'', "%w") ELSE quote("%w") END',
				name, name, name), ', ') FROM pragma_table_info(t.name)) || printf(' FROM "%w"', t.name),
			(SELECT group_concat('+"' || name || '"', ', ') FROM pragma_table_info(t.name)))
		FROM sqlite_master AS t WHERE type IN ('table', 'view') ORDER BY t.rowid;
	SQL
}

# render NAME DIR: every output
render() {
	local name=$1 dir
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || return
	report "$dir" "$name" -o "$dir/text.txt" --json "$dir/report.json" --flame "$dir/flame.svg" --html "$dir/page.html" \
		--folded "$dir/folded.txt" --perfetto "$dir/perfetto.json" \
		--db "$dir/db" --csv "$dir/csv"
	report "$dir" "$name" -o "$dir/ascii.txt" --ascii
	report "$dir" "$name" -o "$dir/verbose.txt" --verbose
	report "$dir" "$name" -o "$dir/quiet.txt" --quiet
	[[ -s $dir/messages ]] || rm "$dir/messages"
	dump_db "$dir/db" >"$dir/db.txt"
	rm "$dir/db"
}

# Keep what is stored of a recording that isn't stored in full.
condense() { # DIR
	(
		cd "$1" || exit
		find . -type f ! -name text.txt ! -name folded.txt ! -name messages -printf '%P\n' | LC_ALL=C sort |
			xargs -d '\n' sha256sum >../sums || exit
		find . -type f ! -name text.txt ! -name folded.txt ! -name messages -delete
		find . -mindepth 1 -type d -delete
		mv ../sums SHA256SUMS
	)
}

# name_assets FILE ASSET...: a line with its name in place of each that FILE has, to the byte
name_assets() {
	local file=$1 asset
	shift
	for asset; do
		awk -v name="src/render/assets/$asset" '
			NR == FNR { want[n = FNR] = $0; next }
			{ line[++lines] = $0 }
			END {
				for (i = 1; i <= lines; i += k ? k : 1) {
					for (k = 0; k < n && line[i + k] == want[k + 1]; k++);
					k = k == n ? n : 0
					print k ? name : line[i]
				}
			}' "$TOP/src/render/assets/$asset" "$file" >"$file.named" && mv "$file.named" "$file"
	done
}

# table_of FILE.csv: what the database calls it
table_of() {
	local name=${1##*/}
	case ${name%.csv} in
	calls) echo sync_call ;;
	leaves) echo leaf ;;
	processes) echo process ;;
	run | verdict | whatif | ledger | *_ledger) echo "${name%.csv}" ;;
	*) echo "${name%s.csv}" ;;
	esac
}

# frames FILE [UP]: of a flame graph, moved up
frames() {
	awk -v up="${2:-0}" '
		/^<g class="frames">/ { on = 1 }
		/^<g class="foot">/ { exit }
		on {
			line = ""
			while (match($0, / y="[0-9]+"/)) {
				line = line substr($0, 1, RSTART - 1) sprintf(" y=\"%d\"", substr($0, RSTART + 4) - up)
				$0 = substr($0, RSTART + RLENGTH)
			}
			print line $0
		}' "$1"
}

# name_frames PAGE FLAME UP: a line in place of the page's frames, if they are the flame's
name_frames() {
	cmp -s <(frames "$1") <(frames "$2" "$3") || return 0
	awk -v name="the frames of ${2##*/}, $3 higher" '
		/^<g class="frames">/ { print name; within = 1 }
		/^<g class="foot">/ { within = 0 }
		!within' "$1" >"$1.named" && mv "$1.named" "$1"
}

# first_of_many FILE: of a report's histograms the first has its buckets, of its leaves and slowest calls there are two
first_of_many() {
	awk '
		function indent() { match($0, /^ */); return substr($0, 1, RLENGTH) }
		skip && index($0, end) != 1 { next }
		many && index($0, end) == 1 { many = 0 }
		skip == 2 { skip = 0; next }
		{ skip = 0 }
		/"(leaves|slowest)": \[$/ { end = indent() "]"; first = indent() "  {"; many = 3 }
		/"buckets": \[$/ && !many && buckets++ { end = indent() "]"; sub(/\[/, "[..]"); skip = 2 }
		many && $0 == first && !--many { $0 = indent() "[..]"; skip = 1 }
		{ print }' "$1" >"$1.short" && mv "$1.short" "$1"
}

# first_events FILE: of a trace, two of each kind, and of which kinds there are more
first_events() {
	awk '
		match($0, /"cat":"[^"]*","name":"[^"]*"/) || match($0, /"name":"[a-z]*_name"/) {
			kind = substr($0, 8, 1) " " substr($0, RSTART, RLENGTH)
			if (++n[kind] > 2) next
		}
		{ print }
		END { for (kind in n) if (n[kind] > 2) print n[kind] - 2 " more: " kind | "LC_ALL=C sort -k 3" }
		' "$1" >"$1.short" && mv "$1.short" "$1"
}

# make_expected NAME DIR: as it is stored
make_expected() {
	local file
	render "$1" "$2" || return
	[[ $1 == "$FULL" ]] || { condense "$2"; return; }
	(cd "$2" && sha256sum db.txt perfetto.json report.json >SHA256SUMS) || return
	name_assets "$2/page.html" flame.css flame.js page.css page.js
	name_assets "$2/flame.svg" flame.js # with its style it is a picture still: README shows it
	name_frames "$2/page.html" "$2/flame.svg" 66 # which has a title and a field to search in
	first_of_many "$2/report.json"
	first_events "$2/perfetto.json"
	for file in "$2"/csv/*.csv; do
		sed -i "0,/^$(table_of "$file")|/!{//d}" "$2/db.txt"
	done
}

recording_names() {
	local file
	for file in "$RECORDINGS"/*.btrec; do
		file=${file##*/}
		printf '%s\n' "${file%.btrec}"
	done
}
