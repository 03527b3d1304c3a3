/* SPDX-License-Identifier: GPL-2.0-only */
/* db_file.h - a database in a file that is only a descriptor. Private to db.c. */
#ifndef BT_DB_FILE_H
#define BT_DB_FILE_H

#include <sqlite3.h>

/* An empty file, readable and writable; it stays the caller's. SQLite's result. */
int db_file_open(int fd, sqlite3 **db);

#endif
