/* SPDX-License-Identifier: GPL-2.0-only */
/* feed.h - where the records go that the decoder yields: feed_sync.c. */
#ifndef FUZZ_FEED_H
#define FUZZ_FEED_H

#include "wire.h"

void feed_begin(void);
void feed(const struct wire_head *record);
void feed_end(void);	/* aborts when what came of it is not right */

#endif
