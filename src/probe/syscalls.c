// SPDX-License-Identifier: GPL-2.0-only
#include "probe/syscalls.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/*
 * What can be a sync call; the arguments decide. The second number is that of 32-bit programs: of i386
 * (arch/x86/entry/syscalls/syscall_32.tbl), or of arm (arch/arm64/tools/syscall_32.tbl), where sync_file_range is sync_file_range2.
 */
#ifdef __x86_64__
#define BOTH(name, i386, arm) SYS_##name, i386
#else
#define BOTH(name, i386, arm) SYS_##name, arm
#endif

/* clang-format off */
static const struct sync_syscall {
	uint16_t nr, nr_32;
	uint8_t call;	/* enum wire_call */
} sync_syscalls[] = {
	{ BOTH(fsync, 118, 118), CALL_FSYNC },
	{ BOTH(fdatasync, 148, 148), CALL_FDATASYNC },
	{ BOTH(msync, 144, 144), CALL_MSYNC },
	{ BOTH(sync, 36, 36), CALL_SYNC },
	{ BOTH(syncfs, 344, 373), CALL_SYNCFS },
	{ BOTH(sync_file_range, 314, 341), CALL_SYNC_FILE_RANGE },
	{ BOTH(write, 4, 4), CALL_WRITE },
	{ BOTH(writev, 146, 146), CALL_WRITE },
	{ BOTH(pwrite64, 181, 181), CALL_WRITE },
	{ BOTH(pwritev, 334, 362), CALL_WRITE },
	{ BOTH(pwritev2, 379, 393), CALL_WRITE },
};
/* clang-format on */

#define N_SYSCALLS (sizeof(sync_syscalls) / sizeof(sync_syscalls[0]))

void syscalls_fill(struct bt_config *cfg)
{
	for (size_t i = 0; i < N_SYSCALLS; i++) {
		cfg->call_of_nr[sync_syscalls[i].nr].native = sync_syscalls[i].call;
		cfg->call_of_nr[sync_syscalls[i].nr_32].compat = sync_syscalls[i].call;
		if (sync_syscalls[i].nr == SYS_pwritev2)
			cfg->nr_pwritev2_32 = sync_syscalls[i].nr_32;
	}
	cfg->nr_pwritev2 = SYS_pwritev2;
}

bool syscalls_can_be(long nr, uint32_t call)
{
	for (size_t i = 0; i < N_SYSCALLS; i++)
		if (sync_syscalls[i].call == call && (sync_syscalls[i].nr == nr || sync_syscalls[i].nr_32 == nr))
			return true;
	return false;
}

/* ---- by their arguments ---- */

static const struct sync_syscall *syscall_of(long nr, bool is_32bit)
{
	for (size_t i = 0; i < N_SYSCALLS; i++)
		if ((is_32bit ? sync_syscalls[i].nr_32 : sync_syscalls[i].nr) == nr)
			return &sync_syscalls[i];
	return NULL;
}

/* Where the flags stand: see sync_file_range_flags() in sync.bpf.c. */
static uint64_t range_flags(bool is_32bit, const uint64_t arg[6])
{
#ifdef __x86_64__
	return arg[is_32bit ? 5 : 3];
#else
	return arg[is_32bit ? 1 : 3];
#endif
}

uint32_t probes_sync_call(long nr, bool is_32bit, const uint64_t arg[6],
			  uint32_t (*flags)(const void *ctx, uint32_t fd), const void *ctx)
{
	const struct sync_syscall *s = syscall_of(nr, is_32bit);
	uint32_t call = s ? s->call : 0;
	bool is = false;

	switch (call) {
	case CALL_FSYNC:
	case CALL_FDATASYNC:
	case CALL_SYNC:
	case CALL_SYNCFS: is = true; break;
	case CALL_MSYNC: is = arg[2] & MS_SYNC; break;
	case CALL_SYNC_FILE_RANGE:
		is = range_flags(is_32bit, arg) & (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER);
		break;
	case CALL_WRITE:
		is = (s->nr == SYS_pwritev2 && arg[5] & (RWF_DSYNC | RWF_SYNC)) || flags(ctx, (uint32_t)arg[0]) & O_DSYNC;
		break;
	}
	return is ? call : 0;
}
