#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Every output says the same, to the nanosecond, in all and cause by cause. The measure is the JSON report's ledger.

bats_require_minimum_version 1.5.0
load ../helpers
load render

NAMES=(sample sqlite hostile mixed cut)

setup() {
	need_tool
	need jq
	need sqlite3
	cd "$BATS_TEST_TMPDIR" || return
	local name
	for name in "${NAMES[@]}"; do
		mkdir "$name"
		"$BT" report "$RECORDINGS/$name.btrec" --json "$name/json" --flame "$name/flame" --html "$name/html" \
			--folded "$name/folded" --perfetto "$name/perfetto" --db "$name/db" \
			--csv "$name/csv" -o "$name/text" 2>/dev/null || [[ $name == cut && $? == 5 ]]
	done
}

# by_cause: sums up lines of a cause and nanoseconds, and all of them
by_cause() {
	awk '{ ns[$1] += $2; all += $2 }
		END { for (c in ns) if (ns[c]) printf "%s %.0f\n", c, ns[c]; printf "total %.0f\n", all }' | LC_ALL=C sort
}

# agrees WHAT FUNCTION: what FUNCTION prints, lines of a cause and nanoseconds, is the ledger of each recording
agrees() {
	local what=$1 name
	shift
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		{
			jq -r '.sync.ledger | to_entries[] | "\(.key) \(.value)"' json
			jq -r '"total \(.sync.total_ns)"' json
		} | LC_ALL=C sort >want
		(($(wc -l <want) > 5))
		"$@" | by_cause >got
		diff want got || { echo "$name: $what differs"; return 1; }
	done
}

# Of frames joined by ';' and nanoseconds: the cause stands last, or a device behind it does.
cause_of_stack() {
	awk -v causes="$(jq -r '.sync.ledger | keys | join(" ")' json)" '
		BEGIN { n = split(causes, c, " "); for (i = 1; i <= n; i++) is[c[i]] = 1 }
		{
			ns = $NF
			sub(/ [0-9]+$/, "")
			n = split($0, frame, ";")
			print is[frame[n]] ? frame[n] : is[frame[n - 1]] ? frame[n - 1] : "none:" $0, ns
		}'
}

query() { # SQL
	sqlite3 -batch -init /dev/null -readonly -separator ' ' db "$1"
}

# of_csv FILE SQL: of table t
of_csv() {
	sqlite3 -batch -init /dev/null -separator ' ' :memory: ".import --csv csv/$1 t" "$2"
}

folded() { cause_of_stack <folded; }

leaves_of_json() { jq -r '.sync.leaves[] | "\(.cause) \(.ns)"' json; }
processes_of_json() { jq -r '.sync.by_process[].ledger | to_entries[] | "\(.key) \(.value)"' json; }
files_of_json() { jq -r '.sync.by_file[].ledger | to_entries[] | "\(.key) \(.value)"' json; }

leaves_csv() { of_csv leaves.csv 'SELECT cause, ns FROM t'; }
ledger_csv() { of_csv ledger.csv 'SELECT cause, ns FROM t'; }

causes_of_db() { query 'SELECT cause, ns FROM cause'; }
ledger_of_db() { query 'SELECT cause, ns FROM ledger'; }
slices_of_db() { query 'SELECT cause, ns FROM slice'; }
leaves_of_db() { query 'SELECT cause, ns FROM leaf'; }
processes_of_db() { query 'SELECT cause, ns FROM process_ledger'; }
files_of_db() { query 'SELECT cause, ns FROM file_ledger'; }

# Pairs of a frame's mark and its title; a frame below a cause is a device.
flame() {
	grep -oE '<g class="f [^>]*>|<title>[^<]*' flame | awk -v causes="$(jq -r '.sync.ledger | keys | join(" ")' json)" '
		BEGIN { n = split(causes, c, " "); for (i = 1; i <= n; i++) is[c[i]] = 1 }
		/^<g / { cause = / class="f cause"/; match($0, /data-ns="[0-9]+/); ns = substr($0, RSTART + 9, RLENGTH - 9) }
		/^<title>/ { sub(/<title>/, ""); if (cause && is[$0]) print $0, ns; cause = 0 }'
}

perfetto_calls() { jq -r '.traceEvents[].args.ledger // {} | to_entries[] | "\(.key) \(.value)"' perfetto; }

report_of_html() {
	grep -oE '<script type="application/json" id="report">[^<]*' html | sed 's/^[^>]*>//'
}

html() { report_of_html | jq -r '.sync.ledger | to_entries[] | "\(.key) \(.value)"'; }

@test "agree: JSON with itself" {
	agrees 'leaves' leaves_of_json
	agrees 'by process' processes_of_json
	agrees 'by file' files_of_json
}

@test "agree: folded stacks" {
	agrees 'folded' folded
}

@test "agree: CSV" {
	agrees 'leaves.csv' leaves_csv
	agrees 'ledger.csv' ledger_csv
}

@test "agree: the database" {
	agrees 'cause' causes_of_db
	agrees 'ledger' ledger_of_db
	agrees 'slice' slices_of_db
	agrees 'leaf' leaves_of_db
	agrees 'process_ledger' processes_of_db
	agrees 'file_ledger' files_of_db
}

@test "agree: the flame" {
	agrees 'frames of causes' flame
}

@test "agree: the page" {
	agrees 'its report for machines' html
	cd "$BATS_TEST_TMPDIR/sqlite"
	diff <(report_of_html | jq -S .sync.by_file) <(jq -S .sync.by_file json)
}

@test "agree: the trace for Perfetto" {
	local name
	agrees 'ledgers of calls' perfetto_calls
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		diff <(jq -r '.traceEvents[] | (.args | .duration_ns // .ns) as $ns | select($ns and .cat != "request")
			| "\(.name) \(.ts * 1000 | round) \(.dur * 1000 | round) \($ns)"' perfetto | sort) \
			<(query 'SELECT call, start_ns, duration_ns, duration_ns FROM sync_call
				UNION ALL SELECT cause, start_ns + offset_ns, ns, ns FROM slice JOIN sync_call ON id = call_id' | sort)
	done
}

# all_are NUMBER: of the lines of got, each with a name before it
all_are() {
	awk -v n="$1" '$2 != n { print FILENAME ":", $0, "and not", n; bad = 1 } END { exit bad }' "$PWD/got"
}

# Figures that are one number each.
totals() {
	echo "folded $(awk '{ all += $NF } END { printf "%.0f", all }' folded)"
	echo "flame $(grep -oE '<g class="f[^>]* data-depth="0"[^>]*' flame | grep -oE 'data-ns="[0-9]+' | tr -dc 0-9)"
	echo "calls.csv $(of_csv calls.csv 'SELECT sum(duration_ns) FROM t')"
	echo "run.csv $(of_csv run.csv 'SELECT sync_ns FROM t')"
	echo "processes.csv $(of_csv processes.csv 'SELECT sum(total_ns) FROM t')"
	echo "files.csv $(of_csv files.csv 'SELECT sum(total_ns) FROM t')"
	echo "run $(query 'SELECT sync_ns FROM run')"
	echo "sync_call $(query 'SELECT sum(duration_ns) FROM sync_call')"
	jq -r '"perfetto \([.traceEvents[] | .args.duration_ns? // 0] | add)"' perfetto
}

@test "agree: totals" {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		totals >got
		all_are "$(jq .sync.total_ns json)"
		[[ $(wc -l <got) == 9 ]]
	done
}

counts() {
	echo "calls.csv $(of_csv calls.csv 'SELECT count(*) FROM t')"
	echo "sync_call $(query 'SELECT count(*) FROM sync_call')"
	echo "histogram $(query "SELECT sum(count) FROM histogram WHERE phase = 'sync'")"
	jq -r '"perfetto \([.traceEvents[] | select(.args.ledger)] | length)"' perfetto
	jq -r '.sync | "kinds \(.calls | add)", "processes \([.by_process[].count] | add)",
		"files \([.by_file[].count] | add)"' json
}

@test "agree: how many calls" {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		counts >got
		all_are "$(jq .sync.count json)"
	done
}

# Of lines of CSV, what every format writes in the same way
plain() {
	sed -E 's/\\x[0-9a-f]{2}//g'
}

@test "agree: leaves and slowest calls, each, in JSON as in CSV" {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		diff <(jq -r '.sync.leaves[] | [.path, .cause, .ns, (.each | .count, .min_ns, .p50_ns, .p99_ns, .max_ns)] | join(" ")
			| gsub("[^ -~]"; "")' json) \
			<(of_csv leaves.csv 'SELECT path, cause, ns, count, min_ns, p50_ns, p99_ns, max_ns FROM t' | plain)
		diff <(jq -r '.sync.slowest[] | [.start_ns, .duration_ns, .pid, .tid, .comm, .call, .path, .device] | join(" ")
			| gsub("[^ -~]"; "")' json | sort) \
			<(of_csv calls.csv "SELECT start_ns, duration_ns, pid, tid, comm, call, path, device FROM t
				ORDER BY CAST(duration_ns AS INTEGER) DESC LIMIT $(jq '.sync.slowest | length' json)" | plain | sort)
		jq -e '[.sync.slowest[] | .duration_ns == ([.ledger[]] | add)] | all' json
		jq -r '.sync.slowest[] | .start_ns as $s | .ledger | to_entries[] | "\($s) \(.key) \(.value)"' json | sort >ledgers
		comm -23 ledgers <(query 'SELECT start_ns, cause, ns FROM ledger JOIN sync_call ON id = call_id' | sort) | diff - /dev/null
		[[ -s ledgers ]]
	done
}

buckets_of_json() {
	jq -r 'def rows($device; $op; $phase): .buckets[] | "\($device) \($op) \($phase) \(.[0]) \(.[1])";
		.devices[] | .name as $d
			| (.ops | to_entries[] | .key as $op | .value | ("queue", "device", "total") as $p | .[$p] | rows($d; $op; $p)),
			(.flush.sequence | values | rows($d; ""; "sequence")), (.naive_write | values | rows($d; ""; "naive_write"))' json
	jq -r '.sync.latency.buckets[] | "   sync \(.[0]) \(.[1])"' json
}

@test "agree: a histogram is its buckets, in JSON as in CSV" {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		jq -e '[.. | objects | select(.buckets) | .count == ([.buckets[][1]] | add) and all(.buckets[][1]; . > 0)
			and ([.buckets[][0]] | . == unique)] | length > 50 and all' json
		diff <(buckets_of_json | sed 's/^ *//' | sort) <(of_csv histograms.csv 'SELECT device, op, phase, upper_ns, count FROM t' |
			sed 's/^ *//' | sort) || { echo "$name: histograms.csv differs"; return 1; }
	done
}

# rows_of_db TABLE: as they stand in CSV, in any order
rows_of_db() {
	query "$(query "SELECT 'SELECT ' || group_concat(printf('iif(typeof(%s) = ''real'', printf(''%%.6f'', %s), %s)',
		name, name, name), ', ') || ' FROM $1' FROM pragma_table_info('$1')")"
}

@test "agree: CSV and the database, table by table, row by row" {
	local name file table
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		for file in csv/*.csv; do
			table=$(table_of "$file")
			diff <(query "SELECT name FROM pragma_table_info('$table')") <(head -n 1 "$file" | tr -d '\r' | tr ',' '\n')
			diff <(rows_of_db "$table" | sort) <(of_csv "${file##*/}" 'SELECT * FROM t' | sort) || { echo "$name: $file differs"; return 1; }
		done
		(($(rows_of_db slice | wc -l) > 100))
	done
}

@test "agree: every call's slices are its time, in all places" {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		[[ $(query 'SELECT count(*) FROM sync_call AS c WHERE duration_ns <>
			(SELECT coalesce(sum(ns), 0) FROM slice WHERE call_id = c.id)') == 0 ]]
		[[ $(query 'SELECT count(*) FROM ledger AS l WHERE ns <>
			(SELECT sum(ns) FROM slice AS s WHERE s.call_id = l.call_id AND s.cause = l.cause)') == 0 ]]
		# without gaps
		[[ $(query 'SELECT count(*) FROM slice AS s WHERE offset_ns <>
			(SELECT coalesce(sum(ns), 0) FROM slice AS b WHERE b.call_id = s.call_id AND b.seq < s.seq)') == 0 ]]
	done
}

@test "agree: how long a run took that was cut off, nobody knows" {
	cd cut
	[[ $(jq '.run | has("wall_ns")' json) == false && $(report_of_html | jq '.run | has("wall_ns")') == false ]]
	[[ $(jq '.otherData | has("wall_ns")' perfetto) == false && $(jq -r .otherData.arch perfetto) == x86_64 ]]
	[[ ! $(of_csv run.csv 'SELECT wall_ns FROM t') && $(query 'SELECT wall_ns IS NULL FROM run') == 1 ]]
	grep -q '^  run  *of unknown length, from 20' text
	run -1 grep -E '(run of|run) +0 ns' text
	run -5 --separate-stderr "$BT" diff --json - "$RECORDINGS/cut.btrec" "$RECORDINGS/sqlite.btrec"
	[[ $(jq -c '[.a, .b | has("wall_ns")]' <<<"$output") == '[false,true]' ]]
	[[ $(jq .run.wall_ns ../sqlite/json) == "$(jq .otherData.wall_ns ../sqlite/perfetto)" ]]
}

@test "agree: without a ledger there is none anywhere" {
	"$BT" report "$RECORDINGS/blocks.btrec" --json json --folded folded --perfetto perfetto \
		--db db --csv csv --flame flame --html html -o text
	[[ $(jq 'has("sync")' json) == false && ! -s folded ]]
	[[ $(jq '[.traceEvents[]? | select(.ph == "X")] | length' perfetto) == 0 ]]
	[[ $(query 'SELECT count(*) FROM sync_call') == 0 && $(query 'SELECT count(*) FROM leaf') == 0 ]]
	[[ ! $(query 'SELECT sync_ns FROM run') && $(query 'SELECT count(*) FROM cause WHERE ns IS NOT NULL') == 0 ]]
	[[ $(query "SELECT sum(count) FROM operation") == $(jq '[.devices[].ops[].count] | add' json) ]]
	[[ -s flame && -s html ]]
}
