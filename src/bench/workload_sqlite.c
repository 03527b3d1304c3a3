// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload_sqlite.c - pts/sqlite: inserts of one row each, every one a transaction of its own; with --copies several
 * processes, each with its own database. The database's sync calls are counted where SQLite asks for them.
 */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "bench/workload_list.h"

/* SQLite has one table of them for databases, one for the rest, and some for odd file systems. */
#define METHODS	  8
#define ROW_BYTES 64 /* of the database, indices and rests of pages included */

static const char table[] = "CREATE TABLE pts1 ('I' SMALLINT NOT NULL, 'DT' TIMESTAMP NOT NULL DEFAULT "
			    "CURRENT_TIMESTAMP, 'F1' VARCHAR(4) NOT NULL, 'F2' VARCHAR(16) NOT NULL)";

uint64_t sqlite_need(const struct workload_opts *o)
{
	/* a write-ahead log of 1,000 pages, a journal, and some room */
	return o->copies * (o->inserts * ROW_BYTES + 8 * MIB);
}

/* ---- counting the sync calls ---- */

static struct {
	sqlite3_vfs vfs, *under;
	int (*open_directory)(const char *name, int *fd);
	struct methods {
		const sqlite3_io_methods *under;
		sqlite3_io_methods own;
	} kinds[METHODS];
	uint64_t n;
} counted;

static int sync_file(sqlite3_file *f, int flags)
{
	/* ours begin in the table's slot */
	const struct methods *kind = (const struct methods *)((const char *)f->pMethods - offsetof(struct methods, own));

	counted.n++;
	return kind->under->xSync(f, flags);
}

/* SQLite opens a folder only to sync it. */
static int open_directory(const char *name, int *fd)
{
	int ret = counted.open_directory(name, fd);

	counted.n += !ret;
	return ret;
}

/* One slot for each table that SQLite uses; NULL: there are more than we thought. */
static const sqlite3_io_methods *counting(const sqlite3_io_methods *under)
{
	for (struct methods *m = counted.kinds; m < counted.kinds + METHODS; m++) {
		if (m->under == under)
			return &m->own;
		if (!m->under) {
			m->under = under;
			m->own = *under;
			m->own.xSync = sync_file;
			return &m->own;
		}
	}
	return NULL;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *got)
{
	int ret = counted.under->xOpen(counted.under, name, f, flags, got);
	const sqlite3_io_methods *own = f->pMethods ? counting(f->pMethods) : NULL;

	(void)vfs;
	if (f->pMethods && !own)
		return SQLITE_INTERNAL;
	f->pMethods = own;
	return ret;
}

static int count_syncs(void)
{
	counted.under = sqlite3_vfs_find("unix");
	if (!counted.under || counted.under->iVersion < 3)
		return -1;
	counted.open_directory = (int (*)(const char *, int *))counted.under->xGetSystemCall(counted.under, "openDirect"
													    "ory");
	counted.vfs = *counted.under;
	counted.vfs.zName = "counted";
	counted.vfs.xOpen = open_file;
	counted.vfs.pNext = NULL;
	if (!counted.open_directory ||
	    counted.under->xSetSystemCall(counted.under, "openDirectory", (sqlite3_syscall_ptr)open_directory))
		return -1;
	return sqlite3_vfs_register(&counted.vfs, 1);
}

/* ---- one copy ---- */

static int failed(struct work *w, sqlite3 *db, const char *name)
{
	int code = sqlite3_system_errno(db);

	/* SQLite's words for what the system said are poorer than the system's */
	return work_fail(w, code, "SQLite, %s/%s: %s", w->path, name, sqlite3_errmsg(db));
}

static int settings(const struct workload_opts *o, sqlite3 *db)
{
	char text[96];

	snprintf(text, sizeof(text), "PRAGMA journal_mode=%s; PRAGMA synchronous=%s", o->journal, o->synchronous);
	return sqlite3_exec(db, text, NULL, NULL, NULL) ? -1 : sqlite3_exec(db, table, NULL, NULL, NULL);
}

static int insert(sqlite3 *db, unsigned int *seed)
{
	char text[160];

	/* as the benchmark's file has it: the same statement, parsed each time, with other numbers */
	snprintf(text, sizeof(text),
		 "INSERT INTO 'pts1' ('I', 'DT', 'F1', 'F2') VALUES ('1', CURRENT_TIMESTAMP, '%d', '%d%d')",
		 rand_r(seed) % 32768, rand_r(seed) % 32768, rand_r(seed) % 32768);
	return sqlite3_exec(db, text, NULL, NULL, NULL);
}

static int inserts(struct work *w, sqlite3 *db, struct scores_row *row, unsigned int seed)
{
	uint64_t began = clock_ns(), now = began, before;
	struct hist each = { 0 };

	for (uint64_t i = 0; i < w->o->inserts && (!w->until_ns || now < w->until_ns); i++) {
		before = now;
		if (insert(db, &seed))
			return -1;
		now = clock_ns();
		hist_add(&each, now - before);
		row->ops++;
		__atomic_add_fetch(&w->t->done, 1, __ATOMIC_RELAXED);
	}
	row->wall_ns = now - began;
	work_row_times(row, &each);
	return 0;
}

static int copy(struct work *w, struct scores_row *row, unsigned int number)
{
	char path[sizeof(w->path) + sizeof(row->file)];
	sqlite3 *db = NULL;
	int err = 0;

	if (count_syncs())
		return work_fail(w, 0, "this SQLite has no layer that can be counted in");
	snprintf(path, sizeof(path), "%s/%s", w->path, row->file);
	if (sqlite3_open(path, &db) || settings(w->o, db) || inserts(w, db, row, number))
		err = failed(w, db, row->file);
	sqlite3_close(db);
	row->syncs = counted.n;
	__atomic_add_fetch(&w->t->syncs, counted.n, __ATOMIC_RELAXED);
	return err;
}

/* ---- all of them ---- */

static pid_t start_copy(struct work *w, struct scores_row *row, unsigned int number)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(copy(w, row, number) ? EXIT_FAILED : EXIT_OK);
}

int sqlite_run(struct work *w)
{
	unsigned int n = (unsigned int)w->o->copies, started;
	int err = 0, status;

	w->t->total = w->o->inserts * n;
	snprintf(w->t->tool, sizeof(w->t->tool), "SQLite %s", sqlite3_libversion());
	work_phase(w, "inserts");
	for (started = 0; started < n && !err; started++) {
		char name[24], file[24];

		snprintf(name, sizeof(name), n == 1 ? "inserts" : "inserts, copy %u", started + 1);
		snprintf(file, sizeof(file), "benchmark-%u.db", started + 1);
		if (start_copy(w, work_row(w, name, file), started + 1) < 0)
			err = work_fail(w, errno, "cannot start a copy");
	}
	while (wait(&status) > 0)
		if (status)
			err = work_fail(w, 0, "a copy of the workload ended by itself");
	return err;
}
