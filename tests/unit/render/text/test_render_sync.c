// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sync part of the renderers: verdict, what-if, ledger and calls, built by hand; the exact text, and
 * the JSON read back.
 *
 * The golden directory is argv[1], GOLDEN_DIR, or tests/unit/golden. GOLDEN_UPDATE=1 rewrites it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "rendered.h"
#include "wire.h"

#define US	     1000ull
#define MS	     1000000ull
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* --- reports --- */

/* Parts of a thousand; what is missing to a thousand belongs to the first. */
struct part {
	enum cause cause;
	uint64_t permille;
};

static struct ledger split(uint64_t total, const struct part *parts, size_t n)
{
	struct ledger l = { 0 };
	uint64_t rest = total;

	for (size_t i = 1; i < n; i++) {
		uint64_t ns = (uint64_t)((double)total * (double)parts[i].permille / 1000);

		l.ns[parts[i].cause] += ns;
		rest -= ns;
	}
	l.ns[parts[0].cause] += rest;
	return l;
}

/* clang-format off */
static const struct part slow_flush[] = {
	{ CAUSE_FLUSH_POST, 0 }, { CAUSE_FLUSH_PRE, 303 }, { CAUSE_FLUSH_ONLY, 201 },
	{ CAUSE_DEVICE_WRITE, 59 }, { CAUSE_CPU, 21 }, { CAUSE_FLUSH_WAIT, 16 }, { CAUSE_RUNQ, 9 },
	{ CAUSE_JOURNAL, 7 }, { CAUSE_COMPLETION, 4 }, { CAUSE_IOQ, 2 }, { CAUSE_LOCK, 1 },
	{ CAUSE_UNKNOWN, 3 },
};

static const struct part unknown_most[] = {
	{ CAUSE_UNKNOWN, 0 }, { CAUSE_FLUSH_PRE, 210 }, { CAUSE_CPU, 100 },
};

static const struct part busy_cpu[] = {
	{ CAUSE_RUNQ, 0 }, { CAUSE_CPU, 210 }, { CAUSE_DEVICE_WRITE, 190 }, { CAUSE_TAG, 1 },
	{ CAUSE_THROTTLE, 2 },
};
/* clang-format on */

static void run_facts(struct report *r, uint64_t wall)
{
	r->version = xstrdup("0.1.0");
	r->start = xstrdup("2026-01-31T03:07:00Z");
	r->kernel = xstrdup("6.18.0");
	r->arch = xstrdup("x86_64");
	r->wall_ns = wall;
}

/* The sync calls of one process on one file: everything that adds up is added up here. */
struct load {
	const char *comm, *path, *device;
	uint32_t pid;
	enum wire_call call;
	uint64_t n, each;
	const struct part *parts;
	size_t n_parts;
};

static struct report_group *group_of(struct report_group **g, size_t *n, const char *comm, const char *path)
{
	for (size_t i = 0; i < *n; i++) {
		const char *have = comm ? (*g)[i].comm : (*g)[i].path, *want = comm ? comm : path;

		if (have == want || (have && want && !strcmp(have, want)))
			return &(*g)[i];
	}
	return grow((void **)g, n, sizeof(**g));
}

static void add_to(struct report_group *g, uint64_t ns, const struct ledger *l)
{
	g->count++;
	g->total_ns += ns;
	ledger_add(&g->ledger, l);
	tally_add(&g->latency, ns);
}

/* Slowest first, ten of them. */
static void add_slow(struct report_sync *s, const struct load *w, uint64_t start, uint64_t ns, const struct ledger *l)
{
	size_t at;

	if (s->n_slowest == 10) {
		struct report_call *last = &s->slowest[9];

		if (last->duration_ns >= ns)
			return;
		free(last->comm);
		free(last->call);
		free(last->path);
		free(last->device);
	} else {
		grow((void **)&s->slowest, &s->n_slowest, sizeof(*s->slowest));
	}
	for (at = s->n_slowest - 1; at && s->slowest[at - 1].duration_ns < ns; at--)
		s->slowest[at] = s->slowest[at - 1];
	s->slowest[at] = (struct report_call){
		.start_ns = start,
		.duration_ns = ns,
		.pid = w->pid,
		.tid = w->pid + (at & 1),
		.comm = xstrdup(w->comm),
		.call = xstrdup(call_name(w->call)),
		.path = xstrdup(w->path),
		.device = xstrdup(w->device),
		.ledger = *l,
	};
}

static void add_load(struct report *r, const struct load *w)
{
	struct report_sync *s = &r->sync;

	r->have_sync = true;
	for (uint64_t i = 0; i < w->n; i++) {
		uint64_t ns = w->each * (i % 97 == 96 ? 40 : 7 + i % 7) / 10 + i;
		struct ledger l = split(ns, w->parts, w->n_parts);
		struct report_group *p = group_of(&s->process, &s->n_processes, w->comm, NULL);
		struct report_group *f = group_of(&s->file, &s->n_files, NULL, w->path);

		p->pid = w->pid;
		if (!p->comm)
			p->comm = xstrdup(w->comm);
		if (!f->count) {
			f->path = xstrdup(w->path);
			f->device = xstrdup(w->device);
		}
		add_to(p, ns, &l);
		add_to(f, ns, &l);
		add_slow(s, w, i * w->each * 11 / 10, ns, &l);
		s->count++;
		s->calls[w->call]++;
		s->total_ns += ns;
		ledger_add(&s->ledger, &l);
		hist_add(&s->latency, ns);
	}
}

static void add_whatif(struct report *r, const char *remove, uint64_t wall, double speedup)
{
	struct report_whatif *w = grow((void **)&r->whatif, &r->n_whatif, sizeof(*w));

	*w = (struct report_whatif){ xstrdup(remove), 9 * MS, 2 * MS, wall, speedup, false };
}

static void add_device(struct report *r)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "sda");
	d->model = xstrdup("GOODRAM C50");
	d->write_cache = xstrdup("write back");
	d->op[OP_FLUSH].count = 811;
	for (int i = 0; i < 811; i++) {
		tally_add(&d->op[OP_FLUSH].device, 6900 * US + (uint64_t)i);
		tally_add(&d->op[OP_FLUSH].total, 6900 * US + (uint64_t)i);
	}
}

static void flush_verdict(struct report *r)
{
	r->have_verdict = true;
	r->verdict = (struct report_verdict){
		.class = "device-flush",
		.family = "flush",
		.share = 0.894,
		.sentence = xstrdup("Your fsyncs are slow because the drive takes 6.90 ms to empty its write "
				    "cache: 89.4 % of the 5.79 s that sqlite3 spent in fdatasync."),
	};
	strv_add(&r->verdict.evidence, xstrdup("sda did 811 FLUSHes: p50 6.90 ms, p99 7.12 ms; the kernel itself "
					       "counted 811, 5.60 s"));
	strv_add(&r->verdict.evidence, xstrdup("A write took 315 µs (p50; p99 582 µs) in sda after 4.31 µs "
					       "(mean) in its queue"));
	strv_add(&r->verdict.advice,
		 xstrdup("Sync less often: put several changes into one transaction, or let the database use a write-ahead "
			 "log (SQLite: journal_mode=WAL, which needs 1 call where DELETE needs 4). Risk: none to the files; "
			 "a crash loses the transactions that were not yet committed."));
	strv_add(&r->verdict.advice,
		 xstrdup("Use a drive with power-loss protection: it answers a flush at once because its cache survives. "
			 "Risk: none, but check that it really has capacitors."));
	strv_add(&r->verdict.advice, xstrdup("Mount with barrier=0 (ext4). Risk: a power cut can destroy the "
					     "file system."));
}

static void slow_flush_sync(struct report *r)
{
	const struct load journal = {
		"sqlite3",  "/srv/db/test.sqlite-journal", "sda1", 4711, CALL_FDATASYNC, 603, 7 * MS,
		slow_flush, ARRAY_LEN(slow_flush)
	};
	struct load base = journal;

	add_load(r, &journal);
	base.path = "/srv/db/test.sqlite";
	base.n = 201;
	add_load(r, &base);
	r->sync.flush_own_ns = r->sync.ledger.ns[CAUSE_FLUSH_POST] + r->sync.ledger.ns[CAUSE_FLUSH_PRE] +
			       r->sync.ledger.ns[CAUSE_FLUSH_ONLY];
	r->sync.busy_in_flight = 105;
	r->sync.busy_flushes = 811;
}

static void report_slow_flush(struct report *r)
{
	static const char *const argv[] = { "sqlite3", "/srv/db/test.sqlite", ".read insert.sql", NULL };

	run_facts(r, 6890 * MS);
	r->command = strv_dup((char *const *)argv);
	r->have_exit_status = true;
	slow_flush_sync(r);
	flush_verdict(r);
	add_whatif(r, "CPU scheduler", 6840 * MS, 6.89 / 6.84);
	add_whatif(r, "flush", 669 * MS, 6.89 / 0.669);
	add_whatif(r, "I/O scheduler", 6880 * MS, 6.89 / 6.88);
	add_device(r);
}

static void report_no_calls(struct report *r)
{
	run_facts(r, 5000 * MS);
	r->have_sync = r->have_verdict = true;
	r->verdict = (struct report_verdict){
		.class = "no-sync",
		.sentence = xstrdup("Nothing in this run asked for its data to be durable."),
	};
	strv_add(&r->verdict.advice, xstrdup("Look elsewhere: perf record, for example. Risk: none."));
}

/* Two databases that share a disk, and much that is not well. */
static void report_two(struct report *r)
{
	const struct load load[] = {
		{ "etcd", "/var/lib/etcd/member/wal/0000000000000000-0000000000000000.wal", "sda1", 17, CALL_FDATASYNC,
		  300, 2 * MS, slow_flush, ARRAY_LEN(slow_flush) },
		{ "postgres", "/srv/pg/base/1", "dm-0", 4242, CALL_FSYNC, 120, 9 * MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "postgres", NULL, NULL, 4242, CALL_SYNC, 1, 70 * MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "rsync", "/srv/a", "dm-0", 9, CALL_URING_FSYNC, 2, MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "c", "/srv/b", "dm-0", 10, CALL_WRITE, 3, MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "d", "/srv/c", "dm-0", 11, CALL_MSYNC, 4, MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "e", "/srv/d", "dm-0", 12, CALL_SYNCFS, 1, MS, busy_cpu, ARRAY_LEN(busy_cpu) },
		{ "f", "/srv/e", "dm-0", 13, CALL_SYNC_FILE_RANGE, 1, MS, busy_cpu, ARRAY_LEN(busy_cpu) },
	};
	struct report_lost *l;

	run_facts(r, 1000 * MS);
	for (size_t i = 0; i < ARRAY_LEN(load); i++)
		add_load(r, &load[i]);
	r->have_verdict = true;
	r->verdict = (struct report_verdict){
		.class = "mixed",
		.share = 0.5,
		.sentence = xstrdup("No single cause: waiting for a CPU and the disk's flush share the time.")
	};
	r->sync.flush_own_ns = 300 * MS;
	r->sync.flush_foreign_ns = 100 * MS;
	r->sync.no_ledger = 12;
	r->sync.no_ledger_ns = 7 * MS;
	r->sync.without[NO_LEDGER_DROPPED] = 9;
	r->sync.without[NO_LEDGER_BEFORE] = 2;
	r->sync.without[NO_LEDGER_LIMIT] = 1;
	r->sync.unsafe = 3;
	r->sync.unsafe_ns = 12 * MS;
	r->sync.file[1].unsafe = 3;
	r->sync.file[1].unsafe_ns = 12 * MS;
	r->sync.slowest[0].unsafe = true;
	r->sync.volume = (struct volume){ 2, 80 * MS, 400, 200ull << 20, { 60 * MS, 0, 7 * MS, 3 * MS } };
	r->sync.elsewhere = 5;
	r->sync.elsewhere_ns = 40 * MS;
	r->under_way = 2;
	r->under_way_ns = 8000 * MS;
	add_whatif(r, "flush", 800 * MS, 1.25);
	add_whatif(r, "CPU scheduler", 700 * MS, 1.4286);
	r->lost_events = 40;
	r->incomplete = true;
	l = grow((void **)&r->lost, &r->n_lost, sizeof(*l));
	l->reason = xstrdup("ring buffer full");
	l->count = 40;
	l->reach = LOSS_OF_LEDGERS;
	l->at_most = 0.0121;
}

static void report_names(struct report *r)
{
	const struct load load = { HOSTILE,    "/srv/" HOSTILE,	     HOSTILE, 1, CALL_FSYNC, 3, MS,
				   slow_flush, ARRAY_LEN(slow_flush) };
	struct report_leaf *leaf;

	run_facts(r, 10 * MS);
	add_load(r, &load);
	r->have_verdict = true;
	r->verdict = (struct report_verdict){
		.class = "lock", .family = "host", .share = 0.7, .sentence = xstrdup("It waits for " HOSTILE ".")
	};
	strv_add(&r->verdict.evidence, xstrdup(HOSTILE));
	strv_add(&r->verdict.advice, xstrdup(HOSTILE));
	strv_add(&r->verdict.advice, xstrdup(HOSTILE));
	add_whatif(r, HOSTILE, 5 * MS, 2);
	add_whatif(r, HOSTILE, 10 * MS, 1);
	leaf = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*leaf));
	leaf->path = xstrdup("a;" HOSTILE ";flush.pre");
	leaf->cause = CAUSE_FLUSH_PRE;
	leaf->ns = 5;
	tally_add(&leaf->each, 2);
	tally_add(&leaf->each, 3);
}

static void report_unknown(struct report *r)
{
	const struct load load = { "app",  "/srv/x",	 "sda1",
				   7,	   CALL_FSYNC,	 20,
				   3 * MS, unknown_most, ARRAY_LEN(unknown_most) };

	run_facts(r, 100 * MS);
	add_load(r, &load);
	r->have_verdict = true;
	r->verdict = (struct report_verdict){ .class = "too-little-data",
					      .family = "unknown",
					      .share = 0.69,
					      .sentence = xstrdup(
						      "Most of the time of the sync calls could not be explained.") };
}

static void report_interval(struct report *r)
{
	report_slow_flush(r);
	r->interval = true;
	r->interval_start_s = 2;
}

/* --- text --- */

static int line_of(const char *s, const char *what)
{
	const char *found = strstr(s, what);
	int line = 1;

	for (; found && s < found; s++)
		line += *s == '\n';
	return found ? line : -1;
}

static bool has(const struct report *r, const struct render_opts *o, const char *what)
{
	char *s = text_of(r, o);
	bool found = strstr(s, what) != NULL;

	free(s);
	return found;
}

TEST(units)
{
	struct report r = { 0 };
	bool apart = false;

	report_slow_flush(&r);
	r.sync.no_ledger = 1;
	for (unsigned int w = 60; w <= 120; w++) {
		char *s = text_of(&r, &(struct render_opts){ .width = w });

		apart = apart || unit_starts_line(s);
		free(s);
	}
	ok(!apart, "no line ends between a number and its unit");
	report_free(&r);
}

/* The answer, for who is tired: all of it on the first screen of 24 lines. */
TEST(first_screen)
{
	struct report r = { 0 };
	char *s;
	int total;

	report_slow_flush(&r);
	s = text_of(&r, &plain);
	total = line_of(s, "\n  total  ") + 1;
	ok(!strncmp(s, r.verdict.sentence, 60), "the verdict comes first");
	ok(total > 0 && total <= 24, "verdict and ledger fit a screen: they end at line %d", total);
	ok(line_of(s, "1. Sync less") > 0 && line_of(s, "1. Sync less") < line_of(s, "  without ") &&
		   line_of(s, "  without ") < line_of(s, "where the sync time went"),
	   "the best advice and the gain are among it");
	ok(total < line_of(s, "  calls ") && line_of(s, "  calls ") < line_of(s, "  evidence ") &&
		   line_of(s, "  evidence ") < line_of(s, "2. Use a drive") &&
		   line_of(s, "2. Use a drive") < line_of(s, "3. Mount with") &&
		   line_of(s, "3. Mount with") < line_of(s, "by process"),
	   "then the reasons and all other advice");
	ok(line_of(s, "where the sync") < line_of(s, "by process") && line_of(s, "by process") < line_of(s, "by file") &&
		   line_of(s, "by file") < line_of(s, "slowest sync") &&
		   line_of(s, "slowest sync") < line_of(s, "GOODRAM C50"),
	   "then who, what, and the disk");
	ok(strstr(s, "A write took 315 us (p50; p99 582 us) in sda"), "ASCII has no micro sign in sentences either");
	free(s);
	report_free(&r);
}

/* The lines of the ledger add up to its total as far as digits go: what is small is not lost. */
TEST(ledger)
{
	struct render_opts verbose = { .width = 80, .verbose = true };
	struct report r = { 0 };

	report_slow_flush(&r);
	ok(has(&r, &verbose, "\n  ioq ") && !has(&r, &verbose, " others"), "small causes, if all are asked for");
	ok(has(&r, &verbose, "\n  flush.post      FLUSH in the device, after it"), "and explained");
	r.sync.ledger.ns[CAUSE_CPU]++;
	ok(has(&r, &plain, "the causes do not add up to the time of the calls"), "one that is a nanosecond off is");
	r.sync.ledger.ns[CAUSE_CPU]--;
	r.sync.ledger.ns[CAUSE_FLUSH_POST] += r.sync.ledger.ns[CAUSE_UNKNOWN];
	r.sync.ledger.ns[CAUSE_UNKNOWN] = 0;
	ok(has(&r, &plain, "\n  unknown         not explained      0 ns      0 %      0 ns\n"),
	   "what is not explained is shown also when it is nothing");
	r.sync.ledger.ns[CAUSE_LOCK] = r.sync.ledger.ns[CAUSE_IOQ] = 0;
	r.sync.ledger.ns[CAUSE_RUNQ] = r.sync.ledger.ns[CAUSE_JOURNAL] = 0;
	ok(has(&r, &plain, "\n  completion "), "a single small cause keeps its name");
	report_free(&r);
}

TEST(facts)
{
	struct render_opts quiet = { .width = 80, .quiet = true }, wide = { .width = 160 };
	struct report r = { 0 };

	report_two(&r);
	r.sync.no_ledger = r.sync.without[NO_LEDGER_IDLE] = 1;
	r.sync.without[NO_LEDGER_DROPPED] = r.sync.without[NO_LEDGER_BEFORE] = r.sync.without[NO_LEDGER_LIMIT] = 0;
	ok(has(&r, &wide, "note       1 call has no ledger (made while such calls were not traced)"),
	   "what is no loss is a note");
	ok(has(&r, &quiet, "by process") && !has(&r, &quiet, "slowest"), "quiet leaves the single calls out");
	free(r.lost[0].reason);
	r.n_lost = 0;
	r.lost_events = 0;
	r.incomplete = false;
	r.sync.no_ledger = r.sync.unsafe = 0;
	ok(!has(&r, &wide, "WARNING"), "no warning without a reason");
	report_free(&r);
	report_no_calls(&r);
	r.under_way = 1;
	ok(has(&r, &wide, "none returned, in a run") && !has(&r, &wide, "none was made"), "a call that hangs was made");
	r.under_way = 0;
	r.incomplete = true;
	ok(has(&r, &wide, "none was seen") && !has(&r, &wide, "none was made"),
	   "nor is it known of a report that is incomplete");
	r.incomplete = false;
	r.filter = xstrdup("pid 42");
	ok(has(&r, &wide, "none of the filtered tasks"), "no calls under a filter");
	r.sync.no_ledger = 7;
	ok(has(&r, &wide, "none whose time is known") && has(&r, &wide, "7 calls have no ledger"),
	   "no calls is not the same as none seen through");
	report_free(&r);
}

/* All of them, when asked for; the five that took most: golden/sync_two.txt. */
TEST(groups)
{
	struct render_opts verbose = { .width = 80, .verbose = true };
	struct report r = { 0 };

	report_two(&r);
	ok(has(&r, &verbose, "\n  e (12)  ") && !has(&r, &verbose, " more  "), "all, when asked for");
	ok(has(&r, &verbose, "tag 0.1 %"), "and all causes");
	report_free(&r);
}

TEST(whatif)
{
	struct render_opts verbose = { .width = 80, .verbose = true };
	struct report r = { 0 };

	report_slow_flush(&r);
	ok(has(&r, &verbose, "  CPU scheduler  1.01x faster, for the same work: 6.84 s"), "each, when asked for");
	r.whatif[1].bound = true;
	ok(has(&r, &plain, "flush          up to 10.3x faster, for the same work: 669 ms"), "a bound says so");
	r.whatif[1].wall_ns = 0;
	r.whatif[1].speedup = 4.5;
	ok(has(&r, &plain, "flush          at most 4.50x as much work a second: 2.00"), "what has no length");
	ok(has(&r, &verbose, "  without    flush          at most 4.50x"), "first, where it alone is worth a line");
	r.whatif[0].speedup = 1.2;
	ok(has(&r, &plain, "  without    CPU scheduler  1.20x faster") &&
		   has(&r, &plain, "\n             flush          at most 4.50x"),
	   "but a gain of the run stands before it");
	r.whatif[0].speedup = 1.01;
	r.whatif[1].speedup = INFINITY;
	ok(has(&r, &plain, "  flush          2.00 ms instead of 9.00 ms a call\n"),
	   "what is no number is not shown as one");
	r.whatif[1].speedup = NAN;
	ok(has(&r, &plain, "I/O scheduler, flush: no gain (<= 1.01x)"), "nor makes it a gain");
	report_free(&r);
}

/* The headline's share is of the sync time, the gain is of the run. */
TEST(contrast)
{
	static const struct {
		const char *name;
		uint64_t without_ns, wall_ns, sync_ns;
		const char *want; /* NULL: nothing */
	} all[] = {
		{ "much of little", 2, 960, 60, "80.0 % of the sync time is flush, but sync calls are 6.0 % of the run" },
		{ "little of little", 6, 980, 60, NULL },
		{ "half of half", 5, 750, 500, "50.0 % of the sync time is flush, but sync calls are 50.0 % of the run" },
		{ "much of more", 2, 590, 501, NULL },
		{ "no length", 2, 0, 60, NULL },
		{ "calls that overlap", 2, 960, 1001, NULL },
	};

	struct render_opts wide = { .width = 200 };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct report r = { 0 };
		const char *words = all[i].want ? all[i].want : "of the sync time is";

		run_facts(&r, 1000 * MS);
		r.have_sync = true;
		r.sync.total_ns = all[i].sync_ns * MS;
		add_whatif(&r, "lock", all[i].wall_ns * MS, 1.04);
		add_whatif(&r, "flush", all[i].wall_ns * MS, 1.04);
		r.whatif[0].now_ns = r.whatif[1].now_ns = 10 * MS;
		r.whatif[0].without_ns = 9 * MS;
		r.whatif[1].without_ns = all[i].without_ns * MS;
		ok(has(&r, &wide, words) == (all[i].want != NULL), "%s", all[i].name);
		report_free(&r);
	}
}

TEST(interval)
{
	struct report r = { 0 };

	report_interval(&r);
	r.final = true;
	ok(has(&r, &plain, "advice") && has(&r, &plain, "slowest") && has(&r, &plain, "of the run's"),
	   "the last report has all");
	report_free(&r);
}

/* Figures that no run makes: no division by zero, no bar beyond its column. */
TEST(extremes)
{
	struct report r = { 0 };
	bool good = true;
	char *s;

	report_slow_flush(&r);
	r.wall_ns = 0;
	for (int c = 0; c < CAUSE_COUNT; c++)
		r.sync.ledger.ns[c] = c == CAUSE_CPU ? UINT64_MAX : 0;
	r.sync.total_ns = UINT64_MAX;
	r.sync.count = UINT64_MAX;
	r.sync.process[0].count = 0;
	tally_free(&r.sync.process[0].latency);
	memset(&r.sync.process[0].ledger, 0, sizeof(struct ledger));
	memset(&r.sync.slowest[0].ledger, 0, sizeof(struct ledger));
	for (unsigned int w = 60; w < 120; w++) {
		s = text_of(&r, &(struct render_opts){ .width = w });
		good = good && fits(s, w) && tidy(s);
		free(s);
	}
	ok(good, "the largest figures keep the width");
	ok(has(&r, &plain, "\n  sqlite3 (4711)                                 0    5.79 s         -         -\n"),
	   "no calls have no mean");
	r.sync.process[0].pid = 0;
	ok(has(&r, &plain, "\n  sqlite3                                        0 "),
	   "those without a line of their own have no number");
	memset(&r.sync.ledger, 0, sizeof(r.sync.ledger));
	r.sync.count = 1;
	r.sync.total_ns = 0;
	s = text_of(&r, &plain);
	ok(tidy(s) && strstr(s, "\n  total "), "so do the smallest");
	free(s);
	report_free(&r);
}

/* --- JSON --- */

TEST(json_absent)
{
	struct report r = { 0 };
	json_t *j;

	report_no_calls(&r);
	j = json_of(&r, render_json);
	ok(number(j, "sync/count") == 0 && number(j, "sync/total_ns") == 0 && filled(j) && !at(j, "sync/latency") &&
		   !at(j, "sync/ledger") && !at(j, "sync/calls") && !at(j, "sync/by_process") &&
		   !at(j, "sync/by_file") && !at(j, "sync/slowest") && !at(j, "sync/under_way"),
	   "json: no calls are counted, and have no time");
	ok(!at(j, "whatif") && !at(j, "verdict/family") && !at(j, "verdict/evidence"), "json: short verdict");
	r.have_sync = r.have_verdict = false;
	json_decref(j);
	j = json_of(&r, render_json);
	ok(!at(j, "sync") && !at(j, "verdict") && !at(j, "whatif"), "json: not traced, no key");
	ok(!has(&r, &plain, "sync") && !has(&r, &plain, "Nothing in this run"), "nor a word in the text");
	json_decref(j);
	report_free(&r);
}

TEST(json_hostile)
{
	struct report r = { 0 };
	json_t *j;

	report_names(&r);
	j = json_of(&r, render_ndjson);
	ok(j && strstr(str(j, "sync/by_file/0/path"), "/srv/\"><script>alert(1)</script>\x1b[2J\xef\xbf\xbd") &&
		   *str(j, "sync/slowest/0/comm") && *str(j, "whatif/0/remove") && *str(j, "verdict/advice/1"),
	   "hostile: names come back");
	ok(strstr(str(j, "sync/leaves/0/path"), ";flush.pre") && !strcmp(str(j, "sync/leaves/0/cause"), "flush.pre") &&
		   number(j, "sync/leaves/0/ns") == 5 && number(j, "sync/leaves/0/each/sum_ns") == 5,
	   "json: leaves");
	json_decref(j);
	report_free(&r);
}

static make_report *const all[] = { report_slow_flush, report_no_calls, report_two,
				    report_names,      report_unknown,	report_interval };

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	check_golden("sync_slow_flush", report_slow_flush);
	check_golden("sync_no_calls", report_no_calls);
	check_golden("sync_two", report_two);
	check_golden("sync_hostile", report_names);
	check_golden("sync_unknown", report_unknown);
	check_golden("sync_interval", report_interval);
	texts_hold(all, ARRAY_LEN(all));
	tests_run();
	return tap_done();
}
