/* SPDX-License-Identifier: GPL-2.0-only */
/* rnd.h - the same numbers in each run: xorshift64 (Marsaglia, "Xorshift RNGs", 2003). */
#ifndef RND_H
#define RND_H

#include <stdint.h>

static uint64_t seed = 0x9e3779b97f4a7c15;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

#endif
