// SPDX-License-Identifier: GPL-2.0-only
/*
 * op_table.c - the classes of a device, one row each:
 *
 *                               --- queue ----------  --- device ---------------
 *                count   bytes    p50    p99     max    p50    p90    p99    max
 *   write sync     412  3.1MiB  2.1us 31.6us  1.20ms  240us  262us  301us 1.10ms
 */
#include <string.h>

#include "render/text/text.h"

#define INDENT	     2
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

enum source { SRC_NAME, SRC_COUNT, SRC_BYTES, SRC_QUEUE, SRC_DEVICE, SRC_TOTAL };

/* clang-format off */
enum column {
	COL_NAME, COL_COUNT, COL_BYTES, COL_Q50, COL_Q99, COL_QMAX,
	COL_D50, COL_D90, COL_D99, COL_DMAX, COL_T50, COL_T90, COL_T99, COL_TMAX, COLS
};

static const struct {
	const char *head;
	enum source source;
	double q;		/* 1: the exact maximum */
} columns[COLS] = {
	[COL_NAME] = { "", SRC_NAME, 0 },
	[COL_COUNT] = { "count", SRC_COUNT, 0 },
	[COL_BYTES] = { "bytes", SRC_BYTES, 0 },
	[COL_Q50] = { "p50", SRC_QUEUE, 0.5 },
	[COL_Q99] = { "p99", SRC_QUEUE, 0.99 },
	[COL_QMAX] = { "max", SRC_QUEUE, 1 },
	[COL_D50] = { "p50", SRC_DEVICE, 0.5 },
	[COL_D90] = { "p90", SRC_DEVICE, 0.9 },
	[COL_D99] = { "p99", SRC_DEVICE, 0.99 },
	[COL_DMAX] = { "max", SRC_DEVICE, 1 },
	[COL_T50] = { "p50", SRC_TOTAL, 0.5 },
	[COL_T90] = { "p90", SRC_TOTAL, 0.9 },
	[COL_T99] = { "p99", SRC_TOTAL, 0.99 },
	[COL_TMAX] = { "max", SRC_TOTAL, 1 },
};

static const char *const group_names[] = {
	[SRC_QUEUE] = "queue", [SRC_DEVICE] = "device", [SRC_TOTAL] = "total",
};

#define BIT(c) (1u << (c))
#define COLS_REQ (BIT(COL_Q50) | BIT(COL_Q99) | BIT(COL_QMAX) | BIT(COL_D50) | BIT(COL_D90) | \
		  BIT(COL_D99) | BIT(COL_DMAX))
/* clang-format on */
#define COLS_BIO (BIT(COL_T50) | BIT(COL_T90) | BIT(COL_T99) | BIT(COL_TMAX))

/* Ways to make it fit, from roomy to cramped. */
/* clang-format off */
static const struct {
	unsigned int flags, gap, lead, drop;	/* lead: more blanks before a group */
} fits[] = {
	{ 0, 2, 2, 0 },
	{ NUM_TIGHT, 2, 1, 0 },
	{ NUM_TIGHT, 1, 2, 0 },
	{ NUM_TIGHT, 1, 1, 0 },
	{ NUM_TIGHT, 1, 0, 0 },
	{ NUM_TIGHT, 1, 0, BIT(COL_D90) | BIT(COL_T90) },
	{ NUM_TIGHT, 1, 0, BIT(COL_D90) | BIT(COL_T90) | BIT(COL_Q99) },
	{ NUM_TIGHT, 1, 0, BIT(COL_D90) | BIT(COL_T90) | BIT(COL_Q99) | BIT(COL_BYTES) },
};
/* clang-format on */

struct cell {
	char s[40];
	enum style style;
};

struct table {
	struct cell cell[OP_CLASSES][COLS];
	enum op_class class[OP_CLASSES];
	size_t rows, width[COLS], gap, lead;
	unsigned int shown;
};

enum style text_class_style(enum op_class c)
{
	return c == OP_FLUSH ? STYLE_FLUSH : STYLE_PLAIN;
}

static const struct tally *column_hist(const struct report_op_tally *op, enum source s)
{
	return s == SRC_QUEUE ? &op->queue : s == SRC_DEVICE ? &op->device : &op->total;
}

static struct num cell_number(const struct report_op_tally *op, enum column c, unsigned int flags)
{
	const struct tally *h;

	switch (columns[c].source) {
	case SRC_COUNT: return num_count_fit(op->count);
	case SRC_BYTES: return op->bytes ? num_bytes(op->bytes, flags) : (struct num){ "-" };
	default:
		h = column_hist(op, columns[c].source);
		if (!h->count)
			return (struct num){ "-" };
		if (columns[c].q >= 1)
			return num_duration(h->max, flags);
		return num_duration(tally_quantile(h, columns[c].q), flags);
	}
}

static void fill_row(struct table *tab, size_t row, const struct report_op_tally *op, unsigned int flags)
{
	enum op_class class = tab->class[row];

	for (int c = 0; c < COLS; c++) {
		struct cell *cell = &tab->cell[row][c];

		cell->style = text_class_style(class);
		if (c == COL_NAME)
			strcpy(cell->s, op_class_name(class));
		else
			memcpy(cell->s, cell_number(op, c, flags).s, sizeof(cell->s));
		if (!strcmp(cell->s, "-") || !strncmp(cell->s, "0 ", 2) || !strcmp(cell->s, "0ns"))
			cell->style = STYLE_DIM;
	}
}

/* Blanks before a column. */
static size_t before(const struct table *tab, int c)
{
	bool first = c > COL_BYTES && columns[c].source != columns[c - 1].source;

	return c ? tab->gap + (first ? tab->lead : 0) : 0;
}

/* Fills the cells and returns how wide the table is. */
static size_t lay_out(struct table *tab, const struct report_device *d, size_t fit, unsigned int num)
{
	size_t total = INDENT;

	tab->gap = fits[fit].gap;
	tab->lead = fits[fit].lead;
	tab->shown = (BIT(COL_NAME) | BIT(COL_COUNT) | BIT(COL_BYTES) | (d->bio_based ? COLS_BIO : COLS_REQ)) &
		     ~fits[fit].drop;
	for (size_t i = 0; i < tab->rows; i++)
		fill_row(tab, i, &d->op[tab->class[i]], fits[fit].flags | num);
	for (int c = 0; c < COLS; c++) {
		tab->width[c] = strlen(columns[c].head);
		for (size_t i = 0; i < tab->rows; i++) {
			const char *s = tab->cell[i][c].s;
			size_t w = utf8_width(s, strlen(s));

			if (w > tab->width[c])
				tab->width[c] = w;
		}
		if (tab->shown & BIT(c))
			total += before(tab, c) + tab->width[c];
	}
	return total;
}

/* One name over the columns of a group, drawn out to their width. */
static void group_head(struct text *t, const struct table *tab, int *c)
{
	enum source s = columns[*c].source;
	const char *name = group_names[s], *rule = t->o->unicode ? "─" : "-";
	size_t width = 0, name_width = strlen(name), blanks = before(tab, *c);
	struct buf line = { 0 };

	for (; *c < COLS && columns[*c].source == s; (*c)++) {
		if (tab->shown & BIT(*c))
			width += tab->width[*c] + (width ? tab->gap : 0);
	}
	if (!width)
		return;
	buf_fill(t->out, ' ', blanks);
	text_style(t, STYLE_HEAD, name);
	for (size_t i = name_width; i < width; i++)
		buf_str(&line, i == name_width ? " " : rule);
	text_style(t, STYLE_DIM, line.data ? line.data : "");
	buf_free(&line);
}

static void heads(struct text *t, const struct table *tab)
{
	size_t blanks = INDENT;
	int c;

	for (c = COL_NAME; c <= COL_BYTES; c++) {
		if (tab->shown & BIT(c))
			blanks += before(tab, c) + tab->width[c];
	}
	buf_fill(t->out, ' ', blanks);
	while (c < COLS)
		group_head(t, tab, &c);
	buf_char(t->out, '\n');
	buf_fill(t->out, ' ', INDENT);
	for (c = 0; c < COLS; c++) {
		if (!(tab->shown & BIT(c)))
			continue;
		buf_fill(t->out, ' ', before(tab, c));
		text_right(t, STYLE_DIM, columns[c].head, tab->width[c]);
	}
	buf_char(t->out, '\n');
}

static void body(struct text *t, const struct table *tab)
{
	for (size_t i = 0; i < tab->rows; i++) {
		const struct cell *cell = tab->cell[i];

		buf_fill(t->out, ' ', INDENT);
		text_left(t, cell[0].style, cell[0].s, tab->width[0]);
		for (int c = 1; c < COLS; c++) {
			if (!(tab->shown & BIT(c)))
				continue;
			buf_fill(t->out, ' ', before(tab, c));
			text_right(t, cell[c].style, cell[c].s, tab->width[c]);
		}
		buf_char(t->out, '\n');
	}
}

void text_table(struct text *t, const struct report_device *d)
{
	struct table tab = { 0 };

	for (int c = 0; c < OP_CLASSES; c++) {
		if (d->op[c].count)
			tab.class[tab.rows++] = c;
	}
	if (!tab.rows)
		return;
	buf_char(t->out, '\n');
	for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
		if (lay_out(&tab, d, i, t->num) <= t->width)
			break;
	}
	heads(t, &tab);
	body(t, &tab);
	if (d->op[OP_WRITE_BARRIER].count && !t->o->quiet)
		text_style(t, STYLE_DIM, "  write barrier: the data step of journal commits\n");
}
