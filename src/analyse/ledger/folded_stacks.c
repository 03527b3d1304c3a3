// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/folded_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/call_groups.h"
#include "analyse/ledger/make_room.h"
#include "util/mem.h"

#define LEAVES_MAX 8192u /* leaves with their file's name (with a histogram each); beyond, without */
#define LEAVES_END 9216u /* beyond, only causes are told apart */
#define LEAVES_NEW 256u	 /* room for those of one call */
#define OWNERS_MAX (LEAVES_END + CAUSE_COUNT)
#define NONE	   (~0u)

/* Its index; NONE: there is none, and no room for a leaf of it. */
static uint32_t find_owner(struct leaves *l, const struct leaf_owner *o, uint32_t max)
{
	uint32_t hash = hash_bytes(o, sizeof(*o));

	HASH_MAP_EACH (&l->owners, hash, i)
		if (!memcmp(&l->owner[i], o, sizeof(*o)))
			return i;
	if (l->n >= max)
		return NONE;
	hash_map_add(&l->owners, l->n_owners, hash);
	l->owner_last_ns[l->n_owners] = 0;
	l->owner[l->n_owners] = *o;
	return l->n_owners++;
}

static inline struct leaf leaf_key(uint32_t owner, const struct walk_slice *s)
{
	return (struct leaf){ (uint64_t)owner << 32 | s->cause, (uint64_t)s->dev << 32 | s->via, NULL };
}

/* NULL: there is none. */
static inline struct leaf *known_leaf(const struct leaves *l, const struct leaf *key)
{
	HASH_MAP_EACH (&l->by_key, hash_words(key->owner_cause, key->dev_via), i)
		if (l->leaf[i].owner_cause == key->owner_cause && l->leaf[i].dev_via == key->dev_via)
			return &l->leaf[i];
	return NULL;
}

static struct leaf *add_leaf(struct leaves *l, const struct leaf *key, struct tally *each)
{
	struct leaf *p = &l->leaf[l->n];

	hash_map_add(&l->by_key, l->n++, hash_words(key->owner_cause, key->dev_via));
	*p = *key;
	p->each = each;
	return p;
}

/* NULL: there is none, and no room for one. */
static struct leaf *find_leaf(struct leaves *l, uint32_t owner, const struct walk_slice *s, uint32_t max)
{
	struct leaf key = leaf_key(owner, s), *p = known_leaf(l, &key);

	if (p || l->n >= max)
		return p;
	return add_leaf(l, &key, xcalloc(1, sizeof(*p->each)));
}

static void owner_seen(struct leaves *l, uint32_t owner, uint64_t ns)
{
	if (owner != NONE && ns > l->owner_last_ns[owner])
		l->owner_last_ns[owner] = ns;
}

static struct leaf_owner owner_of(const struct wire_sync *s, uint32_t file)
{
	struct leaf_owner o = { .file = file, .call = s->call };

	memcpy(o.comm, s->comm, sizeof(o.comm));
	return o;
}

static const struct leaf_owner other_owner = { .comm = "(other)" };

/* With its file's name while there is room for that. */
static struct leaf *new_leaf(struct leaves *l, const struct wire_sync *s, uint32_t owner, const struct walk_slice *slice)
{
	struct leaf_owner no_file = owner_of(s, GROUPS_OTHER);
	const struct walk_slice cause = { .cause = slice->cause };
	struct leaf *leaf = owner == NONE ? NULL : find_leaf(l, owner, slice, LEAVES_MAX);

	if (leaf)
		return leaf;
	owner = find_owner(l, &no_file, LEAVES_END);
	owner_seen(l, owner, s->exit);
	leaf = owner == NONE ? NULL : find_leaf(l, owner, slice, LEAVES_END);
	return leaf ? leaf : find_leaf(l, find_owner(l, &other_owner, OWNERS_MAX), &cause, OWNERS_MAX);
}

#define BATCH 32

/* First all are found, then added to: the memory has time to come. */
static void add_batch(struct leaves *l, const struct wire_sync *s, uint32_t owner, const struct walk_slice *slice, size_t n)
{
	struct leaf *found[BATCH];
	unsigned int bucket[BATCH];

	for (size_t i = 0; i < n; i++) {
		struct leaf key = leaf_key(owner, &slice[i]), *leaf = known_leaf(l, &key);

		found[i] = leaf ? leaf : new_leaf(l, s, owner, &slice[i]);
		__builtin_prefetch(found[i]->each, 1);
	}
	for (size_t i = 0; i < n; i++) {
		bucket[i] = hist_index(slice[i].ns);
		tally_prefetch(found[i]->each, bucket[i]);
	}
	for (size_t i = 0; i < n; i++)
		tally_add_to(found[i]->each, bucket[i], slice[i].ns);
}

/* ---- room ---- */

static void free_tables(struct leaves *l)
{
	free_all(l->leaf, l->owner, l->owner_last_ns);
	hash_map_free(&l->by_key);
	hash_map_free(&l->owners);
}

/* The table has room for it. */
static void move_leaf(struct leaves *to, const struct leaf *from, const struct leaf_owner *o,
		      const struct walk_slice *s, uint64_t last_ns)
{
	uint32_t owner = find_owner(to, o, OWNERS_MAX);
	struct leaf key = leaf_key(owner, s), *p = known_leaf(to, &key);

	owner_seen(to, owner, last_ns);
	if (!p) {
		add_leaf(to, &key, from->each);
		return;
	}
	tally_merge(p->each, from->each);
	tally_free(from->each);
	free(from->each);
}

enum level { WHOLE, NO_FILE, CAUSE_ONLY };

/* level: what is left of the leaf in each slot; file: where each file is now; NULL: all as it was */
static void rebuild(struct leaves *l, const uint8_t *level, const uint32_t *file)
{
	struct leaves old = *l;

	leaves_init(l);
	l->looked_ns = old.looked_ns;
	for (uint32_t i = 0; i < old.n; i++) {
		const struct leaf *from = &old.leaf[i];
		struct walk_slice s = { .cause = leaf_cause(from) };
		struct leaf_owner o = other_owner;

		if (!level || level[i] != CAUSE_ONLY) {
			o = old.owner[from->owner_cause >> 32];
			o.file = level && level[i] == NO_FILE ? GROUPS_OTHER : file ? file[o.file] : o.file;
			s.dev = (uint32_t)(from->dev_via >> 32);
			s.via = (uint32_t)from->dev_via;
		}
		move_leaf(l, from, &o, &s, old.owner_last_ns[from->owner_cause >> 32]);
	}
	free_tables(&old);
}

void leaves_move(struct leaves *l, const uint32_t *to)
{
	rebuild(l, NULL, to);
}

/* Of those that give way no more than `to` is left. */
static void reduce(struct leaves *l, uint64_t now_ns, enum level to)
{
	uint8_t *level = xcalloc(l->n, sizeof(*level));
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n; i++)
		sum += l->leaf[i].each->sum;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct leaf *p = &l->leaf[i];

		if (room_gives_way(l->owner_last_ns[p->owner_cause >> 32], p->each->sum, sum / l->n, now_ns))
			level[i] = (uint8_t)to;
	}
	rebuild(l, level, NULL);
	free(level);
}

static void make_leaf_room(struct leaves *l, uint64_t now_ns)
{
	if (!room_due(&l->looked_ns, now_ns))
		return;
	reduce(l, now_ns, NO_FILE);
	if (l->n > LEAVES_MAX / 2)
		reduce(l, now_ns, CAUSE_ONLY);
}

void leaves_add(struct leaves *l, const struct wire_sync *s, uint32_t file, const struct walk_result *r)
{
	struct leaf_owner o = owner_of(s, file);
	uint32_t owner;

	if (l->n > LEAVES_MAX - LEAVES_NEW)
		make_leaf_room(l, s->exit);
	owner = r->n ? find_owner(l, &o, LEAVES_MAX) : NONE;
	owner_seen(l, owner, s->exit);
	for (size_t at = 0; at < r->n; at += BATCH)
		add_batch(l, s, owner, r->slice + at, r->n - at < BATCH ? r->n - at : BATCH);
}

void leaves_clear(struct leaves *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		tally_free(l->leaf[i].each);
		free(l->leaf[i].each);
	}
	hash_map_clear(&l->by_key);
	hash_map_clear(&l->owners);
	l->n = l->n_owners = 0;
	l->looked_ns = 0;
}

void leaves_init(struct leaves *l)
{
	*l = (struct leaves){ 0 };
	l->leaf = xcalloc(OWNERS_MAX, sizeof(*l->leaf));
	l->owner = xcalloc(OWNERS_MAX, sizeof(*l->owner));
	l->owner_last_ns = xcalloc(OWNERS_MAX, sizeof(*l->owner_last_ns));
}

void leaves_free(struct leaves *l)
{
	leaves_clear(l);
	free_tables(l);
}
