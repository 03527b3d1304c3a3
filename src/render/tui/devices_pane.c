// SPDX-License-Identifier: GPL-2.0-only
/*
 * devices_pane.c - the devices, one row each:
 *
 *   devices, last 1s       per second         flush         write  queue
 *                flush  write   read    p50    p99    p50    p99    p99  flush/s
 *   sda            812  1.24k      0 6.90ms 7.12ms  315us  582us 4.31us  ▁▃▅▇█
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

#define NAME_END 12
#define COLUMN	 7
#define RATES	 3
#define TREND_AT (NAME_END + 8 * COLUMN + 2)

const struct report_device *screen_chosen_device(const struct screen_state *state, const struct report *r, size_t *at)
{
	*at = 0;
	if (!r || !r->n_devices)
		return NULL;
	for (size_t i = 0; i < r->n_devices; i++)
		if (!strcmp(r->device[i].name, state->device))
			*at = i;
	return &r->device[*at];
}

static unsigned int column(unsigned int n)
{
	return NAME_END + (n + 1) * COLUMN;
}

static void heads(const struct screen *s, unsigned int row)
{
	static const char *const names[] = { "flush", "write", "read", "p50", "p99", "p50", "p99", "p99" };
	static const struct {
		unsigned int column;
		const char *name;
	} groups[] = { { 2, "per second" }, { 4, "flush" }, { 6, "write" }, { 7, "queue" } };
	struct buf b = { 0 };

	buf_str(&b, "devices, ");
	screen_scope_name(s, PANE_DEVICES, &b);
	screen_title(s, row, PANE_DEVICES, b.data);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		screen_right(s, row, column(groups[i].column), SCREEN_TITLE, groups[i].name);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		screen_right(s, row + 1, column(i), SCREEN_DIM, names[i]);
	screen_put(s, row + 1, TREND_AT, s->g->cols, SCREEN_DIM, "flush/s");
	buf_free(&b);
}

/* The times of one class: in the device; of a dm or md device from start to end, the only ones that there are. */
static const struct hist *times(const struct report_device *d, const struct report_op *op)
{
	return d->bio_based ? &op->total : &op->device;
}

static const struct screen_trend *trend_of(const struct screen_state *state, const char *name)
{
	for (size_t i = 0; i < state->n_trends; i++)
		if (!strcmp(state->trend[i].name, name))
			return &state->trend[i];
	return NULL;
}

/* 0 has a mark of its own: something that exists is never drawn as nothing. */
static const char *level(const struct screen *s, uint64_t v, uint64_t most)
{
	static const char *const block[] = { "_", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { "_", ".", ",", ":", "-", "=", "+", "*", "#" };
	unsigned int at = v ? 1 + (unsigned int)((double)v / (double)most * 7 + 0.5) : 0;

	return s->state->unicode ? block[at] : ascii[at];
}

static void trend(const struct screen *s, unsigned int row, const char *name)
{
	const struct screen_trend *t = trend_of(s->state, name);
	unsigned int room = s->g->cols > TREND_AT ? s->g->cols - TREND_AT : 0, from;
	uint64_t most = 0;

	if (!t)
		return;
	from = t->n > room ? t->n - room : 0;
	for (unsigned int i = from; i < t->n; i++)
		most = t->flushes[i] > most ? t->flushes[i] : most;
	for (unsigned int i = from; i < t->n; i++)
		screen_put(s, row, TREND_AT + i - from, s->g->cols, SCREEN_FAMILY + FAMILY_FLUSH,
			   level(s, t->flushes[i], most));
}

/* Reads, writes (FUA writes too), flushes. */
static void ops_of(const struct report_device *d, struct report_op op[RATES])
{
	struct report_op fua;

	report_device_row(d, ROW_FLUSH, &op[0]);
	report_device_row(d, ROW_WRITE, &op[1]);
	report_device_row(d, ROW_READ, &op[2]);
	report_device_row(d, ROW_FUA, &fua);
	op[1].count += fua.count;
	hist_merge(&op[1].queue, &fua.queue);
	hist_merge(&op[1].device, &fua.device);
	hist_merge(&op[1].total, &fua.total);
}

/* A disk that is left out of an interval (NULL) did nothing in it. */
static void rates(const struct screen *s, unsigned int row, const struct report_device *d)
{
	struct report_op *op = xcalloc(RATES, sizeof(*op));

	if (d)
		ops_of(d, op);
	for (unsigned int i = 0; i < RATES; i++)
		screen_right(s, row, column(i), op[i].count ? SCREEN_PLAIN : SCREEN_DIM,
			     num_count_short(screen_rate(op[i].count, s->v->interval->wall_ns)).s);
	free(op);
}

static void latencies(const struct screen *s, unsigned int row, const struct report_device *d)
{
	struct report_op *op = xcalloc(RATES, sizeof(*op));
	struct hist *queue = xcalloc(1, sizeof(*queue));

	ops_of(d, op);
	for (unsigned int i = 0; i < RATES; i++)
		hist_merge(queue, &op[i].queue);
	for (unsigned int i = 0; i < 2; i++) {
		int style = i ? SCREEN_PLAIN : SCREEN_FAMILY + FAMILY_FLUSH;

		screen_right(s, row, column(3 + 2 * i), style, screen_quantile(s, times(d, &op[i]), 0.5).s);
		screen_right(s, row, column(4 + 2 * i), style, screen_quantile(s, times(d, &op[i]), 0.99).s);
	}
	screen_right(s, row, column(7), SCREEN_PLAIN, screen_quantile(s, queue, 0.99).s);
	free(queue);
	free(op);
}

const struct report_device *screen_device(const struct report *r, const char *name)
{
	for (size_t i = 0; r && i < r->n_devices; i++)
		if (!strcmp(r->device[i].name, name))
			return &r->device[i];
	return NULL;
}

static void device(const struct screen *s, unsigned int row, const char *name, bool chosen)
{
	const struct report_device *now = screen_device(s->v->interval, name);
	const struct report_device *d = screen_device(screen_scope(s, PANE_DEVICES), name);

	if (chosen)
		screen_put(s, row, 0, 1, SCREEN_PLAIN, ">");
	screen_put_raw(s, row, 1, NAME_END + 1, SCREEN_PLAIN, name);
	if (now && now->vanished) {
		screen_put(s, row, NAME_END + 2, s->g->cols, SCREEN_WARN, "went away");
	} else {
		if (s->v->interval)
			rates(s, row, now);
		if (d)
			latencies(s, row, d);
		trend(s, row, name);
	}
	if (chosen && s->state->focus == PANE_DEVICES)
		screen_choose(s, row, TREND_AT - 1);
}

void screen_devices(const struct screen *s, struct area a)
{
	/* of the run: a disk that is idle for an interval stays in its place */
	const struct report *r = s->v->run;
	size_t room = a.rows > 2 ? a.rows - 2 : 0, chosen, first;

	heads(s, a.top);
	if (!screen_chosen_device(s->state, r, &chosen)) {
		screen_put_cut(s, a.top + 2, 1, s->g->cols, SCREEN_DIM, "no disk has done anything yet");
		return;
	}
	first = screen_first(chosen, room);
	for (size_t i = first; i < r->n_devices && i < first + room; i++)
		device(s, a.top + 2 + (unsigned int)(i - first), r->device[i].name, i == chosen);
	if (r->n_devices > room) {
		struct buf b = { 0 };

		buf_printf(&b, " %zu-%zu of %zu", first + 1, first + room, r->n_devices);
		screen_put_cut(s, a.top + 1, 0, column(0) - 5, SCREEN_DIM, b.data);
		buf_free(&b);
	}
}
