// SPDX-License-Identifier: GPL-2.0-only
/* layout.c - widths, styles, padding, paragraphs: everything that counts columns. */
#include <math.h>
#include <string.h>

#include "render/text/text.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     60
#define WIDTH_MAX     200
#define INDENT	      2
#define LABEL	      11 /* "on top of" and two blanks */

/* clang-format off */
static const char *const style_on[] = {
	[STYLE_PLAIN] = "",
	[STYLE_HEAD] = "\x1b[1m",
	[STYLE_FLUSH] = "\x1b[36m",
	[STYLE_DIM] = "\x1b[2m",
	[STYLE_WARN] = "\x1b[1;33m",
};
/* clang-format on */

static const char *const family_on[FAMILY_COUNT] = {
	[FAMILY_HOST] = "",
	[FAMILY_CPU_SCHEDULER] = "\x1b[35m",
	[FAMILY_IO_SCHEDULER] = "\x1b[94m",
	[FAMILY_DEVICE] = "\x1b[33m",
	[FAMILY_FLUSH] = "\x1b[36m", /* as the flush of a device: STYLE_FLUSH */
	[FAMILY_FILE_SYSTEM] = "\x1b[32m",
	[FAMILY_UNKNOWN] = "\x1b[31m",
};

struct text text_start(const struct report *r, const struct render_opts *o, struct buf *out)
{
	struct text t = {
		.r = r,
		.o = o,
		.out = out,
		.width = o->width ? o->width : WIDTH_DEFAULT,
		.num = o->unicode ? 0 : NUM_ASCII,
	};

	if (t.width < WIDTH_MIN)
		t.width = WIDTH_MIN;
	if (t.width > WIDTH_MAX)
		t.width = WIDTH_MAX;
	return t;
}

bool text_compact(const struct text *t)
{
	return t->r->interval && !t->r->final;
}

static void styled(struct text *t, enum style style, const char *s, size_t n)
{
	bool color = t->o->color && style != STYLE_PLAIN && n;

	if (color)
		buf_str(t->out, style_on[style]);
	for (size_t i = 0; i < n; i++)
		buf_char(t->out, s[i] == GLUE ? ' ' : s[i]);
	if (color)
		buf_str(t->out, "\x1b[0m");
}

void text_style(struct text *t, enum style style, const char *s)
{
	styled(t, style, s, strlen(s));
}

/* A cause has its family's colour wherever it stands. */
void text_tinted(struct text *t, enum cause_family f, const char *s)
{
	bool color = t->o->color && *family_on[f];

	if (color)
		buf_str(t->out, family_on[f]);
	text_style(t, STYLE_PLAIN, s);
	if (color)
		buf_str(t->out, "\x1b[0m");
}

void text_pad(struct text *t, size_t from, size_t to)
{
	if (to > from)
		buf_fill(t->out, ' ', to - from);
}

void text_left(struct text *t, enum style style, const char *s, size_t width)
{
	text_style(t, style, s);
	text_pad(t, utf8_width(s, strlen(s)), width);
}

void text_right(struct text *t, enum style style, const char *s, size_t width)
{
	text_pad(t, utf8_width(s, strlen(s)), width);
	text_style(t, style, s);
}

void text_bar(const struct text *t, struct buf *b, uint64_t part, uint64_t whole, size_t width)
{
	static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t steps = t->o->unicode ? 8 : 1, most = width * steps;
	size_t len = (size_t)((double)part / (double)whole * (double)most + 0.5);

	len = len < 1 ? 1 : len > most ? most : len;
	for (size_t i = 0; i < len / steps; i++)
		buf_str(b, t->o->unicode ? "█" : "#");
	buf_str(b, eighth[len % steps]);
}

/* Bytes of the line that starts at s: to the last blank that fits, or a cut through a long word, behind a character at least. */
static size_t line_length(const char *s, size_t room)
{
	size_t at = 0, blank = 0, width = 0, len;
	uint32_t cp;

	for (; s[at]; at += len) {
		len = utf8_decode(s + at, &cp);
		if (s[at] == ' ')
			blank = at;
		width += utf8_width(s + at, len);
		if (width > room)
			return blank ? blank : at ? at : len;
	}
	return at;
}

void text_wrap(struct text *t, enum style style, const char *body, size_t at, size_t indent)
{
	while (*body) {
		/* what stands before may have eaten the line */
		bool room = t->width > at + INDENT + LABEL;
		size_t n = line_length(body, room ? t->width - at : LABEL);

		styled(t, style, body, n);
		body += n;
		body += strspn(body, " ");
		if (*body) {
			buf_char(t->out, '\n');
			buf_fill(t->out, ' ', indent);
			at = indent;
		}
	}
	buf_char(t->out, '\n');
}

void text_para(struct text *t, const char *label, enum style style, const char *body)
{
	buf_fill(t->out, ' ', INDENT);
	text_left(t, style == STYLE_PLAIN ? STYLE_DIM : style, label, LABEL);
	text_wrap(t, style, body, INDENT + LABEL, INDENT + LABEL);
}

void text_para_of(struct text *t, const char *label, enum style style, struct buf *body)
{
	if (body->len)
		text_para(t, label, style, body->data);
	buf_free(body);
}

struct num text_factor(double x)
{
	return num_ratio((uint64_t)(fmin(fabs(x), 1e12) * 1e6 + 0.5), 1000000);
}

void text_num(struct buf *b, struct num n)
{
	for (const char *s = n.s; *s; s++)
		buf_char(b, *s == ' ' ? GLUE : *s);
}

void text_dur(struct text *t, struct buf *b, uint64_t ns)
{
	text_num(b, num_duration(ns, t->num));
}

void text_raw(struct text *t, struct buf *b, const char *raw)
{
	utf8_escape(b, raw, t->o->unicode);
}

static bool is_unit(const char *s, size_t n)
{
	static const char *const units[] = { "ns", "us", "µs", "ms",  "s",   "min", "h",
					     "d",  "%",	 "B",  "KiB", "MiB", "GiB", "TiB" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (n == strlen(units[i]) && !strncmp(s, units[i], n))
			return true;
	return false;
}

/* No line ends between a number and its unit. */
static void glue_units(struct buf *b, size_t from)
{
	for (size_t i = from + 1; i + 1 < b->len; i++) {
		const char *next = b->data + i + 1;

		if (b->data[i] == ' ' && b->data[i - 1] >= '0' && b->data[i - 1] <= '9' &&
		    is_unit(next, strcspn(next, " ,.;:)")))
			b->data[i] = GLUE;
	}
}

void text_figures(struct text *t, struct buf *b, const char *raw)
{
	struct buf figures = { 0 };
	size_t from = b->len;

	for (; *raw; raw++) {
		if (!t->o->unicode && !strncmp(raw, "µs", strlen("µs"))) {
			buf_char(&figures, 'u');
			raw += strlen("µ") - 1;
		} else {
			buf_char(&figures, *raw);
		}
	}
	text_raw(t, b, figures.data ? figures.data : "-");
	glue_units(b, from);
	buf_free(&figures);
}

void text_item(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	if (b->len)
		buf_str(b, ", ");
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void text_item_raw(struct text *t, struct buf *b, const char *before, const char *raw)
{
	if (!raw || !*raw)
		return;
	text_item(b, "%s", before);
	text_raw(t, b, raw);
}

void text_how_long(struct text *t, struct buf *b, const struct report *r)
{
	if (r->wall_ns || !r->incomplete)
		text_dur(t, b, r->wall_ns);
	else
		buf_str(b, "of unknown length,");
}

void text_in_time(struct text *t, struct buf *b)
{
	if (!t->r->wall_ns)
		return;
	buf_str(b, text_compact(t) ? ", in an interval of " : ", in a run of ");
	text_dur(t, b, t->r->wall_ns);
}

void text_machine(struct text *t, struct buf *b, const char *kernel, const char *arch)
{
	text_item_raw(t, b, "Linux ", kernel);
	if (arch) {
		buf_char(b, ' ');
		text_raw(t, b, arch);
	}
}

void text_when_and_where(struct text *t, struct buf *b, const struct report *r)
{
	if (r->start) {
		buf_str(b, " from ");
		text_raw(t, b, r->start);
	}
	text_machine(t, b, r->kernel, r->arch);
}
