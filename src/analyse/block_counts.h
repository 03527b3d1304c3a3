/* SPDX-License-Identifier: GPL-2.0-only */
/* block_counts.h - from the counters of views to what the report says of a device. */
#ifndef BT_ANALYSE_BLOCK_COUNTS_H
#define BT_ANALYSE_BLOCK_COUNTS_H

#include "model/scope_counts.h"
#include "model/report.h"

/*
 * Adds a view's requests to a device. FLUSH requests are counted in the disk's own view as a whole and again in each
 * named partition that they served, so a disk adds up the requests of all its views but the FLUSHes of its own only:
 * `own` tells.
 */
void block_add_view(struct report_device *d, const struct view_counts *v, bool own);

/* When all views are in: what follows from them. */
void block_finish(struct report_device *d);

/*
 * Requests that the kernel counted over the run and that are missing here: tracepoints were seen to miss
 * a few, most of all while another tracer attaches or detaches. 0 when the kernel's counters are not known. The kernel's counters have to be read before ours.
 */
uint64_t block_missed(const struct report_device *d);

#endif
