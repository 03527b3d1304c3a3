/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - the backward walk: one sync call's time, cut into slices by cause, by the tasks through whom it came and by
 * device. The slices tile the call: they add up to its duration.
 */
#ifndef BT_ANALYSE_LEDGER_WALK_H
#define BT_ANALYSE_LEDGER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/report.h"
#include "analyse/ledger/timeline.h"
#include "analyse/ledger/vias.h"
#include "wire.h"

struct walk_slice {
	uint64_t ns;
	uint32_t via;  /* through whom: see walk_via() */
	uint32_t dev;  /* kernel dev_t; 0: no device */
	uint8_t cause; /* enum cause */
};
_Static_assert(sizeof(struct walk_slice) == 24, "no more than that: each piece of each call is one");

struct walk;

/* What the walk of one call gives. Valid until the next one. */
struct walk_result {
	struct walk_slice *slice;
	size_t n;
	struct ledger ledger;
	uint64_t flush_own_ns, flush_foreign_ns;
	uint64_t flushes, in_flight; /* FLUSHes waited for; others in the device when they were issued */
	bool blind;		     /* there is time of which nothing is known: it may hide anything */
	bool mended;		     /* the slices did not add up; never seen */
};

struct walk *walk_new(struct timeline *tl);
void walk_free(struct walk *w); /* NULL is fine */

/* False when facts about the caller itself are missing; then there is no result, and walk_why() says why. */
bool walk_call(struct walk *w, const struct wire_sync *call, const struct walk_result **out);

/* The first that is known of a request's life. */
uint64_t walk_request_began(const struct wire_request *r);

enum no_ledger walk_why(const struct walk *w);

/* Switches of callers within calls that the kernel counted and of which no fact came, so far. */
uint64_t walk_missed_switches(const struct walk *w);

/*
 * The names of the tasks that a slice came through, the caller's own helper first: at most VIAS_DEPTH. Returns their
 * number. walk_forget() makes all `via` invalid and frees their room.
 */
size_t walk_via(const struct walk *w, uint32_t via, const char *name[VIAS_DEPTH]);
void walk_forget(struct walk *w);

#endif
