// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram_pane.c - how long a device's flushes, writes and reads took in it, and the sync calls, side by side on one
 * axis of powers of two:
 *
 *   histogram of sda, the run
 *      from   flush 804       write 1.21k     read 12         sync 804
 *    4.19ms   790 #######                                        604 #######
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

#define ROWS   (HIST_TOP_BITS + 1) /* 0, then [2^(row-1), 2^row) */
#define AXIS   10
#define COUNT  7
#define SERIES 4

struct series {
	const char *name;
	int style;
	uint64_t count, row[ROWS];
};

static void group(struct series *to, const struct hist *h)
{
	to->count += h->count;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		to->row[hist_lower(i) ? hist_log2(hist_lower(i)) + 1 : 0] += h->bucket[i];
}

static void gather(const struct report *r, const struct report_device *d, struct series series[SERIES])
{
	static const enum op_row rows[] = { ROW_FLUSH, ROW_WRITE, ROW_FUA, ROW_READ };
	static const unsigned int to[] = { 0, 1, 1, 2 };
	struct report_op *op = xcalloc(1, sizeof(*op));

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report_device_row(d, rows[i], op);
		group(&series[to[i]], d->bio_based ? &op->total : &op->device);
	}
	group(&series[3], &r->sync.latency);
	free(op);
}

struct axis {
	unsigned int first, step; /* rows of the series in a row of the screen */
	unsigned int rows;
};

/* As many powers of two in a row as it takes to fit. */
static struct axis fit(const struct series series[SERIES], unsigned int room)
{
	unsigned int lo = ROWS, hi = 0;
	struct axis x = { .step = 1 };

	for (unsigned int i = 0; i < SERIES; i++)
		for (unsigned int r = 0; r < ROWS; r++)
			if (series[i].row[r]) {
				lo = r < lo ? r : lo;
				hi = r > hi ? r : hi;
			}
	if (lo > hi || !room)
		return x;
	x.first = lo;
	x.step = (hi - lo) / room + 1;
	x.rows = (hi - lo) / x.step + 1;
	return x;
}

static uint64_t sum(const struct series *p, const struct axis *x, unsigned int n)
{
	uint64_t all = 0;

	for (unsigned int i = 0, r = x->first + n * x->step; i < x->step && r < ROWS; i++, r++)
		all += p->row[r];
	return all;
}

static uint64_t most(const struct series *p, const struct axis *x)
{
	uint64_t best = 0;

	for (unsigned int n = 0; n < x->rows; n++)
		best = sum(p, x, n) > best ? sum(p, x, n) : best;
	return best;
}

static void column(const struct screen *s, struct area a, const struct series *p, const struct axis *x, unsigned int at,
		   unsigned int end)
{
	uint64_t top = most(p, x);
	unsigned int room = end > at + COUNT + 2 ? end - at - COUNT - 2 : 0;

	for (unsigned int n = 0; n < x->rows; n++) {
		uint64_t v = sum(p, x, n);
		unsigned int len;

		if (!v)
			continue;
		len = (unsigned int)((double)v / (double)top * room + 0.5);
		screen_right(s, a.top + n, at + COUNT, SCREEN_PLAIN, v < 100000 ? num_count(v).s : num_count_short(v).s);
		/* something that exists is never drawn as nothing */
		for (unsigned int i = 0; i < (len ? len : 1); i++)
			screen_put(s, a.top + n, at + COUNT + 1 + i, end, p->style, s->state->unicode ? "█" : "#");
	}
}

static void heads(const struct screen *s, unsigned int row, const struct series series[SERIES], unsigned int width)
{
	struct buf b = { 0 };

	screen_right(s, row, AXIS - 1, SCREEN_DIM, "from");
	for (unsigned int i = 0; i < SERIES; i++) {
		buf_clear(&b);
		buf_printf(&b, "%s %s", series[i].name, num_count_short(series[i].count).s);
		screen_put_cut(s, row, AXIS + i * width + 2, AXIS + (i + 1) * width, SCREEN_BOLD, b.data);
	}
	buf_free(&b);
}

static void title(const struct screen *s, unsigned int row, const char *device)
{
	struct buf b = { 0 };

	buf_str(&b, "histogram of ");
	utf8_escape(&b, device, s->state->unicode);
	buf_str(&b, ", ");
	screen_scope_name(s, PANE_HIST, &b);
	buf_str(&b, ": time in the device; sync calls on any device");
	screen_title(s, row, PANE_HIST, b.data);
	buf_free(&b);
}

void screen_hist(const struct screen *s, struct area a)
{
	const struct report *r = screen_scope(s, PANE_HIST);
	size_t at;
	/* which one is chosen from the run; in an interval it may have done nothing */
	const struct report_device *chosen = screen_chosen_device(s->state, s->v->run, &at);
	const struct report_device *d = chosen ? screen_device(r, chosen->name) : NULL;
	unsigned int width = s->g->cols > AXIS ? (s->g->cols - AXIS) / SERIES : 0;
	struct series series[SERIES] = {
		{ .name = "flush", .style = SCREEN_FAMILY + FAMILY_FLUSH },
		{ .name = "write", .style = SCREEN_FAMILY + FAMILY_DEVICE },
		{ .name = "read", .style = SCREEN_FAMILY + FAMILY_IO_SCHEDULER },
		{ .name = "sync", .style = SCREEN_BOLD },
	};
	struct axis x;

	title(s, a.top, chosen ? chosen->name : "no device");
	if (a.rows < 3)
		return;
	if (!d) {
		screen_put(s, a.top + 1, 1, s->g->cols, SCREEN_DIM, "no I/O");
		return;
	}
	gather(r, d, series);
	heads(s, a.top + 1, series, width);
	x = fit(series, a.rows - 2);
	for (unsigned int n = 0; n < x.rows; n++) {
		unsigned int row = x.first + n * x.step;

		screen_right(s, a.top + 2 + n, AXIS - 1, SCREEN_DIM, row ? screen_time(s, 1ull << (row - 1)).s : "0");
	}
	for (unsigned int i = 0; i < SERIES; i++)
		column(s, (struct area){ a.top + 2, a.rows - 2 }, &series[i], &x, AXIS + i * width, AXIS + (i + 1) * width);
}
