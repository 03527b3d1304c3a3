#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools that take their time, wrapped, and those whose writes are the report's to the byte only on a machine where nobody else syncs; the
# others: ../live/tools.bats.

load ../helpers
load matrix
load tools

# "Timing O_DIRECT disk reads: 64 MB in  0.33 seconds = 775.56 MB/sec"
as_hdparm_reads() {
	local mb
	mb=$(sed -nE 's/.*reads: +([0-9]+) MB in.*/\1/p' "$OUT")
	((mb == 64)) && as_straced && requests_are read - $((mb << 20)) && (($(jq .sync.calls.fsync "$J") > 0))
}

@test "tools: hdparm -t and -T" {
	need_rig
	need hdparm strace
	# the whole disk in less than the three seconds that hdparm takes at most
	rig_up --fs none --size 64M --read-us 200
	agrees as_hdparm_reads straced -e trace="${SYNC_CALLS//|/,}" hdparm -t --direct "$RIG_DEV"
	agrees as_hdparm_reads straced -e trace="${SYNC_CALLS//|/,}" hdparm -t "$RIG_DEV"
	agrees as_straced straced -e trace="${SYNC_CALLS//|/,}" hdparm -T "$RIG_DEV"
}

@test "tools: fs_mark and bonnie++, every byte that they write" {
	need_rig
	need fs_mark bonnie++ strace
	rig_ext4
	own_requests
	EXACT=1
	fs_mark_agrees
	bonnie_agrees
}
