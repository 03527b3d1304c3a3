// SPDX-License-Identifier: GPL-2.0-only
/* Two reports compared: golden/reports.txt has the sentences, which disks belong together, and every setting that can differ. */
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/reports.h"
#include "util/mem.h"
#include "situations.h"

#define US 1000ull
#define MS 1000000ull

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

static void says(const struct report *a, const struct report *b, const char *what)
{
	FREED(comparison) struct comparison c;

	compare_reports(a, b, &c);
	SAY("%s:\n  %s\n", what, c.sentence);
}

TEST(how_much)
{
	static const struct {
		uint64_t a, b;
		const char *what;
	} rows[] = {
		{ 10, 15, "half more" },
		{ 15, 10, "a third less" },
		{ 20, 29, "less than half more" },
		{ 25, 20, "a fifth less" },
		{ 20, 21, "a nanosecond more" },
		{ 21, 20, "a nanosecond less" },
		{ 1, 2, "from 1 ns" },
		{ 1, 0, "from 1 ns to nothing" },
		{ 0, 7, "from nothing" },
		{ 7, 0, "to nothing" },
		{ 9, 9, "the same" },
		{ 10000, 12000, "microseconds" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report a = calls(rows[i].a, rows[i].a), b = calls(rows[i].b, rows[i].b);

		says(&a, &b, rows[i].what);
	}
}

/*
 * Half of 10 and half of 30: mean 20, variance 100 * 100 / 99 = 101.01; 101.01 / 100 on one side, f = 99, t = 1.98422,
 * half the interval t * sqrt(1.0101) = 1.99422; on both sides f = 198, t = 1.97202, half of it 2.80289.
 */
TEST(interval)
{
	struct report a = calls(10, 30), b = calls(40, 40), c = calls(11, 31), d = calls(13, 33);

	says(&a, &b, "slower by a range");
	says(&b, &a, "faster by a range");
	says(&a, &c, "1 on either side of 0");
	says(&a, &d, "just beyond 0");
}

TEST(units)
{
	struct report a = calls(10 * US, 10 * US), b = calls(10 * US + 400, 12 * US), c = calls(10 * US, 12 * US - 100);

	says(&a, &b, "one unit is said once");
	says(&a, &c, "two units");
}

TEST(single)
{
	struct report a = calls(9, 9), b = { .have_sync = true };

	b.sync.count = 1;
	hist_add(&b.sync.latency, 500);
	says(&a, &b, "a single call");
}

TEST(without)
{
	struct report some = calls(9, 9), none = { .have_sync = true }, dark = { 0 };

	says(&some, &none, "B made none");
	says(&none, &some, "A made none");
	says(&some, &dark, "B has no ledger");
	says(&dark, &some, "A has no ledger");
	says(&none, &dark, "neither");
	none.sync.count = 5; /* whose durations nobody knows */
	says(&some, &none, "calls without a time");
	none.sync.count = 0;
	none.sync.latency.count = 1;
	says(&some, &none, "a time without calls");
}

/* ---- why ---- */

struct change {
	enum cause cause;
	uint64_t a, b; /* per call */
};

static const struct {
	struct change of[5];
	const char *what;
} changes[] = {
	{ { { CAUSE_CPU, 10, 20 } }, "one" },
	{ { { CAUSE_CPU, 1, 6 }, { CAUSE_LOCK, 3, 8 } }, "half of it is enough" },
	{ { { CAUSE_CPU, 1, 5 }, { CAUSE_LOCK, 3, 6 }, { CAUSE_TAG, 0, 3 } }, "two, the largest first" },
	{ { { CAUSE_CPU, 0, 2 }, { CAUSE_LOCK, 0, 2 }, { CAUSE_TAG, 0, 2 }, { CAUSE_IOQ, 0, 2 }, { CAUSE_RUNQ, 0, 2 } },
	  "three" },
	{ { { CAUSE_CPU, 0, 1 }, { CAUSE_LOCK, 0, 1 }, { CAUSE_TAG, 0, 1 }, { CAUSE_IOQ, 0, 1 }, { CAUSE_RUNQ, 0, 1 } },
	  "three that are not half of it" },
	{ { { CAUSE_CPU, 30, 0 }, { CAUSE_LOCK, 0, 12 } }, "another went the other way" },
	{ { { CAUSE_CPU, 3, 3 } }, "none" },
	{ { { CAUSE_UNKNOWN, 0, 6 }, { CAUSE_CPU, 0, 4 } }, "unknown" },
};

TEST(because)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct report a = calls(10, 10), b = calls(20, 20);

		for (int k = 0; k < 5; k++) {
			a.sync.ledger.ns[changes[i].of[k].cause] += 100 * changes[i].of[k].a;
			b.sync.ledger.ns[changes[i].of[k].cause] += 100 * changes[i].of[k].b;
		}
		says(&a, &b, changes[i].what);
		says(&b, &a, "the other way round");
	}
}

TEST(half_a_nanosecond)
{
	struct report a = calls(20, 20), b = calls(20, 21);

	a.sync.ledger.ns[CAUSE_CPU] = 2000;
	b.sync.ledger.ns[CAUSE_CPU] = 2050;
	says(&a, &b, "half a nanosecond more");
	says(&b, &a, "half a nanosecond less");
}

static void says_causes(const struct report *a, const struct report *b, const char *what)
{
	struct comparison c;

	compare_reports(a, b, &c);
	SAY("%s, %g times as long:\n", what, c.ratio);
	for (size_t i = 0; i < c.n_causes; i++)
		SAY("  %s %g -> %g, %+g\n", cause_name(c.cause[i].cause), c.cause[i].per_call[SIDE_A],
		    c.cause[i].per_call[SIDE_B], c.cause[i].difference);
	comparison_free(&c);
}

TEST(causes)
{
	struct report a = calls(10, 10), b = calls(20, 20), none = calls(0, 0), one = calls(1, 1), two = calls(2, 2);

	b.sync.count = 50;
	a.sync.ledger.ns[CAUSE_CPU] = 300;
	b.sync.ledger.ns[CAUSE_CPU] = 50;
	b.sync.ledger.ns[CAUSE_LOCK] = 100;
	a.sync.ledger.ns[CAUSE_TAG] = 500;
	a.sync.ledger.ns[CAUSE_IOQ] = 100;
	b.sync.ledger.ns[CAUSE_RUNQ] = 50;
	says_causes(&a, &b, "causes that either has, by difference, in the public order where it is the same");
	says_causes(&one, &two, "1 ns and 2");
	says_causes(&none, &two, "nothing and 2");
}

TEST(numbers)
{
	static const double times[] = { -1500.4, 2.5, 2.4 }, ratios[] = { 1.5, 2.0000004, 1.005, 4e6, 1e12, 1e300 };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		SAY("%g ns: %s\n", times[i], compare_duration(times[i]).s);
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		SAY("%g: %s\n", ratios[i], compare_ratio(ratios[i]).s);
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

static const char *value_of(const struct comparison_setting *s, int side)
{
	return *s->value[side] ? s->value[side] : "nothing";
}

static void settings_are(const struct report_device *a, const struct report_device *b, const char *what)
{
	struct report ra = { .device = (struct report_device *)a, .n_devices = 1 },
		      rb = { .device = (struct report_device *)b, .n_devices = 1 };
	FREED(comparison) struct comparison c;

	compare_reports(&ra, &rb, &c);
	SAY("%s:\n", what);
	for (size_t i = 0; i < c.device[0].n_settings; i++) {
		const struct comparison_setting *s = &c.device[0].setting[i];

		SAY("  %s%s%s: %s / %s\n", s->name, s->of ? " of " : "", s->of ? s->of : "", value_of(s, SIDE_A),
		    value_of(s, SIDE_B));
	}
}

TEST(settings)
{
	struct report_device a = disk("sda"), b = disk("sda");

	settings_are(&a, &b, "nothing differs");
	b.model = (char *)"N";
	b.size = 1 << 30;
	b.write_cache = (char *)"write through";
	b.fua = true;
	b.scheduler = (char *)"bfq";
	b.nr_requests = 128;
	b.wbt_lat_us = 75;
	b.rotational = true;
	settings_are(&a, &b, "everything differs");
	settings_are(&b, &a, "and the other way round");
	a.model = a.write_cache = a.scheduler = NULL;
	a.size = a.nr_requests = 0;
	a.have_fua = a.have_wbt = a.have_rotational = false;
	settings_are(&a, &b, "what is not known of A doesn't differ");
	settings_are(&b, &a, "nor of B");
}

TEST(mounts)
{
	struct report_mount one = { (char *)"/a", (char *)"ext4", (char *)"rw,noatime", (char *)"barrier" };
	struct report_mount other = { (char *)"/a", (char *)"xfs", (char *)"rw,relatime,,quota", (char *)"nobarrier" };
	struct report_mount two[] = { { (char *)"/b", (char *)"ext4", NULL, NULL },
				      { (char *)"/a", (char *)"ext4", (char *)"noatim,rw", NULL } };
	struct report_device a = disk("sda"), b = disk("sda");

	a.mounts = &one;
	a.n_mounts = 1;
	settings_are(&a, &b, "mounted in A alone");
	settings_are(&b, &a, "mounted in B alone");
	b.mounts = &other;
	b.n_mounts = 1;
	settings_are(&a, &b, "the same place");
	other.dir = (char *)"/z";
	settings_are(&a, &b, "one mount on each side, at different places");
	b.mounts = two;
	b.n_mounts = 2;
	settings_are(&a, &b, "one that is in both, and one that is not");
	settings_are(&b, &a, "and the other way round");
	two[1].options = NULL;
	settings_are(&a, &b, "options that are not known of B don't differ");
	settings_are(&b, &a, "nor of A");
	two[1].options = (char *)"rw";
	settings_are(&a, &b, "an option more");
	two[1].dir = (char *)"/c";
	settings_are(&a, &b, "no place in common");
}

/* ---- which disks belong together ---- */

struct some {
	const char *name, *model;
	bool partition;
};

/* "A=B" each; a disk alone has nothing on the other side. */
static void pairs_are(const struct some *a, const struct some *b)
{
	struct report_device d[2][3];
	struct report r[2] = { { .device = d[0] }, { .device = d[1] } };
	const struct some *of[2] = { a, b };
	FREED(comparison) struct comparison c;

	for (int s = 0; s < 2; s++)
		for (; r[s].n_devices < 3 && of[s][r[s].n_devices].name; r[s].n_devices++) {
			struct report_device *to = &d[s][r[s].n_devices];

			*to = disk(of[s][r[s].n_devices].name);
			to->model = (char *)of[s][r[s].n_devices].model;
			to->disk = of[s][r[s].n_devices].partition ? (char *)"sdx" : NULL;
		}
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < r[s].n_devices; i++)
			SAY("%s%s (%s%s)",
			    i ? ", " :
			    s ? " and " :
				"",
			    d[s][i].name, d[s][i].model ? d[s][i].model : "?", d[s][i].disk ? ", a partition" : "");
	SAY(":");
	compare_reports(&r[0], &r[1], &c);
	for (size_t i = 0; i < c.n_devices; i++)
		SAY(" %s=%s", c.device[i].side[0] ? c.device[i].side[0]->name : "",
		    c.device[i].side[1] ? c.device[i].side[1]->name : "");
	SAY("\n");
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

TEST(pairs)
{
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N")));
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sda", "O")));
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sdc", "M")));
	pairs_are(SOME(DISK("sda", "M")), SOME(DISK("sdb", "N"), DISK("sdc", "O")));
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "M")), SOME(DISK("sdb", "M"), DISK("sdc", "M")));
	pairs_are(SOME(DISK("sda", NULL), DISK("sdb", "M")), SOME(DISK("sdc", NULL), DISK("sdd", "N")));
	pairs_are(SOME(PART("sda", "M"), DISK("sdb", "N")), SOME(DISK("sdc", "M"), PART("sdd", "M")));
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "N")), SOME(DISK(NULL, NULL)));
	pairs_are(SOME(DISK(NULL, NULL)), SOME(DISK("sda", "M")));
	pairs_are(SOME(DISK("sda", "M"), DISK("sdb", "M")), SOME(DISK("sdc", "M")));
}

/* ---- flushes ---- */

static void says_flushes(const struct report *a, const struct report *b, const char *what)
{
	const struct comparison_device *d;
	FREED(comparison) struct comparison c;

	compare_reports(a, b, &c);
	d = c.device;
	SAY("%s:\n ", what);
	if (d->have_flushes)
		SAY(" %llu and %llu", (unsigned long long)a->device->op[OP_FLUSH].count,
		    (unsigned long long)b->device->op[OP_FLUSH].count);
	if (d->have_per_call)
		SAY(", %g and %g per call", d->flushes_per_call[SIDE_A], d->flushes_per_call[SIDE_B]);
	if (d->have_per_commit)
		SAY(", %g and %g per commit", d->flushes_per_commit[SIDE_A], d->flushes_per_commit[SIDE_B]);
	SAY("%s%s\n", d->have_flushes || d->have_per_call || d->have_per_commit ? "" : " not known",
	    c.incomplete ? ", incomplete" : "");
}

TEST(flushes)
{
	struct report_device da = disk("sda"), db = disk("sda");
	struct report a = calls(10, 10), b = calls(10, 10);

	a.device = &da;
	b.device = &db;
	a.n_devices = b.n_devices = 1;
	da.op[OP_FLUSH].count = 50;
	db.op[OP_FLUSH].count = 200;
	da.flush.barrier_writes = 10;
	da.flush.barrier_flushes = 20;
	says_flushes(&a, &b, "none per commit where one has no commits");
	db.flush.barrier_writes = 1;
	b.incomplete = true;
	says_flushes(&a, &b, "one commit is enough; and something was counted");
	db.op[OP_FLUSH].count = 0;
	says_flushes(&a, &b, "nothing was counted in a run that is not whole");
	db.op[OP_READ_SYNC].count = 1;
	says_flushes(&a, &b, "a single read was");
	db.op[OP_READ_SYNC].count = 0;
	da.flush.barrier_writes = 0;
	says_flushes(&a, &b, "none per commit where the other has none");
	db.op[OP_OTHER].count = 1;
	b.sync.count = 1;
	says_flushes(&a, &b, "one call is enough");
	b.sync.count = 0;
	says_flushes(&a, &b, "counted, but no calls");
}

/* ---- statistics ---- */

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("reports");
}
