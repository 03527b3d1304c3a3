// SPDX-License-Identifier: GPL-2.0-only
#include "model/sparse_histogram.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- entries ---- */

#define ENTRIES_MAX 255u /* what `n` holds */
#define COUNT_BITS  20	 /* below the bucket */
#define COUNT_MAX   ((1u << COUNT_BITS) - 1)

_Static_assert(HIST_BUCKETS <= 1u << (32 - COUNT_BITS), "a bucket and its count take 32 bits");

/* Bytes allocated for n entries: room for a power of two of them, at least 4. */
static size_t entries_bytes(unsigned int n)
{
	size_t room = 4;

	while (room < n)
		room *= 2;
	return room * sizeof(uint32_t);
}

/* Index of the bucket's entry, or where to insert it. */
static unsigned int find_entry(const struct tally *t, unsigned int bucket)
{
	unsigned int at = 0;

	for (unsigned int left = t->n; left;) {
		unsigned int half = (left + 1) / 2;

		at += t->entry[at + half - 1] >> COUNT_BITS < bucket ? half : 0;
		left -= half;
	}
	return at;
}

/* Would octaves take no more than `room` bytes? */
static bool octaves_take_less(const struct tally *t, size_t room)
{
	unsigned int octaves = 0, last = TALLY_OCTAVES;

	if (room < sizeof(*t->octave))
		return false;
	for (unsigned int i = 0; i < t->n; i++) {
		unsigned int octave = (t->entry[i] >> COUNT_BITS) / HIST_SUB;

		octaves += octave != last;
		last = octave;
	}
	return octaves * sizeof(*t->octave) <= room;
}

/* False: no entry is free, the count exceeds 20 bits, or octaves would be smaller. */
static bool add_entry(struct tally *t, unsigned int bucket, uint64_t n)
{
	unsigned int at = find_entry(t, bucket);

	if (at < t->n && t->entry[at] >> COUNT_BITS == bucket) {
		if (n > COUNT_MAX - (t->entry[at] & COUNT_MAX))
			return false;
		t->entry[at] += (uint32_t)n;
		return true;
	}
	if (t->n == ENTRIES_MAX || n > COUNT_MAX)
		return false;
	if (!t->n || entries_bytes(t->n) != entries_bytes(t->n + 1u)) {
		if (octaves_take_less(t, entries_bytes(t->n + 1u)))
			return false;
		t->entry = xrealloc(t->entry, entries_bytes(t->n + 1u));
	}
	memmove(&t->entry[at + 1], &t->entry[at], (t->n - at) * sizeof(*t->entry));
	t->entry[at] = bucket << COUNT_BITS | (uint32_t)n;
	t->n++;
	return true;
}

/* ---- octaves ---- */

static uint64_t *octave_of(struct tally *t, unsigned int i)
{
	if (!t->at[i]) {
		t->octave = xrealloc(t->octave, (t->n + 1u) * sizeof(*t->octave));
		memset(t->octave[t->n], 0, sizeof(*t->octave));
		t->at[i] = ++t->n;
	}
	return t->octave[t->at[i] - 1];
}

static void convert_to_octaves(struct tally *t)
{
	uint32_t *entry = t->entry;
	unsigned int n = t->n;

	t->octave = NULL;
	t->n = 0;
	t->by_octave = true;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int bucket = entry[i] >> COUNT_BITS;

		octave_of(t, bucket / HIST_SUB)[bucket % HIST_SUB] += entry[i] & COUNT_MAX;
	}
	free(entry);
}

/* ---- both ---- */

void tally_count(struct tally *t, unsigned int bucket, uint64_t n)
{
	if (!t->by_octave) {
		if (add_entry(t, bucket, n))
			return;
		convert_to_octaves(t);
	}
	octave_of(t, bucket / HIST_SUB)[bucket % HIST_SUB] += n;
}

void tally_add_slowly(struct tally *t, unsigned int bucket)
{
	/* it wraps: not `count`, which a short recording can make as large as it likes */
	if (!t->by_octave && !++t->looked)
		convert_to_octaves(t);
	tally_count(t, bucket, 1);
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
	for (unsigned int k = 0; k < HIST_SUB; k++)
		if (from[k])
			tally_count(dst, i * HIST_SUB + k, from[k]);
}

void tally_merge(struct tally *dst, const struct tally *src)
{
	if (!src->count)
		return;
	merge_sums(dst, src->count, src->sum, src->min, src->max);
	for (unsigned int i = 0; !src->by_octave && i < src->n; i++)
		tally_count(dst, src->entry[i] >> COUNT_BITS, src->entry[i] & COUNT_MAX);
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (src->at[i])
			merge_octave(dst, i, src->octave[src->at[i] - 1]);
}

void tally_merge_hist(struct tally *dst, const struct hist *src)
{
	if (!src->count)
		return;
	merge_sums(dst, src->count, src->sum, src->min, src->max);
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
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

	if (!t->by_octave)
		return t->n;
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

static size_t allocated(const struct tally *t)
{
	return t->by_octave ? t->n * sizeof(*t->octave) : entries_bytes(t->n);
}

struct tally tally_copy(const struct tally *t)
{
	struct tally copy = *t;

	if (t->n)
		copy.entry = memcpy(xrealloc(NULL, allocated(t)), t->entry, allocated(t));
	return copy;
}

void tally_free(struct tally *t)
{
	free(t->entry);
	*t = (struct tally){ 0 };
}

void tally_hist(const struct tally *t, struct hist *out)
{
	memset(out, 0, sizeof(*out));
	out->count = t->count;
	out->sum = t->sum;
	out->min = t->min;
	out->max = t->max;
	for (unsigned int i = 0; !t->by_octave && i < t->n; i++)
		out->bucket[t->entry[i] >> COUNT_BITS] = t->entry[i] & COUNT_MAX;
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (t->at[i])
			memcpy(&out->bucket[i * HIST_SUB], t->octave[t->at[i] - 1], sizeof(*t->octave));
}
