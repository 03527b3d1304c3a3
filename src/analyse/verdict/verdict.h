/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verdict.h - from a finished report to one class, one sentence, its evidence and what could be done.
 *
 * Reads nothing but the report: no kernel, no clock, no settings. The same report gives the same verdict.
 */
#ifndef BT_ANALYSE_VERDICT_VERDICT_H
#define BT_ANALYSE_VERDICT_VERDICT_H

#include "model/report.h"

/* Fills r->verdict, and the sentence of the tail, when sync calls were traced (have_sync); else leaves the report alone. Once per report. */
void verdict_make(struct report *r);

#endif
