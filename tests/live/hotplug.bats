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
	(($(json '.run.lost_events' "$J") <= 8))
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
	holds "$(of_disk "$J" "$RIG_DISK" .ops.read.count) >= 35"
	[[ $(of_disk "$J" "$ZRAM" .ops.write.count) == 25 ]]
}
