/* SPDX-License-Identifier: GPL-2.0-only */
/* ledger_pairs.h - a ledger written down as pairs of a cause and its nanoseconds. */
#ifndef LEDGER_PAIRS_H
#define LEDGER_PAIRS_H

#include "model/report.h"

#define END 99
#define LEDGER(...) \
	(const int[]) \
	{ \
		__VA_ARGS__, END \
	}

/* What is not named is 0; what is named twice is added up. */
static inline struct ledger ledger_of(const int *pairs)
{
	struct ledger l = { { 0 } };

	for (; *pairs != END; pairs += 2)
		l.ns[pairs[0]] += (uint64_t)pairs[1];
	return l;
}

#endif
