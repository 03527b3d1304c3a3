/* SPDX-License-Identifier: GPL-2.0-only */
/* sparse_histogram.h - a struct hist that takes room only for the powers of two that values fell into: for those of which there are thousands. */
#ifndef BT_MODEL_SPARSE_HISTOGRAM_H
#define BT_MODEL_SPARSE_HISTOGRAM_H

#include <stdint.h>

#include "model/histogram.h"

#define TALLY_OCTAVES (HIST_BUCKETS / HIST_SUB)

/* Zero-initialised is empty and valid. */
struct tally {
	uint64_t count, sum, min, max; /* as in struct hist */
	uint64_t (*octave)[HIST_SUB];  /* owned; in the order in which they were first needed */
	uint8_t n;
	uint8_t at[TALLY_OCTAVES]; /* index in `octave`, plus 1; 0: none */
};

void tally_add(struct tally *t, uint64_t value);
void tally_merge(struct tally *dst, const struct tally *src); /* as hist_merge() */
void tally_merge_hist(struct tally *dst, const struct hist *src);
void hist_merge_tally(struct hist *dst, const struct tally *src);

/* Buckets that something is in. */
unsigned int tally_buckets(const struct tally *t);

/* As hist_quantile() and hist_mean(). */
uint64_t tally_quantile(const struct tally *t, double q);
uint64_t tally_mean(const struct tally *t);

struct tally tally_copy(const struct tally *t); /* the caller's */
void tally_free(struct tally *t);		/* zeroes it */

/* The same as a histogram; *out is overwritten. */
void tally_hist(const struct tally *t, struct hist *out);

/* Makes room for one more power of two. */
uint64_t *tally_octave(struct tally *t, unsigned int i);

/* tally_add() in two steps, of a value whose bucket (hist_index()) is known: asks for the memory that the second will change. */
static inline void tally_prefetch(const struct tally *t, unsigned int bucket)
{
	unsigned int at = t->at[bucket / HIST_SUB];

	if (at)
		__builtin_prefetch(&t->octave[at - 1][bucket % HIST_SUB], 1);
}

static inline void tally_add_to(struct tally *t, unsigned int bucket, uint64_t value)
{
	unsigned int at = t->at[bucket / HIST_SUB];
	uint64_t *octave = at ? t->octave[at - 1] : tally_octave(t, bucket / HIST_SUB);

	if (!t->count || value < t->min)
		t->min = value;
	if (value > t->max)
		t->max = value;
	t->count++;
	t->sum += value;
	octave[bucket % HIST_SUB]++;
}

#endif
