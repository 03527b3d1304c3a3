// SPDX-License-Identifier: GPL-2.0-only
/* screen.c - the live screen as a whole: which pane stands where, the lines at the top and the bottom, the help. */
#include <stdio.h>
#include <string.h>

#include "render/tui/screen_internal.h"

#define FULL_ROWS 16 /* below: verdict and ledger only */
#define FULL_COLS 72
#define ROOMY	  30 /* rows from which panes are set apart */
#define BOTH	  40 /* rows from which callers and histogram stand together */

static bool is_full(const struct screen_grid *g)
{
	return g->rows >= FULL_ROWS && g->cols >= FULL_COLS;
}

/* ---- top and bottom ---- */

static void devices_named(const struct screen *s, const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->n_devices && i < 4; i++) {
		buf_str(b, i ? " " : "  ");
		utf8_escape(b, r->device[i].name, s->state->unicode);
	}
	if (r->n_devices > 4)
		buf_printf(b, " +%zu", r->n_devices - 4);
}

/* How far the newest report reaches. */
static uint64_t elapsed(const struct screen_view *v)
{
	const struct report *i = v->interval;

	if (i)
		return (uint64_t)(i->interval_start_s * 1e9) + i->wall_ns;
	return v->run ? v->run->wall_ns : 0;
}

/* Some losses show only over the run. */
static uint64_t lost(const struct screen_view *v)
{
	uint64_t interval = v->interval ? v->interval->lost_events : 0, run = v->run ? v->run->lost_events : 0;

	return interval > run ? interval : run;
}

static unsigned int running(const struct screen *s, unsigned int row)
{
	uint64_t sec = elapsed(s->v) / 1000000000;
	char text[48];

	if (sec < 3600)
		snprintf(text, sizeof(text), " running %u:%02u ", (unsigned int)(sec / 60), (unsigned int)(sec % 60));
	else
		snprintf(text, sizeof(text), " running %u:%02u:%02u ", (unsigned int)(sec / 3600),
			 (unsigned int)(sec / 60 % 60), (unsigned int)(sec % 60));
	return screen_right(s, row, s->g->cols, SCREEN_TOP, text);
}

static unsigned int losses(const struct screen *s, unsigned int row, unsigned int end)
{
	char text[64];

	snprintf(text, sizeof(text), " %s %s lost ", num_count_short(lost(s->v)).s, lost(s->v) == 1 ? "event" : "events");
	return screen_right(s, row, end, SCREEN_WARN, text);
}

static void top(const struct screen *s, unsigned int row)
{
	const struct report *r = s->v->interval ? s->v->interval : s->v->run;
	struct buf b = { 0 };
	unsigned int end;

	screen_paint(s, row, SCREEN_TOP);
	buf_str(&b, " barriertrace");
	if (r && r->kernel) {
		buf_str(&b, "  Linux ");
		utf8_escape(&b, r->kernel, s->state->unicode);
	}
	if (s->v->run)
		devices_named(s, s->v->run, &b);
	end = running(s, row);
	if (lost(s->v))
		end = losses(s, row, end);
	screen_put_cut(s, row, 0, end, SCREEN_TOP, b.data);
	buf_free(&b);
}

struct hint {
	const char *key, *what;
};

static unsigned int hint(const struct screen *s, unsigned int row, unsigned int col, const struct hint *h)
{
	unsigned int width = (unsigned int)(utf8_width(h->key, strlen(h->key)) + 1 + strlen(h->what));

	if (col + width > s->g->cols)
		return s->g->cols;
	col = screen_put(s, row, col, s->g->cols, SCREEN_KEY, h->key);
	return screen_put(s, row, col + 1, s->g->cols, SCREEN_DIM, h->what) + 2;
}

static size_t add_hints(const struct screen *s, struct hint h[8])
{
	const struct screen_state *st = s->state;
	const char *enter = st->focus == PANE_DEVICES ? "histogram" : "details";
	size_t n = 0;

	h[n++] = (struct hint){ "q", "quit" };
	h[n++] = (struct hint){ "?", "help" };
	if (!is_full(s->g))
		return n;
	h[n++] = (struct hint){ "Tab", "pane" };
	h[n++] = (struct hint){ st->unicode ? "↑↓" : "j/k", st->drilled ? "scroll" : "choose" };
	h[n++] = (struct hint){ st->drilled ? "Esc" : "Enter", st->drilled ? "back" : enter };
	if (st->focus == PANE_CALLERS && !st->drilled)
		h[n++] = (struct hint){ "s", "sort" };
	h[n++] = (struct hint){ "h", "histogram" };
	if (!st->drilled)
		h[n++] = (struct hint){ "i", st->of_run[st->focus] ? "now" : "run" };
	return n;
}

static void bottom(const struct screen *s, unsigned int row)
{
	struct hint hints[8];
	size_t n = add_hints(s, hints);
	unsigned int col = 1;

	if (s->state->stopping) {
		screen_put_cut(s, row, 1, s->g->cols, SCREEN_WARN, "ending: waiting for the command (q again: don't wait)");
		return;
	}
	for (size_t i = 0; i < n; i++)
		col = hint(s, row, col, &hints[i]);
}

static unsigned int verdict(const struct screen *s, struct area a)
{
	const struct report *r = s->v->run;
	struct buf b = { 0 };
	unsigned int used;

	if (r && r->have_verdict && r->verdict.sentence)
		utf8_escape(&b, r->verdict.sentence, s->state->unicode);
	else
		buf_str(&b, r ? "No verdict: sync calls are not traced." : "No verdict yet.");
	used = screen_wrap(s, a, SCREEN_BOLD, b.data);
	buf_free(&b);
	return used;
}

/* The slowest calls in a line; returns the rows that it took. */
static unsigned int tail(const struct screen *s, unsigned int row)
{
	const struct report *r = s->v->run;
	struct buf b = { 0 };

	if (!r || !r->sync.tail.sentence)
		return 0;
	utf8_escape(&b, r->sync.tail.sentence, s->state->unicode);
	screen_put_cut(s, row, 0, s->g->cols, SCREEN_PLAIN, b.data);
	buf_free(&b);
	return 1;
}

/* ---- help ---- */

static const struct hint keys[] = {
	{ "q, Ctrl-C", "end the run, and print its report" },
	{ "Tab", "next pane: callers, devices, histogram ('>' marks the one that has the keys)" },
	{ "Up, Down", "choose a caller or a device (also k, j, PgUp, PgDn, Home, End)" },
	{ "Enter", "a caller's ledger, files and slowest calls; a device's histogram" },
	{ "Esc", "back (also Backspace)" },
	{ "s", "sort the callers by total, mean, p99, count, name" },
	{ "h", "show or hide the histogram of the chosen device" },
	{ "i", "the pane's figures: of the last interval, or of the whole run" },
	{ "Ctrl-L", "draw anew" },
	{ "Ctrl-Z", "suspend; the run goes on when it is continued" },
};

static const char *const remarks[] = {
	"Rates are of the last interval. Times of devices: from issue to completion; of dm and md devices: all of it.",
	"write: FUA writes too. queue: all classes.",
};

static unsigned int remark_rows(const struct screen *s, unsigned int row, unsigned int end)
{
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]) && row < end; i++)
		row += screen_wrap(s, (struct area){ row, end - row }, SCREEN_DIM, remarks[i]);
	return row;
}

static void help(const struct screen *s, struct area a)
{
	unsigned int row = a.top, end = a.top + a.rows;

	screen_paint(s, row, SCREEN_TITLE);
	screen_put(s, row++, 1, s->g->cols, SCREEN_FOCUS, "keys (any key closes this)");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && row < end; i++, row++) {
		screen_put(s, row, 1, s->g->cols, SCREEN_KEY, keys[i].key);
		screen_put_cut(s, row, 12, s->g->cols, SCREEN_PLAIN, keys[i].what);
	}
	row = remark_rows(s, row, end);
	if (row + 2 > end)
		return;
	screen_paint(s, row, SCREEN_TITLE);
	screen_put(s, row, 1, s->g->cols, SCREEN_TITLE, "causes: the sync call was ...");
	screen_glossary(s, (struct area){ row + 1, end - row - 1 });
}

/* ---- all ---- */

/* Too small for tables: the answer and where the time went. */
static void small(const struct screen *s)
{
	unsigned int rows = s->g->rows, least = rows > 6 ? rows - 6 : 1, row;

	row = rows > 2 ? screen_outstanding(s, 0) : 0;
	row += verdict(s, (struct area){ row, least });
	if (rows > row + 1)
		screen_ledgers(s, (struct area){ row, rows - 1 - row });
	if (rows > 1) {
		screen_paint(s, rows - 1, SCREEN_PLAIN);
		bottom(s, rows - 1);
	}
}

static void body(const struct screen *s, struct area a)
{
	unsigned int half = a.rows / 2;

	if (s->state->drilled) {
		screen_detail(s, a);
	} else if (!s->state->hist) {
		screen_callers(s, a);
	} else if (s->g->rows < BOTH) {
		screen_hist(s, a);
	} else {
		screen_callers(s, (struct area){ a.top, a.rows - half });
		screen_hist(s, (struct area){ a.top + a.rows - half, half });
	}
}

static void panes(const struct screen *s)
{
	unsigned int rows = s->g->rows, gap = rows >= ROOMY, row = screen_outstanding(s, 0);
	unsigned int most = rows / 6, legend = rows >= ROOMY ? 3 : 2;
	unsigned int devices = s->v->run && s->v->run->n_devices ? (unsigned int)s->v->run->n_devices : 1;

	top(s, row++);
	verdict(s, (struct area){ row, 2 });
	row += 2;
	row += tail(s, row) ? 1 : gap;
	devices = devices < most ? devices : most;
	screen_devices(s, (struct area){ row, 2 + devices });
	row += 2 + devices + gap;
	screen_ledgers(s, (struct area){ row, 3 + legend });
	row += 3 + legend + gap;
	body(s, (struct area){ row, rows - 1 - row });
}

void screen_draw(const struct screen_view *v, struct screen_grid *g)
{
	struct screen s = {
		.v = v,
		.state = v->state,
		.g = g,
		.num = NUM_TIGHT | (v->state->unicode ? 0 : NUM_ASCII),
	};

	screen_grid_size(g, g->rows, g->cols);
	if (!g->rows || !g->cols)
		return;
	if (v->state->help) {
		top(&s, 0);
		help(&s, (struct area){ 1, g->rows - 1 });
	} else if (!is_full(g)) {
		small(&s);
	} else {
		panes(&s);
		bottom(&s, g->rows - 1);
	}
}
