/* SPDX-License-Identifier: GPL-2.0-only */
/* subprocess.h - another program asked a question: no shell, no waiting for ever, nothing of it on our terminal. */
#ifndef BT_UTIL_SUBPROCESS_H
#define BT_UTIL_SUBPROCESS_H

#include "util/buf.h"

/* The program in one of the folders (NULL: those of the system), owned by the caller. NULL: not installed. */
char *tool_find(const char *name, const char *const *folders);

/*
 * Runs argv[0], a path, in the C locale and adds what it writes to standard output; what it writes to standard error is
 * dropped. Returns its exit status, 128+N when signal N ended it, -ETIMEDOUT when it took longer than the limit (it is
 * killed then), -E2BIG when it wrote more than a tool should, or another -errno.
 */
int tool_run(char *const argv[], unsigned int limit_ms, struct buf *out);

#endif
