// SPDX-License-Identifier: GPL-2.0-only
/* sqlite.c - the tables as an SQLite database, built in a file without a name or in memory. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "render/export/sqlite_fd_vfs.h"
#include "render/export/sqlite_schema.h"
#include "util/mem.h"
#include "render/render.h"
#include "render/export/tables.h"

#define LARGEST (1ll << 46) /* bytes; SQLite's own limit for memory is 1 GiB, and an hour's calls take more */

struct db {
	struct rows rows;
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column;	 /* bound last */
	struct buf text; /* room for one */
	int scratch;	 /* 0: in memory */
	bool failed;	 /* there was no room in the file */
};

/* With statements that are right, only memory can fail, which is the end, and room for the file. */
static void must(struct db *d, bool good)
{
	if (d->scratch)
		d->failed |= !good;
	else
		xmust(good ? "" : NULL);
}

static void run(struct db *d, const char *sql)
{
	must(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* ---- cells ---- */

static void bind_integer(struct rows *to, uint64_t v)
{
	struct db *d = (struct db *)to;
	sqlite3_int64 n = v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v;

	must(d, sqlite3_bind_int64(d->insert, ++d->column, n) == SQLITE_OK);
}

/* What is no number becomes NULL. */
static void bind_real(struct rows *to, double v)
{
	struct db *d = (struct db *)to;

	++d->column;
	if (isfinite(v))
		must(d, sqlite3_bind_double(d->insert, d->column, v) == SQLITE_OK);
}

static void bind_text(struct rows *to, const char *raw)
{
	struct db *d = (struct db *)to;

	++d->column;
	if (raw)
		must(d, sqlite3_bind_text(d->insert, d->column, row_safe(&d->text, raw), -1, SQLITE_TRANSIENT) == SQLITE_OK);
}

static void bind_none(struct rows *to)
{
	((struct db *)to)->column++;
}

static void insert_row(struct rows *to)
{
	struct db *d = (struct db *)to;

	must(d, sqlite3_step(d->insert) == SQLITE_DONE);
	sqlite3_reset(d->insert);
	sqlite3_clear_bindings(d->insert);
	d->column = 0;
}

/* ---- tables ---- */

static void create(struct db *d, const struct table *t)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "CREATE TABLE %s (", t->name);
	for (size_t i = 0; t->column[i]; i++)
		buf_printf(&sql, "%s%s", i ? ", " : "", t->column[i]);
	if (t->key)
		buf_printf(&sql, ", PRIMARY KEY (%s)) WITHOUT ROWID", t->key);
	else
		buf_char(&sql, ')');
	run(d, sql.data);
	buf_free(&sql);
}

static void fill(struct db *d, const struct table *t, const struct report *r)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "INSERT INTO %s VALUES (", t->name);
	for (size_t i = 0; t->column[i]; i++)
		buf_str(&sql, i ? ",?" : "?");
	buf_char(&sql, ')');
	must(d, sqlite3_prepare_v2(d->db, sql.data, -1, &d->insert, NULL) == SQLITE_OK);
	t->fill(r, &d->rows);
	sqlite3_finalize(d->insert);
	buf_free(&sql);
}

static void open_db(struct db *d)
{
	sqlite3_int64 largest = LARGEST;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

	if (d->scratch) {
		must(d, db_file_open(d->scratch, &d->db) == SQLITE_OK);
	} else {
		/* unlike ":memory:" this can be had as it is, without another copy */
		must(d, sqlite3_open_v2("report", &d->db, flags, "memdb") == SQLITE_OK);
		must(d, sqlite3_file_control(d->db, "main", SQLITE_FCNTL_SIZE_LIMIT, &largest) == SQLITE_OK);
	}
	run(d, DB_SETTINGS);
}

static void number(struct db *d, const char *pragma, int v)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "PRAGMA %s = %d", pragma, v);
	run(d, sql.data);
	buf_free(&sql);
}

static void take_memory(struct db *d, struct buf *out)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(d->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);

	must(d, bytes);
	buf_add(out, bytes, (size_t)size);
}

static void take_file(struct db *d, struct buf *out)
{
	char piece[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(d->scratch, piece, sizeof(piece), at)) > 0 || (n < 0 && errno == EINTR)) {
		at += n > 0 ? n : 0;
		buf_add(out, piece, n > 0 ? (size_t)n : 0);
	}
	/* whoever asked for it can't have half of it */
	xmust(n < 0 ? NULL : "");
}

static void build(struct db *d, const struct report *r)
{
	open_db(d);
	run(d, "BEGIN");
	number(d, "application_id", DB_APPLICATION_ID);
	number(d, "user_version", ROWS_SCHEMA);
	for (const struct table *t = tables; t->name; t++)
		create(d, t);
	for (const struct table *t = tables; t->name && !d->failed; t++)
		fill(d, t, r);
	run(d, DB_VIEWS);
	run(d, "COMMIT");
}

/* False: it did not fit where it was built. */
static bool make(const struct report *r, int scratch, struct buf *out)
{
	struct db d = { .rows = { bind_integer, bind_real, bind_text, bind_none, insert_row }, .scratch = scratch };

	build(&d, r);
	if (!scratch)
		take_memory(&d, out);
	sqlite3_close(d.db);
	if (scratch && !d.failed)
		take_file(&d, out);
	buf_free(&d.text);
	return !d.failed;
}

void render_db(const struct report *r, const struct render_opts *o, struct buf *out)
{
	if (!o->scratch || !make(r, o->scratch, out))
		make(r, 0, out);
}
