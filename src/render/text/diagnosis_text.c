// SPDX-License-Identifier: GPL-2.0-only
/*
 * diagnosis_text.c - what hurts, worst first; then each layer with its settings:
 *
 *   sda  disk, below sda1
 *     write_cache           write back      /sys/class/block/sda/queue/write_cache
 *                           write back: an fsync ends with a flush of the drive's cache. ...
 */
#include <string.h>

#include "render/render_documents.h"
#include "render/text/text.h"

#define INDENT 2
#define KEY    20
#define VALUE  12

/* clang-format off */
static const enum style grade_styles[DIAG_GRADES] = {
	[DIAG_UNSAFE] = STYLE_WARN, [DIAG_CHECK] = STYLE_WARN, [DIAG_SLOW] = STYLE_FLUSH, [DIAG_NOTE] = STYLE_DIM,
};
/* clang-format on */

/* ---- findings ---- */

static void counts(struct text *t, const struct diagnosis *d)
{
	size_t n[DIAG_GRADES] = { 0 };
	struct buf b = { 0 }, list = { 0 };

	for (size_t i = 0; i < d->n_findings; i++)
		n[d->finding[i].grade]++;
	for (int g = 0; g < DIAG_GRADES; g++)
		if (n[g])
			text_item(&list, "%zu %s", n[g], diag_grade_name(g));
	if (d->target)
		text_raw(t, &b, d->target);
	else
		buf_str(&b, "every disk");
	buf_printf(&b, ": %s", list.len ? list.data : "nothing that hurts an fsync");
	text_wrap(t, n[DIAG_UNSAFE] || n[DIAG_CHECK] ? STYLE_WARN : STYLE_HEAD, b.data, 0, INDENT);
	buf_free(&b);
	buf_free(&list);
}

static void weight(struct text *t, struct buf *b, const struct diagnosis *d, const struct diag_finding *f)
{
	if (!f->have_weight)
		return;
	if (!f->weight_ns) {
		buf_str(b, " Measured: nothing.");
		return;
	}
	buf_str(b, " Measured: ");
	text_num(b, num_percent(f->weight_ns, d->trace.total_ns, t->num));
	buf_str(b, " of the time of the sync calls, ");
	text_dur(t, b, f->weight_ns);
	buf_char(b, '.');
}

static void finding(struct text *t, const struct diagnosis *d, const struct diag_finding *f)
{
	struct buf b = { 0 };

	text_figures(t, &b, f->what);
	weight(t, &b, d, f);
	text_para_of(t, diag_grade_name(f->grade), grade_styles[f->grade], &b);
	if (f->advice) {
		buf_str(&b, "Advice: ");
		text_figures(t, &b, f->advice);
		text_para_of(t, "", STYLE_PLAIN, &b);
	}
}

/* ---- the trace ---- */

static void trace(struct text *t, const struct diagnosis *d)
{
	const struct diag_trace *r = &d->trace;
	struct buf b = { 0 };

	if (!r->have)
		return;
	buf_str(&b, r->calls == 1 ? "1 sync call in " : "");
	if (r->calls != 1)
		buf_printf(&b, "%s sync calls in ", r->calls ? num_count(r->calls).s : "no");
	text_dur(t, &b, r->wall_ns);
	if (r->calls) {
		buf_str(&b, ", which took ");
		text_dur(t, &b, r->total_ns);
	} else {
		buf_str(&b, ": the findings have no measured weight");
	}
	if (r->incomplete)
		buf_str(&b, " (events were lost: incomplete)");
	text_para_of(t, "traced", STYLE_PLAIN, &b);
	if (r->sentence && r->calls) {
		text_figures(t, &b, r->sentence);
		text_para_of(t, "", STYLE_PLAIN, &b);
	}
}

/* ---- layers ---- */

static void layer_head(struct text *t, const struct diag_layer *l)
{
	struct buf b = { 0 };
	size_t width;

	text_raw(t, &b, l->name);
	text_style(t, STYLE_HEAD, b.data);
	width = utf8_width(b.data, b.len);
	buf_clear(&b);
	buf_str(&b, l->kind == DIAG_MACHINE ? "" : "  ");
	if (l->kind != DIAG_MACHINE)
		buf_str(&b, l->fstype ? "" : diag_kind_name(l->kind));
	text_raw(t, &b, l->fstype ? l->fstype : "");
	for (size_t i = 0; l->below && l->below[i]; i++) {
		buf_str(&b, i ? ", " : " on ");
		text_raw(t, &b, l->below[i]);
	}
	text_wrap(t, STYLE_PLAIN, b.data, width, INDENT + KEY + INDENT);
	buf_free(&b);
}

/* "75000 µs"; what isn't known says why */
static void value(struct text *t, struct buf *b, const struct diag_setting *s)
{
	if (!s->value) {
		buf_str(b, "not known: ");
		text_raw(t, b, s->unknown ? s->unknown : "?");
		return;
	}
	text_raw(t, b, *s->value ? s->value : "(empty)");
	if (s->unit) {
		buf_char(b, GLUE);
		buf_str(b, strcmp(s->unit, "us") || !t->o->unicode ? s->unit : "µs");
	}
}

/* The place stands beside a short value, below a long one. */
static void setting(struct text *t, const struct diag_setting *s)
{
	const size_t from = INDENT + KEY + INDENT, beside = from + VALUE + INDENT;
	size_t key = strlen(s->key), at = INDENT + (key > KEY ? key + INDENT : KEY + INDENT), width;
	struct buf v = { 0 }, where = { 0 };

	value(t, &v, s);
	if (s->where)
		text_raw(t, &where, s->where);
	width = utf8_width(v.data, v.len);
	text_pad(t, 0, INDENT);
	text_left(t, STYLE_PLAIN, s->key, at - INDENT);
	if (where.len && at + width + INDENT <= beside && beside + utf8_width(where.data, where.len) <= t->width) {
		text_left(t, s->value ? STYLE_HEAD : STYLE_DIM, v.data, beside - at);
		text_wrap(t, STYLE_DIM, where.data, beside, beside);
	} else {
		text_wrap(t, s->value ? STYLE_HEAD : STYLE_DIM, v.data, at, from);
		text_pad(t, 0, where.len ? from : 0);
		if (where.len)
			text_wrap(t, STYLE_DIM, where.data, from, from);
	}
	text_pad(t, 0, from);
	text_wrap(t, STYLE_PLAIN, s->effect, from, from);
	buf_free(&v);
	buf_free(&where);
}

/* How many settings from this one on are unknown for the same reason: it is said once. */
static size_t same_reason(const struct diag_layer *l, size_t from)
{
	const char *reason = l->setting[from].unknown;
	size_t n = 1;

	while (reason && from + n < l->n_settings && l->setting[from + n].unknown &&
	       !strcmp(l->setting[from + n].unknown, reason))
		n++;
	return n;
}

static void unknown(struct text *t, const struct diag_setting *s, size_t n)
{
	const size_t from = INDENT + KEY + INDENT;
	struct buf keys = { 0 }, why = { 0 };

	for (size_t i = 0; i < n; i++)
		text_item(&keys, "%s", s[i].key);
	value(t, &why, s);
	text_pad(t, 0, INDENT);
	text_wrap(t, STYLE_PLAIN, keys.data, INDENT, INDENT);
	text_pad(t, 0, from);
	text_wrap(t, STYLE_DIM, why.data, from, from);
	buf_free(&keys);
	buf_free(&why);
}

static void settings(struct text *t, const struct diag_layer *l)
{
	for (size_t i = 0, n; i < l->n_settings; i += n) {
		n = same_reason(l, i);
		if (n > 1)
			unknown(t, &l->setting[i], n);
		else
			setting(t, &l->setting[i]);
	}
}

static void layers(struct text *t, const struct diagnosis *d)
{
	for (size_t i = 0; i < d->n_layers; i++) {
		buf_char(t->out, '\n');
		layer_head(t, &d->layer[i]);
		settings(t, &d->layer[i]);
	}
}

/* ---- the tool itself ---- */

static void probes(struct text *t, const struct diagnosis *d)
{
	struct buf b = { 0 };
	size_t good = 0;

	if (!d->have_probes) {
		text_item_raw(t, &b, "", d->no_probes);
		text_para_of(t, "probes", STYLE_DIM, &b);
		return;
	}
	for (size_t i = 0; i < d->n_probes; i++)
		good += d->probe[i].state == PROBE_ATTACHED;
	buf_printf(&b, "%zu of %zu of this tool's probes %s here", good, d->n_probes, good == 1 ? "works" : "work");
	text_para_of(t, "probes", STYLE_PLAIN, &b);
	for (size_t i = 0; i < d->n_probes; i++) {
		const struct report_probe *p = &d->probe[i];

		if (p->state == PROBE_ATTACHED)
			continue;
		text_raw(t, &b, p->name);
		buf_printf(&b, " %s: ", probe_state_name(p->state));
		text_raw(t, &b, p->reason ? p->reason : "no reason given");
		text_para_of(t, "", STYLE_DIM, &b);
	}
}

static void circumstances(struct text *t, const struct diagnosis *d)
{
	struct buf b = { 0 };

	text_machine(t, &b, d->kernel, d->arch);
	text_item_raw(t, &b, "barriertrace ", d->version);
	text_para_of(t, "on", STYLE_PLAIN, &b);
}

void render_diagnosis_text(const struct diagnosis *d, const struct render_opts *o, struct buf *out)
{
	struct text t = text_start(NULL, o, out);

	counts(&t, d);
	for (size_t i = 0; i < d->n_findings; i++)
		finding(&t, d, &d->finding[i]);
	trace(&t, d);
	if (o->quiet)
		return;
	layers(&t, d);
	buf_char(out, '\n');
	probes(&t, d);
	circumstances(&t, d);
}
