// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/call_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/make_room.h"
#include "util/mem.h"

static uint32_t hash_group(uint32_t id, const char *text)
{
	uint64_t h = id + 0x9e3779b97f4a7c15;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
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

/* The slot of a group; an empty one if there is none. */
static uint32_t *group_slot(const struct groups *g, uint32_t id, const char *text)
{
	uint32_t h = hash_group(id, text) & (g->n_slots - 1);

	for (; g->slot[h] != GROUPS_OTHER; h = (h + 1) & (g->n_slots - 1)) {
		const struct group *have = g->group[g->slot[h]];

		if (have->id == id && !strcmp(have->text, text))
			break;
	}
	return &g->slot[h];
}

uint32_t groups_find(struct groups *g, uint32_t id, const char *text)
{
	uint32_t *slot = group_slot(g, id, text);

	if (*slot == GROUPS_OTHER && g->n < g->max)
		*slot = add_group(g, id, text);
	return *slot;
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
	memset(g->slot, 0, g->n_slots * sizeof(*g->slot));
	for (uint32_t i = 1; i < g->n; i++)
		*group_slot(g, g->group[i]->id, g->group[i]->text) = i;
	return to;
}

void groups_rename(struct groups *g, uint32_t group, uint32_t id, const char *text)
{
	uint32_t *slot = group_slot(g, id, text);

	if (*slot != GROUPS_OTHER)
		return;
	free(g->group[group]->text);
	g->group[group]->text = xstrdup(text);
	*slot = group;
}

void groups_clear(struct groups *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		free_group(g->group[i]);
	g->n = 0;
	g->gone = g->looked_ns = 0;
	memset(g->slot, 0, g->n_slots * sizeof(*g->slot));
	add_group(g, 0, g->other);
}

void groups_init(struct groups *g, uint32_t max, const char *other)
{
	g->max = max;
	g->n_slots = 4 * max;
	g->other = other;
	g->group = xcalloc(max, sizeof(*g->group));
	g->slot = xcalloc(g->n_slots, sizeof(*g->slot));
	groups_clear(g);
}

void groups_free(struct groups *g)
{
	groups_clear(g);
	free_group(g->group[GROUPS_OTHER]);
	free(g->group);
	free(g->slot);
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
