// SPDX-License-Identifier: GPL-2.0-only
#include "model/histogram.h"

#include <math.h>

void hist_add(struct hist *h, uint64_t value)
{
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->bucket[hist_index(value)]++;
}

void hist_merge(struct hist *dst, const struct hist *src)
{
	if (!src->count)
		return;
	if (!dst->count || src->min < dst->min)
		dst->min = src->min;
	if (src->max > dst->max)
		dst->max = src->max;
	dst->count += src->count;
	dst->sum += src->sum;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		dst->bucket[i] += src->bucket[i];
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t rank, seen = 0;

	if (!h->count)
		return 0;
	rank = (uint64_t)ceil(q * (double)h->count);
	rank = clamp(rank, 1, h->count);
	if (rank == h->count)
		return h->max;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank) {
			uint64_t lo = hist_lower(i), hi = hist_upper(i);

			return clamp(lo + (hi - lo) / 2, h->min, h->max);
		}
	}
	return h->max;
}

uint64_t hist_mean(const struct hist *h)
{
	return h->count ? (h->sum + h->count / 2) / h->count : 0;
}
