// SPDX-License-Identifier: GPL-2.0-only
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static uint64_t *octave(struct tally *t, unsigned int i)
{
	if (!t->at[i]) {
		t->octave = xrealloc(t->octave, (t->n + 1u) * sizeof(*t->octave));
		memset(t->octave[t->n], 0, sizeof(*t->octave));
		t->at[i] = ++t->n;
	}
	return t->octave[t->at[i] - 1];
}

void tally_add(struct tally *t, uint64_t value)
{
	unsigned int i = hist_index(value);

	if (!t->count || value < t->min)
		t->min = value;
	if (value > t->max)
		t->max = value;
	t->count++;
	t->sum += value;
	octave(t, i / HIST_SUB)[i % HIST_SUB]++;
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
		uint64_t *to = src->at[i] ? octave(dst, i) : NULL;

		for (unsigned int k = 0; to && k < HIST_SUB; k++)
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
