/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - reads the memory-mapped counters while the kernel side writes them. A read is not one instant: a request
 * that completes meanwhile may be in the count and not yet in the sum.
 */
#ifndef BT_PROBE_COUNTERS_H
#define BT_PROBE_COUNTERS_H

#include <stdbool.h>

#include "model/scope_counts.h"
#include "model/heat_map.h"

struct wire_cell;
struct wire_maps;
struct counters;

/* `maps` has to outlive the result. */
struct counters *counters_new(const struct wire_maps *maps, uint32_t views);
void counters_free(struct counters *c); /* NULL is fine */

/* Everything since the start. */
void counters_total(struct counters *c, uint32_t view, struct view_counts *out);

/* Adds the latencies of one cell so far to rows: issue to complete, or `total`. */
void counters_rows(struct counters *c, uint32_t view, uint32_t cell, bool total, uint64_t rows[HEAT_ROWS]);

/* What came since the last counters_step() and counters_interval(). */
void counters_since(struct counters *c, uint32_t view, struct view_counts *out);

/* Ends the interval, for all views at once. */
void counters_step(struct counters *c);

/* What came in the interval that the last counters_step() ended. To be called once per view and step. */
void counters_interval(struct counters *c, uint32_t view, struct view_counts *out);

#endif
