// SPDX-License-Identifier: GPL-2.0-only
/*
 * The run's prediction is its wall time less the union of the intervals in which any call was in the cause. That is an estimate
 * where one call follows another and nothing but computing lies between. Where calls overlap, or tasks sleep between them, another
 * wait may fill the time that goes: then it is a bound.
 */
#include "analyse/whatif/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define KEPT	    1024u /* intervals at least that a later one may still touch */
#define SHARE_MIN   0.01  /* of the ledger, for a removal to be told */
#define LATE_MAX    0.01  /* of the intervals' time that could not be merged */
#define UNKNOWN_MAX 0.05  /* of the sync time, in calls without a ledger */
#define OVERLAP_MAX 0.05  /* of the sync time. For an estimate: */
#define BUSY_MIN    0.90  /* of the time between calls, on a CPU or ready for it */
#define SPAN_MIN    0.90  /* of the run, from the first call to the last */

/* ---- the union of intervals ---- */

struct interval {
	uint64_t from, to;
};

struct time_union {
	struct interval kept[2 * KEPT]; /* in order, apart from each other */
	uint32_t n;
	uint64_t closed_ns, closed_to; /* what was kept before: its sum, and its end */
	uint64_t added_ns, late_ns;    /* of all that was added; of it, before closed_to */
};

static void close_oldest(struct time_union *u)
{
	for (uint32_t i = 0; i < KEPT; i++)
		u->closed_ns += u->kept[i].to - u->kept[i].from;
	u->closed_to = u->kept[KEPT - 1].to;
	u->n -= KEPT;
	memmove(u->kept, u->kept + KEPT, u->n * sizeof(u->kept[0]));
}

/* The first that ends at `time` or later; n: none does. Most often it is the last one. */
static uint32_t find_end(const struct time_union *u, uint64_t time)
{
	uint32_t lo = u->n && u->kept[u->n - 1].from < time ? u->n - 1 : 0, hi = u->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->kept[mid].to < time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void merge(struct time_union *u, struct interval i)
{
	uint32_t at = find_end(u, i.from), end = at;

	for (; end < u->n && u->kept[end].from <= i.to; end++) {
		i.from = i.from < u->kept[end].from ? i.from : u->kept[end].from;
		i.to = i.to > u->kept[end].to ? i.to : u->kept[end].to;
	}
	if (end != at + 1)
		memmove(&u->kept[at + 1], &u->kept[end], (u->n - end) * sizeof(i));
	u->n = u->n - (end - at) + 1;
	u->kept[at] = i;
	if (u->n == 2 * KEPT)
		close_oldest(u);
}

static void add_interval(struct time_union *u, uint64_t from, uint64_t to)
{
	u->added_ns += to - from;
	if (from < u->closed_to) {
		uint64_t late_to = to < u->closed_to ? to : u->closed_to;

		u->late_ns += late_to - from;
		from = late_to;
	}
	if (from < to)
		merge(u, (struct interval){ from, to });
}

static uint64_t union_ns(const struct time_union *u)
{
	uint64_t ns = u->closed_ns;

	for (uint32_t i = 0; i < u->n; i++)
		ns += u->kept[i].to - u->kept[i].from;
	return ns;
}

/* ---- what is kept ---- */

/* What somebody can take away. */
static const struct removal {
	enum cause_family family; /* FAMILY_COUNT: one cause */
	enum cause cause;
} removals[] = {
	{ FAMILY_FLUSH, 0 },	    { FAMILY_COUNT, CAUSE_FLUSH_POST }, { FAMILY_DEVICE, 0 },
	{ FAMILY_IO_SCHEDULER, 0 }, { FAMILY_COUNT, CAUSE_THROTTLE },	{ FAMILY_CPU_SCHEDULER, 0 },
	{ FAMILY_FILE_SYSTEM, 0 },  { FAMILY_COUNT, CAUSE_LOCK },
};

#define REMOVALS (sizeof(removals) / sizeof(removals[0]))

struct whatif {
	unsigned int removals_of[CAUSE_COUNT]; /* a bit for each removal that takes it */
	struct time_union without[REMOVALS], calls;
	uint64_t first, last;	      /* from the first call's enter to the last exit */
	uint64_t between_ns, busy_ns; /* between calls of a task; of it, on a CPU or ready for it */
	uint64_t beside_ns;	      /* calls beside which their task does something else */
};

static bool takes(const struct removal *m, enum cause c)
{
	return m->family == FAMILY_COUNT ? m->cause == c : m->family == cause_family(c);
}

/*
 * Of a task outside its calls nothing is traced. But the kernel counts how often it goes to sleep: if it did not, it was on a CPU or
 * waited for one. Else only that wait is known, and what it computed counts as sleep.
 */
static void note_between(struct whatif *w, const struct wire_sync *s, const struct tl_task *before)
{
	uint64_t ns, waited;

	if (!before || !before->exit || before->exit > s->enter)
		return;
	ns = s->enter - before->exit;
	waited = before->waited && s->waited_enter > before->waited ? s->waited_enter - before->waited : 0;
	w->between_ns += ns;
	if (s->voluntary_enter == before->voluntary)
		w->busy_ns += ns;
	else
		w->busy_ns += waited < ns ? waited : ns;
}

static bool is_async(const struct wire_sync *s)
{
	return s->worker || s->call == CALL_URING_FSYNC || s->call == CALL_AIO_FSYNC;
}

static void note_slice(struct whatif *w, enum cause c, uint64_t from, uint64_t to)
{
	for (unsigned int left = w->removals_of[c]; left; left &= left - 1)
		add_interval(&w->without[__builtin_ctz(left)], from, to);
}

void whatif_call(struct whatif *w, const struct wire_sync *s, const struct walk_result *r, const struct tl_task *before)
{
	uint64_t at = s->enter;

	if (!w->first || s->enter < w->first)
		w->first = s->enter;
	if (s->exit > w->last)
		w->last = s->exit;
	add_interval(&w->calls, s->enter, s->exit);
	if (is_async(s))
		w->beside_ns += s->exit - s->enter;
	else
		note_between(w, s, before);
	for (size_t i = 0; r && i < r->n; at += r->slice[i++].ns)
		note_slice(w, r->slice[i].cause, at, at + r->slice[i].ns);
}

/* ---- the report ---- */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static uint64_t removed_ns(const struct removal *m, const struct ledger *l)
{
	uint64_t ns = 0;

	for (int c = 0; c < CAUSE_COUNT; c++)
		ns += takes(m, (enum cause)c) ? l->ns[c] : 0;
	return ns;
}

/* Has the run a length of its own, and are its calls known? */
static bool run_counts(const struct report *r)
{
	uint64_t unknown = r->sync.no_ledger_ns + r->unrecorded_ns + r->under_way_ns;

	return r->command && r->have_exit_status && !r->stopped && r->wall_ns &&
	       share(unknown, r->sync.total_ns + unknown) <= UNKNOWN_MAX;
}

static bool is_estimate(const struct whatif *w, const struct report *r)
{
	uint64_t any = union_ns(&w->calls), span = w->last - w->first, apart = span > any ? span - any : 0;
	uint64_t between = w->between_ns > apart ? w->between_ns : apart;

	return share(w->calls.added_ns - any + w->beside_ns, w->calls.added_ns) <= OVERLAP_MAX &&
	       (double)w->busy_ns >= BUSY_MIN * (double)between && share(span, r->wall_ns) >= SPAN_MIN;
}

static double faster(uint64_t now, uint64_t without)
{
	return without ? (double)now / (double)without : INFINITY;
}

static void predict(struct report *r, uint64_t removed, const struct time_union *u, bool run, bool estimate)
{
	struct report_whatif *out = &r->whatif[r->n_whatif - 1];
	uint64_t left = r->sync.total_ns - removed, gone = union_ns(u);

	out->now_ns = r->sync.total_ns / r->sync.count;
	out->without_ns = left / r->sync.count;
	out->speedup = faster(r->sync.total_ns, left);
	if (run && share(u->late_ns, u->added_ns) <= LATE_MAX) {
		out->wall_ns = gone < r->wall_ns ? r->wall_ns - gone : 1;
		out->speedup = faster(r->wall_ns, out->wall_ns);
	}
	out->bound = !out->wall_ns || !estimate;
}

void whatif_make(struct report *r, const struct whatif *w)
{
	bool run = run_counts(r), estimate = run && is_estimate(w, r);

	for (size_t i = 0; r->sync.count && i < REMOVALS; i++) {
		const struct removal *m = &removals[i];
		uint64_t removed = removed_ns(m, &r->sync.ledger);
		struct report_whatif *out;

		if (!removed || share(removed, r->sync.total_ns) < SHARE_MIN)
			continue;
		out = grow((void **)&r->whatif, &r->n_whatif, sizeof(*out));
		out->remove = xstrdup(m->family == FAMILY_COUNT ? cause_name(m->cause) : family_name(m->family));
		predict(r, removed, &w->without[i], run, estimate);
	}
}

/* ---- all ---- */

struct whatif *whatif_new(void)
{
	struct whatif *w = xcalloc(1, sizeof(*w));

	for (int c = 0; c < CAUSE_COUNT; c++)
		for (unsigned int m = 0; m < REMOVALS; m++)
			w->removals_of[c] |= takes(&removals[m], (enum cause)c) ? 1u << m : 0;
	return w;
}

void whatif_free(struct whatif *w)
{
	free(w);
}
