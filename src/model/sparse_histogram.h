/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sparse_histogram.h - for tables of thousands that mostly hold few values: allocates only the buckets in use, or the powers
 * of two in use where that is smaller, or many values came.
 */
#ifndef BT_MODEL_SPARSE_HISTOGRAM_H
#define BT_MODEL_SPARSE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/histogram.h"

#define TALLY_OCTAVES (HIST_BUCKETS / HIST_SUB)

/* Zero-initialised is empty and valid. */
struct tally {
	uint64_t count, sum, min, max;	      /* as in struct hist */
	union {				      /* owned */
		uint32_t *entry;	      /* a bucket and its count, ascending; while `by_octave` is not set */
		uint64_t (*octave)[HIST_SUB]; /* in the order in which they were first needed */
	};
	bool by_octave;
	uint8_t n;
	uint8_t at[TALLY_OCTAVES]; /* index in `octave`, plus 1; 0: none */
	uint8_t looked; /* values whose entry had to be looked for: after 256 it has octaves, which are found at once */
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

/* Count `n` values in a bucket, but not in `count`, `sum`, `min` and `max`. */
void tally_count(struct tally *t, unsigned int bucket, uint64_t n);

/* The rest of tally_add_to(), where there is no octave yet. */
void tally_add_slowly(struct tally *t, unsigned int bucket);

/* tally_add() in two steps, of a value whose bucket (hist_index()) is known: asks for the memory that the second will change. */
static inline void tally_prefetch(const struct tally *t, unsigned int bucket)
{
	unsigned int at = t->at[bucket / HIST_SUB];

	__builtin_prefetch(at ? (void *)&t->octave[at - 1][bucket % HIST_SUB] : t->entry, 1);
}

static inline void tally_add_to(struct tally *t, unsigned int bucket, uint64_t value)
{
	unsigned int at = t->at[bucket / HIST_SUB];

	if (!t->count || value < t->min)
		t->min = value;
	if (value > t->max)
		t->max = value;
	t->count++;
	t->sum += value;
	if (at)
		t->octave[at - 1][bucket % HIST_SUB]++;
	else
		tally_add_slowly(t, bucket);
}

#endif
