/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tail.h - the slowest calls together: what calls of about the same duration add up to, and whether slow ones come regularly.
 * Memory is bounded: 11 KB for each power of two that durations fell into, and the last TAIL_EVENTS slow calls.
 */
#ifndef BT_ANALYSE_LEDGER_TAIL_H
#define BT_ANALYSE_LEDGER_TAIL_H

#include <stdint.h>

#include "model/report.h"
#include "model/sparse_histogram.h"

#define TAIL_EVENTS 512u /* a power of two */

struct tail_sums {
	uint64_t count, total_ns;
	uint64_t least_ns; /* the shortest of them */
	struct ledger ledger;
};

struct tail_event {
	uint64_t call; /* the how manyth it was, from 0 */
	uint64_t enter, ns;
};

struct tail {
	struct tail_sums *octave[TALLY_OCTAVES]; /* HIST_SUB of them each, by the buckets of model/histogram.h; NULL: none fell there */
	uint64_t calls;
	uint64_t slow_ns;		      /* from then on a call is an event; 0: not known yet, all are */
	struct tail_event event[TAIL_EVENTS]; /* a ring */
	uint64_t events;
};

/* Slow calls that come every so many calls, or after so long. */
struct tail_period {
	uint64_t calls; /* 0: not by their number */
	uint64_t ns;	/* 0: not by time */
	uint64_t slow_ns,
		quick_ns; /* the median of the slow calls that are remembered; what the quickest quarter takes at most */
};

/* Zero-initialised is empty and valid. Calls in the order of their ends. */
void tail_add(struct tail *t, uint64_t enter, uint64_t ns, const struct ledger *l);

/* The slowest `n` calls, and those that share the last one's bucket. */
void tail_slowest(const struct tail *t, uint64_t n, struct tail_sums *out);

/*
 * There is a period where calls are of two kinds (hardly any lie between the quick and the slow) and the gaps between slow ones are alike: at
 * least four, of which three quarters (all, of fewer than eight) are within a quarter of their median. By number or by time, whichever
 * they keep to more closely. Slow calls that overlap count as one.
 */
struct tail_period tail_period(const struct tail *t);

void tail_clear(struct tail *t);

#endif
