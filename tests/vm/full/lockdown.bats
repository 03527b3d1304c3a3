#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Both lockdowns, a guest for each, of the kernels that `make check-kernels` has no time for without FULL=1. Names, and BARRIERTRACE_KERNELS and
# BARRIERTRACE_GUESTS: as in kernels.bats.

load ../../helpers
load ../../truth/matrix
load ../kernels

setup_file() {
	export GUESTS=${BARRIERTRACE_GUESTS:-$BATS_FILE_TMPDIR}
	boots boot_guests x86_64
}

teardown_file() {
	guests_end
}

setup() {
	need_tool
	need jq dmsetup sqlite3 mkfs.xfs mkfs.btrfs "${CC:-cc}"
}

@test "vm 5.10 x86_64 integrity: works with lockdown=integrity" { cell; }
@test "vm 5.10 x86_64 confidentiality: says why it can't work with lockdown=confidentiality" { cell; }

@test "vm 6.1 x86_64 integrity: works with lockdown=integrity" { cell; }
@test "vm 6.1 x86_64 confidentiality: says why it can't work with lockdown=confidentiality" { cell; }

@test "vm 6.18 x86_64 integrity: works with lockdown=integrity" { cell; }
@test "vm 6.18 x86_64 confidentiality: says why it can't work with lockdown=confidentiality" { cell; }

@test "vm 7.2 x86_64 integrity: works with lockdown=integrity" { cell; }
@test "vm 7.2 x86_64 confidentiality: says why it can't work with lockdown=confidentiality" { cell; }
