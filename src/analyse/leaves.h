/* SPDX-License-Identifier: GPL-2.0-only */
/* leaves.h - time by process, call, file, through whom, cause and device: what flame graphs are made of. */
#ifndef BT_ANALYSE_LEAVES_H
#define BT_ANALYSE_LEAVES_H

#include <stdint.h>

#include "tally.h"
#include "walk.h"
#include "wire.h"

/* No padding: compared and hashed as bytes. */
struct leaf_key {
	char comm[16];
	uint32_t file;		/* index of a group; GROUPS_OTHER also when there are too many leaves */
	uint32_t via, dev;
	uint16_t call, cause;
};
_Static_assert(sizeof(struct leaf_key) == 32, "padding");

struct leaf {
	uint64_t ns;
	struct tally each;
};

struct leaves {
	struct leaf **leaf;
	struct leaf_key *key;		/* beside them: to look for one is not to touch all others */
	uint32_t n;
	struct leaf_slot *slot;
};

void leaves_init(struct leaves *l);
void leaves_add(struct leaves *l, const struct wire_sync *s, uint32_t file, const struct walk_result *r);
void leaves_clear(struct leaves *l);
void leaves_free(struct leaves *l);

#endif
