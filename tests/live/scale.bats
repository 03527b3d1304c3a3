#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tool itself takes, and how many sync calls a second it follows without losing one. What cannot be made here (more than
# these CPUs yield, days) is replayed: tests/golden/replay.bats.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	need_rig
}

teardown() {
	clean_up
}

resident() { # PID: KiB
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

# at_rest PID: resident memory once a second has passed, since when sync calls can be explained at any time
at_rest() {
	local kib
	sleep 2
	kib=$(resident "$1")
	comment "$kib KiB resident at rest, $(awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup") of them nobody else's"
	holds "$kib <= 12 * 1024"
}

@test "resident memory at rest, watching one disk: 12 MiB" {
	rig_up --flush-us 0 --write-us 0
	start_tracing "$RIG_DISK" --plain -o "$BATS_TEST_TMPDIR/text"
	at_rest "$STARTED"
	stop_tracing "$STARTED"
}

@test "resident memory at rest, beside a command and with outputs that list every call: 12 MiB" {
	rig_up --flush-us 0 --write-us 0
	start_tracing "$RIG_DISK" --db "$BATS_TEST_TMPDIR/db" --csv "$BATS_TEST_TMPDIR/csv" -- sleep 4
	at_rest "$STARTED"
	status_of "$STARTED"
}

# ---- sync calls by the thousand ----

# A disk in memory, whose file system has neither a journal nor barriers: calls are as cheap as can be
memory_disk() {
	local image=/dev/shm/barriertrace.$$.img loop
	need mkfs.ext4
	STORM=$BATS_TEST_TMPDIR/storm MNT=$BATS_TEST_TMPDIR/mnt
	"${CC:-cc}" -O2 -pthread -o "$STORM" "$TOP/tests/live/storm.c"
	truncate -s 32M "$image"
	on_exit "rm -f $image"
	mkfs.ext4 -q -F -O ^has_journal "$image"
	loop=$(losetup -f --show "$image")
	on_exit "losetup -d $loop"
	mkdir "$MNT"
	mount -o nobarrier "$loop" "$MNT"
	on_exit "umount $MNT"
	DISK=${loop#/dev/}
}

# CPU time of the tool's threads so far, ns
cpu_of() { # PID
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# storm RATE SECONDS [COMMAND]: runs it under the tool; COMMAND PID meanwhile
storm() {
	start "$BT" "$DISK" --json storm.json -o storm.txt -- "$STORM" "$MNT/file" 2 "$1" "$2" > made
	eventually 10 is_tracing "$STARTED"
	[[ ! ${3:-} ]] || "$3" "$STARTED"
	status_of "$STARTED"
	comment "$(< made) calls in $2 s"
}

nothing_lost() {
	jq -e --argjson made "$(< made)" '(.run.lost // []) == [] and .sync.count == $made' storm.json > /dev/null ||
		{ jq -c '[.run.lost, .sync.count]' storm.json; return 1; }
}

userspace_cpu() { # PID
	local before
	sleep 0.5
	before=$(cpu_of "$1")
	sleep 3
	SHARE=$((($(cpu_of "$1") - before) / 30000000))
	RESIDENT=$(resident "$1")
	comment "$SHARE % of a core"
}

@test "20,000 sync calls a second: none lost, user space takes 10 % of a core at most" {
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	storm 20000 5 userspace_cpu
	nothing_lost
	holds "$SHARE <= 10"
}

# Some 350,000 a second with 2 CPUs: the ring buffer is filled several times over. That it stays unmapped is what keeps the
# resident memory small.
@test "as many sync calls as two CPUs can make: none lost, and 24 MiB resident at most" {
	cd "$BATS_TEST_TMPDIR"
	memory_disk
	storm 10000000 5 userspace_cpu
	nothing_lost
	holds "$RESIDENT <= 24 * 1024"
}
