#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# One piece of work in an emulated machine, seen by several rungs at once: the reports agree. The kernels that
# `make check-kernels` has no time for without FULL=1.
# Names, and BARRIERTRACE_KERNELS and BARRIERTRACE_GUESTS: as in kernels.bats.

load ../../helpers
load ../kernels
load ../rungs

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

@test "vm 5.10 x86_64 rungs: counts and medians agree" { cell; }
@test "vm 5.10 x86_64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 5.10 x86_64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 5.10 x86_64 calls-rungs: limit: no tracepoint block_io_start, so by that of all calls" { cell; }
@test "vm 5.10 x86_64 functions: limit: no tracepoint block_io_start, so by that of all calls" { cell; }

@test "vm 6.1 x86_64 rungs: counts and medians agree" { cell; }
@test "vm 6.1 x86_64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 6.1 x86_64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 6.1 x86_64 calls-rungs: limit: no tracepoint block_io_start, so by that of all calls" { cell; }
@test "vm 6.1 x86_64 functions: limit: no tracepoint block_io_start, so by that of all calls" { cell; }

@test "vm 6.18 x86_64 rungs: counts and medians agree" { cell; }
@test "vm 6.18 x86_64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 6.18 x86_64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 6.18 x86_64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 6.18 x86_64 functions: other system calls cost nothing while fsyncs come" { cell; }

@test "vm 7.2 x86_64 rungs: counts and medians agree" { cell; }
@test "vm 7.2 x86_64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 7.2 x86_64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 7.2 x86_64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 7.2 x86_64 functions: other system calls cost nothing while fsyncs come" { cell; }

@test "vm 5.10 arm64 rungs: limit: no fentry, so kprobes and no rung are compared" { cell; }
@test "vm 5.10 arm64 waits: what held a FLUSH back is nearly all of the wait, by kprobe" { cell; }
@test "vm 5.10 arm64 kernel-calls: limit: no fentry, so by kprobe only" { cell; }
@test "vm 5.10 arm64 calls-rungs: limit: no fentry, so by the tracepoint of all calls" { cell; }
@test "vm 5.10 arm64 functions: limit: no fentry, so by the tracepoint of all calls" { cell; }

@test "vm 6.1 arm64 rungs: limit: no fentry, so kprobes and no rung are compared" { cell; }
@test "vm 6.1 arm64 waits: what held a FLUSH back is nearly all of the wait, by kprobe" { cell; }
@test "vm 6.1 arm64 kernel-calls: limit: no fentry, so by kprobe only" { cell; }
@test "vm 6.1 arm64 calls-rungs: limit: no fentry, so by the tracepoint of all calls" { cell; }
@test "vm 6.1 arm64 functions: limit: no fentry, so by the tracepoint of all calls" { cell; }

@test "vm 6.12 arm64 rungs: counts and medians agree" { cell; }
@test "vm 6.12 arm64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 6.12 arm64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 6.12 arm64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 6.12 arm64 functions: other system calls cost nothing while fsyncs come" { cell; }

@test "vm 6.18 arm64 rungs: counts and medians agree" { cell; }
@test "vm 6.18 arm64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 6.18 arm64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 6.18 arm64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 6.18 arm64 functions: other system calls cost nothing while fsyncs come" { cell; }

@test "vm 7.2 arm64 rungs: counts and medians agree" { cell; }
@test "vm 7.2 arm64 waits: what held a FLUSH back is nearly all of the wait" { cell; }
@test "vm 7.2 arm64 kernel-calls: the kernel's own sync calls are seen" { cell; }
@test "vm 7.2 arm64 calls-rungs: at the calls' own functions as by the tracepoint of all calls" { cell; }
@test "vm 7.2 arm64 functions: other system calls cost nothing while fsyncs come" { cell; }
