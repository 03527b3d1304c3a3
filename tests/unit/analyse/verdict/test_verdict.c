// SPDX-License-Identifier: GPL-2.0-only
/* The verdict on reports made by hand: every class, the borders between them, and reports with hardly anything in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "util/mem.h"
#include "tap.h"
#include "verdict_report.h"

/* ---- checks ---- */

static bool words_are_there(const struct report_verdict *v)
{
	bool good = v->sentence && strlen(v->sentence) > 20 && v->sentence[strlen(v->sentence) - 1] == '.';

	for (char **s = v->evidence; s && *s; s++)
		good = good && **s;
	good = good && strv_len(v->advice) > 0;
	return good && !strstr(v->sentence, "nan") && !strstr(v->sentence, "(null)");
}

static bool says(char **v, const char *what)
{
	for (; v && *v; v++)
		if (strstr(*v, what))
			return true;
	return false;
}

static void show(const struct report_verdict *v)
{
	diag("%s %.3f: %s", v->class ? v->class : "-", v->share, v->sentence ? v->sentence : "-");
	for (char **s = v->evidence; s && *s; s++)
		diag("  %s", *s);
}

static void is_str(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what))
		diag("is %s", have ? have : "NULL");
}

/* Where there is nothing to have a part of, there is none: not 0. */
static bool share_fits(const struct report_verdict *v)
{
	if (!strcmp(v->class, "no-sync") || !strcmp(v->class, "too-little-data"))
		return isnan(v->share);
	return v->share >= 0 && v->share <= 1;
}

/* Judges; the report stays for further questions. */
static bool judged(struct report *r, const char *class, const char *family, const char *what)
{
	const struct report_verdict *v = &r->verdict;
	bool good;

	verdict_make(r);
	good = r->have_verdict && !strcmp(v->class, class) && words_are_there(v) && share_fits(v) &&
	       (family ? v->family && !strcmp(v->family, family) : !v->family);
	if (!ok(good, "%s: %s", class, what) || getenv("VERBOSE"))
		show(v);
	return good;
}

static void expect(struct report *r, const char *class, const char *family, const char *what)
{
	judged(r, class, family, what);
	drop(r);
}

/* ---- each class ---- */

static struct report *slow_flush(void)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, 7 * MS);
	ops(d, OP_WRITE_BARRIER, 100, 200 * US);
	spend(r, CAUSE_FLUSH_PRE, 300);
	spend(r, CAUSE_FLUSH_POST, 300);
	spend(r, CAUSE_FLUSH_ONLY, 200);
	spend(r, CAUSE_FLUSH_WAIT, 110);
	spend(r, CAUSE_DEVICE_WRITE, 60);
	spend(r, CAUSE_CPU, 30);
	r->sync.flush_own_ns = 910 * MS;
	r->sync.busy_flushes = 100;
	return r;
}

static void test_flush(void)
{
	struct report *r = slow_flush();

	judged(r, "device-flush", "flush", "most of the time in FLUSHes, nothing beside them");
	ok(r->verdict.share > 0.909 && r->verdict.share < 0.911, "its share is the family's");
	ok(!strcmp(r->verdict.sentence, "Your fsyncs are slow because the drive takes 7.00 ms to empty its write cache: 91.0 % "
					"of the 1.00 s that sqlite3 spent in fdatasync."),
	   "its sentence");
	ok(says(r->verdict.evidence, "kernel itself counted 100"), "the kernel's own count is among the evidence");
	ok(says(r->verdict.evidence, "unknown 0 %"), "unknown is among the evidence, also when it is nothing");
	ok(says(r->verdict.advice, "power cut"), "the risk of barrier=0 is told");
	drop(r);

	r = slow_flush();
	r->sync.flush_own_ns = 300 * MS;
	r->sync.flush_foreign_ns = 610 * MS;
	add_process(r, "fio", 77, 900, SEC / 20);
	judged(r, "device-flush", "flush", "a neighbour's flushes");
	ok(says(r->verdict.evidence, "fio (pid 77, 900 calls"), "the neighbour is named");
	ok(says(r->verdict.evidence, "67.0 %"), "and its share of the flush time");
	drop(r);

	r = slow_flush();
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-flush", "flush", "30 quick writes in front don't make a FLUSH of 7 ms");

	r = slow_flush();
	r->sync.count = 10000;
	judged(r, "device-flush", "flush", "quick calls");
	ok(strstr(r->verdict.sentence, "quick") && !strstr(r->verdict.sentence, "slow because"), "aren't called slow");
	drop(r);

	r = slow_flush(); /* none was seen to be issued, and the device was idle for most of the time */
	r->sync.busy_flushes = 0;
	r->device[0].flush.no_depth = 100;
	judged(r, "device-flush", "flush", "what was in the drive beside a FLUSH is not known");
	ok(!says(r->verdict.evidence, "other requests were in the drive"), "and then nothing is said of it");
	drop(r);
}

/* 100 FLUSHes in a mirror of two legs. */
static struct report *mirror(uint64_t first_ns, uint64_t second_ns)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "md0", "write back");

	d->bio_based = true;
	d->kernel.have_flush = false;
	strv_add(&d->slaves, xstrdup("nvme0n1p2"));
	strv_add(&d->slaves, xstrdup("sdb1"));
	ops(d, OP_FLUSH, 100, first_ns > second_ns ? first_ns : second_ns);
	ops(add_device(r, "nvme0n1", "write back"), OP_FLUSH, 100, first_ns);
	ops(add_device(r, "sdb", "write back"), OP_FLUSH, 100, second_ns);
	spend(r, CAUSE_FLUSH_ONLY, 910);
	spend(r, CAUSE_CPU, 90);
	return r;
}

static void test_stacks(void)
{
	struct report *r = mirror(1 * MS, 9 * MS);

	judged(r, "device-flush", "flush", "a mirror with a slow leg");
	ok(says(r->verdict.evidence, "md0 lies on several disks, and sdb is the slow one: a FLUSH takes 9.00 ms (mean) in it, "
				     "1.00 ms in nvme0n1"),
	   "the leg is named");
	ok(says(r->verdict.evidence, "sdb did 100 FLUSHes"), "and the disk that it is about");
	drop(r);

	r = mirror(9 * MS, 8 * MS);
	judged(r, "device-flush", "flush", "a mirror with equal legs");
	ok(!says(r->verdict.evidence, "slow one"), "has no slow one");
	drop(r);

	r = mirror(20 * US, 30 * US);
	ops(&r->device[0], OP_FLUSH, 100, 9 * MS);
	judged(r, "device-flush", "flush", "a disk that is slow itself, not those below it");
	ok(strstr(r->verdict.sentence, "md0 takes"), "is named in the sentence");
	ok(says(r->verdict.evidence, "md0 did 200 FLUSHes") && !says(r->verdict.evidence, "kernel itself"),
	   "the kernel doesn't count its FLUSHes");
	drop(r);

	r = mirror(1 * MS, 2 * MS);
	strv_add(&r->device[1].slaves, xstrdup("md0"));
	r->device[1].bio_based = r->device[2].bio_based = true;
	strv_add(&r->device[2].slaves, xstrdup("nvme0n1"));
	expect(r, "device-flush", "flush", "disks that lie on each other in a circle");
}

static struct report *in_a_queue(uint64_t others, uint64_t flush_ns, uint64_t write_ns)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, flush_ns);
	ops(d, OP_WRITE_SYNC, 5000, write_ns);
	spend(r, CAUSE_FLUSH_PRE, 450);
	spend(r, CAUSE_DEVICE_WRITE, 450);
	spend(r, CAUSE_CPU, 100);
	r->sync.busy_flushes = 100;
	r->sync.busy_in_flight = 100 * others;
	return r;
}

static void test_busy(void)
{
	struct report *r;

	expect(in_a_queue(127, 143 * MS, 160 * MS), "device-busy", "device", "128 tags full of others' writes");
	expect(in_a_queue(3, 24 * MS, 35 * MS), "device-busy", "device", "4 tags full of others' writes");
	expect(in_a_queue(0, 24 * MS, 35 * MS), "mixed", NULL, "the same times with nobody else there");
	expect(in_a_queue(1, 24 * MS, 35 * MS), "mixed", NULL, "the same times with one other");
	r = in_a_queue(46, 1300 * US, 67 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 4000);
	judged(r, "device-busy", "device", "a FLUSH that goes past the others' writes");
	ok(says(r->verdict.evidence, "46.0 other requests were in the drive on average") &&
		   !says(r->verdict.evidence, "in their queue"),
	   "did not wait in their queue");
	drop(r);
}

static void test_device(void)
{
	struct report *r = start();

	ops(add_device(r, "sda", "write back"), OP_WRITE_BARRIER, 100, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 800);
	spend(r, CAUSE_FLUSH_POST, 200);
	expect(r, "device-write", "device", "slow writes");

	r = start();
	ops(add_device(r, "sda", "write through"), OP_WRITE_SYNC, 10000, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 900);
	spend(r, CAUSE_CPU, 100);
	expect(r, "device-busy", "device", "many writes in the device at all times, without any FLUSH to tell");

	r = start();
	ops(add_device(r, "sda", "write back"), OP_FUA, 100, 8 * MS);
	spend(r, CAUSE_DEVICE_FUA, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "device-fua", "device", "slow FUA writes");

	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_DEVICE_READ, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "device-read", "device", "reads");

	r = start();
	spend(r, CAUSE_DEVICE_DISCARD, 800);
	spend(r, CAUSE_CPU, 200);
	judged(r, "device-write", "device", "discards");
	ok(strstr(r->verdict.sentence, "discard") != NULL, "are called that");
	drop(r);
}

static void test_kernel_and_host(void)
{
	static const struct {
		enum cause cause;
		const char *class, *family;
	} simple[] = {
		{ CAUSE_IOQ, "io-scheduler", "I/O scheduler" },
		{ CAUSE_TAG, "io-scheduler", "I/O scheduler" },
		{ CAUSE_THROTTLE, "throttled", "I/O scheduler" },
		{ CAUSE_RUNQ, "cpu-scheduler", "CPU scheduler" },
		{ CAUSE_JOURNAL, "journal", "file system" },
		{ CAUSE_LOCK, "lock", "host" },
		{ CAUSE_CPU, "cpu", "host" },
		{ CAUSE_COMPLETION, "cpu", "host" },
	};
	struct report *r;

	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
		r = start();
		add_device(r, "sda", "write back");
		spend(r, simple[i].cause, 700);
		spend(r, CAUSE_FLUSH_PRE, 300);
		expect(r, simple[i].class, simple[i].family, cause_name(simple[i].cause));
	}
	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_TAG, 400);
	spend(r, CAUSE_IOQ, 350);
	spend(r, CAUSE_CPU, 250);
	judged(r, "io-scheduler", "I/O scheduler", "tag and ioq together");
	ok(strstr(r->verdict.sentence, "slots (64)") && says(r->verdict.advice, "nr_requests"),
	   "the larger one has the word");
	drop(r);
}

static void add_leaf(struct report *r, enum cause c, uint64_t ns, const char *path)
{
	struct report_leaf *l = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*l));

	l->cause = c;
	l->ns = ns;
	l->path = xstrdup(path);
}

static void test_through(void)
{
	struct report *r = start();

	spend(r, CAUSE_JOURNAL, 900);
	spend(r, CAUSE_CPU, 100);
	add_leaf(r, CAUSE_CPU, 950 * MS, "sqlite3;fdatasync;db;kworker;cpu");
	add_leaf(r, CAUSE_JOURNAL, 300 * MS, "sqlite3;fdatasync;db;jbd2/sda1-8;cp;journal");
	add_leaf(r, CAUSE_JOURNAL, 600 * MS, "sqlite3;fdatasync;db;jbd2/sda1-8;truncate;journal");
	judged(r, "journal", "file system", "held by others");
	ok(says(r->verdict.evidence, "60.0 %: journal, by way of jbd2/sda1-8, truncate"), "they are named");
	drop(r);

	r = start();
	spend(r, CAUSE_JOURNAL, 1000);
	add_leaf(r, CAUSE_JOURNAL, 300 * MS, "sqlite3;fdatasync;db;jbd2/sda1-8;cp;journal");
	add_leaf(r, CAUSE_JOURNAL, 400 * MS, "sqlite3;fdatasync;db;jbd2/sda1-8;truncate;journal");
	add_leaf(r, CAUSE_JOURNAL, 200 * MS, "fio;fsync;wal;jbd2/sda1-8;cp;journal");
	judged(r, "journal", "file system", "held by the same for two files");
	ok(says(r->verdict.evidence, "50.0 %: journal, by way of jbd2/sda1-8, cp"), "the way is counted once");
	drop(r);

	r = start();
	spend(r, CAUSE_JOURNAL, 1000);
	add_leaf(r, CAUSE_JOURNAL, 500 * MS, "sqlite3;fdatasync;db;journal");
	add_leaf(r, CAUSE_JOURNAL, 400 * MS, "odd");
	judged(r, "journal", "file system", "held by nobody known");
	ok(!says(r->verdict.evidence, "by way of"), "nobody is named");
	drop(r);
}

static struct report *split(unsigned int flush, unsigned int write)
{
	struct report *r = start();

	add_device(r, "sda", "write back");
	spend(r, CAUSE_FLUSH_PRE, flush);
	spend(r, CAUSE_DEVICE_WRITE, write);
	spend(r, CAUSE_CPU, (1000 - flush - write) / 3);
	spend(r, CAUSE_JOURNAL, (1000 - flush - write) / 3);
	spend(r, CAUSE_RUNQ, 1000 - flush - write - (1000 - flush - write) / 3 * 2);
	return r;
}

static void test_mixed(void)
{
	struct report *r;

	judged(r = split(480, 470), "mixed", NULL, "half and half");
	ok(strstr(r->verdict.sentence, "48.0 %") && strstr(r->verdict.sentence, "47.0 %"), "both are told");
	drop(r);
	expect(split(590, 300), "mixed", NULL, "just less than clear, and the next is more than half of it");
	expect(split(600, 400), "device-flush", "flush", "clear");
	expect(split(590, 290), "device-flush", "flush", "just less than clear, and twice the next");
	expect(split(340, 160), "device-flush", "flush", "a third, the others far behind");
	r = split(320, 140);
	r->sync.ledger.ns[CAUSE_CPU] = r->sync.ledger.ns[CAUSE_JOURNAL] = 140 * MS;
	r->sync.ledger.ns[CAUSE_RUNQ] = r->sync.ledger.ns[CAUSE_LOCK] = 130 * MS;
	expect(r, "mixed", NULL, "less than a third, though twice each of the others");
	r = start();
	spend(r, CAUSE_UNKNOWN, 900);
	spend(r, CAUSE_FLUSH_PRE, 100);
	judged(r, "mixed", NULL, "most is not explained");
	ok(!strcmp(r->verdict.sentence,
		   "Where most of the time of your fsyncs went is not known: 90.0 % of the 1.00 s that sqlite3 spent "
		   "in fdatasync is not explained. 10.0 % went to flushes of the drive's cache."),
	   "and that is what is said");
	drop(r);
	r = start();
	spend(r, CAUSE_UNKNOWN, 1000);
	judged(r, "mixed", NULL, "nothing is explained");
	ok(!strstr(r->verdict.sentence, "went to flushes"), "nothing went to the next");
	drop(r);
	r = start();
	spend(r, CAUSE_DEVICE_WRITE, 530);
	spend(r, CAUSE_UNKNOWN, 470);
	judged(r, "mixed", NULL, "half is not explained");
	ok(strstr(r->verdict.sentence, ", 47.0 % is not explained."), "that is said, not that it went there");
	drop(r);
}

/* More processes than have a line of their own: a script that starts a program for each sync. */
static void test_many_processes(void)
{
	struct report *r = slow_flush();

	r->sync.process[0].total_ns = r->sync.process[0].count = 1;
	add_process(r, "(other processes)", 0, 98, SEC - 2);
	add_process(r, "fio", 43, 1, 1);
	judged(r, "device-flush", "flush", "processes that have no line of their own");
	ok(strstr(r->verdict.sentence, "that more than 2 processes spent in"), "they are no process with a name");
	ok(!says(r->verdict.evidence, "pid 0") &&
		   says(r->verdict.evidence, "Besides sqlite3 (pid 42, 1 call), these made sync calls: "
					     "other processes (98 calls, 1.00 s), fio (pid 43, 1 call, 1 ns)"),
	   "and have no number");
	drop(r);
	r = slow_flush();
	r->sync.process[0].total_ns = r->sync.process[0].count = 1;
	add_process(r, "(other processes)", 0, 99, SEC - 1);
	judged(r, "device-flush", "flush", "one process that has a line of its own");
	ok(strstr(r->verdict.sentence, "that more than 1 process spent in"), "it is one process");
	drop(r);
	r = slow_flush();
	r->sync.process[0].total_ns = SEC / 2;
	add_process(r, "sh", 42, 50, SEC / 4);
	add_process(r, "fio", 43, 50, SEC / 4);
	judged(r, "device-flush", "flush", "a process that took another name");
	ok(strstr(r->verdict.sentence, "that 2 processes spent in"), "is one");
	drop(r);
}

/* ---- not fsync, not enough ---- */

static struct report *hardly(uint64_t sync_ns, uint64_t wall_ns)
{
	struct report *r = slow_flush();

	for (int c = 0; c < CAUSE_COUNT; c++)
		r->sync.ledger.ns[c] = r->sync.ledger.ns[c] * (sync_ns / 1000) / (SEC / 1000);
	r->sync.total_ns = sync_ns;
	r->wall_ns = wall_ns;
	/* the FLUSHes are those of the calls */
	r->device[0].kernel.flush_ns = sync_ns / 2;
	return r;
}

static void test_not_sync(void)
{
	struct report *r = hardly(199 * MS, SEC);

	wrap(r);
	judged(r, "not-sync", NULL, "less than a fifth of a command's time");
	ok(r->verdict.share > 0.198 && r->verdict.share < 0.2, "its share is of the wall time");
	drop(r);
	wrap(r = hardly(201 * MS, SEC));
	expect(r, "device-flush", "flush", "more than a fifth of a command's time");
	wrap(r = hardly(199 * MS - 1000, SEC));
	r->sync.no_ledger = 1;
	r->sync.no_ledger_ns = 1000;
	judged(r, "not-sync", NULL, "less than a fifth, with a call that could not be followed");
	ok(says(r->verdict.evidence, "1 more call, of 1.00 µs, could not be followed"), "which is told");
	drop(r);
	wrap(r = hardly(199 * MS, SEC));
	r->sync.no_ledger = 1;
	r->sync.no_ledger_ns = 2 * MS;
	expect(r, "device-flush", "flush", "more than a fifth, with a call that could not be followed");
	expect(hardly(199 * MS, SEC), "device-flush", "flush", "a disk that was watched may be idle");
	wrap(r = hardly(4 * SEC, SEC));
	judged(r, "device-flush", "flush", "several calls at once");
	ok(says(r->verdict.evidence, "4.00 times"), "are told");
	drop(r);
}

static struct report *few(uint64_t count, uint64_t ns)
{
	struct report *r = slow_flush();

	r->sync.count = r->sync.calls[CALL_FDATASYNC] = count;
	for (int c = 0; c < CAUSE_COUNT; c++)
		r->sync.ledger.ns[c] = 0;
	r->sync.ledger.ns[CAUSE_FLUSH_ONLY] = r->sync.total_ns = ns;
	return r;
}

static void test_too_little(void)
{
	struct report *r;

	expect(few(9, 500 * MS), "device-flush", "flush", "nine calls");
	expect(few(1, SEC - 1), "device-flush", "flush", "one call of almost a second");
	expect(few(50, MS - 1), "too-little-data", NULL, "less than a millisecond in all");
	expect(few(1, MS - 1), "too-little-data", NULL, "one call of less than a millisecond");
	expect(few(50, MS), "device-flush", "flush", "a millisecond in all");
	expect(few(50, 0), "too-little-data", NULL, "calls that took no time");
	r = slow_flush();
	r->sync.no_ledger = 101;
	expect(r, "too-little-data", NULL, "most calls could not be followed");
	r = slow_flush();
	r->sync.no_ledger = 100;
	judged(r, "device-flush", "flush", "half could not be followed");
	ok(says(r->verdict.evidence, "100 more calls could not be followed"), "and that is told");
	drop(r);
	r = xcalloc(1, sizeof(*r));
	r->have_sync = true;
	r->sync.no_ledger = 3;
	expect(r, "too-little-data", NULL, "only calls that could not be followed");
}

/* All is known of a few calls: the sentence is about these. */
static void test_few(void)
{
	struct report *r = few(4, 33 * MS);

	r->wall_ns = 43 * MS;
	r->sync.process[0].total_ns = 33 * MS;
	judged(r, "device-flush", "flush", "four calls");
	is_str(r->verdict.sentence,
	       "The 4 fdatasyncs of sqlite3 took 33.0 ms of the 43.0 ms traced. They are slow because the drive takes 7.00 ms to empty its "
	       "write cache: 100 % of that time.",
	       "they are spoken of");
	drop(r);
	r = few(1, 33 * MS);
	r->wall_ns = 20 * MS;
	r->sync.process[0].total_ns = 33 * MS;
	verdict_make(r);
	ok(strstr(r->verdict.sentence, "The fdatasync of sqlite3 took 33.0 ms. It is slow because "),
	   "one, without a run that is shorter: %s", r->verdict.sentence);
	drop(r);
	r = few(2, 1500 * US);
	verdict_make(r);
	ok(strstr(r->verdict.sentence, "They are quick (750 µs on average). Most of that is there because "),
	   "two that are quick: %s", r->verdict.sentence);
	drop(r);
}

/* One call of 0.6 s that wrote 200 MiB in 400 requests: each of them was in the device for a quarter of that, behind the others. */
static struct report *volume(void)
{
	struct report *r = few(1, 600 * MS);
	struct report_device *d = &r->device[0];

	r->wall_ns = 700 * MS;
	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	r->sync.ledger.ns[CAUSE_DEVICE_WRITE] = 500 * MS;
	r->sync.ledger.ns[CAUSE_FLUSH_POST] = 100 * MS;
	ops(d, OP_WRITE_SYNC, 400, 150 * MS);
	d->op[OP_WRITE_SYNC].bytes = 200ull << 20;
	r->sync.volume = (struct volume){ 1, 600 * MS, 400, 200ull << 20, { 500 * MS } };
	return r;
}

static void test_volume(void)
{
	struct report *r = volume();

	judged(r, "volume", "device", "one call that writes 200 MiB");
	ok(strstr(r->verdict.sentence,
		  "It is slow because it writes 200 MiB in 400 requests, and the drive takes 400 MiB/s: 83.3 % of that time."),
	   "its sentence: %s", r->verdict.sentence);
	ok(says(r->verdict.advice, "vm.dirty_background_bytes"), "earlier is better");
	drop(r);
	r = volume();
	r->sync.volume.wait_ns[0] = 359 * MS;
	r->sync.ledger.ns[CAUSE_DEVICE_WRITE] = 359 * MS;
	r->sync.ledger.ns[CAUSE_FLUSH_POST] = 241 * MS;
	judged(r, "mixed", NULL, "it waits for the disk in less than three fifths of the time");
	is_str(r->verdict.second, "volume", "which is near");
	drop(r);
	r = volume();
	ops(&r->device[0], OP_READ_SYNC, 300, MS);
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-busy", "device", "others have more for the disk to do");
	r = volume();
	ops(&r->device[0], OP_WRITE_ASYNC, 1000, MS);
	expect(r, "volume", "device", "background writes are nobody else's");
	r = volume();
	r->filter = xstrdup("pid 42");
	r->device[0].kernel.writes = 1000;
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-busy", "device", "others, of whom only the kernel knows");
	r = volume();
	memset(&r->sync.volume, 0, sizeof(r->sync.volume));
	r->sync.calls[CALL_FDATASYNC] = 0;
	r->sync.calls[CALL_SYNC] = 1;
	judged(r, "volume", "device", "sync");
	ok(strstr(r->verdict.sentence, "it writes whatever is dirty, 200 MiB in "), "which has others write: %s",
	   r->verdict.sentence);
	drop(r);
}

/* ---- how sure ---- */

static struct report *unflushed(const char *cache, uint64_t n);
static struct report *nothing_seen(void);

/* A hundred samples of 10 ms, in `flush` of them nothing but a flush, in the others nothing but the journal. */
static struct report *drawn(unsigned int flush)
{
	struct report *r = slow_flush();
	struct report_sync *s = &r->sync;

	memset(&s->ledger, 0, sizeof(s->ledger));
	s->n_samples = 100;
	s->sample = xcalloc(s->n_samples, sizeof(*s->sample));
	for (size_t i = 0; i < s->n_samples; i++) {
		s->sample[i].count = 1;
		s->sample[i].total_ns = 10 * MS;
		s->sample[i].ledger.ns[i < flush ? CAUSE_FLUSH_ONLY : CAUSE_JOURNAL] = 10 * MS;
		ledger_add(&s->ledger, &s->sample[i].ledger);
	}
	return r;
}

static void test_confidence(void)
{
	struct report *r = drawn(95);

	judged(r, "device-flush", "flush", "95 of 100 calls");
	ok(r->verdict.confidence == 1 && !r->verdict.second && !strstr(r->verdict.sentence, "probably"),
	   "of which it is sure");
	drop(r);
	r = drawn(61); /* the standard deviation of the draws is 4.9 */
	judged(r, "device-flush", "flush", "61 of 100 calls");
	ok(r->verdict.confidence > 0.5 && r->verdict.confidence < 0.7, "other calls might be fewer than 60: %.3f",
	   r->verdict.confidence);
	is_str(r->verdict.second, "mixed", "and then it is another class");
	ok(strstr(r->verdict.sentence, "Your fsyncs are probably slow because ") &&
		   strstr(r->verdict.sentence, " Another reading is near: there is no single reason."),
	   "which it says: %s", r->verdict.sentence);
	drop(r);
	r = drawn(64); /* and here the ledger is near the threshold */
	judged(r, "device-flush", "flush", "64 of 100 calls");
	is_str(r->verdict.second, "mixed", "near the threshold");
	drop(r);
	r = drawn(75);
	judged(r, "device-flush", "flush", "75 of 100 calls");
	ok(r->verdict.confidence > 0.99 && !r->verdict.second, "is far enough from it");
	drop(r);
	r = drawn(100);
	r->sync.unsafe = r->sync.sample[0].unsafe = 1;
	add_file(r, "/mnt/fast/db", "sda", 1);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	judged(r, "unsafe-fast", NULL, "one call of a hundred");
	ok(r->verdict.confidence == 1 && !r->verdict.second, "has shown it");
	drop(r);
	r = few(50, MS - 1);
	verdict_make(r);
	ok(!r->verdict.second && !r->verdict.confidence, "too little data is near nothing");
	drop(r);
}

static void test_near(void)
{
	struct report *r = slow_flush();

	wrap(r);
	r->wall_ns = 4800 * MS;
	judged(r, "device-flush", "flush", "21 % of the run");
	is_str(r->verdict.second, "not-sync", "is near the fifth below which fsync is not it");
	ok(strstr(r->verdict.sentence, "fsync is not what makes the run take its time"), "which it says");
	drop(r);
	r = unflushed("write back", 52);
	r->sync.durable = 48;
	judged(r, "unsafe-fast", NULL, "a few calls more without than with a flush");
	is_str(r->verdict.second, "device-write", "is near");
	drop(r);
}

static void test_no_sync(void)
{
	struct report *r = xcalloc(1, sizeof(*r));

	verdict_make(r);
	ok(!r->have_verdict && !r->verdict.class, "no verdict where sync calls were not traced");
	r->have_sync = true;
	expect(r, "no-sync", NULL, "an empty report");
	r = xcalloc(1, sizeof(*r));
	r->have_sync = true;
	r->wall_ns = SEC;
	wrap(r);
	ops(add_device(r, "sda", "write back"), OP_WRITE_ASYNC, 100, MS);
	judged(r, "no-sync", NULL, "plain writes only");
	ok(strstr(r->verdict.sentence, "it isn't fsync."), "that is certain of a command");
	drop(r);
}

/* A client whose server syncs: what a disk did for others is seen whatever was asked about. */
static struct report *client(unsigned int flushes, uint64_t each_ns)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = SEC;
	wrap(r);
	ops(add_device(r, "sda", "write back"), OP_FLUSH, flushes, each_ns);
	return r;
}

static void test_others(void)
{
	struct report *r = client(200, 3 * MS);

	judged(r, "device-flush", "flush", "a client whose server syncs");
	ok(!strcmp(r->verdict.scope, "others") && fabs(r->verdict.share - 0.6) < 0.01,
	   "it is about others, by the run's time");
	ok(strstr(r->verdict.sentence,
		  "no sync call (fsync or the like) by sqlite3, but sda spent 600 ms of the 1.00 s traced in 200 "
		  "FLUSHes that others sent. Watch the disk: barriertrace sda."),
	   "said: %s", r->verdict.sentence);
	ok(says(r->verdict.advice, "processes of its own"), "and what to do");
	drop(r);

	r = client(100, 3 * MS);
	judged(r, "too-little-data", NULL, "less than half of the run in FLUSHes of others");
	ok(!strcmp(r->verdict.scope, "others") && !strstr(r->verdict.sentence, "isn't fsync"), "is not acquitted");
	drop(r);

	r = client(2, 3 * MS);
	judged(r, "no-sync", NULL, "a stray FLUSH");
	ok(!strcmp(r->verdict.scope, "asked") && !strstr(r->verdict.sentence, "isn't fsync") &&
		   strstr(r->verdict.sentence, "Meanwhile sda did 2 FLUSHes, 6.00 ms in all."),
	   "is told: %s", r->verdict.sentence);
	drop(r);

	r = client(0, 0);
	r->have_exit_status = true;
	r->exit_status = 3;
	judged(r, "no-sync", NULL, "a command that failed");
	ok(!strstr(r->verdict.sentence, "isn't fsync") && strstr(r->verdict.sentence, "ended with exit status 3"),
	   "is told: %s", r->verdict.sentence);
	drop(r);

	/* a filter leaves out what others send: only the kernel counted it */
	r = client(0, 0);
	strv_free(r->command);
	r->command = NULL;
	r->filter = xstrdup("pid 42");
	r->device[0].kernel.have = r->device[0].kernel.have_flush = true;
	r->device[0].kernel.flushes = 300;
	r->device[0].kernel.flush_ns = 900 * MS;
	judged(r, "device-flush", "flush", "FLUSHes that a filter left out");
	ok(strstr(r->verdict.sentence, "by the filtered tasks, but sda spent 900 ms"), "said: %s", r->verdict.sentence);
	drop(r);

	/* whose calls they are */
	r = client(200, 3 * MS);
	r->sync.others = 210;
	r->sync.others_ns = 1900 * MS;
	r->sync.n_other = 3;
	r->sync.other = xcalloc(3, sizeof(*r->sync.other));
	r->sync.other[0] = (struct report_other){ 40, "cron", 10, 800 * MS };
	r->sync.other[1] = (struct report_other){ 41, "postgres", 100, 600 * MS };
	r->sync.other[2] = (struct report_other){ 42, "postgres", 100, 500 * MS };
	judged(r, "device-flush", "flush", "others whose calls were seen");
	ok(strstr(r->verdict.sentence,
		  "by sqlite3, but others made 210 on the same disks (1.90 s in all, in a run of 1.00 s), most of it by "
		  "postgres (2 processes). sda spent 600 ms in FLUSHes. Watch the disk: barriertrace sda."),
	   "said: %s", r->verdict.sentence);
	ok(says(r->verdict.evidence,
		"Others made 210 sync calls on the same disks, 1.90 s in all: cron (40) 10, 800 ms; postgres (41) 100, 600 ms; "
		"postgres (42) 100, 500 ms"),
	   "and shown");
	drop(r);

	r = client(2, 3 * MS);
	r->sync.others = 50;
	r->sync.others_ns = 700 * MS;
	r->sync.n_other = 1;
	r->sync.other = xcalloc(1, sizeof(*r->sync.other));
	r->sync.other[0] = (struct report_other){ 42, "etcd", 50, 700 * MS };
	judged(r, "too-little-data", NULL, "calls of others that hardly waited for FLUSHes");
	ok(strstr(r->verdict.sentence, "by etcd (42)") && strstr(r->verdict.sentence, "Watch it: barriertrace -p 42."),
	   "said: %s", r->verdict.sentence);
	drop(r);
	r = nothing_seen();
	wrap(r);
	r->sync.others = 50;
	r->sync.others_ns = 700 * MS;
	r->wall_ns = SEC;
	ops(&r->device[0], OP_WRITE_SYNC, 50, MS);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	judged(r, "too-little-data", NULL, "calls of others on a mount without barriers");
	ok(strstr(r->verdict.sentence,
		  ". /mnt/fast is mounted without barriers: what is synced there may not survive a power cut. Watch the disk: "
		  "barriertrace sda."),
	   "which is told: %s", r->verdict.sentence);
	drop(r);

	r = client(0, 0);
	r->sync.others = 3;
	r->sync.others_ns = 12 * MS;
	judged(r, "no-sync", NULL, "a few calls of others");
	ok(strstr(r->verdict.sentence, "Meanwhile others made 3, 12.0 ms in all."), "are told: %s", r->verdict.sentence);
	drop(r);

	/* O_DSYNC on a disk without a cache to flush */
	r = client(0, 0);
	ops(&r->device[0], OP_WRITE_SYNC, 100, 5 * MS);
	judged(r, "no-sync", NULL, "writes that others wait for");
	ok(!strstr(r->verdict.sentence, "isn't fsync") && strstr(r->verdict.sentence, "Meanwhile sda did 100 writes"),
	   "are told: %s", r->verdict.sentence);
	drop(r);

	r = hardly(10 * MS, SEC);
	wrap(r);
	r->device[0].kernel.flush_ns = 700 * MS;
	judged(r, "device-flush", "flush", "a client with hardly any calls of its own");
	ok(!strcmp(r->verdict.scope, "others") &&
		   strstr(r->verdict.sentence, "sync calls of sqlite3 took 10.0 ms, but sda spent 700 ms"),
	   "is about the others: %s", r->verdict.sentence);
	drop(r);

	r = slow_flush();
	r->verdict.scope = NULL;
	judged(r, "device-flush", "flush", "calls of a watched disk");
	ok(!strcmp(r->verdict.scope, "asked"), "are those that were asked about");
	drop(r);
}

static struct report *only_reads(uint64_t n)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = 3 * SEC;
	ops(add_device(r, "sda", "write back"), OP_READ_SYNC, n, MS);
	return r;
}

static struct report *nothing_seen(void)
{
	return only_reads(10);
}

/* What hangs is what somebody wants to know about, and it is in no figure. */
static void test_under_way(void)
{
	struct report *r = nothing_seen();

	r->under_way = 1;
	r->under_way_ns = 2 * SEC;
	judged(r, "too-little-data", NULL, "the only call hangs");
	ok(strstr(r->verdict.sentence, "One had not returned after 2.00 s."), "that is said");
	drop(r);

	r = slow_flush();
	wrap(r);
	r->wall_ns = 10 * SEC;
	r->under_way = 3;
	r->under_way_ns = 8 * SEC;
	judged(r, "device-flush", "flush", "three hang in a command that does nothing else");
	ok(strstr(r->verdict.sentence, "spent in fdatasync. 3 more had not returned, the oldest after 8.00 s."),
	   "after the others");
	drop(r);
}

/* That none was seen does not always mean that there was none. */
static void test_not_seen(void)
{
	struct report *r = nothing_seen();

	judged(r, "no-sync", NULL, "a disk that is watched");
	ok(strstr(r->verdict.sentence, "unless one hangs that began before"), "a call that began before isn't seen");
	drop(r);
	r = only_reads(0);
	judged(r, "no-sync", NULL, "a disk that is idle");
	is_str(r->verdict.sentence,
	       "There was no sync call (fsync or the like) and no other I/O in the 3.00 s traced: trace while it is slow. A call that hangs since "
	       "before would not be seen.",
	       "says nothing of the time in which it is slow");
	ok(says(r->verdict.advice, "while the load runs"), "nor that it is to be looked for elsewhere");
	drop(r);

	r = nothing_seen();
	r->filter = xstrdup("pid 42");
	judged(r, "no-sync", NULL, "a filter");
	ok(strstr(r->verdict.sentence, "by the filtered tasks"), "it is about those that it lets through");
	drop(r);

	r = nothing_seen();
	wrap(r);
	r->sync.lost = 5;
	judged(r, "too-little-data", NULL, "none, but events were lost");
	ok(strstr(r->verdict.sentence, "5 events were lost"), "that is said");
	drop(r);

	r = nothing_seen();
	wrap(r);
	report_add_lost(r, 1, LOSS_OF_REQUESTS, "requests that the kernel counted and this trace missed");
	expect(r, "no-sync", NULL, "what was lost was no sync call");

	r = nothing_seen();
	wrap(r);
	r->sync.elsewhere = 12;
	r->sync.elsewhere_ns = 2 * SEC;
	judged(r, "no-sync", NULL, "all of them were on other disks");
	ok(strstr(r->verdict.sentence, "12 were elsewhere, which took 2.00 s") &&
		   !strstr(r->verdict.sentence, "isn't fsync"),
	   "that is said, and nothing else");
	ok(says(r->verdict.advice, "Trace"), "and what to do");
	drop(r);

	r = slow_flush();
	wrap(r);
	r->wall_ns = 10 * SEC;
	r->sync.elsewhere = 100;
	r->sync.elsewhere_ns = 8 * SEC;
	judged(r, "device-flush", "flush", "fsync may be what takes the time where most calls are elsewhere");
	ok(says(r->verdict.evidence, "100 more calls, 8.00 s in all, were elsewhere"), "they are told of");
	drop(r);
}

/* ---- unsafe ---- */

static struct report *unflushed(const char *cache, uint64_t n)
{
	struct report *r = start();

	ops(add_device(r, "sda", cache), OP_WRITE_SYNC, 300, 200 * US);
	spend(r, CAUSE_DEVICE_WRITE, 800);
	spend(r, CAUSE_CPU, 200);
	r->sync.unsafe = n;
	r->sync.durable = 100 - n;
	add_file(r, "/mnt/fast/db", "sda", n);
	return r;
}

static void test_nobarrier(void)
{
	struct report *r = unflushed("write back", 51);
	struct report_device idle;

	add_mount(&r->device[0], "/mnt/safe", "barrier");
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	judged(r, "unsafe-fast", NULL, "nobarrier");
	ok(strstr(r->verdict.sentence, "/mnt/fast") && strstr(r->verdict.sentence, "nobarrier"), "the mount is named");
	drop(r);
	r = unflushed("write back", 51);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	wrap(r);
	r->wall_ns = 100 * SEC;
	expect(r, "unsafe-fast", NULL, "before not-sync: it is because of that that it is quick");
	r = unflushed("write back", 1);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "unsafe-fast", NULL, "one call is enough");
	r = unflushed("write back", 0);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "device-write", "device", "no call had anything to make durable");
	r = unflushed("write back", 1);
	free(r->sync.file[0].device);
	r->sync.file[0].device = xstrdup("sdb");
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "device-write", "device", "the call was on another disk");
	r = unflushed("write back", 50);
	expect(r, "device-write", "device", "half of the calls, no more, and nothing says why");
	r = unflushed("write through", 100);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "device-write", "device", "nobarrier matters nothing without a volatile cache");
	r = slow_flush();
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "device-flush", "flush", "nobarrier on a mount that nobody syncs");
	r = unflushed("write back", 51);
	add_device(r, "sdb", "write back");
	idle = r->device[1];
	r->device[1] = r->device[0];
	r->device[0] = idle;
	add_mount(&r->device[0], "/mnt/idle", "nobarrier");
	add_mount(&r->device[1], "/mnt/fast", "nobarrier");
	judged(r, "unsafe-fast", NULL, "nobarrier on an idle disk and on another");
	ok(strstr(r->verdict.sentence, "/mnt/fast"), "the one that was written to is named");
	drop(r);
}

static void test_unflushed(void)
{
	struct report *r;

	expect(unflushed("write back", 100), "unsafe-fast", NULL, "no FLUSH though the cache is volatile");
	r = unflushed("write back", 100);
	r->device[0].kernel.flushes = 3;
	expect(r, "device-write", "device", "the kernel counted flushes, so they were somebody's");
	r = unflushed("write back", 100);
	r->device[0].flush.native_fua = 3;
	expect(r, "device-write", "device", "commits with native FUA");
	r = unflushed("write back", 1);
	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 1;
	r->sync.durable = 0;
	judged(r, "unsafe-fast", NULL, "a single call");
	ok(says(r->verdict.evidence, "1 of 1 sync call returned without a FLUSH or FUA write and had data"),
	   "it is one call");
	drop(r);
	r = unflushed("write back", 100);
	memset(r->sync.calls, 0, sizeof(r->sync.calls));
	r->sync.calls[CALL_SYNC_FILE_RANGE] = 100;
	judged(r, "unsafe-fast", NULL, "sync_file_range");
	ok(strstr(r->verdict.sentence, "sync_file_range") != NULL, "is named");
	drop(r);
}

static struct report *platter(const char *name, const char *model, const char *cache)
{
	struct report *r = unflushed(cache, 0);
	struct report_device *d = &r->device[0];

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->model = xstrdup(model);
	d->have_rotational = d->rotational = true;
	return r;
}

static void test_platter(void)
{
	struct report *r = platter("sdb", "ST4000DM004", "write through");

	judged(r, "unsafe-fast", NULL, "a disk that turns, writes in 0.2 ms, and has no cache");
	ok(strstr(r->verdict.sentence, "probably") != NULL, "is only probably unsafe");
	drop(r);
	expect(platter("sdb", "QEMU HARDDISK", "write through"), "device-write", "device",
	       "a virtual disk says that it turns");
	expect(platter("sdb", "PERC H730", "write through"), "device-write", "device",
	       "a RAID controller may have a battery");
	expect(platter("vda", "ST4000DM004", "write through"), "device-write", "device", "neither does virtio turn");
	r = platter("sdb", "ST4000DM004", "write back");
	ops(&r->device[0], OP_FLUSH, 100, 999 * US);
	expect(r, "unsafe-fast", NULL, "a disk that turns and empties its cache in less than 1 ms");
	r = platter("sdb", "ST4000DM004", "write back");
	ops(&r->device[0], OP_FLUSH, 100, 1100 * US);
	expect(r, "device-write", "device", "a disk that turns and takes longer");
	r = platter("sdb", "ST4000DM004", "write back");
	ops(&r->device[0], OP_FLUSH, 301, 100 * US);
	expect(r, "device-write", "device", "more FLUSHes than writes: there was nothing to empty");
	r = platter("sdb", NULL, "write through");
	r->device[0].rotational = false;
	judged(r, "device-write", "device", "an SSD that says write through");
	ok(says(r->verdict.evidence, "USB bridge"), "gets a word of warning");
	drop(r);
}

/* ---- hardly anything known ---- */

static void test_sparse(void)
{
	struct report *r = start();

	spend(r, CAUSE_FLUSH_ONLY, 1000);
	expect(r, "device-flush", "flush", "no device was traced");

	r = start();
	spend(r, CAUSE_TAG, 1000);
	memset(&r->sync.latency, 0, sizeof(r->sync.latency));
	r->sync.n_processes = 0;
	free(r->sync.process[0].comm);
	free(r->sync.process);
	r->sync.process = NULL;
	r->wall_ns = 0;
	expect(r, "io-scheduler", "I/O scheduler", "no device, no process, no wall time");

	r = start();
	grow((void **)&r->device, &r->n_devices, sizeof(struct report_device));
	spend(r, CAUSE_DEVICE_WRITE, 1000);
	free(r->sync.process[0].comm);
	r->sync.process[0].comm = NULL;
	expect(r, "device-write", "device", "a device of which nothing is known");

	r = slow_flush();
	add_device(r, "dm-0", "write back")->bio_based = true;
	ops(&r->device[1], OP_FLUSH, 100, 9 * MS);
	judged(r, "device-flush", "flush", "dm on a disk");
	ok(strstr(r->verdict.sentence, "7.00 ms") != NULL, "the disk's times count");
	drop(r);
}

static void test_same_bytes(void)
{
	struct report *a = slow_flush(), *b = slow_flush();
	bool same = true;

	verdict_make(a);
	verdict_make(b);
	verdict_make(b);
	same = !strcmp(a->verdict.sentence, b->verdict.sentence) &&
	       strv_len(a->verdict.evidence) == strv_len(b->verdict.evidence);
	for (size_t i = 0; same && a->verdict.evidence[i]; i++)
		same = !strcmp(a->verdict.evidence[i], b->verdict.evidence[i]);
	ok(same, "the same report gives the same verdict, also when asked twice");
	drop(a);
	drop(b);
}

static void test_tail(void)
{
	struct report *r = slow_flush();

	r->sync.tail = (struct report_tail){ .count = 1, .total_ns = 40 * MS, .threshold_ns = 40 * MS, .median_ns = 10 * MS };
	verdict_make(r);
	is_str(r->sync.tail.sentence, "The slowest of 100 calls took 40.0 ms, 4.00 times the median of 10.0 ms.",
	       "the slowest calls are spoken of, too");
	drop(r);
}

int main(void)
{
	test_flush();
	test_stacks();
	test_busy();
	test_device();
	test_kernel_and_host();
	test_through();
	test_mixed();
	test_not_sync();
	test_too_little();
	test_few();
	test_volume();
	test_confidence();
	test_near();
	test_no_sync();
	test_others();
	test_many_processes();
	test_not_seen();
	test_under_way();
	test_nobarrier();
	test_unflushed();
	test_platter();
	test_sparse();
	test_same_bytes();
	test_tail();
	return tap_done();
}
