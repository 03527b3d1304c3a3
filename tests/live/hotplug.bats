#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Disks that come and go while the tool runs.

bats_require_minimum_version 1.5.0
load ../helpers
load ../truth/counts

@test "hotplug: a loop device detached under load doesn't break the run" {
	local tool
	need_rig
	rig_up --fs none --read-us 200
	start_tracing "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	start dd if="$RIG_DEV" of=/dev/null bs=4k iflag=direct status=none
	sleep 0.3
	losetup -d "$RIG_DEV" # goes when its last user closes it
	sleep 0.2
	kill "$STARTED"
	wait "$STARTED" || true
	eventually 5 test ! -e "/sys/block/$RIG_DISK/loop/backing_file"
	sleep 1.1 # it looks around once a second
	stop_tracing "$tool"
	holds "$(of_disk "$J" "$RIG_DISK" .ops.read.count) > 100"
	# requests: a kernel that leaves programs out at switches of tasks has nothing to do with disks
	(($(jq '[.run.lost[]? | select(.reason | test("switches") | not) | .count] | add // 0' "$J") <= 8))
}

@test "hotplug: a disk that vanishes is told, another one is traced on" {
	local tool
	need_zram
	rig_raw
	zram_up
	start_tracing "$RIG_DISK" "$ZRAM" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	writes "/dev/$ZRAM" 25
	zram_down "${ZRAM#zram}"
	[[ ! -e /sys/block/$ZRAM ]]
	sleep 1.2
	reads "$RIG_DEV" 35
	stop_tracing "$tool"
	[[ $(of_disk "$J" "$ZRAM" .vanished) == true ]]
	[[ $(of_disk "$J" "$ZRAM" .ops.write.count) == 25 ]]
	[[ $(our_io "$J" "$RIG_DISK") == "35 280 0 0" ]]
	grep -q "$ZRAM.*" "$BATS_TEST_TMPDIR/text"
}

# row_of FILE DISK: the last one that had this name, should others have had it before
row_of() {
	jq -r --arg d "$2" '[.devices[].name | select(. == $d or startswith($d + " ("))][-1]' "$1"
}

@test "hotplug: a disk that appears is traced when none was named" {
	local tool
	need_rig
	need_zram
	start_tracing --json "$J" -o "$BATS_TEST_TMPDIR/text"
	tool=$STARTED
	zram_up
	rig_up --fs none
	sleep 2.2 # it looks around once a second
	writes "/dev/$ZRAM" 25
	reads "$RIG_DEV" 35
	stop_tracing "$tool"
	holds "$(of_disk "$J" "$(row_of "$J" "$RIG_DISK")" .ops.read.count) >= 35"
	[[ $(of_disk "$J" "$(row_of "$J" "$ZRAM")" .ops.write.count) == 25 ]]
}

# two_files: $A and $B, for one loop device after the other, which nobody else takes: $LOOP, with $A now
two_files() {
	local i=77
	need_tracing
	need losetup
	[[ -c /dev/loop-control ]] || skip "missing: /dev/loop-control"
	[[ -e $(echo /sys/block/*/diskseq | cut -d' ' -f1) ]] || skip "missing: /sys/block/*/diskseq (Linux 5.15)"
	A=$(mktemp /dev/shm/barriertrace-disk.XXXXXX) B=$(mktemp /dev/shm/barriertrace-disk.XXXXXX)
	on_exit "rm -f $A $B"
	truncate -s 1M "$A" "$B"
	until losetup "/dev/loop$i" "$A" 2>/dev/null; do
		((++i < 87)) || skip "missing: a loop device"
	done
	LOOP=loop$i
	on_exit "losetup -d /dev/$LOOP"
}

# Of writes, which nobody else makes: 25 of the first disk, and of the second 5, before it is seen or after, and 35.
one_after_the_other() {
	writes "/dev/$LOOP" 25
	losetup -d "/dev/$LOOP"
	eventually 5 losetup "/dev/$LOOP" "$B"
	SEQ=$(<"/sys/block/$LOOP/diskseq")
	writes "/dev/$LOOP" 5
	eventually 10 grep -q "$LOOP (diskseq $SEQ) appeared" "$ERR"
	writes "/dev/$LOOP" 35
}

# are_apart FILE
are_apart() {
	local second="$LOOP (diskseq $SEQ)"
	[[ $(of_disk "$1" "$LOOP" .ops.write.count) == 25 ]]
	[[ $(of_disk "$1" "$LOOP" .vanished) == true ]]
	[[ $(of_disk "$1" "$LOOP" .kernel) == 0 ]] # not known: what stands there now is the other one's
	holds "$(of_disk "$1" "$second" .ops.write.count) >= 35 && $(of_disk "$1" "$second" .ops.write.count) <= 40"
	holds "$(of_disk "$1" "$second" .kernel.writes) >= 35 && $(of_disk "$1" "$second" .kernel.writes) <= 40"
	[[ $(of_disk "$1" "$second" .diskseq) == "$SEQ" ]]
	holds "$(of_disk "$1" "$second" .from_ns) > 0"
	jq -e --arg n "\"$second\" is another disk, traced from" 'any(.run.notes[]; contains($n))' "$1"
}

# told_apart TARGET...: live, and by `report` from the recording
told_apart() {
	local tool
	start_tracing record -v -o "$BATS_TEST_TMPDIR/run.bt" --json "$J" "$@"
	tool=$STARTED
	one_after_the_other
	stop_tracing "$tool"
	are_apart "$J"
	"$BT" report "$BATS_TEST_TMPDIR/run.bt" --json "$J.later" >"$BATS_TEST_TMPDIR/text"
	are_apart "$J.later"
	grep -q "^$LOOP  *vanished during the run" "$BATS_TEST_TMPDIR/text"
	grep -q "^$LOOP (diskseq $SEQ)  " "$BATS_TEST_TMPDIR/text"
}

@test "hotplug: the disk that takes a named one's place is another one" {
	two_files
	told_apart "$LOOP"
}

@test "hotplug: of all disks, one that takes another's place is another one" {
	two_files
	told_apart
}

# btrfs has a device number that nothing but the mount table knows.
@test "hotplug: a file system that is mounted during the watch is of its disk, in the recording too; on another disk it is elsewhere" {
	local watch other
	need_rig
	need mkfs.btrfs
	rig_up --fs btrfs
	umount "$RIG_MNT"
	quiet_disk
	start_tracing "$RIG_DISK" --json "$J" -o "$BATS_TEST_TMPDIR/text"
	watch=$STARTED
	start_tracing "$DISK" --json "$BATS_TEST_TMPDIR/other.json" -o "$BATS_TEST_TMPDIR/other"
	other=$STARTED
	start "$BT" record -o "$BATS_TEST_TMPDIR/recording" "$RIG_DISK"
	eventually 10 is_tracing "$STARTED"
	mount "$RIG_DEV" "$RIG_MNT"
	for i in 1 2 3; do dd if=/dev/zero of="$RIG_MNT/f" bs=4k count=1 conv=fsync,notrunc status=none; done
	stop_tracing "$STARTED"
	stop_tracing "$other"
	stop_tracing "$watch"
	"$BT" report -q --json "$BATS_TEST_TMPDIR/recorded.json" "$BATS_TEST_TMPDIR/recording"
	for file in "$J" "$BATS_TEST_TMPDIR/recorded.json"; do
		jq -c '.sync | {count, elsewhere, by_file: [.by_file[].path]}' "$file"
		jq -e --arg f "$RIG_MNT/f" '.sync | .count == 3 and .by_file[0].path == $f' "$file"
	done
	jq -e '.sync | .count == 0 and .elsewhere >= 3' "$BATS_TEST_TMPDIR/other.json"
}
