// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/tail.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* So many times what the quickest quarter takes at most. */
#define SLOW 3
static const uint64_t slow_kinds[] = { SLOW, 5, 10, 20, 50, 100, 200 };
/* Of all calls, hardly any is between the kinds: one for so many slow ones. */
#define BETWEEN	      5
#define LEAST_GAPS    4
#define MANY_GAPS     8
#define ALIKE_PERCENT 25 /* of their median */
/* What is regular by number is so by time where calls are alike, and numbers are rounded: if not so many times worse, the number it is. */
#define AS_GOOD 2

static struct tail_sums *sums_of(struct tail *t, uint64_t ns)
{
	unsigned int i = hist_index(ns);
	struct tail_sums **octave = &t->octave[i / HIST_SUB];

	if (!*octave)
		*octave = xcalloc(HIST_SUB, sizeof(**octave));
	return &(*octave)[i % HIST_SUB];
}

static const struct tail_sums *sums_at(const struct tail *t, unsigned int i)
{
	static const struct tail_sums none;

	return t->octave[i / HIST_SUB] ? &t->octave[i / HIST_SUB][i % HIST_SUB] : &none;
}

/* The shortest call of the bucket that the call of this rank, from 0, is in. */
static uint64_t at_rank(const struct tail *t, uint64_t rank)
{
	uint64_t before = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		before += sums_at(t, i)->count;
		if (before > rank)
			return sums_at(t, i)->least_ns;
	}
	return 0;
}

/* Calls that took [from, to), as far as buckets tell. */
static uint64_t count_between(const struct tail *t, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (unsigned int i = hist_index(from); i < HIST_BUCKETS && hist_lower(i) < to; i++)
		n += sums_at(t, i)->count;
	return n;
}

/* Now and then: what the quickest quarter takes changes slowly. */
static bool is_time_to_look(uint64_t calls)
{
	return calls % 256 == 0 || (calls < 256 && calls >= 16 && !(calls & (calls - 1)));
}

void tail_add(struct tail *t, uint64_t enter, uint64_t ns, const struct ledger *l)
{
	struct tail_sums *s = sums_of(t, ns);

	if (!s->count || ns < s->least_ns)
		s->least_ns = ns;
	s->count++;
	s->total_ns += ns;
	ledger_add(&s->ledger, l);
	if (ns >= t->slow_ns)
		t->event[t->events++ % TAIL_EVENTS] = (struct tail_event){ .call = t->calls, .enter = enter, .ns = ns };
	t->calls++;
	if (is_time_to_look(t->calls))
		t->slow_ns = SLOW * at_rank(t, t->calls / 4);
}

void tail_slowest(const struct tail *t, uint64_t n, struct tail_sums *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned int i = HIST_BUCKETS; i-- && out->count < n;) {
		const struct tail_sums *s = sums_at(t, i);

		if (!s->count)
			continue;
		out->count += s->count;
		out->total_ns += s->total_ns;
		out->least_ns = s->least_ns;
		ledger_add(&out->ledger, &s->ledger);
	}
}

/* ---- period ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Gaps between slow calls, in calls or in ns. */
struct gaps {
	uint64_t median; /* 0: they are not alike */
	double spread;	 /* how far they are from it on average, as a part of it */
};

/* Sorts them. */
static struct gaps gaps_of(uint64_t *gap, size_t n)
{
	struct gaps g = { 0 };
	uint64_t off, alike = 0;

	if (n < LEAST_GAPS)
		return g;
	qsort(gap, n, sizeof(*gap), by_value);
	g.median = gap[n / 2];
	if (!g.median)
		return g;
	off = (g.median + 1) * ALIKE_PERCENT / 100;
	for (size_t i = 0; i < n; i++) {
		uint64_t from = gap[i] > g.median ? gap[i] - g.median : g.median - gap[i];

		alike += from <= off;
		g.spread += (double)from / (double)g.median / (double)n;
	}
	if (alike != n && (n < MANY_GAPS || alike * 4 < n * 3))
		g.median = 0;
	return g;
}

static uint64_t end_of(const struct tail_event *e)
{
	return e->enter + e->ns;
}

static void join(struct tail_event *to, const struct tail_event *e)
{
	uint64_t end = end_of(to) > end_of(e) ? end_of(to) : end_of(e);

	to->enter = to->enter < e->enter ? to->enter : e->enter;
	to->ns = end - to->enter;
}

/*
 * The slow ones among those that are remembered, the oldest first; returns how many. Calls that overlap wait for the same: they are
 * one event, and so none ends before the next begins.
 */
static size_t slow_events(const struct tail *t, uint64_t slow_ns, struct tail_event *out)
{
	uint64_t first = t->events > TAIL_EVENTS ? t->events - TAIL_EVENTS : 0;
	size_t n = 0;

	for (uint64_t i = first; i < t->events; i++) {
		const struct tail_event *e = &t->event[i % TAIL_EVENTS];

		if (e->ns < slow_ns)
			continue;
		if (n && e->enter <= end_of(&out[n - 1]))
			join(&out[n - 1], e);
		else
			out[n++] = *e;
	}
	return n;
}

static uint64_t median_ns(const struct tail_event *e, size_t n)
{
	uint64_t ns[TAIL_EVENTS];

	for (size_t i = 0; i < n; i++)
		ns[i] = e[i].ns;
	qsort(ns, n, sizeof(*ns), by_value);
	return ns[n / 2];
}

/*
 * By number or by time, whichever fits better. By time the pauses between them are alike, too: slow calls that follow each other are as far
 * apart as they are long, and that is no period.
 */
static bool period_of(const struct tail *t, uint64_t slow_ns, struct tail_period *p)
{
	struct tail_event e[TAIL_EVENTS];
	uint64_t calls[TAIL_EVENTS], ns[TAIL_EVENTS], pause[TAIL_EVENTS];
	size_t n = slow_events(t, slow_ns, e), gaps = n ? n - 1 : 0;
	struct gaps by_calls, by_time;

	for (size_t i = 0; i < gaps; i++) {
		calls[i] = e[i + 1].call - e[i].call;
		ns[i] = e[i + 1].enter - e[i].enter;
		pause[i] = e[i + 1].enter - end_of(&e[i]);
	}
	by_calls = gaps_of(calls, gaps);
	by_time = gaps_of(ns, gaps);
	if (!gaps_of(pause, gaps).median || calls[gaps / 2] < 2)
		by_time.median = 0;
	if (by_calls.median > 1 && (!by_time.median || by_calls.spread <= AS_GOOD * by_time.spread))
		p->calls = by_calls.median;
	else if (by_time.median)
		p->ns = by_time.median;
	else
		return false;
	p->slow_ns = median_ns(e, n);
	return true;
}

struct tail_period tail_period(const struct tail *t)
{
	uint64_t quick = at_rank(t, t->calls / 4);
	struct tail_period p = { 0 };

	for (size_t i = 0; quick && i < sizeof(slow_kinds) / sizeof(slow_kinds[0]); i++) {
		uint64_t slow_ns = slow_kinds[i] * quick, slow = count_between(t, slow_ns, UINT64_MAX);

		if (slow <= LEAST_GAPS || count_between(t, slow_ns - slow_ns / 3, slow_ns) * BETWEEN > slow)
			continue;
		if (period_of(t, slow_ns, &p)) {
			p.quick_ns = quick;
			return p;
		}
	}
	return (struct tail_period){ 0 };
}

void tail_clear(struct tail *t)
{
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		free(t->octave[i]);
	memset(t, 0, sizeof(*t));
}
