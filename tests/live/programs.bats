#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel makes of our programs.

load ../helpers

setup() {
	need_tracing
	need bpftool jq
}

teardown() {
	clean_up
}

# no_copies PID PROGRAM: it never calls the helper that copies memory of the kernel
no_copies() {
	local id ids
	ids=$(sed -n 's/^prog_id:\s*//p' "/proc/$1/fdinfo/"* | sort -nu | paste -sd,)
	id=$(bpftool prog show -j | jq --arg name "$2" "[.[] | select(.name == \$name and (.id | IN($ids)))][0].id")
	bpftool prog dump xlated id "$id" opcodes >"$BATS_TEST_TMPDIR/program"
	[[ -s $BATS_TEST_TMPDIR/program ]]
	! grep 'call bpf_probe_read_kernel#' "$BATS_TEST_TMPDIR/program"
}

@test "programs: at each system call, memory of the kernel is loaded and not copied, where programs may say what lies there" {
	grep -qw bpf_rdonly_cast /proc/kallsyms || skip 'missing: bpf_rdonly_cast'
	start_tracing -q -o /dev/null --json /dev/null
	no_copies "$STARTED" sys_enter_btf
	no_copies "$STARTED" sys_exit_btf
	stop_tracing "$STARTED"
}
