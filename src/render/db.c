// SPDX-License-Identifier: GPL-2.0-only
/* db.c - the tables as an SQLite database, built in memory. */
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "db_schema.h"
#include "mem.h"
#include "render.h"
#include "rows.h"

#define LARGEST (1ll << 46)	/* bytes; SQLite's own limit for memory is 1 GiB, and an hour's calls take more */

struct db {
	struct rows rows;
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column;		/* bound last */
	struct buf text;	/* room for one */
};

/* In memory, with statements that are right, only memory can fail. */
static void must(bool good)
{
	xmust(good ? "" : NULL);
}

static void run(struct db *d, const char *sql)
{
	must(sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* ---- cells ---- */

static void bind_integer(struct rows *to, uint64_t v)
{
	struct db *d = (struct db *)to;
	sqlite3_int64 n = v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v;

	must(sqlite3_bind_int64(d->insert, ++d->column, n) == SQLITE_OK);
}

/* What is no number becomes NULL. */
static void bind_real(struct rows *to, double v)
{
	struct db *d = (struct db *)to;

	++d->column;
	if (isfinite(v))
		must(sqlite3_bind_double(d->insert, d->column, v) == SQLITE_OK);
}

static void bind_text(struct rows *to, const char *raw)
{
	struct db *d = (struct db *)to;

	++d->column;
	if (raw)
		must(sqlite3_bind_text(d->insert, d->column, row_safe(&d->text, raw), -1,
				       SQLITE_TRANSIENT) == SQLITE_OK);
}

static void bind_none(struct rows *to)
{
	((struct db *)to)->column++;
}

static void insert_row(struct rows *to)
{
	struct db *d = (struct db *)to;

	must(sqlite3_step(d->insert) == SQLITE_DONE);
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
	must(sqlite3_prepare_v2(d->db, sql.data, -1, &d->insert, NULL) == SQLITE_OK);
	t->fill(r, &d->rows);
	sqlite3_finalize(d->insert);
	buf_free(&sql);
}

static void open_db(struct db *d)
{
	sqlite3_int64 largest = LARGEST;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

	/* unlike ":memory:" this can be had as it is, without another copy */
	must(sqlite3_open_v2("report", &d->db, flags, "memdb") == SQLITE_OK);
	must(sqlite3_file_control(d->db, "main", SQLITE_FCNTL_SIZE_LIMIT, &largest) == SQLITE_OK);
	run(d, DB_SETTINGS);
}

static void number(struct db *d, const char *pragma, int v)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "PRAGMA %s = %d", pragma, v);
	run(d, sql.data);
	buf_free(&sql);
}

static void take(struct db *d, struct buf *out)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(d->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);

	must(bytes);
	buf_add(out, bytes, (size_t)size);
}

void render_db(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct db d = { .rows = { bind_integer, bind_real, bind_text, bind_none, insert_row } };

	(void)o;
	open_db(&d);
	run(&d, "BEGIN");
	number(&d, "application_id", DB_APPLICATION_ID);
	number(&d, "user_version", ROWS_SCHEMA);
	for (const struct table *t = tables; t->name; t++)
		create(&d, t);
	for (const struct table *t = tables; t->name; t++)
		fill(&d, t, r);
	run(&d, DB_VIEWS);
	run(&d, "COMMIT");
	take(&d, out);
	sqlite3_close(d.db);
	buf_free(&d.text);
}
