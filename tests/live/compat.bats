#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# System calls of the 32-bit kind, whose numbers and registers are others: 162 is sync on x86_64 and nanosleep there; on arm64
# 81 is, and setgroups there.

load ../helpers

setup() {
	need_tracing
	[[ $(uname -m) == x86_64 ]] || emulated || skip 'missing: x86_64'
}

teardown() {
	clean_up
}

# calls_are_counted [OPTION]...
calls_are_counted() {
	local calls=$BUILD/tests/compat work missing
	if ! emulated; then # else scripts/vm has brought it
		need gcc
		calls=$BATS_TEST_TMPDIR/calls
		gcc -O1 -D_GNU_SOURCE -o "$calls" "$TOP/tests/live/compat.c"
	fi
	"$calls" "$BATS_TEST_TMPDIR/file" || (($? < 126)) || skip 'missing: 32-bit system calls of this kernel'
	work=("$calls" "$BATS_TEST_TMPDIR/file")
	# a program for arm makes no calls of the 64-bit kind
	# shellcheck disable=SC2016  # for the inner shell
	[[ $(uname -m) == x86_64 ]] || work=(sh -c '"$0" "$1" && sync && sync && sync' "${work[@]}")
	"$BT" -q -o "$BATS_TEST_TMPDIR/text" --json "$BATS_TEST_TMPDIR/report.json" "$@" -- "${work[@]}" || (($? == 5))
	jq -c .sync.calls "$BATS_TEST_TMPDIR/report.json"
	# as many as compat.c's table says, and 3 syncs of the 64-bit kind
	missing=$(jq '.sync.calls as $seen | { fsync: 1, fdatasync: 2, msync: 3, sync: 7, syncfs: 5, sync_file_range: 6, write: 15,
		"aio fsync": 9 }
		| [to_entries[] | .value - ($seen[.key] // 0)] | if min < 0 then 1000 else add end' "$BATS_TEST_TMPDIR/report.json")
	((missing <= $(lost "$BATS_TEST_TMPDIR/report.json")))
	jq -e '.sync.calls | keys - ["fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range", "write", "aio fsync"] == []' \
		"$BATS_TEST_TMPDIR/report.json"
}

@test "compat: the sync calls of 32-bit programs, and others of their numbers" {
	calls_are_counted
}

@test "compat: the same by classic tracepoints" {
	calls_are_counted --rung sync=tp
}
