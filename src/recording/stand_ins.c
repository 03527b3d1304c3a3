// SPDX-License-Identifier: GPL-2.0-only
#include "recording/stand_ins.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash_map.h"
#include "util/mem.h"

struct entry {
	char *name; /* owned */
	size_t len;
	const char *prefix;
	enum name_kind kind;
	uint32_t number;
};

struct stand_ins {
	struct entry *entry;
	size_t n;
	struct hash_map map;
	uint32_t last[NAME_KINDS]; /* number given */
};

struct stand_ins *stand_ins_new(void)
{
	return xcalloc(1, sizeof(struct stand_ins));
}

void stand_ins_free(struct stand_ins *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->entry[i].name);
	free(s->entry);
	hash_map_free(&s->map);
	free(s);
}

static const struct entry *find(const struct stand_ins *s, enum name_kind kind, const char *name, size_t len, uint32_t hash)
{
	HASH_MAP_EACH (&s->map, hash, i) {
		const struct entry *e = &s->entry[i];

		if (e->kind == kind && e->len == len && !memcmp(e->name, name, len))
			return e;
	}
	return NULL;
}

void stand_in_add(struct stand_ins *s, enum name_kind kind, const char *name, size_t len, const char *prefix, struct buf *b)
{
	uint32_t hash = hash_bytes(name, len) ^ kind;
	const struct entry *e = find(s, kind, name, len, hash);

	if (!e) {
		struct entry *new = grow((void **)&s->entry, &s->n, sizeof(*new));

		*new = (struct entry){ memcpy(xcalloc(1, len + 1), name, len), len, prefix, kind, ++s->last[kind] };
		hash_map_add(&s->map, (uint32_t)s->n - 1, hash);
		e = new;
	}
	buf_printf(b, "%s%u", e->prefix, e->number);
}
