/* SPDX-License-Identifier: GPL-2.0-only */
/* faults.h - system calls that fail when a test wants it: these functions stand in the place of libc's. */
#ifndef FAULTS_H
#define FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int write_error, close_error; /* of the next call; 0: none */
static size_t write_most;	     /* bytes that one call takes; 0: all */
static bool block_devices;	     /* every open file is one */
static bool no_proc;		     /* nothing below /proc can be found */

static inline bool fails(int *error)
{
	errno = *error ? *error : errno;
	if (!*error)
		return false;
	*error = 0;
	return true;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	if (fails(&write_error))
		return -1;
	return syscall(SYS_write, fd, bytes, write_most && n > write_most ? write_most : n);
}

int close(int fd)
{
	int ret = (int)syscall(SYS_close, fd);

	return fails(&close_error) ? -1 : ret;
}

int fstat(int fd, struct stat *st)
{
	int ret = fstatat(fd, "", st, AT_EMPTY_PATH);

	if (block_devices)
		st->st_mode = S_IFBLK | 0600;
	return ret;
}

int access(const char *path, int mode)
{
	return no_proc && !strncmp(path, "/proc/", 6) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

#endif
