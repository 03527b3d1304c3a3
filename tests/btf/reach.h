/* SPDX-License-Identifier: GPL-2.0-only */
/* reach.h - which instructions the verifier keeps, once this kernel's answers stand in them as constants. */
#ifndef BT_BTF_REACH_H
#define BT_BTF_REACH_H

#include "object.h"

enum { UNKNOWN_ANSWER = -1 };

/* What stands in the instructions as constants. */
struct constants {
	/* per instruction of a section: 0 or 1 where it asks whether something is there, or UNKNOWN_ANSWER */
	const signed char *answer;
	/* the programs' settings, and which of their bytes this kernel decides */
	const unsigned char *config;
	const bool *decided;
	size_t config_size;
};

/*
 * reached[i] (of the section's size) is set for the instructions of the function that can be run. What is not known
 * is taken as possible: an instruction is left out only if no way leads to it. Returns how many arguments of 8 bytes
 * a program takes from its context.
 */
unsigned int reach(const struct code *c, const struct function *f, const struct constants *k, bool *reached);

#endif
