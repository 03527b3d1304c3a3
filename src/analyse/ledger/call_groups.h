/* SPDX-License-Identifier: GPL-2.0-only */
/* call_groups.h - what is summed over the calls of one process, or on one file. */
#ifndef BT_ANALYSE_LEDGER_CALL_GROUPS_H
#define BT_ANALYSE_LEDGER_CALL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/report.h"
#include "model/sparse_histogram.h"
#include "util/hash_map.h"

#define GROUPS_OTHER 0u /* first entry of each table: those that have no line of their own */

struct group {
	uint32_t id; /* tgid, or kernel dev_t */
	char *text;  /* comm, or path */
	uint64_t count, total_ns, unsafe, unsafe_ns;
	uint64_t last_ns; /* the end of its last call */
	bool late;	  /* made after others gave way: it may have been among them */
	struct ledger ledger;
	struct tally latency;
};

struct groups {
	struct group **group;
	uint32_t n, max;
	struct hash_map map;
	const char *other;
	uint64_t gone;	    /* names that gave way to others */
	uint64_t looked_ns; /* for room */
};

void groups_init(struct groups *g, uint32_t max, const char *other);

/*
 * Names that were not seen for long give way: their sums are GROUPS_OTHER's then. to[i] is where the group of index i is now; it is the
 * caller's to free. NULL: it was asked a short time ago.
 */
uint32_t *groups_make_room(struct groups *g, uint64_t now_ns);

/* Its index: a new one's if there is room, else GROUPS_OTHER: see groups_make_room(). */
uint32_t groups_find(struct groups *g, uint32_t id, const char *text);

/* From now on it is found under `text`, and no longer under what it was called; unless another has that name already. */
void groups_rename(struct groups *g, uint32_t group, uint32_t id, const char *text);

void group_add(struct group *g, uint64_t end_ns, uint64_t ns, const struct ledger *l);
void group_add_unsafe(struct group *g, uint64_t ns); /* the call that was added last */
void group_prefetch(const struct group *g);

void groups_clear(struct groups *g);
void groups_free(struct groups *g);

#endif
