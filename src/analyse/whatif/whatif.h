/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whatif.h - what the run's wall time would be without a family of causes: kept per call while the run is analysed, then
 * simulated as the closed loop that it is (sim.h), once as observed and once without.
 */
#ifndef BT_ANALYSE_WHATIF_WHATIF_H
#define BT_ANALYSE_WHATIF_WHATIF_H

#include <stdbool.h>
#include <stdint.h>

#include "model/report.h"
#include "analyse/ledger/walk.h"
#include "wire.h"

struct whatif;

struct whatif *whatif_new(void);
void whatif_free(struct whatif *w); /* NULL is fine */

/* What lies before a call: since the end of the same task's call before. */
struct whatif_gap {
	uint64_t from;	 /* that end; 0: none known */
	uint64_t waited; /* of that time, ready to run and waiting for a CPU, ns */
	bool busy;	 /* it never lost the CPU */
};

/* A call that has been walked; r NULL: it could not be. */
void whatif_call(struct whatif *w, const struct wire_sync *s, const struct walk_result *r, struct whatif_gap gap);

/* A request's FLUSHes. */
void whatif_request(struct whatif *w, const struct wire_request *r);

/* A followed task came onto this CPU. */
void whatif_cpu(struct whatif *w, uint32_t cpu);

/*
 * How long one call took until the next one ended, on average, ns: the time after which the same code runs again. 0 when
 * what can be taken away is less than a fifth of it, and the pace (cpu_warmup.h) makes no difference. `all`: the ledger of the calls.
 */
uint64_t whatif_period(const struct whatif *w, const struct ledger *all);

/* Fills r->whatif from r->wall_ns, r->sync and what was kept; leaves out what has less than 1 % of the ledger. Once. */
void whatif_make(struct report *r, const struct whatif *w);

/* Forgets all calls. */
void whatif_forget(struct whatif *w);

#endif
