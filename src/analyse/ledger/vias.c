// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/vias.h"

#include <string.h>

void vias_forget(struct vias *v)
{
	hash_map_clear(&v->map);
	v->n = 1;
}

void vias_free(struct vias *v)
{
	hash_map_free(&v->map);
}

uint32_t vias_push(struct vias *v, uint32_t up, const char *text)
{
	char name[VIA_NAME] = { 0 };
	uint32_t hash;

	memcpy(name, text, strnlen(text, VIA_NAME - 1));
	hash = hash_words(hash_bytes(name, VIA_NAME), up);
	HASH_MAP_EACH (&v->map, hash, i)
		if (v->via[i].up == up && !memcmp(v->via[i].name, name, VIA_NAME))
			return i;
	if (v->n == VIAS_MAX || v->via[up].len == VIAS_DEPTH)
		return up;
	memcpy(v->via[v->n].name, name, VIA_NAME);
	v->via[v->n].up = up;
	v->via[v->n].len = v->via[up].len + 1;
	hash_map_add(&v->map, v->n, hash);
	return v->n++;
}

size_t vias_names(const struct vias *v, uint32_t via, const char *name[VIAS_DEPTH])
{
	size_t n = v->via[via].len;

	for (size_t i = n; i > 0; i--) {
		name[i - 1] = v->via[via].name;
		via = v->via[via].up;
	}
	return n;
}
