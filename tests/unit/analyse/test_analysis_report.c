// SPDX-License-Identifier: GPL-2.0-only
/* The report of calls that were fed one by one: sums, lists, stacks, and what the slowest have in common. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "tap.h"
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

static void take(struct sync_analysis *a, struct report *r)
{
	memset(r, 0, sizeof(*r));
	sync_report(a, &r->sync, false);
	sync_free(a);
}

static bool is(const char *have, const char *want)
{
	if (have && !strcmp(have, want))
		return true;
	diag("is %s, not %s", have ? have : "NULL", want);
	return false;
}

/* ---- calls ---- */

static void test_slowest(void)
{
	struct sync_analysis *a = fresh(2, false, false);
	struct wire_sync s = call_of(START + 50, 700, 30, 5);
	struct report r;

	sync_feed(a, &s.head);
	s = call_of(START + 900, 600, 31, 6);
	sync_feed(a, &s.head);
	s = call_of(START - 20, 800, 32, 7);
	sync_feed(a, &s.head);
	take(a, &r);
	ok(r.sync.n_slowest == 2 && r.sync.slowest[0].duration_ns == 800 && r.sync.slowest[1].duration_ns == 700,
	   "the slowest two of three");
	ok(r.sync.slowest[0].start_ns == 0 && r.sync.slowest[1].start_ns == 50, "from the run's start on");
	ok(r.sync.slowest[1].pid == 30 && r.sync.slowest[1].tid == 31 && is(r.sync.slowest[1].comm, "app30"),
	   "who made it");
	ok(is(r.sync.slowest[1].call, "fsync") && is(r.sync.slowest[1].device, "sda1") && r.sync.slowest[1].path,
	   "what, and where");
	ok(ledger_sum(&r.sync.slowest[0].ledger) == 800 && !r.sync.slowest[0].unsafe, "its time");
	ok(r.sync.count == 3 && r.sync.total_ns == 2100 && r.sync.calls[CALL_FSYNC] == 3 && r.sync.latency.count == 3,
	   "sums of all three");
	ok(!r.sync.tail.count, "three have no tail");
	report_free(&r);
}

static void test_samples(void)
{
	static const unsigned int n[] = { 1, CALL_SAMPLES - 1, CALL_SAMPLES, CALL_SAMPLES + 1, 3 * CALL_SAMPLES };

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		struct sync_analysis *a = fresh(2, false, false);
		uint64_t calls = 0, ns = 0;
		bool even = true;
		struct report r;

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
		report_free(&r);
	}
}

/* The first call of each turn takes longer. */
static void test_samples_of_regular_calls(void)
{
	struct sync_analysis *a = fresh(2, false, false);
	unsigned int with_long = 0, even = 0;
	struct report r;

	for (unsigned int k = 0; k < CALL_SAMPLES * CALL_SAMPLES; k++)
		feed(a, k % CALL_SAMPLES ? 10 : US, 1, 1);
	take(a, &r);
	for (size_t k = 0; k < r.sync.n_samples; k++) {
		even += r.sync.sample[k].count == CALL_SAMPLES;
		with_long += r.sync.sample[k].total_ns > 10 * CALL_SAMPLES;
	}
	ok(even == CALL_SAMPLES && with_long > CALL_SAMPLES / 2, "what is slow in turn is in most of the samples (%u)",
	   with_long);
	report_free(&r);
}

static void test_groups(void)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct wire_sync unsafe = call_of(START, 10, 7, 3);
	struct report r;

	feed(a, 100, 5, 1);
	feed(a, 300, 6, 2);
	feed(a, 150, 5, 1);
	unsafe.had = HAD_PAGES;
	sync_feed(a, &unsafe.head);
	take(a, &r);
	ok(r.sync.n_processes == 3 && r.sync.process[0].pid == 6 && r.sync.process[1].pid == 5 && r.sync.process[2].pid == 7,
	   "processes, most time first");
	ok(r.sync.process[1].count == 2 && r.sync.process[1].total_ns == 250 &&
		   ledger_sum(&r.sync.process[1].ledger) == 250 && r.sync.process[1].latency.count == 2 &&
		   r.sync.process[1].latency.max == 150,
	   "their sums");
	ok(is(r.sync.process[1].comm, "app5") && !r.sync.process[1].path && !r.sync.process[1].rest &&
		   !r.sync.process[1].late,
	   "their names");
	ok(r.sync.n_files == 3 && r.sync.file[0].total_ns == 300 && r.sync.file[1].count == 2 &&
		   is(r.sync.file[1].device, "sda1") && !r.sync.file[1].comm && !r.sync.file[1].pid,
	   "files, too, and where they are");
	ok(r.sync.file[2].unsafe == 1 && r.sync.file[2].unsafe_ns == 10 && !r.sync.file[1].unsafe &&
		   r.sync.unsafe == 1 && r.sync.unsafe_ns == 10,
	   "what was not flushed");
	ok(!r.sync.gone_files && !r.sync.gone_processes, "none gave way");
	report_free(&r);
}

/* ---- stacks ---- */

static void test_stacks(void)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct wire_sync odd = call_of(START, 50, 8, 4);
	struct report r;

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
	ok(r.sync.n_leaves == 4 && is(r.sync.leaf[0].path, "app5;fsync;log;cpu") && r.sync.leaf[0].ns == 400 &&
		   r.sync.leaf[0].each.count == 2 && r.sync.leaf[0].cause == CAUSE_CPU,
	   "files of one name in two folders are one, the most time first");
	ok(is(r.sync.leaf[1].path, "a_b_c;fsync;x_y__z ~;cpu") && r.sync.leaf[1].ns == 50,
	   "what would part frames or lines is replaced");
	ok(is(r.sync.leaf[2].path, "app7;fsync;w;cpu") && r.sync.leaf[2].ns == 30 && r.sync.leaf[2].each.count == 1 &&
		   is(r.sync.leaf[3].path, "app6;fsync;w;cpu") && r.sync.leaf[3].ns == 20,
	   "those behind the two that are one are there, too");
	report_free(&r);
}

/* A whole file system's root, as of syncfs. */
static void test_stack_of_root(void)
{
	static const struct device_name root = { .dev = SDA1, .name = "sda1", .mount = "/" };
	const struct sync_opts o = { .devices = &root, .n_devices = 1 };
	struct sync_analysis *a = sync_new(&o);
	struct wire_file f = { .head = { .kind = WIRE_FILE, .size = sizeof(f) }, .ino = 2, .dev = SDA1, .whole = 1 };
	struct report r;

	sync_feed(a, &f.head);
	feed(a, 10, 5, 2);
	take(a, &r);
	ok(r.sync.n_leaves == 1 && is(r.sync.leaf[0].path, "app5;fsync;/;cpu"), "the root has no name but a slash");
	report_free(&r);
}

/* Many files of one name: the hash table has them in no order. */
static void test_stacks_of_one_name(void)
{
	struct sync_analysis *a = fresh(9, false, false);
	char dir[16];
	struct report r;

	for (unsigned int i = 0; i < 60; i++) {
		snprintf(dir, sizeof(dir), "d%u", i);
		name_file(a, 1 + i, i % 3 ? "log" : "data", dir);
		feed(a, 100 + i, 5 + i % 2, 1 + i);
	}
	take(a, &r);
	ok(r.sync.n_leaves == 4 && is(r.sync.leaf[0].path, "app5;fsync;log;cpu") && r.sync.leaf[0].each.count == 20 &&
		   r.sync.leaf[0].ns == 2600 && is(r.sync.leaf[1].path, "app6;fsync;log;cpu") && r.sync.leaf[1].ns == 2600,
	   "sixty files of two names, by two processes: four stacks");
	ok(is(r.sync.leaf[2].path, "app6;fsync;data;cpu") && r.sync.leaf[2].ns == 1300 &&
		   is(r.sync.leaf[3].path, "app5;fsync;data;cpu") && r.sync.leaf[3].ns == 1270,
	   "by their time");
	report_free(&r);
}

/* ---- the tail ---- */

static void test_how_many(void)
{
	static const struct {
		unsigned int calls, slowest;
		uint64_t tail;
	} rows[] = { { 19, 9, 0 },  { 20, 9, 1 },  { 100, 9, 1 }, { 101, 9, 2 },
		     { 200, 9, 2 }, { 200, 2, 2 }, { 20, 0, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sync_analysis *a = fresh(rows[i].slowest, false, false);
		struct report r;

		for (unsigned int k = 1; k <= rows[i].calls; k++)
			feed(a, k * US, 1, 1);
		take(a, &r);
		ok(r.sync.tail.count == rows[i].tail, "of %u calls the tail is %llu", rows[i].calls,
		   (unsigned long long)r.sync.tail.count);
		if (rows[i].tail)
			ok(r.sync.tail.threshold_ns == (rows[i].calls + 1 - rows[i].tail) * US &&
				   r.sync.tail.total_ns == (rows[i].tail * rows[i].calls - (rows[i].tail == 2)) * US &&
				   ledger_sum(&r.sync.tail.ledger) == r.sync.tail.total_ns &&
				   r.sync.tail.median_ns * 100 > rows[i].calls * 48 * US &&
				   r.sync.tail.median_ns * 100 < rows[i].calls * 54 * US,
			   "what they add up to, and the median of all");
		report_free(&r);
	}
}

/* 500 calls, the slowest five of them the tail. `in` of these and `others` of the rest are by process 9 on file 9, all others by 1 on 1. */
static void has_in_common(unsigned int in, unsigned int others, bool common)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct report r;

	for (unsigned int k = 0; k < 500; k++) {
		bool slow = k < 5, nine = slow ? k < in : k - 5 < others;

		feed(a, slow ? 9 * US : US, nine ? 9 : k, nine ? 9 : 1000 + k);
	}
	take(a, &r);
	ok(r.sync.tail.count == 5 && !r.sync.tail.comm == !common && !r.sync.tail.path == !common &&
		   r.sync.tail.pid == (common ? 9 : 0),
	   "%u of the five and %u of the rest are %s", in, others, common ? "in common" : "not in common");
	report_free(&r);
}

/* 900 calls, the slowest nine of them the tail. `in` of these are by process 9; all others by process 1, which has more time in all. */
static void in_common_beside_another(unsigned int in, bool common)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct report r;

	for (unsigned int k = 0; k < 900; k++)
		feed(a, k < 9 ? 9 * US : US, k < in ? 9 : 1, k < in ? 9 : 1);
	take(a, &r);
	ok(r.sync.tail.count == 9 && !r.sync.tail.comm == !common && !r.sync.tail.path == !common &&
		   r.sync.tail.pid == (common ? 9 : 0),
	   "%u of the slowest nine are %s", in,
	   common ? "in common, though another has more time" : "more than half, not three fifths");
	report_free(&r);
}

static void test_in_common(void)
{
	has_in_common(5, 0, true);
	has_in_common(3, 0, true); /* three fifths */
	has_in_common(2, 0, false);
	has_in_common(3, 148, true); /* half as much of the rest: 3 / 5 / 2 of 495 are 148.5 */
	has_in_common(3, 149, false);
	has_in_common(4, 198, true); /* 198 exactly */
	has_in_common(4, 199, false);
	has_in_common(5, 247, true); /* 247.5 */
	has_in_common(5, 248, false);
	in_common_beside_another(5, false);
	in_common_beside_another(6, true);
}

/* Numbers come back as other programs, and programs have many processes: both have to be the same. */
static void test_same_process(void)
{
	static const struct {
		uint32_t pid;
		const char *comm;
	} slow[] = { { 9, "one" }, { 9, "one" }, { 9, "two" }, { 10, "one" }, { 11, "three" } };
	struct sync_analysis *a = fresh(9, false, false);
	struct report r;

	for (unsigned int k = 0; k < 500; k++) {
		struct wire_sync s = call_of(START + k * 10 * US, k < 5 ? 9 * US : US, 1000 + k, 1);

		if (k < 5) {
			s.tgid = slow[k].pid;
			strcpy(s.comm, slow[k].comm);
		}
		sync_feed(a, &s.head);
	}
	take(a, &r);
	ok(r.sync.tail.count == 5 && !r.sync.tail.comm && !r.sync.tail.pid, "two of the slowest five are of one process");
	report_free(&r);
}

#define FILES 2047u /* that have lines of their own */

/* 25 slow calls by process 2, when there is no room for lines of more files. */
static void slow_in_a_crowd(uint64_t at, bool one_file, bool gives_way, const char *what)
{
	struct sync_analysis *a = fresh(50, false, false);
	struct report r;

	for (uint32_t k = 0; k < FILES; k++) {
		struct wire_sync s = call_of(START, k ? US : 900 * US, 1, 1 + k);

		sync_feed(a, &s.head);
	}
	for (uint32_t k = 0; k < 25; k++) {
		struct wire_sync s = call_of(at + k, 1000 * US, 2, one_file ? 9000 : 9000 + k);

		sync_feed(a, &s.head);
	}
	take(a, &r);
	ok(!r.sync.gone_files == !gives_way && r.sync.tail.count == 21 && is(r.sync.tail.comm, "app2") && !r.sync.tail.path,
	   "%s", what);
	report_free(&r);
}

static void test_in_common_in_a_crowd(void)
{
	slow_in_a_crowd(START, false, false, "files that have no line are nothing in common");
	slow_in_a_crowd(START + 130000000 * US, true, true,
			"nor is one that came when others gave way: it may have been among them");
}

/* ---- the whole ---- */

static void test_start_over(void)
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
static void test_tail_of_intervals(void)
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
	ok(r.sync.tail.count == 2 && r.sync.tail.total_ns == 18 * US && r.sync.tail.threshold_ns == 9 * US,
	   "an interval's tail is of its own calls");
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

static void test_helpers_of_intervals(void)
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

static void test_overwritten(void)
{
	struct sync_analysis *a = fresh(9, false, false);
	struct report r = { 0 };

	memset(&r.sync, 0xff, sizeof(r.sync));
	sync_report(a, &r.sync, false);
	ok(!r.sync.lost && !r.sync.tail.count && !r.sync.heat && !r.sync.n_other, "whatever was in a report before");
	report_free(&r);
	sync_free(a);
}

static void test_detail(void)
{
	struct sync_analysis *a = fresh(9, false, true);
	struct report_detail *d;

	feed(a, US, 1, 1);
	d = sync_take_detail(a);
	ok(d && d->n_calls == 1, "every call");
	report_detail_free(d);
	ok(!sync_take_detail(a), "is taken once");
	sync_free(a);
	a = fresh(9, false, false);
	ok(!sync_take_detail(a), "and is not there where nobody asked for it");
	sync_free(a);
}

int main(void)
{
	test_slowest();
	test_samples();
	test_samples_of_regular_calls();
	test_groups();
	test_stacks();
	test_stack_of_root();
	test_stacks_of_one_name();
	test_how_many();
	test_in_common();
	test_same_process();
	test_in_common_in_a_crowd();
	test_start_over();
	test_tail_of_intervals();
	test_helpers_of_intervals();
	test_overwritten();
	test_detail();
	return tap_done();
}
