// SPDX-License-Identifier: GPL-2.0-only
#include "clocks.h"

#define BUSY		500u	/* requests in a tick: with fewer, tracing all of them costs nothing that matters */
#define IDLE		50u
#define TICKS_BUSY	2u	/* before they are trusted; ten times as many after each mistake */
#define TICKS_IDLE	10u
#define MOST_PENALTY	4u
#define PRECISION	32u	/* own clocks may be off by this part of the times in the sum, as was traced just before */

static unsigned int ticks_wanted(const struct clocks *c)
{
	unsigned int n = TICKS_BUSY;

	if (c->own)
		return TICKS_IDLE;
	for (unsigned int i = 0; i < c->penalty; i++)
		n *= 10;
	return n;
}

static bool decide(struct clocks *c, bool own)
{
	c->own = own;
	c->calm = 0;
	return true;
}

/* Does this tick speak for a change? */
static bool speaks_for_change(const struct clocks *c, const struct wire_depth *now)
{
	uint64_t n = now->completed - c->last.completed + now->by_clocks - c->last.by_clocks;

	if (c->own)
		return n < IDLE;
	return n >= BUSY && (now->off - c->last.off) * PRECISION <= now->of - c->last.of;
}

bool clocks_tick(struct clocks *c, const struct wire_depth *now, bool unclocked)
{
	bool change = speaks_for_change(c, now);

	c->last = *now;
	if (unclocked && !c->own) {
		c->calm = 0;
		return false;
	}
	if (unclocked) {
		c->penalty += c->penalty < MOST_PENALTY;
		return decide(c, false);
	}
	c->calm = change ? c->calm + 1 : 0;
	return c->calm >= ticks_wanted(c) && decide(c, !c->own);
}
