// SPDX-License-Identifier: GPL-2.0-only
/*
 * detail_pane.c - one caller: its ledger, the files that it synced, its slowest calls of the run:
 *
 *   sqlite3 (4711), the run: 804 calls, 6.29s, mean 7.82ms, p99 24.1ms     Esc: back
 *   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓████████████████▒▒▒▒▒▒▒▒
 *   ▓ flush.post 44.5 %  █ flush.pre 41.2 %
 *   files                                                      time  most of it
 *    test.sqlite-journal                                      5.10s  flush.post 45.1 %
 *     when    took  its slowest calls of the run                 most of it
 *    1.23s  41.0ms  fdatasync /srv/db/test.sqlite-journal        flush.post 53.9 %
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

#define COMM_MAX    16
#define LEGEND_ROWS 2
#define CAUSE_ROOM  19
#define WHEN_END    8
#define TOOK_END    16
#define CALL_AT	    18
#define COMM_ROOM   14

/* ---- the files of a command, out of the leaves ---- */

struct file {
	const char *name; /* in a leaf's path: not terminated */
	size_t len;
	struct ledger ledger;
	uint64_t ns;
};

/* As the first frame of a leaf's path says it. */
static void frame_of(const char *comm, char out[COMM_MAX + 1])
{
	size_t n = 0;

	for (; n < COMM_MAX && comm[n]; n++) {
		unsigned char c = (unsigned char)comm[n];

		out[n] = c == ';' || c < ' ' || c == 0x7f ? '_' : (char)c;
	}
	out[n] = 0;
}

/* The third frame of "command;call;file;..." when the first one is `comm`; false: another command's. */
static bool file_of(const char *path, const char *comm, struct file *out)
{
	size_t n = strlen(comm);
	const char *p;

	if (strncmp(path, comm, n) || path[n] != ';')
		return false;
	p = strchr(path + n + 1, ';');
	if (!p)
		return false;
	out->name = p + 1;
	out->len = strcspn(p + 1, ";");
	return true;
}

static int same_name(const struct file *x, const struct file *y)
{
	int by = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return by ? by : (x->len > y->len) - (x->len < y->len);
}

static int by_name(const void *a, const void *b)
{
	return same_name(a, b);
}

static int by_time(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : same_name(x, y);
}

static size_t merge(struct file *f, size_t n)
{
	size_t kept = 0;

	qsort(f, n, sizeof(*f), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && !same_name(&f[kept - 1], &f[i])) {
			ledger_add(&f[kept - 1].ledger, &f[i].ledger);
			f[kept - 1].ns += f[i].ns;
		} else {
			f[kept++] = f[i];
		}
	}
	qsort(f, kept, sizeof(*f), by_time);
	return kept;
}

static struct file *files_of(const struct report *run, const char *comm, size_t *n)
{
	struct file *out = xcalloc(run->sync.n_leaves, sizeof(*out));
	char first[COMM_MAX + 1];

	*n = 0;
	frame_of(comm, first);
	for (size_t i = 0; i < run->sync.n_leaves; i++) {
		const struct report_leaf *l = &run->sync.leaf[i];

		if (!file_of(l->path, first, &out[*n]))
			continue;
		out[*n].ledger.ns[l->cause] = out[*n].ns = l->ns;
		(*n)++;
	}
	*n = merge(out, *n);
	return out;
}

/* ---- lines, of which a part is in sight ---- */

struct lines {
	struct area a;
	size_t skip, at; /* lines above the sight; lines so far */
};

static bool next_line(struct lines *l, unsigned int *row)
{
	size_t at = l->at++;

	if (at < l->skip || at - l->skip >= l->a.rows)
		return false;
	*row = l->a.top + (unsigned int)(at - l->skip);
	return true;
}

static void cause_at_end(const struct screen *s, unsigned int row, const struct ledger *l)
{
	enum cause_family f = FAMILY_UNKNOWN;
	struct buf b = { 0 };

	screen_largest(l, &b, &f);
	if (b.len)
		screen_put_cut(s, row, s->g->cols - CAUSE_ROOM, s->g->cols, SCREEN_FAMILY + (int)f, b.data);
	buf_free(&b);
}

static size_t namesakes(const struct report *run, const struct report_group *g)
{
	size_t n = 0;

	for (size_t i = 0; i < run->sync.n_processes; i++)
		n += !strcmp(run->sync.process[i].comm, g->comm);
	return n;
}

static void file_lines(const struct screen *s, struct lines *l, const struct report *run, const struct report_group *g)
{
	size_t n;
	struct file *f = files_of(run, g->comm, &n);
	unsigned int row, end = s->g->cols - CAUSE_ROOM;

	if (next_line(l, &row)) {
		screen_put(s, row, 1, end, SCREEN_BOLD,
			   namesakes(run, g) > 1 ? "files, of all callers of this name" : "files");
		screen_right(s, row, end - 2, SCREEN_DIM, "time");
		screen_put(s, row, end, s->g->cols, SCREEN_DIM, "most of it");
	}
	for (size_t i = 0; i < n; i++) {
		char *name;

		if (!next_line(l, &row))
			continue;
		name = xasprintf("%.*s", (int)f[i].len, f[i].name);
		screen_put_raw(s, row, 2, end - 11, SCREEN_PLAIN, name);
		screen_right(s, row, end - 2, SCREEN_PLAIN, screen_time(s, f[i].ns).s);
		cause_at_end(s, row, &f[i].ledger);
		free(name);
	}
	free(f);
}

static void call_line(const struct screen *s, unsigned int row, const struct report_call *c, bool whose)
{
	unsigned int end = s->g->cols - CAUSE_ROOM, col = CALL_AT;

	screen_right(s, row, WHEN_END, SCREEN_DIM, screen_time(s, c->start_ns).s);
	screen_right(s, row, TOOK_END, SCREEN_BOLD, screen_time(s, c->duration_ns).s);
	if (whose) {
		screen_put_raw(s, row, col, col + COMM_ROOM - 1, SCREEN_PLAIN, c->comm && *c->comm ? c->comm : "?");
		col += COMM_ROOM;
	}
	end -= col < end;
	col = screen_put_raw(s, row, col, end, SCREEN_PLAIN, c->call ? c->call : "?") + 1;
	screen_put_path(s, row, col, end, SCREEN_PLAIN, c->path && *c->path ? c->path : c->device ? c->device : "");
	cause_at_end(s, row, &c->ledger);
}

static void call_heads(const struct screen *s, unsigned int row, const char *what)
{
	screen_right(s, row, WHEN_END, SCREEN_DIM, "when");
	screen_right(s, row, TOOK_END, SCREEN_DIM, "took");
	screen_put(s, row, CALL_AT, s->g->cols, SCREEN_BOLD, what);
	screen_put(s, row, s->g->cols - CAUSE_ROOM, s->g->cols, SCREEN_DIM, "most of it");
}

static void slow_lines(const struct screen *s, struct lines *l, const struct report *run, const struct report_group *g)
{
	unsigned int row;

	if (next_line(l, &row))
		call_heads(s, row, "its slowest calls of the run");
	for (size_t i = 0; i < run->sync.n_slowest; i++)
		if (run->sync.slowest[i].pid == g->pid && next_line(l, &row))
			call_line(s, row, &run->sync.slowest[i], false);
}

void screen_slowest(const struct screen *s, struct area a)
{
	const struct report *run = s->v->run;

	if (!run || !run->sync.n_slowest || !a.rows)
		return;
	call_heads(s, a.top, "slowest calls of the run");
	for (unsigned int i = 0; i < run->sync.n_slowest && i + 1 < a.rows; i++)
		call_line(s, a.top + 1 + i, &run->sync.slowest[i], true);
}

static const struct report_group *caller(const struct screen_state *state, const struct report *run)
{
	for (size_t i = 0; run && i < run->sync.n_processes; i++)
		if (screen_is_caller(state, &run->sync.process[i]))
			return &run->sync.process[i];
	return NULL;
}

size_t screen_detail_lines(const struct screen_state *state, const struct report *run)
{
	const struct report_group *g = caller(state, run);
	size_t n = 0;

	if (!g)
		return 0;
	free(files_of(run, g->comm, &n));
	for (size_t i = 0; i < run->sync.n_slowest; i++)
		n += run->sync.slowest[i].pid == g->pid;
	return n + 2;
}

static void title(const struct screen *s, unsigned int row, const struct report_group *g)
{
	struct buf b = { 0 };

	utf8_escape(&b, *g->comm ? g->comm : "?", s->state->unicode);
	if (g->pid)
		buf_printf(&b, " (%u)", g->pid);
	buf_printf(&b, ", the run: %s %s, %s", num_count(g->count).s, g->count == 1 ? "call" : "calls",
		   screen_time(s, g->total_ns).s);
	buf_printf(&b, ", mean %s", screen_time(s, tally_mean(&g->latency)).s);
	buf_printf(&b, ", p99 %s", screen_tally_quantile(s, &g->latency, 0.99).s);
	screen_title(s, row, PANE_CALLERS, b.data);
	screen_right(s, row, s->g->cols, SCREEN_TITLE, " Esc: back");
	buf_free(&b);
}

void screen_detail(const struct screen *s, struct area a)
{
	const struct report *run = s->v->run;
	const struct report_group *g = caller(s->state, run);
	unsigned int head = 2 + LEGEND_ROWS;
	struct lines l = { .skip = s->state->scroll };

	if (!g) {
		screen_title(s, a.top, PANE_CALLERS, "this caller is no longer among those that are kept (Esc: back)");
		return;
	}
	title(s, a.top, g);
	screen_bar(s, a.top + 1, 1, &g->ledger);
	screen_legend(s, (struct area){ a.top + 2, LEGEND_ROWS }, &g->ledger);
	if (a.rows <= head)
		return;
	l.a = (struct area){ a.top + head, a.rows - head };
	file_lines(s, &l, run, g);
	slow_lines(s, &l, run, g);
}
