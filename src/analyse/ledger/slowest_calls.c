// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/slowest_calls.h"

#include <stdlib.h>

#include "util/mem.h"

static uint64_t took(const struct wire_sync *s)
{
	return s->exit - s->enter;
}

/* Of two equally slow ones the later is the faster. */
static bool faster(const struct wire_sync *a, const struct wire_sync *b)
{
	return took(a) != took(b) ? took(a) < took(b) : a->enter > b->enter;
}

void slowest_init(struct slowest *l, size_t max)
{
	l->call = xcalloc(max, sizeof(*l->call));
	l->max = max;
}

bool slowest_wants(const struct slowest *l, const struct wire_sync *s)
{
	return l->n < l->max || (l->max && faster(&l->call[l->n - 1]->call, s));
}

static void drop_last(struct slowest *l)
{
	struct slow *last = l->call[--l->n];

	free_all(last->path, last);
}

void slowest_add(struct slowest *l, const struct wire_sync *s, const char *path, const struct ledger *ledger, bool unsafe)
{
	struct slow *new = xcalloc(1, sizeof(*new));
	size_t at;

	*new = (struct slow){ .call = *s, .path = xstrdup(path), .unsafe = unsafe, .ledger = *ledger };
	if (l->n == l->max)
		drop_last(l);
	for (at = l->n++; at && faster(&l->call[at - 1]->call, s); at--)
		l->call[at] = l->call[at - 1];
	l->call[at] = new;
}

void slowest_clear(struct slowest *l)
{
	while (l->n)
		drop_last(l);
}

void slowest_free(struct slowest *l)
{
	slowest_clear(l);
	free(l->call);
}
