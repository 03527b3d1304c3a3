// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_text.c - whose sync calls, on which files, and the slowest ones, each with its own ledger:
 *
 *   sync calls by process                      count     total      mean       p99
 *     sqlite3 (4711)                             804    6.29 s   7.82 ms   24.1 ms
 *       flush.post 44.5 %, flush.pre 41.2 %, device.write 6.1 %
 *
 *   slowest sync calls: when, how long, who
 *       1.23 s   41.0 ms  sqlite3 (4711) fdatasync /srv/db/test.sqlite-journal
 *                         flush.post 22.1 ms, flush.pre 15.0 ms, 4 others 120 us
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/text/text.h"

#define INDENT	     2
#define TITLE	     42
#define FIGURES	     38
#define GROUPS_SHOWN 5
#define CAUSES_GROUP 4
#define CAUSES_CALL  5
#define CALL_AT	     22

/* --- causes as words --- */

struct flow {
	size_t at, column; /* where lines begin, where this one has got to */
};

/* The next one of a list, on this line if it and the comma behind it fit. */
static void flow(struct text *t, struct flow *f, enum cause_family family, const char *s)
{
	size_t width = utf8_width(s, strlen(s));

	if (f->column > f->at) {
		buf_char(t->out, ',');
		if (f->column + 2 + width + 1 <= t->width) {
			buf_char(t->out, ' ');
			f->column += 2;
		} else {
			buf_char(t->out, '\n');
			f->column = 0;
		}
	}
	if (f->column < f->at) {
		text_pad(t, f->column, f->at);
		f->column = f->at;
	}
	text_tinted(t, family, s);
	f->column += width;
}

/* "flush.post 44.5 %, flush.pre 41.2 %": the largest causes of a group */
static void shares(struct text *t, const struct ledger *l, size_t at)
{
	uint64_t sum = ledger_sum(l);
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);
	struct flow f = { .at = at };

	for (size_t i = 0; i < n; i++) {
		struct buf b = { 0 };

		if (!t->o->verbose && (i == CAUSES_GROUP || l->ns[order[i]] < sum / 100))
			break;
		buf_printf(&b, "%s %s", cause_name(order[i]), num_percent(l->ns[order[i]], sum, 0).s);
		flow(t, &f, cause_family(order[i]), b.data);
		buf_free(&b);
	}
	if (n)
		buf_char(t->out, '\n');
}

/* "flush.post 22.1 ms, device.write 1.02 ms, 4 others 120 us": all of a call */
static void times(struct text *t, const struct ledger *l, size_t at)
{
	uint64_t rest = ledger_sum(l), least = rest / 100;
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order), i;
	struct flow f = { .at = at };
	struct buf b = { 0 };

	for (i = 0; i < n; i++) {
		uint64_t ns = l->ns[order[i]];

		if (!t->o->verbose && i + 1 < n && (i == CAUSES_CALL || ns < least))
			break;
		buf_clear(&b);
		buf_printf(&b, "%s %s", cause_name(order[i]), num_duration(ns, t->num).s);
		flow(t, &f, cause_family(order[i]), b.data);
		rest -= ns;
	}
	if (i < n) {
		buf_clear(&b);
		buf_printf(&b, "%zu others %s", n - i, num_duration(rest, t->num).s);
		flow(t, &f, FAMILY_HOST, b.data);
	}
	if (n)
		buf_char(t->out, '\n');
	buf_free(&b);
}

/* --- by process, by file --- */

void text_who(struct text *t, struct buf *b, const char *comm, uint32_t pid, uint32_t tid)
{
	text_raw(t, b, comm && *comm ? comm : "?");
	if (!pid)
		return; /* those that have no line of their own */
	buf_printf(b, " (%u", pid);
	if (tid && tid != pid)
		buf_printf(b, ", thread %u", tid);
	buf_char(b, ')');
}

void text_file(struct text *t, struct buf *b, const char *path, const char *device)
{
	text_raw(t, b, path && *path ? path : "(no file)");
	if (!device)
		return;
	buf_str(b, " (");
	text_raw(t, b, device);
	buf_char(b, ')');
}

static void figures(struct text *t, const struct report_group *g)
{
	uint64_t mean = g->count ? (g->total_ns + g->count / 2) / g->count : 0;
	uint64_t p99 = tally_quantile(&g->latency, 0.99);

	text_right(t, STYLE_PLAIN, num_count_fit(g->count).s, 8);
	text_right(t, STYLE_PLAIN, num_duration(g->total_ns, t->num).s, 10);
	text_right(t, STYLE_PLAIN, g->count ? num_duration(mean, t->num).s : "-", 10);
	text_right(t, STYLE_PLAIN, g->latency.count ? num_duration(p99, t->num).s : "-", 10);
	buf_char(t->out, '\n');
}

/* A name that is too long has lines of its own. */
static void group(struct text *t, const struct report_group *g, bool process, size_t title)
{
	struct buf b = { 0 };

	if (process)
		text_who(t, &b, g->comm, g->pid, 0);
	else
		text_file(t, &b, g->path, g->device);
	text_pad(t, 0, INDENT);
	if (INDENT + utf8_width(b.data, b.len) > title) {
		text_wrap(t, STYLE_PLAIN, b.data, INDENT, 2 * INDENT);
		text_pad(t, 0, title);
	} else {
		text_left(t, STYLE_PLAIN, b.data, title - INDENT);
	}
	figures(t, g);
	shares(t, &g->ledger, 2 * INDENT);
	buf_free(&b);
}

/* Most time first; equal ones in the report's order. */
static size_t *by_time(const struct report_group *g, size_t n)
{
	size_t *order = xcalloc(n + 1, sizeof(*order));

	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at && g[order[at - 1]].total_ns < g[i].total_ns; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return order;
}

static void others(struct text *t, const struct report_group *g, const size_t *order, size_t n, size_t title)
{
	uint64_t count = 0, total = 0;
	struct buf b = { 0 };

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		count += g[order[i]].count;
		total += g[order[i]].total_ns;
	}
	buf_printf(&b, "and %zu more", n);
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_DIM, b.data, title - INDENT);
	text_right(t, STYLE_DIM, num_count_fit(count).s, 8);
	text_right(t, STYLE_DIM, num_duration(total, t->num).s, 10);
	buf_char(t->out, '\n');
	buf_free(&b);
}

static void groups(struct text *t, const char *name, const struct report_group *g, size_t n, bool process)
{
	size_t shown = t->o->verbose || n < GROUPS_SHOWN ? n : GROUPS_SHOWN;
	size_t title = t->width < TITLE + FIGURES ? t->width - FIGURES : TITLE, *order;

	if (!n)
		return;
	order = by_time(g, n);
	buf_char(t->out, '\n');
	text_left(t, STYLE_HEAD, name, title);
	text_style(t, STYLE_DIM, "   count     total      mean       p99\n");
	for (size_t i = 0; i < shown; i++)
		group(t, &g[order[i]], process, title);
	others(t, g, order + shown, n - shown, title);
	free(order);
}

/* --- the slowest --- */

static void slow_call(struct text *t, const struct report_call *c)
{
	struct buf b = { 0 };

	text_right(t, STYLE_DIM, num_duration(c->start_ns, t->num).s, 10);
	text_right(t, STYLE_HEAD, num_duration(c->duration_ns, t->num).s, 10);
	text_pad(t, 0, 2);
	text_who(t, &b, c->comm, c->pid, c->tid);
	buf_char(&b, ' ');
	text_raw(t, &b, c->call ? c->call : "?");
	if (c->path || c->device) {
		buf_char(&b, ' ');
		text_file(t, &b, c->path, c->path ? NULL : c->device);
	}
	text_wrap(t, STYLE_PLAIN, b.data, CALL_AT, CALL_AT);
	times(t, &c->ledger, CALL_AT);
	buf_free(&b);
}

static void slowest(struct text *t, const struct report_sync *s)
{
	if (!s->n_slowest || t->o->quiet)
		return;
	buf_char(t->out, '\n');
	text_style(t, STYLE_HEAD, "slowest sync calls");
	text_style(t, STYLE_DIM, ": when in the run, how long, who, what for\n");
	for (size_t i = 0; i < s->n_slowest && i < REPORT_SLOWEST; i++)
		slow_call(t, &s->slowest[i]);
}

void text_calls(struct text *t)
{
	const struct report_sync *s = &t->r->sync;

	groups(t, "sync calls by process", s->process, s->n_processes, true);
	groups(t, "sync calls by file", s->file, s->n_files, false);
	slowest(t, s);
}
