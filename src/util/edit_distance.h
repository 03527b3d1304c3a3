/* SPDX-License-Identifier: GPL-2.0-only */
/* edit_distance.h - how far a mistyped name is from a known one. */
#ifndef BT_UTIL_EDIT_DISTANCE_H
#define BT_UTIL_EDIT_DISTANCE_H

#include <stddef.h>

/* Levenshtein's distance between the first n bytes of a and all of b, without regard to case; SIZE_MAX for a b of 64 bytes or more. */
size_t near_distance(const char *a, size_t n, const char *b);

#endif
