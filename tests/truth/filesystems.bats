#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file system, each way to sync: as many calls as the driver made, their ledgers add up, and next to nothing
# is unexplained.

load ../helpers
load matrix

CALLS=100

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
}

teardown() {
	clean_up
}

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

# visible WAY FILE-SYSTEM: has the kernel what it takes? 5.10: io_uring's completions don't tell of which request they are, and
# modules have no BTF, so that their tracepoints can't be had.
visible() {
	local complete=/sys/kernel/tracing/events/io_uring/io_uring_complete/format
	case $1 in
	uring) [[ ! -r $complete ]] || grep -q 'field:void \* req;' $complete ;;
	aio) [[ ! -e /sys/module/${2%-nojournal}/initstate || -e /sys/kernel/btf/${2%-nojournal} ]] ;;
	esac
}

# way_of_all NAME: the process of this name, in a report of all of them. A worker that is new explains nothing of what it did
# before, so io_uring and AIO are held to their counts only.
way_of_all() {
	jq -e --arg c "$1" --argjson n "$CALLS" '[.sync.by_process[] | select(.comm == $c)] | length == 1 and (.[0] | .count == $n and
		($c == "sync" or $c == "uring" or $c == "aio" or (.ledger.unknown // 0) <= 0.03 * .total_ns))' "$J" >/dev/null && return
	jq -c --arg c "$1" '.sync.by_process[] | select(.comm == $c) | [.comm, .count, .total_ns, .ledger]' "$J"
	return 1
}

# all_ways NAME[:CALL]...: in one run, by a program named after each. As many of each call, and of each program.
all_ways() {
	local name
	for name; do
		ln -sf "$SYNCS" "$BATS_TEST_TMPDIR/${name%%:*}"
		echo "$BATS_TEST_TMPDIR/${name%%:*} ${name%%:*} $RIG_MNT/${name%%:*} $CALLS"
	done >"$BATS_TEST_TMPDIR/all"
	trace sh -e "$BATS_TEST_TMPDIR/all" && ledgers_add_up && nothing_lost || return
	figures
	printf '%s\n' "${@#*:}" | sort | uniq -c | while read -r n name; do
		[[ $(jq --arg c "$name" '.sync.calls[$c]' "$J") == $((n * CALLS)) ]] || { echo "$name: $(jq -c .sync.calls "$J")"; exit 1; }
	done || return
	for name; do
		way_of_all "${name%%:*}" || return
	done
}

# Something else on the machine may come between: two more tries. In an emulated machine a start of the tool takes as long as a
# hundred calls.
each_way() { # FILE-SYSTEM
	local name seen=() failed=()
	need "mkfs.${1%-nojournal}"
	rig_up --fs "$1" --size 512M
	rig_set flush_us=3000 write_us=300
	for name in fsync fdatasync dsync:write rwf:write msync syncfs sync range:sync_file_range uring:'io_uring fsync' \
		aio:'aio fsync'; do
		if visible "${name%%:*}" "$1"; then
			seen+=("$name")
		else
			comment "not to be seen on this kernel: $1, ${name#*:}"
		fi
	done
	! emulated || { one_of_three all_ways "${seen[@]}"; return; }
	for name in "${seen[@]}"; do
		one_of_three way "${name%%:*}" "${name#*:}" || failed+=("$name")
	done
	((!${#failed[@]})) || { echo "failed: ${failed[*]}"; return 1; }
}

@test "file systems: ext4" {
	each_way ext4
}

@test "file systems: ext4 without a journal" {
	each_way ext4-nojournal
}

# 7.0 and later take the sync calls so; here they can be told to.
@test "file systems: ext4, by classic tracepoints" {
	TRACE_WITH=(--rung sync=tp)
	each_way ext4
	[[ $(jq -r '[.probes[] | select(.name == "sync.enter" or .name == "sync.exit") | .rung] | unique | join(" ")' "$J") == tp ]]
}

# Two tools at once, one of them around the work.
both_kinds() {
	local other=$BATS_TEST_TMPDIR/other.json tool
	start_tracing --rung sync=tp "$RIG_DISK" --json "$other" -o "$BATS_TEST_TMPDIR/other.txt"
	tool=$STARTED
	trace "$SYNCS" fdatasync "$RIG_MNT/file" "$CALLS" && nothing_lost || { stop_tracing "$tool"; return 1; }
	stop_tracing "$tool"
	jq -ce '.sync | [.calls, .latency.p50_ns, .total_ns]' "$J" "$other"
	jq -se --argjson n "$CALLS" 'def near(a; b): (a - b | fabs) <= 0.02 * b;
		([.[].sync.calls] == [{ fdatasync: $n }, { fdatasync: $n }]) and
		near(.[0].sync.latency.p50_ns; .[1].sync.latency.p50_ns) and near(.[0].sync.total_ns; .[1].sync.total_ns)' "$J" "$other"
}

@test "file systems: typed and classic tracepoints of the sync calls agree" {
	need mkfs.ext4
	rig_up --fs ext4 --size 512M
	rig_set flush_us=3000 write_us=300
	one_of_three both_kinds
}

@test "file systems: XFS" {
	each_way xfs
}

@test "file systems: btrfs" {
	each_way btrfs
}

# The second takes the place of the first, which nothing that is traced tells from it.
two_at_once() {
	trace "$SYNCS" aio2 "$RIG_MNT/aio2" "$CALLS"
	jq -c '[.sync.calls, .run.lost]' "$J"
	jq -e --argjson n "$((2 * CALLS))" '((.sync.calls["aio fsync"] // 0) + .sync.no_ledger) as $seen |
		([.run.lost[]? | select(.reason | startswith("AIO fsyncs not followed")) | .count] | add // 0) as $lost |
		$lost > 0 and $seen + $lost == $n and .run.incomplete' "$J"
}

@test "file systems: two AIO fsyncs of one file at once are not hidden" {
	need mkfs.ext4
	visible aio ext4 || skip 'missing: AIO fsyncs that are seen on this kernel'
	rig_up --fs ext4 --size 512M
	one_of_three two_at_once
}
