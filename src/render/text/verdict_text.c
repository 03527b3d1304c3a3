// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict_text.c - the answer in words: what it was, what would help most, what that would gain; and
 * further down, for who wants to know, the reasons and whatever else could be done:
 *
 *   Your fsyncs are slow because the drive takes 6.90 ms to empty its write cache: ...
 *     advice     1. Sync less often: ... Risk: ...
 *     without    flush          10.3x faster, for the same work: 669 ms instead of 6.89 s; 410 us instead of 6.90 ms a call
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/text/text.h"
#include "render/whatif_words.h"

#define INDENT 2
#define BODY   13 /* where text_para() puts the words */
#define NAME   13 /* "CPU scheduler", "device.write" */

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

static const char *times(const struct text *t)
{
	return t->o->unicode ? "×" : "x";
}

static void whatif_line(struct text *t, const struct report_whatif *w, const char *label)
{
	struct buf line = { 0 }, b = { 0 };
	size_t width, at = BODY;

	text_raw(t, &line, w->remove ? w->remove : "?");
	width = line.data ? utf8_width(line.data, line.len) : 0;
	if (width <= NAME) {
		buf_fill(&line, GLUE, NAME + 1 - width);
		at += NAME + 2;
	}
	buf_char(&line, ' ');
	whatif_gain(w, times(t), &b);
	buf_str(&b, !b.len ? "" : w->wall_ns ? ", " : ": ");
	if (w->wall_ns)
		buf_printf(&b, "for the same work: %s instead of %s; ", num_duration(w->wall_ns, 0).s,
			   num_duration(t->r->wall_ns, 0).s);
	buf_printf(&b, "%s instead of %s a call", num_duration(w->without_ns, 0).s, num_duration(w->now_ns, 0).s);
	text_figures(t, &line, b.data);
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_DIM, label, BODY - INDENT);
	text_wrap(t, STYLE_PLAIN, line.data, BODY, at);
	buf_free(&line);
	buf_free(&b);
}

/* Those that gain little share a line. */
static void whatif_rest(struct text *t, const struct report_whatif *const *w, size_t n, const char *label)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		text_item_raw(t, &b, "", w[i]->remove ? w[i]->remove : "?");
	if (n) {
		buf_str(&b, ": ");
		whatif_no_gain(w, n, t->o->unicode ? "≤" : "<=", times(t), &b);
		text_para_of(t, label, STYLE_DIM, &b);
	}
}

static void whatif(struct text *t)
{
	size_t lines, n = t->r->n_whatif;
	const struct report_whatif **w = whatif_by_gain(t->r, &lines);
	struct buf b = { 0 };

	if (t->o->verbose)
		lines = n;
	for (size_t i = 0; i < lines; i++)
		whatif_line(t, w[i], i ? "" : "without");
	whatif_rest(t, w + lines, n - lines, lines ? "" : "without");
	whatif_contrast(t->r, &b);
	if (b.len)
		marked(t, "", "", b.data);
	buf_free(&b);
	free(w);
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
