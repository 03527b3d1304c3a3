// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two runs side by side: the statistics against values worked out by hand, the exact text, and the JSON read back.
 *
 * The golden directory is argv[1], GOLDEN_DIR, or tests/unit/golden. GOLDEN_UPDATE=1 rewrites it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/reports.h"
#include "util/mem.h"
#include "render/render_documents.h"
#include "rendered.h"
#include "tap.h"
#include "wire.h"

#define US	     1000ull
#define MS	     1000000ull
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool near(double got, double want, double most)
{
	if (fabs(got - want) <= most)
		return true;
	diag("got %.9g, want %.9g", got, want);
	return false;
}

/* ---- statistics ---- */

static struct hist hist_of(const uint64_t *v, size_t n)
{
	struct hist h = { 0 };

	for (size_t i = 0; i < n; i++)
		hist_add(&h, v[i]);
	return h;
}

#define HIST(...) \
	hist_of((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Below 32 every value has a bucket of its own: nothing is lost. */
TEST(variance)
{
	struct hist h = { 0 };

	ok(compare_variance(&h) == 0, "variance: of nothing");
	h = HIST(7);
	ok(compare_variance(&h) == 0, "variance: of one value");
	h = HIST(7, 7, 7);
	ok(compare_variance(&h) == 0, "variance: of the same values");
	/* mean 5; 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; by 7 */
	h = HIST(2, 4, 4, 4, 5, 5, 7, 9);
	ok(near(compare_variance(&h), 32.0 / 7, 1e-12), "variance: 2 4 4 4 5 5 7 9 has 32/7");
	/* a bucket of its own each, cut at the extremes: exact again */
	h = HIST(1000000, 3000000);
	ok(near(compare_variance(&h), 2e12, 2e12 * 0.07), "variance: of two large values, within the buckets' width");
	/* [64, 65] is one bucket: 64 and 65 in equal parts have (width^2 - 1) / 12 = 1/4 each; by n - 1 */
	h = HIST(64, 65, 64, 65);
	ok(near(compare_variance(&h), 1.0 / 3, 1e-12), "variance: within one bucket it isn't nothing");
	h = HIST(0, 2);
	ok(near(compare_variance(&h), 2, 1e-12), "variance: nothing is a value, too");
	h = HIST(1000003, 1000003);
	ok(compare_variance(&h) == 0, "variance: of large values that are the same");
	h = HIST(UINT64_MAX / 4, UINT64_MAX / 8, 1);
	ok(isfinite(compare_variance(&h)) && compare_variance(&h) > 0, "variance: of huge values is finite");
}

TEST(variance_of_many)
{
	struct hist h = { 0 };
	double sum = 0, squares = 0, want;
	uint64_t x = 1;

	for (int i = 0; i < 10000; i++) {
		double v;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		v = (double)(1000000 + (x >> 33) % 4000000);
		hist_add(&h, (uint64_t)v);
		sum += v;
		squares += v * v;
	}
	want = (squares - sum * sum / 10000) / 9999;
	ok(near(compare_variance(&h) / want, 1, 0.005), "variance: 10,000 values from 1 to 5 ms, within 0.5 %%");
}

/* The usual tables. */
TEST(student)
{
	static const struct {
		double freedom, t;
	} table[] = {
		{ 1, 12.7062 },	 { 2, 4.30265 },  { 3, 3.18245 },   { 4, 2.77645 },    { 5, 2.57058 },
		{ 10, 2.22814 }, { 30, 2.04227 }, { 100, 1.98397 }, { 1000, 1.96234 }, { 1e9, 1.95996 },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		ok(near(compare_student(table[i].freedom), table[i].t, table[i].t * 1e-5),
		   "student: %g degrees of freedom", table[i].freedom);
	ok(near(compare_student(0), 12.7062, 2e-4) && isfinite(compare_student(NAN)), "student: nonsense is finite");
}

/*
 * A: 1 2 3 4 5, mean 3, variance 2.5, v = 0.5. B: 20 22 24 26 28, mean 24, variance 10, v = 2.
 * f = 2.5^2 / (0.25 / 4 + 4 / 4) = 6.25 / 1.0625 = 5.88235; t = 2.45874; half = t * sqrt(2.5) = 3.88761
 */
TEST(means)
{
	struct hist a = HIST(1, 2, 3, 4, 5), b = HIST(20, 22, 24, 26, 28);
	struct comparison_interval i = compare_means(&a, &b);

	ok(i.have && i.told && near(i.difference, 21, 1e-12), "means: the difference");
	ok(near(i.freedom, 6.25 / 1.0625, 1e-9), "means: Satterthwaite's degrees of freedom");
	ok(near(i.low, 21 - 3.8876, 1e-3) && near(i.high, 21 + 3.8876, 1e-3), "means: Welch's interval");
	i = compare_means(&b, &a);
	ok(i.told && near(i.high, -21 + 3.8876, 1e-3), "means: turned round, the sign turns");
	i = compare_means(&a, &a);
	ok(i.have && !i.told && i.difference == 0 && i.low < 0 && i.high > 0, "means: no difference from itself");
	b = HIST(3, 4, 5, 6, 7);
	i = compare_means(&a, &b); /* 2 -+ 2.306 */
	ok(!i.told && near(i.low, 2 - 2.306, 1e-3) && near(i.freedom, 8, 1e-9), "means: too near to be told");
	i = compare_means(&b, &a);
	ok(!i.told && near(i.high, 2.306 - 2, 1e-3), "means: nor turned round");
	b = HIST(4, 5, 6, 7, 8);
	i = compare_means(&a, &b);
	ok(i.told && near(i.low, 3 - 2.306, 1e-3), "means: a little further, and they are");
}

TEST(means_of_little)
{
	struct hist none = { 0 }, one = HIST(7), same = HIST(7, 7), other = HIST(9, 9, 9);
	struct comparison_interval i = compare_means(&none, &none);

	ok(!i.have && !i.told && i.difference == 0, "means: of nothing");
	i = compare_means(&none, &other);
	ok(!i.have && i.difference == 9, "means: from nothing");
	i = compare_means(&one, &other);
	ok(!i.have && !i.told && i.difference == 2, "means: one value has no interval");
	i = compare_means(&same, &other);
	ok(i.have && i.told && i.low == 2 && i.high == 2 && i.freedom == 0, "means: nothing varies: no division by zero");
	i = compare_means(&same, &same);
	ok(i.have && !i.told && i.low == 0 && i.high == 0, "means: nothing varies nor differs");
}

/* ---- runs ---- */

struct part {
	enum cause cause;
	uint64_t ns;
};

static const struct part slow[] = {
	{ CAUSE_FLUSH_ONLY, 4000 * US }, { CAUSE_FLUSH_PRE, 1600 * US }, { CAUSE_DEVICE_WRITE, 1500 * US },
	{ CAUSE_CPU, 300 * US },	 { CAUSE_JOURNAL, 90 * US },	 { CAUSE_UNKNOWN, 20 * US },
};

static const struct part fast[] = {
	{ CAUSE_FLUSH_ONLY, 600 * US }, { CAUSE_FLUSH_PRE, 100 * US }, { CAUSE_DEVICE_WRITE, 800 * US },
	{ CAUSE_CPU, 300 * US },	{ CAUSE_RUNQ, 30 * US },
};

static const struct part dark[] = { { CAUSE_UNKNOWN, 9000 * US }, { CAUSE_CPU, 300 * US } };

static void calls(struct report *r, const struct part *parts, size_t n_parts, uint64_t n, uint64_t spread)
{
	struct report_sync *s = &r->sync;

	r->have_sync = true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t whole = i % 5 * spread;

		for (size_t p = 0; p < n_parts; p++) {
			s->ledger.ns[parts[p].cause] += parts[p].ns;
			whole += parts[p].ns;
		}
		s->ledger.ns[parts[0].cause] += i % 5 * spread;
		hist_add(&s->latency, whole);
		s->total_ns += whole;
		s->count++;
		s->calls[CALL_FDATASYNC]++;
	}
}

static void run_facts(struct report *r, uint64_t wall)
{
	static const char *const argv[] = { "sqlite3", "/srv/db/test.sqlite", ".read insert.sql", NULL };

	r->version = xstrdup("0.1.0");
	r->start = xstrdup("2026-01-31T03:07:00Z");
	r->kernel = xstrdup("6.18.0");
	r->arch = xstrdup("x86_64");
	r->wall_ns = wall;
	r->command = strv_dup((char *const *)argv);
	r->have_exit_status = true;
}

static void ops(struct report_device *d, enum op_class class, uint64_t n, uint64_t ns)
{
	d->op[class].count += n;
	for (uint64_t i = 0; i < n; i++) {
		if (!d->bio_based)
			tally_add(&d->op[class].device, ns + i * ns / 100 / n);
		tally_add(&d->op[class].total, ns + i * ns / 90 / n);
	}
}

static struct report_device *disk(struct report *r, const char *name)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->model = xstrdup("GOODRAM C50");
	d->write_cache = xstrdup("write back");
	d->scheduler = xstrdup("none");
	d->size = 120ull << 30;
	d->nr_requests = 64;
	d->have_fua = d->have_wbt = d->have_rotational = true;
	d->wbt_lat_us = 2000;
	return d;
}

static void mount(struct report_device *d, const char *dir, const char *options, const char *barrier)
{
	struct report_mount *m = grow((void **)&d->mounts, &d->n_mounts, sizeof(*m));

	*m = (struct report_mount){
		.dir = xstrdup(dir), .fstype = xstrdup("ext4"), .options = xstrdup(options), .barrier = xstrdup(barrier)
	};
}

static void change(char **s, const char *to)
{
	free(*s);
	*s = xstrdup(to);
}

static void make_slow(struct report *r)
{
	struct report_device *d;

	run_facts(r, 6890 * MS);
	calls(r, slow, ARRAY_LEN(slow), 804, 100 * US);
	d = disk(r, "sda");
	ops(d, OP_FLUSH, 811, 4100 * US);
	ops(d, OP_WRITE_SYNC, 900, 315 * US);
	ops(d, OP_WRITE_BARRIER, 207, 280 * US);
	ops(d, OP_READ_SYNC, 3, 90 * US);
	d->flush.barrier_writes = 207;
	d->flush.barrier_flushes = 414;
	mount(d, "/srv/db", "rw,relatime,errors=remount-ro", "barrier");
}

static void make_fast(struct report *r)
{
	struct report_device *d;

	run_facts(r, 2010 * MS);
	calls(r, fast, ARRAY_LEN(fast), 804, 50 * US);
	d = disk(r, "sda");
	change(&d->scheduler, "mq-deadline");
	change(&d->write_cache, "write through");
	d->wbt_lat_us = 75;
	d->fua = true;
	ops(d, OP_FLUSH, 200, 600 * US);
	ops(d, OP_WRITE_SYNC, 900, 305 * US);
	ops(d, OP_WRITE_BARRIER, 207, 290 * US);
	d->flush.barrier_writes = 207;
	d->flush.barrier_flushes = 207;
	mount(d, "/srv/db", "rw,noatime,errors=remount-ro,nobarrier", "nobarrier");
}

static void make_like_slow(struct report *r)
{
	run_facts(r, 6900 * MS);
	calls(r, slow, ARRAY_LEN(slow), 803, 100 * US);
	disk(r, "sda");
}

static void make_cut_off(struct report *r)
{
	make_like_slow(r);
	r->wall_ns = 0;
	r->incomplete = true;
}

static void make_dark(struct report *r)
{
	run_facts(r, 9000 * MS);
	calls(r, dark, ARRAY_LEN(dark), 500, 10 * US);
}

static void make_one(struct report *r)
{
	calls(r, fast, ARRAY_LEN(fast), 1, 0);
}

static void make_none(struct report *r)
{
	run_facts(r, 5000 * MS);
	r->have_sync = true;
}

static void make_no_ledger(struct report *r)
{
	run_facts(r, 5000 * MS);
	disk(r, "dm-0")->bio_based = true;
	ops(&r->device[0], OP_FLUSH, 5, 1000 * US);
}

static void make_empty(struct report *r)
{
	(void)r;
}

/* Calls that took no time at all, and a device that did nothing. */
static void make_zero(struct report *r)
{
	r->have_sync = true;
	hist_add(&r->sync.latency, 0);
	hist_add(&r->sync.latency, 0);
	r->sync.count = 2;
	disk(r, "sda");
}

static void make_hostile(struct report *r)
{
	struct report_device *d;

	calls(r, slow, ARRAY_LEN(slow), 5, 1);
	r->kernel = xstrdup(HOSTILE);
	r->start = xstrdup(HOSTILE);
	r->filter = xstrdup(HOSTILE);
	strv_add(&r->command, xstrdup(HOSTILE));
	strv_add(&r->notes, xstrdup(HOSTILE));
	d = disk(r, "\x1b[2J\x9b");
	change(&d->model, HOSTILE);
	change(&d->scheduler, HOSTILE);
	mount(d, "/" HOSTILE, "a," HOSTILE, HOSTILE);
	ops(d, OP_FLUSH, 5, 1000);
	disk(r, "x\xff");
}

static void make_hostile_too(struct report *r)
{
	make_hostile(r);
	change(&r->device[0].scheduler, HOSTILE HOSTILE HOSTILE);
	change(&r->device[0].mounts[0].options, HOSTILE "," HOSTILE "b");
	snprintf(r->device[1].name, sizeof(r->device[1].name), "\r\n\x9b");
	change(&r->device[1].model, "other");
}

static void make_damaged(struct report *r)
{
	make_fast(r);
	report_add_lost(r, 40, LOSS_OF_LEDGERS, "ring buffer full");
	r->incomplete = true;
	strv_add(&r->notes, xstrdup("the recording is not whole: it ends early"));
	r->sync.unsafe = 700;
	r->sync.no_ledger = 3;
	snprintf(r->device[0].name, sizeof(r->device[0].name), "sdb");
	change(&r->device[0].model, "GOODRAM C50");
	disk(r, "nvme0n1");
	change(&r->device[1].model, "FAST");
}

typedef void make_fn(struct report *r);

static struct comparison begin(make_fn *make_a, make_fn *make_b, struct report r[2])
{
	struct comparison c;

	memset(r, 0, 2 * sizeof(*r));
	make_a(&r[0]);
	make_b(&r[1]);
	compare_reports(&r[0], &r[1], &c);
	c.name[SIDE_A] = "a.rec";
	c.name[SIDE_B] = "b.rec";
	return c;
}

static void end(struct comparison *c, struct report r[2])
{
	comparison_free(c);
	report_free(&r[0]);
	report_free(&r[1]);
}

/* ---- text ---- */

static char *text_of_two(const struct comparison *c, const struct render_opts *o)
{
	struct buf b = { 0 };

	render_compare_text(c, o, &b);
	return b.data;
}

static const struct {
	const char *name;
	make_fn *a, *b;
	bool unicode;
} pairs[] = {
	{ "compare_faster", make_slow, make_fast, false },
	{ "compare_slower", make_fast, make_slow, true },
	{ "compare_chance", make_slow, make_like_slow, false },
	{ "compare_dark", make_fast, make_dark, false },
	{ "compare_one_call", make_slow, make_one, false },
	{ "compare_no_calls", make_none, make_no_ledger, false },
	{ "compare_only_a", make_slow, make_none, false },
	{ "compare_empty", make_empty, make_empty, false },
	{ "compare_zero", make_zero, make_fast, false },
	{ "compare_from_zero", make_zero, make_zero, false },
	{ "compare_damaged", make_slow, make_damaged, false },
	{ "compare_cut_off", make_slow, make_cut_off, false },
	{ "compare_hostile", make_hostile, make_hostile_too, true },
};

TEST(golden)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct render_opts o = { .width = 80, .unicode = pairs[i].unicode };
		struct report r[2];
		struct comparison c = begin(pairs[i].a, pairs[i].b, r);
		char *s = text_of_two(&c, &o), *again = text_of_two(&c, &o);

		golden(pairs[i].name, "txt", s);
		ok(fits(s, 80), "%s: fits 80 columns", pairs[i].name);
		ok(tidy(s) && ends_tidily(s), "%s: no trailing blanks, no double gaps", pairs[i].name);
		ok(!strcmp(s, again), "%s: the same bytes again", pairs[i].name);
		free(s);
		free(again);
		end(&c, r);
	}
}

static char *draw(const void *c, const struct render_opts *o)
{
	return text_of_two(c, o);
}

TEST(drawing)
{
	struct held h = { true, true, true, true, true };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct report r[2];
		struct comparison c = begin(pairs[i].a, pairs[i].b, r);

		text_holds(&h, draw, &c);
		end(&c, r);
	}
	held_all(&h);
}

/* ---- JSON ---- */

TEST(json)
{
	struct report r[2];
	struct comparison c = begin(make_slow, make_fast, r);
	FREED(buf) struct buf b = { 0 };

	render_compare_json(&c, &b);
	golden("compare_faster", "json", b.data);
	end(&c, r);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return tap_done();
}
