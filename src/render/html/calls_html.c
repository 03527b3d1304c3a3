// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_html.c - whose sync calls, on which files, and the slowest ones. The script takes a call's ledger from its row:
 * data-ledger="11:4990000 12:4030000", numbers of causes and nanoseconds; cause_data() says what the numbers mean.
 */
#include "render/html/html.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/mem.h"

/* ---- by process, by file ---- */

static int most_time_first(const void *a, const void *b)
{
	const struct report_group *const *x = a, *const *y = b;

	if ((*x)->total_ns != (*y)->total_ns)
		return (*x)->total_ns > (*y)->total_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static void group_name(struct buf *b, const struct report_group *g, bool process)
{
	buf_str(b, "<th scope=\"row\" class=\"name\">");
	if (process)
		html_text(b, g->comm && *g->comm ? g->comm : "?");
	else
		html_text(b, g->path && *g->path ? g->path : "(no file)");
	buf_str(b, "</th>");
	if (process && g->pid)
		buf_printf(b, "<td class=\"n\" data-v=\"%u\">%u</td>", g->pid, g->pid);
	else if (!process && g->device)
		html_cell_text(b, g->device);
	else
		html_cell_none(b);
}

static void group_row(struct buf *b, const struct report_group *g, bool process, bool folded)
{
	uint64_t mean = g->count ? (g->total_ns + g->count / 2) / g->count : 0, p99 = tally_quantile(&g->latency, 0.99);

	buf_str(b, folded ? "<tr hidden>" : "<tr>");
	group_name(b, g, process);
	html_cell_count(b, g->count);
	html_cell_dur(b, g->total_ns);
	html_cell_if(b, g->count, mean, num_duration(mean, 0));
	html_cell_if(b, g->latency.count, p99, num_duration(p99, 0));
	buf_str(b, "<td class=\"what\">");
	html_stack(b, &g->ledger);
	html_causes(b, &g->ledger, 3);
	buf_str(b, "</td></tr>\n");
}

static void groups(struct buf *b, const char *caption, const struct report_group *g, size_t n, bool process)
{
	const struct html_column columns[] = {
		{ process ? "process" : "file", 's' },
		{ process ? "pid" : "device", process ? 'n' : 's' },
		{ "calls", 'n' },
		{ "total", 'n' },
		{ "mean", 'n' },
		{ "p99", 'n' },
		{ "what for", ' ' },
	};
	const struct report_group **order = xcalloc(n + 1, sizeof(*order));
	size_t begin, i;

	for (i = 0; i < n; i++)
		order[i] = &g[i];
	qsort(order, n, sizeof(*order), most_time_first);
	buf_printf(b, "<div class=\"groups\" data-fold=\"%d\">\n", HTML_FOLD_GROUPS);
	begin = b->len;
	html_table(b, caption, columns, 7, 3);
	for (i = 0; i < n && b->len - begin < HTML_ROOM_TABLE; i++)
		group_row(b, order[i], process, i >= HTML_FOLD_GROUPS);
	html_table_end(b, NULL);
	if (i < n)
		buf_printf(b,
			   "<p class=\"aside\">%zu more %s left out here: <code>--csv</code> and "
			   "<code>--json</code> have them all.</p>\n",
			   n - i, n - i == 1 ? "is" : "are");
	buf_str(b, "</div>\n");
	free(order);
}

void html_groups(struct buf *b, const struct report *r)
{
	const struct report_sync *s = &r->sync;

	if (!r->have_sync)
		return;
	if (s->n_processes)
		groups(b, "Sync calls by process", s->process, s->n_processes, true);
	if (s->n_files)
		groups(b, "Sync calls by file", s->file, s->n_files, false);
}

/* ---- the slowest ---- */

static void ledger_data(struct buf *b, const struct ledger *l)
{
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);

	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%d:%" PRIu64, i ? " " : "", (int)order[i], l->ns[order[i]]);
}

static void call_row(struct buf *b, const struct report_call *c, size_t i)
{
	buf_printf(b, "<tr%s data-call=\"%zu\" data-ledger=\"", i < HTML_FOLD_CALLS ? "" : " hidden", i);
	ledger_data(b, &c->ledger);
	buf_printf(b, "\"><td class=\"n\" data-v=\"%" PRIu64 "\"><span class=\"pick\">", c->duration_ns);
	html_dur(b, c->duration_ns);
	buf_str(b, "</span></td>");
	html_cell_dur(b, c->start_ns);
	html_cell_text(b, c->call);
	html_who(b, c->comm, c->pid, c->tid);
	buf_str(b, "</small></td>");
	html_cell_file(b, c->path, c->device);
	buf_str(b, "<td class=\"what\">");
	html_stack(b, &c->ledger);
	html_causes(b, &c->ledger, 3);
	buf_str(b, "</td></tr>\n");
}

/* For the script: name, help and colour of each cause, by its number. */
static void cause_data(struct buf *b)
{
	buf_str(b, "<script type=\"application/json\" id=\"causes\">[");
	for (int c = 0; c < CAUSE_COUNT; c++)
		buf_printf(b, "%s[\"%s\",\"%s\",\"%s\"]", c ? "," : "", cause_name((enum cause)c),
			   html_family(cause_family((enum cause)c)).s, cause_help((enum cause)c));
	buf_str(b, "]</script>\n");
}

void html_slowest(struct buf *b, const struct report *r)
{
	static const struct html_column columns[] = {
		{ "duration", 'n' }, { "began at", 'n' }, { "call", 's' },
		{ "process", 's' },  { "file", 's' },	  { "what for", ' ' },
	};
	const struct report_sync *s = &r->sync;

	if (!s->n_slowest)
		return;
	buf_str(b, "<div id=\"picked\" class=\"picked\" aria-live=\"polite\" hidden></div>\n");
	buf_printf(b, "<div class=\"slowest\" data-fold=\"%d\">", HTML_FOLD_CALLS);
	html_table(b, s->n_slowest < s->count ? "The slowest sync calls" : "The sync calls, slowest first", columns, 6, 0);
	for (size_t i = 0; i < s->n_slowest; i++)
		call_row(b, &s->slowest[i], i);
	html_table_end(b, NULL);
	buf_str(b, "</div>\n");
	cause_data(b);
}
