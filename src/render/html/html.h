/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * html.h - what the files of the page share. Private to them.
 *
 * The page can be read without its script: C draws everything, the script sorts, folds, picks and points.
 */
#ifndef BT_RENDER_HTML_HTML_H
#define BT_RENDER_HTML_HTML_H

#include "util/num.h"
#include "render/render.h"

#define NBSP "\xc2\xa0"

/* The page is to stay below 5 MiB, whatever was traced: what may grow has its share, and says what it leaves out. */
#define HTML_ROOM_TABLE (512u << 10)
#define HTML_ROOM_HEAT	(768u << 10)
#define HTML_ROOM_FLAME (1024u << 10)
#define HTML_ROOM_JSON	(1024u << 10)

/* Longer tables are folded, so that a page of thousands of rows opens at once. Without a script they are not. */
#define HTML_FOLD_GROUPS 50
#define HTML_FOLD_CALLS	 10

/* markup.c: appends as text of an element or of a quoted attribute */
void html_text(struct buf *b, const char *raw);	 /* NULL: "?" */
void html_prose(struct buf *b, const char *raw); /* the same, no line ends between a number and its unit */
void html_num(struct buf *b, struct num n);
void html_dur(struct buf *b, uint64_t ns);
/* The same between two pieces of markup */
void html_text_in(struct buf *b, const char *before, const char *raw, const char *after);
void html_prose_in(struct buf *b, const char *before, const char *raw, const char *after);
void html_num_in(struct buf *b, const char *before, struct num n, const char *after);
void html_arguments(struct buf *b, char *const *argv); /* a command line; NULL is fine */
void html_permyriad(struct buf *b, const char *property, uint64_t part, uint64_t whole); /* "width:43.50%" */

/* "f-flush": the class of everything that has this family's colour */
struct num html_family(enum cause_family f);

/* One cell of a table, with the exact value to sort by. */
void html_cell_text(struct buf *b, const char *raw);
void html_cell_count(struct buf *b, uint64_t n);
void html_cell_dur(struct buf *b, uint64_t ns);
void html_cell_none(struct buf *b);
void html_cell_if(struct buf *b, bool known, uint64_t value, struct num n); /* none, unless it is known */
void html_cell_file(struct buf *b, const char *path, const char *device);   /* either may be NULL */
void html_who(struct buf *b, const char *comm, uint32_t pid, uint32_t tid); /* up to and in its last <small> */

/* A table that is as wide as it needs to be in a page that may be narrower. */
struct html_column {
	const char *head; /* "": nothing */
	char type;	  /* 's': words, 'n': numbers, ' ': not sortable */
};
void html_table(struct buf *b, const char *caption, const struct html_column *columns, size_t n, size_t sorted);
void html_table_end(struct buf *b, const struct buf *foot); /* foot: a <tfoot>, or NULL */

/* A list of names and what is to be said about them: <dt>, <dd>; html_fact() opens the <dd>. */
void html_fact(struct buf *b, const char *name);
void html_fact_end(struct buf *b);

/* ledger_html.c: a ledger as one bar of coloured parts; its largest causes in words */
void html_stack(struct buf *b, const struct ledger *l);
void html_causes(struct buf *b, const struct ledger *l, size_t most);

/* The sections of the page; nothing where there is nothing to say. */
void html_warnings(struct buf *b, const struct report *r); /* verdict_html.c */
void html_verdict(struct buf *b, const struct report *r);
void html_outstanding(struct buf *b, const struct report *r);
void html_ledger(struct buf *b, const struct report *r);  /* ledger_html.c */
void html_heat(struct buf *b, const struct report *r);	  /* heat_map_html.c */
void html_slowest(struct buf *b, const struct report *r); /* calls_html.c */
void html_groups(struct buf *b, const struct report *r);
void html_devices(struct buf *b, const struct report *r);  /* device_html.c */
void html_settings(struct buf *b, const struct report *r); /* run_html.c */
void html_run(struct buf *b, const struct report *r);
void html_json(struct buf *b, const struct report *r); /* embedded_json.c */

#endif
