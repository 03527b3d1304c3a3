// SPDX-License-Identifier: GPL-2.0-only
/* Two reports compared: the whole sentence, which disks belong together, and every setting that can differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/reports.h"
#include "util/mem.h"
#include "tap.h"

#define US 1000ull
#define MS 1000000ull

static void is_text(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what)) {
		diag("is   %s", have ? have : "NULL");
		diag("want %s", want);
	}
}

/* ---- sentences ---- */

/* Half of the calls take `low`, half `high`. */
static struct report calls(uint64_t low, uint64_t high)
{
	struct report r = { .have_sync = true };

	for (int i = 0; i < 100; i++)
		hist_add(&r.sync.latency, i % 2 ? low : high);
	r.sync.count = 100;
	r.sync.total_ns = r.sync.latency.sum;
	return r;
}

static void says(const struct report *a, const struct report *b, const char *want, const char *what)
{
	struct comparison c;

	compare_reports(a, b, &c);
	is_text(c.sentence, want, what);
	comparison_free(&c);
}

#define EXACT(n, more) ", 95 % confidence " n " " more ")."

static void test_how_much(void)
{
	static const struct {
		uint64_t a, b;
		const char *want, *what;
	} rows[] = {
		{ 10, 15, "B's sync calls are 1.50 times slower (10 ns -> 15 ns per call" EXACT("5 ns", "more"),
		  "half more" },
		{ 15, 10, "B's sync calls are 1.50 times faster (15 ns -> 10 ns per call" EXACT("5 ns", "less"),
		  "a third less" },
		{ 20, 29, "B's sync calls take 45.0 % more time (20 ns -> 29 ns per call" EXACT("9 ns", "more"),
		  "less than half more" },
		{ 25, 20, "B's sync calls take 20.0 % less time (25 ns -> 20 ns per call" EXACT("5 ns", "less"),
		  "a fifth less" },
		{ 20, 21, "B's sync calls take 5.0 % more time (20 ns -> 21 ns per call" EXACT("1 ns", "more"),
		  "a nanosecond more" },
		{ 21, 20, "B's sync calls take 4.8 % less time (21 ns -> 20 ns per call" EXACT("1 ns", "less"),
		  "a nanosecond less" },
		{ 1, 2, "B's sync calls are 2.00 times slower (1 ns -> 2 ns per call" EXACT("1 ns", "more"), "from 1 ns" },
		{ 1, 0, "B's sync calls take 100 % less time (1 ns -> 0 ns per call" EXACT("1 ns", "less"),
		  "from 1 ns to nothing" },
		{ 0, 7, "B's sync calls are slower (0 ns -> 7 ns per call" EXACT("7 ns", "more"), "from nothing" },
		{ 7, 0, "B's sync calls take 100 % less time (7 ns -> 0 ns per call" EXACT("7 ns", "less"), "to nothing" },
		{ 9, 9,
		  "No difference that could be told from chance: a sync call took 9 ns in A and 9 ns in B (95 % confidence: 0 "
		  "ns less to 0 ns "
		  "more).",
		  "the same" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report a = calls(rows[i].a, rows[i].a), b = calls(rows[i].b, rows[i].b);

		says(&a, &b, rows[i].want, rows[i].what);
	}
}

/*
 * Half of 10 and half of 30: mean 20, variance 100 * 100 / 99 = 101.01; 101.01 / 100 on one side, f = 99, t = 1.98422,
 * half the interval t * sqrt(1.0101) = 1.99422; on both sides f = 198, t = 1.97202, half of it 2.80289.
 */
static void test_interval(void)
{
	struct report a = calls(10, 30), b = calls(40, 40), c = calls(11, 31), d = calls(13, 33);

	says(&a, &b, "B's sync calls are 2.00 times slower (20 ns -> 40 ns per call, 95 % confidence 18 to 22 ns more).",
	     "slower by a range");
	says(&b, &a, "B's sync calls are 2.00 times faster (40 ns -> 20 ns per call, 95 % confidence 18 to 22 ns less).",
	     "faster by a range");
	says(&a, &c,
	     "No difference that could be told from chance: a sync call took 20 ns in A and 21 ns in B (95 % confidence: 2 ns "
	     "less to 4 ns more).",
	     "1 on either side of 0");
	says(&a, &d, "B's sync calls take 15.0 % more time (20 ns -> 23 ns per call, 95 % confidence 0 to 6 ns more).",
	     "just beyond 0");
}

static void test_units(void)
{
	struct report a = calls(10 * US, 10 * US), b = calls(10 * US + 400, 12 * US);
	struct comparison c;

	compare_reports(&a, &b, &c);
	ok(strstr(c.sentence, "95 % confidence 1.0") && strstr(c.sentence, " to 1.3") && strstr(c.sentence, " µs more)"),
	   "one unit is said once: %s", c.sentence);
	comparison_free(&c);
	b = calls(10 * US, 12 * US - 100);
	compare_reports(&a, &b, &c);
	ok(strstr(c.sentence, " ns to 1.") && strstr(c.sentence, " µs more)"), "two units: %s", c.sentence);
	comparison_free(&c);
}

static void test_single(void)
{
	struct report a = calls(9, 9), b = { .have_sync = true };

	b.sync.count = 1;
	hist_add(&b.sync.latency, 500);
	says(&a, &b,
	     "No difference that could be told from chance: a sync call took 9 ns in A and 500 ns in B, but a run with a "
	     "single call says nothing "
	     "about chance.",
	     "a single call");
}

static void test_without(void)
{
	struct report some = calls(9, 9), none = { .have_sync = true }, dark = { 0 };

	says(&some, &none, "The runs' sync calls cannot be compared: B made none whose time is known.", "B made none");
	says(&none, &some, "The runs' sync calls cannot be compared: A made none whose time is known.", "A made none");
	says(&some, &dark, "The runs' sync calls cannot be compared: B was recorded without the ledger.",
	     "B has no ledger");
	says(&dark, &some, "The runs' sync calls cannot be compared: A was recorded without the ledger.",
	     "A has no ledger");
	says(&none, &dark,
	     "There are no sync calls to compare: A made none whose time is known, B was recorded without the ledger.",
	     "neither");
	none.sync.count = 5; /* whose durations nobody knows */
	says(&some, &none, "The runs' sync calls cannot be compared: B made none whose time is known.",
	     "calls without a time");
	none.sync.count = 0;
	none.sync.latency.count = 1;
	says(&some, &none, "The runs' sync calls cannot be compared: B made none whose time is known.",
	     "a time without calls");
}

/* ---- why ---- */

struct change {
	enum cause cause;
	uint64_t a, b; /* per call */
};

#define FROM "B's sync calls are 2.00 times slower (10 ns -> 20 ns per call, 95 % confidence 10 ns more)"
#define TO   "B's sync calls are 2.00 times faster (20 ns -> 10 ns per call, 95 % confidence 10 ns less)"

static const struct {
	struct change of[5];
	const char *slower, *faster;
} changes[] = {
	{ { { CAUSE_CPU, 10, 20 } }, FROM ", because cpu rose by 10 ns per call.", TO ", because cpu fell by 10 ns per call." },
	{ { { CAUSE_CPU, 1, 6 }, { CAUSE_LOCK, 3, 8 } },
	  FROM ", because cpu rose by 5 ns per call.",
	  TO ", because cpu fell by 5 ns per call." },
	{ { { CAUSE_CPU, 1, 5 }, { CAUSE_LOCK, 3, 6 }, { CAUSE_TAG, 0, 3 } },
	  FROM ", because cpu rose by 4 ns and tag by 3 ns per call.",
	  TO ", because cpu fell by 4 ns and tag by 3 ns per call." },
	{ { { CAUSE_CPU, 0, 2 }, { CAUSE_LOCK, 0, 2 }, { CAUSE_TAG, 0, 2 }, { CAUSE_IOQ, 0, 2 }, { CAUSE_RUNQ, 0, 2 } },
	  FROM ", because cpu rose by 2 ns, runq by 2 ns and tag by 2 ns per call.",
	  TO ", because cpu fell by 2 ns, runq by 2 ns and tag by 2 ns per call." },
	{ { { CAUSE_CPU, 0, 1 }, { CAUSE_LOCK, 0, 1 }, { CAUSE_TAG, 0, 1 }, { CAUSE_IOQ, 0, 1 }, { CAUSE_RUNQ, 0, 1 } },
	  FROM ", because cpu rose by 1 ns, runq by 1 ns and tag by 1 ns per call.",
	  TO ", because cpu fell by 1 ns, runq by 1 ns and tag by 1 ns per call." },
	{ { { CAUSE_CPU, 30, 0 }, { CAUSE_LOCK, 0, 12 } },
	  FROM ", because lock rose by 12 ns per call.",
	  TO ", because lock fell by 12 ns per call." },
	{ { { CAUSE_CPU, 3, 3 } }, FROM ".", TO "." },
	{ { { CAUSE_UNKNOWN, 0, 6 }, { CAUSE_CPU, 0, 4 } },
	  FROM "; the ledger does not say why: what it cannot explain rose by 6 ns per call.",
	  TO "; the ledger does not say why: what it cannot explain fell by 6 ns per call." },
};

static void test_because(void)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct report a = calls(10, 10), b = calls(20, 20);

		for (int k = 0; k < 5; k++) {
			a.sync.ledger.ns[changes[i].of[k].cause] += 100 * changes[i].of[k].a;
			b.sync.ledger.ns[changes[i].of[k].cause] += 100 * changes[i].of[k].b;
		}
		says(&a, &b, changes[i].slower, "why it is slower");
		says(&b, &a, changes[i].faster, "why it is faster");
	}
}

/* A mean that moved by half a nanosecond, which is no chance. */
static void test_half_a_nanosecond(void)
{
	struct report a = calls(20, 20), b = calls(20, 21);
	struct comparison c;

	a.sync.ledger.ns[CAUSE_CPU] = 2000;
	b.sync.ledger.ns[CAUSE_CPU] = 2050;
	compare_reports(&a, &b, &c);
	ok(strstr(c.sentence, " 0 to 1 ns more), because cpu rose by "), "half a nanosecond more: %s", c.sentence);
	comparison_free(&c);
	compare_reports(&b, &a, &c);
	ok(strstr(c.sentence, " 0 to 1 ns less), because cpu fell by "), "half a nanosecond less: %s", c.sentence);
	comparison_free(&c);
}

static void test_causes(void)
{
	struct report a = calls(10, 10), b = calls(20, 20);
	struct comparison c;

	b.sync.count = 50;
	a.sync.ledger.ns[CAUSE_CPU] = 300;
	b.sync.ledger.ns[CAUSE_CPU] = 50;
	b.sync.ledger.ns[CAUSE_LOCK] = 100;
	a.sync.ledger.ns[CAUSE_TAG] = 500;
	a.sync.ledger.ns[CAUSE_IOQ] = 100;
	b.sync.ledger.ns[CAUSE_RUNQ] = 50;
	compare_reports(&a, &b, &c);
	ok(c.n_causes == 5 && c.cause[0].cause == CAUSE_TAG && c.cause[1].cause == CAUSE_CPU &&
		   c.cause[2].cause == CAUSE_LOCK && c.cause[3].cause == CAUSE_RUNQ && c.cause[4].cause == CAUSE_IOQ,
	   "causes that either has: by difference, in the public order where it is the same");
	ok(c.cause[1].per_call[SIDE_A] == 3 && c.cause[1].per_call[SIDE_B] == 1 && c.cause[1].difference == -2 &&
		   c.cause[0].difference == -5 && c.cause[2].difference == 2,
	   "per call of its own run");
	ok(c.ratio == 2, "the ratio of the means");
	comparison_free(&c);
}

static void test_ratio(void)
{
	struct report none = calls(0, 0), one = calls(1, 1), two = calls(2, 2);
	struct comparison c;

	compare_reports(&one, &two, &c);
	ok(c.ratio == 2, "the ratio of 1 ns to 2");
	comparison_free(&c);
	compare_reports(&none, &two, &c);
	ok(c.ratio == 0, "none of nothing");
	comparison_free(&c);
}

static void test_numbers(void)
{
	is_text(compare_duration(-1500.4).s, "1.50 µs", "a time without its sign");
	is_text(compare_duration(2.5).s, "3 ns", "rounded to the nearest");
	is_text(compare_duration(2.4).s, "2 ns", "and down");
	is_text(compare_ratio(1.5).s, "1.50", "a ratio");
	is_text(compare_ratio(2.0000004).s, "2.00", "to a millionth");
	is_text(compare_ratio(1.005).s, "1.01", "half a hundredth is rounded up");
	is_text(compare_ratio(4e6).s, "4000000", "a large one");
	is_text(compare_ratio(1e300).s, compare_ratio(1e12).s, "no larger than 1e12");
}

/* ---- settings ---- */

static struct report_device disk(const char *name)
{
	struct report_device d = {
		.nr_requests = 64, .size = 100 << 20, .have_fua = true, .have_rotational = true, .have_wbt = true
	};

	strcpy(d.name, name);
	d.model = (char *)"M";
	d.write_cache = (char *)"write back";
	d.scheduler = (char *)"none";
	return d;
}

/* "name of: a / b", all of the first pair of disks. */
static void settings_are(const struct report_device *a, const struct report_device *b, const char *want, const char *what)
{
	struct report ra = { .device = (struct report_device *)a, .n_devices = 1 },
		      rb = { .device = (struct report_device *)b, .n_devices = 1 };
	char have[500] = "";
	struct comparison c;

	compare_reports(&ra, &rb, &c);
	for (size_t i = 0; i < c.device[0].n_settings; i++) {
		const struct comparison_setting *s = &c.device[0].setting[i];
		size_t at = strlen(have);

		snprintf(have + at, sizeof(have) - at, "%s%s%s%s: %s / %s", at ? "; " : "", s->name,
			 s->of ? " of " : "", s->of ? s->of : "", s->value[SIDE_A], s->value[SIDE_B]);
	}
	is_text(have, want, what);
	comparison_free(&c);
}

static void test_settings(void)
{
	struct report_device a = disk("sda"), b = disk("sda");

	settings_are(&a, &b, "", "nothing differs");
	b.model = (char *)"N";
	b.size = 1 << 30;
	b.write_cache = (char *)"write through";
	b.fua = true;
	b.scheduler = (char *)"bfq";
	b.nr_requests = 128;
	b.wbt_lat_us = 75;
	b.rotational = true;
	settings_are(&a, &b,
		     "model: M / N; size: 100 MiB / 1 GiB; write cache: write back / write through; FUA: no / yes; scheduler: "
		     "none / bfq; nr_requests: 64 "
		     "/ 128; wb throttling: off / 75.0 µs; rotational: no / yes",
		     "everything differs");
	settings_are(&b, &a,
		     "model: N / M; size: 1 GiB / 100 MiB; write cache: write through / write back; FUA: yes / no; scheduler: "
		     "bfq / none; nr_requests: "
		     "128 / 64; wb throttling: 75.0 µs / off; rotational: yes / no",
		     "and the other way round");
	a.model = a.write_cache = a.scheduler = NULL;
	a.size = a.nr_requests = 0;
	a.have_fua = a.have_wbt = a.have_rotational = false;
	settings_are(&a, &b, "", "what is not known of A doesn't differ");
	settings_are(&b, &a, "", "nor of B");
}

static void test_mounts(void)
{
	struct report_mount one = { (char *)"/a", (char *)"ext4", (char *)"rw,noatime", (char *)"barrier" };
	struct report_mount other = { (char *)"/a", (char *)"xfs", (char *)"rw,relatime,,quota", (char *)"nobarrier" };
	struct report_mount two[] = { { (char *)"/b", (char *)"ext4", NULL, NULL },
				      { (char *)"/a", (char *)"ext4", (char *)"noatim,rw", NULL } };
	struct report_device a = disk("sda"), b = disk("sda");

	a.mounts = &one;
	a.n_mounts = 1;
	settings_are(&a, &b, "mounted of /a: yes / no", "mounted in A alone");
	settings_are(&b, &a, "mounted of /a: no / yes", "mounted in B alone");
	b.mounts = &other;
	b.n_mounts = 1;
	settings_are(&a, &b,
		     "file system of /a: ext4 / xfs; barriers of /a: barrier / nobarrier; mount options of /a: noatime / "
		     "relatime,quota",
		     "the same place");
	other.dir = (char *)"/z";
	settings_are(&a, &b,
		     "file system of /a: ext4 / xfs; barriers of /a: barrier / nobarrier; mount options of /a: noatime / "
		     "relatime,quota",
		     "one mount on each side, at different places");
	b.mounts = two;
	b.n_mounts = 2;
	settings_are(&a, &b, "mount options of /a: noatime / noatim; mounted of /b: no / yes",
		     "one that is in both, and one that is not");
	settings_are(&b, &a, "mounted of /b: yes / no; mount options of /a: noatim / noatime", "and the other way round");
	two[1].options = NULL;
	settings_are(&a, &b, "mounted of /b: no / yes", "options that are not known of B don't differ");
	settings_are(&b, &a, "mounted of /b: yes / no", "nor of A");
	two[1].options = (char *)"rw";
	settings_are(&a, &b, "mount options of /a: noatime / ; mounted of /b: no / yes", "an option more");
	two[1].dir = (char *)"/c";
	settings_are(&a, &b, "mounted of /a: yes / no; mounted of /b: no / yes; mounted of /c: no / yes",
		     "no place in common");
}

/* ---- which disks belong together ---- */

struct some {
	const char *name, *model;
	bool partition;
};

/* "A=B" each; a disk alone has nothing on the other side. */
static void pairs_are(const struct some *a, const struct some *b, const char *want)
{
	struct report_device d[2][3];
	struct report r[2] = { { .device = d[0] }, { .device = d[1] } };
	const struct some *of[2] = { a, b };
	struct comparison c;
	char have[200] = "";

	for (int s = 0; s < 2; s++)
		for (; r[s].n_devices < 3 && of[s][r[s].n_devices].name; r[s].n_devices++) {
			struct report_device *to = &d[s][r[s].n_devices];

			*to = disk(of[s][r[s].n_devices].name);
			to->model = (char *)of[s][r[s].n_devices].model;
			to->disk = of[s][r[s].n_devices].partition ? (char *)"sdx" : NULL;
		}
	compare_reports(&r[0], &r[1], &c);
	for (size_t i = 0; i < c.n_devices; i++) {
		size_t at = strlen(have);

		snprintf(have + at, sizeof(have) - at, "%s%s=%s", at ? " " : "",
			 c.device[i].side[0] ? c.device[i].side[0]->name : "",
			 c.device[i].side[1] ? c.device[i].side[1]->name : "");
	}
	is_text(have, want, want);
	comparison_free(&c);
}

#define SOME(...) ((const struct some[3]){ __VA_ARGS__ })
#define DISK(name, model) \
	{ \
		name, model, false \
	}
#define PART(name, model) \
	{ \
		name, model, true \
	}

static void test_pairs(void)
{
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N")), "sda=sdb");
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sda", "O")), "sda=sda =sdb");
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sdc", "M")), "sda=sdc =sdb");
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sdc", "O")), "sda= =sdb =sdc");
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "M")), SOME(DISK("sdb", "M"), DISK("sdc", "M")), "sda=sdc sdb=sdb");
	pairs_are(SOME(DISK("sda", NULL), DISK("sdb", "M")), SOME(DISK("sdc", NULL), DISK("sdd", "N")),
		  "sda= sdb= =sdc =sdd");
	pairs_are(SOME(PART("sda", "M"), DISK("sdb", "N")), SOME(DISK("sdc", "M"), PART("sdd", "M")), "sda=sdd sdb= =sdc");
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "N")), SOME(DISK(NULL, NULL)), "sda= sdb=");
	pairs_are(SOME(DISK(NULL, NULL)), SOME(DISK("sda", "M")), "=sda");
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "M")), SOME(DISK("sdc", "M")), "sda=sdc sdb=");
}

/* ---- flushes ---- */

static void test_flushes(void)
{
	struct report_device da = disk("sda"), db = disk("sda");
	struct report a = calls(10, 10), b = calls(10, 10);
	struct comparison c;

	a.device = &da;
	b.device = &db;
	a.n_devices = b.n_devices = 1;
	da.op[OP_FLUSH].count = 50;
	db.op[OP_FLUSH].count = 200;
	da.flush.barrier_writes = 10;
	da.flush.barrier_flushes = 20;
	compare_reports(&a, &b, &c);
	ok(c.device[0].have_flushes && c.device[0].have_per_call && c.device[0].flushes_per_call[SIDE_A] == 0.5 &&
		   c.device[0].flushes_per_call[SIDE_B] == 2,
	   "FLUSHes per call");
	ok(!c.device[0].have_per_commit && c.device[0].flushes_per_commit[SIDE_A] == 2,
	   "none per commit where one has no commits");
	comparison_free(&c);
	db.flush.barrier_writes = 1;
	b.incomplete = true;
	compare_reports(&a, &b, &c);
	ok(c.device[0].have_per_commit && c.device[0].have_flushes && c.incomplete,
	   "one commit is enough; and something was counted");
	comparison_free(&c);
	db.op[OP_FLUSH].count = 0;
	compare_reports(&a, &b, &c);
	ok(!c.device[0].have_flushes && !c.device[0].have_per_call, "nothing was counted in a run that is not whole");
	comparison_free(&c);
	db.op[OP_READ_SYNC].count = 1;
	compare_reports(&a, &b, &c);
	ok(c.device[0].have_flushes, "a single read was");
	comparison_free(&c);
	db.op[OP_READ_SYNC].count = 0;
	da.flush.barrier_writes = 0;
	compare_reports(&a, &b, &c);
	ok(!c.device[0].have_per_commit, "none per commit where the other has none");
	comparison_free(&c);
	db.op[OP_OTHER].count = 1;
	b.sync.count = 1;
	compare_reports(&a, &b, &c);
	ok(c.device[0].have_per_call, "one call is enough");
	comparison_free(&c);
	b.sync.count = 0;
	compare_reports(&a, &b, &c);
	ok(c.device[0].have_flushes && !c.device[0].have_per_call && c.device[0].flushes_per_call[SIDE_B] == 0,
	   "counted, but no calls");
	comparison_free(&c);
}

/* ---- statistics ---- */

static void test_statistics(void)
{
	struct compare_sample a = { 2, 10, 8 }, b = { 2, 20, 8 }, one = { 1, 20, 8 };
	struct comparison_interval i = compare_samples(&a, &b);
	struct hist h = { 0 };

	/* v = 4 + 4; f = 64 / (16 + 16) = 2; t = 4.30265; half = t * sqrt(8) = 12.1697 */
	ok(i.have && !i.told && fabs(i.freedom - 2) < 1e-9 && fabs(i.low + 2.16974) < 1e-3 && fabs(i.high - 22.16974) < 1e-3,
	   "two of each");
	i = compare_samples(&a, &one);
	ok(!i.have && i.difference == 10, "one of B");
	i = compare_samples(&one, &a);
	ok(!i.have && i.difference == -10, "one of A");
	ok(fabs(compare_student(1) - 12.7062) < 1e-3 && fabs(compare_student(1.5) - 6.0) < 0.6,
	   "between one degree of freedom and two");
	ok(fabs(compare_student(1e6) - 1.959964) < 1e-9, "from a million on it is the normal distribution");
	hist_add(&h, 2 * hist_upper(HIST_BUCKETS - 1));
	hist_add(&h, 2 * hist_upper(HIST_BUCKETS - 1));
	ok(compare_variance(&h) == 0, "of two that are the same, in the last bucket");
}

int main(void)
{
	test_how_much();
	test_interval();
	test_units();
	test_single();
	test_without();
	test_because();
	test_half_a_nanosecond();
	test_causes();
	test_ratio();
	test_numbers();
	test_settings();
	test_mounts();
	test_pairs();
	test_flushes();
	test_statistics();
	return tap_done();
}
