/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whatif.h - what the run's wall time would be without a family of causes: kept per call while the run is analysed, then
 * simulated as the closed loop that it is (sim.h), once as observed and once without.
 */
#ifndef BT_ANALYSE_WHATIF_H
#define BT_ANALYSE_WHATIF_H

#include <stdint.h>

#include "report.h"
#include "walk.h"
#include "wire.h"

struct whatif;

struct whatif *whatif_new(void);
void whatif_free(struct whatif *w);	/* NULL is fine */

/* A call that has been walked; r NULL: it could not be. `before`: the end of the same task's call before; 0: none known. */
void whatif_call(struct whatif *w, const struct wire_sync *s, const struct walk_result *r, uint64_t before);

/* A request's FLUSHes. */
void whatif_request(struct whatif *w, const struct wire_request *r);

/* A followed task came onto this CPU. */
void whatif_cpu(struct whatif *w, uint32_t cpu);

/* Fills r->whatif from r->wall_ns, r->sync and what was kept; leaves out what has less than 1 % of the ledger. Once. */
void whatif_make(struct report *r, const struct whatif *w);

/* Forgets all calls. */
void whatif_forget(struct whatif *w);

#endif
