/* SPDX-License-Identifier: GPL-2.0-only */
/* sqlite_fd_vfs.h - a database in a file that is only a descriptor. Private to sqlite.c. */
#ifndef BT_RENDER_EXPORT_SQLITE_FD_VFS_H
#define BT_RENDER_EXPORT_SQLITE_FD_VFS_H

#include <sqlite3.h>

/* An empty file, readable and writable; it stays the caller's. SQLite's result. */
int db_file_open(int fd, sqlite3 **db);

#endif
