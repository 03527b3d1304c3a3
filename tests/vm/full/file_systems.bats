#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# File systems on real drivers, and of the project's own tests those that take little, in emulated machines with Debian's kernels.
# Names, and BARRIERTRACE_KERNELS and BARRIERTRACE_GUESTS: as in kernels.bats.

load ../../helpers
load ../../truth/matrix
load ../kernels
load ../suites

setup_file() {
	export GUESTS=${BARRIERTRACE_GUESTS:-$BATS_FILE_TMPDIR}/file_systems
	boots all_suites 240 "${QUICK[@]}"
}

teardown_file() {
	guests_end
}

setup() {
	need_tool
	need jq fio sqlite3 mkfs.xfs mkfs.btrfs sfdisk "${CC:-cc}"
}

@test "vm 5.10 x86_64 fs-nvme: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 x86_64 fs-ata: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 x86_64 fs-virtio: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 x86_64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.1 x86_64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 x86_64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 x86_64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 x86_64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.12 x86_64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 x86_64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 x86_64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 x86_64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.18 x86_64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 x86_64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 x86_64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 x86_64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 5.10 arm64 fs-nvme: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 arm64 fs-ata: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 arm64 fs-virtio: limit: no fsync of io_uring is seen (its tracepoints do not tell of which request)" { cell; }
@test "vm 5.10 arm64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.1 arm64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 arm64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 arm64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.1 arm64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.12 arm64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 arm64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 arm64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.12 arm64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 6.18 arm64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 arm64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 arm64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 6.18 arm64 counts: reads and writes are what fio says and the kernel counts" { cell; }

@test "vm 7.2 arm64 fs-nvme: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 7.2 arm64 fs-ata: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 7.2 arm64 fs-virtio: each file system: calls, ledgers and flushes add up" { cell; }
@test "vm 7.2 arm64 counts: reads and writes are what fio says and the kernel counts" { cell; }
