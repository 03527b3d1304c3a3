// SPDX-License-Identifier: GPL-2.0-only
#include "model/sparse_histogram.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- few ---- */

#define FEW_MAX	   255u /* what `n` holds */
#define COUNT_BITS 20	/* below the bucket */
#define COUNT_MAX  ((1u << COUNT_BITS) - 1)

_Static_assert(HIST_BUCKETS <= 1u << (32 - COUNT_BITS), "a bucket and its count take 32 bits");

/* Bytes; for 4, 8, 16 .. entries. */
static size_t room_of(unsigned int n)
{
	size_t room = 4;

	while (room < n)
		room *= 2;
	return room * sizeof(uint32_t);
}

/* Where the bucket stands among them, or would. */
static unsigned int few_at(const struct tally *t, unsigned int bucket)
{
	unsigned int at = 0;

	for (unsigned int left = t->n; left;) {
		unsigned int half = (left + 1) / 2;

		at += t->few[at + half - 1] >> COUNT_BITS < bucket ? half : 0;
		left -= half;
	}
	return at;
}

/* As octaves they would take no more room than they are about to. */
static bool many_are_smaller(const struct tally *t, size_t room)
{
	unsigned int octaves = 0, last = TALLY_OCTAVES;

	if (room < sizeof(*t->octave))
		return false;
	for (unsigned int i = 0; i < t->n; i++) {
		unsigned int octave = (t->few[i] >> COUNT_BITS) / HIST_SUB;

		octaves += octave != last;
		last = octave;
	}
	return octaves * sizeof(*t->octave) <= room;
}

/* False: there are too many buckets, or values in one. */
static bool add_few(struct tally *t, unsigned int bucket, uint64_t n)
{
	unsigned int at = few_at(t, bucket);

	if (at < t->n && t->few[at] >> COUNT_BITS == bucket) {
		if (n > COUNT_MAX - (t->few[at] & COUNT_MAX))
			return false;
		t->few[at] += (uint32_t)n;
		return true;
	}
	if (t->n == FEW_MAX || n > COUNT_MAX)
		return false;
	if (!t->n || room_of(t->n) != room_of(t->n + 1u)) {
		if (many_are_smaller(t, room_of(t->n + 1u)))
			return false;
		t->few = xrealloc(t->few, room_of(t->n + 1u));
	}
	memmove(&t->few[at + 1], &t->few[at], (t->n - at) * sizeof(*t->few));
	t->few[at] = bucket << COUNT_BITS | (uint32_t)n;
	t->n++;
	return true;
}

/* ---- many ---- */

static uint64_t *octave_of(struct tally *t, unsigned int i)
{
	if (!t->at[i]) {
		t->octave = xrealloc(t->octave, (t->n + 1u) * sizeof(*t->octave));
		memset(t->octave[t->n], 0, sizeof(*t->octave));
		t->at[i] = ++t->n;
	}
	return t->octave[t->at[i] - 1];
}

static void few_become_many(struct tally *t)
{
	uint32_t *few = t->few;
	unsigned int n = t->n;

	t->octave = NULL;
	t->n = 0;
	t->many = true;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int bucket = few[i] >> COUNT_BITS;

		octave_of(t, bucket / HIST_SUB)[bucket % HIST_SUB] += few[i] & COUNT_MAX;
	}
	free(few);
}

/* ---- either ---- */

static void add_to_bucket(struct tally *t, unsigned int bucket, uint64_t n)
{
	if (!t->many) {
		if (add_few(t, bucket, n))
			return;
		few_become_many(t);
	}
	octave_of(t, bucket / HIST_SUB)[bucket % HIST_SUB] += n;
}

void tally_count(struct tally *t, unsigned int bucket)
{
	add_to_bucket(t, bucket, 1);
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
			add_to_bucket(dst, i * HIST_SUB + k, from[k]);
}

void tally_merge(struct tally *dst, const struct tally *src)
{
	if (!src->count)
		return;
	merge_sums(dst, src->count, src->sum, src->min, src->max);
	for (unsigned int i = 0; !src->many && i < src->n; i++)
		add_to_bucket(dst, src->few[i] >> COUNT_BITS, src->few[i] & COUNT_MAX);
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

	if (!t->many)
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

struct tally tally_copy(const struct tally *t)
{
	struct tally copy = *t;

	size_t used = t->n * (t->many ? sizeof(*t->octave) : sizeof(*t->few));

	if (t->n)
		copy.few = memcpy(xrealloc(NULL, t->many ? used : room_of(t->n)), t->few, used);
	return copy;
}

void tally_free(struct tally *t)
{
	free(t->few);
	*t = (struct tally){ 0 };
}

void tally_hist(const struct tally *t, struct hist *out)
{
	memset(out, 0, sizeof(*out));
	out->count = t->count;
	out->sum = t->sum;
	out->min = t->min;
	out->max = t->max;
	for (unsigned int i = 0; !t->many && i < t->n; i++)
		out->bucket[t->few[i] >> COUNT_BITS] = t->few[i] & COUNT_MAX;
	for (unsigned int i = 0; i < TALLY_OCTAVES; i++)
		if (t->at[i])
			memcpy(&out->bucket[i * HIST_SUB], t->octave[t->at[i] - 1], sizeof(*t->octave));
}
