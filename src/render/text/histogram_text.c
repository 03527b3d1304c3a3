// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram_text.c - where the time of the heaviest classes went, queue and device side by side on one
 * axis, a row per power of two:
 *
 *   write sync             queue 412, mean 4.31us        device 412, mean 248us
 *      1.02us - 2.05us     120 ######
 *   ...
 *       131us -  262us                                   401 ################
 */
#include <string.h>

#include "render/text/text.h"

#define ROWS	(HIST_TOP_BITS + 1) /* 0, then [2^(row-1), 2^row) */
#define INDENT	2
#define AXIS	18 /* "4.19 ms - 8.39 ms" */
#define COUNT	8
#define BAR_MAX 48
#define TOP	3

struct side {
	const char *name;
	const struct hist *h;
	uint64_t row[ROWS], most;
};

static void group(struct side *s)
{
	memset(s->row, 0, sizeof(s->row));
	s->most = 0;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t lower = hist_lower(i);
		unsigned int row = lower ? hist_log2(lower) + 1 : 0;

		s->row[row] += s->h->bucket[i];
		if (s->row[row] > s->most)
			s->most = s->row[row];
	}
}

/* Returns how many columns it took. */
static size_t bar(struct text *t, enum style style, uint64_t n, uint64_t most, size_t width)
{
	struct buf b = { 0 };
	size_t columns;

	text_bar(t, &b, n, most, width);
	columns = utf8_width(b.data, b.len);
	text_style(t, style, b.data);
	buf_free(&b);
	return columns;
}

static void axis(struct text *t, unsigned int row)
{
	uint64_t from = row ? 1ull << (row - 1) : 0;

	if (!row) {
		text_right(t, STYLE_PLAIN, "0", AXIS - 10);
		text_left(t, STYLE_DIM, " (at once)", 10);
		return;
	}
	text_right(t, STYLE_PLAIN, num_duration(from, t->num).s, 8);
	text_style(t, STYLE_DIM, t->o->unicode ? " – " : " - ");
	/* the topmost row also holds what is longer than it */
	text_left(t, STYLE_DIM, row == ROWS - 1 ? "more" : num_duration(1ull << row, t->num).s, 7);
}

static void row_line(struct text *t, const struct side *s, size_t n, unsigned int row, enum style style, size_t half)
{
	size_t pending = 0; /* blanks are written only before something */

	buf_fill(t->out, ' ', INDENT);
	axis(t, row);
	for (size_t i = 0; i < n; i++) {
		size_t used = COUNT + 1;

		if (!s[i].row[row]) {
			pending += half;
			continue;
		}
		buf_fill(t->out, ' ', pending);
		text_right(t, STYLE_PLAIN, num_count_fit(s[i].row[row]).s, COUNT);
		buf_char(t->out, ' ');
		used += bar(t, style, s[i].row[row], s[i].most, half - COUNT - 2);
		pending = half - used;
	}
	buf_char(t->out, '\n');
}

static bool row_empty(const struct side *s, size_t n, unsigned int row)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].row[row])
			return false;
	}
	return true;
}

static void rows(struct text *t, const struct side *s, size_t n, enum style style, size_t half)
{
	unsigned int row = 0, last = ROWS - 1, next;

	while (row_empty(s, n, row))
		row++;
	while (row_empty(s, n, last))
		last--;
	for (; row <= last; row = next) {
		for (next = row + 1; next <= last && row_empty(s, n, next);)
			next++;
		row_line(t, s, n, row, style, half);
		if (next <= last && next - row > 1) { /* a hole in the axis is said, not drawn */
			text_pad(t, 0, INDENT + 7);
			text_style(t, STYLE_DIM, t->o->unicode ? "⋮\n" : ":\n");
		}
	}
}

static void head(struct text *t, enum op_class c, const struct side *s, size_t n, size_t half)
{
	enum style style = c == OP_FLUSH ? STYLE_FLUSH : STYLE_HEAD;
	size_t used = half;

	buf_fill(t->out, ' ', INDENT);
	text_left(t, style, op_class_name(c), AXIS + 1);
	for (size_t i = 0; i < n; i++) {
		struct buf b = { 0 };

		buf_printf(&b, " %s %s", s[i].name, num_count_fit(s[i].h->count).s);
		if (half >= 30)
			buf_printf(&b, ", mean %s", num_duration(hist_mean(s[i].h), t->num).s);
		text_pad(t, used, half);
		text_style(t, STYLE_DIM, b.data);
		used = utf8_width(b.data, b.len);
		buf_free(&b);
	}
	buf_char(t->out, '\n');
}

static void class_hist(struct text *t, const struct report_device *d, enum op_class c)
{
	struct report_op op;
	struct side s[2] = { 0 };
	size_t n = 0, half, most;

	report_device_op(d, c, &op);
	if (d->bio_based) {
		s[n++] = (struct side){ .name = "total", .h = &op.total };
	} else {
		/* all zero: nothing waited, and the table has said so */
		if (op.queue.max)
			s[n++] = (struct side){ .name = "queue", .h = &op.queue };
		s[n++] = (struct side){ .name = "device", .h = &op.device };
	}
	if (!s[n - 1].h->count)
		return;
	for (size_t i = 0; i < n; i++)
		group(&s[i]);
	half = (t->width - INDENT - AXIS) / n;
	most = COUNT + 2 + BAR_MAX / n;
	if (half > most)
		half = most;
	buf_char(t->out, '\n');
	head(t, c, s, n, half);
	rows(t, s, n, text_class_style(c), half);
}

/* Heaviest first; the flush always belongs to them. */
void text_hists(struct text *t, const struct report_device *d)
{
	enum op_class order[OP_CLASSES];
	int shown = 0;

	report_device_by_weight(d, order);
	for (int i = 0; i < OP_CLASSES && report_device_weight(d, order[i]); i++)
		if (t->o->verbose || shown < TOP || order[i] == OP_FLUSH) {
			class_hist(t, d, order[i]);
			shown++;
		}
}
