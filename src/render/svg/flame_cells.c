// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame_cells.c - a leaf cut by how long its contributions lasted. A histogram knows how many there are in each bucket,
 * and the shortest, the longest and the sum of all; the time of a bucket is estimated by its middle, which is off by
 * 1/64 at most, and then the whole is made to fit the sum.
 */
#include <string.h>

#include "render/svg/flame_tree.h"

struct row {
	uint64_t count, weight; /* weight: estimated time */
	uint64_t from, to;
};

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static uint64_t middle(const struct hist *h, unsigned int bucket)
{
	uint64_t lo = hist_lower(bucket), hi = bucket == HIST_BUCKETS - 1 ? h->max : hist_upper(bucket);

	return hi < lo ? lo : clamp(lo + (hi - lo) / 2, h->min, h->max);
}

/* The shortest and the longest are known exactly; they need no estimate. */
static uint64_t bucket_time(const struct hist *h, unsigned int bucket)
{
	uint64_t n = h->bucket[bucket], known = 0;

	if (n && bucket == hist_index(h->min)) {
		known += h->min;
		n--;
	}
	if (n && bucket == hist_index(h->max)) {
		known += h->max;
		n--;
	}
	return known + n * middle(h, bucket);
}

static void add_row(struct row *row, const struct hist *h, unsigned int bucket)
{
	uint64_t lo = hist_lower(bucket), hi = bucket == HIST_BUCKETS - 1 ? h->max : hist_upper(bucket);

	if (!row->count)
		row->from = clamp(lo, h->min, h->max);
	row->to = clamp(hi, h->min, h->max);
	row->count += h->bucket[bucket];
	row->weight += bucket_time(h, bucket);
}

static size_t make_rows(const struct hist *h, struct row row[HEAT_ROWS])
{
	unsigned int last = HEAT_ROWS;
	size_t n = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (heat_row(hist_lower(i)) != last) {
			last = heat_row(hist_lower(i));
			row[n++] = (struct row){ 0 };
		}
		add_row(&row[n - 1], h, i);
	}
	return n;
}

static void join(struct row *to, const struct row *next)
{
	to->to = next->to;
	to->count += next->count;
	to->weight += next->weight;
}

/* A narrow one takes the next one in; the last one goes to the one before it. */
static size_t join_narrow(struct row *row, size_t n, uint64_t min)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && row[kept - 1].weight < min)
			join(&row[kept - 1], &row[i]);
		else
			row[kept++] = row[i];
	}
	if (kept > 1 && row[kept - 1].weight < min) {
		join(&row[kept - 2], &row[kept - 1]);
		kept--;
	}
	return kept;
}

size_t flame_cells(const struct hist *h, uint64_t ns, uint64_t min_ns, struct flame_cell cell[HEAT_ROWS])
{
	struct row row[HEAT_ROWS];
	size_t n = join_narrow(row, make_rows(h, row), min_ns ? min_ns : 1);
	uint64_t done = 0, sum = 0, weight = 0;

	for (size_t i = 0; i < n; i++)
		sum += row[i].weight;
	for (size_t i = 0; i < n; i++) {
		uint64_t upto;

		weight += row[i].weight;
		upto = i == n - 1 ? ns : (uint64_t)((unsigned __int128)ns * weight / sum);
		cell[i] = (struct flame_cell){
			.from = row[i].from,
			.to = row[i].to,
			.count = row[i].count,
			.ns = upto - done,
			.exact = n == 1 || (h->count <= 2 && sum == ns),
		};
		done = upto;
	}
	return n;
}
