#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The tool in emulated machines with Debian's kernels for x86_64; judged by the kernel's own raw events where there are times. A name's words are
# "vm", the kernel, its architecture and the cell of `make check-kernels`' table.
# BARRIERTRACE_KERNELS="6.1 6.12": only these. BARRIERTRACE_GUESTS: where what the guests leave behind is kept, and looked for.

load ../helpers
load ../truth/matrix
load kernels

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

@test "vm 5.10 x86_64 probes: limit: no tracepoint block_io_start, none of io_uring that tells of which request it is, and none of XFS and btrfs, which are modules without BTF" { cell; }
@test "vm 5.10 x86_64 null: counts and times are those of the raw events" { cell; }
@test "vm 5.10 x86_64 nvme: counts, times and FUA are those of the raw events" { cell; }
@test "vm 5.10 x86_64 multipath: limit: hidden paths have no number, so the bios of the disk are what is seen" { cell; }
@test "vm 5.10 x86_64 ata: counts, times and FUA are those of the raw events" { cell; }
@test "vm 5.10 x86_64 virtio: counts, times and FUA are those of the raw events" { cell; }
@test "vm 5.10 x86_64 scsi: counts, times and FUA are those of the raw events" { cell; }
@test "vm 5.10 x86_64 scsi_debug: counts, times and FUA are those of the raw events" { cell; }
@test "vm 5.10 x86_64 dm: linear and crypt: as many writes and flushes as bios" { cell; }
@test "vm 5.10 x86_64 delay-flush: the verdict is device-flush" { cell; }
@test "vm 5.10 x86_64 delay-write: the verdict is device-write" { cell; }
@test "vm 5.10 x86_64 raid1: the slow leg is named" { cell; }
@test "vm 5.10 x86_64 no-btf: says that the kernel has none" { cell; }
@test "vm 5.10 x86_64 unprivileged: works with unprivileged_bpf_disabled" { cell; }

@test "vm 6.1 x86_64 probes: limit: no tracepoint block_io_start" { cell; }
@test "vm 6.1 x86_64 null: counts and times are those of the raw events" { cell; }
@test "vm 6.1 x86_64 nvme: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.1 x86_64 multipath: an NVMe disk behind two controllers: the requests are those of its hidden paths" { cell; }
@test "vm 6.1 x86_64 ata: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.1 x86_64 virtio: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.1 x86_64 scsi: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.1 x86_64 scsi_debug: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.1 x86_64 dm: linear and crypt: as many writes and flushes as bios" { cell; }
@test "vm 6.1 x86_64 delay-flush: the verdict is device-flush" { cell; }
@test "vm 6.1 x86_64 delay-write: the verdict is device-write" { cell; }
@test "vm 6.1 x86_64 raid1: the slow leg is named" { cell; }
@test "vm 6.1 x86_64 no-btf: says that the kernel has none" { cell; }
@test "vm 6.1 x86_64 unprivileged: works with unprivileged_bpf_disabled" { cell; }

@test "vm 6.12 x86_64 probes: all are attached that this kernel can have" { cell; }
@test "vm 6.12 x86_64 null: counts and times are those of the raw events" { cell; }
@test "vm 6.12 x86_64 nvme: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.12 x86_64 multipath: an NVMe disk behind two controllers: the requests are those of its hidden paths" { cell; }
@test "vm 6.12 x86_64 ata: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.12 x86_64 virtio: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.12 x86_64 scsi: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.12 x86_64 scsi_debug: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.12 x86_64 dm: linear and crypt: as many writes and flushes as bios" { cell; }
@test "vm 6.12 x86_64 delay-flush: the verdict is device-flush" { cell; }
@test "vm 6.12 x86_64 delay-write: the verdict is device-write" { cell; }
@test "vm 6.12 x86_64 raid1: the slow leg is named" { cell; }
@test "vm 6.12 x86_64 no-btf: says that the kernel has none" { cell; }
@test "vm 6.12 x86_64 unprivileged: works with unprivileged_bpf_disabled" { cell; }
@test "vm 6.12 x86_64 integrity: works with lockdown=integrity" { cell; }
@test "vm 6.12 x86_64 confidentiality: says why it can't work with lockdown=confidentiality" { cell; }

@test "vm 6.18 x86_64 probes: all are attached that this kernel can have" { cell; }
@test "vm 6.18 x86_64 null: counts and times are those of the raw events" { cell; }
@test "vm 6.18 x86_64 nvme: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.18 x86_64 multipath: an NVMe disk behind two controllers: the requests are those of its hidden paths" { cell; }
@test "vm 6.18 x86_64 ata: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.18 x86_64 virtio: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.18 x86_64 scsi: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.18 x86_64 scsi_debug: counts, times and FUA are those of the raw events" { cell; }
@test "vm 6.18 x86_64 dm: linear and crypt: as many writes and flushes as bios" { cell; }
@test "vm 6.18 x86_64 delay-flush: the verdict is device-flush" { cell; }
@test "vm 6.18 x86_64 delay-write: the verdict is device-write" { cell; }
@test "vm 6.18 x86_64 raid1: the slow leg is named" { cell; }
@test "vm 6.18 x86_64 no-btf: says that the kernel has none" { cell; }
@test "vm 6.18 x86_64 unprivileged: works with unprivileged_bpf_disabled" { cell; }

@test "vm 7.2 x86_64 probes: all are attached that this kernel can have" { cell; }
@test "vm 7.2 x86_64 null: counts and times are those of the raw events" { cell; }
@test "vm 7.2 x86_64 nvme: counts, times and FUA are those of the raw events" { cell; }
@test "vm 7.2 x86_64 multipath: an NVMe disk behind two controllers: the requests are those of its hidden paths" { cell; }
@test "vm 7.2 x86_64 ata: counts, times and FUA are those of the raw events" { cell; }
@test "vm 7.2 x86_64 virtio: counts, times and FUA are those of the raw events" { cell; }
@test "vm 7.2 x86_64 scsi: counts, times and FUA are those of the raw events" { cell; }
@test "vm 7.2 x86_64 scsi_debug: counts, times and FUA are those of the raw events" { cell; }
@test "vm 7.2 x86_64 dm: linear and crypt: as many writes and flushes as bios" { cell; }
@test "vm 7.2 x86_64 delay-flush: the verdict is device-flush" { cell; }
@test "vm 7.2 x86_64 delay-write: the verdict is device-write" { cell; }
@test "vm 7.2 x86_64 raid1: the slow leg is named" { cell; }
@test "vm 7.2 x86_64 no-btf: says that the kernel has none" { cell; }
@test "vm 7.2 x86_64 unprivileged: works with unprivileged_bpf_disabled" { cell; }
