/* SPDX-License-Identifier: GPL-2.0-only */
/* report_top.h - the order of a report's lists, and shorter ones. */
#ifndef BT_ANALYSE_REPORT_TOP_H
#define BT_ANALYSE_REPORT_TOP_H

#include "model/report.h"

#define REPORT_TOP 100u /* unless another number is asked for */

/*
 * Leaves the `top` processes, files and stacks with the most time; the rest is summed up: in one line, of the stacks in one for each cause.
 * Everything adds up to what it did.
 */
void report_top(struct report_sync *s, size_t top);

/* For qsort(): the most time first, then by name. */
int report_group_order(const void *a, const void *b);
int report_leaf_by_time(const void *a, const void *b);
int report_leaf_by_path(const void *a, const void *b); /* and cause */

#endif
