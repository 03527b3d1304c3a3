#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# How much of the time of each way to sync is explained, on each file system; that all are counted: ../live/filesystems.bats.

load ../helpers
load matrix
load filesystems

CALLS=100

# counted NAME: CALLS calls of this name, and none of another. One in 50 may be without a ledger: while another
# tracer comes or goes, tracepoints miss events, and the report says so.
counted() {
	jq -e --arg c "$1" --argjson n "$CALLS" '.sync | (.calls | keys) == [$c] and .count + .no_ledger == $n and
		.no_ledger <= $n / 50' "$J" >/dev/null || { jq -c '.sync | [.calls, .no_ledger]' "$J"; return 1; }
}

# way NAME CALL: CALLS calls by the driver
way() {
	trace "$SYNCS" "$1" "$RIG_MNT/$1" "$CALLS" || return
	[[ $(<"$BATS_TEST_TMPDIR/output") == "$1 $CALLS" ]] || return
	echo "$1: $(figures)"
	counted "$2" && ledgers_add_up || return
	# sync waits for every disk of the machine, also for those that are not traced
	[[ $1 == sync ]] || unknown_below 0.03
}

# way_of_all NAME: the process of this name, in a report of all of them. A worker that is new explains nothing of what it did
# before, so io_uring and AIO are held to their counts only.
way_of_all() {
	jq -e --arg c "$1" --argjson n "$CALLS" '[.sync.by_process[] | select(.comm == $c)] | length == 1 and (.[0] | .count == $n and
		($c == "sync" or $c == "uring" or $c == "aio" or (.ledger.unknown // 0) <= 0.03 * .total_ns))' "$J" >/dev/null && return
	jq -c --arg c "$1" '.sync.by_process[] | select(.comm == $c) | [.comm, .count, .total_ns, .ledger]' "$J"
	return 1
}

# In one run; as many of each call, and of each program
all_ways() {
	local name
	trace_ways && ledgers_add_up && little_lost || return
	figures
	printf '%s\n' "${WAYS[@]#*:}" | sort | uniq -c | while read -r n name; do
		[[ $(jq --arg c "$name" '.sync.calls[$c]' "$J") == $((n * CALLS)) ]] || { echo "$name: $(jq -c .sync.calls "$J")"; exit 1; }
	done || return
	for name in "${WAYS[@]}"; do
		way_of_all "${name%%:*}" || return
	done
}

# In an emulated machine a start of the tool takes as long as a hundred calls.
each_way() { # FILE-SYSTEM
	local name failed=()
	ways_on "$1"
	! emulated || { one_of_three all_ways; return; }
	for name in "${WAYS[@]}"; do
		one_of_three way "${name%%:*}" "${name#*:}" || failed+=("$name")
	done
	((!${#failed[@]})) || { echo "failed: ${failed[*]}"; return 1; }
}

@test "explained: ext4" {
	each_way ext4
}

@test "explained: ext4 without a journal" {
	each_way ext4-nojournal
}

@test "explained: XFS" {
	each_way xfs
}

@test "explained: btrfs" {
	each_way btrfs
}

# Two tools at once, one of them around the work.
both_kinds() {
	local other=$BATS_TEST_TMPDIR/other.json tool
	start_tracing --rung sync=tp "$RIG_DISK" --json "$other" -o "$BATS_TEST_TMPDIR/other.txt"
	tool=$STARTED
	trace "$SYNCS" fdatasync "$RIG_MNT/file" "$CALLS" && little_lost || { stop_tracing "$tool"; return 1; }
	stop_tracing "$tool"
	jq -ce '.sync | [.calls, .latency.p50_ns, .total_ns]' "$J" "$other"
	jq -se --argjson n "$CALLS" 'def near(a; b): (a - b | fabs) <= 0.02 * b;
		([.[].sync.calls] == [{ fdatasync: $n }, { fdatasync: $n }]) and
		near(.[0].sync.latency.p50_ns; .[1].sync.latency.p50_ns) and near(.[0].sync.total_ns; .[1].sync.total_ns)' "$J" "$other"
}

@test "explained: typed and classic tracepoints of the sync calls agree" {
	need mkfs.ext4
	rig_up --fs ext4 --size 512M
	rig_set flush_us=3000 write_us=300
	one_of_three both_kinds
}
