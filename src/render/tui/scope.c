// SPDX-License-Identifier: GPL-2.0-only
/* scope.c - what panes share: which report their figures are of, and how these are written. */
#include <stdio.h>

#include "render/tui/screen_internal.h"

const struct report *screen_scope(const struct screen *s, enum screen_pane pane)
{
	return s->state->of_run[pane] ? s->v->run : s->v->interval;
}

void screen_scope_name(const struct screen *s, enum screen_pane pane, struct buf *b)
{
	const struct report *r = s->v->interval;

	if (s->state->of_run[pane])
		buf_str(b, "the run");
	else
		buf_printf(b, "%s%s", r ? "last " : "not yet", r ? screen_span(s, r->wall_ns).s : "");
}

struct num screen_time(const struct screen *s, uint64_t ns)
{
	return num_duration(ns, s->num);
}

struct num screen_span(const struct screen *s, uint64_t ns)
{
	uint64_t seconds = (ns + 500000000) / 1000000000,
		 off = ns > seconds * 1000000000 ? ns - seconds * 1000000000 : seconds * 1000000000 - ns;
	struct num n = screen_time(s, ns);

	if (seconds && seconds < 1000 && off <= ns / 20)
		snprintf(n.s, sizeof(n.s), "%us", (unsigned int)seconds);
	return n;
}

struct num screen_tally_quantile(const struct screen *s, const struct tally *t, double q)
{
	struct hist h;

	tally_hist(t, &h);
	return screen_quantile(s, &h, q);
}

struct num screen_quantile(const struct screen *s, const struct hist *h, double q)
{
	return h->count ? screen_time(s, hist_quantile(h, q)) : (struct num){ "-" };
}

/* Something that happened is at least 1. */
uint64_t screen_rate(uint64_t count, uint64_t wall_ns)
{
	double rate = wall_ns ? (double)count * 1e9 / (double)wall_ns : 0;

	return count && rate < 1 ? 1 : (uint64_t)(rate + 0.5);
}

size_t screen_first(size_t chosen, size_t room)
{
	return chosen < room ? 0 : chosen - room + 1;
}
