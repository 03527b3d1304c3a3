/* SPDX-License-Identifier: GPL-2.0-only */
/* near.h - how far a mistyped name is from a known one. */
#ifndef BT_NEAR_H
#define BT_NEAR_H

#include <stddef.h>

/* Levenshtein's distance between the first n bytes of a and all of b, without regard to case; SIZE_MAX for a b of 64 bytes or more. */
size_t near_distance(const char *a, size_t n, const char *b);

#endif
