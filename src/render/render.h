/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * render.h - the outputs. A renderer turns a report into bytes and sees nothing else: no clock, no
 * locale, no globals. To add one: a file with one function, and a row in the table below.
 */
#ifndef BT_RENDER_RENDER_H
#define BT_RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buf.h"
#include "model/report.h"

struct render_opts {
	bool color;	    /* ANSI sequences */
	bool unicode;	    /* µ, bars and rules; otherwise every byte is ASCII */
	unsigned int width; /* columns; 0: 80 */
	bool quiet;	    /* text: no histograms; notes and warnings stay */
	bool verbose;	    /* text: every class's histogram, every mount, the probes */
	bool no_buckets;    /* JSON: of devices' histograms only what they add up to */
	size_t table;	    /* CSV: which, below RENDER_N_CSV */
	int scratch;	    /* an empty file to build in what isn't written in order, as a database; 0: in memory */
};

typedef void render_fn(const struct report *r, const struct render_opts *o, struct buf *out);

render_fn render_text;	 /* for reading */
render_fn render_json;	 /* one indented document */
render_fn render_ndjson; /* the same on one line, for streams */

/*
 * Outputs that go to a file of their own, once, at the end of the run: X(row, option, metavariable, function, needs
 * report.detail, help). The options, their help and the places to write to follow from this table.
 */
/* clang-format off */
#define RENDER_FILES(X) \
	X(FLAME, "flame", "FILE.svg", render_flame, false, \
	  "Draw where the sync calls' time went as a flame-style histogram: an SVG picture to hover, zoom and search in.") \
	X(HTML, "html", "FILE", render_html, false, \
	  "Write one self-contained page: verdict, ledger, flame, heat map over time, the slowest calls, tables.") \
	X(FOLDED, "folded", "FILE", render_folded, false, \
	  "Write folded stacks (nanoseconds), for speedscope and any flame graph tool.") \
	X(PERFETTO, "perfetto", "FILE", render_perfetto, true, \
	  "Write a trace (Chrome JSON) for Perfetto: every sync call with its causes, every request that was waited for.") \
	X(DB, "db", "FILE", render_db, true, "Write an SQLite database, to ask your own questions of.")
/* clang-format on */

#define RENDER_ROW(row, option, arg, fn, detail, help) RENDER_##row,
enum render_file { RENDER_FILES(RENDER_ROW) RENDER_N_FILES };
#undef RENDER_ROW

#define RENDER_ROW(row, option, arg, fn, detail, help) fn,
extern render_fn RENDER_FILES(RENDER_ROW) render_text;
#undef RENDER_ROW

/* The tables of the directory that --csv names, a file each; the options say which. */
#define RENDER_N_CSV 19
render_fn render_csv;
const char *render_csv_file(size_t table);

#endif
