// SPDX-License-Identifier: GPL-2.0-only
/* What an experiment's runs come to: how much faster, why, and in what order; golden/experiment_runs.txt has the sentences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/experiment_runs.h"
#include "util/mem.h"
#include "situations.h"

#define MS 1000000ull

static struct outcome_variant *add(struct outcome *o, const char *name)
{
	struct outcome_variant *v = grow((void **)&o->variant, &o->n, sizeof(*v));

	v->name = xstrdup(name);
	return v;
}

static void add_run(struct outcome_variant *v, uint64_t wall_ns)
{
	struct outcome_run *run = grow((void **)&v->run, &v->n_runs, sizeof(*run));

	run->wall_ns = wall_ns;
}

/* Two runs of A of so many milliseconds, and two of B: as long, so that the interval has no width. */
static struct outcome two(uint64_t a_ms, uint64_t b_ms)
{
	struct outcome o = { 0 };

	add(&o, "A");
	add(&o, "B");
	for (int i = 0; i < 2; i++) {
		add_run(&o.variant[0], a_ms * MS);
		add_run(&o.variant[1], b_ms * MS);
	}
	return o;
}

static void concludes(struct outcome *o, const char *what)
{
	trials_conclude(o);
	SAY("%s:\n  %s\n", what, o->sentence);
	outcome_free(o);
}

/* ---- how much ---- */

TEST(how_much)
{
	static const uint64_t rows[][2] = { { 302, 200 }, { 200, 302 }, { 298, 200 }, { 200, 298 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = two(rows[i][0], rows[i][1]);

		concludes(&o, i < 2 ? "half more" : "less");
	}
}

/*
 * Of the logarithms: log(1.2) = 0.182322 apart, variance 0.0166206, by 2 and of both 0.0166206, its root 0.128921,
 * by t(0.975, 2) = 4.30265: 0.554702, taken back 1.74142 and 0.574244.
 */
TEST(not_told)
{
	FREED(outcome) struct outcome o = { 0 };

	for (int i = 0; i < 2; i++) {
		add(&o, i ? "B" : "A");
		add_run(&o.variant[i], 100 * MS);
		add_run(&o.variant[i], 120 * MS);
	}
	trials_conclude(&o);
	ok(fabs(o.variant[1].change.high - 1.74142) < 1e-4 && fabs(o.variant[1].change.low - 0.574244) < 1e-4 &&
		   !o.variant[1].change.wide,
	   "the interval");
	SAY("not told apart:\n  %s\n", o.sentence);
	ok(o.variant[0].rank == 1 && o.variant[1].rank == 1, "both are the fastest");
	ok(!o.variant[1].change.blamed, "nobody is blamed where nothing changed");
}

TEST(wide)
{
	struct outcome o = { 0 };

	for (int i = 0; i < 2; i++) {
		add(&o, i ? "B" : "A");
		add_run(&o.variant[i], 10 * MS);
		add_run(&o.variant[i], 1000 * MS);
	}
	concludes(&o, "an interval that says nothing");
}

TEST(single)
{
	struct outcome o = { 0 };

	add_run(add(&o, "A"), 100 * MS);
	add_run(add(&o, "B"), 50 * MS);
	add_run(add(&o, "C"), 60 * MS);
	concludes(&o, "single runs, each with variant 0");
}

/* ---- why ---- */

struct change {
	enum cause cause;
	uint64_t a, b; /* ms a run */
};

static const struct change reasons[][3] = {
	{ { CAUSE_FLUSH_PRE, 40, 15 } },
	{ { CAUSE_FLUSH_PRE, 40, 16 } },
	{ { CAUSE_FLUSH_PRE, 40, 20 }, { CAUSE_CPU, 30, 10 } },
	{ { CAUSE_FLUSH_PRE, 40, 19 }, { CAUSE_CPU, 30, 10 } },
	{ { CAUSE_FLUSH_PRE, 20, 10 }, { CAUSE_FLUSH_POST, 20, 8 }, { CAUSE_CPU, 30, 10 } },
	{ { CAUSE_FLUSH_PRE, 20, 5 }, { CAUSE_DEVICE_WRITE, 20, 10 }, { CAUSE_CPU, 20, 6 } },
	{ { CAUSE_UNKNOWN, 40, 0 } },
	{ { CAUSE_UNKNOWN, 40, 15 } },
	{ { CAUSE_CPU, 0, 10 }, { CAUSE_DEVICE_READ, 40, 0 } },
	{ { CAUSE_CPU, 0, 30 }, { CAUSE_DEVICE_READ, 40, 0 } },
	{ { CAUSE_CPU, 0, 30 } },
	{ { CAUSE_IOQ, 30, 0 } },
};

static void spend(struct outcome *o, const struct change *of, bool turned)
{
	for (int k = 0; k < 3; k++) {
		o->variant[0].ledger.ns[of[k].cause] += 2 * MS * (turned ? of[k].b : of[k].a);
		o->variant[1].ledger.ns[of[k].cause] += 2 * MS * (turned ? of[k].a : of[k].b);
	}
}

TEST(why)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct outcome o = two(100, 50);

		for (int k = 0; k < 3 && (reasons[i][k].a || reasons[i][k].b); k++)
			SAY("%s%s %llu -> %llu", k ? ", " : "", cause_name(reasons[i][k].cause),
			    (unsigned long long)reasons[i][k].a, (unsigned long long)reasons[i][k].b);
		spend(&o, reasons[i], false);
		concludes(&o, "");
		o = two(50, 100);
		spend(&o, reasons[i], true);
		concludes(&o, "the other way round");
	}
}

TEST(own_queue)
{
	static const struct {
		enum cause cause;
		const char *removed;
	} rows[] = {
		{ CAUSE_FLUSH_PRE, "I/O scheduler" }, { CAUSE_FLUSH_PRE, "flush" },	  { CAUSE_FLUSH_PRE, NULL },
		{ CAUSE_IOQ, "I/O scheduler" },	      { CAUSE_UNKNOWN, "I/O scheduler" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = two(100, 50);

		spend(&o, (struct change[3]){ { rows[i].cause, 40, 0 } }, false);
		o.variant[1].removal.what = rows[i].removed;
		concludes(&o, cause_name(rows[i].cause));
	}
}

static void says_causes(struct outcome *o, const char *what)
{
	const struct outcome_change *c = &o->variant[1].change;

	trials_conclude(o);
	SAY("%s: %.0f", what, c->sync_difference);
	if (c->blamed)
		SAY(", %.0f of it %s", c->family_difference, family_name(c->family));
	SAY("\n");
	for (size_t i = 0; i < c->n_causes; i++)
		SAY("  %s %.0f -> %.0f a run\n", cause_name(c->cause[i].cause), c->cause[i].per_run[0],
		    c->cause[i].per_run[1]);
	outcome_free(o);
}

TEST(causes)
{
	struct outcome o = two(100, 50);

	spend(&o, (struct change[3]){ { CAUSE_CPU, 3, 1 }, { CAUSE_LOCK, 0, 2 }, { CAUSE_UNKNOWN, 9, 1 } }, false);
	says_causes(&o, "causes that either has: by difference, in the public order where it is the same");
	o = two(100, 50);
	spend(&o, (struct change[3]){ { CAUSE_CPU, 40, 10 } }, false);
	o.variant[0].ledger.ns[CAUSE_DEVICE_READ] = 2;
	o.variant[1].ledger.ns[CAUSE_TAG] = 2;
	says_causes(&o, "a cause of a nanosecond a run is one, whoever has it");
}

/* ---- the usual run, and the order ---- */

TEST(usual)
{
	static const struct {
		uint64_t ns[5];
		size_t n, median;
		uint64_t mean;
	} rows[] = {
		{ { 3, 1, 2, 5, 4 }, 5, 0, 3 },
		{ { 1, 9, 5 }, 3, 2, 5 },
		{ { 5, 5, 1, 9 }, 4, 0, 5 },
		{ { 9, 1 }, 2, 0, 5 },
		{ { 1, 2 }, 2, 0, 2 },
		{ { 1, 1, 2 }, 3, 0, 1 },
		{ { 7 }, 1, 0, 7 },
		{ { 0 }, 0, 0, 0 },
		{ { 9, 8, 1, 2, 3 }, 5, 4, 5 },
		{ { 1, 1, 1, 2, 2 }, 5, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FREED(outcome) struct outcome o = { 0 };

		add(&o, "A");
		for (size_t k = 0; k < rows[i].n; k++)
			add_run(&o.variant[0], rows[i].ns[k]);
		trials_conclude(&o);
		ok(o.variant[0].median == rows[i].median && o.variant[0].mean_ns == rows[i].mean,
		   "the usual of %zu runs, and their mean: %zu, %llu", rows[i].n, o.variant[0].median,
		   (unsigned long long)o.variant[0].mean_ns);
	}
}

/* 100 and 110, 105 and 115, 110 and 120 ms: neighbours cannot be told apart, the first and the last can. */
TEST(order_of_near)
{
	FREED(outcome) struct outcome o = { 0 };

	for (uint64_t i = 0; i < 3; i++) {
		add(&o, "V");
		for (uint64_t k = 0; k < 6; k++)
			add_run(&o.variant[i], (100 + i * 5 + k % 2 * 10) * MS);
	}
	trials_conclude(&o);
	ok(o.variant[0].rank == 1 && o.variant[1].rank == 1 && o.variant[2].rank == 2,
	   "all are compared with the first of a rank");
}

/* ---- collecting and predicting ---- */

TEST(predicted)
{
	struct report_whatif w[] = {
		{ .remove = (char *)"lock", .wall_ns = 70 * MS, .speedup = 2 },
		{ .remove = (char *)"flush", .now_ns = 9, .without_ns = 1, .wall_ns = 20 * MS, .speedup = 5 }
	};
	struct report r = { .have_sync = true, .wall_ns = 100 * MS, .whatif = w, .n_whatif = 2, .sync.count = 1 };
	FREED(outcome) struct outcome o = { 0 };

	for (int i = 0; i < 3; i++) {
		add(&o, "V")->removal.what = "flush";
		o.variant[i].removal.at_most = i == 2;
	}
	trials_predict(&o, &r);
	ok(!o.variant[0].prediction.have && o.variant[1].prediction.have && o.variant[2].prediction.have,
	   "of all but variant 0");
	ok(!o.variant[1].prediction.at_most && o.variant[2].prediction.at_most, "this much, or at most");
	ok(o.variant[1].prediction.wall_ns == 20 * MS && o.variant[1].prediction.base_ns == 100 * MS &&
		   !strcmp(o.variant[1].prediction.without, "flush"),
	   "how long a run is then");
	w[1].speedup = 9;
	trials_predict(&o, &r);
	ok(o.variant[1].prediction.faster == 5, "another that took as long says no more");
	r.wall_ns--;
	r.have_sync = false;
	trials_predict(&o, &r);
	ok(o.variant[1].prediction.faster == 5, "nor does one without sync calls");
	r.have_sync = true;
	o.variant[1].removal.same = true;
	trials_predict(&o, &r);
	ok(o.variant[1].prediction.faster == 1 && o.variant[1].prediction.wall_ns == 100 * MS - 1 &&
		   !o.variant[1].prediction.without,
	   "the same setting takes as long");
	r.wall_ns--;
	w[1].bound = true;
	w[1].wall_ns = 0;
	o.variant[1].removal.same = false;
	trials_predict(&o, &r);
	ok(o.variant[1].prediction.at_most && !o.variant[1].prediction.wall_ns &&
		   o.variant[1].prediction.call_now_ns == 9 && o.variant[1].prediction.call_ns == 1,
	   "where no length is known, a call is");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("experiment_runs");
}
