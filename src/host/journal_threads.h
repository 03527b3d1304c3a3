/* SPDX-License-Identifier: GPL-2.0-only */
/* journal_threads.h - the kernel threads that commit for ext4 and ocfs2. */
#ifndef BT_HOST_JOURNAL_THREADS_H
#define BT_HOST_JOURNAL_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct journal_thread {
	uint32_t tid;
	char name[32]; /* "jbd2/sda1-8", of which kernels before 5.17 tell 15 letters */
};

/* All of them; the caller's to free. */
struct journal_thread *journal_threads(size_t *n);

#endif
