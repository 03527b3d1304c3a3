/* SPDX-License-Identifier: GPL-2.0-only */
/* feed.h - where the records go that the decoder yields: feed_sync.c, and what they come to: feed_render.c. */
#ifndef FUZZ_FEED_H
#define FUZZ_FEED_H

#include "model/report.h"
#include "wire.h"

void feed_begin(void);
void feed(const struct wire_head *record);
void feed_end(void); /* aborts when what came of it is not right */

/* Aborts when an output is not what it should be. Made for some values of `mix` only, the slow ones for fewer. */
void feed_render(const struct report *r, uint32_t mix);

#endif
