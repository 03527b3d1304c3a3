// SPDX-License-Identifier: GPL-2.0-only
#include "leaves.h"

#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "mem.h"

#define LEAVES_MAX	8192u	/* leaves with their file's name (some 1 KiB each); beyond, without */
#define LEAVES_END	9216u	/* beyond, only causes are told apart */
#define LEAF_SLOTS	32768u
#define NONE		(~0u)

struct leaf_slot {
	uint32_t leaf;		/* index + 1; 0: empty */
	uint32_t hash;		/* of its key: most others are passed over without a look at them */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v ^ h >> 29) * 0x9e3779b97f4a7c15;
}

/* The part that all slices of a call have in common, and the rest. */
static uint64_t hash_call(const struct leaf_key *k)
{
	uint64_t comm[2];

	memcpy(comm, k->comm, sizeof(comm));
	return mix(mix(mix(0, comm[0]), comm[1]), (uint64_t)k->file << 16 | k->call);
}

static uint32_t hash_leaf(uint64_t call, const struct leaf_key *k)
{
	return (uint32_t)(mix(mix(call, (uint64_t)k->via << 32 | k->dev), k->cause) >> 32);
}

static bool same_leaf(const struct leaf_key *a, const struct leaf_key *b)
{
	return a->cause == b->cause && a->via == b->via && a->file == b->file && a->dev == b->dev && a->call == b->call &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* Its index; NONE: there is none, and no room for one. */
static uint32_t find_leaf(struct leaves *l, const struct leaf_key *k, uint32_t hash, uint32_t max)
{
	uint32_t i = hash % LEAF_SLOTS;

	for (; l->slot[i].leaf; i = (i + 1) % LEAF_SLOTS)
		if (l->slot[i].hash == hash && same_leaf(&l->key[l->slot[i].leaf - 1], k))
			return l->slot[i].leaf - 1;
	if (l->n >= max)
		return NONE;
	l->key[l->n] = *k;
	l->leaf[l->n++] = xcalloc(1, sizeof(struct leaf));
	l->slot[i] = (struct leaf_slot){ l->n, hash };
	return l->n - 1;
}

/* What is common to a call's leaves, with its file and without. */
struct leaf_call {
	struct leaf_key key, no_file;
	uint64_t hash, no_file_hash;
};

static struct leaf_call leaf_call(const struct wire_sync *s, uint32_t file)
{
	struct leaf_call c = { .key = { .file = file, .call = s->call } };

	memcpy(c.key.comm, s->comm, sizeof(c.key.comm));
	c.no_file = c.key;
	c.no_file.file = GROUPS_OTHER;
	c.hash = hash_call(&c.key);
	c.no_file_hash = hash_call(&c.no_file);
	return c;
}

static void complete_key(struct leaf_key *k, const struct walk_slice *slice)
{
	k->via = slice->via;
	k->dev = slice->dev;
	k->cause = (uint16_t)slice->cause;
}

static uint32_t leaf_for(struct leaves *l, struct leaf_call *c, const struct walk_slice *slice)
{
	struct leaf_key other = { .comm = "(other)", .cause = (uint16_t)slice->cause };
	uint32_t i;

	complete_key(&c->key, slice);
	i = find_leaf(l, &c->key, hash_leaf(c->hash, &c->key), LEAVES_MAX);
	if (i != NONE)
		return i;
	complete_key(&c->no_file, slice);
	i = find_leaf(l, &c->no_file, hash_leaf(c->no_file_hash, &c->no_file), LEAVES_END);
	if (i != NONE)
		return i;
	return find_leaf(l, &other, hash_leaf(hash_call(&other), &other), LEAVES_END + CAUSE_COUNT);
}

#define BATCH 32

/* First all are found, then added to: the memory has time to come. */
void leaves_add(struct leaves *l, const struct wire_sync *s, uint32_t file, const struct walk_result *r)
{
	struct leaf_call c = leaf_call(s, file);
	struct leaf *found[BATCH];

	for (size_t at = 0; at < r->n; at += BATCH) {
		size_t n = r->n - at < BATCH ? r->n - at : BATCH;

		for (size_t i = 0; i < n; i++) {
			found[i] = l->leaf[leaf_for(l, &c, &r->slice[at + i])];
			__builtin_prefetch(found[i], 1);
		}
		for (size_t i = 0; i < n; i++)
			tally_prefetch(&found[i]->each, r->slice[at + i].ns);
		for (size_t i = 0; i < n; i++) {
			found[i]->ns += r->slice[at + i].ns;
			tally_add(&found[i]->each, r->slice[at + i].ns);
		}
	}
}

void leaves_clear(struct leaves *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		tally_free(&l->leaf[i]->each);
		free(l->leaf[i]);
	}
	l->n = 0;
	memset(l->slot, 0, LEAF_SLOTS * sizeof(*l->slot));
}

void leaves_init(struct leaves *l)
{
	l->leaf = xcalloc(LEAVES_END + CAUSE_COUNT, sizeof(*l->leaf));
	l->key = xcalloc(LEAVES_END + CAUSE_COUNT, sizeof(*l->key));
	l->slot = xcalloc(LEAF_SLOTS, sizeof(*l->slot));
}

void leaves_free(struct leaves *l)
{
	leaves_clear(l);
	free(l->leaf);
	free(l->key);
	free(l->slot);
}
