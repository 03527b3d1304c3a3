/* SPDX-License-Identifier: GPL-2.0-only */
/* longest_run.h - how far an entry of a hash table with open addressing may be from its first slot. */
#ifndef LONGEST_RUN_H
#define LONGEST_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* The longest run of used slots, which may wrap around: an upper bound of a look-up's steps. */
static inline uint32_t longest_run(uint32_t slots, bool (*in_use)(uint32_t slot))
{
	uint32_t run = 0, longest = 0;

	for (uint32_t i = 0; i < 2 * slots; i++) {
		run = in_use(i % slots) ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

#endif
