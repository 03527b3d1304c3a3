/* SPDX-License-Identifier: GPL-2.0-only */
/* report_builder.h - the report, out of a run's context, its counters and its analysed sync calls. */
#ifndef BT_ANALYSE_REPORT_BUILDER_H
#define BT_ANALYSE_REPORT_BUILDER_H

#include <stdbool.h>

#include "analyse/analysis.h"
#include "model/run_context.h"
#include "model/scope_counts.h"

/* How the frame's sync calls are to be analysed. The arrays stay the frame's. */
struct sync_opts frame_sync_opts(const struct frame *f);

/*
 * Makes the report. Moves the frame's strings into it: of the frame only places and symbols are left. `views` holds
 * frame.views counters; `sync` may be NULL.
 */
void frame_report(struct frame *f, const struct view_counts *views, struct sync_analysis *sync, bool interval,
		  struct report *out);

#endif
