// SPDX-License-Identifier: GPL-2.0-only
/* What an experiment comes to, from made-up runs: how much faster, why, what was predicted, and how it is shown. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/experiment_runs.h"
#include "util/buf.h"
#include "util/mem.h"
#include "render/render_documents.h"
#include "tap.h"

#define MS 1000000ull

static void near(double got, double want, const char *name)
{
	if (!ok(fabs(got - want) <= 1e-3 * fabs(want), "%s", name))
		diag("got %.6f, want %.6f", got, want);
}

static void says(const char *text, const char *part)
{
	if (!ok(strstr(text, part), "it says: %s", part))
		diag("%s", text);
}

/* A run whose sync calls waited so long for this cause; the rest is CPU. */
static void run_of(struct outcome_variant *v, uint64_t wall_ms, enum cause c, uint64_t cause_ms, uint64_t cpu_ms)
{
	struct report r = { .have_sync = true, .wall_ns = wall_ms * MS };
	char sentence[] = "A sentence.";

	r.sync.count = 10;
	r.sync.ledger.ns[c] += cause_ms * MS;
	r.sync.ledger.ns[CAUSE_CPU] += cpu_ms * MS;
	r.sync.total_ns = ledger_sum(&r.sync.ledger);
	r.have_verdict = true;
	r.verdict.class = "device-flush";
	r.verdict.sentence = sentence;
	trials_add(v, &r, wall_ms * MS);
}

static struct outcome outcome_of(size_t n)
{
	static const char *const names[] = { "barrier=1", "barrier=0", "commit=\x1b[31m9", "commit=30" };
	struct outcome o = { .n_runs = 2, .restored = true, .target = xstrdup("/mnt: ext4 on sda") };

	for (size_t i = 0; i < n; i++) {
		struct outcome_variant *v = grow((void **)&o.variant, &o.n, sizeof(*v));

		v->name = xstrdup(names[i]);
		strv_add(&v->set, xstrdup(names[i]));
	}
	strv_add(&o.command, xstrdup("sqlite3"));
	strv_add(&o.command, xstrdup(".read x y"));
	return o;
}

TEST(sums)
{
	struct outcome o = outcome_of(1);
	struct outcome_variant *v = &o.variant[0];
	struct report_device disk[2] = { { .op[OP_FLUSH].count = 5 }, { .op[OP_FLUSH].count = 100, .disk = (char *)"sda" } };
	struct report without = { .lost_events = 3, .incomplete = true, .device = disk, .n_devices = 2 };

	run_of(v, 100, CAUSE_FLUSH_ONLY, 80, 10);
	trials_add(v, &without, 0);
	without.lost_events = 4;
	without.incomplete = false;
	trials_add(v, &without, 7);
	ok(v->n_runs == 3 && v->run[1].wall_ns == 1 && v->run[2].wall_ns == 7, "each run has its time, and none none");
	ok(v->lost_events == 7 && v->incomplete, "what runs lost is added up");
	ok(v->flushes == 10, "FLUSHes are those of disks, not of their partitions once more");
	ok(v->calls == 10 && v->sync_ns == 90 * MS && ledger_sum(&v->ledger) == 90 * MS && !v->run[1].class,
	   "sync calls are those of runs that had any");
	outcome_free(&o);
}

/* t(0.975, 2) is 4.303; the logarithms of 100 and 121 ms lie 0.1906 apart, those of 10 and 12.1 ms too. */
TEST(faster)
{
	struct outcome o = outcome_of(2);
	const struct outcome_change *c;

	run_of(&o.variant[0], 100, CAUSE_FLUSH_ONLY, 80, 10);
	run_of(&o.variant[0], 121, CAUSE_FLUSH_ONLY, 90, 10);
	run_of(&o.variant[1], 10, CAUSE_CPU, 0, 8);
	run_of(&o.variant[1], 12, CAUSE_CPU, 0, 8);
	o.variant[1].run[1].wall_ns = 12100000;
	trials_conclude(&o);
	c = &o.variant[1].change;
	near(c->faster, 10, "the ratio of the geometric means");
	near(c->high / c->faster, exp(4.30265 * 0.190620 / sqrt(2)), "the upper end of the interval");
	near(c->faster / c->low, exp(4.30265 * 0.190620 / sqrt(2)), "the lower one");
	ok(c->told, "1 lies outside");
	ok(c->blamed && c->family == FAMILY_FLUSH, "the flush is blamed");
	near(c->family_difference, -85e6, "for what it takes less a run");
	says(c->sentence, "barrier=0 is 10.0 times faster than barrier=1");
	says(c->sentence, "because of the drive's flushes: 85.0 ms less a run");
	says(o.sentence, c->sentence);
	outcome_free(&o);
}

static void predict(struct outcome_removal removal, bool have_calls, struct outcome *o)
{
	struct report_whatif w[] = { { .remove = (char *)"flush", .wall_ns = 20 * MS, .speedup = 5 },
				     { .remove = (char *)"throttle", .wall_ns = 99 * MS, .speedup = 1.01 } };
	struct report r = { .have_sync = true, .wall_ns = 100 * MS, .whatif = w, .n_whatif = 2, .sync.count = have_calls };

	*o = outcome_of(2);
	o->variant[1].removal = removal;
	trials_predict(o, &r);
}

static void again(struct outcome *o, uint64_t wall_ns, double speedup)
{
	struct report_whatif w = { .remove = (char *)"flush", .wall_ns = 20 * MS, .speedup = speedup };
	struct report r = { .have_sync = true, .wall_ns = wall_ns, .whatif = &w, .n_whatif = 1, .sync.count = 1 };

	trials_predict(o, &r);
}

static void test_predict(void)
{
	struct outcome o;

	predict((struct outcome_removal){ "flush", false, false }, true, &o);
	ok(o.variant[1].prediction.have, "a removal is predicted");
	near(o.variant[1].prediction.faster, 5, "by its what-if");
	again(&o, 101 * MS, 2);
	near(o.variant[1].prediction.faster, 5, "a slower run says no more");
	again(&o, 90 * MS, 4.5);
	near(o.variant[1].prediction.faster, 4.5, "a quicker one does");
	ok(o.variant[1].prediction.base_ns == 90 * MS, "and is what is compared with");
	ok(!o.variant[0].prediction.have, "the first variant is not");
	outcome_free(&o);
	predict((struct outcome_removal){ "I/O scheduler", true, false }, true, &o);
	ok(o.variant[1].prediction.have && !o.variant[1].prediction.without, "what took no time takes none away");
	near(o.variant[1].prediction.faster, 1, "so nothing changes");
	outcome_free(&o);
	predict((struct outcome_removal){ NULL, false, true }, true, &o);
	near(o.variant[1].prediction.faster, 1, "the same setting is as fast");
	outcome_free(&o);
	predict((struct outcome_removal){ NULL, false, false }, true, &o);
	ok(!o.variant[1].prediction.have, "what no what-if knows is not predicted");
	outcome_free(&o);
	predict((struct outcome_removal){ "flush", false, false }, false, &o);
	ok(!o.variant[1].prediction.have, "nor is a run without sync calls");
	outcome_free(&o);
}

TEST(ranking)
{
	const struct render_opts plain = { .width = 80 };
	struct outcome o = outcome_of(4);
	struct buf b = { 0 };

	for (uint64_t i = 0; i < 3; i++) {
		run_of(&o.variant[0], 300 + 5 * i, CAUSE_CPU, 0, 1);
		run_of(&o.variant[1], 100 + 5 * i, CAUSE_CPU, 0, 1);
		run_of(&o.variant[2], 200 + 5 * i, CAUSE_CPU, 0, 1);
		run_of(&o.variant[3], 98 + 5 * i, CAUSE_CPU, 0, 1);
	}
	trials_conclude(&o);
	ok(o.variant[1].rank == 1 && o.variant[3].rank == 1, "who cannot be told apart shares a rank");
	ok(o.variant[2].rank == 2 && o.variant[0].rank == 3, "the others have their own");
	render_outcome_text(&o, &plain, &b);
	says(b.data, "fastest    B = D, then C, then A (=: cannot be told apart)");
	buf_free(&b);
	outcome_free(&o);
	o = outcome_of(3);
	for (size_t i = 0; i < 3; i++)
		run_of(&o.variant[i], 100 * (i + 1), CAUSE_CPU, 0, 1);
	trials_conclude(&o);
	ok(!o.variant[0].rank && !o.variant[1].rank && !o.variant[2].rank, "single runs have no ranks");
	render_outcome_text(&o, &plain, &b);
	ok(!strstr(b.data, "fastest"), "nor a line of them");
	buf_free(&b);
	outcome_free(&o);
}

TEST(rendered)
{
	const struct render_opts plain = { .width = 80 };
	struct outcome o = outcome_of(3);
	struct buf b = { 0 };
	json_error_t error;
	bool printable = true;
	json_t *j;

	for (uint64_t i = 0; i < 2; i++) {
		run_of(&o.variant[0], 100 + i, CAUSE_FLUSH_ONLY, 80, 10);
		run_of(&o.variant[1], 20 + i, CAUSE_FLUSH_ONLY, 0, 10);
		run_of(&o.variant[2], 100 + i, CAUSE_FLUSH_ONLY, 80, 10);
	}
	o.variant[1].risk = xstrdup("a power cut can lose things");
	o.variant[1].prediction = (struct outcome_prediction){
		.have = true, .at_most = true, .faster = 4.5, .wall_ns = 22 * MS, .without = "flush", .base_ns = 99 * MS
	};
	trials_conclude(&o);
	render_outcome_text(&o, &plain, &b);
	for (size_t i = 0; i < b.len; i++)
		printable &= b.data[i] == '\n' || (b.data[i] >= ' ' && b.data[i] < 127);
	ok(printable, "the text is ASCII, escapes escaped");
	says(b.data, "B  barrier=0");
	says(b.data, "<= 4.50x\n");
	says(b.data, "RISK");
	says(b.data, "all as they were before");
	buf_clear(&b);
	o.restored = false;
	render_outcome_text(&o, &plain, &b);
	says(b.data, "not all could be put back");
	buf_clear(&b);
	o.variant[1].prediction.wall_ns = 0;
	render_outcome_text(&o, &plain, &b);
	says(b.data, "<= 4.50x a call\n");
	buf_clear(&b);
	render_outcome_json(&o, &b);
	j = json_loadb(b.data, b.len, 0, &error);
	ok(j && json_array_size(json_object_get(j, "variants")) == 3, "the JSON has three variants");
	ok(json_is_false(json_object_get(j, "restored")), "and says what was not put back");
	json_decref(j);
	buf_free(&b);
	outcome_free(&o);
}

int main(void)
{
	tests_run();
	test_predict();
	return tap_done();
}
