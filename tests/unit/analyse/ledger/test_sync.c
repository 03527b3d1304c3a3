// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ledgers: streams of facts as the kernel side sends them, and what they have to come to, to the nanosecond: golden/ledgers.txt has the
 * leaves of each.
 */
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "situations.h"
#include "stream.h"

#define OTHER	200 /* another process */
#define KWORKER 60
#define SDB	WIRE_DEV(8, 16)

static struct device_name devices[] = {
	{ .dev = SDA1, .name = "sda1", .mount = "/srv", .fstype = "ext4", .traced = true, .volatile_cache = true },
	{ .dev = SDA, .name = "sda", .traced = true, .volatile_cache = true },
	{ .dev = SDB, .name = "sdb", .mount = "/", .fstype = "xfs" },
};

static struct report report;

/* ---- what has to hold for every report ---- */

TEST(make_symbols)
{
	for (n_symbols = 0; sync_symbol_names[n_symbols] && n_symbols < 128; n_symbols++) {
		struct kernel_symbol *s = &symbols[n_symbols];

		snprintf(s->name, sizeof(s->name), "%s", sync_symbol_names[n_symbols]);
		s->start = 0x100000 - 0x100 * n_symbols;
		s->end = s->start + 0x80;
	}
}

static struct sync_analysis *fresh(bool only_traced)
{
	struct sync_opts o = {
		.start_ns = T0,
		.symbols = symbols,
		.n_symbols = n_symbols,
		.devices = devices,
		.n_devices = sizeof(devices) / sizeof(devices[0]),
		.only_traced = only_traced,
		.slowest = 3,
	};

	return sync_new(&o);
}

static bool groups_sum(const struct report_group *g, size_t n, const struct report_sync *s)
{
	uint64_t count = 0, ns = 0;
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		count += g[i].count;
		ns += g[i].total_ns;
		good = good && ledger_sum(&g[i].ledger) == g[i].total_ns && g[i].latency.count == g[i].count;
	}
	return good && count == s->count && ns == s->total_ns;
}

static bool leaves_sum(const struct report_sync *s)
{
	struct ledger l = { { 0 } };

	for (size_t i = 0; i < s->n_leaves; i++) {
		l.ns[s->leaf[i].cause] += s->leaf[i].ns;
		if (s->leaf[i].each.sum != s->leaf[i].ns)
			return false;
		for (const char *p = s->leaf[i].path; *p; p++)
			if ((unsigned char)*p < ' ')
				return false;
	}
	return !memcmp(&l, &s->ledger, sizeof(l));
}

static bool exact(const struct report_sync *s)
{
	uint64_t calls = 0;
	bool good = ledger_sum(&s->ledger) == s->total_ns && s->latency.count == s->count && s->latency.sum == s->total_ns;

	for (int i = 0; i < CALL_COUNT; i++)
		calls += s->calls[i];
	for (size_t i = 0; i < s->n_slowest; i++)
		good = good && ledger_sum(&s->slowest[i].ledger) == s->slowest[i].duration_ns &&
		       (!i || s->slowest[i - 1].duration_ns >= s->slowest[i].duration_ns);
	return good && calls == s->count && leaves_sum(s) && groups_sum(s->process, s->n_processes, s) &&
	       groups_sum(s->file, s->n_files, s);
}

static void begin(void)
{
	sync_free(a);
	a = fresh(false);
	report_free(&report);
	asked = 0;
	seen_record = 0;
	name_file(SDA1, INO, "db", "data");
}

/* Its leaves, and what else is known of it, where it is not nothing. */
static void ends_as(const char *what)
{
	const struct report_sync *s = &report.sync;

	report_free(&report);
	sync_report(a, &report.sync, false);
	SAY("%s:\n", what);
	for (size_t i = 0; i < s->n_leaves; i++)
		SAY("  %s %llu\n", s->leaf[i].path, (unsigned long long)s->leaf[i].ns);
	also("without a ledger", s->no_ledger);
	also("unsafe", s->unsafe);
	also("flush_own_ns", s->flush_own_ns);
	also("flush_foreign_ns", s->flush_foreign_ns);
	also("busy_flushes", s->busy_flushes);
	also("busy_in_flight", s->busy_in_flight);
	if (!ok(exact(s) && s->total_ns == asked && !sync_damaged(a), "%s: everything adds up, nothing is damaged", what))
		diag("asked for %llu, %llu damaged", (unsigned long long)asked, (unsigned long long)sync_damaged(a));
}

/* ---- the caller's own requests ---- */

TEST(direct_write)
{
	begin();
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .class = WIRE_WRITE_SYNC, .data = { .issue = 1012, .done = 1100 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120, .call = CALL_WRITE, .ret = 4096);
	ends_as("a direct write with O_DSYNC");
	ok(report.sync.n_files == 1 && !strcmp(report.sync.file[0].path, "/srv/data/db") &&
		   !strcmp(report.sync.file[0].device, "sda1"),
	   "its file has a name");
	ok(report.sync.n_processes == 1 && report.sync.process[0].pid == APP && !strcmp(report.sync.process[0].comm, "app"),
	   "its process has one, too");
	ok(report.sync.n_slowest == 1 && report.sync.slowest[0].start_ns == 1000 &&
		   report.sync.slowest[0].duration_ns == 120 && !strcmp(report.sync.slowest[0].call, "write") &&
		   !strcmp(report.sync.slowest[0].path, "/srv/data/db"),
	   "it is the slowest call");
}

TEST(own_requests)
{
	/* Its FLUSH ended before it got to sleep: no sleep tells of it, the machinery does. */
	begin();
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .class = WIRE_WRITE_SYNC, .data = { .issue = 1012, .done = 1100 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120, .flushes = 1);
	ends_as("a flush faster than a sleep");
	begin();
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .class = WIRE_READ_SYNC,
		.data = { .begin = 1012, .issue = 1040, .done = 1095 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1100, .on = 1100, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("a read that lay in the scheduler");
	begin();
	REQUEST(.rq = 1, .done = 1125, .alloc = 1005, .class = WIRE_FLUSH, .flags = REQUEST_SEQUENCE | REQUEST_ONLY,
		.pre = { .begin = 1006, .issue = 1020, .done = 1120, .in_flight = 3 });
	SLEEP(.tid = APP, .off = 1008, .wake = 1126, .on = 1130, .rq = 1, .done = 1125);
	SYNC(.enter = 1000, .exit = 1140);
	ends_as("an empty flush");
	begin();
	follow(KWORKER, "kworker/0:1H-kb", TASK_KWORKER, 5);
	REQUEST(.rq = 1, .done = 1125, .alloc = 1005, .class = WIRE_FLUSH, .flags = REQUEST_SEQUENCE | REQUEST_ONLY,
		.pre = { .begin = 1006, .issue = 1020, .done = 1120, .issuer = KWORKER, .issuer_wake = 1010, .issuer_on = 1014 });
	SLEEP(.tid = APP, .off = 1008, .wake = 1126, .on = 1130, .rq = 1, .done = 1125);
	SYNC(.enter = 1000, .exit = 1140);
	ends_as("a flush issued by a task that is followed");
	begin();
	REQUEST(.rq = 1, .done = 1225, .alloc = 1005, .class = WIRE_FLUSH, .flags = REQUEST_SEQUENCE | REQUEST_ONLY,
		.pre = { .begin = 1080, .issue = 1082, .done = 1220 });
	SLEEP(.tid = APP, .off = 1008, .wake = 1225, .on = 1225, .rq = 1, .done = 1225);
	SYNC(.enter = 1000, .exit = 1230);
	ends_as("a flush that waited for another's");
}

/* A call of 120 ns that computes only, as far as sleeps tell. */
static void safety_of(const char *what, struct wire_sync call)
{
	const struct call_sums *sums;

	begin();
	call.enter = 1000;
	call.exit = 1120;
	sync_fact(call);
	report_free(&report);
	sync_report(a, &report.sync, false);
	sums = report.sync.sample;
	SAY("%s: %s%s%s\n", what, sums->unsafe ? "unsafe" : "", sums->durable ? "durable" : "",
	    sums->unsafe || sums->durable ? "" : "neither");
	ok(report.sync.n_samples == 1 && sums->total_ns == 120 && ledger_sum(&sums->ledger) == 120 &&
		   sums->unsafe == report.sync.unsafe && sums->durable == report.sync.durable &&
		   report.sync.unsafe_ns == 120 * sums->unsafe && report.sync.file[0].unsafe == sums->unsafe &&
		   report.sync.file[0].unsafe_ns == 120 * sums->unsafe && report.sync.slowest[0].unsafe == sums->unsafe,
	   "one call, one sample; its file has it, and so it stands among the slowest");
}

#define SAFETY(what, ...) safety_of(what, (struct wire_sync){ __VA_ARGS__ })

/* Whether a call had anything to make durable shows where it never slept, too. */
TEST(had_something)
{
	SAFETY("nothing to make durable", .ret = 0);
	SAFETY("pages, and no flush", .had = HAD_PAGES);
	SAFETY("a write, and no flush", .writes = 1, .write_bytes = 4096);
	SAFETY("a synchronous write, and no flush", .call = CALL_WRITE, .ret = 4096);
	SAFETY("a synchronous write of nothing", .call = CALL_WRITE);
	SAFETY("a FUA write", .had = HAD_PAGES | HAD_FUA, .writes = 1);
	SAFETY("a flush", .had = HAD_PAGES, .flushes = 1);
	SAFETY("maybe direct writes before, and barriers", .had = HAD_DIRECT);
	SAFETY("direct writes, and a flush", .had = HAD_DIRECT, .flushes = 1);
	devices[0].nobarrier = true;
	SAFETY("direct writes, and no barriers", .had = HAD_DIRECT);
	SAFETY("no barriers alone", .ret = 0);
	devices[0].nobarrier = false;
	SAFETY("it said that it failed", .had = HAD_PAGES, .ret = -5);
	ok(!report.sync.volume.calls, "none is of volume");
}

/* A disk without requests (dm-0, here as sdb) with a bio that ends sleep `seq`. */
static void bio_fact(uint32_t tid, uint32_t seq, int64_t queued, int64_t flushed, int64_t done, uint16_t class)
{
	struct wire_bio b = {
		.queued = at(queued),
		.done = at(done),
		.flushed = at(flushed),
		.tid = tid,
		.seq = seq,
		.disk = SDB,
		.class = class,
	};

	send(&b, WIRE_BIO, sizeof(b));
}

TEST(bios)
{
	begin();
	bio_fact(APP, 0, 1010, 0, 1100, WIRE_FLUSH);
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .how = HOW_IRQ);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("a flush in a disk without requests, of which nothing else is known");
	/* The first of its steps is over when the FLUSH below is; a request below explains what it can, the bio the rest. */
	begin();
	bio_fact(APP, 0, 1020, 1060, 1100, WIRE_WRITE_BARRIER);
	REQUEST(.rq = 1, .done = 1100, .class = WIRE_WRITE_SYNC, .flags = REQUEST_NO_START,
		.data = { .issue = 1090, .done = 1100 });
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("a write with PREFLUSH in a disk without requests");

	begin();
	bio_fact(APP, 0, 1020, 0, 1100, WIRE_WRITE_BARRIER);
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .how = HOW_IRQ);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("a write with PREFLUSH whose flush was not seen: it could be either");
	/* Through whoever handles it: the innermost sleep's bio tells. */
	begin();
	follow(KWORKER, "kworker/0:1-dm", TASK_KWORKER, 5);
	SLEEP(.tid = KWORKER, .seq = 6, .off = 800, .wake = 850, .on = 860, .how = HOW_IRQ);
	bio_fact(KWORKER, 7, 1030, 0, 1090, WIRE_FLUSH);
	SLEEP(.tid = KWORKER, .seq = 7, .off = 1005, .wake = 1090, .on = 1095, .how = HOW_IRQ);
	bio_fact(APP, 0, 1010, 0, 1099, WIRE_WRITE_SYNC);
	SLEEP(.tid = APP, .off = 1015, .wake = 1100, .on = 1110, .waker = KWORKER, .how = HOW_TASK,
	      .kind = TASK_KWORKER, .rq = 8, .done = 1 - T0);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("a bio that a worker waits for, within one that the caller waits for");
	begin();
	bio_fact(APP, 1, 1010, 0, 1100, WIRE_FLUSH);
	SLEEP(.tid = APP, .off = 1015, .wake = 1102, .on = 1110, .how = HOW_IRQ);
	SYNC(.enter = 1000, .exit = 1120);
	ends_as("the bio of another sleep says nothing");
}

TEST(fua_and_others)
{
	begin();
	REQUEST(.rq = 1, .done = 1310, .alloc = 1002, .class = WIRE_FUA, .flags = REQUEST_SEQUENCE,
		.pre = { .begin = 1004, .issue = 1020, .done = 1120 }, .data = { .issue = 1130, .done = 1300 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1310, .on = 1311, .rq = 1, .done = 1310);
	SYNC(.enter = 1000, .exit = 1320);
	ends_as("preflush and native FUA");
	begin();
	REQUEST(.rq = 1, .done = 1040, .alloc = 1010, .class = WIRE_WRITE_SYNC, .dev = WIRE_DEV(9, 9),
		.data = { .issue = 1010, .done = 1040 });
	REQUEST(.rq = 2, .done = 1080, .alloc = 1050, .class = WIRE_FUA, .data = { .issue = 1050, .done = 1080 });
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1040, .on = 1040, .rq = 1, .done = 1040);
	SLEEP(.tid = APP, .seq = 1, .off = 1050, .wake = 1080, .on = 1080, .rq = 2, .done = 1080);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a write, then one with FUA");
	begin();
	REQUEST(.rq = 1, .done = 1100, .alloc = 900, .class = WIRE_DISCARD,
		.data = { .begin = 905, .issue = 910, .done = 1100 });
	SLEEP(.tid = APP, .off = 1050, .wake = 1100, .on = 1100, .rq = 1, .done = 1100);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a request that was there before the sleep");
}

TEST(preempted)
{
	begin();
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1010, .on = 1040, .how = HOW_PREEMPTED);
	SLEEP(.tid = APP, .seq = 1, .off = 1050, .wake = 1050, .on = 1052, .how = HOW_PREEMPTED);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("preempted twice");
	begin();
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("never asleep");
	begin();
	SYNC(.enter = 1000, .exit = 1000);
	ends_as("over at once");
}

TEST(before_a_request)
{
	begin();
	REQUEST(.rq = 9, .done = 1060, .alloc = 1001, .class = WIRE_WRITE_ASYNC, .tid = OTHER,
		.data = { .issue = 1002, .done = 1060 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1061, .on = 1065, .rq = 9, .done = 1060, .in = "blk_mq_get_tag");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("waiting for a tag that another's request gives back");
	begin();
	SLEEP(.tid = APP, .off = 1010, .wake = 1061, .on = 1065, .how = HOW_IRQ, .in = "rq_qos_wait");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("throttled by rq-qos");
	begin();
	REQUEST(.rq = 9, .done = 1060, .alloc = 1001, .class = WIRE_WRITE_ASYNC, .tid = OTHER,
		.data = { .issue = 1002, .done = 1060 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1061, .on = 1065, .rq = 9, .done = 1060, .in = "wbt_wait");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("throttled until another's request is done");
	begin();
	REQUEST(.rq = 1, .done = 1090, .alloc = 1050, .class = WIRE_WRITE_SYNC, .flags = REQUEST_THROTTLED,
		.data = { .begin = 1052, .issue = 1055, .done = 1090 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .rq = 1, .done = 1090);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("held by blk-throttle");
}

/* ---- the journal ---- */

TEST(commits)
{
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	commit_requests(JBD2);
	commit_sleeps();
	wait_for_commit(0);
	SYNC(.enter = 1000, .exit = 1510);
	ends_as("an ext4 commit");
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	wait_for_commit(0);
	SLEEP(.tid = JBD2, .seq = 9, .off = 1110, .wake = 1416, .on = 1420, .rq = 2, .done = 1415);
	commit_sleeps();
	commit_requests(JBD2);
	commit_sleeps();
	wait_for_commit(0);
	commit_requests(JBD2);
	SYNC(.enter = 1000, .exit = 1510);
	ends_as("the same, twice and in disorder");
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	commit_requests(JBD2);
	/* jbd2 runs for somebody else when the caller arrives, then commits once more for the caller */
	REQUEST(.rq = 3, .done = 1560, .alloc = 1430, .tid = JBD2, .class = WIRE_WRITE_BARRIER, .flags = REQUEST_SEQUENCE,
		.pre = { .begin = 1431, .issue = 1440, .done = 1500 }, .data = { .issue = 1505, .done = 1555 });
	SLEEP(.tid = JBD2, .seq = 8, .off = 1030, .wake = 1100, .on = 1104, .rq = 1, .done = 1098);
	SLEEP(.tid = JBD2, .seq = 9, .off = 1110, .wake = 1416, .on = 1420, .rq = 2, .done = 1415);
	SLEEP(.tid = JBD2, .seq = 10, .off = 1435, .wake = 1560, .on = 1561, .rq = 3, .done = 1560);
	SLEEP(.tid = APP, .off = 1200, .wake = 1600, .on = 1605, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1190, .exit = 1610);
	ends_as("the tail of a neighbour's commit, then its own");
}

TEST(handles)
{
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	follow(OTHER, "hog", TASK_USER, 5);
	REQUEST(.rq = 5, .done = 1080, .alloc = 1035, .tid = OTHER, .class = WIRE_READ_SYNC,
		.data = { .issue = 1040, .done = 1078 });
	/* jbd2 waits for hog's handle; hog runs, reads a block, runs, is preempted and closes it */
	SLEEP(.tid = OTHER, .seq = 3, .off = 600, .wake = 1020, .on = 1022, .how = HOW_IRQ);
	SLEEP(.tid = OTHER, .seq = 4, .off = 1045, .wake = 1080, .on = 1085, .rq = 5, .done = 1080);
	SLEEP(.tid = OTHER, .seq = 5, .off = 1100, .wake = 1100, .on = 1110, .how = HOW_PREEMPTED);
	SLEEP(.tid = JBD2, .seq = 1, .off = 1015, .wake = 1150, .on = 1152, .waker = OTHER, .kind = TASK_USER,
	      .in = "jbd2_journal_wait_updates");
	SLEEP(.tid = JBD2, .seq = 2, .off = 1160, .wake = 1160, .on = 1161, .how = HOW_PREEMPTED);
	SLEEP(.tid = JBD2, .seq = 0, .off = 900, .wake = 1004, .on = 1006, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = APP, .off = 1005, .wake = 1190, .on = 1190, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a commit that waits for another's handle");
	/* Without a stack: jbd2 and a user task say enough. Its request is waited for twice, and its FLUSH counted once. */
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	REQUEST(.rq = 1, .done = 1060, .alloc = 905, .tid = JBD2, .class = WIRE_FLUSH,
		.flags = REQUEST_SEQUENCE | REQUEST_ONLY,
		.pre = { .begin = 906, .issue = 910, .done = 1060, .in_flight = 2 });
	SLEEP(.tid = JBD2, .seq = 3, .off = 1045, .wake = 1060, .on = 1060, .rq = 1, .done = 1060);
	SLEEP(.tid = JBD2, .seq = 2, .off = 900, .wake = 1030, .on = 1030, .rq = 1, .done = 1060);
	SLEEP(.tid = JBD2, .seq = 4, .off = 1070, .wake = 1080, .on = 1080, .waker = OTHER, .kind = TASK_USER);
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a handle of one who is not known, a FLUSH in two pieces");
}

TEST(journal_without_io)
{
	begin();
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1030, .on = 1031, .how = HOW_IRQ, .in = "jbd2_journal_stop");
	SLEEP(.tid = APP, .seq = 1, .off = 1040, .wake = 1060, .on = 1060, .waker = OTHER, .kind = TASK_USER,
	      .in = "start_this_handle");
	SLEEP(.tid = APP, .seq = 2, .off = 1070, .wake = 1080, .on = 1080, .waker = JBD2, .kind = TASK_KTHREAD,
	      .in = "jbd2_log_wait_commit");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("batching, room and a commit by nobody known");

	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 900);
	SLEEP(.tid = JBD2, .seq = 0, .off = 950, .wake = 1020, .on = 1020, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = JBD2, .seq = 1, .off = 1030, .wake = 1080, .on = 1080, .how = HOW_IRQ, .in = "__wait_on_buffer",
	      .of = "jbd2_journal_commit_transaction");
	SLEEP(.tid = APP, .seq = 0, .off = 1020, .wake = 1090, .on = 1090, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a commit's I/O whose end was missed is not its waiting for the journal");
}

TEST(journal_and_log)
{
	/* A commit before jbd2 is followed must not look like one without a flush. */
	begin();
	REQUEST(.rq = 1, .done = 1100, .alloc = 1010, .class = WIRE_WRITE_SYNC, .data = { .issue = 1012, .done = 1100 });
	SLEEP(.tid = APP, .seq = 0, .off = 1015, .wake = 1100, .on = 1110, .rq = 1, .done = 1100);
	SLEEP(.tid = APP, .seq = 1, .off = 1140, .wake = 1180, .on = 1180, .waker = JBD2, .kind = TASK_KTHREAD,
	      .in = "jbd2_log_wait_commit");
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a write, and a commit of which nothing is known");
	begin();
	follow(KWORKER, "kworker/u8:2-xfs-log", TASK_KWORKER, 5);
	REQUEST(.rq = 4, .done = 1300, .alloc = 1010, .class = WIRE_FUA, .flags = REQUEST_SEQUENCE,
		.pre = { .begin = 1011, .issue = 1030, .done = 1130 },
		.data = { .begin = 1132, .issue = 1140, .done = 1299 });
	SLEEP(.tid = KWORKER, .seq = 70, .off = 800, .wake = 1301, .on = 1305, .rq = 4, .done = 1300);
	SLEEP(.tid = APP, .off = 1015, .wake = 1310, .on = 1312, .waker = KWORKER, .kind = TASK_KWORKER);
	SYNC(.enter = 1000, .exit = 1320);
	ends_as("XFS: the log's end in a kworker");
}

/* ---- other tasks ---- */

TEST(locks)
{
	begin();
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1092, .waker = OTHER, .kind = TASK_USER, .in = "__mutex_lock");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a lock held by nobody known");
	begin();
	follow(OTHER, "hog", TASK_USER, 5);
	SLEEP(.tid = OTHER, .seq = 1, .off = 900, .wake = 1020, .on = 1030, .how = HOW_IRQ);
	SLEEP(.tid = OTHER, .seq = 2, .off = 1040, .wake = 1060, .on = 1061, .waker = APP + 1, .in = "down_write");
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1092, .waker = OTHER, .kind = TASK_USER, .in = "__mutex_lock");
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a lock held by one that is followed");
}

TEST(circles)
{
	begin();
	follow(OTHER, "hog", TASK_USER, 5);
	follow(KWORKER, "kworker/3:0", TASK_KWORKER, 5);
	SLEEP(.tid = KWORKER, .seq = 1, .off = 900, .wake = 1080, .on = 1081, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = OTHER, .seq = 1, .off = 900, .wake = 1085, .on = 1086, .waker = KWORKER, .kind = TASK_KWORKER);
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .kind = TASK_USER);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("tasks that wait for each other in a circle");
	begin();
	for (uint32_t i = 1; i <= 12; i++) {
		follow(300 + i, "link", TASK_USER, 5);
		SLEEP(.tid = 300 + i, .seq = 1, .off = 900, .wake = 1090 - i, .on = 1090 - i, .waker = 301 + i,
		      .kind = TASK_USER);
	}
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = 301, .kind = TASK_USER);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a chain deeper than we look");
	begin();
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1020, .on = 1020, .waker = OTHER, .kind = TASK_USER);
	SLEEP(.tid = APP, .seq = 1, .off = 1030, .wake = 1045, .on = 1045, .how = HOW_IRQ);
	SLEEP(.tid = APP, .seq = 2, .off = 1050, .on = 1070, .how = HOW_UNKNOWN);
	SLEEP(.tid = APP, .seq = 3, .off = 1080, .wake = 1083, .on = 1084, .rq = 99, .done = 1082);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("woken by a stranger, an interrupt, nobody, and a request without a record");
}

TEST(learned_helper)
{
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 1200);
	SLEEP(.tid = JBD2, .seq = 0, .off = 1250, .wake = 1260, .on = 1270, .how = HOW_IRQ,
	      .in = "jbd2_journal_commit_transaction");
	SLEEP(.tid = APP, .off = 1010, .wake = 1300, .on = 1300, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1000, .exit = 1310);
	ends_as("a helper that was just learned");
	begin();
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1090, .on = 1090, .waker = JBD2, .kind = TASK_KTHREAD);
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 1090);
	SYNC(.enter = 1000, .exit = 1100);
	/* and the next time its idle sleep has begun before it was followed */
	SLEEP(.tid = JBD2, .seq = 1, .off = 0, .wake = 1204, .on = 1206, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = APP, .seq = 1, .off = 1205, .wake = 1290, .on = 1290, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1200, .exit = 1300);
	ends_as("and the next time");
	begin();
	follow(OTHER, "hog", TASK_USER, 1030);
	SLEEP(.tid = OTHER, .seq = 0, .off = 0, .wake = 1060, .on = 1060, .how = HOW_IRQ, .in = "jbd2_journal_stop");
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .kind = TASK_USER);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("asleep when it was learned");
}

TEST(gap_of_helper)
{
	begin();
	follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
	SLEEP(.tid = JBD2, .seq = 7, .off = 900, .wake = 1009, .on = 1020, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = JBD2, .seq = 9, .off = 1060, .wake = 1060, .on = 1070, .how = HOW_PREEMPTED);
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = JBD2, .kind = TASK_KTHREAD);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("a gap in a helper's sleeps");
}

TEST(gap_of_caller)
{
	begin();
	SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1010, .on = 1020, .how = HOW_PREEMPTED);
	SLEEP(.tid = APP, .seq = 2, .off = 1050, .wake = 1050, .on = 1060, .how = HOW_PREEMPTED);
	SYNC(.enter = 1000, .exit = 1100);
	asked = 0;
	ends_as("a gap in the caller's own sleeps: no ledger");
	ok(report.sync.no_ledger == 1 && !report.sync.count, "but counted");
	SLEEP(.tid = APP, .seq = 4, .off = 1250, .wake = 1250, .on = 1260, .how = HOW_PREEMPTED);
	SYNC(.enter = 1200, .exit = 1300);
	asked = 0;
	ends_as("the first sleep of a call is missing");
	SLEEP(.tid = APP, .seq = 5, .off = 1450, .wake = 1450, .on = 1460, .how = HOW_PREEMPTED);
	SYNC(.enter = 1400, .exit = 1500);
	ends_as("and then all is well again");
	ok(report.sync.no_ledger == 2 && report.sync.count == 1, "two without a ledger, one with");
	ok(report.sync.without[NO_LEDGER_DROPPED] == 2 && report.sync.dropped_ns == 200, "of which facts were dropped");
}

TEST(caller_and_helper)
{
	begin();
	/* the other's call is over when the caller's ends: in it its sleeps are known, though it is followed only from its end */
	SLEEP(.tid = OTHER, .seq = 0, .off = 1030, .wake = 1030, .on = 1040, .how = HOW_PREEMPTED);
	follow(OTHER, "hog", TASK_USER, 1070);
	SYNC(.tid = OTHER, .enter = 1020, .exit = 1060, .ret = -5);
	SLEEP(.tid = APP, .off = 1010, .wake = 1080, .on = 1080, .waker = OTHER, .kind = TASK_USER);
	SYNC(.enter = 1000, .exit = 1100);
	ends_as("woken by another caller");
	ok(report.sync.n_processes == 2, "two processes");
}

TEST(sender)
{
	begin();
	follow(KWORKER, "kworker/u8:0", TASK_KWORKER, 5);
	SLEEP(.tid = KWORKER, .seq = 3, .off = 900, .wake = 1005, .on = 1015, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = KWORKER, .seq = 4, .off = 1030, .wake = 1030, .on = 1040, .how = HOW_PREEMPTED);
	SLEEP(.tid = KWORKER, .seq = 5, .off = 1060, .wake = 1060, .on = 1070, .how = HOW_PREEMPTED);
	REQUEST(.rq = 1, .done = 1190, .alloc = 1050, .tid = KWORKER, .class = WIRE_WRITE_ASYNC,
		.data = { .begin = 1080, .issue = 1090, .done = 1190 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a request that a kworker sends first");
	begin();
	REQUEST(.rq = 1, .done = 1190, .alloc = 1050, .tid = OTHER, .class = WIRE_FLUSH,
		.flags = REQUEST_ONLY | REQUEST_SEQUENCE, .pre = { .begin = 1080, .issue = 1090, .done = 1190 });
	follow(OTHER, "hog", TASK_USER, 5);
	SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("another's flush");
}

TEST(odd_requests)
{
	begin();
	REQUEST(.rq = 1, .done = 1190, .class = WIRE_WRITE_SYNC, .flags = REQUEST_NO_START,
		.data = { .begin = 1080, .issue = 1090, .done = 1170 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a request whose start is not known");
	begin();
	REQUEST(.rq = 1, .done = 1190, .alloc = 1005, .class = WIRE_WRITE_SYNC, .dev = WIRE_DEV(9, 9),
		.disk = WIRE_DEV(9, 0), .data = { .issue = 1090 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1195, .on = 1195, .rq = 1, .done = 1190);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a step without an end");
	begin();
	REQUEST(.rq = 1, .done = 1190, .alloc = 1005, .class = WIRE_WRITE_SYNC);
	SLEEP(.tid = APP, .off = 1010, .wake = 1195, .on = 1195, .rq = 1, .done = 1190);
	SYNC(.enter = 1000, .exit = 1200);
	ends_as("a request without a step");
}

TEST(uring)
{
	begin();
	follow(OTHER, "iou-wrk-100", TASK_USER, 5);
	REQUEST(.rq = 1, .done = 1125, .alloc = 1025, .tid = OTHER, .tgid = APP, .class = WIRE_FLUSH,
		.flags = REQUEST_SEQUENCE | REQUEST_ONLY, .pre = { .begin = 1026, .issue = 1030, .done = 1120 });
	SLEEP(.tid = OTHER, .seq = 3, .off = 900, .wake = 1008, .on = 1012, .waker = APP, .kind = TASK_USER);
	SLEEP(.tid = OTHER, .seq = 4, .off = 1028, .wake = 1125, .on = 1130, .rq = 1, .done = 1125);
	SYNC(.enter = 1000, .exit = 1140, .call = CALL_URING_FSYNC, .worker = OTHER);
	ends_as("io_uring: carried out by a worker");
	begin();
	SYNC(.enter = 1000, .exit = 1140, .call = CALL_URING_FSYNC, .worker = OTHER);
	ends_as("by a worker of whom nothing is known");
}

/* ---- names, groups, bounds ---- */

/* A call may sleep more often than any ring holds at first; beyond what is kept it has no ledger. */
TEST(many_sleeps)
{
	begin();
	for (uint32_t i = 0; i < 60000; i++)
		SLEEP(.tid = APP, .seq = i, .off = 1000 + 10 * i, .wake = 1000 + 10 * i, .on = 1001 + 10 * i,
		      .how = HOW_PREEMPTED);
	SYNC(.enter = 990, .exit = 601000);
	ends_as("60,000 sleeps in one call");
	for (uint32_t i = 60000; i < 160000; i++)
		SLEEP(.tid = APP, .seq = i, .off = 1000 + 10 * i, .wake = 1000 + 10 * i, .on = 1001 + 10 * i,
		      .how = HOW_PREEMPTED);
	SYNC(.enter = 600991, .exit = 1601000);
	asked -= 1601000 - 600991;
	ends_as("100,000 are too many");
	ok(report.sync.no_ledger == 1 && report.sync.without[NO_LEDGER_LIMIT] == 1 && !report.sync.dropped_ns,
	   "which is said");
}

/* The same facts without one of them: less is known, and still it adds up. */
TEST(without_one)
{
	unsigned int n = 1;
	bool good = true;

	for (skip_record = 1; skip_record <= n; skip_record++) {
		begin();
		follow(JBD2, "jbd2/sda1-8", TASK_KTHREAD, 5);
		commit_requests(JBD2);
		commit_sleeps();
		wait_for_commit(0);
		SYNC(.enter = 1000, .exit = 1510);
		n = seen_record;
		report_free(&report);
		sync_report(a, &report.sync, false);
		good = good && exact(&report.sync) && !sync_damaged(a) && report.sync.count == (skip_record < n);
	}
	skip_record = 0;
	ok(good, "any one of %u facts can be missing", n);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	report_free(&report);
	sync_free(a);
	return situations_done("ledgers");
}
