/* SPDX-License-Identifier: GPL-2.0-only */
/* loss_bound.h - what lost events can have changed at most, and whether that makes a report incomplete. */
#ifndef BT_ANALYSE_LOSS_BOUND_H
#define BT_ANALYSE_LOSS_BOUND_H

#include "model/report.h"

/* Events lost so far, of one reach. */
uint64_t lost_of(const struct report *r, enum loss_reach reach);

/* Below that share, what was lost is a remark: no answer rests on it. */
#define LOSS_MATTERS 0.01

/*
 * Fills in report_lost.at_most, and sets report.incomplete where the shares come to LOSS_MATTERS or one has no bound.
 *
 * A ledger says of no time that it knows it while a fact about it is missing: numbers of facts that skip, switches that the kernel
 * counted and nobody told of, and sleeps without a waker end in `unknown` or in a call without a ledger. So of the sync calls' time
 * it is at most that, and the time of calls that have no record, that may be wrong. It is divided among the reasons by their counts.
 * Of the requests, at most as many are missing as were missed.
 */
void loss_bound(struct report *r);

#endif
