// SPDX-License-Identifier: GPL-2.0-only
/* outstanding_html.c - sync calls that have not returned: below the answer, above all figures. */
#include <inttypes.h>

#include "model/outstanding.h"
#include "render/html/html.h"

#define SHOWN 64

static void duration(struct buf *b, const struct report_outstanding *o)
{
	buf_printf(b, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s", o->ns, o->before ? "≥" NBSP : "");
	html_dur(b, o->ns);
	buf_str(b, "</td>");
}

static void process(struct buf *b, const struct report *r, const struct report_outstanding *o)
{
	html_who(b, o->comm, o->pid, o->tid);
	if (o->other)
		buf_str(b, r->command ? ", not the command’s" : ", not of the filtered tasks");
	buf_str(b, "</small>");
	if (o->cmdline)
		html_text_in(b, "<small><code>", o->cmdline, "</code></small>");
	buf_str(b, "</td>");
}

static void row(struct buf *b, const struct report *r, const struct report_outstanding *o)
{
	struct buf wait = { 0 };

	buf_str(b, "<tr>");
	duration(b, o);
	html_cell_text(b, o->call);
	process(b, r, o);
	html_cell_file(b, o->path, o->device);
	outstanding_wait(o, &wait);
	buf_str(b, "<td class=\"what\">");
	html_prose(b, wait.data);
	if (o->where)
		html_text_in(b, "<br><small>in <code>", o->where, "</code></small>");
	buf_str(b, "</td></tr>\n");
	buf_free(&wait);
}

void html_outstanding(struct buf *b, const struct report *r)
{
	static const struct html_column columns[] = {
		{ "for", 'n' }, { "call", 's' }, { "process", 's' }, { "file", 's' }, { "what it waits for", ' ' },
	};

	if (!r->n_outstanding)
		return;
	buf_str(b, "<div class=\"outstanding\">\n");
	html_table(b, "Sync calls that have not returned", columns, 5, 0);
	for (size_t i = 0; i < r->n_outstanding && i < SHOWN; i++)
		row(b, r, &r->outstanding[i]);
	html_table_end(b, NULL);
	buf_str(b, "</div>\n");
}
