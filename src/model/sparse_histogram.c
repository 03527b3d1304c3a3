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

void tally_merge(struct tally *dst, const struct tally *src)
{
	if (!src->count)
		return;
	if (!dst->count || src->min < dst->min)
		dst->min = src->min;
	if (src->max > dst->max)
		dst->max = src->max;
	dst->count += src->count;
	dst->sum += src->sum;
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++) {
		uint64_t *to;

		if (!src->at[i])
			continue;
		to = dst->at[i] ? dst->octave[dst->at[i] - 1] : tally_octave(dst, i);
		for (unsigned int k = 0; k < HIST_SUB; k++)
			to[k] += src->octave[src->at[i] - 1][k];
	}
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
