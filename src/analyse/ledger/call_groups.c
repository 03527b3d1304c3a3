// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/call_groups.h"

#include <stdlib.h>
#include <string.h>

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
	for (uint32_t i = 0; i < g->n; i++) {
		tally_free(&g->group[i]->latency);
		free(g->group[i]->text);
		free(g->group[i]);
	}
	g->n = 0;
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
	free(g->group[GROUPS_OTHER]->text);
	free(g->group[GROUPS_OTHER]);
	free(g->group);
	free(g->slot);
}

void group_add(struct group *g, uint64_t ns, const struct ledger *l)
{
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
