/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h - what the files of the text output share; pictures and the page use its words too. */
#ifndef BT_RENDER_TEXT_TEXT_H
#define BT_RENDER_TEXT_TEXT_H

#include "util/num.h"
#include "render/render.h"
#include "util/utf8.h"

struct text {
	const struct report *r;
	const struct render_opts *o;
	struct buf *out;
	unsigned int width;
	unsigned int num; /* NUM_ASCII or 0 */
	size_t top;	  /* where in `out` the part that answers begins */
};

enum style { STYLE_PLAIN, STYLE_HEAD, STYLE_FLUSH, STYLE_DIM, STYLE_WARN };

/* A space that a paragraph does not break at. Data cannot contain it: it has been escaped. */
#define GLUE '\x1f'

/* layout.c */

/* Where the text begins, and how wide it is. */
struct text text_start(const struct report *r, const struct render_opts *o, struct buf *out);
/* An interval of a stream is looked at in passing, over and over: the answer, and no more. */
bool text_compact(const struct text *t);
void text_style(struct text *t, enum style style, const char *s);
/* s in the colour that a cause's family has wherever it stands */
void text_tinted(struct text *t, enum cause_family f, const char *s);
void text_pad(struct text *t, size_t from, size_t to);
/* s padded to width on its left (right-aligned) or right */
void text_left(struct text *t, enum style style, const char *s, size_t width);
void text_right(struct text *t, enum style style, const char *s, size_t width);
/* Appends a bar, in eighths of a column where the font has them; something that exists is never drawn as nothing. */
void text_bar(const struct text *t, struct buf *b, uint64_t part, uint64_t whole, size_t width);
/* body from column `at` on, further lines from `indent` on; ends the line */
void text_wrap(struct text *t, enum style style, const char *body, size_t at, size_t indent);
/* "  label   body", the body wrapped beside the label */
void text_para(struct text *t, const char *label, enum style style, const char *body);
/* The same of what has been put together, if there is anything; frees it, for the next. */
void text_para_of(struct text *t, const char *label, enum style style, struct buf *body);
/* Appends with every space of a number turned to GLUE. */
void text_dur(struct text *t, struct buf *b, uint64_t ns);
void text_num(struct buf *b, struct num n);
/* A ratio of two figures, without a sign. */
struct num text_factor(double x);
/* Appends raw bytes of the world, escaped. */
void text_raw(struct text *t, struct buf *b, const char *raw);
/* The same of a text that may hold figures: in ASCII their microseconds are "us", as everywhere, and no line ends before a unit. */
void text_figures(struct text *t, struct buf *b, const char *raw);
/* Appends how long the run took, "of unknown length," where a recording was cut off. */
void text_how_long(struct text *t, struct buf *b, const struct report *r);
/* Appends ", in a run of 5.00 s", or of an interval, if that is known. */
void text_in_time(struct text *t, struct buf *b);
/* Appends " from 2026-01-31T03:07:00Z, Linux 6.18.0 x86_64", as far as it is known. */
void text_when_and_where(struct text *t, struct buf *b, const struct report *r);
/* Appends ", Linux 6.18.0 x86_64", as far as it is known. */
void text_machine(struct text *t, struct buf *b, const char *kernel, const char *arch);
/* Appends ", " unless b is empty, then the formatted words. */
void text_item(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same of raw bytes of the world, with words before them; nothing where there are none. */
void text_item_raw(struct text *t, struct buf *b, const char *before, const char *raw);

/* op_table.c, histogram_text.c, device_text.c */
void text_table(struct text *t, const struct report_device *d);
void text_hists(struct text *t, const struct report_device *d);
void text_device(struct text *t, const struct report_device *d);
enum style text_class_style(enum op_class c);

/* verdict_text.c: the answer; the evidence and the other advice */
void text_verdict(struct text *t);

/* outstanding_text.c: calls that have not returned */
void text_outstanding(struct text *t);
void text_reasons(struct text *t);

/* sync_text.c */
void text_sync(struct text *t);

/* calls_text.c: by process, by file, the slowest; "dd (14457, thread 14460)", "/srv/f (loop0)" */
void text_calls(struct text *t);
void text_who(struct text *t, struct buf *b, const char *comm, uint32_t pid, uint32_t tid);
void text_file(struct text *t, struct buf *b, const char *path, const char *device);

#endif
