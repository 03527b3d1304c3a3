// SPDX-License-Identifier: GPL-2.0-only
#include "render/svg/flame_tree.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* A leaf, and what of its path has not become frames yet; NULL: nothing. */
struct path {
	const struct report_leaf *leaf;
	const char *rest;
};

/* Leaves whose next frame is the same. */
struct siblings {
	struct path *path;
	size_t n;
	uint64_t ns;
};

struct builder {
	struct flame_tree *tree;
	uint64_t min_ns;
};

/* By frames: the end of a path first, then the end of a frame, then its bytes. */
static int path_order(const void *a, const void *b)
{
	const unsigned char *x = (const unsigned char *)((const struct path *)a)->rest;
	const unsigned char *y = (const unsigned char *)((const struct path *)b)->rest;

	while (*x && *x == *y)
		x++, y++;
	if (*x == *y)
		return 0;
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == ';' || *y == ';')
		return *x == ';' ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* Widest first; qsort() is not stable, so equal ones by their place in the order of paths. */
static int width_order(const void *a, const void *b)
{
	const struct siblings *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static size_t frame_len(const char *rest)
{
	return strcspn(rest, ";");
}

static bool same_frame(const char *a, const char *b)
{
	return frame_len(a) == frame_len(b) && !strncmp(a, b, frame_len(a));
}

static size_t split(struct path *p, size_t n, struct siblings *s)
{
	size_t n_siblings = 0;

	for (size_t i = 0; i < n; i++) {
		if (!i || !same_frame(p[i - 1].rest, p[i].rest))
			s[n_siblings++] = (struct siblings){ .path = &p[i] };
		s[n_siblings - 1].n++;
		s[n_siblings - 1].ns += p[i].leaf->ns;
	}
	qsort(s, n_siblings, sizeof(*s), width_order);
	return n_siblings;
}

static bool is_frame(const char *rest, const char *name)
{
	return frame_len(rest) == strlen(name) && !strncmp(rest, name, strlen(name));
}

/* Which frame of a path says the cause: the last one, or the one before the device. A file may have a cause's name. */
static bool at_cause(const struct path *p)
{
	const char *name = cause_name(p->leaf->cause), *next = p->rest + frame_len(p->rest);

	if (!is_frame(p->rest, name))
		return false;
	return !*next || (!strchr(next + 1, ';') && !is_frame(next + 1, name));
}

static void add_own(struct flame_tree *t, struct flame_frame *f, const struct report_leaf *l)
{
	struct tally *sum;

	f->own_ns += l->ns;
	if (!f->each) {
		f->each = &l->each;
		return;
	}
	sum = xcalloc(1, sizeof(*sum));
	tally_merge(sum, f->each);
	tally_merge(sum, &l->each);
	*(struct tally **)grow((void **)&t->merged, &t->n_merged, sizeof(*t->merged)) = sum;
	f->each = sum;
}

/* Steps into the first path's frame; the paths that end with it come first. Returns how many do. */
static size_t enter(struct builder *b, const struct siblings *s, const struct flame_frame *parent, uint32_t depth,
		    uint64_t start)
{
	struct flame_tree *t = b->tree;
	struct flame_frame f = {
		.depth = depth,
		.start_ns = start,
		.ns = s->ns,
		.cause = s->path->leaf->cause,
		.name = xmust(strndup(s->path->rest, frame_len(s->path->rest))),
	};
	size_t ends = 0;

	f.device = parent && parent->caused;
	f.caused = f.device || at_cause(s->path);
	for (size_t i = 0; i < s->n; i++) {
		struct path *p = &s->path[i];

		p->rest += frame_len(p->rest);
		if (*p->rest) {
			p->rest++;
			continue;
		}
		add_own(t, &f, p->leaf);
		ends++;
	}
	*(struct flame_frame *)grow((void **)&t->frame, &t->n, sizeof(f)) = f;
	return ends;
}

static void add_smaller(struct builder *b, const struct siblings *s, size_t n, uint32_t depth, uint64_t start)
{
	struct flame_frame *f = grow((void **)&b->tree->frame, &b->tree->n, sizeof(*f));

	*f = (struct flame_frame){ .depth = depth, .start_ns = start, .smaller = n };
	f->name = xasprintf("%zu smaller", n);
	for (size_t i = 0; i < n; i++)
		f->ns += s[i].ns;
	f->own_ns = f->ns;
}

/* Paths that agree up to here, all with something left. */
static void level(struct builder *b, struct path *p, size_t n, const struct flame_frame *parent, uint32_t depth,
		  uint64_t start)
{
	struct siblings *s = xcalloc(n, sizeof(*s));
	size_t n_siblings = split(p, n, s), wide = n_siblings;

	while (wide && s[wide - 1].ns < b->min_ns)
		wide--;
	if (n_siblings - wide == 1)
		wide++;
	for (size_t i = 0; i < wide; i++) {
		size_t ends = enter(b, &s[i], parent, depth, start);
		struct flame_frame f = b->tree->frame[b->tree->n - 1];

		if (ends < s[i].n)
			level(b, s[i].path + ends, s[i].n - ends, &f, depth + 1, start + f.own_ns);
		start += s[i].ns;
	}
	if (wide < n_siblings)
		add_smaller(b, s + wide, n_siblings - wide, depth, start);
	free(s);
}

void flame_tree_make(struct flame_tree *t, const struct report_sync *s, uint64_t min_ns)
{
	struct path *p = xcalloc(s->n_leaves ? s->n_leaves : 1, sizeof(*p));
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < s->n_leaves; i++) {
		if (!s->leaf[i].ns)
			continue;
		p[n++] = (struct path){ .leaf = &s->leaf[i], .rest = s->leaf[i].path };
		t->ns += s->leaf[i].ns;
	}
	qsort(p, n, sizeof(*p), path_order);
	if (n)
		level(&(struct builder){ .tree = t, .min_ns = min_ns }, p, n, NULL, 1, 0);
	free(p);
}

void flame_tree_free(struct flame_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->frame[i].name);
	for (size_t i = 0; i < t->n_merged; i++) {
		tally_free(t->merged[i]);
		free(t->merged[i]);
	}
	free(t->frame);
	free(t->merged);
	memset(t, 0, sizeof(*t));
}
