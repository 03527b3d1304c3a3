// SPDX-License-Identifier: GPL-2.0-only
/* verdict_html.c - the top of the page: what makes the figures doubtful, the answer, what would help and how much. */
#include "render/html/html.h"
#include "render/whatif_words.h"
#include "render/loss_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- what to be careful with ---- */

static void lost(struct buf *b, const struct report *r)
{
	if (!r->lost_events) {
		if (r->incomplete)
			buf_str(b, "<li><strong>This report is incomplete.</strong></li>\n");
		return;
	}
	buf_printf(b,
		   r->incomplete ? "<li><strong>%s event%s lost, %s: these figures are incomplete.</strong>" :
				   "<li>%s event%s lost, %s.",
		   num_count(r->lost_events).s, r->lost_events == 1 ? " was" : "s were", say_at_most(r).s);
	for (size_t i = 0, n = 0; i < r->n_lost; i++) {
		if (!r->lost[i].count)
			continue;
		buf_str(b, n++ ? "; " : " ");
		html_prose(b, r->lost[i].reason);
		buf_printf(b, ": %s", num_count(r->lost[i].count).s);
	}
	buf_str(b, "</li>\n");
}

static void doubtful_calls(struct buf *b, const struct report_sync *s)
{
	if (s->no_ledger) {
		buf_printf(b, "<li><strong>%s %s no ledger</strong> (%s): ", num_count(s->no_ledger).s,
			   s->no_ledger == 1 ? "call has" : "calls have", say_no_ledger(s).s);
		html_num(b, num_percent(s->no_ledger, s->count + s->no_ledger, 0));
		buf_str(b, " of all, not in these figures</li>\n");
	}
	if (s->unsafe && s->unsafe * REPORT_UNFLUSHED_SHARE >= s->count)
		buf_printf(b,
			   "<li><strong>%s of %s sync call%s returned without any FLUSH</strong>, though the disk’s "
			   "cache is volatile: what was written may not survive a power cut</li>\n",
			   num_count(s->unsafe).s, num_count(s->count).s, num_plural(s->count));
	if (s->count && ledger_sum(&s->ledger) != s->total_ns)
		buf_str(b, "<li><strong>The causes do not add up to the time of the calls.</strong></li>\n");
}

static void failed_requests(struct buf *b, const struct report_device *d)
{
	if (!d->errors && !d->vanished)
		return;
	buf_str(b, "<li><strong>");
	html_text(b, d->name);
	if (d->errors)
		buf_printf(b, ": %s request%s completed with an error", num_count(d->errors).s, num_plural(d->errors));
	if (d->vanished)
		buf_printf(b, "%s vanished during the run", d->errors ? ", and it" : "");
	buf_str(b, "</strong></li>\n");
}

void html_warnings(struct buf *b, const struct report *r)
{
	struct buf list = { 0 };

	lost(&list, r);
	if (r->have_sync)
		doubtful_calls(&list, &r->sync);
	for (size_t i = 0; i < r->n_devices; i++)
		failed_requests(&list, &r->device[i]);
	for (size_t i = 0; r->notes && r->notes[i]; i++)
		html_prose_in(&list, "<li>", r->notes[i], "</li>\n");
	if (list.len) {
		buf_str(b, "<aside class=\"warn\" aria-label=\"What to be careful with\"><ul>\n");
		buf_add(b, list.data, list.len);
		buf_str(b, "</ul></aside>\n");
	}
	buf_free(&list);
}

/* ---- the answer ---- */

static const char *verdict_class(const struct report *r, struct num *room)
{
	for (int f = 0; r->verdict.family && f < FAMILY_COUNT; f++) {
		if (!strcmp(r->verdict.family, family_name((enum cause_family)f))) {
			*room = html_family((enum cause_family)f);
			return room->s;
		}
	}
	return r->verdict.class && !strcmp(r->verdict.class, "unsafe-fast") ? "unsafe" : "no-family";
}

static void sentence(struct buf *b, const struct report *r)
{
	if (!r->have_verdict) {
		buf_str(b, r->have_sync ? "<h1>Where the time of the sync calls went</h1>\n" :
					  "<h1>What the block devices did</h1>\n");
		if (!r->have_sync)
			buf_str(b, "<p>Sync calls were not traced: this is about the devices alone.</p>\n");
		return;
	}
	if (r->verdict.class)
		html_text_in(b, "<p class=\"class\"><span class=\"chip\">", r->verdict.class, "</span></p>\n");
	html_prose_in(b, "<h1>", r->verdict.sentence ? r->verdict.sentence : r->verdict.class, "</h1>\n");
	if (r->sync.tail.sentence)
		html_prose_in(b, "<p>", r->sync.tail.sentence, "</p>\n");
}

/* ---- the figures that everybody asks for first ---- */

static void tile(struct buf *b, const char *name, struct num n)
{
	buf_printf(b, "<div><dt>%s</dt><dd>", name);
	html_num(b, n);
}

static void calls(struct buf *b, const struct report_sync *s)
{
	bool any = false;

	tile(b, "sync calls", num_count(s->count));
	buf_str(b, "<small>");
	for (unsigned int i = 0; i < sizeof(s->calls) / sizeof(s->calls[0]); i++) {
		if (!s->calls[i])
			continue;
		buf_printf(b, "%s%s" NBSP "%s", any ? ", " : "", num_count(s->calls[i]).s, call_name(i));
		any = true;
	}
	buf_str(b, "</small></dd></div>\n");
}

static void share_of_run(struct buf *b, const struct report *r)
{
	tile(b, "in sync calls", num_duration(r->sync.total_ns, 0));
	if (r->wall_ns) {
		buf_str(b, "<small>");
		if (r->sync.total_ns <= r->wall_ns) {
			html_num(b, num_percent(r->sync.total_ns, r->wall_ns, 0));
			buf_str(b, " of the run’s ");
		} else {
			html_num_in(b, "several at once: ", num_ratio(r->sync.total_ns, r->wall_ns), " times the run’s ");
		}
		html_dur(b, r->wall_ns);
		buf_str(b, "</small>");
	}
	buf_str(b, "</dd></div>\n");
}

static void tiles(struct buf *b, const struct report *r)
{
	const struct hist *h = &r->sync.latency;
	const struct {
		const char *name;
		uint64_t ns;
	} figures[] = {
		{ "mean", hist_mean(h) },
		{ "median", hist_quantile(h, 0.5) },
		{ "99th percentile", hist_quantile(h, 0.99) },
		{ "longest", h->max },
	};

	if (!r->have_sync || !r->sync.count)
		return;
	buf_str(b, "<dl class=\"tiles\">\n");
	calls(b, &r->sync);
	for (size_t i = 0; h->count && i < sizeof(figures) / sizeof(figures[0]); i++) {
		tile(b, figures[i].name, num_duration(figures[i].ns, 0));
		buf_str(b, "</dd></div>\n");
	}
	share_of_run(b, r);
	buf_str(b, "</dl>\n");
}

/* ---- what would help ---- */

/* "Do this. Risk: that." */
static void advice_item(struct buf *b, const char *raw)
{
	const char *risk = strstr(raw, ". Risk");
	char *what = xstrdup(raw);

	if (risk)
		what[risk - raw + 1] = '\0';
	buf_str(b, "<li>");
	html_prose(b, what);
	if (risk)
		html_prose_in(b, "<span class=\"risk\">", risk + 2, "</span>");
	buf_str(b, "</li>\n");
	free(what);
}

static void advice(struct buf *b, const struct report_verdict *v)
{
	if (!v->advice || !v->advice[0])
		return;
	buf_str(b, "<div class=\"advice\"><h2>What could be done</h2>\n<ol>\n");
	for (size_t i = 0; v->advice[i]; i++)
		advice_item(b, v->advice[i]);
	buf_str(b, "</ol></div>\n");
}

static void evidence(struct buf *b, const struct report_verdict *v)
{
	if (!v->evidence || !v->evidence[0])
		return;
	buf_str(b, "<div class=\"evidence\"><h2>Why this verdict</h2>\n<ul>\n");
	for (size_t i = 0; v->evidence[i]; i++)
		html_prose_in(b, "<li>", v->evidence[i], "</li>\n");
	buf_str(b, "</ul></div>\n");
}

/* ---- what if ---- */

/* The colour of a cause or of a family, by its name. */
static struct num whatif_class(const char *name)
{
	for (int c = 0; c < CAUSE_COUNT; c++)
		if (!strcmp(name, cause_name((enum cause)c)))
			return html_family(cause_family((enum cause)c));
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (!strcmp(name, family_name((enum cause_family)f)))
			return html_family((enum cause_family)f);
	return (struct num){ "no-family" };
}

/* A bar's length is of the run, where that has one of its own; else of a call. */
static void whatif_row(struct buf *b, const char *name, const char *class, const struct report_whatif *w, uint64_t wall)
{
	bool run = w->wall_ns;

	buf_printf(b, "<tr class=\"%s\"><th scope=\"row\">", class);
	html_text(b, name);
	buf_str(b, "</th><td class=\"n\">");
	html_dur(b, w->without_ns);
	buf_str(b, "</td><td class=\"n\">");
	if (run && w->bound)
		buf_str(b, "≥ ");
	if (run)
		html_dur(b, w->wall_ns);
	buf_str(b, "</td><td class=\"bar\"><span class=\"track\"><i style=\"");
	html_permyriad(b, "width", run ? w->wall_ns : w->without_ns, run ? wall : w->now_ns);
	buf_str(b, "\"></i></span></td><td class=\"n\">");
	whatif_gain(w, "×", b);
	buf_str(b, "</td></tr>\n");
}

static void whatif_rest(struct buf *b, const struct report_whatif *const *w, size_t n)
{
	if (!n)
		return;
	buf_str(b, "<p class=\"aside\">Without ");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_str(b, i + 1 == n ? " or " : ", ");
		html_text(b, w[i]->remove);
	}
	buf_str(b, ": ");
	whatif_no_gain(w, n, "≤", "×", b);
	buf_str(b, ".</p>\n");
}

static void whatif_table(struct buf *b, const struct report *r, const struct report_whatif *const *w, size_t n)
{
	struct report_whatif was = { .speedup = NAN };

	if (!n)
		return;
	was.now_ns = was.without_ns = w[0]->now_ns;
	was.wall_ns = w[0]->wall_ns ? r->wall_ns : 0;
	buf_str(b,
		"<table><caption>What a sync call takes on average, and the run for the same work, if a cause went "
		"away</caption><thead><tr><th scope=\"col\">without</th><th scope=\"col\" class=\"n\">a call</th>"
		"<th scope=\"col\" class=\"n\">the run</th><td class=\"bar\"></td><th scope=\"col\" class=\"n\">gain</th></tr></thead><tbody>\n");
	whatif_row(b, "as it was", "was", &was, r->wall_ns);
	for (size_t i = 0; i < n; i++) {
		const char *name = w[i]->remove ? w[i]->remove : "?";

		whatif_row(b, name, whatif_class(name).s, w[i], r->wall_ns);
	}
	buf_str(b, "</tbody></table>\n");
}

static void whatif(struct buf *b, const struct report *r)
{
	size_t lines;
	const struct report_whatif **w = whatif_by_gain(r, &lines);
	struct buf words = { 0 };

	whatif_contrast(r, &words);
	if (r->n_whatif) {
		buf_str(b, "<div class=\"whatif\"><h2>What it would gain</h2>\n");
		whatif_table(b, r, w, lines);
		whatif_rest(b, w + lines, r->n_whatif - lines);
		if (words.len) {
			buf_str(b, "<p class=\"aside\">");
			html_prose(b, words.data);
			buf_str(b, ".</p>\n");
		}
		buf_str(b, "</div>\n");
	}
	buf_free(&words);
	free(w);
}

void html_verdict(struct buf *b, const struct report *r)
{
	struct num room;

	buf_printf(b, "<section id=\"verdict\" class=\"%s\" aria-label=\"Verdict\">\n", verdict_class(r, &room));
	sentence(b, r);
	tiles(b, r);
	buf_str(b, "<div class=\"pair\">\n");
	if (r->have_verdict)
		advice(b, &r->verdict);
	whatif(b, r);
	if (r->have_verdict)
		evidence(b, &r->verdict);
	buf_str(b, "</div>\n</section>\n");
}
