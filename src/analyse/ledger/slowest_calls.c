// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/slowest_calls.h"

#include <stdlib.h>
#include <string.h>

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

static void swap_slow(struct slow *a, struct slow *b)
{
	struct slow keep = *a;

	*a = *b;
	*b = keep;
}

static void sift_up(struct slow *heap, size_t i)
{
	for (; i && faster(&heap[i].call, &heap[(i - 1) / 2].call); i = (i - 1) / 2)
		swap_slow(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct slow *heap, size_t n)
{
	for (size_t i = 0, least; (least = 2 * i + 1) < n; i = least) {
		if (least + 1 < n && faster(&heap[least + 1].call, &heap[least].call))
			least++;
		if (!faster(&heap[least].call, &heap[i].call))
			break;
		swap_slow(&heap[least], &heap[i]);
	}
}

void slowest_init(struct slowest *l, size_t max)
{
	l->heap = xcalloc(max, sizeof(*l->heap));
	l->max = max;
}

bool slowest_wants(const struct slowest *l, const struct wire_sync *s)
{
	return l->n < l->max || (l->max && faster(&l->heap[0].call, s));
}

void slowest_add(struct slowest *l, const struct wire_sync *s, const char *path, const struct ledger *ledger, bool unsafe)
{
	struct slow new = { .call = *s, .path = xstrdup(path), .unsafe = unsafe, .ledger = *ledger };

	if (l->n < l->max) {
		l->heap[l->n] = new;
		sift_up(l->heap, l->n++);
		return;
	}
	free(l->heap[0].path);
	l->heap[0] = new;
	sift_down(l->heap, l->n);
}

static int slow_order(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	return faster(&y->call, &x->call) ? -1 : faster(&x->call, &y->call);
}

struct slow *slowest_sorted(const struct slowest *l)
{
	struct slow *sorted = xcalloc(l->n, sizeof(*sorted));

	if (l->n)
		memcpy(sorted, l->heap, l->n * sizeof(*sorted));
	qsort(sorted, l->n, sizeof(*sorted), slow_order);
	return sorted;
}

void slowest_clear(struct slowest *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->heap[i].path);
	l->n = 0;
}

void slowest_free(struct slowest *l)
{
	slowest_clear(l);
	free(l->heap);
}
