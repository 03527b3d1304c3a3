// SPDX-License-Identifier: GPL-2.0-only
#include "render/whatif_words.h"

#include <math.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/num.h"

#define HALF \
	2 /* a cause with half of the sync time is what a headline speaks of; where that is half of the run or less, little is gained */

static double gain_of(const struct report_whatif *w)
{
	return isnan(w->speedup) ? 0 : w->speedup;
}

static bool worth_a_line(const struct report_whatif *w)
{
	return gain_of(w) >= WHATIF_WORTH_A_LINE;
}

/* A factor of calls says nothing of the run: those stand below the run's own. Equal ones in the report's order. */
static int most_gain_first(const void *a, const void *b)
{
	const struct report_whatif *const *x = a, *const *y = b;

	if (worth_a_line(*x) != worth_a_line(*y))
		return worth_a_line(*x) ? -1 : 1;
	if (!(*x)->wall_ns != !(*y)->wall_ns)
		return (*x)->wall_ns ? -1 : 1;
	if (gain_of(*x) != gain_of(*y))
		return gain_of(*x) > gain_of(*y) ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

const struct report_whatif **whatif_by_gain(const struct report *r, size_t *lines)
{
	const struct report_whatif **w = xcalloc(r->n_whatif + 1, sizeof(*w));

	for (size_t i = 0; i < r->n_whatif; i++)
		w[i] = &r->whatif[i];
	qsort(w, r->n_whatif, sizeof(*w), most_gain_first);
	for (*lines = 0; *lines < r->n_whatif && worth_a_line(w[*lines]);)
		++*lines;
	return w;
}

static void factor(double x, const char *times, struct buf *b)
{
	buf_printf(b, "%s%s", num_ratio((uint64_t)(fmin(x, 1e12) * 1000 + 0.5), 1000).s, times);
}

void whatif_gain(const struct report_whatif *w, const char *times, struct buf *b)
{
	if (!isfinite(w->speedup) || w->speedup <= 0)
		return;
	buf_str(b, !w->wall_ns ? "at most " : w->bound ? "up to " : "");
	factor(w->speedup, times, b);
	buf_str(b, w->wall_ns ? " faster" : " as much work a second");
}

void whatif_no_gain(const struct report_whatif *const *w, size_t n, const char *at_most, const char *times, struct buf *b)
{
	double most = 1;

	for (size_t i = 0; i < n; i++)
		most = isfinite(w[i]->speedup) ? fmax(most, w[i]->speedup) : most;
	buf_printf(b, "no gain (%s ", at_most);
	factor(most, times, b);
	buf_char(b, ')');
}

void whatif_contrast(const struct report *r, struct buf *b)
{
	const struct report_whatif *most = NULL;

	for (size_t i = 0; i < r->n_whatif; i++)
		if (!most || r->whatif[i].without_ns < most->without_ns)
			most = &r->whatif[i];
	if (!most || !most->wall_ns || most->without_ns > most->now_ns / HALF || r->sync.total_ns > r->wall_ns / HALF)
		return;
	buf_printf(b, "%s of the sync time is %s, but sync calls are %s of the run",
		   num_percent(most->now_ns - most->without_ns, most->now_ns, 0).s, most->remove,
		   num_percent(r->sync.total_ns, r->wall_ns, 0).s);
}
