/* SPDX-License-Identifier: GPL-2.0-only */
/* async.bpf.h - fsyncs of AIO: each is a work (fs/aio.c). In async.bpf.c. */
#ifndef BT_ASYNC_BPF_H
#define BT_ASYNC_BPF_H

#include "compat.bpf.h"

extern unsigned long long aio_fsync_work; /* what their works run; 0: not known */

/* The current task queues such a work. */
int aio_queued(u64 work);

/* Worker `tid` begins it. */
int aio_begins(u64 work, u32 tid);

#endif
