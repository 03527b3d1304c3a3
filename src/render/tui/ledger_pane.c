// SPDX-License-Identifier: GPL-2.0-only
/*
 * ledger_pane.c - where the sync time went: a bar for the last interval and one for the run, and what their parts are.
 *
 *   sync calls    count     time  where it went (shares: of the run)
 *   last 1s         812    5.79s  █████████▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒
 *   run 10s       8,040    57.9s  ████████▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒
 *   ▓ flush.post 44.5 %  █ flush.pre 41.2 %  █ device.write 6.1 %
 */
#include <string.h>

#include "render/tui/screen_internal.h"

#define COUNT_END 20
#define TIME_END  29
#define BAR_AT	  31
#define NARROW	  60 /* below it the bar alone has to do */

/*
 * A cause looks the same in every bar: its family's colour, and within the family a pattern. Without colours (or
 * Unicode) it is a letter.
 */
/* clang-format off */
static const struct {
	const char *pattern, *letter;
} marks[CAUSE_COUNT] = {
	[CAUSE_CPU] = { "█", "c" },
	[CAUSE_RUNQ] = { "█", "r" },
	[CAUSE_WORKER] = { "▒", "o" },
	[CAUSE_THROTTLE] = { "▒", "t" },
	[CAUSE_TAG] = { "▓", "g" },
	[CAUSE_IOQ] = { "█", "q" },
	[CAUSE_DEVICE_READ] = { "▓", "R" },
	[CAUSE_DEVICE_WRITE] = { "█", "W" },
	[CAUSE_DEVICE_FUA] = { "▒", "U" },
	[CAUSE_DEVICE_DISCARD] = { "░", "D" },
	[CAUSE_DEVICE_OTHER] = { "░", "O" },
	[CAUSE_FLUSH_WAIT] = { "░", "w" },
	[CAUSE_FLUSH_PRE] = { "█", "E" },
	[CAUSE_FLUSH_POST] = { "▓", "F" },
	[CAUSE_FLUSH_ONLY] = { "▒", "L" },
	[CAUSE_COMPLETION] = { "▓", "C" },
	[CAUSE_JOURNAL] = { "█", "J" },
	[CAUSE_LOCK] = { "▒", "k" },
	[CAUSE_UNKNOWN] = { "░", "?" },
};
/* clang-format on */

static const char *mark(const struct screen *s, enum cause c)
{
	return s->state->unicode && s->state->color ? marks[c].pattern : marks[c].letter;
}

static int tint(enum cause c)
{
	return SCREEN_FAMILY + (int)cause_family(c);
}

void screen_bar(const struct screen *s, unsigned int row, unsigned int col, const struct ledger *l)
{
	unsigned int room = s->g->cols > col + 1 ? s->g->cols - 1 - col : 0;
	uint64_t sum = ledger_sum(l), before = 0;

	for (enum cause c = 0; c < CAUSE_COUNT && sum; c++) {
		unsigned int at = (unsigned int)((double)before / (double)sum * room + 0.5), end;

		before += l->ns[c];
		end = (unsigned int)((double)before / (double)sum * room + 0.5);
		for (; at < end; at++)
			screen_put(s, row, col + at, s->g->cols, tint(c), mark(s, c));
	}
}

struct flow {
	struct area a;
	unsigned int row, col;
};

/* The next entry of a legend; false: there is no room left. */
static bool flow(const struct screen *s, struct flow *f, enum cause c, const char *text)
{
	unsigned int width = 2 + (unsigned int)strlen(text);

	if (f->col && f->col + width > s->g->cols) {
		f->row++;
		f->col = 0;
	}
	if (f->row >= f->a.rows)
		return false;
	screen_put(s, f->a.top + f->row, f->col, s->g->cols, tint(c), mark(s, c));
	f->col = 2 + screen_put(s, f->a.top + f->row, f->col + 2, s->g->cols, tint(c), text);
	return true;
}

void screen_legend(const struct screen *s, struct area a, const struct ledger *l)
{
	uint64_t sum = ledger_sum(l);
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);
	struct flow f = { .a = a };
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		buf_clear(&b);
		buf_printf(&b, "%s %s", cause_name(order[i]), num_percent(l->ns[order[i]], sum, 0).s);
		if (!flow(s, &f, order[i], b.data))
			break;
	}
	buf_free(&b);
}

void screen_glossary(const struct screen *s, struct area a)
{
	for (enum cause c = 0; c < CAUSE_COUNT && c < a.rows; c++) {
		unsigned int row = a.top + (unsigned int)c;

		screen_put(s, row, 1, s->g->cols, tint(c), mark(s, c));
		screen_put(s, row, 3, s->g->cols, tint(c), cause_name(c));
		screen_put_cut(s, row, 18, s->g->cols, SCREEN_PLAIN, cause_help(c));
	}
}

void screen_largest(const struct ledger *l, struct buf *b, enum cause_family *f)
{
	enum cause order[CAUSE_COUNT];

	if (!ledger_causes(l, order))
		return;
	*f = cause_family(order[0]);
	buf_printf(b, "%s %s", cause_name(order[0]), num_percent(l->ns[order[0]], ledger_sum(l), 0).s);
}

static void line(const struct screen *s, unsigned int row, const char *name, const struct report *r)
{
	const struct report_sync *sync = r ? &r->sync : NULL;
	bool narrow = s->g->cols < NARROW;
	unsigned int at = narrow ? 11 : BAR_AT;

	screen_put(s, row, narrow ? 0 : 1, at - 1, SCREEN_PLAIN, name);
	if (!sync || !sync->count) {
		screen_put_cut(s, row, narrow ? at : COUNT_END - 1, s->g->cols, SCREEN_DIM,
			       !r	    ? "not yet" :
			       r->have_sync ? "no sync calls" :
					      "sync calls are not traced");
		return;
	}
	if (!narrow) {
		screen_right(s, row, COUNT_END, SCREEN_PLAIN, num_count_fit(sync->count).s);
		screen_right(s, row, TIME_END, SCREEN_PLAIN, screen_time(s, sync->total_ns).s);
	}
	screen_bar(s, row, at, &sync->ledger);
}

void screen_ledgers(const struct screen *s, struct area a)
{
	const struct report *interval = s->v->interval, *run = s->v->run;
	bool narrow = s->g->cols < NARROW;
	struct buf b = { 0 };

	screen_paint(s, a.top, SCREEN_TITLE);
	if (narrow) {
		screen_put(s, a.top, 0, s->g->cols, SCREEN_TITLE, "where the sync time went");
	} else {
		screen_put(s, a.top, 1, s->g->cols, SCREEN_TITLE, "sync calls");
		screen_right(s, a.top, COUNT_END, SCREEN_TITLE, "count");
		screen_right(s, a.top, TIME_END, SCREEN_TITLE, "time");
		screen_put(s, a.top, BAR_AT, s->g->cols, SCREEN_TITLE, "where it went (shares: of the run)");
	}
	buf_printf(&b, "last %s", interval ? screen_span(s, interval->wall_ns).s : "");
	line(s, a.top + 1, b.data, interval);
	buf_clear(&b);
	buf_printf(&b, "run %s", run ? screen_span(s, run->wall_ns).s : "");
	line(s, a.top + 2, b.data, run);
	if (run && a.rows > 3)
		screen_legend(s, (struct area){ a.top + 3, a.rows - 3 }, &run->sync.ledger);
	buf_free(&b);
}
