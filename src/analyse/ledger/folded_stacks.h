/* SPDX-License-Identifier: GPL-2.0-only */
/* folded_stacks.h - time by process, call, file, through whom, cause and device: what flame graphs are made of. */
#ifndef BT_ANALYSE_LEDGER_FOLDED_STACKS_H
#define BT_ANALYSE_LEDGER_FOLDED_STACKS_H

#include <stdint.h>

#include "model/sparse_histogram.h"
#include "analyse/ledger/walk.h"
#include "util/hash_map.h"
#include "wire.h"

/* What all leaves of a call have in common. No padding: compared and hashed as words. */
struct leaf_owner {
	char comm[16];
	uint32_t file; /* index of a group; GROUPS_OTHER also when there are too many leaves */
	uint32_t call;
};
_Static_assert(sizeof(struct leaf_owner) == 24, "padding");

/* Its key is two words, as there is a leaf to be found for each slice of each call. */
struct leaf {
	uint64_t owner_cause; /* index << 32 | cause */
	uint64_t dev_via;     /* dev << 32 | via */
	struct tally *each;   /* the single contributions; owned */
};

struct leaves {
	struct leaf *leaf;
	struct hash_map by_key;
	uint32_t n;
	struct leaf_owner *owner; /* each has a leaf at least */
	uint64_t *owner_last_ns;  /* the end of its last call */
	struct hash_map owners;
	uint32_t n_owners;
	uint64_t looked_ns; /* for room */
};

static inline enum cause leaf_cause(const struct leaf *l)
{
	return (enum cause)(uint32_t)l->owner_cause;
}

void leaves_init(struct leaves *l);

/* The files are others now, see groups_make_room(). */
void leaves_move(struct leaves *l, const uint32_t *to);

void leaves_add(struct leaves *l, const struct wire_sync *s, uint32_t file, const struct walk_result *r);
void leaves_clear(struct leaves *l);
void leaves_free(struct leaves *l);

#endif
