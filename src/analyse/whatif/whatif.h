/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whatif.h - what sync calls, and the run, would take without a cause: a subtraction. Of a call, the cause's share in the
 * ledgers. Of a run, the time in which any call was in that cause.
 */
#ifndef BT_ANALYSE_WHATIF_WHATIF_H
#define BT_ANALYSE_WHATIF_WHATIF_H

#include "model/report.h"
#include "analyse/ledger/walk.h"
#include "wire.h"

struct whatif;

struct whatif *whatif_new(void);
void whatif_free(struct whatif *w); /* NULL is fine */

/* A call. `r` NULL: it has no ledger. `before` is its task as the call before left it; NULL: not known. */
void whatif_call(struct whatif *w, const struct wire_sync *s, const struct walk_result *r, const struct tl_task *before);

/* Fills r->whatif from the report's sync calls and from those that were noted; leaves out what has less than 1 % of the ledger. Once. */
void whatif_make(struct report *r, const struct whatif *w);

#endif
