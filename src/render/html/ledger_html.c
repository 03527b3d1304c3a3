// SPDX-License-Identifier: GPL-2.0-only
/* ledger_html.c - where the time of the sync calls went: by family in one bar, by cause in a bar each. */
#include "render/html/html.h"

#include <inttypes.h>

/* ---- small ledgers, in tables ---- */

void html_causes(struct buf *b, const struct ledger *l, size_t most)
{
	uint64_t sum = ledger_sum(l);
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);

	for (size_t i = 0; i < n && i < most; i++) {
		if (i && l->ns[order[i]] < sum / 100)
			break;
		buf_printf(b, "%s%s ", i ? ", " : "", cause_name(order[i]));
		html_num(b, num_percent(l->ns[order[i]], sum, 0));
	}
}

/* Families side by side, always in the same order, to be compared. What is too thin to be seen is left out. */
static void stack_parts(struct buf *b, const struct ledger *l, uint64_t sum)
{
	for (int f = 0; f < FAMILY_COUNT; f++) {
		uint64_t ns = ledger_family(l, (enum cause_family)f);

		if (ns < sum / 400 + 1)
			continue;
		buf_printf(b, "<i class=\"%s\" style=\"", html_family((enum cause_family)f).s);
		html_permyriad(b, "width", ns, sum);
		buf_str(b, "\"></i>");
	}
}

void html_stack(struct buf *b, const struct ledger *l)
{
	buf_str(b, "<span class=\"stack\" aria-hidden=\"true\">");
	stack_parts(b, l, ledger_sum(l));
	buf_str(b, "</span>");
}

/* ---- all calls ---- */

static void families(struct buf *b, const struct ledger *l)
{
	uint64_t sum = ledger_sum(l);

	buf_str(b, "<div class=\"families\">");
	html_stack(b, l);
	buf_str(b, "<ul class=\"legend\" aria-label=\"By family of causes\">");
	for (int f = 0; f < FAMILY_COUNT; f++) {
		uint64_t ns = ledger_family(l, (enum cause_family)f);

		if (!ns)
			continue;
		buf_printf(b, "<li class=\"%s\"><span class=\"swatch\"></span>%s <b>",
			   html_family((enum cause_family)f).s, family_name((enum cause_family)f));
		html_num(b, num_percent(ns, sum, 0));
		buf_str(b, "</b></li>");
	}
	buf_str(b, "</ul></div>\n");
}

struct ledger_table {
	uint64_t sum, most, calls;
};

static void cause_row(struct buf *b, const struct ledger_table *t, enum cause c, uint64_t ns)
{
	buf_printf(b, "<tr class=\"%s\"><th scope=\"row\"><span class=\"swatch\"></span>%s<small>",
		   html_family(cause_family(c)).s, cause_name(c));
	html_text(b, cause_help(c));
	buf_printf(b, "</small></th><td>%s</td><td class=\"bar\"><span class=\"track\">", family_name(cause_family(c)));
	if (ns) {
		buf_str(b, "<i style=\"");
		html_permyriad(b, "width", ns, t->most);
		buf_str(b, "\"></i>");
	}
	buf_str(b, "</span></td>");
	html_cell_dur(b, ns);
	buf_printf(b, "<td class=\"n\" data-v=\"%" PRIu64 "\">", ns);
	html_num(b, num_percent(ns, t->sum, 0));
	buf_str(b, "</td>");
	if (t->calls)
		html_cell_dur(b, (ns + t->calls / 2) / t->calls);
	buf_str(b, "</tr>\n");
}

static void total_row(struct buf *b, const struct ledger_table *t)
{
	html_num_in(b, "<tfoot><tr><th scope=\"row\">total</th><td></td><td class=\"bar\"></td><td class=\"n\">",
		    num_duration(t->sum, 0), "</td><td class=\"n\">");
	html_num(b, num_percent(t->sum, t->sum, 0));
	buf_str(b, "</td>");
	if (t->calls)
		html_num_in(b, "<td class=\"n\">", num_duration((t->sum + t->calls / 2) / t->calls, 0), "</td>");
	buf_str(b, "</tr></tfoot>");
}

/* The unknown is always told, also when there is none of it. */
static void causes(struct buf *b, const struct report_sync *s)
{
	/* clang-format off */
	static const struct html_column columns[] = {
		{ "cause", 's' }, { "family", 's' }, { "", ' ' },
		{ "total", 'n' }, { "share", 'n' }, { "per call", 'n' },
	};
	/* clang-format on */
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(&s->ledger, order);
	struct buf foot = { 0 };
	struct ledger_table t = {
		.sum = ledger_sum(&s->ledger),
		.most = n ? s->ledger.ns[order[0]] : 0,
		.calls = s->count,
	};

	html_table(b, "Time of the sync calls by cause", columns, 6, 3);
	for (size_t i = 0; i < n; i++)
		cause_row(b, &t, order[i], s->ledger.ns[order[i]]);
	if (!s->ledger.ns[CAUSE_UNKNOWN])
		cause_row(b, &t, CAUSE_UNKNOWN, 0);
	total_row(&foot, &t);
	html_table_end(b, &foot);
	buf_free(&foot);
}

/* A flush that others asked for, or that waits behind their data, is not a slow flush of one's own. */
static void flushes(struct buf *b, const struct report_sync *s)
{
	uint64_t sum = s->flush_own_ns + s->flush_foreign_ns;

	if (!sum)
		return;
	buf_str(b, "<p>");
	html_dur(b, sum);
	if (s->flush_foreign_ns) {
		html_num_in(b, " in FLUSHes, ", num_duration(s->flush_foreign_ns, 0), " of it (");
		html_num(b, num_percent(s->flush_foreign_ns, sum, 0));
		buf_str(b, ") in those sent for others.");
	} else {
		buf_str(b, " in FLUSHes, all sent for the caller or its journal.");
	}
	if (s->busy_flushes)
		html_num_in(b, " When one was issued, ", num_ratio(s->busy_in_flight, s->busy_flushes),
			    " other requests were in the device, on average.");
	buf_str(b, "</p>\n");
}

void html_ledger(struct buf *b, const struct report *r)
{
	if (!r->have_sync)
		return;
	if (!r->sync.count) {
		buf_str(b, r->sync.no_ledger	    ? "<p>No sync call whose time is known.</p>\n" :
			   r->under_way		    ? "<p>No sync call returned.</p>\n" :
			   r->filter		    ? "<p>None of the filtered tasks made a sync call.</p>\n" :
			   r->sync.elsewhere	    ? "<p>No sync call was made on these disks.</p>\n" :
			   report_may_lack_calls(r) ? "<p>No sync call was seen.</p>\n" :
						      "<p>No sync call was made.</p>\n");
		return;
	}
	families(b, &r->sync.ledger);
	causes(b, &r->sync);
	flushes(b, &r->sync);
}
