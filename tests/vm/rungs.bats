#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# One piece of work in an emulated machine, seen by several rungs at once: the reports agree.
# Names, and BARRIERTRACE_KERNELS and BARRIERTRACE_GUESTS: as in kernels.bats.

load ../helpers
load kernels
load rungs

setup_file() {
	export GUESTS=${BARRIERTRACE_GUESTS:-$BATS_FILE_TMPDIR}/rungs
	boots boot_rungs
}

teardown_file() {
	guests_end
}

setup() {
	need_tool
	need jq "${CC:-cc}"
}

@test "vm 6.12 x86_64 rungs: counts and medians agree" { cell; }
@test "vm 6.12 x86_64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 6.12 x86_64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 6.12 x86_64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 6.12 x86_64 functions: other system calls cost nothing while fsyncs come" { cell; }
