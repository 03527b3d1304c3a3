// SPDX-License-Identifier: GPL-2.0-only
/* tail_words.c - what is to be said of the slowest calls: how far they are from the others, why, and what they have in common. */
#include "analyse/verdict/facts.h"
#include "util/mem.h"
#include "util/num.h"

static struct num dur(uint64_t ns)
{
	return num_duration(ns, 0);
}

static void say_how_far(const struct report_sync *s, struct buf *b)
{
	const struct report_tail *t = &s->tail;

	if (t->count == 1)
		buf_printf(b, "The slowest of %s calls took %s", num_count(s->count).s, dur(t->total_ns).s);
	else
		buf_printf(b, "The slowest %s of %s calls took %s and longer", num_count(t->count).s,
			   num_count(s->count).s, dur(t->threshold_ns).s);
	buf_printf(b, ", %s times the median of %s%s", num_ratio(t->total_ns / t->count, t->median_ns).s,
		   dur(t->median_ns).s, t->count == 1 ? "" : " on average");
}

/* The largest cause; and of the other calls' time the same, so that it is seen whether that is what makes them slow. */
static void say_why(const struct report_sync *s, struct buf *b)
{
	const struct report_tail *t = &s->tail;
	enum cause order[CAUSE_COUNT];
	uint64_t rest = s->total_ns - t->total_ns;

	if (!ledger_causes(&t->ledger, order))
		return;
	buf_printf(b, ": %s of that is %s", num_percent(t->ledger.ns[order[0]], t->total_ns, 0).s, cause_name(order[0]));
	if (rest)
		buf_printf(b, " (%s in the other calls)",
			   num_percent(s->ledger.ns[order[0]] - t->ledger.ns[order[0]], rest, 0).s);
}

static void say_in_common(const struct report_tail *t, struct buf *b)
{
	if (!t->comm && !t->path)
		return;
	buf_str(b, t->count == 1 ? " It is" : " Most of them are");
	if (t->comm)
		buf_printf(b, " by %s", t->comm);
	if (t->comm && t->pid)
		buf_printf(b, " (%u)", t->pid);
	if (t->path)
		buf_printf(b, "%s on %s", t->comm ? " and" : "", t->path);
	buf_str(b, ", unlike most others.");
}

static void say_period(const struct report_tail *t, struct buf *b)
{
	if (!t->period && !t->period_ns)
		return;
	if (t->period)
		buf_printf(b, " 1 call in %s is slow", num_count(t->period).s);
	else
		buf_printf(b, " A call is slow every %s", dur(t->period_ns).s);
	buf_printf(b, ": %s, where quick ones take %s.", dur(t->slow_ns).s, dur(t->quick_ns).s);
}

void tail_words(struct report_sync *s)
{
	struct buf b = { 0 };

	if (!s->tail.count)
		return;
	say_how_far(s, &b);
	say_why(s, &b);
	buf_char(&b, '.');
	say_in_common(&s->tail, &b);
	say_period(&s->tail, &b);
	s->tail.sentence = xstrdup(b.data);
	buf_free(&b);
}
