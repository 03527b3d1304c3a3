#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What kernels.bats says, on arm64: with the static build, in the same kernels. BARRIERTRACE_KERNELS="6.1 6.12": only these.

load ../helpers
load ../truth/matrix
load kernels

setup_file() {
	need_cross
	make -C "$TOP" -s static ARCH=arm64 O="${BT%/*}"
}

setup() {
	need jq
	# shellcheck disable=SC2034 # of kernels.bash
	GUEST_ARCH=arm64
	[[ ! ${BARRIERTRACE_KERNELS:-} || " $BARRIERTRACE_KERNELS " == *" $(kernel_here) "* ]] || skip 'not asked for'
}

@test "vm arm64 5.10: the probes attach" {
	probes_attach request.start uring.submit async.xfs async.btrfs
}

@test "vm arm64 5.10: counts and times are those of the raw events" {
	truth_holds
}

@test "vm arm64 6.1: the probes attach" {
	probes_attach request.start uring.submit async.xfs async.btrfs
}

@test "vm arm64 6.1: counts and times are those of the raw events" {
	truth_holds
}

@test "vm arm64 6.12: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm arm64 6.12: counts and times are those of the raw events" {
	truth_holds
}

@test "vm arm64 6.18: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm arm64 6.18: counts and times are those of the raw events" {
	truth_holds
}

@test "vm arm64 7.2: the probes attach" {
	probes_attach async.xfs async.btrfs
}

@test "vm arm64 7.2: counts and times are those of the raw events" {
	truth_holds
}
