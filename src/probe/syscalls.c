// SPDX-License-Identifier: GPL-2.0-only
#include "probe/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

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
static const struct {
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
	{ BOTH(io_submit, 248, 246), CALL_AIO_FSYNC },	/* those of its iocbs that are one */
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
