// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats for other programs: Perfetto, CSV, SQLite. A report built by hand, hostile names included,
 * read back as its readers do.
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
#include "tap.h"

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
	r->whatif[0] = (struct report_whatif){ xstrdup("flush"), 5 * MS, 1.5 };
	r->whatif[1] = (struct report_whatif){ xstrdup("cpu"), 5 * MS, NAN };
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

/* ---- what holds for all texts ---- */

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

static json_t *parse(render_fn *render, const struct report *r)
{
	struct buf b = { 0 };
	json_error_t e;
	json_t *j;

	render(r, &plain, &b);
	ok(b.data && harmless(b.data), "the text is valid UTF-8 without control characters");
	j = json_loads(b.data, JSON_REJECT_DUPLICATES, &e);
	if (!ok(j != NULL, "it is JSON"))
		diag("line %d: %s", e.line, e.text);
	buf_free(&b);
	return j;
}

static const char *str(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static json_int_t number(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

/* ---- Perfetto ---- */

static int64_t ns(json_t *e, const char *key)
{
	return llround(json_number_value(json_object_get(e, key)) * 1000);
}

static bool is(json_t *e, const char *ph)
{
	return !strcmp(str(e, "ph"), ph);
}

static bool same_track(json_t *a, json_t *b)
{
	return number(a, "pid") == number(b, "pid") && number(a, "tid") == number(b, "tid");
}

/* Two slices of one track lie apart, or one holds the other. */
static bool nest(json_t *events)
{
	json_t *a, *b;
	size_t i, k;

	json_array_foreach(events, i, a)
	{
		json_array_foreach(events, k, b)
		{
			int64_t from_a = ns(a, "ts"), to_a = from_a + ns(a, "dur");
			int64_t from_b = ns(b, "ts"), to_b = from_b + ns(b, "dur");

			if (!is(a, "X") || !is(b, "X") || !same_track(a, b) || from_a > from_b || to_a <= from_b)
				continue;
			if (from_a < from_b && to_b > to_a) {
				diag("%s at %ld and %s at %ld", str(a, "name"), (long)from_a, str(b, "name"), (long)from_b);
				return false;
			}
		}
	}
	return true;
}

/* The innermost slice at an end of an arrow: a reader takes the last one that is open. */
static json_t *slice_at(json_t *events, json_t *end)
{
	json_t *e, *found = NULL;
	size_t i;

	json_array_foreach(events, i, e) if (is(e, "X") && same_track(e, end) && ns(e, "ts") <= ns(end, "ts") &&
					     ns(end, "ts") < ns(e, "ts") + ns(e, "dur")) found = e;
	return found;
}

static json_t *find(json_t *events, const char *ph, const char *key, const char *value, size_t nth)
{
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) if (is(e, ph) && !strcmp(str(e, key), value) && !nth--) return e;
	return NULL;
}

static size_t count(json_t *events, const char *ph, const char *key, const char *value)
{
	size_t n = 0;

	while (find(events, ph, key, value, n))
		n++;
	return n;
}

/* Arrow n leads from a slice of this name to the FLUSH of this request. */
static bool arrow(json_t *events, size_t n, const char *from, int64_t done)
{
	json_t *s = find(events, "s", "name", "waits for", n), *f = find(events, "f", "name", "waits for", n);
	json_t *a = s ? slice_at(events, s) : NULL, *b = f ? slice_at(events, f) : NULL;

	return a && b && number(s, "id") == number(f, "id") && !strcmp(str(f, "bp"), "e") &&
	       !strcmp(str(a, "name"), from) && !strcmp(str(b, "name"), "device") && ns(b, "ts") + ns(b, "dur") == done;
}

/* The slices directly behind a call on its track add up to it. */
static bool slices_add_up(json_t *events)
{
	size_t n = json_array_size(events), n_calls = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *e = json_array_get(events, i);
		int64_t sum = 0;

		if (!is(e, "X") || strcmp(str(e, "cat"), "sync"))
			continue;
		n_calls++;
		for (size_t k = i + 1; k < n && strcmp(str(json_array_get(events, k), "cat"), "sync") &&
				       is(json_array_get(events, k), "X") && same_track(json_array_get(events, k), e);
		     k++)
			sum += ns(json_array_get(events, k), "dur");
		if (sum != ns(e, "dur") || sum != number(json_object_get(e, "args"), "duration_ns"))
			return false;
	}
	return n_calls == ARRAY_LEN(calls);
}

/* A damaged recording may hold any. */
static void test_perfetto_numbers(struct report *r)
{
	const struct detail_request odd = { .begin_ns = 0, .end_ns = UINT64_MAX, .sector = UINT64_MAX, .bytes = 512 };
	json_t *j;

	report_detail_add_request(r->detail, &odd);
	j = parse(render_perfetto, r);
	ok(j != NULL, "perfetto: numbers that JSON's readers refuse are none of it");
	json_decref(j);
}

static void test_perfetto(const struct report *r)
{
	json_t *j = parse(render_perfetto, r), *ev = json_object_get(j, "traceEvents"), *e, *other;
	struct buf b = { 0 };

	other = json_object_get(j, "otherData");
	ok(!strcmp(str(j, "displayTimeUnit"), "ns") && number(other, "requests_left_out") == 4 &&
		   number(other, "calls_left_out") == 0 && !strcmp(str(other, "version"), "0.1.0"),
	   "perfetto: about the run");
	ok(nest(ev), "perfetto: slices of a track nest");
	ok(slices_add_up(ev), "perfetto: the causes add up to the call");
	ok(count(ev, "X", "name", "io_uring fsync") == 2 &&
		   !same_track(find(ev, "X", "name", "io_uring fsync", 0), find(ev, "X", "name", "io_uring fsync", 1)),
	   "perfetto: two calls of one task at a time have two lanes");
	ok(count(ev, "M", "name", "process_name") == 4 && count(ev, "M", "name", "thread_name") == 4 + 4,
	   "perfetto: every process and every track has its name");
	ok(count(ev, "X", "name", "preflush") == 2 && count(ev, "X", "name", "postflush") == 1 &&
		   count(ev, "X", "name", "data") == 2,
	   "perfetto: steps of a sequence");
	ok(count(ev, "X", "name", "queue") == 5 && count(ev, "X", "name", "device") == 7,
	   "perfetto: no step whose end is not known");
	ok(count(ev, "s", "name", "waits for") == 4 && count(ev, "f", "name", "waits for") == 4,
	   "perfetto: an arrow for each FLUSH that is known");
	ok(arrow(ev, 0, "flush.pre", AT(2005) + 1) && arrow(ev, 1, "flush.post", AT(5305) + 8) &&
		   arrow(ev, 2, "flush.pre", AT(2005) + 1) && arrow(ev, 3, "flush.only", AT(11000)),
	   "perfetto: arrows lead to the FLUSH that was waited for");
	e = json_object_get(find(ev, "X", "name", "flush.pre", 0), "args");
	ok(!strcmp(str(e, "via"), "jbd2/sda1-8") && !strcmp(str(e, "device"), "sda1") && number(e, "ns") == 2 * MS,
	   "perfetto: a slice says through whom and where");
	render_perfetto(r, &plain, &b);
	ok(strstr(b.data, "\"ts\":10000.000,\"dur\":5305.008,") && strstr(b.data, "\"ts\":10005.001,\"dur\":2000.000,"),
	   "perfetto: three decimals, exactly");
	ok(strstr(b.data, "\xf0\x9f\x98\x80") && !strstr(b.data, "\\ud8"), "perfetto: no pairs of surrogates");
	buf_free(&b);
	json_decref(j);
}

/* ---- CSV ---- */

struct csv {
	char ***row;
	size_t n;
	bool good; /* every row as wide as the first and ended by CRLF */
};

/* One cell; returns what stands behind it. */
static const char *read_cell(const char *s, struct buf *cell)
{
	bool quoted = *s == '"';

	buf_str(cell, "");
	for (s += quoted; *s && (quoted || (*s != ',' && *s != '\r')); s++) {
		if (quoted && *s == '"' && *++s != '"')
			return s;
		buf_char(cell, *s);
	}
	return s;
}

static struct csv read_csv(render_fn *render, const struct report *r)
{
	struct csv c = { .good = true };
	struct buf b = { 0 }, cell = { 0 };
	const char *s;

	render(r, &plain, &b);
	c.good = b.len && harmless(b.data);
	for (s = b.data; s && *s;) {
		char ***row = grow((void **)&c.row, &c.n, sizeof(*c.row));

		do {
			s = read_cell(*row ? s + 1 : s, &cell);
			strv_add(row, xstrdup(cell.data));
			buf_clear(&cell);
		} while (*s == ',');
		c.good = c.good && s[0] == '\r' && s[1] == '\n' && strv_len(*row) == strv_len(c.row[0]);
		if (!c.good)
			break;
		s += 2;
	}
	buf_free(&b);
	buf_free(&cell);
	return c;
}

static void free_csv(struct csv *c)
{
	for (size_t i = 0; i < c->n; i++)
		strv_free(c->row[i]);
	free(c->row);
}

static const char *cell(const struct csv *c, size_t row, const char *column)
{
	for (size_t i = 0; c->n > row + 1 && c->row[0][i]; i++)
		if (!strcmp(c->row[0][i], column))
			return c->row[row + 1][i];
	return "(none)";
}

static uint64_t csv_sum(render_fn *render, const struct report *r, const char *column)
{
	struct csv c = read_csv(render, r);
	uint64_t sum = 0;

	for (size_t i = 0; i + 1 < c.n; i++)
		sum += strtoull(cell(&c, i, column), NULL, 10);
	free_csv(&c);
	return sum;
}

#define CSV_ROW(file, fn) { file, fn },
static const struct {
	const char *file;
	render_fn *render;
} csv_files[] = { RENDER_CSV(CSV_ROW) };

static void test_csv_sums(const struct report *r)
{
	uint64_t total = r->sync.total_ns;

	ok(csv_sum(render_csv_ledger, r, "ns") == total && csv_sum(render_csv_calls, r, "duration_ns") == total &&
		   csv_sum(render_csv_slices, r, "ns") == total && csv_sum(render_csv_leaves, r, "ns") == total &&
		   csv_sum(render_csv_causes, r, "ns") == total && csv_sum(render_csv_processes, r, "total_ns") == total &&
		   csv_sum(render_csv_files, r, "total_ns") == total &&
		   csv_sum(render_csv_process_ledger, r, "ns") == total &&
		   csv_sum(render_csv_file_ledger, r, "ns") == total && csv_sum(render_csv_run, r, "sync_ns") == total,
	   "csv: all tables agree to the nanosecond");
}

static void test_csv_cells(const struct report *r)
{
	struct csv c = read_csv(render_csv_calls, r);

	ok(!strcmp(cell(&c, 1, "path"), "'=cmd|'/C calc'!A0\",;\\x0d\\x0a\\x1b[2J\\x9b\\xff\\xc3(\\x7f\\xc2\\x9b\\x09"
					"\\xe2\\x80\\xae\xf0\x9f\x98\x80"),
	   "csv: a hostile name is a harmless cell");
	ok(!strcmp(cell(&c, 3, "path"), "") && !strcmp(cell(&c, 0, "comm"), "postgres") &&
		   !strcmp(cell(&c, 0, "duration_ns"), "5305008") && !strcmp(cell(&c, 4, "id"), "5"),
	   "csv: a call");
	free_csv(&c);
	c = read_csv(render_csv_run, r);
	ok(!strcmp(cell(&c, 0, "elsewhere"), "5") && !strcmp(cell(&c, 0, "elsewhere_ns"), "40000000") &&
		   !strcmp(cell(&c, 0, "under_way"), ""),
	   "csv: calls in no figure, and those that nobody counted");
	free_csv(&c);
	c = read_csv(render_csv_remarks, r);
	ok(!strcmp(cell(&c, 0, "sentence"), "'+1 is no formula"), "csv: nothing begins like a formula");
	free_csv(&c);
	c = read_csv(render_csv_whatif, r);
	ok(!strcmp(cell(&c, 0, "speedup"), "1.500000") && !strcmp(cell(&c, 1, "speedup"), ""),
	   "csv: what is no number is empty");
	free_csv(&c);
	c = read_csv(render_csv_devices, r);
	ok(!strcmp(cell(&c, 0, "fua"), "0") && !strcmp(cell(&c, 0, "rotational"), "") &&
		   !strcmp(cell(&c, 0, "kernel_flushes"), ""),
	   "csv: no is 0, not known is empty");
	free_csv(&c);
	c = read_csv(render_csv_histograms, r);
	ok(!strcmp(cell(&c, 0, "phase"), "device") && csv_sum(render_csv_histograms, r, "count") == 3 + 1 + r->sync.count &&
		   !strcmp(cell(&c, 3, "upper_ns"), "1125899906842624"),
	   "csv: histograms, the last bucket up to its maximum");
	free_csv(&c);
	c = read_csv(render_csv_steps, r);
	ok(c.n == 1 + 3 + 2 + 2 + 1 + 2 && !*cell(&c, 6, "done_ns") && !strcmp(cell(&c, 2, "step"), "postflush") &&
		   !strcmp(cell(&c, 2, "done_ns"), "15305008"),
	   "csv: steps that happened");
	free_csv(&c);
}

static void test_csv(struct report *r)
{
	struct report_detail *keep = r->detail;

	for (size_t i = 0; i < ARRAY_LEN(csv_files); i++) {
		struct csv c = read_csv(csv_files[i].render, r);

		ok(c.good && c.n > 1, "csv: %s has rows as wide as its header", csv_files[i].file);
		free_csv(&c);
	}
	test_csv_sums(r);
	test_csv_cells(r);
	r->detail = NULL;
	for (size_t i = 0; i < ARRAY_LEN(csv_files); i++) {
		struct csv c = read_csv(csv_files[i].render, r);
		bool detail = strstr(" calls.csv ledger.csv slices.csv requests.csv steps.csv ", csv_files[i].file);

		ok(c.good && (c.n == 1) == detail, "csv: %s without detail", csv_files[i].file);
		free_csv(&c);
	}
	r->detail = keep;
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
	struct buf b = { .drain = collect, .ctx = &w };
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
	buf_free(&b);
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
	char *total = xasprintf("%llu", (unsigned long long)r->sync.total_ns);
	sqlite3 *db = open_db(r);

	ok(gives(db, "PRAGMA integrity_check", "ok") && gives(db, "PRAGMA user_version", "1") &&
		   gives(db, "PRAGMA application_id", "1651790930") && gives(db, "PRAGMA page_size", "4096"),
	   "db: it is whole");
	ok(gives(db, "SELECT count(*) FROM pragma_foreign_key_check", "0"), "db: no row refers to none");
	ok(gives(db, "SELECT sum(ns) FROM ledger", total) && gives(db, "SELECT sum(ns) FROM slice", total) &&
		   gives(db, "SELECT sum(duration_ns) FROM sync_call", total) &&
		   gives(db, "SELECT sum(ns) FROM cause", total) && gives(db, "SELECT sum(ns) FROM leaf", total) &&
		   gives(db, "SELECT sum(total_ns) FROM process", total) &&
		   gives(db, "SELECT sum(ns) FROM process_ledger", total) &&
		   gives(db, "SELECT sum(ns) FROM file_ledger", total) && gives(db, "SELECT sync_ns FROM run", total),
	   "db: all tables agree to the nanosecond");
	ok(gives(db,
		 "SELECT count(*) FROM (SELECT call_id FROM ledger JOIN sync_call ON id = call_id GROUP BY call_id"
		 " HAVING sum(ns) <> duration_ns)",
		 "0"),
	   "db: each ledger adds up to its call");
	ok(gives(db, "SELECT requests_left_out FROM run", "4") && gives(db, "SELECT exit_status FROM run", NULL) &&
		   gives(db, "SELECT offset_ns FROM slice WHERE call_id = 1 AND seq = 4", "2305001") &&
		   gives(db, "SELECT share FROM verdict", "0.25") && gives(db, "SELECT dir FROM mount", "/srv/a,b"),
	   "db: single cells");
	ok(gives(db, "SELECT path FROM sync_call WHERE id = 2",
		 "=cmd|'/C calc'!A0\",;\\x0d\\x0a\\x1b[2J\\x9b\\xff\\xc3(\\x7f"
		 "\\xc2\\x9b\\x09\\xe2\\x80\\xae\xf0\x9f\x98\x80"),
	   "db: a hostile name is a harmless text");
	ok(gives(db, "SELECT path FROM sync_call WHERE id = 4", NULL) &&
		   gives(db, "SELECT pid FROM request WHERE id = 2", NULL),
	   "db: what is not known is NULL");
	ok(gives(db, "SELECT largest_cause FROM slow_call", "flush.post") &&
		   gives(db, "SELECT cause FROM ledger_total", "flush.post") &&
		   gives(db, "SELECT family FROM family_total", "flush") &&
		   gives(db, "SELECT waiters FROM flush", "2") && gives(db, "SELECT count(*) FROM flush", "3"),
	   "db: views");
	sqlite3_close(db);
	free(total);
}

/* ---- nothing, and much ---- */

static void test_empty(void)
{
	struct report r = { 0 };
	json_t *j;
	sqlite3 *db;

	j = parse(render_perfetto, &r);
	ok(json_is_array(json_object_get(j, "traceEvents")) && !json_array_size(json_object_get(j, "traceEvents")) &&
		   !json_object_get(json_object_get(j, "otherData"), "calls_left_out"),
	   "empty: a trace without events");
	json_decref(j);
	db = open_db(&r);
	ok(gives(db, "SELECT count(*) FROM sync_call", "0") && gives(db, "SELECT sync_ns FROM run", NULL) &&
		   gives(db, "SELECT calls_left_out FROM run", NULL),
	   "empty: a database without calls");
	sqlite3_close(db);
}

/* More of one kind than fit into the first pages, lanes and steps of growth. */
static void test_many(void)
{
	struct report r = { 0 };
	struct buf b = { 0 };
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
	ok(csv_sum(render_csv_ledger, &r, "ns") == r.sync.total_ns, "many: CSV");
	render_perfetto(&r, &plain, &b);
	ok(strstr(b.data, "(thread 11, lane 6)") && !strstr(b.data, "(thread 11, lane 7)"),
	   "many: as few lanes as it takes");
	buf_free(&b);
	report_free(&r);
}

int main(void)
{
	struct report r;

	make_report(&r);
	test_perfetto(&r);
	test_csv(&r);
	test_db(&r);
	test_empty();
	test_many();
	test_perfetto_numbers(&r);
	report_free(&r);
	return tap_done();
}
