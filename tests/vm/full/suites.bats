#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The project's own tests in emulated machines with Debian's kernels: minutes for each kernel, so only `make check-kernels FULL=1` runs this.
# Names, and BARRIERTRACE_KERNELS and BARRIERTRACE_GUESTS: as in kernels.bats.

load ../../helpers
load ../../truth/matrix
load ../kernels
load ../suites

setup_file() {
	export GUESTS=${BARRIERTRACE_GUESTS:-$BATS_FILE_TMPDIR}/full
	boots each_suite 1800 "${FULL[@]}"
}

teardown_file() {
	guests_end
}

setup() {
	need_tool
	need jq fio sqlite3 mkfs.xfs mkfs.btrfs sfdisk "${CC:-cc}"
}

@test "vm 5.10 x86_64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 5.10 x86_64 sqlite: sync calls per insert" { cell; }
@test "vm 5.10 x86_64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 5.10 x86_64 calls: limit: each way to sync but io_uring (see fs-nvme)" { cell; }
@test "vm 5.10 x86_64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 5.10 x86_64 matrix: the main answers" { cell; }
@test "vm 5.10 x86_64 all-counts: limit: an empty flush of a partition is counted for its disk: reads and writes, all of the file" { cell; }

@test "vm 6.1 x86_64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.1 x86_64 sqlite: sync calls per insert" { cell; }
@test "vm 6.1 x86_64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.1 x86_64 calls: each way to sync on each file system" { cell; }
@test "vm 6.1 x86_64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.1 x86_64 matrix: the main answers" { cell; }
@test "vm 6.1 x86_64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 6.12 x86_64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.12 x86_64 sqlite: sync calls per insert" { cell; }
@test "vm 6.12 x86_64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.12 x86_64 calls: each way to sync on each file system" { cell; }
@test "vm 6.12 x86_64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.12 x86_64 matrix: the main answers" { cell; }
@test "vm 6.12 x86_64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 6.18 x86_64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.18 x86_64 sqlite: sync calls per insert" { cell; }
@test "vm 6.18 x86_64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.18 x86_64 calls: each way to sync on each file system" { cell; }
@test "vm 6.18 x86_64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.18 x86_64 matrix: the main answers" { cell; }
@test "vm 6.18 x86_64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 7.2 x86_64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 7.2 x86_64 sqlite: sync calls per insert" { cell; }
@test "vm 7.2 x86_64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 7.2 x86_64 calls: each way to sync on each file system" { cell; }
@test "vm 7.2 x86_64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 7.2 x86_64 matrix: limit: block events that the kernel skips while it has preempted a program are lost, and counted" { cell; }
@test "vm 7.2 x86_64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 5.10 arm64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 5.10 arm64 sqlite: sync calls per insert" { cell; }
@test "vm 5.10 arm64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 5.10 arm64 calls: limit: each way to sync but io_uring (see fs-nvme)" { cell; }
@test "vm 5.10 arm64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 5.10 arm64 matrix: the main answers" { cell; }
@test "vm 5.10 arm64 all-counts: limit: an empty flush of a partition is counted for its disk: reads and writes, all of the file" { cell; }

@test "vm 6.1 arm64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.1 arm64 sqlite: sync calls per insert" { cell; }
@test "vm 6.1 arm64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.1 arm64 calls: each way to sync on each file system" { cell; }
@test "vm 6.1 arm64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.1 arm64 matrix: the main answers" { cell; }
@test "vm 6.1 arm64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 6.12 arm64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.12 arm64 sqlite: sync calls per insert" { cell; }
@test "vm 6.12 arm64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.12 arm64 calls: each way to sync on each file system" { cell; }
@test "vm 6.12 arm64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.12 arm64 matrix: the main answers" { cell; }
@test "vm 6.12 arm64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 6.18 arm64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 6.18 arm64 sqlite: sync calls per insert" { cell; }
@test "vm 6.18 arm64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 6.18 arm64 calls: each way to sync on each file system" { cell; }
@test "vm 6.18 arm64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 6.18 arm64 matrix: the main answers" { cell; }
@test "vm 6.18 arm64 all-counts: reads and writes, all of the file" { cell; }

@test "vm 7.2 arm64 compat: system calls of the 32-bit kind" { cell; }
@test "vm 7.2 arm64 sqlite: sync calls per insert" { cell; }
@test "vm 7.2 arm64 flush: flushes are as many and as long as the disk says" { cell; }
@test "vm 7.2 arm64 calls: each way to sync on each file system" { cell; }
@test "vm 7.2 arm64 rig: the disk with known latencies is what it says" { cell; }
@test "vm 7.2 arm64 matrix: limit: block events that the kernel skips while it has preempted a program are lost, and counted" { cell; }
@test "vm 7.2 arm64 all-counts: reads and writes, all of the file" { cell; }
