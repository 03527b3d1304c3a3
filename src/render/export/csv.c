// SPDX-License-Identifier: GPL-2.0-only
/*
 * csv.c - the tables as RFC 4180 says: a header, CRLF, quotes where a cell needs them. A cell that is not known is
 * empty; a known text that is empty is "".
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/mem.h"
#include "render/export/tables.h"
#include "util/utf8.h"

struct csv {
	struct rows rows;
	struct buf *out;
	bool inside; /* the row has a cell already */
};

static struct buf *cell(struct rows *to)
{
	struct csv *c = (struct csv *)to;

	if (c->inside)
		buf_char(c->out, ',');
	c->inside = true;
	return c->out;
}

static void add_integer(struct rows *to, uint64_t v)
{
	buf_printf(cell(to), "%" PRIu64, v);
}

/* Six decimals, whatever the locale; what is no number is not known. */
static void add_real(struct rows *to, double v)
{
	struct buf *out = cell(to);
	uint64_t millionths;

	if (!(v >= 0 && v < 1e12))
		return;
	millionths = (uint64_t)llround(v * 1e6);
	buf_printf(out, "%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
}

/* A spreadsheet takes a cell that begins like this for a formula, quoted or not. */
static bool is_formula(const char *s)
{
	static const uint32_t wide[] = { 0xff1d, 0xff0b, 0xff0d, 0xff20 }; /* full-width = + - @ */
	uint32_t cp;

	utf8_decode(s, &cp);
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (cp == wide[i])
			return true;
	return cp < 0x80 && strchr("=+-@", (int)cp);
}

static bool wants_quotes(const char *s)
{
	size_t n = strlen(s);

	return !n || strpbrk(s, ",;\"") || s[0] == ' ' || s[n - 1] == ' ';
}

static void add_quoted(struct buf *out, const char *s)
{
	if (!wants_quotes(s) && !is_formula(s)) {
		buf_str(out, s);
		return;
	}
	buf_str(out, *s && is_formula(s) ? "\"'" : "\"");
	for (; *s; s++) {
		if (*s == '"')
			buf_char(out, '"');
		buf_char(out, *s);
	}
	buf_char(out, '"');
}

/* No control character is left in it, so no cell has a line end inside. */
static void add_text(struct rows *to, const char *raw)
{
	struct buf *out = cell(to), room = { 0 };

	if (!raw)
		return;
	add_quoted(out, row_safe(&room, raw));
	buf_free(&room);
}

static void add_none(struct rows *to)
{
	cell(to);
}

static void end_row(struct rows *to)
{
	struct csv *c = (struct csv *)to;

	buf_str(c->out, "\r\n");
	c->inside = false;
}

static void header(const struct table *t, struct rows *to)
{
	for (size_t i = 0; t->column[i]; i++)
		buf_add(cell(to), t->column[i], strcspn(t->column[i], " "));
	to->end(to);
}

const char *render_csv_file(size_t table)
{
	return tables[table].file;
}

void render_csv(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct csv c = { { add_integer, add_real, add_text, add_none, end_row }, out, false };

	header(&tables[o->table], &c.rows);
	tables[o->table].fill(r, &c.rows);
}
