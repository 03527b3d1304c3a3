// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/report_top.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- order ---- */

int report_group_order(const void *a, const void *b)
{
	const struct report_group *x = a, *y = b;
	int by_text;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	by_text = strcmp(x->path ? x->path : x->comm, y->path ? y->path : y->comm);
	return by_text ? by_text : (x->pid > y->pid) - (x->pid < y->pid);
}

int report_leaf_by_path(const void *a, const void *b)
{
	const struct report_leaf *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	return by_path ? by_path : (int)x->cause - (int)y->cause;
}

int report_leaf_by_time(const void *a, const void *b)
{
	const struct report_leaf *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return report_leaf_by_path(a, b);
}

/* ---- groups ---- */

static void give_to_rest(struct report_group *rest, struct report_group *from)
{
	rest->count += from->count;
	rest->total_ns += from->total_ns;
	rest->unsafe += from->unsafe;
	rest->unsafe_ns += from->unsafe_ns;
	ledger_add(&rest->ledger, &from->ledger);
	tally_merge(&rest->latency, &from->latency);
	report_group_free(from);
}

/* Sorted. How many went; there is a line for them then, at `rest` with this name. */
static size_t top_groups(struct report_group *g, size_t *n, size_t top, bool files)
{
	struct report_group rest = { .rest = true };
	size_t kept = 0, gone = 0;
	bool any = false;

	for (size_t i = 0; i < *n; i++) {
		if (!g[i].rest && kept < top) {
			g[kept++] = g[i];
			continue;
		}
		gone += !g[i].rest;
		any = true;
		give_to_rest(&rest, &g[i]);
	}
	if (any) {
		*(files ? &rest.path : &rest.comm) = xstrdup(files ? REPORT_OTHER_FILES : REPORT_OTHER_PROCESSES);
		g[kept++] = rest;
		qsort(g, kept, sizeof(*g), report_group_order);
	}
	*n = kept;
	return gone;
}

/* ---- stacks ---- */

static bool is_rest(const struct report_leaf *l)
{
	return !strncmp(l->path, REPORT_OTHER_STACKS, strlen(REPORT_OTHER_STACKS));
}

static void top_leaves(struct report_sync *s, size_t top)
{
	struct report_leaf rest[CAUSE_COUNT] = { 0 };
	size_t kept = 0, named = 0;

	for (size_t i = 0; i < s->n_leaves; i++) {
		struct report_leaf *l = &s->leaf[i], *r = &rest[l->cause];

		if (!is_rest(l) && named < top) {
			named++;
			s->leaf[kept++] = *l;
			continue;
		}
		r->cause = l->cause;
		r->ns += l->ns;
		tally_merge(&r->each, &l->each);
		tally_free(&l->each);
		free(l->path);
	}
	/* no more of them than there were */
	for (int c = 0; c < CAUSE_COUNT; c++) {
		if (!rest[c].each.count)
			continue;
		rest[c].path = xasprintf(REPORT_OTHER_STACKS "%s", cause_name((enum cause)c));
		s->leaf[kept++] = rest[c];
	}
	s->n_leaves = kept;
	qsort(s->leaf, kept, sizeof(*s->leaf), report_leaf_by_time);
}

void report_top(struct report_sync *s, size_t top)
{
	s->gone_processes += top_groups(s->process, &s->n_processes, top, false);
	s->gone_files += top_groups(s->file, &s->n_files, top, true);
	if (s->n_leaves > top)
		top_leaves(s, top);
}
