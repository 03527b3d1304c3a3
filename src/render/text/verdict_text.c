// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict_text.c - the answer in words: what it was, what would help most, what that would gain; and
 * further down, for who wants to know, the reasons and whatever else could be done:
 *
 *   Your fsyncs are slow because the drive takes 6.90 ms to empty its write cache: ...
 *     advice     1. Sync less often: ... Risk: ...
 *     without    flush          669 ms instead of 6.89 s, 10.3x faster
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/text/text.h"

#define INDENT	     2
#define BODY	     13	  /* where text_para() puts the words */
#define NAME	     13	  /* "CPU scheduler", "device.write" */
#define WORTH_A_LINE 1.05 /* a what-if that gains less is told in passing */

/* A paragraph that starts with a mark, its further lines under its words. */
static void marked(struct text *t, const char *label, const char *mark, const char *raw)
{
	size_t at = BODY + utf8_width(mark, strlen(mark));
	struct buf b = { 0 };

	text_figures(t, &b, raw);
	if (*raw) {
		text_pad(t, 0, INDENT);
		text_left(t, STYLE_DIM, label, BODY - INDENT);
		text_style(t, STYLE_DIM, mark);
		text_wrap(t, STYLE_PLAIN, b.data, at, at);
	}
	buf_free(&b);
}

static void sentence(struct text *t, const struct report_verdict *v)
{
	const char *raw = v->sentence ? v->sentence : v->class;
	struct buf b = { 0 };

	if (raw && *raw)
		text_figures(t, &b, raw);
	if (b.data)
		text_wrap(t, STYLE_HEAD, b.data, 0, 0);
	buf_free(&b);
}

/* Advice [from, to), numbered when there is more than one. */
static void advice(struct text *t, const struct report_verdict *v, size_t from, size_t to)
{
	size_t n = strv_len(v->advice);

	for (size_t i = from; i < to && i < n; i++) {
		char mark[24] = "";

		if (n > 1)
			snprintf(mark, sizeof(mark), "%zu. ", i + 1);
		marked(t, i == from ? "advice" : "", mark, v->advice[i]);
	}
}

/* --- what-if --- */

/* "10.3x", without a locale's decimal comma */
static void times(struct text *t, struct buf *b, double x)
{
	buf_str(b, num_ratio((uint64_t)(fmin(x, 1e12) * 1000 + 0.5), 1000).s);
	buf_str(b, t->o->unicode ? "×" : "x");
}

/* Most gain first; equal ones in the report's order. */
static void sort_whatif(const struct report *r, size_t *order)
{
	for (size_t i = 0; i < r->n_whatif; i++) {
		size_t at = i;

		for (; at && r->whatif[order[at - 1]].wall_ns > r->whatif[i].wall_ns; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void whatif_line(struct text *t, const struct report_whatif *w, const char *label)
{
	struct buf b = { 0 };
	size_t width;

	text_raw(t, &b, w->remove ? w->remove : "?");
	width = b.data ? utf8_width(b.data, b.len) : 0;
	if (width <= NAME)
		buf_fill(&b, GLUE, NAME + 1 - width);
	buf_char(&b, ' ');
	text_dur(t, &b, w->wall_ns);
	buf_str(&b, " instead of ");
	text_dur(t, &b, t->r->wall_ns);
	if (isfinite(w->speedup) && w->speedup > 0) {
		buf_str(&b, ", ");
		times(t, &b, w->speedup);
		buf_str(&b, w->speedup < 1 ? " as fast" : " faster");
	}
	text_para(t, label, STYLE_PLAIN, b.data);
	buf_free(&b);
}

static void whatif(struct text *t)
{
	const struct report *r = t->r;
	size_t *order = xcalloc(r->n_whatif + 1, sizeof(*order)), shown = 0;
	struct buf rest = { 0 }, b = { 0 };
	double most = 0;

	sort_whatif(r, order);
	for (size_t i = 0; i < r->n_whatif; i++) {
		const struct report_whatif *w = &r->whatif[order[i]];

		if (t->o->verbose || w->speedup >= WORTH_A_LINE) {
			whatif_line(t, w, shown++ ? "" : "without");
			continue;
		}
		if (isfinite(w->speedup))
			most = fmax(most, w->speedup);
		text_item(&rest, "%s", "");
		text_raw(t, &rest, w->remove ? w->remove : "?");
	}
	if (rest.len) {
		buf_add(&b, rest.data, rest.len);
		buf_str(&b, ": hardly a difference, ");
		times(t, &b, most);
		buf_str(&b, " at most");
		text_para(t, shown ? "" : "without", STYLE_DIM, b.data);
	}
	buf_free(&rest);
	buf_free(&b);
	free(order);
}

/* Only where the slowest calls are far from the others: there is a slowest hundredth of everything. */
static void tail(struct text *t, const struct report_tail *tail)
{
	struct buf b = { 0 };

	if (!tail->sentence || tail->total_ns / tail->count < REPORT_TAIL_FAR * tail->median_ns)
		return;
	text_figures(t, &b, tail->sentence);
	text_wrap(t, STYLE_PLAIN, b.data, 0, 0);
	buf_free(&b);
}

void text_verdict(struct text *t)
{
	const struct report *r = t->r;

	if (r->have_verdict) {
		sentence(t, &r->verdict);
		tail(t, &r->sync.tail);
	}
	if (text_compact(t))
		return;
	if (r->have_verdict)
		advice(t, &r->verdict, 0, 1);
	whatif(t);
}

void text_reasons(struct text *t)
{
	const struct report_verdict *v = &t->r->verdict;

	if (!t->r->have_verdict || text_compact(t))
		return;
	for (size_t i = 0; v->evidence && v->evidence[i]; i++)
		marked(t, i ? "" : "evidence", t->o->unicode ? "• " : "- ", v->evidence[i]);
	if (strv_len(v->advice) > 1)
		buf_char(t->out, '\n');
	advice(t, v, 1, SIZE_MAX);
}
