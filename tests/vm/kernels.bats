#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The tool in emulated machines with Debian's kernels: which probes there are, and counts and times beside the kernel's own raw
# events. BARRIERTRACE_KERNELS="6.1 6.12": only these.

load ../helpers
load ../truth/matrix
load kernels

setup() {
	need_tool
	need jq
	[[ ! ${BARRIERTRACE_KERNELS:-} || " $BARRIERTRACE_KERNELS " == *" $(kernel_here) "* ]] || skip 'not asked for'
}

# The kernel that the test's name begins with
kernel_here() {
	sed -E 's/^vm ([0-9.]+):.*/\1/' <<<"$BATS_TEST_DESCRIPTION"
}

# Every probe is attached, except for reasons that are this kernel's own.
probes_attach() { # NAMES of probes that it can't have
	local refused
	guest_of "$(kernel_here)"
	cat "$G/probes" "$G/probes.err"
	[[ $(<"$G/probes.status") == 0 ]]
	refused=$(awk 'NR > 1 && $3 != "attached" { print $1 }' "$G/probes" | tr '\n' ' ')
	[[ ${refused% } == "$*" ]] || { echo "not attached: $refused"; return 1; }
}

truth_holds() {
	local run
	guest_of "$(kernel_here)"
	for run in "${RUNS[@]}"; do
		counts_are_the_kernels "$run"
		nothing_lost
		ledgers_add_up
	done
	calls_are fdatasync fdatasync 25
	calls_are overwrite fdatasync 25
}

@test "vm 5.10: the probes attach" {
	probes_attach request.start uring.submit async.xfs async.btrfs
}

@test "vm 5.10: counts and times are those of the raw events" {
	truth_holds
}

@test "vm 6.1: the probes attach" {
	probes_attach request.start uring.submit async.xfs async.btrfs
}

@test "vm 6.1: counts and times are those of the raw events" {
	truth_holds
}

@test "vm 6.12: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm 6.12: counts and times are those of the raw events" {
	truth_holds
}

@test "vm 6.18: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm 6.18: counts and times are those of the raw events" {
	truth_holds
}

@test "vm 7.2: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm 7.2: counts and times are those of the raw events" {
	truth_holds
}
