/* SPDX-License-Identifier: GPL-2.0-only */
/* in_flight.h - which requests a disk has in flight at a moment, and how many it has completed, as the kernel says. */
#ifndef BT_HOST_IN_FLIGHT_H
#define BT_HOST_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/outstanding.h"

struct in_flight_done { /* completed since the kernel booted, by kind */
	bool have[OP_ROWS];
	uint64_t n[OP_ROWS];
};

struct in_flight {
	struct requests_in_flight n;
	uint64_t from_ns, to_ns;	     /* CLOCK_MONOTONIC: when the look began and ended */
	struct in_flight_done before, after; /* read before and after `n` was */
};

/*
 * Of a whole disk. Kinds are known where debugfs can be read, which need not be mounted; else sysfs has reads and writes, and doesn't
 * count a FLUSH.
 */
void in_flight_read(const char *disk, struct in_flight *out);

/* Adds the requests that a text of debugfs's `busy` says are in flight; false: it holds a line that is none of these. */
bool in_flight_busy(const char *text, struct requests_in_flight *n);

/* `inflight` of sysfs: "reads writes" */
bool in_flight_sysfs(const char *text, struct requests_in_flight *n);

/*
 * For how long the oldest request of a kind that is in flight `now` has been there, at least: since `then` if there was one and none was
 * completed since. 0: not known.
 */
uint64_t in_flight_since(const struct in_flight *then, const struct in_flight *now, enum op_row kind);

#endif
