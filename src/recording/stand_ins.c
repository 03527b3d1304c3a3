// SPDX-License-Identifier: GPL-2.0-only
#include "recording/stand_ins.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define FIRST_SLOTS 1024u /* a power of two */

struct entry {
	char *name; /* owned; NULL: an empty slot */
	size_t len;
	const char *prefix;
	enum name_kind kind;
	uint32_t number;
};

struct stand_ins {
	struct entry *slot; /* open addressing, at most half full */
	size_t n, n_slots;
	uint32_t last[NAME_KINDS]; /* number given */
};

static uint64_t hash(enum name_kind kind, const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325 ^ kind; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3;
	return h ^ h >> 32;
}

static struct entry *slot_of(const struct stand_ins *s, enum name_kind kind, const char *name, size_t len)
{
	size_t i = hash(kind, name, len) & (s->n_slots - 1);

	for (;; i = (i + 1) & (s->n_slots - 1)) {
		struct entry *e = &s->slot[i];

		if (!e->name || (e->kind == kind && e->len == len && !memcmp(e->name, name, len)))
			return e;
	}
}

static void double_slots(struct stand_ins *s)
{
	struct entry *old = s->slot;
	size_t n_old = s->n_slots;

	s->n_slots = 2 * n_old;
	s->slot = xcalloc(s->n_slots, sizeof(*s->slot));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].name)
			*slot_of(s, old[i].kind, old[i].name, old[i].len) = old[i];
	free(old);
}

struct stand_ins *stand_ins_new(void)
{
	struct stand_ins *s = xcalloc(1, sizeof(*s));

	s->n_slots = FIRST_SLOTS;
	s->slot = xcalloc(s->n_slots, sizeof(*s->slot));
	return s;
}

void stand_ins_free(struct stand_ins *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_slots; i++)
		free(s->slot[i].name);
	free(s->slot);
	free(s);
}

void stand_in_add(struct stand_ins *s, enum name_kind kind, const char *name, size_t len, const char *prefix, struct buf *b)
{
	struct entry *e;

	if (2 * (s->n + 1) > s->n_slots)
		double_slots(s);
	e = slot_of(s, kind, name, len);
	if (!e->name) {
		s->n++;
		*e = (struct entry){ memcpy(xcalloc(1, len + 1), name, len), len, prefix, kind, ++s->last[kind] };
	}
	buf_printf(b, "%s%u", e->prefix, e->number);
}
