/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms in user space. Values are nanoseconds unless a caller says otherwise. */
#ifndef BT_MODEL_HISTOGRAM_H
#define BT_MODEL_HISTOGRAM_H

#include <stdint.h>

#include "hist_geometry.h"

struct hist {
	uint64_t count, sum; /* exact */
	uint64_t min, max;   /* exact; 0 while count is 0 */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t value);

/* dst += src, bucket by bucket: exact. */
void hist_merge(struct hist *dst, const struct hist *src);

/*
 * The value below or at which the share q (0 to 1) of the values lies, by nearest rank; the middle
 * of its bucket, kept within [min, max]. 0 when the histogram is empty.
 */
uint64_t hist_quantile(const struct hist *h, double q);

/* Mean, rounded to the nearest; 0 when empty. */
uint64_t hist_mean(const struct hist *h);

#endif
