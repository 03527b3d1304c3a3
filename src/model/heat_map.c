// SPDX-License-Identifier: GPL-2.0-only
#include "model/heat_map.h"

#include <string.h>

#include "hist_geometry.h"

#define LOWEST_BITS 10 /* about 1 µs */

unsigned int heat_row(uint64_t latency)
{
	unsigned int e = hist_log2(latency), row;

	if (e < LOWEST_BITS)
		return 0;
	row = 2 * (e - LOWEST_BITS) + (unsigned int)(latency >> (e - 1) & 1);
	return row < HEAT_ROWS ? row : HEAT_ROWS - 1;
}

uint64_t heat_row_lower(unsigned int row)
{
	if (!row)
		return 0;
	return (uint64_t)(2 + row % 2) << (LOWEST_BITS + row / 2 - 1);
}

static void add(uint32_t *to, uint64_t n)
{
	*to = n > UINT32_MAX - *to ? UINT32_MAX : *to + (uint32_t)n;
}

static void coarsen(struct heat *h)
{
	for (unsigned int c = 0; c < HEAT_COLUMNS / 2; c++) {
		uint32_t second[HEAT_ROWS];

		memcpy(second, h->n[2 * c + 1], sizeof(second));
		memmove(h->n[c], h->n[2 * c], sizeof(h->n[c]));
		for (unsigned int r = 0; r < HEAT_ROWS; r++)
			add(&h->n[c][r], second[r]);
	}
	memset(h->n[HEAT_COLUMNS / 2], 0, sizeof(h->n) / 2);
	h->columns = (h->columns + 1) / 2;
	h->column_ns *= 2;
}

void heat_add(struct heat *h, uint64_t time, uint64_t latency, uint64_t n)
{
	uint64_t column;

	if (!h->column_ns)
		h->column_ns = HEAT_FINEST_NS;
	while ((column = time / h->column_ns) >= HEAT_COLUMNS)
		coarsen(h);
	add(&h->n[column][heat_row(latency)], n);
	if (column >= h->columns)
		h->columns = (uint32_t)column + 1;
}
