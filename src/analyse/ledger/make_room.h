/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make_room.h - which of a full table's entries give way to new ones: their sums go to what stands for all others.
 *
 * Names come and go for weeks. Those that were not seen for a minute give way, but for those with more than the mean of the sums. Where
 * more come within a minute than there is room for, the latest are among the others: a table that is filled anew all the time
 * would tell nothing, and would take longer than all the rest of the analysis.
 */
#ifndef BT_ANALYSE_LEDGER_MAKE_ROOM_H
#define BT_ANALYSE_LEDGER_MAKE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#define ROOM_AGE_NS   60000000000ull
#define ROOM_PAUSE_NS 120000000000ull

/* Is it time to look for some? *looked_ns is when it was last, 0 at first. */
static inline bool room_due(uint64_t *looked_ns, uint64_t now_ns)
{
	if (now_ns <= *looked_ns || now_ns - *looked_ns < ROOM_PAUSE_NS)
		return false;
	*looked_ns = now_ns;
	return true;
}

static inline bool room_gives_way(uint64_t last_ns, uint64_t sum, uint64_t mean, uint64_t now_ns)
{
	return sum <= mean && last_ns < now_ns && now_ns - last_ns >= ROOM_AGE_NS;
}

#endif
