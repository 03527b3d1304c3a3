// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush_profile_text.c - barrier cards: is the flush believable and why, then a line per test:
 *
 *                                    calls  flush p50      p90      max   call p50      p99
 *   nothing written                     24    3.04 ms  3.06 ms  3.11 ms    3.10 ms  3.31 ms
 */
#include <stdio.h>
#include <string.h>

#include "render/render_documents.h"
#include "render/text/text.h"

#define INDENT 2
#define NAME   26
#define COUNT  7
#define TIME   10

static const enum style grade_styles[CARD_GRADES] = {
	[CARD_BELIEVABLE] = STYLE_HEAD, [CARD_DOUBTFUL] = STYLE_WARN, [CARD_IMPOSSIBLE] = STYLE_WARN,
	[CARD_NO_FLUSH] = STYLE_WARN,	[CARD_UNKNOWN] = STYLE_DIM,
};

static void figures(struct text *t, enum style style, const char *label, const char *raw)
{
	struct buf b = { 0 };

	text_figures(t, &b, raw);
	if (label)
		text_para_of(t, label, style, &b);
	else
		text_wrap(t, style, b.data, 0, 0);
	buf_free(&b);
}

/* ---- the disk ---- */

static void disk(struct text *t, const struct card *c, const char *label)
{
	struct buf b = { 0 };

	text_item_raw(t, &b, "", c->name);
	text_item_raw(t, &b, "", c->model);
	text_item_raw(t, &b, "firmware ", c->firmware);
	if (c->size) {
		text_item(&b, "%s", "");
		text_num(&b, num_bytes(c->size, 0));
	}
	text_item_raw(t, &b, "", c->write_cache);
	if (c->have_fua)
		text_item(&b, c->fua ? "FUA" : "no FUA");
	text_item(&b, "%s", card_medium_name(c->medium));
	text_item_raw(t, &b, "scheduler ", c->scheduler);
	text_item_raw(t, &b, "", c->fstype);
	text_para_of(t, label, STYLE_PLAIN, &b);
}

static void when(struct text *t, const struct card *c)
{
	struct buf b = { 0 };

	text_item_raw(t, &b, "Linux ", c->kernel);
	text_item_raw(t, &b, "", c->start);
	text_item_raw(t, &b, "barriertrace ", c->version);
	text_para_of(t, "on", STYLE_PLAIN, &b);
	if (c->lost) {
		buf_printf(&b, "%s event%s lost: not every call is in the rows", num_count(c->lost).s,
			   c->lost == 1 ? " was" : "s were");
		text_para_of(t, "lost", STYLE_WARN, &b);
	}
}

/* ---- the tests ---- */

static void test_name(const struct text *t, const struct card_row *r, char *name, size_t n)
{
	struct num bytes = num_bytes(r->param, 0);

	switch (r->test) {
	case CARD_DIRTY: snprintf(name, n, r->param ? "%s written" : "nothing written", bytes.s); break;
	case CARD_FLUSH: snprintf(name, n, "%s, then fdatasync", bytes.s); break;
	case CARD_FUA: snprintf(name, n, "%s with O_DSYNC", bytes.s); break;
	case CARD_DEPTH:
		snprintf(name, n, r->param == 1 ? "beside %s writer" : "beside %s writers", num_count(r->param).s);
		break;
	case CARD_BUSY: snprintf(name, n, "beside writes of %s", bytes.s); break;
	case CARD_IDLE: snprintf(name, n, "after %s of rest", num_duration(r->param, t->num).s); break;
	default: snprintf(name, n, "%s freed before", bytes.s); break;
	}
}

static void heads(struct text *t)
{
	static const char *const names[] = { "flush p50", "p90", "max", "call p50", "max" };

	buf_char(t->out, '\n');
	text_pad(t, 0, INDENT + NAME);
	text_right(t, STYLE_DIM, "calls", COUNT);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		text_right(t, STYLE_DIM, names[i], TIME);
	buf_char(t->out, '\n');
}

static void time(struct text *t, enum style style, const struct hist *h, double q)
{
	text_right(t, style, h->count ? num_duration(q < 1 ? hist_quantile(h, q) : h->max, t->num).s : "-", TIME);
}

static void flush_time(struct text *t, enum style style, const struct card_row *r, double q)
{
	uint64_t ns;
	bool exact = card_row_flush(r, q, &ns);
	char text[64] = "-";

	if (r->flush.count || r->unwaited)
		snprintf(text, sizeof(text), "%s%s", exact ? "" : "<", num_duration(ns, t->num).s);
	text_right(t, style, text, TIME);
}

static void test(struct text *t, const struct card_row *r)
{
	char name[64];

	test_name(t, r, name, sizeof(name));
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, name, NAME);
	if (!r->call.count) {
		buf_str(t->out, "  ");
		text_wrap(t, STYLE_DIM, r->missing ? r->missing : "no call was seen", INDENT + NAME + 2, INDENT + NAME + 2);
		return;
	}
	text_right(t, STYLE_PLAIN, num_count(r->call.count).s, COUNT);
	flush_time(t, STYLE_FLUSH, r, 0.5);
	flush_time(t, STYLE_PLAIN, r, 0.9);
	flush_time(t, STYLE_PLAIN, r, 1);
	time(t, STYLE_HEAD, &r->call, 0.5);
	time(t, STYLE_PLAIN, &r->call, 1);
	buf_char(t->out, '\n');
}

/* Two ways to the same end; which of them the kernel took for O_DSYNC, the ledger tells. */
static void fua(struct text *t, const struct card *c)
{
	const struct card_row *by_write = card_row_of(c, CARD_FUA, 4096), *by_flush = card_row_of(c, CARD_FLUSH, 4096);
	struct buf b = { 0 };

	if (!by_write || !by_flush)
		return;
	buf_str(&b, "a write with O_DSYNC takes ");
	text_dur(t, &b, hist_quantile(&by_write->call, 0.5));
	buf_str(&b, by_write->flush.count || by_write->unwaited ? " (a write and a FLUSH)" :
		    by_write->ledger.ns[CAUSE_DEVICE_FUA]	? " (one FUA write)" :
								  "");
	buf_str(&b, ", the fdatasync after a write ");
	text_dur(t, &b, hist_quantile(&by_flush->call, 0.5));
	text_para_of(t, "FUA", STYLE_PLAIN, &b);
}

void render_card_text(const struct card *c, const struct render_opts *o, struct buf *out)
{
	struct text t = text_start(NULL, o, out);

	figures(&t, grade_styles[c->grade], NULL, c->sentence);
	for (size_t i = 0; c->reasons && c->reasons[i]; i++)
		figures(&t, STYLE_PLAIN, i ? "" : "because", c->reasons[i]);
	disk(&t, c, "disk");
	when(&t, c);
	fua(&t, c);
	heads(&t);
	for (size_t i = 0; i < c->n_rows; i++)
		test(&t, &c->row[i]);
	if (!o->quiet)
		text_para(&t, "flush", STYLE_DIM,
			  "the time that a FLUSH was in the device for a call (the mean of several kinds; <: it was over "
			  "before the call had to wait for it); call: all of the sync call, as the tracer saw it");
}

/* ---- two cards ---- */

static void compare_heads(struct text *t)
{
	static const char *const names[] = { "flush A", "flush B", "B / A", "call A", "call B", "B / A" };

	buf_char(t->out, '\n');
	text_pad(t, 0, INDENT + NAME);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		text_right(t, STYLE_DIM, names[i], i % 3 == 2 ? COUNT : TIME);
	buf_char(t->out, '\n');
}

/* A ratio that may be chance stands in brackets. */
static void pair(struct text *t, const struct hist *a, const struct hist *b, const struct comparison_interval *d)
{
	char ratio[48];

	text_right(t, STYLE_PLAIN, a->count ? num_duration(hist_mean(a), t->num).s : "-", TIME);
	text_right(t, STYLE_PLAIN, b->count ? num_duration(hist_mean(b), t->num).s : "-", TIME);
	snprintf(ratio, sizeof(ratio), d->told ? "%s" : "(%s)",
		 a->count && b->count ? num_ratio(hist_mean(b), hist_mean(a)).s : "-");
	text_right(t, d->told ? STYLE_HEAD : STYLE_DIM, ratio, COUNT);
}

static void compare_test(struct text *t, const struct card_difference *d)
{
	const struct card_row *a = d->side[SIDE_A], *b = d->side[SIDE_B];
	char name[64];

	test_name(t, a, name, sizeof(name));
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, name, NAME);
	pair(t, &a->flush, &b->flush, &d->flush);
	pair(t, &a->call, &b->call, &d->call);
	buf_char(t->out, '\n');
}

void render_cards_text(const struct card_comparison *c, const struct render_opts *o, struct buf *out)
{
	static const char *const labels[SIDES] = { "A", "B" };
	struct text t = text_start(NULL, o, out);

	figures(&t, STYLE_HEAD, NULL, c->sentence);
	for (int i = 0; i < SIDES; i++) {
		disk(&t, c->card[i], labels[i]);
		figures(&t, grade_styles[c->card[i]->grade], "", c->card[i]->sentence);
	}
	for (size_t i = 0; c->settings && c->settings[i]; i++)
		figures(&t, STYLE_PLAIN, i ? "" : "different", c->settings[i]);
	compare_heads(&t);
	for (size_t i = 0; i < c->n_rows; i++)
		compare_test(&t, &c->row[i]);
	text_para(&t, "means", STYLE_DIM,
		  "of each call; in brackets: may be chance (95 % confidence interval of the difference, Welch's)");
}
