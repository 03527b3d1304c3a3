// SPDX-License-Identifier: GPL-2.0-only
/* The words of a verdict: for facts made by hand the whole sentence, the whole evidence, and which advice comes first. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "model/outstanding.h"
#include "util/buf.h"
#include "tap.h"
#include "verdict_report.h"

/* ---- checks ---- */

static void is_text(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what)) {
		diag("is   %s", have ? have : "NULL");
		diag("want %s", want);
	}
}

/* What is not asked about is NULL: the sentence, the lines of evidence, and how the first advice begins. */
static void words_are(const struct facts *f, const char *class, const char *scope, const char *sentence,
		      const char *evidence, const char *advice, const char *what)
{
	struct report_verdict v = { .class = class, .scope = scope };
	struct buf lines = { 0 };

	verdict_words(f, &v);
	if (sentence)
		is_text(v.sentence, sentence, what);
	for (char **s = v.evidence; s && *s; s++)
		buf_printf(&lines, "%s%s", lines.len ? "\n" : "", *s);
	if (evidence)
		is_text(lines.len ? lines.data : "", evidence, what);
	if (advice && !ok(v.advice && !strncmp(v.advice[0], advice, strlen(advice)), "%s: advice", what))
		diag("is   %s", v.advice ? v.advice[0] : "NULL");
	buf_free(&lines);
	free(v.sentence);
	strv_free(v.evidence);
	strv_free(v.advice);
}

static void says(const struct facts *f, const char *class, const char *sentence, const char *what)
{
	words_are(f, class, "asked", sentence, NULL, NULL, what);
}

/* One line of the evidence, or that no line has this. */
static void shows(const struct facts *f, const char *line, bool there, const char *what)
{
	struct report_verdict v = { .class = "mixed", .scope = "asked" };
	bool found = false;

	verdict_words(f, &v);
	for (char **s = v.evidence; s && *s; s++)
		found |= there ? !strcmp(*s, line) : strstr(*s, line) != NULL;
	if (!ok(found == there, "%s", what))
		for (char **s = v.evidence; s && *s; s++)
			diag("%s", *s);
	free(v.sentence);
	strv_free(v.evidence);
	strv_free(v.advice);
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

static const struct {
	enum group group;
	const char *many, *one;
	const char *advice;
} reasons[] = {
	{ GROUP_FLUSH, "the drive takes 7.00 ms to empty its write cache", NULL, "Sync less often" },
	{ GROUP_WRITE, "the drive takes 3.00 ms for a write", NULL, "Sync less often" },
	{ GROUP_READ, "they have to read from the drive first", "it has to read from the drive first",
	  "Give the machine more" },
	{ GROUP_FUA, "the drive takes 5.00 ms for a write that must not stay in its cache (FUA)", NULL, "Sync less often" },
	{ GROUP_DISCARD, "they wait for requests that are neither reads nor writes, such as discards (TRIM)",
	  "it waits for requests that are neither reads nor writes, such as discards (TRIM)", "Mount without the option" },
	{ GROUP_BUSY,
	  "the drive is busy with other requests (2.50 of them before each one that is waited for), not because it is slow to "
	  "empty its cache",
	  NULL, "Move the other I/O" },
	{ GROUP_SCHEDULER,
	  "their requests wait in the kernel's I/O scheduler (mq-deadline) behind other I/O, before the drive "
	  "even sees them",
	  "its requests wait in the kernel's I/O scheduler (mq-deadline) behind other I/O, before the drive even sees them",
	  "Give the other I/O" },
	{ GROUP_THROTTLE, "the kernel holds their I/O back on purpose (writeback throttling, or an I/O limit of a cgroup)",
	  "the kernel holds its I/O back on purpose (writeback throttling, or an I/O limit of a cgroup)",
	  "If the command's cgroup" },
	{ GROUP_RUNQ, "they were ready to go on and had to wait for a CPU, which other programs used",
	  "it was ready to go on and had to wait for a CPU, which other programs used", "Take the load off" },
	{ GROUP_JOURNAL,
	  "the file system's journal lets them wait for other operations, while the journal does no I/O of its own",
	  "the file system's journal lets it wait for other operations, while the journal does no I/O of its own",
	  "Find out who else" },
	{ GROUP_LOCK, "they wait for another task (a lock), not for the disk",
	  "it waits for another task (a lock), not for the disk", "Sync from one thread" },
	{ GROUP_CPU, "the kernel computes; hardly any of the time is a wait for the disk", NULL, "Sync less often" },
};

static void test_reasons(void)
{
	struct report *many = usual(), *one = single();
	struct facts f;

	many->sync.busy_flushes = one->sync.busy_flushes = 100;
	many->sync.busy_in_flight = one->sync.busy_in_flight = 250;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		char *m = xasprintf("Your fsyncs are slow because %s: 90.0 %% of the 1.00 s that sqlite3 spent in fdatasync.",
				    reasons[i].many);
		char *o = xasprintf("The fdatasync of sqlite3 took 1.00 s of the 1.10 s traced. It is slow because %s: 90.0 %% of "
				    "that time.",
				    reasons[i].one ? reasons[i].one : reasons[i].many);

		f = facts(many, reasons[i].group, 900, GROUP_UNKNOWN, 0);
		words_are(&f, "a class", "asked", m, NULL, reasons[i].advice, "a reason, of many calls");
		f = facts(one, reasons[i].group, 900, GROUP_UNKNOWN, 0);
		words_are(&f, "a class", "asked", o, NULL, reasons[i].advice, "a reason, of one call");
		free(m);
		free(o);
	}
	drop(many);
	drop(one);
}

/* What stands between "because " and the colon. */
static void because(struct facts *f, const char *want, const char *what)
{
	struct report_verdict v = { .class = "a class", .scope = "asked" };
	const char *from, *to;
	char *have;

	verdict_words(f, &v);
	from = strstr(v.sentence, "because ");
	from = from ? from + strlen("because ") : v.sentence;
	to = strstr(from, ": ");
	have = to ? strndup(from, (size_t)(to - from)) : xstrdup(from);
	is_text(have, want, what);
	free(have);
	free(v.sentence);
	strv_free(v.evidence);
	strv_free(v.advice);
}

static void test_drive_words(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_FLUSH, 900, GROUP_CPU, 0);

	r->sync.flush_own_ns = r->sync.flush_foreign_ns = 400 * MS;
	because(&f, "the drive takes 7.00 ms to empty its write cache", "as much for itself as for others");
	r->sync.flush_foreign_ns++;
	because(&f, "the drive takes 7.00 ms to empty its write cache, mostly for programs other than the one that waits",
		"a little more for others");
	r->sync.flush_foreign_ns = 0;
	f.flush_p50 = 0;
	because(&f, "the drive takes long to empty its write cache", "no FLUSH was seen");
	f.first = GROUP_WRITE;
	f.write_p50 = 0;
	because(&f, "the drive takes long for a write", "no write was seen");
	f.first = GROUP_BUSY;
	f.ahead = 3.25;
	f.flush_mean = 0;
	because(&f, "the drive is busy with other requests (3.25 of them before each one that is waited for), not because it is slow",
		"no FLUSH that could be slow");
	f.first = GROUP_FUA;
	ops(&r->device[0], OP_FUA, 101, 8 * MS); /* more than half */
	because(&f, "the drive takes 8.00 ms for a write that must not stay in its cache (FUA)",
		"the median of FUA writes");
	f.dev = NULL;
	because(&f, "the drive takes long for a write that must not stay in its cache (FUA)", "no disk that could tell");
	f.first = GROUP_SCHEDULER;
	because(&f, "their requests wait in the kernel's I/O scheduler behind other I/O, before the drive even sees them",
		"a scheduler of no known disk");
	drop(r);
}

/* Half of the FUA writes took 6 ms, the others 1 s: only the median of the right ones is 6 ms. */
static void test_bio_based(void)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "md0", "write back");
	struct facts f;

	spend(r, CAUSE_CPU, 1000);
	d->bio_based = true;
	for (int i = 0; i < 20; i++) {
		tally_add(&d->op[OP_FUA].total, i < 11 ? 6 * MS : SEC);
		tally_add(&d->op[OP_FUA].device, i < 9 ? 6 * MS : SEC);
	}
	f = facts(r, GROUP_FUA, 900, GROUP_CPU, 0);
	because(&f, "md0 takes 6.00 ms for a write that must not stay in its cache (FUA)",
		"by the time in a disk on top, named");
	d->bio_based = false;
	because(&f, "the drive takes 1.00 s for a write that must not stay in its cache (FUA)",
		"by the time in the drive itself");
	drop(r);
}

static void test_slots(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_SCHEDULER, 900, GROUP_CPU, 0);

	r->sync.ledger.ns[CAUSE_TAG] = r->sync.ledger.ns[CAUSE_IOQ] = 300 * MS;
	because(&f, "their requests wait in the kernel's I/O scheduler (mq-deadline) behind other I/O, before the drive even sees them",
		"as long in the scheduler as for a slot");
	words_are(&f, "a class", "asked", NULL, NULL, "Give the other I/O", "as long in the scheduler as for a slot");
	r->sync.ledger.ns[CAUSE_TAG]++;
	because(&f, "they wait for one of the disk's few request slots (64), which other I/O holds", "longer for a slot");
	words_are(&f, "a class", "asked", NULL, NULL, "Raise queue/nr_requests", "longer for a slot");
	f.first = GROUP_CPU;
	words_are(&f, "a class", "asked", NULL, NULL, "Sync less often", "longer for a slot, but it is the CPU's");
	f.first = GROUP_SCHEDULER;
	r->device[0].nr_requests = 0;
	because(&f, "they wait for one of the disk's few request slots, which other I/O holds", "how many is not known");
	f.dev = NULL;
	because(&f, "they wait for one of the disk's few request slots, which other I/O holds", "nor the disk");
	r->sync.ledger.ns[CAUSE_TAG] = 0;
	f.dev = &r->device[0];
	free(r->device[0].scheduler);
	r->device[0].scheduler = NULL;
	because(&f, "their requests wait in the kernel's I/O scheduler behind other I/O, before the drive even sees them",
		"which scheduler is not known");
	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 1;
	r->sync.ledger.ns[CAUSE_TAG] = 900 * MS;
	because(&f, "it waits for one of the disk's few request slots, which other I/O holds", "one call for a slot");
	drop(r);
}

static void test_volume(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_VOLUME, 900, GROUP_CPU, 0);

	f.volume = (struct volume){ 100, SEC, 2000, 200ull << 20, { 300 * MS, 200 * MS } };
	r->wall_ns = SEC; /* as long as the calls */
	because(&f, "each writes 2 MiB in 20 requests, and the drive takes 400 MiB/s",
		"what each writes, and the disk's speed");
	r->wall_ns = SEC - 1;
	because(&f, "each writes 2 MiB in 20 requests", "side by side, the speed is not one call's");
	r->wall_ns = SEC;
	memset(f.volume.wait_ns, 0, sizeof(f.volume.wait_ns));
	because(&f, "each writes 2 MiB in 20 requests", "without a wait there is no speed");
	f.for_everybody = true;
	because(&f, "each writes whatever is dirty, 2 MiB in 20 requests", "for everybody");
	r->device[0].bio_based = true;
	f.volume.wait_ns[0] = SEC;
	because(&f, "each writes whatever is dirty, 2 MiB in 20 requests, and sda takes 200 MiB/s",
		"of a disk on top of others");
	words_are(&f, "a class", "asked", NULL, NULL, "Write less before each call", "what to do");
	drop(r);
}

/* ---- how slow ---- */

static void test_how_slow(void)
{
	struct report *r = usual();
	struct facts f;

	r->sync.total_ns = 100 * MS; /* a millisecond each */
	r->sync.process[0].total_ns = 100 * MS;
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	says(&f, "cpu",
	     "Your fsyncs are slow because the kernel computes; hardly any of the time is a wait for the disk: 90.0 % of the 100 "
	     "ms that sqlite3 spent in fdatasync.",
	     "a millisecond each is slow");
	r->sync.total_ns -= 100;
	says(&f, "cpu",
	     "Your fsyncs are quick (1.00 ms on average). Most of that is there because the kernel computes; hardly any of the time "
	     "is a wait for the disk: 90.0 % of the 100 ms that sqlite3 spent in fdatasync.",
	     "less is quick");
	f.near = "lock";
	says(&f, "cpu",
	     "Your fsyncs are quick (1.00 ms on average). Most of that is probably there because the kernel computes; hardly any of "
	     "the time is a wait for the disk: 90.0 % of the 100 ms that sqlite3 spent in fdatasync. Another reading is near: they "
	     "wait for another task.",
	     "probably");
	r->sync.total_ns += 100;
	says(&f, "cpu",
	     "Your fsyncs are probably slow because the kernel computes; hardly any of the time is a wait for the disk: 90.0 % of "
	     "the 100 ms that sqlite3 spent in fdatasync. Another reading is near: they wait for another task.",
	     "probably slow");
	drop(r);
}

static void test_few(void)
{
	static const struct {
		uint64_t count, total_ns, wall_ns;
		const char *begins, *what;
	} rows[] = {
		{ 10, SEC, SEC, "Your fsyncs are slow because ", "ten calls are what a program does" },
		{ 9, SEC, SEC, "The 9 fdatasyncs of sqlite3 took 1.00 s of the 1.00 s traced. They are slow because ",
		  "nine are these, in a run as long as they" },
		{ 9, SEC, SEC - 1, "The 9 fdatasyncs of sqlite3 took 1.00 s. They are slow because ", "in a shorter run" },
		{ 2, 2 * MS, SEC, "The 2 fdatasyncs of sqlite3 took 2.00 ms of the 1.00 s traced. They are slow because ",
		  "two of a millisecond" },
		{ 2, 2 * MS - 2, SEC,
		  "The 2 fdatasyncs of sqlite3 took 2.00 ms of the 1.00 s traced. They are quick (1.00 ms on average). Most of that "
		  "is there because ",
		  "two of less" },
		{ 1, 500 * US, SEC,
		  "The fdatasync of sqlite3 took 500 µs of the 1.00 s traced. It is quick (500 µs). Most of that is there because ",
		  "one of less" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *r = usual();
		struct facts f;
		char *want;

		r->sync.count = r->sync.calls[CALL_FDATASYNC] = rows[i].count;
		r->sync.total_ns = r->sync.process[0].total_ns = rows[i].total_ns;
		r->wall_ns = rows[i].wall_ns;
		f = facts(r, GROUP_CPU, 600, GROUP_LOCK, 0);
		want = xasprintf("%sthe kernel computes; hardly any of the time is a wait for the disk: 60.0 %% of %s",
				 rows[i].begins,
				 rows[i].count < 10 ? "that time." : "the 1.00 s that sqlite3 spent in fdatasync.");
		says(&f, "cpu", want, rows[i].what);
		free(want);
		drop(r);
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
	const char *who, *what;
} crowds[] = {
	{ { { "db", 7, 900 } }, "db", "nine tenths are all" },
	{ { { "db", 7, 899 } }, "programs", "a little less is nobody, where nobody else is known" },
	{ { { "db", 7, 899 }, { "fio", 8, 101 } }, "2 processes", "a little less, beside another" },
	{ { { "fio", 8, 50 }, { "db", 7, 950 } }, "db", "the one with most is not the first" },
	{ { { "(other processes)", 0, 950 }, { "db", 7, 50 } }, "more than 1 process", "most is the rest's" },
	{ { { "db", 7, 40 }, { "(other processes)", 0, 960 } }, "more than 1 process", "the rest comes last" },
	{ { { "a", 7, 400 }, { "b", 9, 300 }, { "c", 8, 300 } }, "3 processes", "three, by number" },
	{ { { "a", 9, 400 }, { "b", 8, 300 }, { "c", 9, 300 } }, "2 processes", "of which two are one" },
	{ { { NULL, 9, 950 }, { "b", 8, 50 } }, "2 processes", "one without a name" },
	{ { { NULL, 0, 0 } }, "programs", "nobody" },
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

static void test_who(void)
{
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		struct report *r = usual();
		char *want = xasprintf("Your fsyncs are slow because the kernel computes; hardly any of the time is a wait for the disk: "
				       "90.0 %% of the 1.00 s that %s spent in fdatasync.",
				       crowds[i].who);
		struct facts f;

		only(r, crowds[i].of);
		f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
		says(&f, "cpu", want, crowds[i].what);
		free(want);
		drop(r);
	}
}

static void test_in_what(void)
{
	static const struct {
		unsigned int call, n;
		const char *many, *one, *what;
	} rows[] = {
		{ CALL_FSYNC, 90, "fsync", "The 90 fsyncs", "nine tenths are all" },
		{ CALL_FSYNC, 89, "sync calls", "The 89 sync calls", "a little less is no kind" },
		{ CALL_WRITE, 100, "synchronous writes", "", "writes" },
		{ CALL_KERNEL_FSYNC, 100, "fsync by the kernel", "", "the last kind" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *r = usual();
		const char *name = i == 3 ? call_name(CALL_KERNEL_FSYNC) : rows[i].many;
		char *want = xasprintf("Your fsyncs are slow because the kernel computes; hardly any of the time is a wait for the disk: "
				       "90.0 %% of the 1.00 s that sqlite3 spent in %s%s.",
				       name, i == 3 && strchr(name, ' ') ? "s" : "");
		struct facts f;

		memset(r->sync.calls, 0, sizeof(r->sync.calls));
		r->sync.calls[rows[i].call] = rows[i].n;
		r->sync.calls[CALL_MSYNC] = 100 - rows[i].n;
		f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
		says(&f, "cpu", want, rows[i].what);
		free(want);
		drop(r);
	}
}

static void test_the_sync_of_sync(void)
{
	struct report *r = single();
	struct facts f;

	r->sync.calls[CALL_FDATASYNC] = 0;
	r->sync.calls[CALL_SYNC] = 1;
	only(r, (struct member[5]){ { "sync", 7, 1000 } });
	f = facts(r, GROUP_CPU, 1000, GROUP_LOCK, 0);
	says(&f, "cpu",
	     "The sync call of sync took 1.00 s of the 1.10 s traced. It is slow because the kernel computes; hardly any of the time "
	     "is a wait for the disk: 100 % of that time.",
	     "a program that is called as its call");
	only(r, (struct member[5]){ { "cat", 7, 1000 } });
	says(&f, "cpu",
	     "The sync of cat took 1.00 s of the 1.10 s traced. It is slow because the kernel computes; hardly any of the time is a "
	     "wait for the disk: 100 % of that time.",
	     "and one that is not");
	drop(r);
}

/* ---- no single reason ---- */

static void test_mixed(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_WRITE, 400, GROUP_JOURNAL, 300);

	says(&f, "mixed",
	     "There is no single reason for the time of your fsyncs: 40.0 % of the 1.00 s that sqlite3 spent in fdatasync went to "
	     "writes in the drive, 30.0 % to the journal.",
	     "two groups");
	f.near = "device-write";
	says(&f, "mixed",
	     "There is probably no single reason for the time of your fsyncs: 40.0 % of the 1.00 s that sqlite3 spent in fdatasync "
	     "went to writes in the drive, 30.0 % to the journal. Another reading is near: the drive is slow to write.",
	     "probably");
	f = facts(r, GROUP_UNKNOWN, 500, GROUP_FLUSH, 300);
	says(&f, "mixed",
	     "There is no single reason for the time of your fsyncs: 50.0 % of the 1.00 s that sqlite3 spent in fdatasync is not "
	     "explained. 30.0 % went to flushes of the drive's cache.",
	     "half is not explained");
	f.ns[GROUP_UNKNOWN]++;
	says(&f, "mixed",
	     "Where most of the time of your fsyncs went is not known: 50.0 % of the 1.00 s that sqlite3 spent in fdatasync is not "
	     "explained. 30.0 % went to flushes of the drive's cache.",
	     "more than half is not explained");
	words_are(&f, "mixed", "asked", NULL, NULL, "Sync less often", "what to do");
	f = facts(r, GROUP_FLUSH, 400, GROUP_UNKNOWN, 300);
	says(&f, "mixed",
	     "There is no single reason for the time of your fsyncs: 40.0 % of the 1.00 s that sqlite3 spent in fdatasync went to "
	     "flushes of the drive's cache, 30.0 % is not explained.",
	     "the second is what is not explained");
	drop(r);
}

static void test_not_sync(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->wall_ns = 10 * SEC;
	words_are(&f, "not-sync", "asked",
		  "Fsync is not what makes this run take its time: of its 10.0 s, 1.00 s (10.0 %) went to sync calls.",
		  NULL, "Look elsewhere", "not sync");
	f.near = "cpu";
	says(&f, "not-sync",
	     "Fsync is probably not what makes this run take its time: of its 10.0 s, 1.00 s (10.0 %) went to sync calls. Another "
	     "reading is near: the kernel computes.",
	     "probably not");
	f.near = "device-flush";
	says(&f, "not-sync",
	     "Fsync is probably not what makes this run take its time: of its 10.0 s, 1.00 s (10.0 %) went to sync calls. Another "
	     "reading is near: the drive is slow to empty its write cache.",
	     "the first of the other readings");
	f.near = "unsafe-fast";
	says(&f, "not-sync",
	     "Fsync is probably not what makes this run take its time: of its 10.0 s, 1.00 s (10.0 %) went to sync calls. Another "
	     "reading is near: they are not safe.",
	     "the last of them");
	drop(r);
}

/* ---- what is said behind any sentence ---- */

#define NOT "Fsync is not what makes this run take its time: of its 1.10 s, 1.00 s (90.9 %) went to sync calls."

static void test_left(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	says(&f, "not-sync", NOT, "nothing was left");
	r->left_running = 1;
	r->left_pid = 99;
	strcpy(r->left_comm, "mysqld");
	says(&f, "not-sync",
	     NOT " The command left mysqld (99) running. What it does from then on is not in this report: watch barriertrace -p 99.",
	     "one that was left");
	r->left_running = 2;
	says(&f, "not-sync",
	     NOT " The command left 2 processes running, such as mysqld (99). What they do from then on is not in this report: "
		 "watch barriertrace -p 99.",
	     "two that were left");
	drop(r);
}

static void test_under_way(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->under_way_ns = 3 * SEC;
	r->under_way = 1;
	says(&f, "not-sync", NOT " One more had not returned after 3.00 s.", "one under way");
	r->under_way = 2;
	says(&f, "not-sync", NOT " 2 more had not returned, the oldest after 3.00 s.", "two under way");
	r->sync.count = 0;
	says(&f, "not-sync", NOT " 2 had not returned, the oldest after 3.00 s.", "nothing that they are more than");
	r->under_way = 1;
	says(&f, "not-sync", NOT " One had not returned after 3.00 s.", "nothing that it is more than");
	drop(r);
}

static void test_began_before(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->began_before = 1;
	r->began_before_ns = SEC;
	says(&f, "not-sync", NOT " One call began before the trace and returned after at least 1.00 s.",
	     "a call that is in no figure");
	drop(r);
}

static void test_too_little(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->sync.total_ns = 30 * US;
	r->sync.count = 2;
	words_are(&f, "too-little-data", "asked", "Too little data for a verdict: 2 sync calls, 30.0 µs in all.", NULL,
		  "Trace for longer", "two calls");
	r->sync.count = 1;
	r->sync.no_ledger = 7;
	r->sync.lost = 5;
	says(&f, "too-little-data",
	     "Too little data for a verdict: 1 sync call, 30.0 µs in all, and 7 more that could not be followed.",
	     "one call, and some that could not be followed");
	r->sync.count = r->sync.no_ledger = 0;
	says(&f, "too-little-data",
	     "Too little data for a verdict: 0 sync calls, 30.0 µs in all, and 5 events were lost.", "events");
	r->sync.lost = 1;
	says(&f, "too-little-data",
	     "Too little data for a verdict: 0 sync calls, 30.0 µs in all, and 1 event was lost.", "one event");
	drop(r);
}

/* ---- nobody synced ---- */

#define NONE "There was no sync call (fsync or the like)"

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

static void none_is(const struct report *r, const char *sentence, const char *advice, const char *what)
{
	struct facts f;

	facts_of(r, &f);
	words_are(&f, "no-sync", "asked", sentence, NULL, advice, what);
}

static void test_none(void)
{
	struct report *r = none();

	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync, unless one hangs that began before.",
		"Look elsewhere", "a disk that is watched");
	r->looked_before = true;
	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"one that was looked at before");
	r->filter = xstrdup("pid 4");
	r->looked_before = false;
	none_is(r,
		NONE " by the filtered tasks in the 2.00 s traced: whatever is slow, it isn't fsync, unless one "
		     "hangs that began before.",
		"Look elsewhere", "a filter");
	strv_add(&r->command, xstrdup("/usr/bin/make"));
	none_is(r, NONE " by make in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a command by its name");
	free(r->command[0]);
	r->command[0] = xstrdup("/bin/w");
	none_is(r, NONE " by w in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a name of one letter");
	free(r->command[0]);
	r->command[0] = xstrdup("/odd/");
	none_is(r, NONE " by /odd/ in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"one without a name");
	r->exit_status = 3;
	none_is(r, NONE " by /odd/ in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a status that is not known");
	r->have_exit_status = true;
	none_is(r, NONE " by /odd/ in the 2.00 s traced, and it ended with exit status 3.", "See in the command's own",
		"one that failed");
	r->exit_status = 0;
	none_is(r, NONE " by /odd/ in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"one that did not");
	r->left_running = 1;
	r->left_pid = 5;
	strcpy(r->left_comm, "d");
	none_is(r,
		NONE " by /odd/ in the 2.00 s traced. The command left d (5) running. What it does from then on is not in this report: watch "
		     "barriertrace -p 5.",
		"Watch what it left", "one that left something");
	drop(r);
}

static void test_elsewhere(void)
{
	struct report *r = none();

	r->sync.elsewhere = 1;
	r->sync.elsewhere_ns = 30 * MS;
	none_is(r,
		"In the 2.00 s traced no sync call (fsync or the like) was on the disks that were traced, but 1 was elsewhere, which took "
		"30.0 ms.",
		"Trace the disks", "one was elsewhere");
	r->sync.elsewhere = 2;
	none_is(r,
		"In the 2.00 s traced no sync call (fsync or the like) was on the disks that were traced, but 2 were elsewhere, which took "
		"30.0 ms.",
		"Trace the disks", "two were elsewhere");
	drop(r);
}

#define IDLE   NONE " and no other I/O in the 2.00 s traced: trace while it is slow."
#define BEFORE " A call that hangs since before would not be seen."

static void test_nothing(void)
{
	struct report *r = none();
	struct report_device *d = &r->device[0];

	d->kernel.reads = 100;
	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync, unless one hangs that began before.",
		"Look elsewhere", "as many reads as the kernel saw");
	d->kernel.reads = 0;
	tally_free(&d->op[OP_READ_SYNC].device);
	d->op[OP_READ_SYNC].count = 0;
	none_is(r, IDLE BEFORE, "Trace while", "nothing at all");
	r->looked_before = true;
	none_is(r, IDLE, "Trace while", "nothing, and nothing before");
	d->kernel.reads = 1;
	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a read that only the kernel saw");
	d->kernel.reads = 0;
	d->kernel.writes = 1;
	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a write that only the kernel saw");
	d->kernel.reads = 2;
	d->kernel.writes = 2;
	none_is(r, NONE " in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere", "both");
	d->kernel.reads = d->kernel.writes = 0;
	d->in_flight = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	none_is(r, NONE " in the 2.00 s traced, but sda completed nothing, and had 1 FLUSH in flight at the end.",
		"Look elsewhere", "a FLUSH in flight");
	memset(&d->in_flight, 0, sizeof(d->in_flight));
	add_device(r, "sdb", "write back")->in_flight = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 2 } };
	none_is(r, NONE " in the 2.00 s traced, but sdb completed nothing, and had 2 writes in flight at the end.",
		"Look elsewhere", "writes in flight on the second disk");
	r->device[1].in_flight.have = false;
	none_is(r, IDLE, "Trace while", "two idle disks");
	r->filter = xstrdup("pid 4");
	none_is(r, NONE " by the filtered tasks in the 2.00 s traced: whatever is slow, it isn't fsync.",
		"Look elsewhere", "with a filter, that nothing came is no wonder");
	drop(r);
}

static void test_meanwhile(void)
{
	struct report *r = none();
	struct report_device *d = &r->device[0];

	r->sync.others = 2;
	r->sync.others_ns = 5 * MS;
	none_is(r, NONE " in the 2.00 s traced. Meanwhile others made 2, 5.00 ms in all.", "Trace while", "others' calls");
	r->filter = xstrdup("pid 4");
	none_is(r, NONE " by the filtered tasks in the 2.00 s traced. Meanwhile others made 2, 5.00 ms in all.",
		"Watch the server's", "others' calls, beside a filter");
	r->sync.others = 0;
	ops(d, OP_FLUSH, 1, 4 * MS);
	none_is(r, NONE " by the filtered tasks in the 2.00 s traced. Meanwhile sda did 1 FLUSH, 4.00 ms in all.",
		"Watch the server's", "a FLUSH");
	ops(d, OP_FLUSH, 1, 4 * MS);
	none_is(r, NONE " by the filtered tasks in the 2.00 s traced. Meanwhile sda did 2 FLUSHes, 8.00 ms in all.",
		NULL, "two FLUSHes");
	drop(r);
	r = none();
	d = &r->device[0];
	strv_add(&r->command, xstrdup("make"));
	ops(d, OP_WRITE_SYNC, 1, 400 * MS - 1);
	none_is(r, NONE " by make in the 2.00 s traced: whatever is slow, it isn't fsync.", "Look elsewhere",
		"a write of less than a fifth");
	tally_free(&d->op[OP_WRITE_SYNC].total);
	d->op[OP_WRITE_SYNC].count = 0;
	ops(d, OP_WRITE_SYNC, 1, 400 * MS);
	none_is(r, NONE " by make in the 2.00 s traced. Meanwhile sda did 1 write, 400 ms in all.",
		"Watch the server's", "a write of a fifth");
	ops(d, OP_WRITE_SYNC, 1, 400 * MS);
	none_is(r, NONE " by make in the 2.00 s traced. Meanwhile sda did 2 writes, 800 ms in all.", NULL, "two writes");
	drop(r);
}

/* ---- others synced ---- */

static void others_are(const struct report *r, const char *sentence, const char *what)
{
	struct facts f;

	facts_of(r, &f);
	words_are(&f, "device-flush", "others", sentence, NULL, "Watch the server's", what);
}

static void test_others_flush(void)
{
	struct report *r = none();
	struct report_device *d = &r->device[0];

	ops(d, OP_FLUSH, 1, 1500 * MS);
	others_are(r, NONE ", but sda spent 1.50 s of the 2.00 s traced in 1 FLUSH. Watch the disk: barriertrace sda.",
		   "one FLUSH");
	ops(d, OP_FLUSH, 1, 100 * MS);
	r->filter = xstrdup("pid 4");
	others_are(r,
		   NONE " by the filtered tasks, but sda spent 1.60 s of the 2.00 s traced in 2 FLUSHes that others sent. Watch the disk: "
			"barriertrace sda.",
		   "two FLUSHes beside a filter");
	r->sync.count = 1;
	r->sync.total_ns = 7 * MS;
	others_are(r,
		   "The 1 sync call of the filtered tasks took 7.00 ms, but sda spent 1.60 s of the 2.00 s traced in 2 FLUSHes that others "
		   "sent. Watch the disk: barriertrace sda.",
		   "beside a call");
	r->sync.count = 2;
	others_are(r,
		   "The 2 sync calls of the filtered tasks took 7.00 ms, but sda spent 1.60 s of the 2.00 s traced in 2 FLUSHes that others "
		   "sent. Watch the disk: barriertrace sda.",
		   "beside two calls");
	drop(r);
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

#define OTHERS NONE ", but others made "

static void test_others_calls(void)
{
	struct report *r = none();

	r->sync.others = 9;
	r->sync.others_ns = SEC;
	others_are(r, OTHERS "9 on the same disks (1.00 s in all, in a run of 2.00 s). Watch the disk: barriertrace sda.",
		   "nobody knows whose");
	r->sync.others = r->sync.others_ns = 0;
	add_other(r, "etcd", 7, 0);
	others_are(r, OTHERS "3 on the same disks (0 ns in all, in a run of 2.00 s). Watch the disk: barriertrace sda.",
		   "nobody has most of no time");
	r->sync.other[0].total_ns = r->sync.others_ns = 1;
	others_are(r,
		   OTHERS
		   "3 on the same disks (1 ns in all, in a run of 2.00 s), most of it by etcd (7). Watch it: barriertrace -p 7.",
		   "hardly any time");
	r->sync.other[0].total_ns = r->sync.others_ns = 500 * MS;
	others_are(r,
		   OTHERS
		   "3 on the same disks (500 ms in all, in a run of 2.00 s), most of it by etcd (7). Watch it: barriertrace -p 7.",
		   "one process");
	r->sync.other[0].pid = 0;
	others_are(r,
		   OTHERS
		   "3 on the same disks (500 ms in all, in a run of 2.00 s), most of it by etcd (0). Watch the disk: barriertrace sda.",
		   "one without a number");
	add_other(r, "pg", 8, 300 * MS);
	add_other(r, "pg", 9, 200 * MS);
	r->sync.other[0].pid = 7;
	others_are(r,
		   OTHERS
		   "9 on the same disks (1.00 s in all, in a run of 2.00 s), most of it by etcd (7). Watch it: barriertrace -p 7.",
		   "two together took as long: the first");
	r->sync.other[2].total_ns++;
	others_are(r,
		   OTHERS "9 on the same disks (1.00 s in all, in a run of 2.00 s), most of it by pg (2 processes). Watch the disk: "
			  "barriertrace sda.",
		   "two together took longer");
	r->n_devices = 0;
	others_are(r,
		   OTHERS
		   "9 on the same disks (1.00 s in all, in a run of 2.00 s), most of it by pg (2 processes). Watch the disk.",
		   "no disk is known");
	r->n_devices = 1;
	drop(r);
}

/* Half of the calls' time or of the run in FLUSHes is worth a word. */
static void test_others_flushes(void)
{
	struct report *r = none();

	add_other(r, "a", 7, SEC);
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS - 1);
	others_are(r,
		   OTHERS
		   "3 on the same disks (1.00 s in all, in a run of 2.00 s), most of it by a (7). Watch it: barriertrace -p 7.",
		   "less than half of the calls' time");
	tally_free(&r->device[0].op[OP_FLUSH].device);
	r->device[0].op[OP_FLUSH].count = 0;
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS);
	others_are(r,
		   OTHERS "3 on the same disks (1.00 s in all, in a run of 2.00 s), most of it by a (7). sda spent 500 ms in FLUSHes. Watch "
			  "it: barriertrace -p 7.",
		   "half of the calls' time");
	r->sync.others_ns = 5 * SEC;
	others_are(r,
		   OTHERS
		   "3 on the same disks (5.00 s in all, in a run of 2.00 s), most of it by a (7). Watch it: barriertrace -p 7.",
		   "less than half of either");
	ops(&r->device[0], OP_FLUSH, 1, 500 * MS);
	others_are(r,
		   OTHERS "3 on the same disks (5.00 s in all, in a run of 2.00 s), most of it by a (7). sda spent 1.00 s in FLUSHes. Watch "
			  "it: barriertrace -p 7.",
		   "half of the run");
	add_other(r, "a", 8, SEC);
	add_mount(&r->device[0], "/srv", "nobarrier");
	others_are(r,
		   OTHERS
		   "6 on the same disks (6.00 s in all, in a run of 2.00 s), most of it by a (2 processes). sda spent 1.00 s in "
		   "FLUSHes. /srv is mounted without barriers: what is synced there may not survive a power cut. Watch the disk: "
		   "barriertrace sda.",
		   "a mount without barriers");
	free(r->device[0].mounts[0].dir);
	r->device[0].mounts[0].dir = NULL;
	others_are(r,
		   OTHERS
		   "6 on the same disks (6.00 s in all, in a run of 2.00 s), most of it by a (2 processes). sda spent 1.00 s in "
		   "FLUSHes. sda is mounted without barriers: what is synced there may not survive a power cut. Watch the disk: "
		   "barriertrace sda.",
		   "one that has no place");
	drop(r);
}

/* ---- unsafe ---- */

static void test_unsafe(void)
{
	static const struct {
		enum unsafe unsafe;
		const char *sentence, *advice;
	} rows[] = {
		{ UNSAFE_NOBARRIER,
		  "Your fsyncs are not safe: /srv is mounted without barriers (nobarrier), so the drive sda is never told to empty its "
		  "write cache, and a power cut loses what fsync said was written.",
		  "Unless the cache survives" },
		{ UNSAFE_RANGE,
		  "Your sync calls are not safe: sync_file_range never makes the drive sda empty its write cache, so a power cut loses what "
		  "it said was written.",
		  "Call fdatasync" },
		{ UNSAFE_NO_FLUSH,
		  "Your fsyncs are not safe: they returned without the drive sda being told to empty its write cache, and a power cut loses "
		  "what they said was written.",
		  "Find out what swallows" },
		{ UNSAFE_WRITE_THROUGH,
		  "Your fsyncs are probably not safe: the kernel takes the disk sda for one without a volatile cache and never flushes it, "
		  "but 3.00 ms for a write is too fast for a turning disk.",
		  "Ask the drive itself" },
		{ UNSAFE_TOO_FAST,
		  "Your fsyncs are perhaps not safe: the disk sda says after 7.00 ms that its write cache is empty, which is too fast for a "
		  "turning disk.",
		  "Ask the drive itself" },
	};
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	add_mount(&r->device[0], "/srv", "nobarrier");
	f.unsafe_mount = &r->device[0].mounts[0];
	f.unsafe_dev = f.dev;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f.unsafe = rows[i].unsafe;
		words_are(&f, "unsafe-fast", "asked", rows[i].sentence, NULL, rows[i].advice, "unsafe");
	}
	drop(r);
}

/* ---- evidence ---- */

static void test_calls(void)
{
	struct report *r = usual();
	struct facts f;
	char *line;

	memset(&r->sync.latency, 0, sizeof(r->sync.latency));
	for (int i = 0; i < 100; i++)
		hist_add(&r->sync.latency, i < 50 ? 16 : i < 99 ? 32 : 40);
	r->sync.calls[CALL_FSYNC] = 7;
	r->sync.calls[CALL_KERNEL_FSYNC] = 1;
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	line = xasprintf("100 sync calls (7 fsync, 100 fdatasync, 1 %s) took 1.00 s: p50 16 ns, p99 32 ns, longest 40 ns",
			 call_name(CALL_KERNEL_FSYNC));
	shows(&f, line, true, "calls by kind");
	free(line);
	shows(&f, "That is 90.9 % of the 1.10 s that the run took", true, "and of the run");
	memset(r->sync.calls, 0, sizeof(r->sync.calls));
	r->wall_ns = 0;
	r->sync.count = 1;
	shows(&f, "1 sync call took 1.00 s: p50 16 ns, p99 32 ns, longest 40 ns", true, "one call, of no known kind");
	shows(&f, "the run took", false, "how long the run took is not known");
	r->wall_ns = SEC;
	shows(&f, "That is 100 % of the 1.00 s that the run took", true, "all of the run");
	r->wall_ns = SEC / 2;
	shows(&f, "Several at once: together 2.00 times the 500 ms that the run took", true, "more than the run");
	r->sync.count = 0;
	shows(&f, "0 sync calls in 500 ms", true, "no calls");
	shows(&f, "the run took", false, "and no part of the run");
	drop(r);
}

static void test_causes(void)
{
	struct report *r = usual();
	struct facts f;

	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "Where that time went", false, "nothing in the ledger");
	spend(r, CAUSE_CPU, 300);
	spend(r, CAUSE_UNKNOWN, 100);
	spend(r, CAUSE_LOCK, 600);
	shows(&f, "Where that time went: lock 60.0 %, cpu 30.0 %, unknown 10.0 %", true,
	      "largest first, unknown among them");
	spend(r, CAUSE_RUNQ, 200);
	spend(r, CAUSE_TAG, 200);
	spend(r, CAUSE_IOQ, 200);
	spend(r, CAUSE_JOURNAL, 200);
	spend(r, CAUSE_THROTTLE, 200);
	shows(&f, "Where that time went: lock 30.0 %, cpu 15.0 %, runq 10.0 %, throttle 10.0 %, tag 10.0 %, ioq 10.0 %; unknown 5.0 %",
	      true, "the first six and unknown");
	drop(r);
}

static void add_leaf(struct report *r, enum cause c, uint64_t ns, const char *path)
{
	struct report_leaf *l = grow((void **)&r->sync.leaf, &r->sync.n_leaves, sizeof(*l));

	l->cause = c;
	l->ns = ns;
	l->path = path ? xstrdup(path) : NULL;
}

#define THROUGH "The largest part that went through other tasks, "

static void test_through(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_JOURNAL, 900, GROUP_LOCK, 0);

	shows(&f, "by way of", false, "no leaves");
	add_leaf(r, CAUSE_JOURNAL, 990 * MS, "a;fsync;f;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 5 * MS, NULL);
	add_leaf(r, CAUSE_JOURNAL, 5 * MS, "a;fsync");
	shows(&f, "by way of", false, "through nobody");
	add_leaf(r, CAUSE_JOURNAL, 200 * MS, "a;fsync;f;jbd2;journal;sda");
	shows(&f, THROUGH "20.0 %: journal, by way of jbd2", true, "through one");
	add_leaf(r, CAUSE_LOCK, 900 * MS, "a;fsync;f;x;lock;sda");
	shows(&f, THROUGH "20.0 %: journal, by way of jbd2", true, "another group's is none");
	add_leaf(r, CAUSE_JOURNAL, 200 * MS, "a;fsync;f;kworker;journal;sda");
	shows(&f, THROUGH "20.0 %: journal, by way of jbd2", true, "of two that took as long the first by name");
	add_leaf(r, CAUSE_JOURNAL, 100 * MS, "b;fdatasync;g;m;journals;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 100 * MS, "a;fdatasync;g;m;journals;journal;sda");
	add_leaf(r, CAUSE_JOURNAL, 1 * MS, "a;fdatasync;h;m;journals;journal;sda");
	shows(&f, THROUGH "20.1 %: journal, by way of m, journals", true,
	      "three leaves of one way, through two whose name is longer");
	add_leaf(r, CAUSE_JOURNAL, 202 * MS, "a;fdatasync;h;z;end");
	shows(&f, THROUGH "20.2 %: journal, by way of z, end", true, "a path that doesn't tell where the tasks end");
	add_leaf(r, CAUSE_JOURNAL, 3 * MS, "b;fsync;f;kworker;journal;sda");
	shows(&f, THROUGH "20.3 %: journal, by way of kworker", true, "through one whose name is as long as the cause's");
	drop(r);
}

static void test_flushes(void)
{
	struct report *r = usual();
	struct report_device *d = &r->device[0];
	struct tally *t = &d->op[OP_FLUSH].device;
	struct facts f;

	tally_free(t);
	for (int i = 0; i < 100; i++)
		tally_add(t, i < 50 ? 16 : i < 99 ? 32 : 40);
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "sda did 100 FLUSHes: p50 16 ns, p99 32 ns; the kernel itself counted 100, 700 ms", true, "FLUSHes");
	d->kernel.have_flush = false;
	shows(&f, "sda did 100 FLUSHes: p50 16 ns, p99 32 ns", true, "which this kernel doesn't count");
	d->kernel.have_flush = true;
	d->kernel.have = false;
	shows(&f, "sda did 100 FLUSHes: p50 16 ns, p99 32 ns", true, "or which nobody asked it");
	d->kernel.have = true;
	tally_free(t);
	tally_add(t, 5 * US);
	shows(&f, "sda did 1 FLUSH: p50 5.00 µs, p99 5.00 µs; the kernel itself counted 100, 700 ms", true, "one FLUSH");
	tally_free(t);
	shows(&f, "sda did no FLUSH; the kernel itself counted 100, 700 ms", true, "no FLUSH");
	f.dev = NULL;
	shows(&f, "FLUSH", false, "no disk");
	drop(r);
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

#define SLOW "md0 lies on several disks, and "

static const struct {
	uint64_t flush[3], write[3], waited_flush, waited_write, waited_fua;
	const char *line, *what;
} leg_rows[] = {
	{ { 4, 8, 3 },
	  { 1, 1, 5 },
	  400,
	  200,
	  200,
	  SLOW "sdb is the slow one: a FLUSH takes 8.00 ms (mean) in it, 4.00 ms in sda",
	  "twice the next, of FLUSHes" },
	{ { 4, 7, 3 }, { 1, 1, 5 }, 400, 200, 200, NULL, "less than twice the next" },
	{ { 4, 8, 3 },
	  { 1, 2, 5 },
	  399,
	  200,
	  200,
	  SLOW "sdc is the slow one: a write takes 5.00 ms (mean) in it, 2.00 ms in sdb",
	  "writes and FUA together are more" },
	{ { 9, 4, 3 },
	  { 1, 2, 5 },
	  800,
	  0,
	  0,
	  SLOW "sda is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sdb",
	  "the first one" },
	{ { 3, 4, 9 },
	  { 1, 2, 5 },
	  800,
	  0,
	  0,
	  SLOW "sdc is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sdb",
	  "the last one" },
	{ { 9, 3, 4 },
	  { 1, 2, 5 },
	  800,
	  0,
	  0,
	  SLOW "sda is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sdc",
	  "the first, and then the last" },
	{ { 9, 4, 4 },
	  { 1, 2, 5 },
	  800,
	  0,
	  0,
	  SLOW "sda is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sdb",
	  "of two that are equal the first, behind the slow one" },
	{ { 4, 4, 9 },
	  { 1, 2, 5 },
	  800,
	  0,
	  0,
	  SLOW "sdc is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sda",
	  "and before it" },
	{ { 9, 0, 0 }, { 1, 2, 5 }, 800, 0, 0, NULL, "the others did none" },
	{ { 4, 9, 3 },
	  { 1, 1, 5 },
	  50,
	  0,
	  0,
	  SLOW "sdb is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sda",
	  "a twentieth of the time" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 49, 0, 0, NULL, "less than a twentieth" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 20, 10, 10, NULL, "less than a twentieth, together" },
	{ { 4, 9, 3 },
	  { 1, 1, 5 },
	  26,
	  12,
	  12,
	  SLOW "sdb is the slow one: a FLUSH takes 9.00 ms (mean) in it, 4.00 ms in sda",
	  "a twentieth, together" },
	{ { 4, 9, 3 }, { 1, 1, 5 }, 0, 0, 0, NULL, "nothing of the time" },
};

static void test_legs(void)
{
	for (size_t i = 0; i < sizeof(leg_rows) / sizeof(leg_rows[0]); i++) {
		struct report *r = legs(leg_rows[i].flush, leg_rows[i].write);
		struct facts f = facts(r, GROUP_CPU, 0, GROUP_LOCK, 0);

		f.ns[GROUP_FLUSH] = leg_rows[i].waited_flush * MS;
		f.ns[GROUP_WRITE] = leg_rows[i].waited_write * MS;
		f.ns[GROUP_FUA] = leg_rows[i].waited_fua * MS;
		shows(&f, leg_rows[i].line ? leg_rows[i].line : "is the slow one", leg_rows[i].line, leg_rows[i].what);
		drop(r);
	}
}

static void test_no_legs(void)
{
	struct report *r = legs((uint64_t[]){ 1, 9, 1 }, (uint64_t[]){ 0, 0, 0 });
	struct facts f = facts(r, GROUP_FLUSH, 900, GROUP_LOCK, 0);
	struct report_device top;

	strv_free(r->device[0].slaves);
	r->device[0].slaves = NULL;
	strv_add(&r->device[0].slaves, xstrdup("sdb"));
	shows(&f, "is the slow one", false, "one disk below has none beside it");
	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	strv_add(&r->device[0].slaves, xstrdup("sda"));
	shows(&f, SLOW "sdb is the slow one: a FLUSH takes 9.00 ms (mean) in it, 1.00 ms in sda", true, "two disks below");
	f.ns[GROUP_FLUSH] = 0;
	shows(&f, "is the slow one", false, "no time at all");
	top = r->device[0];
	f.ns[GROUP_FLUSH] = MS;
	memmove(&r->device[0], &r->device[1], 3 * sizeof(top));
	r->device[3] = top;
	shows(&f, SLOW "sdb is the slow one: a FLUSH takes 9.00 ms (mean) in it, 1.00 ms in sda", true,
	      "which may come before it");
	drop(r);
}

static void test_writes(void)
{
	struct report *r = usual();
	struct report_op_tally *op = &r->device[0].op[OP_WRITE_SYNC];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	tally_free(&op->device);
	tally_free(&op->queue);
	for (int i = 0; i < 100; i++)
		tally_add(&op->device, i < 50 ? 16 : i < 99 ? 32 : 40);
	shows(&f, "A write took 16 ns (p50; p99 32 ns) in sda", true, "writes that were in no queue");
	tally_add(&op->queue, 10 * US);
	tally_add(&op->queue, 20 * US);
	shows(&f, "A write took 16 ns (p50; p99 32 ns) in sda after 15.0 µs (mean) in its queue", true, "writes that were");
	r->sync.count = 0;
	shows(&f, "A write took", false, "no calls");
	r->sync.count = 1;
	tally_free(&op->device);
	shows(&f, "A write took", false, "no writes");
	f.dev = NULL;
	shows(&f, "A write took", false, "no disk");
	drop(r);
}

static void test_depth(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	f.ahead = 2.5;
	f.flush_mean = 30 * US;
	f.write_fast = 20 * US;
	r->device[0].flush.no_depth = 100;
	shows(&f, "other requests were in the drive", false, "of no FLUSH it was seen");
	r->sync.busy_flushes = 1;
	shows(&f, "When a FLUSH was sent, 2.50 other requests were in the drive on average", true,
	      "of those that were waited for");
	r->sync.busy_flushes = 0;
	r->device[0].flush.no_depth = 99;
	shows(&f, "When a FLUSH was sent, 2.50 other requests were in the drive on average", true, "of others");
	f.ahead = 1.2345; /* the nearest hundredth */
	shows(&f, "When a FLUSH was sent, 1.23 other requests were in the drive on average", true, "rounded down");
	f.ahead = 1.2389;
	f.flush_queued = true;
	shows(&f,
	      "When a FLUSH was sent, 1.24 other requests were in the drive on average, and it took 30.0 µs (mean), as "
	      "writes did (a tenth "
	      "of them took less than 20.0 µs): it waited in their queue",
	      true, "in the queue of writes");
	f.flush_mean = 0;
	shows(&f, "other requests were in the drive", false, "no FLUSH");
	f.flush_mean = 1;
	r->sync.count = 0;
	shows(&f, "other requests were in the drive", false, "no call");
	r->sync.count = 1;
	f.dev = NULL;
	shows(&f, "other requests were in the drive", false, "no disk");
	drop(r);
}

static void test_neighbours(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "Besides", false, "nobody else");
	r->sync.flush_own_ns = 951;
	r->sync.flush_foreign_ns = 49;
	shows(&f, "neighbour", false, "less than a twentieth of the flushes for others");
	r->sync.flush_own_ns = 950;
	r->sync.flush_foreign_ns = 50;
	shows(&f, "5.0 % of the time in flushes went to those of a neighbour", true, "a twentieth");
	r->sync.flush_own_ns = r->sync.flush_foreign_ns = 0;
	shows(&f, "neighbour", false, "no flushes");
	add_process(r, "a", 7, 1, 5 * US);
	shows(&f, "Besides sqlite3 (pid 42, 100 calls), these made sync calls: a (pid 7, 1 call, 5.00 µs)", true,
	      "one beside it");
	add_process(r, NULL, 8, 2, 2 * US);
	add_process(r, "(other processes)", 0, 9, 2 * US);
	shows(&f,
	      "Besides sqlite3 (pid 42, 100 calls), these made sync calls: a (pid 7, 1 call, 5.00 µs), ? (pid 8, 2 calls, 2.00 µs), other "
	      "processes (9 calls, 2.00 µs)",
	      true, "three");
	add_process(r, "b", 9, 1, US);
	add_process(r, "c", 10, 1, US);
	r->sync.process[0].count = 1;
	shows(&f,
	      "Besides sqlite3 (pid 42, 1 call), these made sync calls: a (pid 7, 1 call, 5.00 µs), ? (pid 8, 2 calls, 2.00 µs), other "
	      "processes (9 calls, 2.00 µs), and 2 more",
	      true, "and more");
	drop(r);
	r = usual();
	only(r, (struct member[5]){ { "(other processes)", 0, 1 }, { NULL, 5, 2 } });
	f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);
	shows(&f, "Besides ? (pid 5, 10 calls), these made sync calls: other processes (10 calls, 1.00 ms)", true,
	      "the rest comes first");
	drop(r);
}

static void test_unsafe_evidence(void)
{
	struct report *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	r->sync.unsafe = 40;
	f.unsafe_dev = d;
	shows(&f, "returned without", false, "safe");
	f.unsafe = UNSAFE_NO_FLUSH;
	shows(&f, "40 of 100 sync calls returned without a FLUSH or FUA write and had data to make durable", true,
	      "how many");
	shows(&f, "sda: write cache \"write back\"", true, "the cache");
	shows(&f, "Mounted with", false, "no mount");
	d->have_fua = d->have_rotational = true;
	shows(&f, "sda: write cache \"write back\", FUA no, not rotating", true, "neither FUA nor rotation");
	d->fua = d->rotational = true;
	shows(&f, "sda: write cache \"write back\", FUA yes, rotating", true, "both");
	add_mount(d, "/srv", "nobarrier");
	f.unsafe_mount = &d->mounts[0];
	shows(&f, "sda: write cache \"write back\", FUA yes, rotating", true, "a line of its own beside the mount's");
	free(d->write_cache);
	d->write_cache = NULL;
	shows(&f, "FUA yes", false, "without the cache nothing");
	shows(&f, "rotating", false, "nor the rotation");
	shows(&f, "Mounted with rw,noatime,nobarrier", true, "the mount's options");
	free(d->mounts[0].options);
	d->mounts[0].options = NULL;
	r->sync.count = 1;
	shows(&f, "Mounted with", false, "which are not known");
	shows(&f, "40 of 1 sync call returned without a FLUSH or FUA write and had data to make durable", true, "one call");
	drop(r);
}

static void test_settings(void)
{
	static const enum group said[] = { GROUP_SCHEDULER, GROUP_THROTTLE, GROUP_BUSY };
	struct report *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "nr_requests", false, "settings that don't matter");
	for (size_t i = 0; i < 3; i++) {
		f.first = said[i];
		shows(&f, "sda: scheduler mq-deadline, nr_requests 64", true, "settings that matter");
	}
	d->have_wbt = true;
	shows(&f, "sda: scheduler mq-deadline, nr_requests 64, writeback throttling off", true, "no throttling");
	d->wbt_lat_us = 75;
	d->nr_requests = 0;
	shows(&f, "sda: scheduler mq-deadline, writeback throttling 75.0 µs", true, "throttling");
	d->nr_requests = 64;
	free(d->scheduler);
	d->scheduler = NULL;
	shows(&f, "nr_requests", false, "no scheduler, nothing");
	shows(&f, "writeback throttling", false, "nor throttling");
	f.dev = NULL;
	shows(&f, "scheduler", false, "no disk");
	drop(r);
}

static void test_write_through(void)
{
	struct report *r = usual();
	struct report_device *d = &r->device[0];
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "USB bridge", false, "write back");
	free(d->write_cache);
	d->write_cache = xstrdup("write through");
	shows(&f,
	      "The kernel takes sda for a disk without a volatile cache, so it is never flushed; behind a USB bridge "
	      "that can be a mistake "
	      "(`hdparm -W`, `smartctl -g wcache` ask the drive itself)",
	      true, "write through");
	f.unsafe = UNSAFE_WRITE_THROUGH;
	f.unsafe_dev = d;
	shows(&f, "USB bridge", false, "it is told of already");
	f.unsafe = SAFE;
	strcpy(d->name, "vda");
	shows(&f, "USB bridge", false, "virtio has no bridge");
	strcpy(d->name, "sda");
	r->sync.count = 0;
	shows(&f, "USB bridge", false, "no calls");
	r->sync.count = 1;
	free(d->write_cache);
	d->write_cache = NULL;
	shows(&f, "USB bridge", false, "not known");
	f.dev = NULL;
	shows(&f, "USB bridge", false, "no disk");
	drop(r);
}

static void test_gaps(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "could not be followed", false, "all were followed");
	r->sync.no_ledger = 1;
	shows(&f, "1 more call could not be followed, because facts were dropped: not in these figures", true,
	      "one was not");
	r->sync.no_ledger_ns = 20 * US;
	shows(&f, "1 more call, of 20.0 µs, could not be followed, because facts were dropped: not in these figures",
	      true, "its time");
	r->sync.without[NO_LEDGER_IDLE] = 1;
	shows(&f, "1 more call, of 20.0 µs, could not be followed: not in these figures", true, "not because of a loss");
	r->sync.without[NO_LEDGER_IDLE] = 0;
	r->sync.no_ledger = 2;
	shows(&f, "2 more calls, of 20.0 µs in all, could not be followed, because facts were dropped: not in these figures",
	      true, "two");
	r->sync.elsewhere = 1;
	r->sync.elsewhere_ns = 30 * US;
	shows(&f, "1 more call, 30.0 µs in all, was elsewhere, on no disk that was traced: not in these figures", true,
	      "one elsewhere");
	r->sync.elsewhere = 2;
	shows(&f, "2 more calls, 30.0 µs in all, were elsewhere, on no disk that was traced: not in these figures",
	      true, "two elsewhere");
	r->sync.count = 0;
	shows(&f, "elsewhere", false, "where there are no others, the sentence tells");
	r->sync.count = 1;
	r->sync.elsewhere = 0;
	shows(&f, "elsewhere", false, "none elsewhere");
	drop(r);
}

static void test_others_evidence(void)
{
	struct report *r = usual();
	struct facts f = facts(r, GROUP_CPU, 900, GROUP_LOCK, 0);

	shows(&f, "Others made", false, "no others");
	add_other(r, "a", 1, 30 * US);
	r->sync.others = 1;
	shows(&f, "Others made 1 sync call on the same disks, 30.0 µs in all: a (1) 3, 30.0 µs", true, "one call");
	add_other(r, "b", 2, 20 * US);
	add_other(r, "c", 3, 10 * US);
	shows(&f, "Others made 7 sync calls on the same disks, 60.0 µs in all: a (1) 3, 30.0 µs; b (2) 3, 20.0 µs; c (3) 3, 10.0 µs",
	      true, "three processes");
	add_other(r, "d", 4, 10 * US);
	add_other(r, "e", 5, 10 * US);
	shows(&f,
	      "Others made 13 sync calls on the same disks, 80.0 µs in all: a (1) 3, 30.0 µs; b (2) 3, 20.0 µs; c (3) 3, 10.0 µs; 2 more "
	      "processes",
	      true, "and more");
	drop(r);
}

int main(void)
{
	test_reasons();
	test_drive_words();
	test_bio_based();
	test_slots();
	test_volume();
	test_how_slow();
	test_few();
	test_who();
	test_in_what();
	test_the_sync_of_sync();
	test_mixed();
	test_not_sync();
	test_left();
	test_under_way();
	test_began_before();
	test_too_little();
	test_none();
	test_elsewhere();
	test_nothing();
	test_meanwhile();
	test_others_flush();
	test_others_calls();
	test_others_flushes();
	test_unsafe();
	test_calls();
	test_causes();
	test_through();
	test_flushes();
	test_legs();
	test_no_legs();
	test_writes();
	test_depth();
	test_neighbours();
	test_unsafe_evidence();
	test_settings();
	test_write_through();
	test_gaps();
	test_others_evidence();
	return tap_done();
}
