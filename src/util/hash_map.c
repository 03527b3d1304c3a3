// SPDX-License-Identifier: GPL-2.0-only
#include "util/hash_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define ROOM_MIN 64u
#define NOT_IN	 (HASH_NONE - 1) /* where the next one of an entry would be */

/* FNV-1a, by words as long as there are whole ones. */
uint32_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t h = 0xcbf29ce484222325, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	for (; len; p++, len--)
		h = (h ^ *p) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

static void link_in(struct hash_map *m, uint32_t i, uint32_t hash)
{
	uint32_t *head = &m->head[hash & (m->room - 1)];

	m->link[i] = (struct hash_link){ hash, *head };
	*head = i;
}

static void enlarge(struct hash_map *m, uint32_t i)
{
	uint32_t had = m->room;

	m->room = had ? had : ROOM_MIN;
	while (m->room <= i)
		m->room *= 2;
	m->head = xrealloc(m->head, m->room * sizeof(*m->head));
	m->link = xrealloc(m->link, m->room * sizeof(*m->link));
	memset(m->head, 0xff, m->room * sizeof(*m->head));
	for (uint32_t k = 0; k < m->room; k++) {
		if (k >= had)
			m->link[k].next = NOT_IN;
		else if (m->link[k].next != NOT_IN)
			link_in(m, k, m->link[k].hash);
	}
}

void hash_map_add(struct hash_map *m, uint32_t i, uint32_t hash)
{
	if (i >= m->room)
		enlarge(m, i);
	link_in(m, i, hash);
}

void hash_map_remove(struct hash_map *m, uint32_t i)
{
	uint32_t *at = &m->head[m->link[i].hash & (m->room - 1)];

	while (*at != i)
		at = &m->link[*at].next;
	*at = m->link[i].next;
	m->link[i].next = NOT_IN;
}

void hash_map_clear(struct hash_map *m)
{
	for (uint32_t i = 0; i < m->room; i++) {
		m->head[i] = HASH_NONE;
		m->link[i].next = NOT_IN;
	}
}

void hash_map_free(struct hash_map *m)
{
	free(m->head);
	free(m->link);
	*m = (struct hash_map){ 0 };
}
