// SPDX-License-Identifier: GPL-2.0-only
/* markup.c - text, numbers and tables of the page. Whatever comes from the world goes through html_text(). */
#include "render/html/html.h"

#include <inttypes.h>
#include <string.h>

#include "render/command_line.h"
#include "render/svg/svg.h"
#include "util/utf8.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Control characters and broken UTF-8 as \xNN, as in the text output. */
void html_text(struct buf *b, const char *raw)
{
	struct buf safe = { 0 };

	utf8_escape(&safe, raw ? raw : "?", true);
	if (safe.data)
		svg_escape(b, safe.data, safe.len);
	buf_free(&safe);
}

static bool unit_follows(const char *s)
{
	static const char *const units[] = {
		"ns", "µs", "ms", "s", "min", "h", "d", "%", "B", "KiB", "MiB", "GiB", "TiB",
	};
	size_t word = strcspn(s, " ,.;:)");

	for (size_t u = 0; u < ARRAY_LEN(units); u++)
		if (word == strlen(units[u]) && !strncmp(s, units[u], word))
			return true;
	return false;
}

void html_prose(struct buf *b, const char *raw)
{
	struct buf glued = { 0 };
	const char *s;

	for (s = raw ? raw : "?"; *s; s++) {
		if (*s == ' ' && s > raw && s[-1] >= '0' && s[-1] <= '9' && unit_follows(s + 1))
			buf_str(&glued, NBSP);
		else
			buf_char(&glued, *s);
	}
	if (glued.data)
		html_text(b, glued.data);
	buf_free(&glued);
}

void html_num(struct buf *b, struct num n)
{
	html_prose(b, n.s);
}

void html_dur(struct buf *b, uint64_t ns)
{
	html_num(b, num_duration(ns, 0));
}

void html_text_in(struct buf *b, const char *before, const char *raw, const char *after)
{
	buf_str(b, before);
	html_text(b, raw);
	buf_str(b, after);
}

void html_prose_in(struct buf *b, const char *before, const char *raw, const char *after)
{
	buf_str(b, before);
	html_prose(b, raw);
	buf_str(b, after);
}

void html_num_in(struct buf *b, const char *before, struct num n, const char *after)
{
	html_prose_in(b, before, n.s, after);
}

void html_arguments(struct buf *b, char *const *argv)
{
	struct buf line = { 0 };

	command_line_add(&line, argv, true);
	if (line.data)
		svg_escape(b, line.data, line.len);
	buf_free(&line);
}

void html_permyriad(struct buf *b, const char *property, uint64_t part, uint64_t whole)
{
	unsigned int p = !whole	       ? 0 :
			 part >= whole ? 10000 :
					 (unsigned int)((double)part / (double)whole * 10000 + 0.5);

	buf_printf(b, "%s:%u.%02u%%", property, p / 100, p % 100);
}

struct num html_family(enum cause_family f)
{
	struct num n = { "f-" };
	size_t at = 2;

	for (const char *s = family_name(f); *s && at + 1 < sizeof(n.s); s++) {
		bool upper = *s >= 'A' && *s <= 'Z', lower = *s >= 'a' && *s <= 'z';

		n.s[at++] = (char)(upper ? *s | 0x20 : lower ? *s : '-');
	}
	n.s[at] = '\0';
	return n;
}

void html_who(struct buf *b, const char *comm, uint32_t pid, uint32_t tid)
{
	buf_str(b, "<td class=\"who\"><span>");
	html_text(b, comm && *comm ? comm : "?");
	buf_printf(b, "</span> <small>%u", pid);
	if (tid && tid != pid)
		buf_printf(b, ", thread %u", tid);
}

void html_cell_file(struct buf *b, const char *path, const char *device)
{
	html_text_in(b, "<td class=\"name path\"><span>", path && *path ? path : "(no file)", "</span>");
	if (device)
		html_text_in(b, " <small>", device, "</small>");
	buf_str(b, "</td>");
}

/* ---- tables ---- */

void html_cell_text(struct buf *b, const char *raw)
{
	html_text_in(b, "<td>", raw, "</td>");
}

static void number_cell(struct buf *b, uint64_t value, struct num n)
{
	buf_printf(b, "<td class=\"n\" data-v=\"%" PRIu64 "\">", value);
	html_num(b, n);
	buf_str(b, "</td>");
}

void html_cell_count(struct buf *b, uint64_t n)
{
	number_cell(b, n, num_count(n));
}

void html_cell_dur(struct buf *b, uint64_t ns)
{
	number_cell(b, ns, num_duration(ns, 0));
}

void html_cell_if(struct buf *b, bool known, uint64_t value, struct num n)
{
	if (known)
		number_cell(b, value, n);
	else
		html_cell_none(b);
}

void html_cell_none(struct buf *b)
{
	buf_str(b, "<td class=\"n none\"><span aria-label=\"none\">–</span></td>");
}

void html_table(struct buf *b, const char *caption, const struct html_column *columns, size_t n, size_t sorted)
{
	html_text_in(b, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"", caption, "\"><table><caption>");
	html_text(b, caption);
	buf_str(b, "</caption><thead><tr>");
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].head[0]) {
			buf_str(b, "<td></td>");
			continue;
		}
		buf_printf(b, "<th scope=\"col\"%s", columns[i].type == 'n' ? " class=\"n\"" : "");
		if (columns[i].type != ' ')
			buf_printf(b, " data-sort=\"%c\"", columns[i].type);
		if (i == sorted)
			buf_printf(b, " aria-sort=\"%s\"", columns[i].type == 'n' ? "descending" : "ascending");
		buf_char(b, '>');
		html_text(b, columns[i].head);
		buf_str(b, "</th>");
	}
	buf_str(b, "</tr></thead><tbody>\n");
}

void html_table_end(struct buf *b, const struct buf *foot)
{
	buf_str(b, "</tbody>");
	if (foot)
		buf_add(b, foot->data, foot->len);
	buf_str(b, "</table></div>\n");
}

void html_fact(struct buf *b, const char *name)
{
	html_text_in(b, "<div><dt>", name, "</dt><dd>");
}

void html_fact_end(struct buf *b)
{
	buf_str(b, "</dd></div>\n");
}
