/* SPDX-License-Identifier: GPL-2.0-only */
/* slowest_calls.h - the slowest calls, kept whole. */
#ifndef BT_ANALYSE_LEDGER_SLOWEST_CALLS_H
#define BT_ANALYSE_LEDGER_SLOWEST_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/report.h"
#include "wire.h"

struct slow {
	struct wire_sync call;
	char *path;
	bool unsafe;
	struct ledger ledger;
};

struct slowest {
	struct slow **call; /* the slowest first */
	size_t n, max;
};

void slowest_init(struct slowest *l, size_t max);

/* Is it among them? Then it is to be added. */
bool slowest_wants(const struct slowest *l, const struct wire_sync *s);
void slowest_add(struct slowest *l, const struct wire_sync *s, const char *path, const struct ledger *ledger, bool unsafe);

void slowest_clear(struct slowest *l);
void slowest_free(struct slowest *l);

#endif
