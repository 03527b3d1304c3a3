// SPDX-License-Identifier: GPL-2.0-only
/*
 * comparison_text.c - two runs side by side: what changed in a sentence, the runs, and rows of figures:
 *
 *                              A          B       B - A  B / A
 *   mean                 7.51 ms    1.83 ms    -5.68 ms   0.24
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/loss_words.h"
#include "render/render_documents.h"
#include "render/command_line.h"
#include "render/text/text.h"

#define INDENT	  2
#define NAME	  18 /* "write barrier p99" */
#define COL_A	  10
#define COL_B	  11
#define COL_DIFF  12
#define COL_RATIO 7

/* ---- words ---- */

static void sentence(struct text *t, const struct comparison *c)
{
	bool changed = c->have_calls && c->mean.told;
	struct buf b = { 0 };

	text_figures(t, &b, c->sentence);
	text_wrap(t, changed ? STYLE_HEAD : STYLE_PLAIN, b.data, 0, 0);
	buf_free(&b);
}

static void command(struct text *t, const struct report *r, struct buf *b)
{
	command_line_add(b, r->command, t->o->unicode);
	if (!r->command || !r->command[0])
		buf_str(b, "no command");
	if (r->arguments_hidden)
		text_item(b, "arguments hidden (--show-args)");
	if (r->have_exit_status && r->exit_status)
		text_item(b, "exit status %d", r->exit_status);
	text_item_raw(t, b, "only ", r->filter);
}

/* "A   a.rec: 192 ms from 2026-01-31T03:07:00Z, Linux 6.18.0 x86_64", and below it the command */
static void run(struct text *t, const struct comparison *c, int side)
{
	const struct report *r = c->run[side];
	struct buf b = { 0 };

	if (c->name[side]) {
		text_raw(t, &b, c->name[side]);
		buf_str(&b, ": ");
	}
	text_how_long(t, &b, r);
	text_when_and_where(t, &b, r);
	text_para_of(t, side == SIDE_A ? "A" : "B", STYLE_HEAD, &b);
	command(t, r, &b);
	text_para_of(t, "", STYLE_PLAIN, &b);
}

/* ---- what makes the figures doubtful ---- */

static void doubt(struct text *t, const struct comparison *c, int side)
{
	const struct report *r = c->run[side];
	const char *letter = side == SIDE_A ? "A" : "B";
	const struct report_sync *s = &r->sync;
	struct buf b = { 0 };

	if (r->incomplete && r->lost_events)
		buf_printf(&b, "%s: %s event%s lost: its figures are incomplete", letter, num_count(r->lost_events).s,
			   r->lost_events == 1 ? " was" : "s were");
	else if (r->incomplete)
		buf_printf(&b, "%s is incomplete", letter);
	text_para_of(t, "WARNING", STYLE_WARN, &b);
	if (r->have_sync && s->no_ledger) {
		buf_printf(&b, "%s: %s\x1f%s not in these figures: no ledger (%s)", letter, num_count(s->no_ledger).s,
			   s->no_ledger == 1 ? "call is" : "calls are", say_no_ledger(s).s);
		text_para_of(t, "WARNING", STYLE_WARN, &b);
	}
	if (r->have_sync && s->unsafe && s->unsafe * REPORT_UNFLUSHED_SHARE >= s->count) {
		buf_printf(&b,
			   "%s: %s of %s\x1f%s without any FLUSH, though the disk's cache is volatile: what was written "
			   "may not survive a power cut",
			   letter, num_count(s->unsafe).s, num_count(s->count).s,
			   s->count == 1 ? "call returned" : "calls returned");
		text_para_of(t, "WARNING", STYLE_WARN, &b);
	}
	for (size_t i = 0; r->notes && r->notes[i]; i++) {
		buf_printf(&b, "%s: ", letter);
		text_raw(t, &b, r->notes[i]);
		text_para_of(t, "note", STYLE_DIM, &b);
	}
}

/* ---- rows of figures ---- */

static void heads(struct text *t, const char *title)
{
	text_left(t, STYLE_HEAD, title, INDENT + NAME);
	text_right(t, STYLE_DIM, "A", COL_A);
	text_right(t, STYLE_DIM, "B", COL_B);
	text_right(t, STYLE_DIM, "B - A", COL_DIFF);
	text_right(t, STYLE_DIM, "B / A", COL_RATIO);
	buf_char(t->out, '\n');
}

/* The cells behind the name; `plus` is the difference without its sign. */
static void cells(struct text *t, const char *a, const char *b, const char *plus, double va, double vb)
{
	char diff[64];

	snprintf(diff, sizeof(diff), "%s%s", vb > va ? "+" : vb < va ? "-" : "", plus);
	text_right(t, STYLE_PLAIN, a, COL_A);
	text_right(t, STYLE_PLAIN, b, COL_B);
	text_right(t, vb > va || vb < va ? STYLE_PLAIN : STYLE_DIM, diff, COL_DIFF);
	text_right(t, STYLE_DIM, va > 0 ? text_factor(vb / va).s : "-", COL_RATIO);
	buf_char(t->out, '\n');
}

static void row_name(struct text *t, enum style style, const char *name)
{
	text_pad(t, 0, INDENT);
	text_left(t, style, name, NAME);
}

static struct num time_of(const struct text *t, double ns)
{
	return num_duration((uint64_t)(fabs(ns) + 0.5), t->num);
}

static void times(struct text *t, double a, double b)
{
	cells(t, time_of(t, a).s, time_of(t, b).s, time_of(t, b - a).s, a, b);
}

static void counts(struct text *t, const char *name, uint64_t a, uint64_t b)
{
	row_name(t, STYLE_PLAIN, name);
	cells(t, num_count_fit(a).s, num_count_fit(b).s, num_count_fit(a > b ? a - b : b - a).s, (double)a, (double)b);
}

static void quantile_row(struct text *t, enum style style, const char *name, const struct hist *const h[SIDES], double q)
{
	row_name(t, style, name);
	times(t, (double)hist_quantile(h[SIDE_A], q), (double)hist_quantile(h[SIDE_B], q));
}

/* ---- sync calls ---- */

static double mean_of(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

static void signed_time(const struct text *t, struct buf *b, double ns)
{
	buf_str(b, ns <= -0.5 ? "-" : ns >= 0.5 ? "+" : "");
	text_num(b, time_of(t, ns));
}

/* "-5.81 ms to -5.52 ms" */
static void confidence(struct text *t, const struct comparison *c)
{
	const struct comparison_interval *i = &c->mean;
	struct buf b = { 0 };

	if (i->have) {
		buf_str(&b, "of the mean's difference: ");
		signed_time(t, &b, i->low);
		buf_str(&b, " to ");
		signed_time(t, &b, i->high);
		buf_str(&b, " (Welch, as if each call were independent of the others)");
	} else {
		buf_str(&b, "of the mean's difference: not known, it takes two calls of each");
	}
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_DIM, "95 % confidence", NAME + 2);
	text_wrap(t, STYLE_PLAIN, b.data, INDENT + NAME + 2, INDENT + NAME + 2);
	buf_free(&b);
}

static void calls(struct text *t, const struct comparison *c)
{
	const struct report_sync *a = &c->run[SIDE_A]->sync, *b = &c->run[SIDE_B]->sync;
	const struct hist *const h[SIDES] = { &a->latency, &b->latency };

	buf_char(t->out, '\n');
	heads(t, "sync calls");
	counts(t, "count", a->count, b->count);
	row_name(t, STYLE_PLAIN, "in all");
	times(t, (double)a->total_ns, (double)b->total_ns);
	row_name(t, STYLE_HEAD, "mean");
	times(t, mean_of(h[SIDE_A]), mean_of(h[SIDE_B]));
	quantile_row(t, STYLE_PLAIN, "p50", h, 0.5);
	quantile_row(t, STYLE_PLAIN, "p90", h, 0.9);
	quantile_row(t, STYLE_PLAIN, "p99", h, 0.99);
	quantile_row(t, STYLE_PLAIN, "max", h, 1);
	confidence(t, c);
}

static void causes(struct text *t, const struct comparison *c)
{
	if (!c->n_causes)
		return;
	buf_char(t->out, '\n');
	heads(t, "time per call");
	for (size_t i = 0; i < c->n_causes; i++) {
		const struct comparison_cause *cause = &c->cause[i];
		const char *name = cause_name(cause->cause);

		text_pad(t, 0, INDENT);
		text_tinted(t, cause_family(cause->cause), name);
		text_pad(t, strlen(name), NAME);
		times(t, cause->per_call[SIDE_A], cause->per_call[SIDE_B]);
	}
}

/* One run without calls: what the other has stands in a line. */
static void calls_of_one(struct text *t, const struct comparison *c)
{
	for (int i = 0; i < SIDES; i++) {
		const struct report_sync *s = &c->run[i]->sync;
		struct buf b = { 0 };

		if (!c->run[i]->have_sync || !s->count)
			continue;
		buf_printf(&b, "%s: %s, mean ", i == SIDE_A ? "A" : "B", num_count(s->count).s);
		text_num(&b, time_of(t, mean_of(&s->latency)));
		buf_char(t->out, '\n');
		text_para_of(t, "sync calls", STYLE_PLAIN, &b);
	}
}

/* ---- devices ---- */

/* "scheduler    none -> mq-deadline" */
static void settings(struct text *t, const struct comparison_device *d)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < d->n_settings; i++) {
		const struct comparison_setting *s = &d->setting[i];

		buf_clear(&b);
		text_figures(t, &b, s->value[SIDE_A]);
		buf_str(&b, t->o->unicode ? " → " : " -> ");
		text_figures(t, &b, s->value[SIDE_B]);
		if (s->of) {
			buf_str(&b, " (");
			text_raw(t, &b, s->of);
			buf_char(&b, ')');
		}
		text_pad(t, 0, INDENT);
		text_left(t, STYLE_WARN, s->name, NAME + 2);
		text_wrap(t, STYLE_PLAIN, b.data, INDENT + NAME + 2, INDENT + NAME + 2);
	}
	buf_free(&b);
}

/* Where the device's own time is known; dm and md have the whole only. */
static void latency_of(const struct report_device *d, enum op_class class, bool device, struct hist *out)
{
	tally_hist(device ? &d->op[class].device : &d->op[class].total, out);
}

static void class_rows(struct text *t, const struct comparison_device *d, enum op_class class)
{
	const struct report_device *a = d->side[SIDE_A], *b = d->side[SIDE_B];
	bool device = a->op[class].device.count && b->op[class].device.count;
	struct hist full[SIDES];
	const struct hist *const h[SIDES] = { &full[SIDE_A], &full[SIDE_B] };
	char name[40];

	latency_of(a, class, device, &full[SIDE_A]);
	latency_of(b, class, device, &full[SIDE_B]);
	if (!h[SIDE_A]->count || !h[SIDE_B]->count)
		return;
	snprintf(name, sizeof(name), "%s p50", op_class_name(class));
	quantile_row(t, text_class_style(class), name, h, 0.5);
	snprintf(name, sizeof(name), "%s p99", op_class_name(class));
	quantile_row(t, text_class_style(class), name, h, 0.99);
}

static void fraction_row(struct text *t, const char *name, const double v[SIDES])
{
	row_name(t, STYLE_FLUSH, name);
	cells(t, text_factor(v[SIDE_A]).s, text_factor(v[SIDE_B]).s, text_factor(v[SIDE_B] - v[SIDE_A]).s, v[SIDE_A],
	      v[SIDE_B]);
}

static void device_name(struct text *t, struct buf *b, const struct report_device *d)
{
	text_raw(t, b, *d->name ? d->name : "?");
}

/* Its table's head has the name; a long one, or two of them, a line above. */
static void device_heads(struct text *t, const struct comparison_device *d)
{
	const struct report_device *a = d->side[SIDE_A], *b = d->side[SIDE_B];
	struct buf name = { 0 };

	device_name(t, &name, a);
	if (strcmp(a->name, b->name)) {
		buf_str(&name, " and ");
		device_name(t, &name, b);
	}
	if (utf8_width(name.data, name.len) > NAME) {
		text_wrap(t, STYLE_HEAD, name.data, 0, INDENT);
		heads(t, "");
	} else {
		heads(t, name.data);
	}
	buf_free(&name);
}

static void device(struct text *t, const struct comparison_device *d)
{
	buf_char(t->out, '\n');
	device_heads(t, d);
	settings(t, d);
	if (d->have_flushes)
		counts(t, "flushes", d->side[SIDE_A]->op[OP_FLUSH].count, d->side[SIDE_B]->op[OP_FLUSH].count);
	if (d->have_per_call)
		fraction_row(t, "flushes per call", d->flushes_per_call);
	if (d->have_per_commit)
		fraction_row(t, "flushes per commit", d->flushes_per_commit);
	class_rows(t, d, OP_FLUSH);
	for (int class = 0; class < OP_CLASSES; class ++)
		if (class != OP_FLUSH)
			class_rows(t, d, class);
}

static void devices_of_one(struct text *t, const struct comparison *c)
{
	for (int side = 0; side < SIDES; side++) {
		struct buf b = { 0 };

		for (size_t i = 0; i < c->n_devices; i++) {
			const struct comparison_device *d = &c->device[i];

			if (d->side[!side])
				continue;
			text_item(&b, "%s", "");
			device_name(t, &b, d->side[side]);
		}
		if (b.len) {
			buf_char(t->out, '\n');
			text_para_of(t, side == SIDE_A ? "only in A" : "only in B", STYLE_PLAIN, &b);
		}
	}
}

/* ---- the whole ---- */

void render_compare_text(const struct comparison *c, const struct render_opts *o, struct buf *out)
{
	struct text t = text_start(c->run[SIDE_A], o, out);

	sentence(&t, c);
	for (int side = 0; side < SIDES; side++)
		doubt(&t, c, side);
	buf_char(out, '\n');
	for (int side = 0; side < SIDES; side++)
		run(&t, c, side);
	if (c->have_calls) {
		calls(&t, c);
		causes(&t, c);
	} else {
		calls_of_one(&t, c);
	}
	for (size_t i = 0; i < c->n_devices; i++)
		if (c->device[i].side[SIDE_A] && c->device[i].side[SIDE_B])
			device(&t, &c->device[i]);
	devices_of_one(&t, c);
}
