// SPDX-License-Identifier: GPL-2.0-only
/* text.c - the report for reading: the answer, the devices, then the run. */
#include <string.h>

#include "render/loss_words.h"
#include "render/command_line.h"
#include "render/text/text.h"

/* "interval from 2.00 s, 1.00 s long": only in a stream, where reports follow each other */
static void stream_head(struct text *t)
{
	const struct report *r = t->r;
	struct buf b = { 0 };

	if (!r->interval)
		return;
	if (r->final) {
		buf_str(&b, "the whole run, ");
	} else {
		buf_str(&b, "interval from ");
		if (r->interval_start_s > 0 && r->interval_start_s < 9e9)
			text_dur(t, &b, (uint64_t)(r->interval_start_s * 1e9 + 0.5));
		else
			text_dur(t, &b, 0);
		buf_str(&b, ", ");
	}
	text_dur(t, &b, r->wall_ns);
	buf_str(&b, "\x1flong\n\n");
	text_style(t, STYLE_HEAD, b.data);
	buf_free(&b);
}

/* Devices that take one line stand together, the others apart. */
static void devices(struct text *t)
{
	struct buf *out = t->out, one = { 0 };
	bool was_short = false;

	if (!t->r->n_devices)
		buf_printf(out, "%s\n", report_no_devices(t->r));
	t->out = &one;
	for (size_t i = 0; i < t->r->n_devices; i++) {
		bool is_short;

		buf_clear(&one);
		text_device(t, &t->r->device[i]);
		is_short = strchr(one.data, '\n') == one.data + one.len - 1;
		if (i && !(is_short && was_short))
			buf_char(out, '\n');
		buf_add(out, one.data, one.len);
		was_short = is_short;
	}
	t->out = out;
	buf_free(&one);
}

static void command(struct text *t)
{
	const struct report *r = t->r;
	struct buf b = { 0 };
	bool failed;

	command_line_add(&b, r->command, t->o->unicode);
	if (r->arguments_hidden)
		text_item(&b, "arguments hidden (--show-args)");
	text_para_of(t, "command", STYLE_PLAIN, &b);
	if (r->have_exit_status) {
		buf_printf(&b, "exit status %d", r->exit_status);
		if (r->exit_status > 128 && r->exit_status <= 128 + 64)
			buf_printf(&b, " = 128 + signal %d", r->exit_status - 128);
	}
	if (r->processes)
		text_item(&b, "%s process%s with %s thread%s followed", num_count(r->processes).s,
			  r->processes == 1 ? "" : "es", num_count(r->threads).s, num_plural(r->threads));
	failed = r->have_exit_status && r->exit_status;
	text_para_of(t, "", failed ? STYLE_WARN : STYLE_PLAIN, &b);
}

static void circumstances(struct text *t)
{
	const struct report *r = t->r;
	struct buf b = { 0 };

	text_how_long(t, &b, r);
	text_when_and_where(t, &b, r);
	text_item_raw(t, &b, "barriertrace ", r->version);
	text_para_of(t, "run", STYLE_HEAD, &b);
	if (r->filter) {
		text_raw(t, &b, r->filter);
		buf_str(&b, " only: the requests of others are not in these figures");
		text_para_of(t, "filter", STYLE_PLAIN, &b);
	}
}

static void lost(struct text *t)
{
	const struct report *r = t->r;
	struct buf b = { 0 }, why = { 0 };

	if (!r->lost_events) {
		if (r->incomplete)
			text_para(t, "WARNING", STYLE_WARN, "this report is incomplete");
		return;
	}
	for (size_t i = 0; i < r->n_lost; i++) {
		if (!r->lost[i].count)
			continue;
		buf_str(&why, why.len ? "; " : "");
		text_raw(t, &why, r->lost[i].reason ? r->lost[i].reason : "?");
		buf_printf(&why, ":\x1f%s", num_count(r->lost[i].count).s);
	}
	buf_printf(&b, "%s event%s lost", num_count(r->lost_events).s, r->lost_events == 1 ? " was" : "s were");
	if (why.data)
		buf_printf(&b, " (%s)", why.data);
	buf_printf(&b, ", %s%s", say_at_most(r).s, r->incomplete ? ": these figures are incomplete" : "");
	text_para_of(t, r->incomplete ? "WARNING" : "lost", r->incomplete ? STYLE_WARN : STYLE_DIM, &b);
	buf_free(&why);
}

static void notes(struct text *t)
{
	struct buf b = { 0 };

	for (size_t i = 0; t->r->notes && t->r->notes[i]; i++) {
		buf_clear(&b);
		text_raw(t, &b, t->r->notes[i]);
		text_para(t, "note", STYLE_DIM, b.data ? b.data : "");
	}
	buf_free(&b);
}

static void probes(struct text *t)
{
	struct buf b = { 0 };

	if (!t->o->verbose)
		return;
	for (size_t i = 0; i < t->r->n_probes; i++) {
		const struct report_probe *p = &t->r->probe[i];

		text_raw(t, &b, p->name ? p->name : "?");
		buf_printf(&b, " %s", probe_state_name(p->state));
		text_item_raw(t, &b, "", p->rung);
		if (p->reason) {
			buf_str(&b, ": ");
			text_raw(t, &b, p->reason);
		}
		text_para_of(t, i ? "" : "probes", STYLE_DIM, &b);
	}
}

/* What the sync calls waited for. Whatever makes it doubtful stands above the figures. */
static void answer(struct text *t)
{
	t->top = t->out->len;
	text_verdict(t);
	text_outstanding(t);
	if (t->r->have_sync) {
		lost(t);
		text_sync(t);
	}
	text_reasons(t);
	if (t->r->have_sync && !text_compact(t))
		text_calls(t);
	if (t->out->len > t->top)
		buf_char(t->out, '\n');
}

void render_text(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct text t = text_start(r, o, out);

	stream_head(&t);
	answer(&t);
	devices(&t);
	buf_char(out, '\n');
	if (!r->interval || r->final) {
		circumstances(&t);
		command(&t);
	}
	if (!r->have_sync)
		lost(&t);
	notes(&t);
	probes(&t);
}
