#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Workloads on a disk with known latencies: their own counts equal the report's, the barrier card finds the disk's flush, and
# nothing is left behind, whatever comes.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/bench

@test "bench sqlite: as many syncs as SQLite asked for, in each journal mode" {
	local mode
	rig_up --flush-us 500
	for mode in delete truncate persist wal; do
		bench sqlite "$RIG_MNT" --inserts 20 --journal "$mode"
		same_count
		jq -e '.bench.rows[0].operations == 20 and .bench.per_second > 0' "$J"
	done
	bench sqlite "$RIG_MNT" --inserts 20 --copies 3
	same_count
	jq -e '[.bench.rows[].operations] == [20, 20, 20]' "$J"
	nothing_left
}

@test "bench sync: each method's own count is the report's of its file, and the flush is what it waits for" {
	rig_up --flush-us 2000
	bench sync "$RIG_MNT" --time 1.6
	same_count
	[[ $(jq '.report.sync.no_ledger // 0' "$J") != 0 ]] ||
		jq -e '[.bench.rows[] | select(.missing | not) | .syncs == .traced.syncs] | all' "$J"
	jq -e '[.bench.rows[] | select(.name | startswith("no sync") | not) | select(.missing | not) | .time.min_ns >= 2000000] | all' "$J"
	jq -e '.bench.rows | length == 16' "$J"
	jq -e '.bench.rows[] | select(.name == "fdatasync, 1 x 8k") | .traced.ledger["flush.only"] >= 1950000 * (.traced.syncs - 1)' "$J"
	nothing_left
}

@test "bench etcd: fio's own count of syncs is the report's" {
	rig_up
	bench etcd "$RIG_MNT" --size 1M
	same_count
	jq -e '.bench.rows[0].operations == 456 or .bench.rows[0].operations == 455' "$J"
	jq -e '.bench.tool | startswith("fio")' "$J"
	nothing_left
	nobody_left
}

# fio, with each of its sync calls in $BATS_TEST_TMPDIR/calls.*
straced_fio() {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/fio" <<-END
		#!/bin/bash
		exec strace -f -qq --seccomp-bpf -e trace=fsync,fdatasync,sync,syncfs,sync_file_range -o "$BATS_TEST_TMPDIR/calls.\$\$" $(type -P fio) "\$@"
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/fio"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "bench ars: fio's syncs are the report's, to the last that its jobs end with" {
	local made
	need strace
	rig_up
	straced_fio
	bench ars "$RIG_MNT" --size 16M --time 1.5
	jq -e '.bench.rows | length == 6' "$J"
	jq -c '.bench.syncs, .bench.syncs_uncounted, .report.sync.count, .report.sync.no_ledger, (.bench.rows[] | [.name, .operations, .syncs, .traced.syncs])' "$J"
	made=$(cat "$BATS_TEST_TMPDIR"/calls.* | grep -c 'sync(')
	comment "$made made, $(jq '"\(.bench.syncs) told, \(.report.sync.count) in the report"' -r "$J")"
	jq -e --argjson made "$made" '.report.sync.count + (.report.sync.no_ledger // 0) == $made' "$J"
	# 16 jobs with several requests under way: it does not tell which of them had to end with a sync
	jq -e --argjson made "$made" '.bench.syncs_uncounted == 16 and .bench.syncs <= $made and $made <= .bench.syncs + 16' "$J"
	jq -e '[.bench.rows[].syncs_uncounted] == [null, null, null, 16, null, null]' "$J"
	# a row whose calls are not all known has none
	[[ $(jq '.report.sync.no_ledger // 0' "$J") != 0 ]] || {
		jq -e '[.bench.rows[] | .traced.syncs // empty] | length == 4' "$J"
		jq -e '[.bench.rows[] | select(.traced) | .syncs == .traced.syncs] | all' "$J"
	}
	jq -e '[.bench.rows[] | select(.name == "64k x 16 jobs") | .syncs] == [16]' "$J"
	nothing_left
	nobody_left
}

@test "bench barrier: the card has the disk's flush, and its price beside FUA, writers and rest" {
	local flush
	rig_up --flush-us 3000 --write-us 300
	bench barrier "$RIG_MNT" --size 4M --time 2
	for flush in "$(row dirty bytes 4096 .flush.p50_ns)" "$(row dirty bytes 0 .flush.p50_ns)" \
		"$(row flush bytes 4096 .flush.p50_ns)" "$(row depth writers 1 .flush.p50_ns)"; do
		holds "$flush >= 2950000"
	done
	# no FUA here: a write with O_DSYNC is a write and a flush
	holds "$(row fua bytes 4096 .call.p50_ns) >= 3250000"
	jq -c '.verdict, .disk' "$J"
	# a machine that is busy makes too few of these calls to judge by, and then the card says so
	jq -e '(first(.tests[] | select(.test == "dirty" and .bytes == 4096)) | (.flush.count // 0) + (.unwaited // 0)) as $n |
		.verdict.class == (if $n < 5 then "unknown" else "believable" end)' "$J"
	jq -e '.verdict.medium == "virtual" and .disk.fua == false' "$J"
	jq -e '[.tests[] | select(.call) | .call.count > 0] | all' "$J"
	jq -e '.discards == 0' "$J"
	nothing_left
}

@test "bench barrier --discard: blocks that it freed are discarded, and only if asked to" {
	rig_up --flush-us 200
	bench barrier "$RIG_MNT" --size 8M --time 1
	(($(rig_stat discard_count) == 0))
	bench barrier "$RIG_MNT" --size 8M --time 1 --discard
	(($(rig_stat discard_count) > 0))
	jq -e '.discards > 0' "$J"
	[[ $(row discard bytes 4194304 .call.count) -ge 1 ]]
}

@test "bench: a signal, and kill -9 of the tool, leave nothing behind" {
	local pid
	rig_up --flush-us 2000
	start_bench sqlite "$RIG_MNT" --copies 2
	ends 143 stop_tracing "$STARTED" TERM
	one_line 'ended by a signal'
	nothing_left
	start_bench ars "$RIG_MNT" --size 64M
	pid=$STARTED
	sleep 0.5
	ends 130 stop_tracing "$pid" INT
	nothing_left
	nobody_left
	start_bench barrier "$RIG_MNT" --size 32M
	kill -KILL "$STARTED"
	eventually 5 nothing_left
	eventually 5 nobody_left
}

# fill: all that is left of the disk
fill() {
	dd if=/dev/zero of="$RIG_MNT/fill" bs=1M 2>/dev/null || true
	dd if=/dev/zero of="$RIG_MNT/fill2" bs=1k 2>/dev/null || true
}

@test "bench: a disk that becomes full: one line, and nothing is left" {
	rig_up --flush-us 2000
	start_bench sqlite "$RIG_MNT"
	fill
	ends 1 status_of "$STARTED"
	one_line 'full'
	nothing_left
	rm "$RIG_MNT"/fill*
	# what a program of somebody else's says of it: its last files are larger than what the first ones leave
	start_bench ars "$RIG_MNT" --size 32M --time 3
	fill
	ends 1 status_of "$STARTED"
	one_line 'fio ended with status 1: '*'No space left on device'
	nothing_left
	nobody_left
}

@test "bench: no room, and a read-only disk: one line each" {
	rig_up
	run -1 "$BT" bench barrier "$RIG_MNT" --size 1G
	[[ $output == *free*"a smaller --size may fit" && ${#lines[@]} == 1 ]]
	mount -o remount,ro "$RIG_MNT"
	run -1 "$BT" bench sync "$RIG_MNT"
	[[ $output == *"mounted read-only" && ${#lines[@]} == 1 ]]
}

flushed_more_than() { # COUNT
	(($(rig_stat flush_count) > $1))
}

# pulled_away WORDS WORKLOAD [OPTION].. : in mid-run, when it syncs; what the disk's own file system still lets it remove is removed
pulled_away() {
	local words=$1 before
	shift
	rig_up --flush-us 2000
	before=$(rig_stat flush_count)
	start_bench "$1" "$RIG_MNT" "${@:2}"
	eventually 10 flushed_more_than $((before + 20))
	kill -KILL "$RIG_PID"
	ends 1 status_of "$STARTED"
	one_line "$1: "*"$words"
	nothing_left || [[ $(<"$ERR") == *'could not be removed: '* ]]
	nobody_left
	rig_down
}

@test "bench: a disk that is pulled away in mid-run: one line, whatever runs" {
	pulled_away ': Input/output error' barrier --size 32M
	pulled_away ': Input/output error' sync
	pulled_away ': disk I/O error' sqlite
	pulled_away 'fio ended with status'*': Input/output error' etcd
	pulled_away 'fio ended with status'*': '*'on file ./ars-' ars --size 32M --time 6
}

@test "bench: with the rights of the user who called sudo" {
	rig_up
	chmod 711 "$RIG"
	mkdir -m 755 "$RIG_MNT/roots"
	mkdir -m 777 "$RIG_MNT/all"
	chmod 711 "$BATS_RUN_TMPDIR"
	chmod 777 "$BATS_TEST_TMPDIR"
	run -1 env SUDO_UID=65534 SUDO_GID=65534 "$BT" bench sync "$RIG_MNT/roots" --time 0.5
	[[ $output == *'Permission denied' ]]
	SUDO_UID=65534 SUDO_GID=65534 bench sync "$RIG_MNT/all" --time 0.5
	same_count
	SUDO_UID=65534 SUDO_GID=65534 bench sync "$RIG_MNT/roots" --time 0.5 --as-root
}

@test "bench: raw disks are refused" {
	rig_up --fs none
	run -2 "$BT" bench sync "$RIG_DEV"
	[[ $output == *'is a disk'* && ${#lines[@]} == 1 ]]
	(($(rig_stat write_count) == 0))
}
