/* SPDX-License-Identifier: GPL-2.0-only */
/* report_builder.h - the report, out of a run's context, its counters and its analysed sync calls. */
#ifndef BT_ANALYSE_REPORT_BUILDER_H
#define BT_ANALYSE_REPORT_BUILDER_H

#include "analyse/analysis.h"
#include "model/run_context.h"
#include "model/scope_counts.h"

/* How the frame's sync calls are to be analysed. The arrays stay the frame's. */
struct sync_opts frame_sync_opts(const struct frame *f);

/* How much of a run a report tells. */
enum report_scope {
	REPORT_INTERVAL, /* what the step's analysis was fed since the last one, which then starts afresh */
	REPORT_SO_FAR,	 /* the run until now, for looking at: no what-if, and every call stays with the analysis */
	REPORT_FINAL,	 /* the run: what-if and every call too */
};

/*
 * Makes the report, its verdict and what-if included: nothing else makes them. Moves the frame's strings into it: of the frame
 * only places and symbols are left. `view` gives the counters of each of frame.views; `sync` may be NULL: sync calls were not
 * traced.
 */
void report_build(struct frame *f, view_counts_fn *view, void *ctx, struct sync_analysis *sync, enum report_scope scope,
		  struct report *out);

#endif
