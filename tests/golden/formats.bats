#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The formats for other programs, as their readers demand, and docs/reference/formats.md: what it says is there, and its queries run.

load ../helpers

RECORDINGS=$TOP/tests/golden/recordings
DOC=$TOP/docs/reference/formats.md
NAMES=(sample sqlite hostile mixed)

setup() {
	need_tool
	need jq sqlite3
	cd "$BATS_TEST_TMPDIR" || return
	local name
	for name in "${NAMES[@]}"; do
		mkdir "$name"
		"$BT" report "$RECORDINGS/$name.btrec" --perfetto "$name/perfetto" \
			--csv "$name/csv" --db "$name/db" -o "$name/text"
	done
}

# each FUNCTION: in the directory of each recording
each() {
	local name
	for name in "${NAMES[@]}"; do
		cd "$BATS_TEST_TMPDIR/$name" || return
		"$@" || { echo "$name: $*"; return 1; }
	done
}

sql() {
	sqlite3 -batch -bail -init /dev/null -readonly db "$@"
}

# One line per X slice, ordered as a reader nests them: track, begin, end, what
slices() {
	jq -r '.traceEvents[] | select(.ph == "X") |
		"\(.pid)/\(.tid) \(.ts * 1000 | round) \((.ts * 1000 | round) + (.dur * 1000 | round)) \(.name | gsub(" "; "_"))"' perfetto |
		sort -s -k 1,1 -k 2,2n -k 3,3nr
}

# Every slice ends within the one that is open when it begins.
slices_nest() {
	slices | awk '
		$1 != track { track = $1; depth = 0 }
		{
			while (depth && end[depth] <= $2) depth--
			if (depth && $3 > end[depth]) { print "sticks out: " $0; bad = 1 }
			end[++depth] = $3; n++
		}
		END { exit bad || n < 100 }'
}

# What stands in an event, by kind.
is_trace() {
	jq -e '
		def id: type == "number" and . == floor and . >= 0;
		def time: type == "number" and . >= 0;
		.displayTimeUnit == "ns" and (.otherData | .calls_left_out == 0 and .requests_left_out == 0)
		and ([.traceEvents[] | (.pid, .tid | id) and (.name | type == "string" and . != "")] | all)
		and ([.traceEvents[] | select(.ph == "M") | .name == "process_name" or .name == "thread_name"] | all)
		and ([.traceEvents[] | select(.ph == "X") | (.ts, .dur | time) and (.cat | type == "string") and (.args | type == "object")] | all)
		and ([.traceEvents[] | select(.ph == "s" or .ph == "f") | (.id | id) and (.ts | time) and .cat == "flush"] | all)
		and ([.traceEvents[] | select(.ph == "f") | .bp == "e"] | all)
		and ([.traceEvents[].ph] | unique == ["M", "X", "f", "s"])
		and ([.traceEvents[] | select(.ph == "X") | [.pid, .tid]] | unique)
			== ([.traceEvents[] | select(.name == "thread_name") | [.pid, .tid]] | sort)
	' perfetto >/dev/null
}

# Arrows come in pairs, from slices of flush causes on tasks to steps of requests; here every FLUSH is known.
arrows_meet() {
	jq -e '
		[.traceEvents[] | select(.ph == "s")] as $s | [.traceEvents[] | select(.ph == "f")] as $f
		| ($s | map(.id)) == ($f | map(.id)) and ($s | map(.id) | unique | length) == ($s | length)
		and ($s | map(.ts)) == ($f | map(.ts))
		and ([.traceEvents[] | select(.ph == "X" and .cat == "flush" and .name != "flush.wait")] | length) == ($s | length)
		and ($s | length) > 20
	' perfetto >/dev/null
}

@test "perfetto: every event as the format says, slices nest, arrows meet" {
	each is_trace
	each slices_nest
	each arrows_meet
}

@test "perfetto: three decimals of a microsecond, no pair of surrogates" {
	each eval '! grep -E "\"(ts|dur)\":" perfetto | grep -vqE "\"ts\":[0-9]+\.[0-9]{3}[,}]"'
	each eval '! grep -iE "\\\\u[d][89a-f]" perfetto'
}

@test "csv: as RFC 4180 says" {
	need python3
	cat >check.py <<-'PY'
		import csv, glob, io, sys
		for name in sorted(glob.glob('csv/*.csv')):
		    raw = open(name, 'rb').read()
		    text = raw.decode()
		    if not raw.endswith(b'\r\n') or raw.count(b'\n') != raw.count(b'\r\n') or raw.count(b'\r') != raw.count(b'\n'):
		        sys.exit(name + ': lines do not end in CRLF')
		    rows = list(csv.reader(io.StringIO(text, newline=''), strict=True))
		    if len(rows) != raw.count(b'\n') or len({len(row) for row in rows}) != 1:
		        sys.exit(name + ': rows differ in width')
		    if any(cell[:1] in '=+-@' and cell for row in rows for cell in row):
		        sys.exit(name + ': a cell is a formula')
	PY
	each python3 "$BATS_TEST_TMPDIR/check.py"
}

is_whole() {
	[[ $(sql 'PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA user_version; PRAGMA application_id') == \
		$'ok\n1\n'$((0x62745452)) ]]
}

again() {
	"$BT" report "$RECORDINGS/${PWD##*/}.btrec" --db again -o "$BATS_TEST_TMPDIR/text" && cmp db again
}

@test "db: whole, and the same again" {
	each is_whole
	each again
}

@test "hostile names: no control character in any of the files" {
	cd hostile
	# the names are there
	[[ $(sql "SELECT count(*) > 0 FROM sync_call WHERE path LIKE '%/\"><script>x</script>'") == 1 ]]
	[[ $(sql "SELECT count(*) > 0 FROM sync_call WHERE path LIKE '%/new\x0aline;semi\x09colon,=cmd|\"x\"'") == 1 ]]
	[[ $(sql "SELECT count(*) > 0 FROM sync_call WHERE comm = 'ev\x1b[31m\x07;il\x0a'") == 1 ]]
	jq -e '[.traceEvents[] | select(.args.name == "ev\u001b[31m\u0007;il\n")] | length == 2' perfetto
	run env LC_ALL=C grep -lP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]' perfetto csv/*
	[[ $status == 1 ]]
}

# The paragraph of the document that describes a table or view.
described() { # TABLE
	awk -v RS= -v t="**$1**" 'index($0, t)' "$DOC"
}

@test "docs: every table, view and column of the database, and every CSV file" {
	cd sample
	local table column
	for table in $(sql "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"); do
		for column in $(sql "SELECT name FROM pragma_table_info('$table')"); do
			# a view that has all of a table's columns says so
			[[ $table != slow_call || $column == largest_* ]] || continue
			described "$table" | grep -qF "\`$column\`" || { echo "not described: $table.$column"; false; }
		done
	done
	for table in csv/*; do
		grep -qF "\`${table#csv/}\`" "$DOC" || { echo "not described: $table"; false; }
	done
}

@test "docs: every query runs and finds something" {
	cd sample
	awk '/^```sql$/ { n++; out = "query." n; next } /^```/ { out = "" } out { print >out }' "$DOC"
	[[ -s query.5 ]]
	local query
	for query in query.*; do
		run sql <"$query"
		[[ $status == 0 && $output ]] || { cat "$query"; echo "$output"; false; }
	done
}

# section HEADING: of the document, up to the next heading
section() {
	awk -v h="## $1" '$0 == h { on = 1; next } /^## / { on = 0 } on' "$DOC"
}

# described_keys HEADING FILE..: each key of these documents stands in the section, but for causes and calls: they have tables of their own
described_keys() {
	local key
	section "$1" >section
	for key in $(jq -r 'del(.. | .ledger?, .calls?) | [paths | map(strings) | last | values] | unique[]' "${@:2}" | sort -u); do
		grep -qE "\`([^\` ]*[.])?$key([.[][^\` ]*)?\`|\"$key\"|\[$key, " section || { echo "not described: $key"; false; }
	done
}

@test "docs: every key of the report's JSON, and of the diff's" {
	"$BT" diff "$RECORDINGS/sample.btrec" "$RECORDINGS/mixed.btrec" --json diff.json -o text
	for name in "${NAMES[@]}" blocks; do
		"$BT" report "$RECORDINGS/$name.btrec" --json "$name.json" -o text
	done
	described_keys "The report's JSON" {sample,sqlite,hostile,mixed,blocks}.json
	described_keys "The diff's JSON" diff.json
}
