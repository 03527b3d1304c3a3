/* SPDX-License-Identifier: GPL-2.0-only */
/* bounded_json.h - JSON of somebody else's, read in memory that is counted. Private to the readers of files. One at a time. */
#ifndef BT_RECORDING_BOUNDED_JSON_H
#define BT_RECORDING_BOUNDED_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "util/budget.h"

/*
 * The document, or NULL. What it takes is taken from the budget, to be given back once it is freed: *bytes. *refused: there
 * was more of it than the budget has; it counts as one entry left out. A budget of NULL has no end.
 */
json_t *bounded_json(const char *text, size_t n, size_t flags, struct budget *b, uint64_t *bytes, bool *refused,
		     json_error_t *why);

#endif
