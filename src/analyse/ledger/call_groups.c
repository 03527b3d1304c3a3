// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/call_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/make_room.h"
#include "util/mem.h"

static uint32_t hash_group(uint32_t id, const char *text)
{
	return hash_words(hash_bytes(text, strlen(text)), id);
}

static uint32_t add_group(struct groups *g, uint32_t id, const char *text)
{
	struct group *new = xcalloc(1, sizeof(*new));

	new->id = id;
	new->text = xstrdup(text);
	new->late = g->gone;
	g->group[g->n] = new;
	return g->n++;
}

/* GROUPS_OTHER: there is none. */
static uint32_t find_group(const struct groups *g, uint32_t id, const char *text, uint32_t hash)
{
	HASH_MAP_EACH (&g->map, hash, i)
		if (g->group[i]->id == id && !strcmp(g->group[i]->text, text))
			return i;
	return GROUPS_OTHER;
}

uint32_t groups_find(struct groups *g, uint32_t id, const char *text)
{
	uint32_t hash = hash_group(id, text), i = find_group(g, id, text, hash);

	if (i != GROUPS_OTHER || g->n == g->max)
		return i;
	hash_map_add(&g->map, g->n, hash);
	return add_group(g, id, text);
}

static void free_group(struct group *g)
{
	tally_free(&g->latency);
	free(g->text);
	free(g);
}

/* Without those that stand for all others. */
static uint64_t mean_time(const struct groups *g)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < g->n; i++)
		sum += g->group[i]->total_ns;
	return sum / g->n;
}

static void give_to_other(struct groups *g, struct group *from)
{
	struct group *other = g->group[GROUPS_OTHER];

	other->count += from->count;
	other->total_ns += from->total_ns;
	other->unsafe += from->unsafe;
	other->unsafe_ns += from->unsafe_ns;
	other->last_ns = from->last_ns > other->last_ns ? from->last_ns : other->last_ns;
	ledger_add(&other->ledger, &from->ledger);
	tally_merge(&other->latency, &from->latency);
	g->gone++;
	free_group(from);
}

uint32_t *groups_make_room(struct groups *g, uint64_t now_ns)
{
	uint32_t *to, kept = 1;
	uint64_t mean;

	if (!room_due(&g->looked_ns, now_ns))
		return NULL;
	to = xcalloc(g->n, sizeof(*to));
	mean = mean_time(g);
	for (uint32_t i = 1; i < g->n; i++) {
		if (room_gives_way(g->group[i]->last_ns, g->group[i]->total_ns, mean, now_ns)) {
			give_to_other(g, g->group[i]);
			continue;
		}
		to[i] = kept;
		g->group[kept++] = g->group[i];
	}
	g->n = kept;
	hash_map_clear(&g->map);
	for (uint32_t i = 1; i < g->n; i++)
		hash_map_add(&g->map, i, hash_group(g->group[i]->id, g->group[i]->text));
	return to;
}

void groups_rename(struct groups *g, uint32_t group, uint32_t id, const char *text)
{
	uint32_t hash = hash_group(id, text);

	if (find_group(g, id, text, hash) != GROUPS_OTHER)
		return;
	free(g->group[group]->text);
	g->group[group]->text = xstrdup(text);
	hash_map_remove(&g->map, group);
	hash_map_add(&g->map, group, hash);
}

void groups_clear(struct groups *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		free_group(g->group[i]);
	g->n = 0;
	g->gone = g->looked_ns = 0;
	hash_map_clear(&g->map);
	add_group(g, 0, g->other);
}

void groups_init(struct groups *g, uint32_t max, const char *other)
{
	g->max = max;
	g->other = other;
	g->group = xcalloc(max, sizeof(*g->group));
	groups_clear(g);
}

void groups_free(struct groups *g)
{
	groups_clear(g);
	free_group(g->group[GROUPS_OTHER]);
	free(g->group);
	hash_map_free(&g->map);
}

void group_add(struct group *g, uint64_t end_ns, uint64_t ns, const struct ledger *l)
{
	g->last_ns = end_ns;
	g->count++;
	g->total_ns += ns;
	ledger_add(&g->ledger, l);
	tally_add(&g->latency, ns);
}

void group_add_unsafe(struct group *g, uint64_t ns)
{
	g->unsafe++;
	g->unsafe_ns += ns;
}

void group_prefetch(const struct group *g)
{
	__builtin_prefetch(&g->count, 1);
	for (size_t at = 0; at < sizeof(g->ledger); at += 64)
		__builtin_prefetch((const char *)&g->ledger + at, 1);
	__builtin_prefetch(&g->latency, 1);
}
