#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The articles' experiments as one command each: what was measured, what was predicted before, and who is blamed.

load ../helpers
load matrix

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need sqlite3
	J=$BATS_TEST_TMPDIR/json
}

teardown() {
	clean_up
}

# of VARIANT PATH: a figure of the outcome
of() {
	jq -er --arg v "$1" ".variants[] | select(.name == \$v) | $2" "$J"
}

# ---- the C50: SQLite with and without barriers ----

# errexit is off in what `||` follows, hence the chains.

barrier_once() { # RUNS
	local measured predicted ratio
	"$BT" experiment "$RIG_MNT" --set barrier=1 --set barrier=0 -n "$1" -q -o "$BATS_TEST_TMPDIR/text" --json "$J" -- \
		sh -c "rm -f '$RIG_MNT/db'; exec sqlite3 -batch -bail -init /dev/null '$RIG_MNT/db' '.read $BATS_TEST_TMPDIR/sql'" &&
		measured=$(of barrier=0 .measured.faster) && predicted=$(of barrier=0 .predicted.faster) || return
	comment "$(jq -r '.variants | "\(.[0].mean_ns / 1e6 | round) ms with, \(.[1].mean_ns / 1e6 | round) ms without barriers"' "$J")," \
		"$measured times faster, $predicted predicted"
	# the ratio is that of the times
	ratio=$(jq '.variants | ([.[0].runs[].wall_ns | log] | add / length) - ([.[1].runs[].wall_ns | log] | add / length) | exp' "$J")
	holds "($ratio / $measured - 1) ^ 2 < 1e-12" &&
		holds "$predicted <= 1.25 * $measured && $predicted >= 0.75 * $measured" &&
		holds "$(of barrier=0 .measured.low) < $ratio && $ratio < $(of barrier=0 .measured.high)" &&
		[[ $(of barrier=0 .measured.told) == true && $(of barrier=0 .measured.why.family) == flush ]] &&
		[[ $(of barrier=0 .flushes) == 0 ]]
}

@test "experiment: 500 SQLite inserts with and without barriers, flush 1 ms" {
	rig_up --sched mq-deadline
	make_inserts "$BATS_TEST_TMPDIR/sql" 500
	rig_set flush_us=1000 write_us=200
	keep_awake
	barrier_once 3 || barrier_once 3
}

@test "experiment: 500 SQLite inserts with and without barriers, flush 7 ms" {
	rig_up --sched mq-deadline
	make_inserts "$BATS_TEST_TMPDIR/sql" 500
	rig_set flush_us=7000 write_us=200
	keep_awake
	barrier_once 2 || barrier_once 2
}

# ---- the schedulers beside a background writer ----

SCHEDULERS=(none mq-deadline bfq)

# neighbour TAGS: a disk whose writes take 2 ms, one after the other, whose flushes take no time, and a neighbour with 24 writes
# under way. What is measured overwrites a block and syncs it: one write for each call.
neighbour() {
	need fio "${CC:-cc}"
	rig_up --size 128M --mount-opts dioread_lock ${1:+--nr-requests "$1"}
	on_exit tags_back "/sys/block/$RIG_DISK/queue"
	WORK=("$SYNCS" -o fdatasync "$RIG_MNT/file" 15)
	"${WORK[@]}"
	background_file "$RIG_MNT/background"
	rig_set write_us=2000 channels=1
	background --filename="$RIG_MNT/background" --size=32m --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=12 \
		--numjobs=2 --group_reporting
	eventually 10 in_flight_is "$RIG_DISK" "${1:-20}"
}

# A scheduler that comes later doesn't give the tags back, nor does one that goes.
tags_back() { # QUEUE
	echo none >"$1/scheduler"
	echo 64 >"$1/nr_requests"
	echo 128 >"$1/nr_requests"
}

ROUNDS=5

# The time of each run without the tool, as the tool takes them: in turn, every second round backwards. Lines of a scheduler and µs.
untraced() {
	local round s start order
	for ((round = 0; round < ROUNDS; round++)); do
		order=("${SCHEDULERS[@]}")
		((round % 2 == 0)) || order=(bfq mq-deadline none)
		for s in "${order[@]}"; do
			echo "$s" >"/sys/block/$RIG_DISK/queue/scheduler"
			sleep 0.5 # as long as the tool takes to start: a scheduler that is new does as it never does again
			start=${EPOCHREALTIME/[.,]/}
			"${WORK[@]}" >/dev/null
			echo "$s $((${EPOCHREALTIME/[.,]/} - start))"
		done
	done
	echo none >"/sys/block/$RIG_DISK/queue/scheduler"
}

traced() {
	jq -r '.variants[] | .name as $n | .runs[] | "\($n | ltrimstr("scheduler=")) \(.wall_ns / 1000)"' "$J"
}

# told FASTER SLOWER FILE: is that so, by 95 %? Welch's t-test of the logarithms; t is that of 4 degrees of freedom, and there are
# 4 at least with 5 runs of each.
told() {
	awk -v a="$1" -v b="$2" '
		$1 == a || $1 == b { n[$1]++; x = log($2); sum[$1] += x; square[$1] += x * x }
		function per_run(s) { return (square[s] - sum[s] ^ 2 / n[s]) / (n[s] - 1) / n[s] }
		END { exit !(sum[b] / n[b] - sum[a] / n[a] > 2.776 * sqrt(per_run(a) + per_run(b))) }' "$3"
}

# ranks FASTER SLOWER: does the tool say so?
ranks() {
	jq -e --arg a "scheduler=$1" --arg b "scheduler=$2" '[.variants[] | {(.name): .rank}] | add | .[$a] < .[$b]' "$J" >/dev/null
}

experiment() {
	"$BT" experiment "$RIG_MNT" --set scheduler=none --set scheduler=mq-deadline --set scheduler=bfq -n $ROUNDS -q \
		-o "$BATS_TEST_TMPDIR/text" --json "$J" -- "${WORK[@]}" || return
	comment "$(jq -r '[.variants[] | "\(.rank). \(.name): \(.mean_ns / 1e6 | round) ms, \(.runs[.median_run].verdict.class), " +
		"\(.measured.why.family // "nobody")"] | join("; ")' "$J")"
}

# With few tags the drive's queue is short, and what waits, waits in the scheduler. Those whose times overlap are equal: whatever is
# told apart without the tool is not ranked the other way by it, nor the other way round.
@test "experiment: none, mq-deadline and bfq beside a background writer: the ranking, and the scheduler at fault" {
	local a b times=$BATS_TEST_TMPDIR/times
	neighbour 4
	untraced >"$times"
	experiment
	comment "untraced: $(for a in "${SCHEDULERS[@]}"; do awk -v s="$a" '$1 == s { printf "%s %d ms, ", n++ ? "" : s, $2 / 1000 }' "$times"; done)"
	traced >"$times.traced"
	for a in none bfq; do
		told $a mq-deadline "$times" && told $a mq-deadline "$times.traced" && ranks $a mq-deadline
	done
	for a in "${SCHEDULERS[@]}"; do
		for b in "${SCHEDULERS[@]}"; do
			! { told "$a" "$b" "$times" && ranks "$b" "$a"; } || { echo "$a is faster than $b without the tool"; false; }
			! { told "$a" "$b" "$times.traced" && ranks "$b" "$a"; } || { echo "$a is faster than $b under it"; false; }
		done
	done
	[[ $(of scheduler=mq-deadline .measured.why.family) == 'I/O scheduler' ]]
	[[ $(of scheduler=mq-deadline '.runs[.median_run].verdict.class') == io-scheduler ]]
	grep -q '^ *fastest .*then B' "$BATS_TEST_TMPDIR/text"
}

many_once() {
	experiment && jq -e 'all(.variants[]; .measured.why.family != "I/O scheduler" and .runs[.median_run].verdict.class != "io-scheduler")
		and (.variants[0] | .runs[.median_run].verdict.class == "device-busy")' "$J"
}

# With many tags all of them wait in the drive's queue, whatever the scheduler.
@test "experiment: none, mq-deadline and bfq beside a background writer: the scheduler acquitted" {
	neighbour ''
	many_once || many_once
}
