// SPDX-License-Identifier: GPL-2.0-only
/* keys.c - what the user has chosen, and how keys change it. */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

#define PAGE 10

void screen_state_init(struct screen_state *s, bool unicode, bool color)
{
	*s = (struct screen_state){
		.unicode = unicode,
		.color = color,
		/* who syncs is asked of the run; how the disks do, of now */
		.of_run = { [PANE_CALLERS] = true, [PANE_HIST] = true },
	};
}

void screen_state_free(struct screen_state *s)
{
	free(s->comm);
	free(s->trend);
	memset(s, 0, sizeof(*s));
}

/* ---- trends ---- */

static struct screen_trend *trend_for(struct screen_state *s, const char *name)
{
	struct screen_trend *t;

	for (size_t i = 0; i < s->n_trends; i++)
		if (!strcmp(s->trend[i].name, name))
			return &s->trend[i];
	t = grow((void **)&s->trend, &s->n_trends, sizeof(*t));
	memcpy(t->name, name, strlen(name) + 1);
	return t;
}

static void push(struct screen_trend *t, uint64_t flushes)
{
	if (t->n == SCREEN_HISTORY) {
		memmove(t->flushes, t->flushes + 1, (SCREEN_HISTORY - 1) * sizeof(t->flushes[0]));
		t->n--;
	}
	t->flushes[t->n++] = flushes;
}

void screen_note(struct screen_state *s, const struct report *interval)
{
	for (size_t i = 0; i < interval->n_devices; i++)
		trend_for(s, interval->device[i].name);
	/* a disk that is left out of a report did nothing in it */
	for (size_t i = 0; i < s->n_trends; i++) {
		const struct report_device *d = screen_device(interval, s->trend[i].name);

		push(&s->trend[i], d ? screen_rate(d->op[OP_FLUSH].count, interval->wall_ns) : 0);
	}
}

/* ---- choosing ---- */

static const struct report *scope(const struct screen_state *s, enum screen_pane pane, const struct report *interval,
				  const struct report *run)
{
	return s->of_run[pane] ? run : interval;
}

static void choose_caller(struct screen_state *s, const struct report_group *g)
{
	free(s->comm);
	s->comm = xstrdup(g->comm);
	s->pid = g->pid;
	s->have_caller = true;
}

static size_t moved(size_t at, size_t n, int key)
{
	size_t last = n ? n - 1 : 0;

	switch (key) {
	case SCREEN_UP: return at ? at - 1 : 0;
	case SCREEN_DOWN: return at < last ? at + 1 : last;
	case SCREEN_PAGE_UP: return at > PAGE ? at - PAGE : 0;
	case SCREEN_PAGE_DOWN: return at + PAGE < last ? at + PAGE : last;
	case SCREEN_HOME: return 0;
	default: return last;
	}
}

static void move_caller(struct screen_state *s, const struct report *r, int key)
{
	size_t n;
	const struct report_group **order = screen_sorted(s, r, &n);

	if (n)
		choose_caller(s, order[moved(screen_chosen_caller(s, order, n), n, key)]);
	free(order);
}

static void move_device(struct screen_state *s, const struct report *run, int key)
{
	size_t at;

	if (!screen_chosen_device(s, run, &at))
		return;
	at = moved(at, run->n_devices, key);
	memcpy(s->device, run->device[at].name, sizeof(s->device));
}

static void move(struct screen_state *s, const struct report *interval, const struct report *run, int key)
{
	if (s->drilled)
		s->scroll = (unsigned int)moved(s->scroll, screen_detail_lines(s, run), key);
	else if (s->focus == PANE_CALLERS)
		move_caller(s, scope(s, PANE_CALLERS, interval, run), key);
	else
		move_device(s, run, key);
}

/* ---- keys ---- */

static void enter(struct screen_state *s, const struct report *r)
{
	size_t n;
	const struct report_group **order;

	if (s->focus == PANE_DEVICES) {
		s->hist = true;
		return;
	}
	if (s->focus != PANE_CALLERS || s->drilled)
		return;
	order = screen_sorted(s, r, &n);
	if (n) {
		choose_caller(s, order[screen_chosen_caller(s, order, n)]);
		s->drilled = true;
		s->hist = false;
		s->scroll = 0;
	}
	free(order);
}

static void next_pane(struct screen_state *s)
{
	do
		s->focus = (s->focus + 1) % SCREEN_PANES;
	while (s->focus == PANE_HIST && !s->hist);
}

/* What covers the rest goes first. */
static void back(struct screen_state *s)
{
	if (s->drilled)
		s->drilled = false;
	else
		s->hist = false;
	if (s->focus == PANE_HIST)
		s->focus = PANE_CALLERS;
}

static void toggle_hist(struct screen_state *s)
{
	s->hist = !s->hist;
	if (s->hist)
		s->drilled = false;
	else if (s->focus == PANE_HIST)
		s->focus = PANE_CALLERS;
}

/* As in vi and in less. */
static int plain_key(int key)
{
	switch (key) {
	case 'k': return SCREEN_UP;
	case 'j': return SCREEN_DOWN;
	case 'g': return SCREEN_HOME;
	case 'G': return SCREEN_END;
	case '\r':
	case '\n': return SCREEN_ENTER;
	case 27:
	case 127:
	case '\b': return SCREEN_BACK;
	default: return key;
	}
}

bool screen_press(struct screen_state *s, const struct report *interval, const struct report *run, int key)
{
	key = plain_key(key);
	if (s->help) {
		s->help = false;
		return true;
	}
	switch (key) {
	case '?': s->help = true; return true;
	case '\t': next_pane(s); return true;
	case 's': s->sort = (s->sort + 1) % SCREEN_SORTS; return true;
	case 'h': toggle_hist(s); return true;
	case 'i': s->of_run[s->focus] = !s->of_run[s->focus]; return true;
	case SCREEN_ENTER: enter(s, scope(s, PANE_CALLERS, interval, run)); return true;
	case SCREEN_BACK: back(s); return true;
	case SCREEN_UP:
	case SCREEN_DOWN:
	case SCREEN_PAGE_UP:
	case SCREEN_PAGE_DOWN:
	case SCREEN_HOME:
	case SCREEN_END: move(s, interval, run, key); return true;
	default: return false;
	}
}
