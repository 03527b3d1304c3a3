/* SPDX-License-Identifier: GPL-2.0-only */
/* async.bpf.h - what other programs ask of AIO's fsyncs. In async.bpf.c. */
#ifndef BT_ASYNC_BPF_H
#define BT_ASYNC_BPF_H

#include "compat.bpf.h"

/* io_submit(2): remembers its fsyncs. */
int aio_submit(u64 nr, u64 list, bool compat);

/* Does an AIO fsync wait for this file? */
int aio_waits(u64 file_address);

#endif
