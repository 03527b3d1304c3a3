#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The verdict where one cause is many times all others together: true on a busy machine, too. Causes that are close, and how
# large each is: ../truth/matrix.bats.

load ../helpers
load ../truth/matrix

setup_file() {
	build_syncs
}

setup() {
	need_rig
	need_syncs
	rig_up --fs ext4 --mount-opts commit=600
	"$SYNCS" fdatasync "$RIG_MNT/file" 10
}

teardown() {
	clean_up
}

# verdict_of CLASS FAMILY WORD...: of ten fdatasyncs that only overwrite
verdict_of() {
	or_lost trace "$SYNCS" -o fdatasync "$RIG_MNT/file" 10
	figures
	ledgers_add_up
	class_is "$1" "$2"
	accounted "$(jq .sync.count "$J")" 10 "$J"
}

@test "verdict: a flush of 50 ms" {
	rig_set flush_us=50000 write_us=0
	verdict_of device-flush flush
}

@test "verdict: writes of 50 ms" {
	rig_set flush_us=0 write_us=50000
	verdict_of device-write device
}

@test "verdict: no sync call" {
	or_lost trace dd if=/dev/zero of="$RIG_MNT/other" bs=4k count=10 status=none
	class_is no-sync
}
