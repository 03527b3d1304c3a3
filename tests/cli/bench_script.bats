#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/bench: what it makes of samples. A short run: ../truth/bench_script.bats.

setup() {
	load ../helpers
	need jq
	WORK=$BATS_TEST_TMPDIR
	J=$WORK/out.json
	ASKED=() QUICK='' OURS=barriertrace
	say() { echo "bench: $*" >&2; }
	die() { echo "$*"; exit 1; }
	source "$TOP/scripts/bench-rows.bash"
	source "$TOP/scripts/bench-tools.bash"
	source "$TOP/scripts/bench-turns.bash"
	source "$TOP/scripts/bench-report.bash"
	need_tool
	read_rows
	: >"$WORK/samples" >"$WORK/parts" >"$WORK/missing"
}

# row TOOL VALUE...: samples of block.none.randread, which may be 170
row() {
	local v
	for v in "${@:2}"; do sample block.none.randread "$1" "$v"; done
}

table() {
	write_results "${J%.json}"
	print_table "$J" >"$WORK/table"
	cat "$WORK/table"
}

@test "bench: a limit that is missed is marked, with median, spread and the peers beside it" {
	row "$OURS" 180.1 150 200.26 190 170.5
	row biolatency 700 600
	part block.none.randread "$OURS" rq_issue_btf 100
	part block.none.randread "$OURS" rq_complete_btf 80
	missing block.none.randread bpftrace 'not installed'
	missing block.none.randread 'biosnoop -Q' 'does not run here: EPERM'
	table
	grep -Eqx 'missed +block\.none\.randread +180\.1 \[150\.\.200\.3\] ns, at most 170' "$WORK/table"
	grep -qx '        beside it: biolatency 650 \[600..700\]; biosnoop -Q: does not run here; bpftrace: not installed' "$WORK/table"
	grep -qx 'biosnoop -Q does not run here: EPERM' "$WORK/table"
	grep -qx '        of which: rq_issue_btf 100, rq_complete_btf 80' "$WORK/table"
	[[ $(tail -n 1 "$WORK/table") == '0 met, 1 missed' ]]
	jq -e '.rows[0] | .id == "block.none.randread" and .result == "missed" and .limit == "<=170" and .unit == "ns" and
		.tools[0] == {tool: "barriertrace", median: 180.1, min: 150, max: 200.26, runs: 5,
			parts: {rq_issue_btf: 100, rq_complete_btf: 80}} and .tools[3].missing == "not installed"' "$J"
}

@test "bench: what just meets its limit is met, at most and at least" {
	row "$OURS" 170
	sample kept.none "$OURS" 98
	sample kept.sync "$OURS, ledgers on" 94.9
	sample lost.events "$OURS" 0
	sample kept.sync4 "$OURS" 1
	table
	[[ $(jq -r '[.rows[] | "\(.id) \(.result // "-")"] | join(", ")' "$J") == \
		'block.none.randread met, kept.none met, kept.sync missed, kept.sync4 -, lost.events met' ]]
	[[ $(tail -n 1 "$WORK/table") == '3 met, 1 missed' ]]
}

@test "bench: without a figure of ours a limit is not met" {
	row biolatency 700
	missing block.none.randread "$OURS" 'does not run here: x'
	table
	[[ $(tail -n 1 "$WORK/table") == '0 met, 0 missed, 1 not measured' ]]
}

@test "bench: rows that are measured again replace the old ones, the others keep their date" {
	row "$OURS" 100
	sample kept.none "$OURS" 99
	table
	jq '.rows[].date = "2026-01-02T03:04:05Z"' "$J" >"$WORK/x" && mv "$WORK/x" "$J"
	: >"$WORK/samples"
	row "$OURS" 200
	table
	grep -Eqx 'missed +block\.none\.randread +200 \[200\.\.200\] ns, at most 170' "$WORK/table"
	grep -Eqx 'met +kept\.none +99 \[99\.\.99\] %, at least 98 \(of 2026-01-02T03:04:05Z\)' "$WORK/table"
}

@test "bench: the document has a line per figure, and for each missed one what is known of it" {
	row "$OURS" 200
	row 'a|b' 400
	part block.none.randread "$OURS" rq_issue_btf 120
	sample kept.none "$OURS" 99
	sample kept.sync "$OURS, ledgers on" 90
	table
	printf '# x\nblock|all of them.\nblock.none|the tracepoint alone takes half.\n' >"$WORK/notes"
	NOTES=$WORK/notes write_doc "$J" "$WORK/doc.md"
	cat "$WORK/doc.md"
	[[ ! $(grep '^- `kept.none`' "$WORK/doc.md") ]]
	[[ $(grep -c '^| .* | at .* | .* |$' "$WORK/doc.md") == 3 ]]
	grep -q '| at most 170 ns | 200 \[200..200\] ns | \*\*missed\*\* | a\\|b 400 ' "$WORK/doc.md"
	grep -q '| at least 98 % | 99 \[99..99\] % | met |  |$' "$WORK/doc.md"
	grep -q '^- `block.none.randread`: .* By program: `rq_issue_btf` 120\. the tracepoint alone takes half\.$' "$WORK/doc.md"
	grep -q '^- `kept.sync`: 90 %, at least 95\. no profile yet\.$' "$WORK/doc.md"
}

@test "bench: the document names the commit of most rows once, and another one beside each row that was measured there" {
	row "$OURS" 100
	sample kept.none "$OURS" 99
	sample kept.sync "$OURS, ledgers on" 96
	table
	jq '.rows[].date = "2026-01-02T03:04:05Z" | .rows[].commit = "aaaa" | .rows[1].commit = "bbbb" |
		.commit = "bbbb" | .date = "2026-03-04T00:00:00Z"' "$J" >"$WORK/x" && mv "$WORK/x" "$J"
	write_doc "$J" "$WORK/doc.md"
	cat "$WORK/doc.md"
	grep -q ', commit aaaa, 2026-01-02, on ' "$WORK/doc.md"
	grep -q '| 99 \[99..99\] % (bbbb, 2026-01-02) | met |' "$WORK/doc.md"
	[[ $(grep -c '(....,' "$WORK/doc.md") == 1 && $(grep -c aaaa "$WORK/doc.md") == 1 ]]
}

@test "bench: figures of --quick are not published, no figures neither" {
	row "$OURS" 100
	QUICK=1 table
	cp "$J" "$WORK/bench.json"
	run env BENCH_OUT="$WORK" BENCH_DOC="$WORK/doc.md" "$TOP/scripts/bench" --doc
	[[ $status != 0 && $output == *'is of --quick'* ]]
	run env BENCH_OUT="$WORK/none" BENCH_DOC="$WORK/doc.md" "$TOP/scripts/bench" --doc
	[[ $status != 0 && $output == *'run scripts/bench first'* ]]
	[[ ! -e $WORK/doc.md ]]
}

# starts TOOL VALUE...: samples of kept.none
starts() {
	local v
	for v in "${@:2}"; do printf 'kept.none\t%s\t%s\tstart\n' "$1" "$v" >>"$WORK/samples"; done
}

# kept_none_is LIMIT RESULT
kept_none_is() {
	ROW_LIMIT[kept.none]=$1
	table
	grep -q "^$2  *kept.none " "$WORK/table"
}

@test "bench: throughput kept is met if all starts meet the limit, missed if none does, and of few starts nothing is known" {
	starts "$OURS" 98.1 98.2 98.3 98.4 98.5
	kept_none_is '>=98' unsure
	starts "$OURS" 98.6
	kept_none_is '>=98.1' met
	kept_none_is '>=98.2' unsure
	[[ $(tail -n 1 "$WORK/table") == '0 met, 0 missed, 1 unsure' ]]
	kept_none_is '>=98.6' unsure
	kept_none_is '>=98.7' missed
	kept_none_is '<=98.6' met
	kept_none_is '<=98.5' unsure
	kept_none_is '<=98' missed
	printf '# x\n' >"$WORK/notes"
	ROW_LIMIT[kept.none]='>=98.2'
	table
	NOTES=$WORK/notes write_doc "$J" "$WORK/doc.md"
	grep -q '| \*\*unsure\*\* |' "$WORK/doc.md"
	grep -q '^- `kept.none`: 98.35 %, at least 98.2. ' "$WORK/doc.md"
}

@test "bench: a row speaks of the command that it is about, whatever stands first" {
	sample default.none "$OURS" 100
	sample default.none "$DEFAULT" 400
	missing default.mq-deadline "$DEFAULT" 'did not come to rest: x'
	sample default.mq-deadline "$OURS" 100
	table
	grep -Eq '^missed +default.none +400 ' "$WORK/table"
	grep -qx '        beside it: barriertrace 100 \[100..100\]' "$WORK/table"
	grep -Eq '^not measured +default.mq-deadline +did not come to rest' "$WORK/table"
}

# blocks: as of a run with one tool. Slots 2 and 4 are spoilt.
blocks() {
	printf '%s\n' '0 0 0 1000000000 200' '0 1 1 500000000 50' '1 1 2 1000000000 7' '1 0 3 1000000000 200' \
		'2 0 4 1000000000 200' '2 1 5 1000000000 50' '3 0 6 1000000000 200' '3 1 7 1000000000 120' \
		'4 0 8 1000000000 0' '4 1 9 1000000000 0' '5 0 10 1000000000 200' '5 1 11 1000000000 80' >"$WORK/worked"
	printf '%s\n' 'links 3' '1 1000000 0' '2 36000000 0' '5 1000000 1' 'links 3' >"$WORK/turns.log.1"
}

@test "bench: a turn that a switch or a new link reached into is dropped, and a start gives the median of its blocks" {
	declare -A SLOT=([baseline]=0 [a]=1)
	blocks
	blocks_of 2
	[[ $(sed -n 2,3p "$WORK/blocks") == $'200 -\n- 50' ]]
	start_sample kept.none a baseline
	start_sample kept.none nosuch baseline
	# 50, 60 and 40 %; where nothing was done, and what was spoilt, is no ratio
	[[ $(<"$WORK/samples") == $'kept.none\ta\t50.000\tstart' ]]
	: >"$WORK/samples"
	# a load that stood still beside nothing
	echo '0 5' >"$WORK/blocks"
	start_sample kept.none a baseline
	[[ $(<"$WORK/samples") == $'kept.none\ta\t1000000.000\tstart' ]]
}

@test "bench: a run is not used in which more than a fifth of the turns is spoilt" {
	blocks
	printf '6 1000000 1\n' >>"$WORK/turns.log.1"
	run blocks_of 2
	[[ $status == 1 && $output == 'bench: 3 of 12 turns had to be dropped' ]]
}

@test "bench: a run is not used if a tool ended, or no longer took turns" {
	declare -A SLOT=([baseline]=0 [a]=1)
	SLOT_PIDS=([1]=$$)
	printf 'links 3\n1 1000000 0\nlinks 5\n' >"$WORK/turns.log.1"
	slots_ended_well kept.none
	for log in 'links 3\n1 5 0\n' 'links 3\ncannot: a link could not be made again\nlinks 3\n' 'links 3\nlinks 3\nlinks 3\n'; do
		# shellcheck disable=SC2059 # a format of ours
		printf "$log" >"$WORK/turns.log.1"
		run slots_ended_well kept.none
		[[ $status == 1 && $output == *'kept.none: a ended, or no longer took turns'* ]]
	done
	printf 'links 3\nlinks 3\n' >"$WORK/turns.log.1"
	SLOT_PIDS=([1]=4194305) # none has this number
	run slots_ended_well kept.none
	[[ $status == 1 ]]
}

@test "bench: the README tells the same figure as the document, of enough starts" {
	printf 'It keeps <!-- kept -->1 %%<!-- /kept --> of it.\n' >"$WORK/README"
	row "$OURS" 100
	table
	write_doc "$J" "$WORK/doc.md" "$WORK/README" 2>"$WORK/err"
	grep -q 'own.kept was not measured' "$WORK/err"
	grep -q 'keeps <!-- kept -->1 %<!--' "$WORK/README"
	printf "own.kept\t$DEFAULT\t%s\tstart\n" 97.26 97.26 97.26 97.26 97.26 >>"$WORK/samples"
	table
	write_doc "$J" "$WORK/doc.md" "$WORK/README" 2>"$WORK/err"
	grep -q 'own.kept was not measured' "$WORK/err"
	printf "own.kept\t$DEFAULT\t%s\tstart\n" 97.26 >>"$WORK/samples"
	printf "own.kept\t$OURS\t%s\tstart\n" 99 99 99 99 99 99 >>"$WORK/samples"
	table
	write_doc "$J" "$WORK/doc.md" "$WORK/README"
	[[ $(<"$WORK/README") == 'It keeps <!-- kept -->97.3 %<!-- /kept --> of it.' ]]
	: >"$WORK/README"
	run write_doc "$J" "$WORK/doc.md" "$WORK/README"
	[[ $status == 1 && $output == *'has no place for what is kept'* ]]
}

@test "bench: a row that isn't there is refused" {
	run "$TOP/scripts/bench" block.nosuch
	[[ $status == 2 && $output == *'no such row: block.nosuch'* ]]
	run "$TOP/scripts/bench" --nosuch
	[[ $status == 2 ]]
	run "$TOP/scripts/bench" --list
	[[ $status == 0 && $output == *'kept.sync '*'>=95 '* ]]
}

@test "bench: a tool that isn't installed, or ends at once, is named" {
	WHY=''
	! tool_start 'barriertrace-nosuch -x' || false
	[[ $WHY == 'not installed' ]]
	! tool_start 'ls /nosuch' || false
	echo "$WHY"
	[[ $WHY == "does not run here: "*"ls: cannot access '/nosuch'"* ]]
}

@test "bench: the cost is that of the programs that ran, per request" {
	printf '%s\n' '7 a 1000 10' '8 b 500 5' '9 c 3 1' >"$WORK/1"
	printf '%s\n' '7 a 3000 20' '8 b 1500 15' '9 c 3 1' >"$WORK/2"
	run costs "$WORK/1" "$WORK/2" 20
	[[ ${lines[*]} == 'TOTAL 150.00 a 100.00 0.500 200.0 b 50.00 0.500 100.0' ]]
}
