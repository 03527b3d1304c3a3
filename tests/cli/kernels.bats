#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/check-kernels: a table of TAP, without any guest.

setup() {
	load ../helpers
	need bats
	# not as it stands: it would be taken for tests of this file
	sed 's/^T /@test /' >"$BATS_TEST_TMPDIR/t.bats" <<-'END'
		T "vm 5.10 x86_64 probes: all" { :; }
		T "vm 5.10 x86_64 raid1: a leg" { echo here it is; false; }
		T "vm 6.1 x86_64 probes: none: no such module" { :; }
		T "vm 6.1 x86_64 raid1: a leg" { skip 'missing: QEMU'; }
		T "vm 7.2 x86_64 probes: all" { skip 'not asked for'; }
	END
}

table() { # of t.bats, less the test of this name
	[[ ! ${1-} ]] || sed -i "/$1/d" "$BATS_TEST_TMPDIR/t.bats"
	run env BARRIERTRACE_KERNEL_TESTS="$BATS_TEST_TMPDIR/t.bats" "$TOP/scripts/check-kernels"
	echo "$output"
}

@test "kernels: the table has a row per kernel, a column per test, and what failed" {
	table
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = '               probes raid1' ]
	[ "${lines[1]}" = '5.10 x86_64    ok     FAIL' ]
	[ "${lines[2]}" = '6.1 x86_64     none   skip' ]
	[ "${lines[3]}" = 'none: 6.1 x86_64 probes: no such module' ]
	[ "${lines[4]}" = 'skipped: 6.1 x86_64: missing: QEMU' ]
	[[ $output == *'failed: 5.10 x86_64 raid1'*'  here it is'* ]]
	[ "${lines[-1]}" = '2 ok, 1 failed, 1 skipped' ]
}

@test "kernels: nothing failed" {
	table '5.10 x86_64 raid1'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = '2 ok, 0 failed, 1 skipped' ]
}

@test "kernels: nothing ran" {
	table ' \(5.10\|6.1\) '
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = '0 ok, 0 failed, 0 skipped' ]
}
