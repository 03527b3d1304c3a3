// SPDX-License-Identifier: GPL-2.0-only
/* sqlite.c - the tables as an SQLite database, built in memory, which a file without a name can be. */
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/export/sqlite_schema.h"
#include "util/mem.h"
#include "render/export/tables.h"

#define LARGEST (1ll << 46)   /* bytes; SQLite's own limit for memory is 1 GiB, and an hour's calls take more */
#define ROOM	(64ull << 30) /* bytes of a file that is built in, at most */
#define STEP	(64ull << 20) /* so many of them are there before they are needed */
#define LOOK	256	      /* rows; what they take is far less than a step */
#define PIECE	(1ll << 20)   /* bytes that are passed on at once */

struct db {
	struct rows rows;
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column;	   /* bound last */
	struct buf text;   /* room for one */
	void *room;	   /* a file, mapped; NULL: in memory */
	int file;	   /* of it */
	uint64_t is_there; /* bytes that have their place on the disk */
	uint64_t n_rows;
	bool failed; /* there was no room in the file */
};

/* With statements that are right, only memory can fail, which is the end, and room for the file. */
static void must(struct db *d, bool good)
{
	if (d->room)
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

/* To write into a mapped file where it has no place on the disk, and there is none left, would end us. */
static void make_room(struct db *d)
{
	sqlite3_int64 size = 0;

	sqlite3_serialize(d->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);
	if (!d->failed && (uint64_t)size + STEP > d->is_there) {
		must(d, !fallocate(d->file, 0, (off_t)d->is_there, STEP));
		d->is_there += STEP;
		/* it stays in the file, and is no memory of ours */
		madvise(d->room, (size_t)size, MADV_DONTNEED);
	}
}

static void insert_row(struct rows *to)
{
	struct db *d = (struct db *)to;

	if (d->room && d->n_rows++ % LOOK == 0)
		make_room(d);
	if (d->failed)
		return;
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

	/* unlike ":memory:" this can be had as it is, without another copy */
	must(d, sqlite3_open_v2("report", &d->db, flags, "memdb") == SQLITE_OK);
	if (d->room)
		must(d, sqlite3_deserialize(d->db, "main", d->room, 0, ROOM, 0) == SQLITE_OK);
	else
		must(d, sqlite3_file_control(d->db, "main", SQLITE_FCNTL_SIZE_LIMIT, &largest) == SQLITE_OK);
	run(d, DB_SETTINGS);
}

static void number(struct db *d, const char *pragma, int v)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "PRAGMA %s = %d", pragma, v);
	run(d, sql.data);
	buf_free(&sql);
}

/* Piece by piece, as who takes it does not want it in memory either. */
static void take(struct db *d, struct buf *out)
{
	sqlite3_int64 size = 0;
	const char *bytes = (const char *)sqlite3_serialize(d->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);

	must(d, bytes);
	for (sqlite3_int64 at = 0; at < size; at += PIECE) {
		sqlite3_int64 n = size - at < PIECE ? size - at : PIECE;

		buf_add(out, bytes + at, (size_t)n);
		if (d->room)
			madvise((char *)d->room + at, (size_t)n, MADV_DONTNEED);
	}
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

/* False: there was no room in the file. */
static bool make(const struct report *r, void *room, int file, struct buf *out)
{
	struct db d = { .rows = { bind_integer, bind_real, bind_text, bind_none, insert_row }, .room = room, .file = file };

	if (room)
		must(&d, !fallocate(file, 0, 0, 2 * STEP));
	d.is_there = 2 * STEP;
	if (!d.failed)
		build(&d, r);
	if (!d.failed)
		take(&d, out);
	sqlite3_close(d.db);
	buf_free(&d.text);
	return !d.failed;
}

static bool make_in_file(const struct report *r, int file, struct buf *out)
{
	void *room = ftruncate(file, ROOM) ? MAP_FAILED : mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	bool made = room != MAP_FAILED && make(r, room, file, out);

	if (room != MAP_FAILED)
		munmap(room, ROOM);
	return made;
}

void render_db(const struct report *r, const struct render_opts *o, struct buf *out)
{
	if (!o->scratch || !make_in_file(r, o->scratch, out))
		make(r, NULL, 0, out);
}
