// SPDX-License-Identifier: GPL-2.0-only
/*
 * outstanding_text.c - sync calls that have not returned, above all figures:
 *
 *   sync calls that have not returned: how long, who, what for
 *       ≥ 3.21 s  dd (14457) fsync /srv/f (loop0)
 *                 dd if=/dev/zero of=/srv/f conv=fsync
 *                 It waits for jbd2/loop0-8, and loop0 has not completed a FLUSH for at least 2.01 s.
 */
#include <string.h>

#include "model/outstanding.h"
#include "render/text/text.h"

#define SHOWN  5
#define FIGURE 12
#define WORDS  14

static void line(struct text *t, enum style style, struct buf *b)
{
	text_pad(t, 0, WORDS);
	text_wrap(t, style, b->data ? b->data : "", WORDS, WORDS);
	buf_clear(b);
}

static void head_line(struct text *t, const struct report_outstanding *o)
{
	struct buf b = { 0 };

	if (o->before)
		buf_str(&b, t->o->unicode ? "≥ " : ">= ");
	text_dur(t, &b, o->ns);
	text_right(t, STYLE_WARN, b.data, FIGURE);
	text_pad(t, FIGURE, WORDS);
	buf_clear(&b);
	text_who(t, &b, o->comm, o->pid, o->tid);
	buf_char(&b, ' ');
	text_raw(t, &b, o->call);
	if (o->path || o->device) {
		buf_char(&b, ' ');
		text_file(t, &b, o->path ? o->path : o->device, o->path ? o->device : NULL);
	}
	if (o->other)
		buf_str(&b, t->r->command ? ", not the command's" : ", not of the filtered tasks");
	text_wrap(t, STYLE_HEAD, b.data, WORDS, WORDS);
	buf_free(&b);
}

static void call(struct text *t, const struct report_outstanding *o)
{
	struct buf b = { 0 }, wait = { 0 };

	head_line(t, o);
	if (o->cmdline && !text_compact(t)) {
		text_raw(t, &b, o->cmdline);
		line(t, STYLE_DIM, &b);
	}
	/* of a single one the verdict has said it */
	if (t->r->n_outstanding > 1 || !t->r->verdict.scope || strcmp(t->r->verdict.scope, "outstanding")) {
		outstanding_wait(o, &wait);
		text_figures(t, &b, wait.data);
		line(t, STYLE_PLAIN, &b);
	}
	if (o->where && t->o->verbose) {
		buf_str(&b, "It sleeps in ");
		text_raw(t, &b, o->where);
		buf_char(&b, '.');
		line(t, STYLE_DIM, &b);
	}
	buf_free(&wait);
	buf_free(&b);
}

void text_outstanding(struct text *t)
{
	const struct report *r = t->r;
	size_t shown = t->o->verbose || r->n_outstanding < SHOWN ? r->n_outstanding : SHOWN;

	/* an interval's verdict has said all of one */
	if (!r->n_outstanding || (text_compact(t) && r->n_outstanding == 1 && r->have_verdict))
		return;
	if (t->out->len > t->top)
		buf_char(t->out, '\n');
	text_style(t, STYLE_HEAD, "sync calls that have not returned");
	text_style(t, STYLE_DIM, ": how long, who, what for\n");
	for (size_t i = 0; i < shown; i++)
		call(t, &r->outstanding[i]);
	if (shown < r->n_outstanding) {
		text_pad(t, 0, WORDS);
		buf_printf(t->out, "and %zu more\n", r->n_outstanding - shown);
	}
	buf_char(t->out, '\n');
}
