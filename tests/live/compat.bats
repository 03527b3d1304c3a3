#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# System calls of the 32-bit kind, whose numbers mean something else: 162 is sync on x86_64 and nanosleep there.

load ../helpers

setup() {
	need_tracing
	[[ $(uname -m) == x86_64 ]] || skip 'missing: x86_64'
}

teardown() {
	clean_up
}

@test "compat: a 32-bit nanosleep is no sync" {
	local calls=$BUILD/tests/compat
	if ! emulated; then # else scripts/vm has brought it
		need gcc
		calls=$BATS_TEST_TMPDIR/calls
		gcc -O1 -o "$calls" "$TOP/tests/live/compat.c"
	fi
	"$calls" || skip 'missing: 32-bit system calls of this kernel'
	"$BT" -q -o /dev/null --json "$BATS_TEST_TMPDIR/report.json" -- "$calls" || (($? == 5))
	jq -e '.sync.calls == { sync: 3 }' "$BATS_TEST_TMPDIR/report.json" || { jq -c .sync.calls "$BATS_TEST_TMPDIR/report.json"; false; }
}
