// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_text.c - the score, its rows, and the cause that each row's syncs waited for most:
 *
 *   sqlite: 154 inserts a second (12,500 in 81.2 s)
 *                            per s      p50      p99    MiB/s  its syncs' cause
 *   inserts                    154  6.42 ms  7.11 ms        -  flush.only 71.3%
 */
#include <string.h>

#include "render/render_documents.h"
#include "render/text/text.h"

#define INDENT 2
#define NAME   22
#define COUNT  8
#define TIME   9

/* "14.2", "632,807" */
static struct num per_second(uint64_t n, uint64_t ns)
{
	uint64_t rate = ns ? (uint64_t)((double)n * 1e9 / (double)ns + 0.5) : 0;

	return rate < 1000 ? num_ratio(n * 1000, ns / 1000000) : num_count(rate);
}

static void score(struct text *t, const struct bench *b)
{
	struct buf s = { 0 };

	buf_printf(&s, "%s: ", b->workload);
	if (b->unit && b->wall_ns) {
		text_num(&s, per_second(b->score_ops, b->wall_ns));
		buf_printf(&s, " %s a second (%s in ", b->unit, num_count(b->score_ops).s);
		text_dur(t, &s, b->wall_ns);
		buf_char(&s, ')');
	} else {
		buf_str(&s, b->summary);
	}
	text_wrap(t, STYLE_HEAD, s.data, 0, INDENT);
	buf_free(&s);
}

static void circumstances(struct text *t, const struct bench *b)
{
	struct buf s = { 0 };

	text_raw(t, &s, b->dir);
	text_para_of(t, "in", STYLE_PLAIN, &s);
	text_item_raw(t, &s, "", b->tool);
	for (size_t i = 0; b->settings && b->settings[i]; i++) {
		text_item(&s, "%s", "");
		text_figures(t, &s, b->settings[i]);
	}
	text_para(t, "with", STYLE_PLAIN, s.data ? s.data : "");
	buf_clear(&s);
	buf_printf(&s, "%s sync call%s by its own count, ", num_count(b->syncs).s, num_plural(b->syncs));
	if (b->uncounted)
		buf_printf(&s, "at most %s more that it does not tell, ", num_count(b->uncounted).s);
	buf_printf(&s, "%s traced", num_count(b->report.sync.count + b->report.sync.no_ledger).s);
	text_para_of(t, "syncs", STYLE_PLAIN, &s);
}

static void heads(struct text *t, bool traced)
{
	buf_char(t->out, '\n');
	text_pad(t, 0, INDENT + NAME);
	text_right(t, STYLE_DIM, "per s", COUNT);
	text_right(t, STYLE_DIM, "p50", TIME);
	text_right(t, STYLE_DIM, "p99", TIME);
	text_right(t, STYLE_DIM, "MiB/s", TIME);
	if (traced)
		text_style(t, STYLE_DIM, "  its syncs' cause");
	buf_char(t->out, '\n');
}

/* "flush.only 71.3%" */
static void most(struct text *t, const struct ledger *l)
{
	enum cause order[CAUSE_COUNT];
	struct buf s = { 0 };

	if (!ledger_causes(l, order))
		return;
	buf_printf(&s, "  %s %s", cause_name(order[0]), num_percent(l->ns[order[0]], ledger_sum(l), NUM_TIGHT).s);
	text_tinted(t, cause_family(order[0]), s.data);
	buf_free(&s);
}

static void time(struct text *t, uint64_t ns)
{
	text_right(t, STYLE_PLAIN, num_duration(ns, t->num).s, TIME);
}

static void row(struct text *t, const struct bench_row *r)
{
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, r->name, NAME);
	if (r->missing) {
		text_style(t, STYLE_DIM, "  ");
		text_wrap(t, STYLE_DIM, r->missing, INDENT + NAME + 2, INDENT + NAME + 2);
		return;
	}
	text_right(t, STYLE_HEAD, per_second(r->ops, r->wall_ns).s, COUNT);
	time(t, r->each.p50);
	time(t, r->each.p99);
	text_right(t, STYLE_PLAIN,
		   r->bytes && r->wall_ns ?
			   num_ratio((uint64_t)((double)r->bytes * 1e12 / (double)r->wall_ns), 1000ull << 20).s :
			   "-",
		   TIME);
	/* a single one is the preparation's */
	if (r->traced && r->traced->count > 1)
		most(t, &r->traced->ledger);
	buf_char(t->out, '\n');
}

void render_bench_text(const struct bench *b, const struct render_opts *o, struct buf *out)
{
	struct text t = text_start(&b->report, o, out);
	bool traced = false;

	for (size_t i = 0; i < b->n_rows; i++)
		traced |= b->row[i].traced != NULL;
	score(&t, b);
	circumstances(&t, b);
	heads(&t, traced);
	for (size_t i = 0; i < b->n_rows; i++)
		row(&t, &b->row[i]);
	buf_char(out, '\n');
}
