// SPDX-License-Identifier: GPL-2.0-only
/*
 * callers_pane.c - who made the sync calls, one process a row, in an order that can be chosen:
 *
 *   callers, the run   pid   calls    /s   total    mean     p99  most of it
 *   >sqlite3          4711     804   201   6.29s  7.82ms  24.1ms  flush.post 44.5 %
 *
 * and below them, where there is room, the slowest calls of all.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

#define NAME_END      16
#define PID_END	      23
#define CALLS_END     31
#define RATE_END      37
#define TOTAL_END     45
#define MEAN_END      53
#define P99_END	      61
#define CAUSE_AT      63
#define BAR_AT	      86 /* a bar per caller where there is room */
#define BAR_LEAST     16
#define SLOWEST_LEAST 3 /* rows for the slowest calls below the callers */

static uint64_t mean(const struct report_group *g)
{
	return g->count ? g->total_ns / g->count : 0;
}

struct sortable {
	const struct report_group *g;
	uint64_t key;
};

static uint64_t key_of(const struct report_group *g, enum screen_sort sort)
{
	switch (sort) {
	case SORT_MEAN: return mean(g);
	case SORT_P99: return tally_quantile(&g->latency, 0.99);
	case SORT_COUNT: return g->count;
	case SORT_NAME: return 0;
	default: return g->total_ns;
	}
}

/* The largest first, then by name. */
static int compare(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;
	int by;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	by = strcmp(x->g->comm, y->g->comm);
	return by ? by : (x->g->pid > y->g->pid) - (x->g->pid < y->g->pid);
}

const struct report_group **screen_sorted(const struct screen_state *state, const struct report *r, size_t *n)
{
	const struct report_group **order;
	struct sortable *all;

	*n = r ? r->sync.n_processes : 0;
	all = xcalloc(*n, sizeof(*all));
	order = xcalloc(*n, sizeof(*order));
	for (size_t i = 0; i < *n; i++)
		all[i] = (struct sortable){ &r->sync.process[i], key_of(&r->sync.process[i], state->sort) };
	qsort(all, *n, sizeof(*all), compare);
	for (size_t i = 0; i < *n; i++)
		order[i] = all[i].g;
	free(all);
	return order;
}

bool screen_is_caller(const struct screen_state *state, const struct report_group *g)
{
	return state->have_caller && g->pid == state->pid && !strcmp(g->comm, state->comm);
}

size_t screen_chosen_caller(const struct screen_state *state, const struct report_group *const *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (screen_is_caller(state, order[i]))
			return i;
	return 0;
}

static void heads(const struct screen *s, unsigned int row)
{
	static const struct {
		unsigned int end;
		const char *name;
		enum screen_sort sort;
	} heads[] = {
		{ PID_END, "pid", SCREEN_SORTS }, { CALLS_END, "calls", SORT_COUNT },
		{ RATE_END, "/s", SCREEN_SORTS }, { TOTAL_END, "total", SORT_TOTAL },
		{ MEAN_END, "mean", SORT_MEAN },  { P99_END, "p99", SORT_P99 },
	};
	struct buf b = { 0 };

	buf_printf(&b, "callers%s, ", s->state->sort == SORT_NAME ? " by name" : "");
	screen_scope_name(s, PANE_CALLERS, &b);
	screen_title(s, row, PANE_CALLERS, b.data);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		bool sorted = s->state->sort == heads[i].sort;

		buf_clear(&b);
		buf_printf(&b, "%s%s", sorted ? (s->state->unicode ? "▾" : "v") : "", heads[i].name);
		screen_right(s, row, heads[i].end, sorted ? SCREEN_FOCUS : SCREEN_TITLE, b.data);
	}
	screen_put(s, row, CAUSE_AT, s->g->cols, SCREEN_TITLE, "most of it");
	buf_free(&b);
}

/* Calls of the last interval. */
static uint64_t calls_now(const struct report *interval, const struct report_group *g)
{
	for (size_t i = 0; interval && i < interval->sync.n_processes; i++) {
		const struct report_group *p = &interval->sync.process[i];

		if (p->pid == g->pid && !strcmp(p->comm, g->comm))
			return p->count;
	}
	return 0;
}

static void caller(const struct screen *s, unsigned int row, const struct report_group *g, bool chosen)
{
	const struct report *now = s->v->interval;
	enum cause_family f = FAMILY_UNKNOWN;
	struct buf b = { 0 };

	screen_put(s, row, 0, 1, SCREEN_PLAIN, chosen ? ">" : " ");
	screen_put_raw(s, row, 1, NAME_END, SCREEN_PLAIN, *g->comm ? g->comm : "?");
	if (g->pid) {
		buf_printf(&b, "%u", g->pid);
		screen_right(s, row, PID_END, SCREEN_PLAIN, b.data);
		buf_clear(&b);
	}
	screen_right(s, row, CALLS_END, SCREEN_PLAIN, num_count_fit(g->count).s);
	if (now)
		screen_right(s, row, RATE_END, SCREEN_PLAIN,
			     num_count_short(screen_rate(calls_now(now, g), now->wall_ns)).s);
	screen_right(s, row, TOTAL_END, SCREEN_PLAIN, screen_time(s, g->total_ns).s);
	screen_right(s, row, MEAN_END, SCREEN_PLAIN, screen_time(s, mean(g)).s);
	screen_right(s, row, P99_END, SCREEN_PLAIN, screen_tally_quantile(s, &g->latency, 0.99).s);
	screen_largest(&g->ledger, &b, &f);
	if (b.len)
		screen_put_cut(s, row, CAUSE_AT, BAR_AT - 1, SCREEN_FAMILY + (int)f, b.data);
	if (s->g->cols >= BAR_AT + BAR_LEAST)
		screen_bar(s, row, BAR_AT, &g->ledger);
	if (chosen && s->state->focus == PANE_CALLERS)
		screen_choose(s, row, BAR_AT - 1);
	buf_free(&b);
}

static const char *nobody(const struct report *r)
{
	return !r	     ? "not yet" :
	       !r->have_sync ? "sync calls are not traced" :
	       r->filter     ? "no sync calls of the filtered tasks" :
			       "no sync calls";
}

void screen_callers(const struct screen *s, struct area a)
{
	const struct report *r = screen_scope(s, PANE_CALLERS);
	size_t room = a.rows ? a.rows - 1 : 0, n, chosen, first;
	const struct report_group **order = screen_sorted(s->state, r, &n);

	heads(s, a.top);
	chosen = screen_chosen_caller(s->state, order, n);
	if (room && n > room)
		room--;
	first = screen_first(chosen, room);
	for (size_t i = first; i < n && i < first + room; i++)
		caller(s, a.top + 1 + (unsigned int)(i - first), order[i], i == chosen);
	if (!n)
		screen_put_cut(s, a.top + 1, 1, s->g->cols, SCREEN_DIM, nobody(r));
	else if (n + 2 + SLOWEST_LEAST <= room)
		screen_slowest(s, (struct area){ a.top + 2 + (unsigned int)n, a.rows - 2 - (unsigned int)n });
	if (n > room) {
		struct buf b = { 0 };

		buf_printf(&b, "%zu-%zu of %zu callers", first + 1, first + room, n);
		screen_put(s, a.top + a.rows - 1, 1, s->g->cols, SCREEN_DIM, b.data);
		buf_free(&b);
	}
	free(order);
}
