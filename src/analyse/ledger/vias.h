/* SPDX-License-Identifier: GPL-2.0-only */
/* vias.h - through whom time came: names of tasks and works, the caller's own helper first, as a tree of bounded size. */
#ifndef BT_ANALYSE_LEDGER_VIAS_H
#define BT_ANALYSE_LEDGER_VIAS_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash_map.h"

#define VIAS_DEPTH 9	 /* names at most */
#define VIAS_MAX   4096u /* beyond, less is told of them */
#define VIA_NAME   32u

struct via {
	char name[VIA_NAME]; /* cut, padded with NULs */
	uint32_t up;
	uint32_t len;
};

/* Entry 0 is the caller itself. */
struct vias {
	struct via via[VIAS_MAX];
	uint32_t n;
	struct hash_map map;
};

/* Also before the first use, of one that is all zero. */
void vias_forget(struct vias *v);
void vias_free(struct vias *v);

/* The way `up` and then `name`; `up` itself where there is no room. */
uint32_t vias_push(struct vias *v, uint32_t up, const char *name);

/* Returns their number. The names stand until vias_forget(). */
size_t vias_names(const struct vias *v, uint32_t via, const char *name[VIAS_DEPTH]);

#endif
