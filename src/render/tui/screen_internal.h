/* SPDX-License-Identifier: GPL-2.0-only */
/* screen_internal.h - what the files of the live screen share. Private to them. */
#ifndef BT_RENDER_TUI_SCREEN_INTERNAL_H
#define BT_RENDER_TUI_SCREEN_INTERNAL_H

#include "util/buf.h"
#include "util/num.h"
#include "render/tui/screen.h"
#include "util/utf8.h"

struct screen {
	const struct screen_view *v;
	const struct screen_state *state;
	struct screen_grid *g;
	unsigned int num; /* flags for tight numbers */
};

/* Some rows over the full width. */
struct area {
	unsigned int top, rows;
};

/* ---- grid.c: all of it clips ---- */

/* Writes s, already escaped, into the columns [col, end); returns the column behind it. */
unsigned int screen_put(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			const char *text);
/* The same; what does not fit is marked as cut. */
unsigned int screen_put_cut(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			    const char *text);
/* Raw bytes of the world: escaped, cut. */
unsigned int screen_put_raw(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			    const char *raw);
/* The same for paths: what does not fit is cut at its beginning. */
void screen_put_path(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
		     const char *raw);
/* Right-aligned before column `end`; returns where it begins. */
unsigned int screen_right(const struct screen *s, unsigned int row, unsigned int end, int style, const char *text);
/* The whole row gets this style; what stands there stays. */
void screen_paint(const struct screen *s, unsigned int row, int style);
/* The columns before `end` are under the cursor. */
void screen_choose(const struct screen *s, unsigned int row, unsigned int end);
/* Wraps at blanks over at most a.rows rows, the last one cut; returns the rows used. */
unsigned int screen_wrap(const struct screen *s, struct area a, int style, const char *text);
/* A pane's title. */
unsigned int screen_title(const struct screen *s, unsigned int row, enum screen_pane pane, const char *text);

/* ---- scope.c: what panes share ---- */

/* The report that a pane's figures are of; NULL: there is none yet. "the last 1 s" or "the run" */
const struct report *screen_scope(const struct screen *s, enum screen_pane pane);
void screen_scope_name(const struct screen *s, enum screen_pane pane, struct buf *b);
struct num screen_time(const struct screen *s, uint64_t ns);
struct num screen_span(const struct screen *s, uint64_t ns); /* of a report: "1s" also when it is off by a little */
struct num screen_quantile(const struct screen *s, const struct hist *h, double q); /* "-": no values */
struct num screen_tally_quantile(const struct screen *s, const struct tally *t, double q);
uint64_t screen_rate(uint64_t count, uint64_t wall_ns);
/* The first row of a list to show so that the chosen one is among `room`. */
size_t screen_first(size_t chosen, size_t room);

/* ---- ledger_pane.c ---- */

/* A bar of causes from col up to the right edge, and what its parts mean, the largest of `l` first. */
void screen_bar(const struct screen *s, unsigned int row, unsigned int col, const struct ledger *l);
void screen_legend(const struct screen *s, struct area a, const struct ledger *l);
void screen_glossary(const struct screen *s, struct area a); /* of every cause */
void screen_ledgers(const struct screen *s, struct area a);  /* the pane */
/* "flush.post 44.5 %": the largest; NULL-safe for nothing: "". Its family in *f. */
void screen_largest(const struct ledger *l, struct buf *b, enum cause_family *f);

/* ---- outstanding_line.c ---- */

/* Calls that have not returned, in a row; returns the rows used: none where there are none. */
unsigned int screen_outstanding(const struct screen *s, unsigned int row);

/* ---- devices_pane.c, callers_pane.c, detail_pane.c, histogram_pane.c ---- */

void screen_devices(const struct screen *s, struct area a);
void screen_callers(const struct screen *s, struct area a);
void screen_detail(const struct screen *s, struct area a);
void screen_slowest(const struct screen *s, struct area a); /* calls of the run, whoever's */
void screen_hist(const struct screen *s, struct area a);

const struct report_device *screen_device(const struct report *r, const char *name); /* NULL: not in r, or no r */
const struct report_device *screen_chosen_device(const struct screen_state *state, const struct report *r, size_t *at);
/* Processes in the order of the table; *n of them; to be freed. */
const struct report_group **screen_sorted(const struct screen_state *state, const struct report *r, size_t *n);
bool screen_is_caller(const struct screen_state *state, const struct report_group *g); /* the chosen one */
size_t screen_chosen_caller(const struct screen_state *state, const struct report_group *const *order, size_t n);
/* How many lines there are to scroll through. */
size_t screen_detail_lines(const struct screen_state *state, const struct report *run);

#endif
