// SPDX-License-Identifier: GPL-2.0-only
/*
 * sync_text.c - where the time of the sync calls went, a bar per cause. With the verdict above it,
 * it stays within the first 24 lines of a usual report:
 *
 *   where the sync time went            total    share  per call
 *     flush.post      flush            2.80 s   44.5 %   3.48 ms  #########
 *     ...
 *     total                            6.29 s    100 %   7.82 ms
 */
#include <stdio.h>
#include <string.h>

#include "render/loss_words.h"
#include "render/text/text.h"

#define INDENT	2
#define NAME	16 /* "device.discard" */
#define FAMILY	13 /* "CPU scheduler" */
#define NUMBERS 29 /* total, share, per call */
#define BAR_MIN 8
#define BAR_MAX 40

static void bar(struct text *t, enum cause_family f, uint64_t part, uint64_t whole, size_t width)
{
	struct buf b = { 0 };

	text_bar(t, &b, part, whole, width);
	text_tinted(t, f, b.data);
	buf_free(&b);
}

struct ledger_table {
	uint64_t sum, calls, most;
	size_t bar;
	bool family; /* there is room for its column */
};

static void numbers(struct text *t, const struct ledger_table *tab, enum style style, uint64_t ns)
{
	uint64_t each = tab->calls ? (ns + tab->calls / 2) / tab->calls : 0;

	text_right(t, style, num_duration(ns, t->num).s, 10);
	text_right(t, style, num_percent(ns, tab->sum, 0).s, 9);
	text_right(t, style, tab->calls ? num_duration(each, t->num).s : "-", 10);
}

static void cause_line(struct text *t, const struct ledger_table *tab, enum cause c, uint64_t ns)
{
	enum cause_family f = cause_family(c);
	size_t width = strlen(cause_name(c));

	text_pad(t, 0, INDENT);
	text_tinted(t, f, cause_name(c));
	text_pad(t, width, NAME);
	if (tab->family)
		text_left(t, STYLE_DIM, f == FAMILY_UNKNOWN ? cause_help(c) : family_name(f), FAMILY);
	numbers(t, tab, ns ? STYLE_PLAIN : STYLE_DIM, ns);
	if (ns) {
		text_pad(t, 0, 2);
		bar(t, f, ns, tab->most, tab->bar);
	}
	buf_char(t->out, '\n');
}

static void plain_line(struct text *t, const struct ledger_table *tab, enum style style, const char *name, uint64_t ns)
{
	text_pad(t, 0, INDENT);
	text_left(t, style, name, NAME + (tab->family ? FAMILY : 0));
	numbers(t, tab, style, ns);
	buf_char(t->out, '\n');
}

static void ledger_head(struct text *t, const struct ledger_table *tab)
{
	const char *title = tab->family ? "where the sync time went" : "sync time by cause";

	text_left(t, STYLE_HEAD, title, INDENT + NAME + (tab->family ? FAMILY : 0));
	text_right(t, STYLE_DIM, "total", 10);
	text_right(t, STYLE_DIM, "share", 9);
	text_right(t, STYLE_DIM, "per call", 10);
	buf_char(t->out, '\n');
}

/* What is small stands together, as long as that saves a line; the unknown never does. */
static size_t minor_causes(const struct text *t, const struct ledger *l, const enum cause *order, size_t n, uint64_t least)
{
	size_t count = 0;

	for (size_t i = 0; i < n && !t->o->verbose; i++)
		count += order[i] != CAUSE_UNKNOWN && l->ns[order[i]] < least;
	return count > 1 ? count : 0;
}

static void ledger_lines(struct text *t, const struct ledger_table *tab, const struct ledger *l)
{
	uint64_t least = tab->sum / 100, together = 0;
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order), minor = minor_causes(t, l, order, n, least);
	bool unknown_last = l->ns[CAUSE_UNKNOWN] < least || !l->ns[CAUSE_UNKNOWN];
	char name[32];

	for (size_t i = 0; i < n; i++) {
		uint64_t ns = l->ns[order[i]];

		if (order[i] == CAUSE_UNKNOWN && unknown_last)
			continue;
		if (minor && ns < least)
			together += ns;
		else
			cause_line(t, tab, order[i], ns);
	}
	if (minor) {
		snprintf(name, sizeof(name), "%zu others", minor);
		plain_line(t, tab, STYLE_DIM, name, together);
	}
	if (unknown_last)
		cause_line(t, tab, CAUSE_UNKNOWN, l->ns[CAUSE_UNKNOWN]);
	plain_line(t, tab, STYLE_HEAD, "total", tab->sum);
}

/* The names are for those who know them; this is for the others. */
static void glossary(struct text *t, const struct ledger *l)
{
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);

	buf_char(t->out, '\n');
	for (size_t i = 0; i < n; i++) {
		text_pad(t, 0, INDENT);
		text_left(t, STYLE_DIM, cause_name(order[i]), NAME);
		text_wrap(t, STYLE_DIM, cause_help(order[i]), INDENT + NAME, INDENT + NAME);
	}
}

static void ledger(struct text *t, const struct report_sync *s)
{
	struct ledger_table tab = {
		.sum = ledger_sum(&s->ledger),
		.calls = s->count,
		.family = t->width >= INDENT + NAME + FAMILY + NUMBERS + 2 + BAR_MIN,
	};
	size_t used = INDENT + NAME + (tab.family ? FAMILY : 0) + NUMBERS + 2;
	struct buf b = { 0 };

	for (int c = 0; c < CAUSE_COUNT; c++)
		tab.most = s->ledger.ns[c] > tab.most ? s->ledger.ns[c] : tab.most;
	tab.bar = t->width - used < BAR_MAX ? t->width - used : BAR_MAX;
	ledger_head(t, &tab);
	ledger_lines(t, &tab, &s->ledger);
	if (tab.sum != s->total_ns) {
		buf_str(&b, "the causes do not add up to the time of the calls, ");
		text_dur(t, &b, s->total_ns);
		text_para_of(t, "WARNING", STYLE_WARN, &b);
	}
	if (t->o->verbose)
		glossary(t, &s->ledger);
}

/* --- facts beside the ledger --- */

/* "804 fdatasync: mean 7.82 ms, p50 7.41 ms, p99 24.1 ms, max 41.0 ms" */
static void calls(struct text *t, const struct report_sync *s)
{
	struct buf b = { 0 };

	for (unsigned int i = 0; i < sizeof(s->calls) / sizeof(s->calls[0]); i++) {
		if (s->calls[i])
			text_item(&b, "%s\x1f%s", num_count(s->calls[i]).s, call_name(i));
	}
	if (!b.len)
		text_item(&b, "%s", num_count(s->count).s);
	if (s->latency.count) {
		buf_str(&b, ": mean\x1f");
		text_dur(t, &b, hist_mean(&s->latency));
		buf_str(&b, ", p50\x1f");
		text_dur(t, &b, hist_quantile(&s->latency, 0.5));
		buf_str(&b, ", p99\x1f");
		text_dur(t, &b, hist_quantile(&s->latency, 0.99));
		buf_str(&b, ", max\x1f");
		text_dur(t, &b, s->latency.max);
	}
	text_para_of(t, "calls", STYLE_PLAIN, &b);
}

/* Calls of several threads overlap: their sum can be more than the run. */
static void share_of_run(struct text *t, const struct report_sync *s)
{
	const char *run = text_compact(t) ? "interval" : "run";
	uint64_t wall = t->r->wall_ns;
	struct buf b = { 0 };

	if (!wall)
		return;
	text_dur(t, &b, s->total_ns);
	if (s->total_ns <= wall) {
		buf_str(&b, " in sync calls, ");
		text_num(&b, num_percent(s->total_ns, wall, 0));
		buf_printf(&b, " of the %s's ", run);
	} else {
		buf_printf(&b, " in sync calls, several at once: %s\x1ftimes the %s's ", num_ratio(s->total_ns, wall).s,
			   run);
	}
	text_dur(t, &b, wall);
	text_para_of(t, "in all", STYLE_PLAIN, &b);
}

/* A flush that others asked for, or that waits behind their data, is not a slow flush of one's own. */
static void flushes(struct text *t, const struct report_sync *s)
{
	uint64_t sum = s->flush_own_ns + s->flush_foreign_ns;
	struct buf b = { 0 };

	if (sum) {
		text_dur(t, &b, sum);
		buf_str(&b, s->flush_foreign_ns ? " in FLUSHes, " : " in FLUSHes, all sent for the caller or its journal");
	}
	if (s->flush_foreign_ns) {
		text_dur(t, &b, s->flush_foreign_ns);
		buf_str(&b, " of it (");
		text_num(&b, num_percent(s->flush_foreign_ns, sum, 0));
		buf_str(&b, ") in those sent for others");
	}
	if (s->busy_flushes)
		buf_printf(&b, "%s%s\x1fother requests in the device, on average, when one was issued",
			   b.len ? "; " : "", num_ratio(s->busy_in_flight, s->busy_flushes).s);
	text_para_of(t, "flushes", STYLE_FLUSH, &b);
}

static void warnings(struct text *t, const struct report_sync *s)
{
	bool lost = s->no_ledger > s->without[NO_LEDGER_IDLE];
	struct buf b = { 0 };

	if (s->no_ledger) {
		buf_printf(&b, "%s\x1f%s no ledger (%s)", num_count(s->no_ledger).s,
			   s->no_ledger == 1 ? "call has" : "calls have", say_no_ledger(s).s);
		if (s->count) {
			buf_str(&b, ": ");
			text_num(&b, num_percent(s->no_ledger, s->count + s->no_ledger, 0));
			buf_str(&b, " of all, not in these figures");
		}
		text_para_of(t, lost ? "WARNING" : "note", lost ? STYLE_WARN : STYLE_DIM, &b);
	}
	/* a few that met a commit under way prove nothing; JSON has the number all the same */
	if (s->unsafe * REPORT_UNFLUSHED_SHARE >= s->count && s->unsafe) {
		buf_printf(&b,
			   "%s of %s\x1f%s without any FLUSH, though the disk's cache is volatile: "
			   "what was written may not survive a power cut",
			   num_count(s->unsafe).s, num_count(s->count).s,
			   s->count == 1 ? "call returned" : "calls returned");
		text_para_of(t, "WARNING", STYLE_WARN, &b);
	}
}

static void no_calls(struct text *t, const struct report_sync *s)
{
	const char *none = s->no_ledger		       ? "none whose time is known" :
			   t->r->under_way	       ? "none returned" :
			   t->r->filter		       ? "none of the filtered tasks" :
			   s->elsewhere		       ? "none on these disks" :
			   report_may_lack_calls(t->r) ? "none was seen" :
							 "none was made";
	struct buf b = { 0 };

	buf_str(&b, none);
	text_in_time(t, &b);
	text_para_of(t, "sync calls", STYLE_PLAIN, &b);
}

void text_sync(struct text *t)
{
	const struct report_sync *s = &t->r->sync;

	warnings(t, s);
	if (!s->count) {
		no_calls(t, s);
		return;
	}
	if (t->out->len > t->top)
		buf_char(t->out, '\n');
	ledger(t, s);
	if (!text_compact(t))
		buf_char(t->out, '\n');
	calls(t, s);
	share_of_run(t, s);
	if (!text_compact(t))
		flushes(t, s);
}
