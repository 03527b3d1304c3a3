// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats for other programs: Perfetto, CSV, SQLite, of a report built by hand, hostile names included: golden/formats.perfetto and
 * formats.csv. That readers take them, and that they agree: tests/golden/formats.bats and agree.bats.
 */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/mem.h"
#include "render/render.h"
#include "util/utf8.h"
#include "golden.h"

#define US	     1000ull
#define MS	     1000000ull
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define HOSTILE	     "=cmd|'/C calc'!A0\",;\r\n\x1b[2J\x9b\xff\xc3\x28\x7f\xc2\x9b\t\xe2\x80\xae\xf0\x9f\x98\x80"

static const struct render_opts plain = { .width = 80 };

/* ---- the report ---- */

enum { N_EMPTY, N_COMM, N_HOSTILE, N_FSYNC, N_URING, N_PATH, N_SDA, N_SDA1, N_JBD2, N_OTHER, N_NAMES };

static const char *const names[N_NAMES] = {
	"", "postgres", HOSTILE, "fsync", "io_uring fsync", "/srv/pg/wal", "sda", "sda1", "jbd2/sda1-8", "sdb",
};

struct call {
	uint64_t start;
	uint32_t pid, tid, comm, call, path;
	struct detail_slice slice[4];
};

/* Thread 12 has two calls in flight at once; the last three wait for FLUSHes that are no request's. */
/* clang-format off */
static const struct call calls[] = {
	{ 10 * MS, 11, 11, N_COMM, N_FSYNC, N_PATH,
	  { { 5 * US + 1, 0, 0, CAUSE_CPU }, { 2 * MS, N_JBD2, N_SDA1, CAUSE_FLUSH_PRE },
	    { 300 * US, N_JBD2, N_SDA1, CAUSE_DEVICE_WRITE }, { 3 * MS + 7, N_JBD2, N_SDA1, CAUSE_FLUSH_POST } } },
	{ 11 * MS, 11, 12, N_COMM, N_URING, N_HOSTILE,
	  { { 5 * US + 1 + 1 * MS, N_JBD2, N_SDA1, CAUSE_FLUSH_PRE }, { 4 * MS, 0, 0, CAUSE_UNKNOWN } } },
	{ 12 * MS, 11, 12, N_COMM, N_URING, N_PATH, { { 4 * MS, 0, 0, CAUSE_LOCK } } },
	{ 20 * MS, 99, 99, N_HOSTILE, N_FSYNC, N_EMPTY,
	  { { 1 * MS, 0, N_SDA, CAUSE_FLUSH_ONLY }, { 1, 0, 0, CAUSE_CPU } } },
	{ 30 * MS, 99, 99, N_HOSTILE, N_FSYNC, N_EMPTY, { { 1 * MS, 0, N_OTHER, CAUSE_FLUSH_ONLY } } },
	{ 18 * MS, 99, 99, N_HOSTILE, N_FSYNC, N_EMPTY, { { 1 * MS, 0, N_SDA, CAUSE_FLUSH_ONLY } } },
	{ 13 * MS, 99, 99, N_HOSTILE, N_FSYNC, N_EMPTY, { { 1 * MS, 0, N_SDA, CAUSE_FLUSH_POST } } },
};
/* clang-format on */

#define AT(us) (10 * MS + (us)*US)

/* The first two are served by one preflush; the third overlaps them; the fourth is a FLUSH on its own. */
/* clang-format off */
static const struct detail_request requests[] = {
	{ .begin_ns = AT(2), .end_ns = AT(5306), .sector = 8, .bytes = 4096, .pid = 50, .tid = 50, .device = N_SDA1,
	  .disk = N_SDA, .class = OP_WRITE_BARRIER, .sequence = true,
	  .pre = { true, AT(3), AT(5) + 1, AT(2005) + 1, 2 },
	  .data = { true, AT(2005) + 1, AT(2005) + 1, AT(2305) + 1, 0 },
	  .post = { true, AT(2305) + 1, AT(2305) + 1, AT(5305) + 8, 0 } },
	{ .begin_ns = AT(4), .end_ns = AT(2400), .sector = 16, .bytes = 512, .device = N_SDA1, .disk = N_SDA,
	  .class = OP_WRITE_BARRIER, .sequence = true, .pre = { true, AT(3), AT(5) + 1, AT(2005) + 1, 2 },
	  .data = { true, AT(2005) + 1, AT(2010), AT(2400), 1 } },
	{ .begin_ns = AT(100), .end_ns = AT(700), .bytes = 512, .pid = 11, .tid = 11, .device = N_SDA, .disk = N_SDA,
	  .class = OP_WRITE_SYNC, .throttled = true, .data = { true, AT(150), AT(200), AT(600), 3 },
	  .post = { true, AT(650), AT(660), 0, 0 } },
	{ .begin_ns = AT(9990), .end_ns = AT(11001), .device = N_SDA, .disk = N_SDA, .class = OP_FLUSH,
	  .sequence = true, .pre = { true, AT(9991), AT(9995), AT(11000), 0 } },
	/* times that contradict each other, and one that is not known */
	{ .begin_ns = AT(50), .end_ns = AT(40), .device = N_OTHER, .disk = N_OTHER, .class = OP_READ_SYNC,
	  .pre = { true, AT(10), AT(60), 0, 0 }, .data = { true, AT(10), AT(60), AT(20), 0 } },
};
/* clang-format on */

static struct report_group *group(struct report_group **g, size_t *n, const char *comm, const char *path, uint32_t pid)
{
	for (size_t i = 0; i < *n; i++) {
		const char *have = comm ? (*g)[i].comm : (*g)[i].path, *want = comm ? comm : path;

		if (have == want || (have && want && !strcmp(have, want)))
			return &(*g)[i];
	}
	grow((void **)g, n, sizeof(**g));
	(*g)[*n - 1].comm = xstrdup(comm);
	(*g)[*n - 1].path = xstrdup(path);
	(*g)[*n - 1].pid = pid;
	return &(*g)[*n - 1];
}

static void add_leaf(struct report_sync *s, const struct call *c, const struct detail_slice *slice)
{
	struct report_leaf *l = grow((void **)&s->leaf, &s->n_leaves, sizeof(*s->leaf));

	l->path = xasprintf("%s;%s;%s%s%s", c->comm == N_COMM ? "postgres" : "\xff=e\x1bvil", names[c->call],
			    names[slice->via], slice->via ? ";" : "", cause_name(slice->cause));
	l->cause = slice->cause;
	l->ns = slice->ns;
	tally_add(&l->each, slice->ns);
}

static void add_group(struct report_group *g, uint64_t ns, const struct ledger *l)
{
	g->count++;
	g->total_ns += ns;
	ledger_add(&g->ledger, l);
	tally_add(&g->latency, ns);
}

static void add_call(struct report *r, const struct call *c)
{
	struct report_sync *s = &r->sync;
	struct report_detail *d = r->detail;
	struct detail_call k = {
		.start_ns = c->start,
		.pid = c->pid,
		.tid = c->tid,
		.comm = c->comm,
		.call = c->call,
		.path = c->path,
		.device = N_SDA1,
	};
	const char *path = *names[c->path] ? names[c->path] : NULL;
	struct ledger l = { { 0 } };

	for (size_t i = 0; i < 4 && c->slice[i].ns; i++) {
		k.duration_ns += c->slice[i].ns;
		l.ns[c->slice[i].cause] += c->slice[i].ns;
		add_leaf(s, c, &c->slice[i]);
	}
	report_detail_add_call(d, &k, NULL);
	for (size_t i = 0; i < 4 && c->slice[i].ns; i++)
		report_detail_add_slice(d, &c->slice[i]);
	s->count++;
	s->total_ns += k.duration_ns;
	ledger_add(&s->ledger, &l);
	hist_add(&s->latency, k.duration_ns);
	add_group(group(&s->process, &s->n_processes, names[c->comm], NULL, c->pid), k.duration_ns, &l);
	add_group(group(&s->file, &s->n_files, NULL, path, 0), k.duration_ns, &l);
}

static void add_device(struct report *r)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	strcpy(d->name, "sda");
	d->model = xstrdup(HOSTILE);
	d->have_fua = true;
	d->n_mounts = 1;
	d->mounts = xcalloc(1, sizeof(*d->mounts));
	d->mounts[0].dir = xstrdup("/srv/a,b");
	d->op[OP_WRITE_SYNC].count = 3;
	d->op[OP_WRITE_SYNC].bytes = 12288;
	for (uint64_t i = 1; i <= 3; i++)
		tally_add(&d->op[OP_WRITE_SYNC].device, i * 500 * US);
	tally_add(&d->op[OP_WRITE_SYNC].total, 1ull << 50);
}

static void add_words(struct report *r)
{
	r->have_verdict = true;
	r->verdict = (struct report_verdict){
		.class = "device-flush", .family = "flush", .share = 0.25, .sentence = xstrdup("Say \"why\", please")
	};
	strv_add(&r->verdict.evidence, xstrdup("+1 is no formula"));
	strv_add(&r->notes, xstrdup(HOSTILE));
	r->whatif = xcalloc(2, sizeof(*r->whatif));
	r->n_whatif = 2;
	r->whatif[0] = (struct report_whatif){ xstrdup("flush"), 9 * MS, 6 * MS, 5 * MS, 1.5, true };
	r->whatif[1] = (struct report_whatif){ .remove = xstrdup("cpu"), .speedup = NAN };
}

static void make_report(struct report *r)
{
	*r = (struct report){ .version = xstrdup("0.1.0"), .wall_ns = 50 * MS, .have_sync = true, .final = true };
	strv_add(&r->command, xstrdup(HOSTILE));
	r->detail = xcalloc(1, sizeof(*r->detail));
	r->detail->name = xcalloc(N_NAMES, sizeof(char *));
	for (; r->detail->n_names < N_NAMES; r->detail->n_names++)
		r->detail->name[r->detail->n_names] = xstrdup(names[r->detail->n_names]);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		add_call(r, &calls[i]);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		report_detail_add_request(r->detail, &requests[i]);
	r->detail->requests_left_out = 4;
	r->sync.elsewhere = 5;
	r->sync.elsewhere_ns = 40 * MS;
	add_device(r);
	add_words(r);
}

/* ---- texts ---- */

/* Valid UTF-8, and nothing that acts on a terminal but line ends. */
static bool harmless(const char *s)
{
	uint32_t cp;

	for (; *s; s += utf8_decode(s, &cp)) {
		utf8_decode(s, &cp);
		if (cp == UTF8_BAD || (cp < 0x20 && cp != '\n' && cp != '\r') || (cp >= 0x7f && cp <= 0x9f)) {
			diag("U+%04X at: %.30s", cp, s);
			return false;
		}
	}
	return true;
}

static char *trace_of(const struct report *r)
{
	struct buf b = { 0 };
	json_error_t e;
	json_t *j;

	render_perfetto(r, &plain, &b);
	j = json_loads(b.data, JSON_REJECT_DUPLICATES, &e);
	if (!ok(j && harmless(b.data), "perfetto: JSON, valid UTF-8, no control characters"))
		diag("line %d: %s", e.line, e.text);
	json_decref(j);
	return b.data;
}

static void test_perfetto(struct report *r)
{
	const struct detail_request odd = { .begin_ns = 0, .end_ns = UINT64_MAX, .sector = UINT64_MAX, .bytes = 512 };
	char *trace = trace_of(r);

	golden("formats", "perfetto", trace);
	free(trace);
	report_detail_add_request(r->detail, &odd); /* a damaged recording may hold any, which JSON's readers refuse */
	free(trace_of(r));
}

/* Those in which something is hostile, unknown or odd, without carriage returns, to be read. All of a run: tests/golden/expected/sqlite/csv. */
static void test_csv(const struct report *r)
{
	static const char shown[] =
		"run.csv devices.csv mounts.csv calls.csv requests.csv steps.csv leaves.csv processes.csv files.csv verdict.csv remarks.csv whatif.csv";
	FREED(buf) struct buf all = { 0 };

	for (size_t i = 0; i < RENDER_N_CSV; i++) {
		FREED(buf) struct buf b = { 0 };

		render_csv(r, &(struct render_opts){ .table = i }, &b);
		ok(harmless(b.data), "csv: %s is valid UTF-8 without control characters", render_csv_file(i));
		if (!strstr(shown, render_csv_file(i)))
			continue;
		buf_printf(&all, "%s== %s\n", all.len ? "\n" : "", render_csv_file(i));
		for (size_t k = 0; k < b.len; k++)
			if (b.data[k] != '\r')
				buf_char(&all, b.data[k]);
	}
	golden("formats", "csv", all.data);
}

/* ---- SQLite ---- */

struct whole {
	struct buf all;
	size_t pieces;
};

static void collect(void *ctx, const struct buf *b)
{
	struct whole *w = ctx;

	buf_add(&w->all, b->data, b->len);
	w->pieces++;
}

/* Where a file to build it in isn't to be had, or has no room, it is built in memory: nobody can tell by the bytes. */
static void built_in_file(const struct report *r, const struct buf *want)
{
	struct whole w = { .all = { 0 } };
	FREED(buf) struct buf b = { .drain = collect, .ctx = &w };
	int file = memfd_create("scratch", 0), full = open("/dev/full", O_RDWR);
	char head[4096];

	render_db(r, &(struct render_opts){ .scratch = file }, &b);
	buf_drain(&b);
	ok(w.all.len == want->len && !memcmp(w.all.data, want->data, want->len), "db: built in a file it is the same");
	ok(pread(file, head, sizeof(head), 0) == sizeof(head) && !memcmp(head, want->data, sizeof(head)),
	   "db: and is there");
	w.all.len = 0;
	render_db(r, &(struct render_opts){ .scratch = full }, &b);
	buf_drain(&b);
	ok(w.all.len == want->len && !memcmp(w.all.data, want->data, want->len), "db: a file without room is done without");
	close(file);
	close(full);
	buf_free(&w.all);
}

static sqlite3 *open_db(const struct report *r)
{
	struct buf b = { 0 }, again = { 0 };
	unsigned char *copy;
	sqlite3 *db = NULL;

	render_db(r, &plain, &b);
	render_db(r, &plain, &again);
	ok(b.len && b.len == again.len && !memcmp(b.data, again.data, b.len), "db: the same report gives the same bytes");
	built_in_file(r, &b);
	copy = sqlite3_malloc64(b.len);
	memcpy(copy, b.data, b.len);
	sqlite3_open(":memory:", &db);
	sqlite3_deserialize(db, "main", copy, (sqlite3_int64)b.len, (sqlite3_int64)b.len,
			    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
	buf_free(&b);
	buf_free(&again);
	return db;
}

/* The first column of the first row as text. */
static bool gives(sqlite3 *db, const char *sql, const char *want)
{
	sqlite3_stmt *s = NULL;
	const char *have = NULL;
	bool same;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) || sqlite3_step(s) != SQLITE_ROW)
		have = sqlite3_errmsg(db);
	else
		have = (const char *)sqlite3_column_text(s, 0);
	same = have && want ? !strcmp(have, want) : have == want;
	if (!same)
		diag("%s: %s", sql, have ? have : "NULL");
	sqlite3_finalize(s);
	return same;
}

static void test_db(const struct report *r)
{
	sqlite3 *db = open_db(r);

	ok(gives(db, "PRAGMA integrity_check", "ok") && gives(db, "SELECT count(*) FROM pragma_foreign_key_check", "0"),
	   "db: it is whole, and no row refers to none");
	ok(gives(db, "SELECT path FROM sync_call WHERE id = 2",
		 "=cmd|'/C calc'!A0\",;\\x0d\\x0a\\x1b[2J\\x9b\\xff\\xc3(\\x7f"
		 "\\xc2\\x9b\\x09\\xe2\\x80\\xae\xf0\x9f\x98\x80"),
	   "db: a hostile name is a harmless text");
	ok(gives(db, "SELECT path FROM sync_call WHERE id = 4", NULL) &&
		   gives(db, "SELECT pid FROM request WHERE id = 2", NULL) &&
		   gives(db, "SELECT exit_status FROM run", NULL),
	   "db: what is not known is NULL");
	ok(gives(db, "SELECT requests_left_out FROM run", "4"), "db: what is left out is said");
	sqlite3_close(db);
}

/* ---- nothing, and much ---- */

TEST(empty)
{
	struct report r = { 0 };
	char *trace = trace_of(&r);
	sqlite3 *db = open_db(&r);

	ok(!strstr(trace, "\"ph\"") && !strstr(trace, "left_out"), "empty: a trace without events");
	ok(gives(db, "SELECT count(*) FROM sync_call", "0") && gives(db, "SELECT sync_ns FROM run", NULL) &&
		   gives(db, "SELECT calls_left_out FROM run", NULL),
	   "empty: a database without calls");
	sqlite3_close(db);
	free(trace);
}

/* More of one kind than fit into the first pages, lanes and steps of growth. */
TEST(many)
{
	FREED(report) struct report r = { 0 };
	char *trace;
	sqlite3 *db;

	make_report(&r);
	for (size_t i = 0; i < 3000; i++) {
		struct call c = calls[0];

		c.start += (i + 1) * MS;
		add_call(&r, &c);
	}
	db = open_db(&r);
	ok(gives(db, "PRAGMA integrity_check", "ok") && gives(db, "SELECT count(*) FROM slice", "12012"), "many: database");
	sqlite3_close(db);
	trace = trace_of(&r);
	ok(strstr(trace, "(thread 11, lane 6)") && !strstr(trace, "(thread 11, lane 7)"), "many: as few lanes as it takes");
	free(trace);
}

int main(int argc, char **argv)
{
	struct report r;

	golden_begin(argc, argv);
	make_report(&r);
	test_csv(&r);
	test_db(&r);
	test_perfetto(&r);
	tests_run();
	report_free(&r);
	return tap_done();
}
