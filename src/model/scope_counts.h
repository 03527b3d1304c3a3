/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scope_counts.h - what collecting hands to analysing: the counters of each view, in plain form. The same
 * whether they come from the kernel's maps or from a recording.
 */
#ifndef BT_MODEL_SCOPE_COUNTS_H
#define BT_MODEL_SCOPE_COUNTS_H

#include <stdint.h>

#include "model/histogram.h"
#include "wire.h"

/* One cell (enum wire_class or WIRE_CELL_*), stripes added up. */
struct cell_counts {
	uint64_t count, bytes;
	struct hist queue, device, total;
};

/* One view: a disk (what lies in no named partition), or a named partition. Over a run or an interval. */
struct view_counts {
	struct wire_view sums;
	struct cell_counts cell[WIRE_CELLS];
};

/* Where they come from: NULL when the view counted nothing. Valid until the next call. */
typedef const struct view_counts *view_counts_fn(void *ctx, uint32_t view);

/* From an array of them. */
static inline const struct view_counts *view_counts_at(void *views, uint32_t view)
{
	return &((const struct view_counts *)views)[view];
}

#endif
