// SPDX-License-Identifier: GPL-2.0-only
#include "model/sparse_histogram.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

uint64_t *tally_octave(struct tally *t, unsigned int i)
{
	t->octave = xrealloc(t->octave, (t->n + 1u) * sizeof(*t->octave));
	memset(t->octave[t->n], 0, sizeof(*t->octave));
	t->at[i] = ++t->n;
	return t->octave[t->n - 1];
}

void tally_add(struct tally *t, uint64_t value)
{
	tally_add_to(t, hist_index(value), value);
}

/* All but the buckets. */
static void merge_sums(struct tally *dst, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
	if (!dst->count || min < dst->min)
		dst->min = min;
	if (max > dst->max)
		dst->max = max;
	dst->count += count;
	dst->sum += sum;
}

static void merge_octave(struct tally *dst, unsigned int i, const uint64_t from[HIST_SUB])
{
	uint64_t *to = dst->at[i] ? dst->octave[dst->at[i] - 1] : tally_octave(dst, i);

	for (unsigned int k = 0; k < HIST_SUB; k++)
		to[k] += from[k];
}

void tally_merge(struct tally *dst, const struct tally *src)
{
	if (!src->count)
		return;
	merge_sums(dst, src->count, src->sum, src->min, src->max);
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (src->at[i])
			merge_octave(dst, i, src->octave[src->at[i] - 1]);
}

void tally_merge_hist(struct tally *dst, const struct hist *src)
{
	static const uint64_t nothing[HIST_SUB];

	if (!src->count)
		return;
	merge_sums(dst, src->count, src->sum, src->min, src->max);
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (memcmp(&src->bucket[i * HIST_SUB], nothing, sizeof(nothing)))
			merge_octave(dst, i, &src->bucket[i * HIST_SUB]);
}

void hist_merge_tally(struct hist *dst, const struct tally *src)
{
	struct hist from;

	tally_hist(src, &from);
	hist_merge(dst, &from);
}

unsigned int tally_buckets(const struct tally *t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->n; i++)
		for (unsigned int k = 0; k < HIST_SUB; k++)
			n += t->octave[i][k] != 0;
	return n;
}

uint64_t tally_quantile(const struct tally *t, double q)
{
	struct hist h;

	if (!t->count)
		return 0;
	tally_hist(t, &h);
	return hist_quantile(&h, q);
}

uint64_t tally_mean(const struct tally *t)
{
	return t->count ? (t->sum + t->count / 2) / t->count : 0;
}

struct tally tally_copy(const struct tally *t)
{
	struct tally copy = *t;

	copy.octave = NULL;
	if (t->n) {
		copy.octave = xrealloc(NULL, t->n * sizeof(*t->octave));
		memcpy(copy.octave, t->octave, t->n * sizeof(*t->octave));
	}
	return copy;
}

void tally_free(struct tally *t)
{
	free(t->octave);
	*t = (struct tally){ 0 };
}

void tally_hist(const struct tally *t, struct hist *out)
{
	memset(out, 0, sizeof(*out));
	out->count = t->count;
	out->sum = t->sum;
	out->min = t->min;
	out->max = t->max;
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (t->at[i])
			memcpy(&out->bucket[i * HIST_SUB], t->octave[t->at[i] - 1], sizeof(*t->octave));
}
