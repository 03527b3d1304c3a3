// SPDX-License-Identifier: GPL-2.0-only
#include "util/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_after(uint64_t from, uint64_t ns)
{
	return ns > UINT64_MAX - from ? UINT64_MAX : from + ns;
}
