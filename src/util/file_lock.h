/* SPDX-License-Identifier: GPL-2.0-only */
/* file_lock.h - one writer for a file: flock(2), and who else has it. */
#ifndef BT_UTIL_FILE_LOCK_H
#define BT_UTIL_FILE_LOCK_H

#include <sys/types.h>

/*
 * Locks an open file until its last descriptor is closed. -EWOULDBLOCK: somebody else has it, *holder (0: not known).
 * A file system that has no locks is not an error: then nobody else finds one either.
 */
int file_lock(int fd, pid_t *holder);

/* "barriertrace (pid 123)", or "another process". The caller frees it. */
char *file_lock_holder_name(pid_t pid);

#endif
