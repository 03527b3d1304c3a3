// SPDX-License-Identifier: GPL-2.0-only
/*
 * experiment_text.c - an experiment: what it came to, the variants, and where the time of their sync calls went:
 *
 *   variants              a run       faster  95 % confidence    predicted
 *   A  barrier=1         17.2 s
 *   B  barrier=0         942 ms       18.2×  17.5 to 18.9×         15.1×
 *
 * What a run would take is not always known: then the prediction is of its calls alone, "15.1× a call".
 */
#include <string.h>

#include "render/render_documents.h"
#include "render/command_line.h"
#include "render/text/text.h"

#define INDENT	      2
#define NAME	      24
#define COL_RUN	      11
#define COL_FASTER    9
#define COL_INTERVAL  17
#define COL_PREDICTED 16
#define COL_CAUSE     11 /* a variant's time in the ledgers */
#define CAUSE_NAME    16

static char letter(size_t i)
{
	return i < 26 ? (char)('A' + i) : '?';
}

static const char *times(const struct text *t)
{
	return t->o->unicode ? "×" : "x";
}

/* ---- head ---- */

static void sentences(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };

	for (size_t i = 1; i < o->n; i++) {
		const struct outcome_change *c = &o->variant[i].change;

		buf_clear(&b);
		text_figures(t, &b, c->sentence);
		text_wrap(t, c->told ? STYLE_HEAD : STYLE_PLAIN, b.data, 0, 0);
	}
	buf_free(&b);
}

static void what_was_run(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };

	buf_char(t->out, '\n');
	command_line_add(&b, o->command, t->o->unicode);
	if (o->arguments_hidden)
		text_item(&b, "arguments hidden (--show-args)");
	text_para_of(t, "command", STYLE_PLAIN, &b);
	text_raw(t, &b, o->target);
	text_para_of(t, "on", STYLE_PLAIN, &b);
	buf_printf(&b, "%zu of each in turn, after one to warm up, each traced", o->n_runs);
	text_para_of(t, "runs", STYLE_PLAIN, &b);
}

/* ---- the variants ---- */

static void prediction(struct text *t, const struct outcome_prediction *p)
{
	struct buf b = { 0 };

	if (p->have)
		buf_printf(&b, "%s%s%s%s", p->at_most && p->without ? "<= " : "", text_factor(p->faster).s, times(t),
			   p->wall_ns ? "" : " a call");
	text_right(t, STYLE_PLAIN, p->have ? b.data : "-", COL_PREDICTED);
	buf_free(&b);
}

static void change(struct text *t, const struct outcome_variant *v)
{
	const struct outcome_change *c = &v->change;
	struct buf b = { 0 };

	buf_printf(&b, "%s%s", text_factor(c->faster).s, times(t));
	text_right(t, c->told ? STYLE_HEAD : STYLE_PLAIN, b.data, COL_FASTER);
	buf_clear(&b);
	if (c->wide)
		buf_str(&b, "too wide");
	else if (c->have_interval)
		buf_printf(&b, "%s to %s%s", text_factor(c->low).s, text_factor(c->high).s, times(t));
	text_right(t, STYLE_PLAIN, b.len ? b.data : "-", COL_INTERVAL);
	prediction(t, &v->prediction);
	buf_free(&b);
}

static void variant(struct text *t, const struct outcome *o, size_t i)
{
	const struct outcome_variant *v = &o->variant[i];
	struct buf b = { 0 };
	size_t width;

	buf_printf(&b, "%c  ", letter(i));
	text_raw(t, &b, v->name);
	width = utf8_width(b.data, b.len);
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, b.data, NAME);
	if (width > NAME) {
		buf_char(t->out, '\n');
		text_pad(t, 0, INDENT + NAME);
	}
	text_right(t, STYLE_PLAIN, num_duration(v->mean_ns, t->num).s, COL_RUN);
	if (i)
		change(t, v);
	buf_char(t->out, '\n');
	buf_free(&b);
}

static void variants(struct text *t, const struct outcome *o)
{
	buf_char(t->out, '\n');
	text_left(t, STYLE_HEAD, "variants", INDENT + NAME);
	text_right(t, STYLE_DIM, "a run", COL_RUN);
	text_right(t, STYLE_DIM, "faster", COL_FASTER);
	text_right(t, STYLE_DIM, "95 % confidence", COL_INTERVAL);
	text_right(t, STYLE_DIM, "predicted", COL_PREDICTED);
	buf_char(t->out, '\n');
	for (size_t i = 0; i < o->n; i++)
		variant(t, o, i);
}

static void predicted_from(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };

	for (size_t i = 1; i < o->n; i++) {
		const struct outcome_prediction *p = &o->variant[i].prediction;

		if (p->have && p->without)
			text_item(&b, "%c: A without %s%s", letter(i), p->without, p->at_most ? ", at most" : "");
	}
	text_para_of(t, "predicted", STYLE_DIM, &b);
}

/* Two are told apart by the line above; of more, only the first one is compared with the others there. */
static void ranking(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };
	bool equals = false;

	for (size_t rank = 1; o->n > 2 && rank <= o->n; rank++) {
		size_t n = 0;

		for (size_t i = 0; i < o->n; i++) {
			if (o->variant[i].rank != rank)
				continue;
			buf_str(&b, n++ ? " = " : rank > 1 ? ", then " : "");
			buf_char(&b, letter(i));
			equals |= n > 1;
		}
	}
	if (equals)
		buf_str(&b, " (=: cannot be told apart)");
	text_para_of(t, "fastest", STYLE_PLAIN, &b);
}

/* ---- ledgers ---- */

static void cause_row(struct text *t, const struct outcome *o, enum cause c, size_t from, size_t to)
{
	const char *name = cause_name(c);

	text_pad(t, 0, INDENT);
	text_tinted(t, cause_family(c), name);
	text_pad(t, strlen(name), CAUSE_NAME);
	for (size_t i = from; i < to; i++) {
		const struct outcome_variant *v = &o->variant[i];

		text_right(t, STYLE_PLAIN, num_duration(v->ledger.ns[c] / (v->n_runs ? v->n_runs : 1), t->num).s,
			   COL_CAUSE);
	}
	buf_char(t->out, '\n');
}

static void row(struct text *t, const char *name, const struct outcome *o, size_t from, size_t to,
		struct num (*cell)(const struct text *t, const struct outcome_variant *v))
{
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, name, CAUSE_NAME);
	for (size_t i = from; i < to; i++)
		text_right(t, STYLE_PLAIN, cell(t, &o->variant[i]).s, COL_CAUSE);
	buf_char(t->out, '\n');
}

static struct num all_of(const struct text *t, const struct outcome_variant *v)
{
	return num_duration(v->sync_ns / (v->n_runs ? v->n_runs : 1), t->num);
}

static struct num calls_of(const struct text *t, const struct outcome_variant *v)
{
	(void)t;
	return num_count(v->calls / (v->n_runs ? v->n_runs : 1));
}

static struct num flushes_of(const struct text *t, const struct outcome_variant *v)
{
	(void)t;
	return num_count(v->flushes / (v->n_runs ? v->n_runs : 1));
}

static void ledgers(struct text *t, const struct outcome *o, size_t from, size_t to)
{
	enum cause order[CAUSE_COUNT];
	struct ledger all = { 0 };
	size_t n;

	for (size_t i = 0; i < o->n; i++)
		ledger_add(&all, &o->variant[i].ledger);
	n = ledger_causes(&all, order);
	if (!n)
		return;
	buf_char(t->out, '\n');
	text_left(t, STYLE_HEAD, "sync calls, a run", INDENT + CAUSE_NAME);
	for (size_t i = from; i < to; i++)
		text_right(t, STYLE_DIM, (char[]){ letter(i), '\0' }, COL_CAUSE);
	buf_char(t->out, '\n');
	row(t, "calls", o, from, to, calls_of);
	row(t, "flushes", o, from, to, flushes_of);
	for (size_t i = 0; i < n; i++)
		cause_row(t, o, order[i], from, to);
	row(t, "in all", o, from, to, all_of);
}

/* ---- foot ---- */

static void verdicts(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < o->n && !t->o->quiet; i++) {
		const struct outcome_variant *v = &o->variant[i];
		const char *said = v->n_runs ? v->run[v->median].verdict : NULL;

		if (!said)
			continue;
		buf_printf(&b, "%c: ", letter(i));
		text_figures(t, &b, said);
		text_para_of(t, i ? "" : "verdicts", STYLE_PLAIN, &b);
	}
}

static void doubts(struct text *t, const struct outcome *o)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < o->n; i++) {
		const struct outcome_variant *v = &o->variant[i];

		if (v->incomplete && v->lost_events)
			buf_printf(&b, "%c: %s event%s lost: its ledger is incomplete", letter(i),
				   num_count(v->lost_events).s, v->lost_events == 1 ? " was" : "s were");
		else if (v->incomplete)
			buf_printf(&b, "%c: its ledger is incomplete", letter(i));
		text_para_of(t, "WARNING", STYLE_WARN, &b);
		if (v->risk) {
			buf_printf(&b, "%c: %s", letter(i), v->risk);
			text_para_of(t, "RISK", STYLE_WARN, &b);
		}
	}
	for (size_t i = 0; o->notes && o->notes[i]; i++) {
		text_figures(t, &b, o->notes[i]);
		text_para_of(t, "note", STYLE_DIM, &b);
	}
}

void render_outcome_text(const struct outcome *o, const struct render_opts *opts, struct buf *out)
{
	static const struct report none;
	struct text t = text_start(&none, opts, out);
	size_t fit = (t.width - INDENT - CAUSE_NAME) / COL_CAUSE;

	sentences(&t, o);
	what_was_run(&t, o);
	variants(&t, o);
	ranking(&t, o);
	predicted_from(&t, o);
	for (size_t from = 0; from < o->n; from += fit)
		ledgers(&t, o, from, from + fit < o->n ? from + fit : o->n);
	buf_char(out, '\n');
	verdicts(&t, o);
	doubts(&t, o);
	text_para(&t, "settings", o->restored ? STYLE_PLAIN : STYLE_WARN,
		  o->restored ? "all as they were before" : "not all could be put back");
}
