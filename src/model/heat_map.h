/* SPDX-License-Identifier: GPL-2.0-only */
/* heat_map.h - counts over time and latency, in bounded room whatever the length of the run. Times are nanoseconds. */
#ifndef BT_MODEL_HEAT_MAP_H
#define BT_MODEL_HEAT_MAP_H

#include <stdint.h>

#define HEAT_COLUMNS 240
#define HEAT_ROWS    60

/* Column c holds what happened in [c, c + 1) * column_ns from the run's start. */
struct heat {
	uint64_t column_ns;		     /* 0: empty; doubles when the run outgrows the columns */
	uint32_t columns;		     /* filled up to here */
	uint32_t n[HEAT_COLUMNS][HEAT_ROWS]; /* saturates */
};

#define HEAT_FINEST_NS 12500000u /* width of a column to begin with */

/* n values of this latency, at this time from the run's start. */
void heat_add(struct heat *h, uint64_t time, uint64_t latency, uint64_t n);

/* Two rows to a power of two, from 1 µs on: the row of a latency, and the lowest latency of a row (0 for the first). */
unsigned int heat_row(uint64_t latency);
uint64_t heat_row_lower(unsigned int row);

#endif
