// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report of calls that were fed one by one: sums, lists, stacks, and what the slowest have in common: golden/analysis_report.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "situations.h"
#include "wire.h"

#define US    1000ull
#define START 1000000000ull
#define SDA1  WIRE_DEV(8, 1)
#define SDB   WIRE_DEV(8, 16)

static const struct device_name devices[] = {
	{ .dev = SDA1, .name = "sda1", .mount = "/srv", .fstype = "ext4", .traced = true, .volatile_cache = true },
	{ .dev = SDB, .name = "sdb", .mount = "/mnt", .fstype = "ext4" },
};

static struct sync_analysis *fresh(unsigned int slowest, bool only_traced, bool detail)
{
	const struct sync_opts o = { .start_ns = START,
				     .devices = devices,
				     .n_devices = 2,
				     .slowest = slowest,
				     .only_traced = only_traced,
				     .detail = detail };

	return sync_new(&o);
}

static struct wire_sync call_of(uint64_t enter, uint64_t ns, uint32_t pid, uint64_t ino)
{
	struct wire_sync s = { .head = { .kind = WIRE_SYNC, .size = sizeof(s) }, .enter = enter, .exit = enter + ns };

	s.tid = pid + 1;
	s.tgid = pid;
	s.dev = SDA1;
	s.ino = ino;
	s.call = CALL_FSYNC;
	snprintf(s.comm, sizeof(s.comm), "app%u", pid);
	return s;
}

/* One after the other. */
static void feed(struct sync_analysis *a, uint64_t ns, uint32_t pid, uint64_t ino)
{
	static uint64_t at = START;
	struct wire_sync s = call_of(at, ns, pid, ino);

	at += ns + US;
	sync_feed(a, &s.head);
}

static void name_file(struct sync_analysis *a, uint64_t ino, const char *name, const char *dir)
{
	struct wire_file f = { .head = { .kind = WIRE_FILE, .size = sizeof(f) }, .ino = ino, .dev = SDA1, .n = 2, .whole = 1 };

	strcpy(f.name[0], name);
	strcpy(f.name[1], dir);
	sync_feed(a, &f.head);
}

static void say_group(const char *kind, const struct report_group *g)
{
	SAY("  %s %s (%u) on %s: %llu of %llu ns, %llu at most; unsafe %llu of %llu ns%s%s\n", kind,
	    g->path ? g->path : g->comm, g->pid, g->device ? g->device : "-", (unsigned long long)g->count,
	    (unsigned long long)g->total_ns, (unsigned long long)g->latency.max, (unsigned long long)g->unsafe,
	    (unsigned long long)g->unsafe_ns, g->rest ? ", the rest" : "", g->late ? ", late" : "");
}

static void say_tail(const struct report_tail *t)
{
	SAY("  tail of %llu: %llu ns, each %llu and more, the median %llu", (unsigned long long)t->count,
	    (unsigned long long)t->total_ns, (unsigned long long)t->threshold_ns, (unsigned long long)t->median_ns);
	SAY("; in common %s (%u), %s\n", t->comm ? t->comm : "-", t->pid, t->path ? t->path : "-");
}

static void say_stacks(const struct report_sync *s)
{
	for (size_t i = 0; i < s->n_leaves; i++)
		SAY("  %s %llu, %llu times\n", s->leaf[i].path, (unsigned long long)s->leaf[i].ns,
		    (unsigned long long)s->leaf[i].each.count);
}

/* All but the stacks. */
static void say(const struct report_sync *s, const char *what)
{
	SAY("%s:\n  %llu calls, %llu ns\n", what, (unsigned long long)s->count, (unsigned long long)s->total_ns);
	for (size_t i = 0; i < s->n_slowest; i++) {
		const struct report_call *c = &s->slowest[i];

		SAY("  slow: %llu ns at %llu, %s of %s (%u, %u) on %s (%s)%s\n", (unsigned long long)c->duration_ns,
		    (unsigned long long)c->start_ns, c->call, c->comm, c->pid, c->tid, c->path, c->device,
		    c->unsafe ? ", unsafe" : "");
		ok(ledger_sum(&c->ledger) == c->duration_ns, "%s: its time", what);
	}
	for (size_t i = 0; i < s->n_processes; i++)
		say_group("process", &s->process[i]);
	for (size_t i = 0; i < s->n_files; i++)
		say_group("file", &s->file[i]);
	if (s->tail.count)
		say_tail(&s->tail);
}

static void take(struct sync_analysis *a, struct report *r)
{
	memset(r, 0, sizeof(*r));
	sync_report(a, &r->sync, false);
	sync_free(a);
}

/* ---- calls ---- */

TEST(slowest)
{
	struct sync_analysis *a = fresh(2, false, false);
	struct wire_sync s = call_of(START + 50, 700, 30, 5);
	FREED(report) struct report r;

	sync_feed(a, &s.head);
	s = call_of(START + 900, 600, 31, 6);
	sync_feed(a, &s.head);
	s = call_of(START - 20, 800, 32, 7);
	sync_feed(a, &s.head);
	take(a, &r);
	say(&r.sync, "the slowest two of three, and the sums of all");
}

TEST(samples)
{
	static const unsigned int n[] = { 1, CALL_SAMPLES - 1, CALL_SAMPLES, CALL_SAMPLES + 1, 3 * CALL_SAMPLES };

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		struct sync_analysis *a = fresh(2, false, false);
		uint64_t calls = 0, ns = 0;
		bool even = true;
		FREED(report) struct report r;

		for (unsigned int k = 0; k < n[i]; k++)
			feed(a, US, 1, 1);
		take(a, &r);
		for (size_t k = 0; k < r.sync.n_samples; k++) {
			calls += r.sync.sample[k].count;
			ns += r.sync.sample[k].total_ns;
			even = even && r.sync.sample[k].count - n[i] / CALL_SAMPLES <= 1;
		}
		ok(even && r.sync.n_samples == (n[i] < CALL_SAMPLES ? n[i] : CALL_SAMPLES) && calls == n[i] &&
			   ns == n[i] * US,
		   "%u calls in samples", n[i]);
	}
}

/* The first call of each turn takes longer. */
TEST(samples_of_regular_calls)
{
	struct sync_analysis *a = fresh(2, false, false);
	unsigned int with_long = 0, even = 0;
	FREED(report) struct report r;

	for (unsigned int k = 0; k < CALL_SAMPLES * CALL_SAMPLES; k++)
		feed(a, k % CALL_SAMPLES ? 10 : US, 1, 1);
	take(a, &r);
	for (size_t k = 0; k < r.sync.n_samples; k++) {
		even += r.sync.sample[k].count == CALL_SAMPLES;
		with_long += r.sync.sample[k].total_ns > 10 * CALL_SAMPLES;
	}
	ok(even == CALL_SAMPLES && with_long > CALL_SAMPLES / 2, "what is slow in turn is in most of the samples (%u)",
	   with_long);
}

TEST(groups)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct wire_sync unsafe = call_of(START, 10, 7, 3);
	FREED(report) struct report r;

	feed(a, 100, 5, 1);
	feed(a, 300, 6, 2);
	feed(a, 150, 5, 1);
	unsafe.had = HAD_PAGES;
	sync_feed(a, &unsafe.head);
	take(a, &r);
	say(&r.sync, "processes and files, most time first");
}

/* ---- stacks ---- */

TEST(stacks)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct wire_sync odd = call_of(START, 50, 8, 4);
	FREED(report) struct report r;

	name_file(a, 1, "log", "a");
	name_file(a, 3, "w", "a");
	name_file(a, 2, "log", "b");
	name_file(a, 4, "x;y\x7f\x1fz ~", "c");
	feed(a, 100, 5, 1);
	strcpy(odd.comm, "a;b\nc");
	sync_feed(a, &odd.head);
	feed(a, 300, 5, 2);
	feed(a, 20, 6, 3);
	feed(a, 30, 7, 3);
	take(a, &r);
	SAY("files of one name in two folders are one; what would part frames or lines is replaced:\n");
	say_stacks(&r.sync);
}

/* A whole file system's root, as of syncfs. */
TEST(stack_of_root)
{
	static const struct device_name root = { .dev = SDA1, .name = "sda1", .mount = "/" };
	const struct sync_opts o = { .devices = &root, .n_devices = 1 };
	struct sync_analysis *a = sync_new(&o);
	struct wire_file f = { .head = { .kind = WIRE_FILE, .size = sizeof(f) }, .ino = 2, .dev = SDA1, .whole = 1 };
	FREED(report) struct report r;

	sync_feed(a, &f.head);
	feed(a, 10, 5, 2);
	take(a, &r);
	SAY("the root has no name but a slash:\n");
	say_stacks(&r.sync);
}

/* Many files of one name: the hash table has them in no order. */
TEST(stacks_of_one_name)
{
	struct sync_analysis *a = fresh(9, false, false);
	char dir[16];
	FREED(report) struct report r;

	for (unsigned int i = 0; i < 60; i++) {
		snprintf(dir, sizeof(dir), "d%u", i);
		name_file(a, 1 + i, i % 3 ? "log" : "data", dir);
		feed(a, 100 + i, 5 + i % 2, 1 + i);
	}
	take(a, &r);
	SAY("sixty files of two names, by two processes:\n");
	say_stacks(&r.sync);
}

/* ---- the tail ---- */

TEST(how_many)
{
	static const unsigned int rows[][2] = { { 19, 9 },  { 20, 9 },	{ 100, 9 }, { 101, 9 },
						{ 200, 9 }, { 200, 2 }, { 20, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sync_analysis *a = fresh(rows[i][1], false, false);
		FREED(report) struct report r;

		for (unsigned int k = 1; k <= rows[i][0]; k++)
			feed(a, k * US, 1, 1);
		take(a, &r);
		SAY("%u calls, of which %u are kept:\n", rows[i][0], rows[i][1]);
		say_tail(&r.sync.tail);
		ok(ledger_sum(&r.sync.tail.ledger) == r.sync.tail.total_ns, "what they add up to");
	}
}

/* `n` calls, `slow` of them slow. `in` of these and `others` of the rest are by process 9 on file 9, all others by others, or by process 1. */
static void in_common(unsigned int n, unsigned int slow, unsigned int in, unsigned int others, bool by_one)
{
	struct sync_analysis *a = fresh(9, false, false);
	FREED(report) struct report r;

	for (unsigned int k = 0; k < n; k++) {
		bool nine = k < slow ? k < in : k - slow < others;

		feed(a, k < slow ? 9 * US : US, nine ? 9 : by_one ? 1 : k, nine ? 9 : by_one ? 1 : 1000 + k);
	}
	take(a, &r);
	SAY("%u of %u slow ones and %u of the rest, %s:\n", in, slow, others,
	    by_one ? "the others by one" : "the others by many");
	say_tail(&r.sync.tail);
}

/* Three fifths of the slow ones, and of the rest no more than half as large a part. */
TEST(in_common)
{
	static const unsigned int rows[][2] = { { 5, 0 },   { 3, 0 },	{ 2, 0 },   { 3, 148 }, { 3, 149 },
						{ 4, 198 }, { 4, 199 }, { 5, 247 }, { 5, 248 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		in_common(500, 5, rows[i][0], rows[i][1], false);
	in_common(900, 9, 5, 0, true);
	in_common(900, 9, 6, 0, true);
}

/* Numbers come back as other programs, and programs have many processes: both have to be the same. */
TEST(same_process)
{
	static const struct {
		uint32_t pid;
		const char *comm;
	} slow[] = { { 9, "one" }, { 9, "one" }, { 9, "two" }, { 10, "one" }, { 11, "three" } };
	struct sync_analysis *a = fresh(9, false, false);
	FREED(report) struct report r;

	for (unsigned int k = 0; k < 500; k++) {
		struct wire_sync s = call_of(START + k * 10 * US, k < 5 ? 9 * US : US, 1000 + k, 1);

		if (k < 5) {
			s.tgid = slow[k].pid;
			strcpy(s.comm, slow[k].comm);
		}
		sync_feed(a, &s.head);
	}
	take(a, &r);
	SAY("two of the slowest five are of one process:\n");
	say_tail(&r.sync.tail);
}

#define FILES 2047u /* that have lines of their own */

/* 25 slow calls by process 2, when there is no room for lines of more files. */
static void slow_in_a_crowd(uint64_t at, bool one_file, bool gives_way, const char *what)
{
	struct sync_analysis *a = fresh(50, false, false);
	FREED(report) struct report r;

	for (uint32_t k = 0; k < FILES; k++) {
		struct wire_sync s = call_of(START, k ? US : 900 * US, 1, 1 + k);

		sync_feed(a, &s.head);
	}
	for (uint32_t k = 0; k < 25; k++) {
		struct wire_sync s = call_of(at + k, 1000 * US, 2, one_file ? 9000 : 9000 + k);

		sync_feed(a, &s.head);
	}
	take(a, &r);
	ok(!r.sync.gone_files == !gives_way, "%s", what);
	SAY("%s:\n", what);
	say_tail(&r.sync.tail);
}

TEST(in_common_in_a_crowd)
{
	slow_in_a_crowd(START, false, false, "files that have no line are nothing in common");
	slow_in_a_crowd(START + 130000000 * US, true, true,
			"nor is one that came when others gave way: it may have been among them");
}

/* ---- the whole ---- */

TEST(start_over)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct wire_sync others = call_of(START, 70, 7, 3);
	struct report r = { 0 };

	for (int i = 0; i < 30; i++)
		feed(a, US, 1, 1);
	others.other = 1;
	sync_feed(a, &others.head);
	sync_report(a, &r.sync, false);
	ok(r.sync.count == 30 && r.sync.others == 1 && r.sync.n_other == 1, "a look at the calls");
	report_free(&r);
	sync_report(a, &r.sync, true);
	ok(r.sync.count == 30 && r.sync.n_slowest == 9 && r.sync.tail.count, "leaves them");
	report_free(&r);
	sync_report(a, &r.sync, false);
	ok(!r.sync.count && !r.sync.n_processes && !r.sync.n_files && !r.sync.n_leaves && !r.sync.n_slowest &&
		   !r.sync.latency.count && !r.sync.tail.count && !r.sync.heat && !r.sync.others && !r.sync.n_other,
	   "an interval's report starts over");
	report_free(&r);
	feed(a, US, 1, 1);
	sync_report(a, &r.sync, false);
	ok(r.sync.count == 1 && r.sync.n_processes == 1 && r.sync.n_files == 1 && r.sync.n_leaves == 1 &&
		   r.sync.process[0].count == 1,
	   "with what comes then");
	report_free(&r);
	sync_free(a);
}

/* The slowest two of 200 are more than are kept whole. */
TEST(tail_of_intervals)
{
	struct sync_analysis *a = fresh(1, false, false);
	struct report r;

	for (unsigned int i = 0; i < 200; i++)
		feed(a, 50 * US, 1, 1);
	memset(&r, 0, sizeof(r));
	sync_report(a, &r.sync, true);
	report_free(&r);
	for (unsigned int i = 0; i < 200; i++)
		feed(a, i < 2 ? 9 * US : US, 1, 1);
	take(a, &r);
	SAY("an interval's tail is of its own calls:\n");
	say_tail(&r.sync.tail);
	report_free(&r);
}

static void wait_through(struct sync_analysis *a, uint64_t at, uint32_t seq, unsigned int helper)
{
	struct wire_follow f = { .head = { .kind = WIRE_FOLLOW, .size = sizeof(f) }, .since = at, .kind = TASK_KTHREAD };
	struct wire_sleep sleep = { .head = { .kind = WIRE_SLEEP, .size = WIRE_SLEEP_SHORT },
				    .off = at,
				    .wake = at + 10,
				    .on = at + 10,
				    .tid = 2,
				    .seq = seq,
				    .how = HOW_TASK };
	struct wire_sync s = call_of(at, 10, 1, 1);

	f.tid = f.tgid = sleep.waker = 1000 + helper;
	snprintf(f.comm, sizeof(f.comm), "helper%u", helper);
	s.sleeps = s.switches = 1;
	sync_feed(a, &f.head);
	sync_feed(a, &sleep.head);
	sync_feed(a, &s.head);
}

static bool has_stack(const struct report *r, const char *path)
{
	for (size_t i = 0; i < r->sync.n_leaves; i++)
		if (!strcmp(r->sync.leaf[i].path, path))
			return true;
	return false;
}

#define HELPERS 4200u /* more than there is room for in stacks */

TEST(helpers_of_intervals)
{
	struct sync_analysis *a = fresh(1, false, false);
	struct report r = { 0 };

	for (unsigned int i = 0; i < HELPERS; i++)
		wait_through(a, START + 100 * i, i, i);
	sync_report(a, &r.sync, true);
	ok(has_stack(&r, "app1;fsync;8:1:1;helper0;unknown") && !has_stack(&r, "app1;fsync;8:1:1;helper4199;unknown"),
	   "of more helpers than there is room for the last have no name");
	report_free(&r);
	wait_through(a, START + 100 * HELPERS, HELPERS, HELPERS);
	take(a, &r);
	ok(has_stack(&r, "app1;fsync;8:1:1;helper4200;unknown"), "an interval has room for others");
	report_free(&r);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("analysis_report");
}
