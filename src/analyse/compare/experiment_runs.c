// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/compare/experiment_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "analyse/compare/reports.h"
#include "util/mem.h"
#include "util/num.h"

#define WIDE 100 /* times that the upper end of an interval may be the lower one */
#define MOST 0.5 /* a family is blamed for this part of what changed in sync calls, and those for this of the whole */

/* ---- collecting ---- */

static uint64_t flushes_of(const struct report *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n_devices; i++)
		n += r->device[i].disk ? 0 : r->device[i].op[OP_FLUSH].count;
	return n;
}

void trials_add(struct outcome_variant *v, const struct report *r, uint64_t wall_ns)
{
	struct outcome_run *run = grow((void **)&v->run, &v->n_runs, sizeof(*run));

	run->wall_ns = wall_ns ? wall_ns : 1;
	v->lost_events += r->lost_events;
	v->incomplete |= r->incomplete;
	v->flushes += flushes_of(r);
	if (!r->have_sync)
		return;
	ledger_add(&v->ledger, &r->sync.ledger);
	v->calls += r->sync.count;
	v->sync_ns += r->sync.total_ns;
	run->class = xstrdup(r->verdict.class);
	run->family = xstrdup(r->verdict.family);
	run->verdict = xstrdup(r->verdict.sentence);
}

/* ---- predicting ---- */

static const struct report_whatif *whatif_of(const struct report *r, const char *without)
{
	for (size_t i = 0; i < r->n_whatif; i++)
		if (!strcmp(r->whatif[i].remove, without))
			return &r->whatif[i];
	return NULL;
}

static void predict(struct outcome_variant *v, const struct report *r)
{
	const struct report_whatif *w;

	if (!v->removal.what && !v->removal.same)
		return;
	if (v->prediction.have && v->prediction.base_ns <= r->wall_ns)
		return;
	w = v->removal.same ? NULL : whatif_of(r, v->removal.what);
	v->prediction = (struct outcome_prediction){
		.have = true,
		.at_most = v->removal.at_most || (w && w->bound),
		.faster = w ? w->speedup : 1,
		.wall_ns = w ? w->wall_ns : r->wall_ns,
		.call_now_ns = w ? w->now_ns : 0,
		.call_ns = w ? w->without_ns : 0,
		.without = w ? v->removal.what : NULL,
		.base_ns = r->wall_ns,
	};
}

void trials_predict(struct outcome *o, const struct report *r)
{
	for (size_t i = 1; i < o->n && r->have_sync && r->sync.count; i++)
		predict(&o->variant[i], r);
}

/* ---- comparing ---- */

/* How many runs took longer than this one, less those that took less time. */
static int off_the_middle(const struct outcome_variant *v, size_t i)
{
	int n = 0;

	for (size_t k = 0; k < v->n_runs; k++)
		n += (v->run[k].wall_ns > v->run[i].wall_ns) - (v->run[k].wall_ns < v->run[i].wall_ns);
	return abs(n);
}

static void summarise(struct outcome_variant *v)
{
	double sum = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		sum += (double)v->run[i].wall_ns;
		if (off_the_middle(v, i) < off_the_middle(v, v->median))
			v->median = i;
	}
	v->mean_ns = v->n_runs ? (uint64_t)(sum / (double)v->n_runs + 0.5) : 0;
}

static struct compare_sample logarithms(const struct outcome_variant *v)
{
	struct compare_sample s = { .n = (double)v->n_runs };

	for (size_t i = 0; i < v->n_runs; i++)
		s.mean += log((double)v->run[i].wall_ns) / s.n;
	for (size_t i = 0; i < v->n_runs && v->n_runs > 1; i++) {
		double off = log((double)v->run[i].wall_ns) - s.mean;

		s.variance += off * off / (s.n - 1);
	}
	return s;
}

static double per_run(const struct outcome_variant *v, enum cause c)
{
	return (double)v->ledger.ns[c] / (double)v->n_runs;
}

static double change_of(const struct outcome_cause *c)
{
	return c->per_run[1] - c->per_run[0];
}

static void compare_causes(const struct outcome_variant *a, const struct outcome_variant *b, struct outcome_change *out)
{
	for (enum cause c = 0; c < CAUSE_COUNT; c++) {
		struct outcome_cause row = { c, { per_run(a, c), per_run(b, c) } };
		size_t at = out->n_causes;

		out->sync_difference += change_of(&row);
		if (row.per_run[0] <= 0 && row.per_run[1] <= 0)
			continue;
		for (; at && fabs(change_of(&out->cause[at - 1])) < fabs(change_of(&row)); at--)
			out->cause[at] = out->cause[at - 1];
		out->cause[at] = row;
		out->n_causes++;
	}
}

static double wall_change(const struct outcome_variant *a, const struct outcome_variant *b)
{
	return (double)b->mean_ns - (double)a->mean_ns;
}

/*
 * The family whose time moved most the way that the run's did: if sync calls moved that way at all, by as much as
 * explains the run, and this family by most of it. With several callers at once their times are more than the run's.
 */
static void blame(const struct outcome_variant *a, const struct outcome_variant *b, struct outcome_change *c)
{
	double wall = wall_change(a, b), way = wall < 0 ? -1 : 1, family[FAMILY_COUNT] = { 0 }, all = 0;

	for (size_t i = 0; i < c->n_causes; i++)
		family[cause_family(c->cause[i].cause)] += way * change_of(&c->cause[i]);
	for (int f = 0; f < FAMILY_COUNT; f++) {
		all += family[f] > 0 ? family[f] : 0;
		if (family[f] > family[c->family])
			c->family = (enum cause_family)f;
	}
	c->family_difference = way * family[c->family];
	c->blamed = family[c->family] >= MOST * all && family[c->family] > 0 && c->family != FAMILY_UNKNOWN &&
		    way * c->sync_difference >= MOST * fabs(wall);
}

static void compare(const struct outcome_variant *a, struct outcome_variant *b)
{
	struct compare_sample sa = logarithms(a), sb = logarithms(b);
	struct comparison_interval i = compare_samples(&sb, &sa);
	struct outcome_change *c = &b->change;

	c->faster = exp(i.difference);
	c->have_interval = i.have;
	c->told = i.told;
	c->low = exp(i.low);
	c->high = exp(i.high);
	c->wide = i.have && i.high - i.low > log(WIDE);
	compare_causes(a, b, c);
	blame(a, b, c);
}

static void by_speed(const struct compare_sample *s, size_t n, size_t *order)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at && s[order[at - 1]].mean > s[i].mean; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* Who cannot be told from the fastest of those that are left is as fast. */
static void rank(struct outcome *o)
{
	struct compare_sample *s = xcalloc(o->n, sizeof(*s));
	size_t *order = xcalloc(o->n, sizeof(*order)), first = 0, at = 0;

	for (size_t i = 0; i < o->n; i++)
		s[i] = logarithms(&o->variant[i]);
	by_speed(s, o->n, order);
	for (size_t i = 0; i < o->n; i++) {
		struct comparison_interval c = compare_samples(&s[order[first]], &s[order[i]]);

		if (!i || c.told) {
			first = i;
			at++;
		}
		o->variant[order[i]].rank = c.have ? at : 0;
	}
	free(order);
	free(s);
}

/* ---- words ---- */

/* "12.2 times faster", "8.0 % slower" */
static void how_much(struct buf *b, double faster)
{
	double more = faster > 1 ? faster : 1 / faster;
	const char *word = faster > 1 ? "faster" : "slower";

	if (more >= 1.5)
		buf_printf(b, "%s times %s", compare_ratio(more).s, word);
	else
		buf_printf(b, "%s %s", num_percent((uint64_t)((more - 1) * 1e6), 1000000, 0).s, word);
}

/* "95 % confidence: 11.9 to 12.6 times" */
static void interval(struct buf *b, const struct outcome_change *c)
{
	double low = c->faster > 1 ? c->low : 1 / c->high, high = c->faster > 1 ? c->high : 1 / c->low;

	buf_printf(b, "95 %% confidence: %s to %s times", compare_ratio(low).s, compare_ratio(high).s);
}

static void why(struct buf *b, const struct outcome_variant *a, const struct outcome_variant *v)
{
	const struct outcome_change *c = &v->change;
	double wall = wall_change(a, v);

	if (c->blamed)
		buf_printf(b, ", because of the %s: %s %s a run",
			   c->family == FAMILY_FLUSH ? "drive's flushes" : family_name(c->family),
			   compare_duration(c->family_difference).s, c->family_difference < 0 ? "less" : "more");
	else if (c->sync_difference * wall <= 0 || fabs(c->sync_difference) < MOST * fabs(wall))
		buf_str(b, ", and not in its sync calls");
	else
		buf_str(b, ", for no single reason");
	if (c->blamed && c->family != FAMILY_IO_SCHEDULER && v->removal.what && !strcmp(v->removal.what, "I/O scheduler"))
		buf_str(b, "; the I/O scheduler's own queue is not the reason");
}

static void sentence(const struct outcome_variant *a, struct outcome_variant *v)
{
	struct num now = compare_duration((double)v->mean_ns), was = compare_duration((double)a->mean_ns);
	const struct outcome_change *c = &v->change;
	struct buf b = { 0 };

	if (c->told) {
		buf_printf(&b, "%s is ", v->name);
		how_much(&b, c->faster);
		buf_printf(&b, " than %s (%s instead of %s a run; ", a->name, now.s, was.s);
		interval(&b, c);
		buf_char(&b, ')');
		why(&b, a, v);
	} else if (c->wide) {
		buf_printf(&b,
			   "%s and %s cannot be told apart (%s and %s a run): runs of the same variant differ too much; more of "
			   "them (-n) may help",
			   v->name, a->name, now.s, was.s);
	} else if (c->have_interval) {
		buf_printf(&b, "%s and %s cannot be told apart (%s and %s a run; 95 %% confidence: %s to %s times as fast)",
			   v->name, a->name, now.s, was.s, compare_ratio(c->low).s, compare_ratio(c->high).s);
	} else {
		buf_printf(&b, "%s took %s, %s %s: a single run of each says nothing about chance", v->name, now.s,
			   a->name, was.s);
	}
	buf_char(&b, '.');
	v->change.sentence = b.data;
}

void trials_conclude(struct outcome *o)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < o->n; i++)
		summarise(&o->variant[i]);
	for (size_t i = 1; i < o->n; i++) {
		compare(&o->variant[0], &o->variant[i]);
		sentence(&o->variant[0], &o->variant[i]);
		buf_printf(&b, "%s%s", b.len ? " " : "", o->variant[i].change.sentence);
	}
	rank(o);
	o->sentence = b.data;
}
