// SPDX-License-Identifier: GPL-2.0-only
/* grid.c - a grid of cells: what stands where, clipped at every edge. */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/tui/screen_internal.h"

void screen_grid_size(struct screen_grid *g, unsigned int rows, unsigned int cols)
{
	size_t n = (size_t)rows * cols;

	g->rows = rows;
	g->cols = cols;
	g->cell = xrealloc(g->cell, (n + 1) * sizeof(*g->cell));
	memset(g->cell, 0, (n + 1) * sizeof(*g->cell));
	for (size_t i = 0; i < n; i++) {
		g->cell[i].text[0] = ' ';
		g->cell[i].width = 1;
	}
}

void screen_grid_free(struct screen_grid *g)
{
	free(g->cell);
	memset(g, 0, sizeof(*g));
}

static struct screen_cell *cell_at(const struct screen *s, unsigned int row, unsigned int col)
{
	return &s->g->cell[(size_t)row * s->g->cols + col];
}

static void set_cell(struct screen_cell *c, const char *text, size_t len, size_t width, int style)
{
	*c = (struct screen_cell){ .width = (uint8_t)width, .style = (uint8_t)style };
	memcpy(c->text, text, len);
}

/* Half of a wide character that is written over is no character. */
static void mend(const struct screen *s, unsigned int row, unsigned int col)
{
	if (col < s->g->cols && !cell_at(s, row, col)->width) {
		set_cell(cell_at(s, row, col), " ", 1, 1, cell_at(s, row, col)->style);
		if (col && cell_at(s, row, col - 1)->width == 2)
			set_cell(cell_at(s, row, col - 1), " ", 1, 1, cell_at(s, row, col - 1)->style);
	}
}

/* A mark that combines goes with the character before it, as long as there is room. */
static void combine(const struct screen *s, unsigned int row, unsigned int col, unsigned int from, const char *text,
		    size_t len)
{
	struct screen_cell *c;
	size_t have;

	if (col == from)
		return;
	c = cell_at(s, row, col - 1);
	if (!c->width)
		c--;
	have = strlen(c->text);
	if (have + len < sizeof(c->text))
		memcpy(c->text + have, text, len);
}

unsigned int screen_put(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			const char *text)
{
	unsigned int from = col;
	size_t len, width;
	uint32_t cp;

	end = end < s->g->cols ? end : s->g->cols;
	if (row >= s->g->rows)
		return col;
	for (; *text; text += len) {
		len = utf8_decode(text, &cp);
		width = utf8_width(text, len);
		if (!width) {
			combine(s, row, col, from, text, len);
			continue;
		}
		if (col + width > end)
			break;
		mend(s, row, col);
		mend(s, row, col + (unsigned int)width);
		set_cell(cell_at(s, row, col), text, len, width, style);
		if (width == 2)
			set_cell(cell_at(s, row, col + 1), "", 0, 0, style);
		col += (unsigned int)width;
	}
	return col;
}

unsigned int screen_put_cut(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			    const char *text)
{
	end = end < s->g->cols ? end : s->g->cols;
	if (col >= end)
		return col;
	if (utf8_width(text, strlen(text)) <= end - col)
		return screen_put(s, row, col, end, style, text);
	col = screen_put(s, row, col, end - 1, style, text);
	return screen_put(s, row, col, end, style, s->state->unicode ? "…" : "~");
}

unsigned int screen_put_raw(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
			    const char *raw)
{
	struct buf b = { 0 };

	utf8_escape(&b, raw, s->state->unicode);
	if (b.data)
		col = screen_put_cut(s, row, col, end, style, b.data);
	buf_free(&b);
	return col;
}

void screen_put_path(const struct screen *s, unsigned int row, unsigned int col, unsigned int end, int style,
		     const char *raw)
{
	struct buf b = { 0 };
	size_t from = 0;
	uint32_t cp;

	end = end < s->g->cols ? end : s->g->cols;
	utf8_escape(&b, raw, s->state->unicode);
	while (b.len > from && col < end && utf8_width(b.data + from, b.len - from) > end - col - (from > 0))
		from += utf8_decode(b.data + from, &cp);
	if (from)
		col = screen_put(s, row, col, end, style, s->state->unicode ? "…" : "~");
	if (b.data)
		screen_put(s, row, col, end, style, b.data + from);
	buf_free(&b);
}

unsigned int screen_right(const struct screen *s, unsigned int row, unsigned int end, int style, const char *text)
{
	unsigned int width = (unsigned int)utf8_width(text, strlen(text));

	if (width > end)
		return end;
	screen_put(s, row, end - width, end, style, text);
	return end - width;
}

void screen_paint(const struct screen *s, unsigned int row, int style)
{
	if (row >= s->g->rows)
		return;
	for (unsigned int col = 0; col < s->g->cols; col++)
		cell_at(s, row, col)->style = (uint8_t)style;
}

void screen_choose(const struct screen *s, unsigned int row, unsigned int end)
{
	for (unsigned int col = 0; row < s->g->rows && col < end && col < s->g->cols; col++)
		cell_at(s, row, col)->style = SCREEN_CHOSEN;
}

/* Bytes of the line at the start of text: up to the last blank that fits, or all that fits of a long word. */
static size_t line_length(const char *text, size_t room)
{
	size_t best = 0, fit = 0;
	uint32_t cp;

	while (text[fit] && utf8_width(text, fit + utf8_decode(text + fit, &cp)) <= room) {
		if (text[fit] == ' ')
			best = fit;
		fit += utf8_decode(text + fit, &cp);
	}
	return !text[fit] || text[fit] == ' ' || !best ? fit : best;
}

unsigned int screen_wrap(const struct screen *s, struct area a, int style, const char *text)
{
	unsigned int used = 0;

	while (*text && used < a.rows && s->g->cols) {
		size_t n = line_length(text, s->g->cols);
		char *line = xasprintf("%.*s", (int)n, text);

		if (!n) /* a character wider than the screen */
			used = a.rows;
		else if (used + 1 == a.rows)
			screen_put_cut(s, a.top + used, 0, s->g->cols, style, text);
		else
			screen_put(s, a.top + used, 0, s->g->cols, style, line);
		free(line);
		text += n;
		text += strspn(text, " ");
		used++;
	}
	return used < a.rows ? used : a.rows;
}

unsigned int screen_title(const struct screen *s, unsigned int row, enum screen_pane pane, const char *text)
{
	bool focus = s->state->focus == pane;

	screen_paint(s, row, SCREEN_TITLE);
	/* not by its style alone: a terminal may show none */
	if (focus)
		screen_put(s, row, 0, 1, SCREEN_FOCUS, ">");
	return screen_put(s, row, 1, s->g->cols, focus ? SCREEN_FOCUS : SCREEN_TITLE, text);
}
