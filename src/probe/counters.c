// SPDX-License-Identifier: GPL-2.0-only
#include "probe/counters.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "probe/maps.h"

struct counters {
	const struct wire_maps *maps;
	uint32_t views;
	struct wire_extremes *seen;    /* [view * WIRE_CELLS + cell]: of generations already cleared */
	struct view_counts **previous; /* [view]: the totals at the last step */
};

struct counters *counters_new(const struct wire_maps *maps, uint32_t views)
{
	struct counters *c = xcalloc(1, sizeof(*c));

	c->maps = maps;
	c->views = views;
	c->seen = xcalloc((size_t)views * WIRE_CELLS, sizeof(*c->seen));
	c->previous = xcalloc(views, sizeof(*c->previous));
	return c;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	for (uint32_t v = 0; v < c->views; v++)
		free(c->previous[v]);
	free_all(c->previous, c->seen, c);
}

static struct wire_cell *cell_at(struct counters *c, uint32_t view, uint32_t cell, uint32_t stripe)
{
	return &c->maps->cells[((size_t)view * WIRE_CELLS + cell) * c->maps->stripes + stripe];
}

static void fold(struct wire_extremes *x, const struct wire_extremes *more)
{
	for (unsigned int t = 0; t < WIRE_TIMES; t++) {
		if (more->min[t] > x->min[t])
			x->min[t] = more->min[t];
		if (more->max[t] > x->max[t])
			x->max[t] = more->max[t];
	}
}

static struct hist *hist_of(struct cell_counts *c, enum wire_time which)
{
	return which == WIRE_QUEUE ? &c->queue : which == WIRE_DEVICE ? &c->device : &c->total;
}

static void add_time(struct hist *out, const struct wire_cell *w, enum wire_time which)
{
	out->sum += w->sum[which];
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		out->bucket[i] += w->bucket[i][which];
		out->count += w->bucket[i][which];
	}
}

/*
 * The extremes of the interval, or, should a value have been counted on one side of the step and its extreme noted
 * on the other, the bounds of the buckets.
 */
static void set_extremes(struct hist *h, uint64_t min_c, uint64_t max)
{
	bool first = true;

	if (!h->count)
		return;
	if (min_c) {
		h->min = ~min_c;
		h->max = max;
		return;
	}
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (first)
			h->min = hist_lower(i);
		first = false;
		h->max = hist_upper(i);
	}
}

static void read_cell(struct counters *c, uint32_t view, uint32_t cell, struct cell_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t s = 0; s < c->maps->stripes; s++) {
		const struct wire_cell *w = cell_at(c, view, cell, s);

		if (!w->count)
			continue;
		out->count += w->count;
		out->bytes += w->bytes;
		for (unsigned int t = 0; t < WIRE_TIMES; t++)
			add_time(hist_of(out, t), w, t);
	}
}

static void fold_cell(struct counters *c, uint32_t view, uint32_t cell, unsigned int generation, struct wire_extremes *x)
{
	for (uint32_t s = 0; s < c->maps->stripes; s++)
		fold(x, &cell_at(c, view, cell, s)->extremes[generation]);
}

static void cell_set_extremes(struct cell_counts *out, const struct wire_extremes *x)
{
	for (unsigned int t = 0; t < WIRE_TIMES; t++)
		set_extremes(hist_of(out, t), x->min[t], x->max[t]);
}

/* Of one generation. */
static void view_set_extremes(struct counters *c, uint32_t view, unsigned int generation, struct view_counts *out)
{
	for (uint32_t cell = 0; cell < WIRE_CELLS; cell++) {
		struct wire_extremes x = { 0 };

		fold_cell(c, view, cell, generation & 1, &x);
		cell_set_extremes(&out->cell[cell], &x);
	}
}

static void read_view(struct counters *c, uint32_t view, struct view_counts *out)
{
	memset(&out->sums, 0, sizeof(out->sums));
	for (uint32_t s = 0; s < c->maps->stripes; s++) {
		const uint64_t *from = (const uint64_t *)&c->maps->views[(size_t)view * c->maps->stripes + s];
		uint64_t *to = (uint64_t *)&out->sums;

		for (size_t i = 0; i < sizeof(out->sums) / sizeof(uint64_t); i++)
			to[i] += from[i];
	}
	for (uint32_t cell = 0; cell < WIRE_CELLS; cell++)
		read_cell(c, view, cell, &out->cell[cell]);
}

void counters_total(struct counters *c, uint32_t view, struct view_counts *out)
{
	read_view(c, view, out);
	for (uint32_t cell = 0; cell < WIRE_CELLS; cell++) {
		struct wire_extremes x = c->seen[(size_t)view * WIRE_CELLS + cell];

		fold_cell(c, view, cell, 0, &x);
		fold_cell(c, view, cell, 1, &x);
		cell_set_extremes(&out->cell[cell], &x);
	}
}

void counters_rows(struct counters *c, uint32_t view, uint32_t cell, bool total, uint64_t rows[HEAT_ROWS])
{
	for (uint32_t s = 0; s < c->maps->stripes; s++) {
		const struct wire_cell *w = cell_at(c, view, cell, s);
		enum wire_time which = total ? WIRE_TOTAL : WIRE_DEVICE;

		for (unsigned int i = 0; w->count && i < HIST_BUCKETS; i++)
			if (w->bucket[i][which])
				rows[heat_row(hist_lower(i))] += w->bucket[i][which];
	}
}

void counters_step(struct counters *c)
{
	unsigned int next = (c->maps->run->generation + 1) & 1;

	for (uint32_t v = 0; v < c->views; v++) {
		for (uint32_t cell = 0; cell < WIRE_CELLS; cell++) {
			fold_cell(c, v, cell, next, &c->seen[(size_t)v * WIRE_CELLS + cell]);
			for (uint32_t s = 0; s < c->maps->stripes; s++) {
				struct wire_cell *w = cell_at(c, v, cell, s);

				if (w->count)
					memset(&w->extremes[next], 0, sizeof(w->extremes[next]));
			}
		}
	}
	__atomic_add_fetch(&c->maps->run->generation, 1, __ATOMIC_SEQ_CST);
}

static void sub_hist(struct hist *now, const struct hist *before)
{
	now->count -= before->count;
	now->sum -= before->sum;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		now->bucket[i] -= before->bucket[i];
}

static void sub_view(struct view_counts *now, const struct view_counts *before)
{
	uint64_t *to = (uint64_t *)&now->sums;
	const uint64_t *from = (const uint64_t *)&before->sums;

	for (size_t i = 0; i < sizeof(now->sums) / sizeof(uint64_t); i++)
		to[i] -= from[i];
	for (uint32_t i = 0; i < WIRE_CELLS; i++) {
		now->cell[i].count -= before->cell[i].count;
		now->cell[i].bytes -= before->cell[i].bytes;
		sub_hist(&now->cell[i].queue, &before->cell[i].queue);
		sub_hist(&now->cell[i].device, &before->cell[i].device);
		sub_hist(&now->cell[i].total, &before->cell[i].total);
	}
}

void counters_interval(struct counters *c, uint32_t view, struct view_counts *out)
{
	struct view_counts *now = xcalloc(1, sizeof(*now));

	read_view(c, view, now);
	memcpy(out, now, sizeof(*out));
	if (c->previous[view])
		sub_view(out, c->previous[view]);
	free(c->previous[view]);
	c->previous[view] = now;
	view_set_extremes(c, view, c->maps->run->generation + 1, out);
}

void counters_since(struct counters *c, uint32_t view, struct view_counts *out)
{
	read_view(c, view, out);
	if (c->previous[view])
		sub_view(out, c->previous[view]);
	view_set_extremes(c, view, c->maps->run->generation, out);
}
