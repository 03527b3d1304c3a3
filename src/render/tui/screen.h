/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * screen.h - what the live screen shows: two reports and what the user has chosen, drawn into a grid of cells. Knows no
 * terminal: the same reports, choice and size give the same cells.
 */
#ifndef BT_RENDER_TUI_SCREEN_H
#define BT_RENDER_TUI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/report.h"

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_TOP,   /* the line at the top */
	SCREEN_TITLE, /* of a pane */
	SCREEN_FOCUS, /* title of the pane that has the keys */
	SCREEN_BOLD,
	SCREEN_DIM,
	SCREEN_WARN,
	SCREEN_CHOSEN, /* the line under the cursor */
	SCREEN_KEY,    /* a key's name */
	SCREEN_FAMILY, /* + enum cause_family */
	SCREEN_STYLES = SCREEN_FAMILY + FAMILY_COUNT
};

struct screen_cell {
	char text[12]; /* one character in UTF-8 with what combines with it, zero-filled */
	uint8_t width; /* 1 or 2 columns; 0: the right half of the cell before */
	uint8_t style;
};

struct screen_grid {
	unsigned int rows, cols;
	struct screen_cell *cell; /* row by row */
};

void screen_grid_size(struct screen_grid *g, unsigned int rows, unsigned int cols); /* blank afterwards */
void screen_grid_free(struct screen_grid *g);

enum screen_pane { PANE_CALLERS, PANE_DEVICES, PANE_HIST, SCREEN_PANES };
enum screen_sort { SORT_TOTAL, SORT_MEAN, SORT_P99, SORT_COUNT, SORT_NAME, SCREEN_SORTS };

#define SCREEN_HISTORY 120 /* intervals */

struct screen_trend { /* of one device */
	char name[32];
	unsigned int n;
	uint64_t flushes[SCREEN_HISTORY]; /* per second, the newest last */
};

/* What the user has chosen, and what the screen remembers of reports that are gone. Start with screen_state_init(). */
struct screen_state {
	bool unicode, color;
	enum screen_pane focus;
	bool help, hist, drilled;
	bool stopping; /* the end was asked for and is waited for */
	enum screen_sort sort;
	bool of_run[SCREEN_PANES]; /* a pane's figures: of the run, or of the last interval */
	char device[32];	   /* chosen; "": the first */
	bool have_caller;	   /* else the first */
	uint32_t pid;
	char *comm;	     /* of the chosen caller; owned */
	unsigned int scroll; /* of what was drilled into */
	struct screen_trend *trend;
	size_t n_trends;
};

void screen_state_init(struct screen_state *s, bool unicode, bool color);
void screen_state_free(struct screen_state *s);

/* Remembers what trends are drawn of. */
void screen_note(struct screen_state *s, const struct report *interval);

struct screen_view {
	const struct report *interval, *run; /* NULL: there is none yet */
	const struct screen_state *state;
};

/* Fills the whole grid. */
void screen_draw(const struct screen_view *v, struct screen_grid *g);

/* Keys: characters as they are, and these. */
/* clang-format off */
enum screen_key {
	SCREEN_UP = 0x1000, SCREEN_DOWN, SCREEN_PAGE_UP, SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_END,
	SCREEN_ENTER, SCREEN_BACK,
};
/* clang-format on */

/* Does what a key asks for in *s, with the reports in sight; true: something may look different now. */
bool screen_press(struct screen_state *s, const struct report *interval, const struct report *run, int key);

#endif
