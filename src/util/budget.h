/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * budget.h - how much memory a file that comes from somebody else may take: in proportion to what it is long.
 *
 * A reader asks before it makes what is larger than the bytes that ask for it, and leaves out what it is refused. What grows
 * no faster than the file, or not beyond a bound of its own, need not ask.
 */
#ifndef BT_UTIL_BUDGET_H
#define BT_UTIL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

/*
 * A process that read `length` bytes stays within BUDGET_RATIO * length + BUDGET_BASE. JSON's numbers are what grows most: an
 * array of them takes up to 16 bytes for each of the text. BUDGET_OWN of the base is for the program and for tables whose
 * size is bounded (sync calls, tasks, files).
 */
#define BUDGET_RATIO 16u
#define BUDGET_BASE  (64ull << 20)
#define BUDGET_OWN   (32ull << 20)
#define BUDGET_MOST  (1ull << 30) /* however long it is; unless `huge` */

struct budget {
	uint64_t length;   /* of the file so far, unpacked */
	uint64_t used;	   /* bytes */
	uint64_t left_out; /* entries, as they would have taken more */
	uint64_t surplus;  /* entries, as no run can have so many */
	bool huge;
	bool written; /* what is read becomes JSON again */
};

bool budget_kept(const struct budget *b); /* nothing had to be left out */

/* Bytes that can still be taken. */
uint64_t budget_left(const struct budget *b);

/* False: they must not be taken. A budget of NULL has no end. */
bool budget_take(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);

/* "for which more than .. of memory would be needed, .." */
void budget_reason(const struct budget *b, struct buf *to);

/* What was left out, and why, when something was: with "; " before it when there is text already. */
void budget_note(const struct budget *b, struct buf *to);

#endif
