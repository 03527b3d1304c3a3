// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of a verdict, for facts made by hand: golden/verdict_words.txt has each situation with the sentence, how the first advice
 * begins, or the evidence.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "model/outstanding.h"
#include "situations.h"
#include "verdict_report.h"

static struct report_verdict worded(const struct facts *f, const char *class, const char *scope)
{
	struct report_verdict v = { .class = class, .scope = scope };

	verdict_words(f, &v);
	return v;
}

static void words_free(struct report_verdict *v)
{
	free(v->sentence);
	strv_free(v->evidence);
	strv_free(v->advice);
}

static void says(const struct facts *f, const char *class, const char *what)
{
	struct report_verdict v = worded(f, class, "asked");

	SAY("%s:\n  %s\n", what, v.sentence);
	words_free(&v);
}

/* ... and what to do, the first of it. */
static void advises(const struct facts *f, const char *class, const char *scope, const char *what)
{
	struct report_verdict v = worded(f, class, scope);

	SAY("%s:\n  %s\n  -> %.40s\n", what, v.sentence, v.advice ? v.advice[0] : "nothing");
	words_free(&v);
}

/* What stands between "because " and the colon. */
static void because(const struct facts *f, const char *what)
{
	struct report_verdict v = worded(f, "a class", "asked");
	const char *from = strstr(v.sentence, "because ");

	from = from ? from : v.sentence;
	SAY("%s:\n  %.*s\n", what, (int)strcspn(from, ":"), from);
	words_free(&v);
}

static void shows(const struct facts *f, const char *what)
{
	struct report_verdict v = worded(f, "mixed", "asked");

	say_changes(what, v.evidence);
	v.evidence = NULL;
	words_free(&v);
}

/* ---- facts ---- */

/* Of 1 s, so many milliseconds were those of the largest two groups. */
static struct facts facts(const struct report *r, enum group first, uint64_t first_ms, enum group second, uint64_t second_ms)
{
	struct facts f;

	facts_of(r, &f);
	memset(f.ns, 0, sizeof(f.ns));
	f.first = first;
	f.second = second;
	f.ns[second] = second_ms * MS;
	f.ns[first] = first_ms * MS;
	return f;
}

/* 100 fdatasyncs of 10 ms by sqlite3 on sda: 100 FLUSHes of 7 ms, 200 writes of 3 ms, 100 FUA writes of 5 ms. */
static struct report *usual(void)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, 7 * MS);
	ops(d, OP_WRITE_SYNC, 200, 3 * MS);
	ops(d, OP_FUA, 100, 5 * MS);
	spend(r, CAUSE_CPU, 1000);
	return r;
}

static struct report *single(void)
{
	struct report *r = usual();

	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 1;
	return r;
}

/* ---- why ---- */

TEST(reasons)
{
	static const enum group why[] = { GROUP_FLUSH,	 GROUP_WRITE,	GROUP_READ,	 GROUP_FUA,
					  GROUP_DISCARD, GROUP_BUSY,	GROUP_SCHEDULER, GROUP_THROTTLE,
					  GROUP_RUNQ,	 GROUP_JOURNAL, GROUP_LOCK,	 GROUP_CPU };
	struct report *many = usual(), *one = single();
	struct facts f;

	many->sync.busy_flushes = one->sync.busy_flushes = 100;
	many->sync.busy_in_flight = one->sync.busy_in_flight = 250;
	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		f = facts(many, why[i], 900, GROUP_UNKNOWN, 0);
		advises(&f, "a class", "asked", "of many calls");
		f = facts(one, why[i], 900, GROUP_UNKNOWN, 0);
		advises(&f, "a class", "asked", "of one call");
	}
	drop(many);
	drop(one);
}

TEST(drive_words)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_FLUSH, 900, GROUP_CPU, 0);

	r->sync.flush_own_ns = r->sync.flush_foreign_ns = 400 * MS;
	because(&f, "as much for itself as for others");
	r->sync.flush_foreign_ns++;
	because(&f, "a little more for others");
	r->sync.flush_foreign_ns = 0;
	f.flush_p50 = 0;
	because(&f, "no FLUSH was seen");
	f.first = GROUP_WRITE;
	f.write_p50 = 0;
	because(&f, "no write was seen");
	f.first = GROUP_BUSY;
	f.ahead = 3.25;
	f.flush_mean = 0;
	because(&f, "no FLUSH that could be slow");
	f.first = GROUP_FUA;
	ops(&r->device[0], OP_FUA, 101, 8 * MS); /* more than half */
	because(&f, "the median of FUA writes");
	f.dev = NULL;
	because(&f, "no disk that could tell");
	f.first = GROUP_SCHEDULER;
	because(&f, "a scheduler of no known disk");
}

/* Half of the FUA writes took 6 ms, the others 1 s: only the median of the right ones is 6 ms. */
TEST(bio_based)
{
	MADE *r = start();
	struct report_device *d = add_device(r, "md0", "write back");
	struct facts f;

	spend(r, CAUSE_CPU, 1000);
	d->bio_based = true;
	for (int i = 0; i < 20; i++) {
		tally_add(&d->op[OP_FUA].total, i < 11 ? 6 * MS : SEC);
		tally_add(&d->op[OP_FUA].device, i < 9 ? 6 * MS : SEC);
	}
	f = facts(r, GROUP_FUA, 900, GROUP_CPU, 0);
	because(&f, "by the time in a disk on top, named");
	d->bio_based = false;
	because(&f, "by the time in the drive itself");
}

TEST(slots)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_SCHEDULER, 900, GROUP_CPU, 0);

	r->sync.ledger.ns[CAUSE_TAG] = r->sync.ledger.ns[CAUSE_IOQ] = 300 * MS;
	advises(&f, "a class", "asked", "as long in the scheduler as for a slot");
	r->sync.ledger.ns[CAUSE_TAG]++;
	advises(&f, "a class", "asked", "longer for a slot");
	f.first = GROUP_CPU;
	advises(&f, "a class", "asked", "longer for a slot, but it is the CPU's");
	f.first = GROUP_SCHEDULER;
	r->device[0].nr_requests = 0;
	because(&f, "how many is not known");
	f.dev = NULL;
	because(&f, "nor the disk");
	r->sync.ledger.ns[CAUSE_TAG] = 0;
	f.dev = &r->device[0];
	free(r->device[0].scheduler);
	r->device[0].scheduler = NULL;
	because(&f, "which scheduler is not known");
	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 1;
	r->sync.ledger.ns[CAUSE_TAG] = 900 * MS;
	because(&f, "one call for a slot");
}

TEST(volume)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_VOLUME, 900, GROUP_CPU, 0);

	f.volume = (struct volume){ 100, SEC, 2000, 200ull << 20, { 300 * MS, 200 * MS } };
	r->wall_ns = SEC; /* as long as the calls */
	because(&f, "what each writes, and the disk's speed");
	r->wall_ns = SEC - 1;
	because(&f, "side by side, the speed is not one call's");
	r->wall_ns = SEC;
	memset(f.volume.wait_ns, 0, sizeof(f.volume.wait_ns));
	because(&f, "without a wait there is no speed");
	f.for_everybody = true;
	because(&f, "for everybody");
	r->device[0].bio_based = true;
	f.volume.wait_ns[0] = SEC;
	advises(&f, "a class", "asked", "what to do");
}

/* ---- how slow ---- */

TEST(how_slow)
{
	MADE *r = usual();
	struct facts f;

	r->sync.total_ns = 100 * MS; /* a millisecond each */
	r->sync.process[0].total_ns = 100 * MS;
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	says(&f, "cpu", "a millisecond each is slow");
	r->sync.total_ns -= 100;
	says(&f, "cpu", "less is quick");
	f.near = "lock";
	says(&f, "cpu", "probably");
	r->sync.total_ns += 100;
	says(&f, "cpu", "probably slow");
}

TEST(few)
{
	static const struct {
		uint64_t count, total_ns, wall_ns;
		const char *what;
	} rows[] = {
		{ 10, SEC, SEC, "ten calls are what a program does" },
		{ 9, SEC, SEC, "nine are these, in a run as long as they" },
		{ 9, SEC, SEC - 1, "in a shorter run" },
		{ 2, 2 * MS, SEC, "two of a millisecond" },
		{ 2, 2 * MS - 2, SEC, "two of less" },
		{ 1, 500 * US, SEC, "one of less" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		MADE *r = usual();
		struct facts f;

		r->sync.count = r->sync.calls[CALL_FDATASYNC] = rows[i].count;
		r->sync.total_ns = r->sync.process[0].total_ns = rows[i].total_ns;
		r->wall_ns = rows[i].wall_ns;
		f = facts(r, GROUP_CPU, 600, GROUP_LOCK, 0);
		says(&f, "cpu", rows[i].what);
	}
}

/* ---- who, in what ---- */

struct member {
	const char *comm;
	uint32_t pid;
	uint64_t ms;
};

static const struct {
	struct member of[5];
	const char *what;
} crowds[] = {
	{ { { "db", 7, 900 } }, "nine tenths are all" },
	{ { { "db", 7, 899 } }, "a little less is nobody, where nobody else is known" },
	{ { { "db", 7, 899 }, { "fio", 8, 101 } }, "a little less, beside another" },
	{ { { "fio", 8, 50 }, { "db", 7, 950 } }, "the one with most is not the first" },
	{ { { "(other processes)", 0, 950 }, { "db", 7, 50 } }, "most is the rest's" },
	{ { { "db", 7, 40 }, { "(other processes)", 0, 960 } }, "the rest comes last" },
	{ { { "a", 7, 400 }, { "b", 9, 300 }, { "c", 8, 300 } }, "three, by number" },
	{ { { "a", 9, 400 }, { "b", 8, 300 }, { "c", 9, 300 } }, "of which two are one" },
	{ { { NULL, 9, 950 }, { "b", 8, 50 } }, "one without a name" },
	{ { { NULL, 0, 0 } }, "nobody" },
};

static void only(struct report *r, const struct member *of)
{
	for (size_t i = 0; i < r->sync.n_processes; i++)
		free(r->sync.process[i].comm);
	free(r->sync.process);
	r->sync.process = NULL;
	r->sync.n_processes = 0;
	for (int i = 0; i < 5 && (of[i].comm || of[i].pid); i++)
		add_process(r, of[i].comm, of[i].pid, 10, of[i].ms * MS);
}

TEST(who)
{
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		MADE *r = usual();
		struct facts f;

		only(r, crowds[i].of);
		f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
		says(&f, "cpu", crowds[i].what);
	}
}

TEST(in_what)
{
	static const struct {
		unsigned int call, n;
		const char *what;
	} rows[] = {
		{ CALL_FSYNC, 90, "nine tenths are all" },
		{ CALL_FSYNC, 89, "a little less is no kind" },
		{ CALL_WRITE, 100, "writes" },
		{ CALL_KERNEL_FSYNC, 100, "the last kind" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		MADE *r = usual();
		struct facts f;

		memset(r->sync.calls, 0, sizeof(r->sync.calls));
		r->sync.calls[rows[i].call] = rows[i].n;
		r->sync.calls[CALL_MSYNC] = 100 - rows[i].n;
		f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
		says(&f, "cpu", rows[i].what);
	}
}

TEST(the_sync_of_sync)
{
	MADE *r = single();
	struct facts f;

	r->sync.calls[CALL_FDATASYNC] = 0;
	r->sync.calls[CALL_SYNC] = 1;
	only(r, (struct member[5]){ { "sync", 7, 1000 } });
	f = facts(r, GROUP_CPU, 1000, GROUP_LOCK, 0);
	says(&f, "cpu", "a program that is called as its call");
	only(r, (struct member[5]){ { "cat", 7, 1000 } });
	says(&f, "cpu", "and one that is not");
}

/* ---- no single reason ---- */

TEST(mixed)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_WRITE, 400, GROUP_JOURNAL, 300);

	says(&f, "mixed", "two groups");
	f.near = "device-write";
	says(&f, "mixed", "probably");
	f = facts(r, GROUP_UNKNOWN, 500, GROUP_FLUSH, 300);
	says(&f, "mixed", "half is not explained");
	f.ns[GROUP_UNKNOWN]++;
	advises(&f, "mixed", "asked", "what to do");
	f = facts(r, GROUP_FLUSH, 400, GROUP_UNKNOWN, 300);
	says(&f, "mixed", "the second is what is not explained");
}

TEST(not_sync)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->wall_ns = 10 * SEC;
	advises(&f, "not-sync", "asked", "not sync");
	f.near = "cpu";
	says(&f, "not-sync", "probably not");
	f.near = "device-flush";
	says(&f, "not-sync", "the first of the other readings");
	f.near = "unsafe-fast";
	says(&f, "not-sync", "the last of them");
}

/* ---- what is said behind any sentence ---- */

TEST(left)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	says(&f, "not-sync", "nothing was left");
	r->left_running = 1;
	r->left_pid = 99;
	strcpy(r->left_comm, "mysqld");
	says(&f, "not-sync", "one that was left");
	r->left_running = 2;
	says(&f, "not-sync", "two that were left");
	r->left_running = 0;
	r->under_way_ns = 3 * SEC;
	r->under_way = 1;
	says(&f, "not-sync", "one under way");
	r->under_way = 2;
	says(&f, "not-sync", "two under way");
	r->sync.count = 0;
	says(&f, "not-sync", "nothing that they are more than");
	r->under_way = 1;
	says(&f, "not-sync", "nothing that it is more than");
	r->under_way = 0;
	r->began_before = 1;
	r->began_before_ns = SEC;
	says(&f, "not-sync", "a call that is in no figure");
}

TEST(too_little)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->sync.total_ns = 30 * US;
	r->sync.count = 2;
	advises(&f, "too-little-data", "asked", "two calls");
	r->sync.count = 1;
	r->sync.no_ledger = 7;
	r->sync.lost = 5;
	says(&f, "too-little-data", "one call, and some that could not be followed");
	r->sync.count = r->sync.no_ledger = 0;
	says(&f, "too-little-data", "events");
	r->sync.lost = 1;
	says(&f, "too-little-data", "one event");
}

/* ---- nobody synced ---- */

/* A run of 2 s with 100 reads on sda. */
static struct report *none(void)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = 2 * SEC;
	ops(add_device(r, "sda", "write back"), OP_READ_SYNC, 100, MS);
	r->device[0].kernel.have = false;
	return r;
}

static void none_is(const struct report *r, const char *what)
{
	struct facts f;

	facts_of(r, &f);
	advises(&f, "no-sync", "asked", what);
}

TEST(no_calls)
{
	MADE *r = none();

	none_is(r, "a disk that is watched");
	r->looked_before = true;
	none_is(r, "one that was looked at before");
	r->filter = xstrdup("pid 4");
	r->looked_before = false;
	none_is(r, "a filter");
	strv_add(&r->command, xstrdup("/usr/bin/make"));
	none_is(r, "a command by its name");
	free(r->command[0]);
	r->command[0] = xstrdup("/bin/w");
	none_is(r, "a name of one letter");
	free(r->command[0]);
	r->command[0] = xstrdup("/odd/");
	none_is(r, "one without a name");
	r->exit_status = 3;
	none_is(r, "a status that is not known");
	r->have_exit_status = true;
	none_is(r, "one that failed");
	r->exit_status = 0;
	none_is(r, "one that did not");
	r->left_running = 1;
	r->left_pid = 5;
	strcpy(r->left_comm, "d");
	none_is(r, "one that left something");
}

TEST(elsewhere)
{
	MADE *r = none();

	r->sync.elsewhere = 1;
	r->sync.elsewhere_ns = 30 * MS;
	none_is(r, "one was elsewhere");
	r->sync.elsewhere = 2;
	none_is(r, "two were elsewhere");
}

TEST(nothing)
{
	MADE *r = none();
	struct report_device *d = &r->device[0];

	d->kernel.reads = 100;
	none_is(r, "as many reads as the kernel saw");
	d->kernel.reads = 0;
	tally_free(&d->op[OP_READ_SYNC].device);
	d->op[OP_READ_SYNC].count = 0;
	none_is(r, "nothing at all");
	r->looked_before = true;
	none_is(r, "nothing, and nothing before");
	d->kernel.reads = 1;
	none_is(r, "a read that only the kernel saw");
	d->kernel.reads = 0;
	d->kernel.writes = 1;
	none_is(r, "a write that only the kernel saw");
	d->kernel.reads = 2;
	d->kernel.writes = 2;
	none_is(r, "both");
	d->kernel.reads = d->kernel.writes = 0;
	d->in_flight = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	none_is(r, "a FLUSH in flight");
	memset(&d->in_flight, 0, sizeof(d->in_flight));
	add_device(r, "sdb", "write back")->in_flight = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 2 } };
	none_is(r, "writes in flight on the second disk");
	r->device[1].in_flight.have = false;
	none_is(r, "two idle disks");
	r->filter = xstrdup("pid 4");
	none_is(r, "with a filter, that nothing came is no wonder");
}

TEST(meanwhile)
{
	struct report *r = none();
	struct report_device *d = &r->device[0];

	r->sync.others = 2;
	r->sync.others_ns = 5 * MS;
	none_is(r, "others' calls");
	r->filter = xstrdup("pid 4");
	none_is(r, "others' calls, beside a filter");
	r->sync.others = 0;
	ops(d, OP_FLUSH, 1, 4 * MS);
	none_is(r, "a FLUSH");
	ops(d, OP_FLUSH, 1, 4 * MS);
	none_is(r, "two FLUSHes");
	drop(r);
	r = none();
	d = &r->device[0];
	strv_add(&r->command, xstrdup("make"));
	ops(d, OP_WRITE_SYNC, 1, 400 * MS - 1);
	none_is(r, "a write of less than a fifth");
	tally_free(&d->op[OP_WRITE_SYNC].total);
	d->op[OP_WRITE_SYNC].count = 0;
	ops(d, OP_WRITE_SYNC, 1, 400 * MS);
	none_is(r, "a write of a fifth");
	ops(d, OP_WRITE_SYNC, 1, 400 * MS);
	none_is(r, "two writes");
	drop(r);
}

/* ---- others synced ---- */

static void others_are(const struct report *r, const char *what)
{
	struct facts f;

	facts_of(r, &f);
	advises(&f, "device-flush", "others", what);
}

TEST(others_flush)
{
	MADE *r = none();
	struct report_device *d = &r->device[0];

	ops(d, OP_FLUSH, 1, 1500 * MS);
	others_are(r, "one FLUSH");
	ops(d, OP_FLUSH, 1, 100 * MS);
	r->filter = xstrdup("pid 4");
	others_are(r, "two FLUSHes beside a filter");
	r->sync.count = 1;
	r->sync.total_ns = 7 * MS;
	others_are(r, "beside a call");
	r->sync.count = 2;
	others_are(r, "beside two calls");
}

static void add_other(struct report *r, const char *comm, uint32_t pid, uint64_t ns)
{
	struct report_other *o = grow((void **)&r->sync.other, &r->sync.n_other, sizeof(*o));

	snprintf(o->comm, sizeof(o->comm), "%s", comm);
	o->pid = pid;
	o->count = 3;
	o->total_ns = ns;
	r->sync.others += 3;
	r->sync.others_ns += ns;
}

TEST(others_calls)
{
	MADE *r = none();

	r->sync.others = 9;
	r->sync.others_ns = SEC;
	others_are(r, "nobody knows whose");
	r->sync.others = r->sync.others_ns = 0;
	add_other(r, "etcd", 7, 0);
	others_are(r, "nobody has most of no time");
	r->sync.other[0].total_ns = r->sync.others_ns = 1;
	others_are(r, "hardly any time");
	r->sync.other[0].total_ns = r->sync.others_ns = 500 * MS;
	others_are(r, "one process");
	r->sync.other[0].pid = 0;
	others_are(r, "one without a number");
	add_other(r, "pg", 8, 300 * MS);
	add_other(r, "pg", 9, 200 * MS);
	r->sync.other[0].pid = 7;
	others_are(r, "two together took as long: the first");
	r->sync.other[2].total_ns++;
	others_are(r, "two together took longer");
	r->n_devices = 0;
	others_are(r, "no disk is known");
	r->n_devices = 1;
}

/* Half of the calls' time or of the run in FLUSHes is worth a word. */
TEST(others_flushes)
{
	MADE *r = none();

	add_other(r, "a", 7, SEC);
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS - 1);
	others_are(r, "less than half of the calls' time");
	tally_free(&r->device[0].op[OP_FLUSH].device);
	r->device[0].op[OP_FLUSH].count = 0;
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS);
	others_are(r, "half of the calls' time");
	r->sync.others_ns = 5 * SEC;
	others_are(r, "less than half of either");
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS);
	others_are(r, "half of the run");
	add_other(r, "a", 8, SEC);
	add_mount(&r->device[0], "/srv", "nobarrier");
	others_are(r, "a mount without barriers");
	free(r->device[0].mounts[0].dir);
	r->device[0].mounts[0].dir = NULL;
	others_are(r, "one that has no place");
}

/* ---- unsafe ---- */

TEST(unsafe)
{
	static const enum unsafe why[] = { UNSAFE_NOBARRIER, UNSAFE_RANGE, UNSAFE_NO_FLUSH, UNSAFE_WRITE_THROUGH,
					   UNSAFE_TOO_FAST };
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	add_mount(&r->device[0], "/srv", "nobarrier");
	f.unsafe_mount = &r->device[0].mounts[0];
	f.unsafe_dev = f.dev;
	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		f.unsafe = why[i];
		advises(&f, "unsafe-fast", "asked", "unsafe");
	}
}

/* ---- evidence ---- */

TEST(calls)
{
	MADE *r = usual();
	struct facts f;

	memset(&r->sync.latency, 0, sizeof(r->sync.latency));
	for (int i = 0; i < 100; i++)
		hist_add(&r->sync.latency, i < 50 ? 16 : i < 99 ? 32 : 40);
	r->sync.calls[CALL_FSYNC] = 7;
	r->sync.calls[CALL_KERNEL_FSYNC] = 1;
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "calls by kind");
	memset(r->sync.calls, 0, sizeof(r->sync.calls));
	r->wall_ns = 0;
	r->sync.count = 1;
	shows(&f, "one call, of no known kind");
	r->wall_ns = SEC;
	shows(&f, "all of the run");
	r->wall_ns = SEC / 2;
	shows(&f, "more than the run");
	r->sync.count = 0;
	shows(&f, "no calls");
}

TEST(causes)
{
	MADE *r = usual();
	struct facts f;

	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "nothing in the ledger");
	spend(r, CAUSE_CPU, 300);
	spend(r, CAUSE_UNKNOWN, 100);
	spend(r, CAUSE_LOCK, 600);
	shows(&f, "largest first, unknown among them");
	spend(r, CAUSE_RUNQ, 200);
	spend(r, CAUSE_TAG, 200);
	spend(r, CAUSE_IOQ, 200);
	spend(r, CAUSE_JOURNAL, 200);
	spend(r, CAUSE_THROTTLE, 200);
	shows(&f, "the first six and unknown");
}

static void add_leaf(struct report *r, enum cause c, uint64_t ns, const char *path)
{
	struct report_leaf *l = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*l));

	l->cause = c;
	l->ns = ns;
	l->path = path ? xstrdup(path) : NULL;
}

TEST(through)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_JOURNAL, 900, GROUP_LOCK, 0);

	shows(&f, "no leaves");
	add_leaf(r, CAUSE_JOURNAL, 990 * MS, "a;fsync;f;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 5 * MS, NULL);
	add_leaf(r, CAUSE_JOURNAL, 5 * MS, "a;fsync");
	shows(&f, "through nobody");
	add_leaf(r, CAUSE_JOURNAL, 200 * MS, "a;fsync;f;jbd2;journal;sda");
	shows(&f, "through one");
	add_leaf(r, CAUSE_LOCK, 900 * MS, "a;fsync;f;x;lock;sda");
	shows(&f, "another group's is none");
	add_leaf(r, CAUSE_JOURNAL, 200 * MS, "a;fsync;f;kworker;journal;sda");
	shows(&f, "of two that took as long the first by name");
	add_leaf(r, CAUSE_JOURNAL, 100 * MS, "b;fdatasync;g;m;journals;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 100 * MS, "a;fdatasync;g;m;journals;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 1 * MS, "a;fdatasync;h;m;journals;journal;sda");
	shows(&f, "three leaves of one way, through two whose name is longer");
	add_leaf(r, CAUSE_JOURNAL, 202 * MS, "a;fdatasync;h;z;end");
	shows(&f, "a path that doesn't tell where the tasks end");
	add_leaf(r, CAUSE_JOURNAL, 3 * MS, "b;fsync;f;kworker;journal;sda");
	shows(&f, "through one whose name is as long as the cause's");
}

TEST(flushes)
{
	MADE *r = usual();
	struct report_device *d = &r->device[0];
	struct tally *t = &d->op[OP_FLUSH].device;
	struct facts f;

	tally_free(t);
	for (int i = 0; i < 100; i++)
		tally_add(t, i < 50 ? 16 : i < 99 ? 32 : 40);
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "FLUSHes");
	d->kernel.have_flush = false;
	shows(&f, "which this kernel doesn't count");
	d->kernel.have_flush = true;
	d->kernel.have = false;
	shows(&f, "or which nobody asked it");
	d->kernel.have = true;
	tally_free(t);
	tally_add(t, 5 * US);
	shows(&f, "one FLUSH");
	tally_free(t);
	shows(&f, "no FLUSH");
	f.dev = NULL;
	shows(&f, "no disk");
}

/* md0 on three disks with one FLUSH and one write each, of so many milliseconds. */
static struct report *legs(const uint64_t *flush_ms, const uint64_t *write_ms)
{
	static const char *const names[] = { "sda", "sdb", "sdc" };
	struct report *r = start();
	struct report_device *d = add_device(r, "md0", "write back");

	d->bio_based = true;
	for (int i = 0; i < 3; i++)
		strv_add(&d->slaves, xstrdup(names[i]));
	for (int i = 0; i < 3; i++) {
		d = add_device(r, names[i], "write back");
		if (flush_ms[i])
			ops(d, OP_FLUSH, 1, flush_ms[i] * MS);
		if (write_ms[i])
			ops(d, OP_WRITE_SYNC, 1, write_ms[i] * MS);
	}
	spend(r, CAUSE_CPU, 1000);
	return r;
}

static const struct {
	uint64_t flush[3], write[3], waited_flush, waited_write, waited_fua;
	const char *what;
} leg_rows[] = {
	{ { 4, 8, 3 }, { 1, 1, 5 }, 400, 200, 200, "twice the next, of FLUSHes" },
	{ { 4, 7, 3 }, { 1, 1, 5 }, 400, 200, 200, "less than twice the next" },
	{ { 4, 8, 3 }, { 1, 2, 5 }, 399, 200, 200, "writes and FUA together are more" },
	{ { 9, 4, 3 }, { 1, 2, 5 }, 800, 0, 0, "the first one" },
	{ { 3, 4, 9 }, { 1, 2, 5 }, 800, 0, 0, "the last one" },
	{ { 9, 3, 4 }, { 1, 2, 5 }, 800, 0, 0, "the first, and then the last" },
	{ { 9, 4, 4 }, { 1, 2, 5 }, 800, 0, 0, "of two that are equal the first, behind the slow one" },
	{ { 4, 4, 9 }, { 1, 2, 5 }, 800, 0, 0, "and before it" },
	{ { 9, 0, 0 }, { 1, 2, 5 }, 800, 0, 0, "the others did none" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 26, 12, 12, "a twentieth of the time, together" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 25, 12, 12, "less than a twentieth" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 0, 0, 0, "nothing of the time" },
};

TEST(legs)
{
	for (size_t i = 0; i < sizeof(leg_rows) / sizeof(leg_rows[0]); i++) {
		MADE *r = legs(leg_rows[i].flush, leg_rows[i].write);
		struct facts f = facts(r, GROUP_CPU, 0, GROUP_LOCK, 0);

		f.ns[GROUP_FLUSH] = leg_rows[i].waited_flush * MS;
		f.ns[GROUP_WRITE] = leg_rows[i].waited_write * MS;
		f.ns[GROUP_FUA] = leg_rows[i].waited_fua * MS;
		shows(&f, leg_rows[i].what);
	}
}

TEST(no_legs)
{
	MADE *r = legs((uint64_t[]){ 1, 9, 1 }, (uint64_t[]){ 0, 0, 0 });
	struct facts f = facts(r, GROUP_FLUSH, 900, GROUP_LOCK, 0);
	struct report_device top;

	strv_free(r->device[0].slaves);
	r->device[0].slaves = NULL;
	strv_add(&r->device[0].slaves, xstrdup("sdb"));
	shows(&f, "one disk below has none beside it");
	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	strv_add(&r->device[0].slaves, xstrdup("sda"));
	shows(&f, "two disks below");
	f.ns[GROUP_FLUSH] = 0;
	shows(&f, "no time at all");
	top = r->device[0];
	f.ns[GROUP_FLUSH] = MS;
	memmove(&r->device[0], &r->device[1], 3 * sizeof(top));
	r->device[3] = top;
	shows(&f, "which may come before it");
}

TEST(writes)
{
	MADE *r = usual();
	struct report_op_tally *op = &r->device[0].op[OP_WRITE_SYNC];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	tally_free(&op->device);
	tally_free(&op->queue);
	for (int i = 0; i < 100; i++)
		tally_add(&op->device, i < 50 ? 16 : i < 99 ? 32 : 40);
	shows(&f, "writes that were in no queue");
	tally_add(&op->queue, 10 * US);
	tally_add(&op->queue, 20 * US);
	shows(&f, "writes that were");
	r->sync.count = 0;
	shows(&f, "no calls");
	r->sync.count = 1;
	tally_free(&op->device);
	shows(&f, "no writes");
	f.dev = NULL;
	shows(&f, "no disk");
}

TEST(depth)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	f.ahead = 2.5;
	f.flush_mean = 30 * US;
	f.write_fast = 20 * US;
	r->device[0].flush.no_depth = 100;
	shows(&f, "of no FLUSH it was seen");
	r->sync.busy_flushes = 1;
	shows(&f, "of those that were waited for");
	r->sync.busy_flushes = 0;
	r->device[0].flush.no_depth = 99;
	shows(&f, "of others");
	f.ahead = 1.2345; /* the nearest hundredth */
	shows(&f, "rounded down");
	f.ahead = 1.2389;
	f.flush_queued = true;
	shows(&f, "in the queue of writes");
	f.flush_mean = 0;
	shows(&f, "no FLUSH");
	f.flush_mean = 1;
	r->sync.count = 0;
	shows(&f, "no call");
	r->sync.count = 1;
	f.dev = NULL;
	shows(&f, "no disk");
}

TEST(neighbours)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "nobody else");
	r->sync.flush_own_ns = 951;
	r->sync.flush_foreign_ns = 49;
	shows(&f, "less than a twentieth of the flushes for others");
	r->sync.flush_own_ns = 950;
	r->sync.flush_foreign_ns = 50;
	shows(&f, "a twentieth");
	r->sync.flush_own_ns = r->sync.flush_foreign_ns = 0;
	shows(&f, "no flushes");
	add_process(r, "a", 7, 1, 5 * US);
	shows(&f, "one beside it");
	add_process(r, NULL, 8, 2, 2 * US);
	add_process(r, "(other processes)", 0, 9, 2 * US);
	shows(&f, "three");
	add_process(r, "b", 9, 1, US);
	add_process(r, "c", 10, 1, US);
	r->sync.process[0].count = 1;
	shows(&f, "and more");
	drop(r);
	r = usual();
	only(r, (struct member[5]){ { "(other processes)", 0, 1 }, { NULL, 5, 2 } });
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "the rest comes first");
	drop(r);
}

TEST(unsafe_evidence)
{
	MADE *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->sync.unsafe = 40;
	f.unsafe_dev = d;
	shows(&f, "safe");
	f.unsafe = UNSAFE_NO_FLUSH;
	shows(&f, "how many");
	d->have_fua = d->have_rotational = true;
	shows(&f, "neither FUA nor rotation");
	d->fua = d->rotational = true;
	shows(&f, "both");
	add_mount(d, "/srv", "nobarrier");
	f.unsafe_mount = &d->mounts[0];
	shows(&f, "a line of its own beside the mount's");
	free(d->write_cache);
	d->write_cache = NULL;
	shows(&f, "without the cache nothing");
	free(d->mounts[0].options);
	d->mounts[0].options = NULL;
	r->sync.count = 1;
	shows(&f, "which are not known");
}

TEST(settings)
{
	static const enum group said[] = { GROUP_SCHEDULER, GROUP_THROTTLE, GROUP_BUSY };
	MADE *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "settings that don't matter");
	for (size_t i = 0; i < 3; i++) {
		f.first = said[i];
		shows(&f, "settings that matter");
	}
	d->have_wbt = true;
	shows(&f, "no throttling");
	d->wbt_lat_us = 75;
	d->nr_requests = 0;
	shows(&f, "throttling");
	d->nr_requests = 64;
	free(d->scheduler);
	d->scheduler = NULL;
	shows(&f, "no scheduler, nothing");
	f.dev = NULL;
	shows(&f, "no disk");
}

TEST(write_through)
{
	MADE *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "write back");
	free(d->write_cache);
	d->write_cache = xstrdup("write through");
	shows(&f, "write through");
	f.unsafe = UNSAFE_WRITE_THROUGH;
	f.unsafe_dev = d;
	shows(&f, "it is told of already");
	f.unsafe = SAFE;
	strcpy(d->name, "vda");
	shows(&f, "virtio has no bridge");
	strcpy(d->name, "sda");
	r->sync.count = 0;
	shows(&f, "no calls");
	r->sync.count = 1;
	free(d->write_cache);
	d->write_cache = NULL;
	shows(&f, "not known");
	f.dev = NULL;
	shows(&f, "no disk");
}

TEST(gaps)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "all were followed");
	r->sync.no_ledger = 1;
	shows(&f, "one was not");
	r->sync.no_ledger_ns = 20 * US;
	shows(&f, "its time");
	r->sync.without[NO_LEDGER_IDLE] = 1;
	shows(&f, "not because of a loss");
	r->sync.without[NO_LEDGER_IDLE] = 0;
	r->sync.no_ledger = 2;
	shows(&f, "two");
	r->sync.elsewhere = 1;
	r->sync.elsewhere_ns = 30 * US;
	shows(&f, "one elsewhere");
	r->sync.elsewhere = 2;
	shows(&f, "two elsewhere");
	r->sync.count = 0;
	shows(&f, "where there are no others, the sentence tells");
	r->sync.count = 1;
	r->sync.elsewhere = 0;
	shows(&f, "none elsewhere");
}

TEST(others_evidence)
{
	MADE *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "no others");
	add_other(r, "a", 1, 30 * US);
	r->sync.others = 1;
	shows(&f, "one call");
	add_other(r, "b", 2, 20 * US);
	add_other(r, "c", 3, 10 * US);
	shows(&f, "three processes");
	add_other(r, "d", 4, 10 * US);
	add_other(r, "e", 5, 10 * US);
	shows(&f, "and more");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("verdict_words");
}
