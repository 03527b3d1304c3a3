/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.h - the live source of records: the kernel's ring buffer. */
#ifndef BT_RING_H
#define BT_RING_H


#include <stdbool.h>

#include "err.h"
#include "wire.h"

struct ring;

typedef void ring_fn(void *ctx, const struct wire_head *record);

/* `each` gets every record, valid only during the call. */
int ring_open(int map_fd, ring_fn *each, void *ctx, struct ring **out, struct err *e);

/* Readable when much has come together. */
int ring_fd(const struct ring *r);

/* Hands over everything that is there now. False: what stands behind a record that is being written waits for it. */
bool ring_drain(struct ring *r);

void ring_close(struct ring *r);	/* NULL is fine */

#endif
