// SPDX-License-Identifier: GPL-2.0-only
#include "probe/request_clocks.h"

#define BUSY	      500u /* requests in a tick: with fewer, tracing all of them costs nothing that matters */
#define IDLE	      50u
#define TICKS_BUSY    2u /* before they are trusted; ten times as many after each mistake */
#define TICKS_IDLE    10u
#define MOST_PENALTY  4u
#define PRECISION     32u /* own clocks may be off by this part of the times in the sum, as was traced just before */
#define TRUST_FIRST   20u /* ticks until they are compared again, twice as many after each time that they were right */
#define TRUST_LONGEST 320u

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
	c->calm = c->since = 0;
	if (!c->trust)
		c->trust = TRUST_FIRST;
	return true;
}

/* A load that was regular when it was looked at may not stay so: now and then all is traced for a moment, and compared. */
static bool compare_again(struct clocks *c, bool idle)
{
	if (!c->own || idle || ++c->since < c->trust)
		return false;
	c->trust = c->trust < TRUST_LONGEST ? 2 * c->trust : TRUST_LONGEST;
	return decide(c, false);
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
		c->trust = TRUST_FIRST;
		return decide(c, false);
	}
	c->calm = change ? c->calm + 1 : 0;
	if (!c->own && !change)
		c->trust = TRUST_FIRST;
	if (c->calm >= ticks_wanted(c))
		return decide(c, !c->own);
	return compare_again(c, change);
}
