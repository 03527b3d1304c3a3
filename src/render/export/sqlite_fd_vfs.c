// SPDX-License-Identifier: GPL-2.0-only
/*
 * sqlite_fd_vfs.c - SQLite's way to a file that is only a descriptor: it has no name that somebody could put something else in the
 * place of. One database, nobody else's, never journaled.
 */
#include "render/export/sqlite_fd_vfs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "barriertrace-descriptor"

struct file {
	sqlite3_file base;
	int fd;
};

static int fd_of(sqlite3_file *f)
{
	return ((struct file *)f)->fd;
}

static int file_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	ssize_t got = pread(fd_of(f), to, (size_t)n, at);

	if (got < 0)
		return SQLITE_IOERR_READ;
	memset((char *)to + got, 0, (size_t)(n - got));
	return got < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	return pwrite(fd_of(f), from, (size_t)n, at) == n ? SQLITE_OK : SQLITE_FULL;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return ftruncate(fd_of(f), size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(fd_of(f), &st))
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

static int nothing(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return SQLITE_OK;
}

static int file_unlock(sqlite3_file *f, int level)
{
	return nothing(f, level);
}

static int file_reserved(sqlite3_file *f, int *reserved)
{
	*reserved = 0;
	return nothing(f, 0);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_zero(sqlite3_file *f)
{
	return nothing(f, 0);
}

/* clang-format off */
static const sqlite3_io_methods methods = {
	.iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate,
	.xSync = nothing, .xFileSize = file_size, .xLock = nothing, .xUnlock = file_unlock,
	.xCheckReservedLock = file_reserved, .xFileControl = file_control, .xSectorSize = file_zero,
	.xDeviceCharacteristics = file_zero,
};
/* clang-format on */

/* The name is the descriptor's number. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out_flags)
{
	struct file *file = (struct file *)f;

	(void)vfs;
	file->base.pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB) || !name || sscanf(name, "%d", &file->fd) != 1)
		return SQLITE_CANTOPEN;
	file->base.pMethods = &methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	(void)flags;
	*result = 0;
	return vfs_delete(vfs, name, 0);
}

static int vfs_full(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)n, "%s", name);
	return SQLITE_OK;
}

int db_file_open(int fd, sqlite3 **db)
{
	static sqlite3_vfs vfs;
	char name[16];

	if (!vfs.zName) {
		vfs = *sqlite3_vfs_find(NULL); /* the clock and the like */
		vfs.zName = NAME;
		vfs.szOsFile = sizeof(struct file);
		vfs.pNext = NULL;
		vfs.xOpen = vfs_open;
		vfs.xDelete = vfs_delete;
		vfs.xAccess = vfs_access;
		vfs.xFullPathname = vfs_full;
		sqlite3_vfs_register(&vfs, 0);
	}
	snprintf(name, sizeof(name), "%d", fd);
	return sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NAME);
}
