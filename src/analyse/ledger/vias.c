// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/vias.h"

#include <string.h>

void vias_forget(struct vias *v)
{
	memset(v->hash, 0, sizeof(v->hash));
	v->n = 1;
}

static uint32_t hash_of(uint32_t up, const char name[VIA_NAME])
{
	uint64_t a = up, b;

	for (size_t i = 0; i < VIA_NAME; i += sizeof(b)) {
		memcpy(&b, name + i, sizeof(b));
		a = (a ^ b) * 0x9e3779b97f4a7c15;
		a ^= a >> 32;
	}
	return (uint32_t)(a >> 8) % VIA_SLOTS;
}

uint32_t vias_push(struct vias *v, uint32_t up, const char *text)
{
	char name[VIA_NAME] = { 0 };
	uint32_t h, i;

	memcpy(name, text, strnlen(text, VIA_NAME - 1));
	for (h = hash_of(up, name); (i = v->hash[h]); h = (h + 1) % VIA_SLOTS)
		if (v->via[i].up == up && !memcmp(v->via[i].name, name, VIA_NAME))
			return i;
	if (v->n == VIAS_MAX || v->via[up].len == VIAS_DEPTH)
		return up;
	i = v->n++;
	memcpy(v->via[i].name, name, VIA_NAME);
	v->via[i].up = up;
	v->via[i].len = v->via[up].len + 1;
	v->hash[h] = i;
	return i;
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
