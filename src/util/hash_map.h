/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hash_map.h - which entry of an array has a key. The array and the keys are the caller's; the map knows the entries' hashes alone:
 *
 *	HASH_MAP_EACH(&t->map, hash, i)
 *		if (t->entry[i] has the key)
 *			return i;
 */
#ifndef BT_UTIL_HASH_MAP_H
#define BT_UTIL_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

#define HASH_NONE (~0u)

struct hash_link {
	uint32_t hash, next;
};

/* All zero is an empty one. */
struct hash_map {
	uint32_t *head;		/* the first entry, by hash */
	struct hash_link *link; /* of each entry */
	uint32_t room;		/* of both: a power of two, or 0 */
};

uint32_t hash_bytes(const void *bytes, size_t len);

static inline uint32_t hash_words(uint64_t a, uint64_t b)
{
	return (uint32_t)((a ^ b * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 32);
}

/* Entry `i`, which is not in the map. */
void hash_map_add(struct hash_map *m, uint32_t i, uint32_t hash);
void hash_map_remove(struct hash_map *m, uint32_t i);
void hash_map_clear(struct hash_map *m);
void hash_map_free(struct hash_map *m);

static inline uint32_t hash_map_from(const struct hash_map *m, uint32_t i, uint32_t hash)
{
	while (i != HASH_NONE && m->link[i].hash != hash)
		i = m->link[i].next;
	return i;
}

static inline uint32_t hash_map_first(const struct hash_map *m, uint32_t hash)
{
	return m->room ? hash_map_from(m, m->head[hash & (m->room - 1)], hash) : HASH_NONE;
}

/* `hash` is evaluated at each step. */
#define HASH_MAP_EACH(m, hash, i) \
	for (uint32_t i = hash_map_first(m, hash); i != HASH_NONE; i = hash_map_from(m, (m)->link[i].next, hash))

#endif
