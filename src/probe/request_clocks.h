/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_clocks.h - whether the requests' own clocks do at present, so that insert and issue need not be traced. They are trusted only
 * under a load that is worth it, and that has shown for a while that all its requests have them and that they are right; and this has
 * to be shown again from time to time.
 */
#ifndef BT_PROBE_REQUEST_CLOCKS_H
#define BT_PROBE_REQUEST_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct clocks {
	bool own;		/* what was decided last */
	struct wire_depth last; /* as of the last tick; cleared by whoever clears the kernel side's */
	unsigned int calm;	/* ticks in a row that speak for a change */
	unsigned int since;	/* busy ticks since they have been trusted */
	unsigned int trust;	/* how many it may be until they are compared again */
	unsigned int penalty;	/* how often trusting them has been a mistake */
};

/*
 * Ten times a second: the sums so far over disks and stripes, and whether a request since the last tick had no valid clocks.
 * Returns true when c->own has changed.
 */
bool clocks_tick(struct clocks *c, const struct wire_depth *now, bool unclocked);

#endif
