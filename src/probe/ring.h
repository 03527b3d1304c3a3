/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.h - the live source of records: the kernel's ring buffer. */
#ifndef BT_PROBE_RING_H
#define BT_PROBE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"
#include "wire.h"

struct ring;

struct ring_reader {
	/* every record, valid only during the call */
	void (*each)(void *ctx, const struct wire_head *record);
	/*
	 * Now and then, and at the end: of the calls whose records were sent before this reading began and are still to be read, when
	 * the first began; UINT64_MAX: there are none. Not where that is not known: behind a record that is still being written.
	 */
	void (*to_come)(void *ctx, uint64_t began);
	void *ctx;
};

int ring_open(int map_fd, const struct ring_reader *reader, struct ring **out, struct err *e);

/* Readable when much has come together. */
int ring_fd(const struct ring *r);

/* Waits so much that it is to be read, woken or not? Only a call's end wakes us: not within a long one, nor where its record has no room. */
bool ring_fills(const struct ring *r);

/* Hands over everything that is there now; what stands behind a record that is being written waits for it. */
void ring_drain(struct ring *r);

void ring_close(struct ring *r); /* NULL is fine */

#endif
