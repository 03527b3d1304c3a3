// SPDX-License-Identifier: GPL-2.0-only
/* Heat maps: rows by exhaustion, columns by property against a plain list. Through a recording: test_run_context_json.c. */
#include <stdlib.h>
#include <string.h>

#include "model/heat_map.h"
#include "rnd.h"
#include "tap.h"

static uint64_t rnd_magnitude(unsigned int bits)
{
	return rnd() >> (64 - bits) >> rnd() % bits;
}

/* ---- rows ---- */

TEST(rows)
{
	bool inverse = true, tile = true, monotone = true, step = true;

	for (unsigned int r = 0; r < HEAT_ROWS; r++) {
		inverse = inverse && heat_row(heat_row_lower(r)) == r;
		tile = tile && (!r || heat_row(heat_row_lower(r) - 1) == r - 1);
		monotone = monotone && (!r || heat_row_lower(r) > heat_row_lower(r - 1));
		step = step && (r < 3 || heat_row_lower(r) == 2 * heat_row_lower(r - 2));
	}
	ok(inverse, "the lowest latency of every row is in it");
	ok(tile, "the one below is in the row before");
	ok(monotone, "each row begins above the one before");
	ok(step, "two rows to a power of two");
	ok(heat_row_lower(0) == 0 && heat_row_lower(1) == 1536 && heat_row_lower(2) == 2048, "from about 1 us on");
	ok(heat_row(0) == 0 && heat_row(1) == 0 && heat_row(UINT64_MAX) == HEAT_ROWS - 1,
	   "what is beyond goes to the ends");
}

TEST(latencies)
{
	bool in = true, monotone = true;

	for (int i = 0; i < 1000000; i++) {
		uint64_t v = rnd_magnitude(64);
		unsigned int r = heat_row(v);

		in = in && r < HEAT_ROWS && heat_row_lower(r) <= v && (r + 1 == HEAT_ROWS || v < heat_row_lower(r + 1));
		monotone = monotone && (v == UINT64_MAX || heat_row(v + 1) - r <= 1);
	}
	ok(in, "a million latencies lie within their rows");
	ok(monotone, "and the next one is in the same row or the next");
}

/* ---- columns ---- */

struct value {
	uint64_t time, latency;
	uint32_t n;
};

#define VALUES 2000

/* What a heat map of these values has to be, made in one go. */
static void expect(const struct value *v, size_t n, uint64_t column_ns, struct heat *out)
{
	memset(out, 0, sizeof(*out));
	out->column_ns = column_ns;
	for (size_t i = 0; i < n; i++) {
		uint64_t c = v[i].time / column_ns;

		out->n[c][heat_row(v[i].latency)] += v[i].n;
		if (c >= out->columns)
			out->columns = (uint32_t)c + 1;
	}
}

static bool random_run(unsigned int bits)
{
	static struct heat h, want;
	static struct value v[VALUES];
	uint64_t last = 0, width = HEAT_FINEST_NS;
	size_t n = 1 + rnd() % VALUES;

	memset(&h, 0, sizeof(h));
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct value){ rnd_magnitude(bits), rnd_magnitude(40), (uint32_t)(rnd() % 1000) + 1 };
		heat_add(&h, v[i].time, v[i].latency, v[i].n);
		last = v[i].time > last ? v[i].time : last;
	}
	while (last / width >= HEAT_COLUMNS)
		width *= 2;
	expect(v, n, width, &want);
	return !memcmp(&h, &want, sizeof(h));
}

TEST(doubling)
{
	bool good = true;

	for (int i = 0; i < 300; i++)
		good = good && random_run(20 + (unsigned int)(rnd() % 45));
	ok(good, "300 random runs: as wide as it has to be, each count in its column and row, none lost");
}

TEST(edges)
{
	struct heat *h = calloc(1, sizeof(*h));
	const uint64_t end = (uint64_t)HEAT_COLUMNS * HEAT_FINEST_NS;

	heat_add(h, end - 1, 5000, 1);
	ok(h->column_ns == HEAT_FINEST_NS && h->columns == HEAT_COLUMNS, "the last instant that fits");
	heat_add(h, end, 5000, 1);
	ok(h->column_ns == 2 * HEAT_FINEST_NS && h->columns == HEAT_COLUMNS / 2 + 1 && h->n[119][heat_row(5000)] == 1 &&
		   h->n[120][heat_row(5000)] == 1,
	   "one more doubles the columns");
	heat_add(h, UINT64_MAX, 0, 7);
	ok(h->columns <= HEAT_COLUMNS && h->n[h->columns - 1][0] == 7 && h->n[0][heat_row(5000)] == 2 &&
		   UINT64_MAX / h->column_ns == h->columns - 1,
	   "five centuries fit");
	free(h);
}

TEST(saturation)
{
	struct heat *h = calloc(1, sizeof(*h));
	unsigned int r = heat_row(9999);

	heat_add(h, 0, 9999, UINT32_MAX - 1);
	ok(h->n[0][r] == UINT32_MAX - 1, "a count just below the most");
	heat_add(h, 0, 9999, 1);
	ok(h->n[0][r] == UINT32_MAX, "the most");
	heat_add(h, 0, 9999, 1);
	heat_add(h, HEAT_FINEST_NS, 9999, UINT64_MAX);
	ok(h->n[0][r] == UINT32_MAX && h->n[1][r] == UINT32_MAX, "stays the most");
	heat_add(h, 2 * HEAT_FINEST_NS, 9999, 5);
	heat_add(h, (uint64_t)HEAT_COLUMNS * HEAT_FINEST_NS, 9999, 1);
	ok(h->n[0][r] == UINT32_MAX && h->n[1][r] == 5, "also when two columns become one");
	free(h);
}

int main(void)
{
	tests_run();
	return tap_done();
}
