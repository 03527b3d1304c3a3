#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# System calls of the 32-bit kind, whose numbers mean something else: 162 is sync on x86_64 and nanosleep there.

load ../helpers

setup() {
	need_tracing
	need gcc
	[[ $(uname -m) == x86_64 ]] || skip 'missing: x86_64'
}

teardown() {
	clean_up
}

@test "compat: a 32-bit nanosleep is no sync" {
	cat >"$BATS_TEST_TMPDIR/calls.c" <<-'EOF'
		#include <unistd.h>
		int main(void)
		{
			for (int i = 0; i < 5; i++) {
				long nr = 162; /* nanosleep without a time: EFAULT */
				asm volatile("int $0x80" : "+a"(nr) : "b"(0L), "c"(0L) : "memory", "r8", "r9", "r10", "r11");
			}
			for (int i = 0; i < 3; i++)
				sync();
			return 0;
		}
	EOF
	gcc -O1 -o "$BATS_TEST_TMPDIR/calls" "$BATS_TEST_TMPDIR/calls.c"
	"$BATS_TEST_TMPDIR/calls" || skip 'missing: 32-bit system calls of this kernel'
	"$BT" -q -o /dev/null --json "$BATS_TEST_TMPDIR/report.json" -- "$BATS_TEST_TMPDIR/calls" || (($? == 5))
	jq -e '.sync.calls == { sync: 3 }' "$BATS_TEST_TMPDIR/report.json" || { jq -c .sync.calls "$BATS_TEST_TMPDIR/report.json"; false; }
}
