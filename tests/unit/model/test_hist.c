// SPDX-License-Identifier: GPL-2.0-only
/* Histograms: the geometry by exhaustion, the rest by property against sorted arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/histogram.h"
#include "model/sparse_histogram.h"
#include "rnd.h"
#include "tap.h"

#define TOP (1ull << HIST_TOP_BITS)

/* Even over the magnitudes, not over the values: most latencies are small. */
static uint64_t rnd_magnitude(void)
{
	return (rnd() & (TOP - 1)) >> (rnd() % HIST_TOP_BITS);
}

TEST(buckets)
{
	bool lower = true, upper = true, tile = true, width = true;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t lo = hist_lower(i), hi = hist_upper(i);

		lower = lower && hist_index(lo) == i;
		upper = upper && hist_index(hi) == i && hi >= lo;
		tile = tile && (i + 1 == HIST_BUCKETS || hist_lower(i + 1) == hi + 1);
		/* (hi - lo) / lo < 1/64 */
		width = width && (hi - lo) * HIST_SUB <= lo;
	}
	ok(lower, "the lower bound of every bucket is in it");
	ok(upper, "the upper bound of every bucket is in it");
	ok(tile, "the buckets tile the axis");
	ok(width, "no bucket is wider than 1/64 of its lower bound");
	ok(hist_lower(0) == 0, "the axis begins at 0");
	ok(hist_upper(HIST_BUCKETS - 1) == TOP - 1, "the axis ends at 2^40 - 1");
	ok(hist_index(TOP) == HIST_BUCKETS - 1 && hist_index(UINT64_MAX) == HIST_BUCKETS - 1,
	   "what is longer goes into the last bucket");
}

TEST(values)
{
	bool in = true, near = true, monotone = true, exact = true, log = true;

	for (int n = 0; n < 1000000; n++) {
		uint64_t v = n & 1 ? rnd() & (TOP - 1) : rnd_magnitude();
		unsigned int i = hist_index(v);

		log = log && hist_log2_smear(v) == hist_log2(v);
		in = in && hist_lower(i) <= v && v <= hist_upper(i);
		near = near && (hist_upper(i) - v) * HIST_SUB <= v && (v - hist_lower(i)) * HIST_SUB <= v;
		monotone = monotone && hist_index(v + 1) >= i && hist_index(v + 1) <= i + 1;
	}
	for (unsigned int v = 0; v < HIST_SUB; v++)
		exact = exact && hist_index(v) == v;
	for (unsigned int e = 0; e < 64; e++)
		log = log && hist_log2_smear(1ull << e) == e && hist_log2_smear(UINT64_MAX >> (63 - e)) == e;
	ok(log && !hist_log2_smear(0), "the kernel side's logarithm is the same");
	ok(in, "a million values lie within their buckets");
	ok(near, "and both bounds are within 1/64 of them");
	ok(monotone, "the index never falls and never jumps");
	ok(exact, "values below 64 have a bucket each");
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool quantiles_agree(size_t n)
{
	static const double qs[] = { 0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 };
	uint64_t *v = calloc(n, sizeof(*v)), sum = 0;
	struct hist *h = calloc(1, sizeof(*h));
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		v[i] = rnd_magnitude();
		sum += v[i];
		hist_add(h, v[i]);
	}
	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		size_t rank = (size_t)ceil(qs[i] * (double)n);
		uint64_t want = v[rank ? rank - 1 : 0], got = hist_quantile(h, qs[i]);
		uint64_t off = got > want ? got - want : want - got;

		good = good && off * 2 * HIST_SUB <= want + 2 * HIST_SUB;
	}
	good = good && h->count == n && h->sum == sum && h->min == v[0] && h->max == v[n - 1];
	good = good && hist_quantile(h, 1) == v[n - 1];
	good = good && hist_mean(h) == (sum + n / 2) / n;
	free(v);
	free(h);
	return good;
}

TEST(quantiles)
{
	bool good = true;

	for (int run = 0; run < 300; run++)
		good = good && quantiles_agree(1 + rnd() % 3000);
	ok(good, "300 random sets: quantiles within 1/128; count, sum, min, max, mean exact");
}

TEST(edges)
{
	struct hist h = { 0 };

	ok(hist_quantile(&h, 0.5) == 0 && hist_mean(&h) == 0, "an empty histogram has no quantile and no mean");
	hist_add(&h, 1000003);
	ok(hist_quantile(&h, 0) == 1000003 && hist_quantile(&h, 0.5) == 1000003 && hist_quantile(&h, 1) == 1000003,
	   "one value is every quantile, exactly");
	ok(h.min == 1000003 && h.max == 1000003, "and the least and the most");
	hist_add(&h, 0);
	ok(h.min == 0 && hist_quantile(&h, 0.5) == 0, "zero counts");
	hist_add(&h, 5 * TOP);
	ok(h.max == 5 * TOP && hist_quantile(&h, 1) == 5 * TOP, "a value beyond the axis keeps its exact maximum");
}

TEST(merge)
{
	struct hist *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b)), *both = calloc(1, sizeof(*both));
	struct hist *before = calloc(1, sizeof(*before)), *none = calloc(1, sizeof(*none));

	for (int i = 0; i < 5000; i++) {
		uint64_t v = i < 9 ? 0 : 100 + rnd_magnitude();

		hist_add(i % 3 ? a : b, v);
		hist_add(both, v);
	}
	*before = *a;
	hist_merge(a, none);
	ok(!memcmp(a, before, sizeof(*a)), "merging nothing changes nothing");
	hist_merge(none, a);
	ok(!memcmp(none, a, sizeof(*a)), "merging into nothing copies");
	hist_merge(a, b);
	ok(!memcmp(a, both, sizeof(*a)), "merging two parts gives the whole, byte for byte");
	free(a);
	free(b);
	free(both);
	free(before);
	free(none);
}

/* A tally is a histogram that takes less room: the same after the same values, also merged and copied. */
TEST(tally)
{
	struct hist want = { 0 }, have;
	struct tally t = { 0 }, half[2] = { { 0 } }, copy, two = { 0 };

	for (int i = 0; i < 5000; i++) {
		uint64_t v = i % 100 ? rnd_magnitude() : rnd();

		hist_add(&want, v);
		tally_add(&t, v);
		tally_add(&half[i % 2], v);
	}
	tally_hist(&t, &have);
	ok(!memcmp(&want, &have, sizeof(want)), "tally: the same as a histogram");
	tally_merge(&half[0], &half[1]);
	tally_merge(&half[0], &two);
	copy = tally_copy(&half[0]);
	tally_add(&half[0], 1);
	tally_hist(&copy, &have);
	ok(!memcmp(&want, &have, sizeof(want)), "tally: merged and copied, too");
	tally_add(&two, 1000000);
	tally_add(&two, 1100000);
	ok(two.count == 2, "tally: two values");
	tally_free(&t);
	tally_free(&half[0]);
	tally_free(&half[1]);
	tally_free(&copy);
	tally_free(&two);
	ok(!two.octave && !two.count, "tally: empty again");
}

static void add_multiples(struct tally *t, struct hist *h, unsigned int n, uint64_t factor)
{
	for (unsigned int i = 0; i < n; i++) {
		tally_add(t, factor * i);
		hist_add(h, factor * i);
	}
}

/* Merge and copy tallies of either form, up to and past the size at which the form changes. */
TEST(tally_forms)
{
	static const unsigned int buckets[] = { 1, 3, 4, 5, 8, 63, 64, 65, 200 };
	struct hist want, have;
	unsigned int same = 0, n = 0;

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++)
		for (size_t k = 0; k < sizeof(buckets) / sizeof(buckets[0]); k++, n++) {
			struct tally a = { 0 }, b = { 0 }, copy;

			memset(&want, 0, sizeof(want));
			add_multiples(&a, &want, buckets[i], 7);
			add_multiples(&b, &want, buckets[k], 11);
			tally_merge(&a, &b);
			copy = tally_copy(&a);
			add_multiples(&copy, &want, 9, 1000);
			tally_hist(&copy, &have);
			same += !memcmp(&want, &have, sizeof(want));
			tally_free(&a);
			tally_free(&b);
			tally_free(&copy);
		}
	ok(same == n, "tally: merged and copied in either form: %u of %u", same, n);
}

TEST(tally_large_counts)
{
	struct tally t = { 0 }, from = { 0 };
	struct hist h = { 0 }, have;
	bool good = true;

	h = (struct hist){ .count = (1u << 20) - 1, .sum = (1u << 20) - 1, .min = 1, .max = 1, .bucket[1] = (1u << 20) - 1 };
	tally_merge_hist(&t, &h);
	good &= !t.by_octave;
	tally_add(&t, 1); /* more than is kept with its bucket */
	tally_hist(&t, &have);
	good &= t.by_octave && have.bucket[1] == 1u << 20 && have.count == 1u << 20;
	h.count = h.sum = h.bucket[1] = 5ull << 32;
	tally_merge_hist(&from, &h);
	tally_merge(&t, &from);
	tally_hist(&t, &have);
	ok(good && have.bucket[1] == (5ull << 32) + (1u << 20), "tally: large counts");
	tally_free(&t);
	tally_free(&from);
}

/* 64 to 127 is a power of two with 64 buckets: which of them have something, and what is asked for of one's middle. */
TEST(tally_answers)
{
	struct tally t = { 0 }, of_hist = { 0 }, half = { 0 };
	struct hist h = { 0 }, back, more = { 0 };

	ok(!tally_buckets(&t) && !tally_quantile(&t, 0.5) && !tally_mean(&t), "tally: nothing is in no bucket");
	tally_merge_hist(&of_hist, &h);
	ok(!of_hist.n && !of_hist.count && !of_hist.octave, "tally: an empty histogram needs no room");
	tally_add(&t, 70);
	tally_add(&t, 70);
	tally_add(&t, 71);
	tally_add(&t, 5);
	ok(tally_buckets(&t) == 3, "tally: three buckets");
	ok(tally_quantile(&t, 0) == 5 && tally_quantile(&t, 0.25) == 5 && tally_quantile(&t, 0.26) == 70 &&
		   tally_quantile(&t, 0.75) == 70 && tally_quantile(&t, 0.76) == 71,
	   "tally: quantiles");
	ok(tally_mean(&t) == 54 && t.min == 5 && t.max == 71 && t.sum == 216, "tally: mean, least and most");
	tally_add(&t, 2);
	tally_add(&t, 2);
	/* 220 / 6 is 36.7 */
	ok(tally_mean(&t) == 37, "tally: the mean is rounded");
	tally_add(&half, 1);
	tally_add(&half, 2);
	ok(tally_mean(&half) == 2, "tally: a half up");
	tally_add(&half, 1);
	ok(tally_mean(&half) == 1, "tally: a third down");
	tally_free(&half);
	tally_hist(&t, &h);
	tally_merge_hist(&of_hist, &h);
	tally_merge_hist(&of_hist, &h);
	memset(&back, 0xff, sizeof(back));
	tally_hist(&of_hist, &back);
	ok(back.count == 12 && back.sum == 440 && back.min == 2 && back.max == 71 && back.bucket[70] == 4 &&
		   back.bucket[2] == 4 && of_hist.n == tally_buckets(&t),
	   "tally: histograms are added");
	hist_add(&more, 1000);
	hist_merge_tally(&more, &t);
	ok(more.count == 7 && more.sum == 1220 && more.min == 2 && more.max == 1000 && more.bucket[70] == 2,
	   "and added to one");
	tally_free(&t);
	tally_free(&of_hist);
}

int main(void)
{
	tests_run();
	return tap_done();
}
