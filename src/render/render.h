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

/* Tables of the directory that --csv names: X(file name, function). */
#define RENDER_CSV(X) \
	X("run.csv", render_csv_run) \
	X("devices.csv", render_csv_devices) \
	X("mounts.csv", render_csv_mounts) \
	X("operations.csv", render_csv_operations) \
	X("histograms.csv", render_csv_histograms) \
	X("causes.csv", render_csv_causes) \
	X("calls.csv", render_csv_calls) \
	X("ledger.csv", render_csv_ledger) \
	X("slices.csv", render_csv_slices) \
	X("requests.csv", render_csv_requests) \
	X("steps.csv", render_csv_steps) \
	X("leaves.csv", render_csv_leaves) \
	X("processes.csv", render_csv_processes) \
	X("process_ledger.csv", render_csv_process_ledger) \
	X("files.csv", render_csv_files) \
	X("file_ledger.csv", render_csv_file_ledger) \
	X("verdict.csv", render_csv_verdict) \
	X("remarks.csv", render_csv_remarks) \
	X("whatif.csv", render_csv_whatif)

#define RENDER_ROW(row, option, arg, fn, detail, help) RENDER_##row,
enum render_file { RENDER_FILES(RENDER_ROW) RENDER_N_FILES };
#undef RENDER_ROW

#define RENDER_ROW(row, option, arg, fn, detail, help) fn,
#define RENDER_CSV_ROW(file, fn)		       fn,
extern render_fn RENDER_FILES(RENDER_ROW) RENDER_CSV(RENDER_CSV_ROW) render_text;
#undef RENDER_ROW
#undef RENDER_CSV_ROW

#endif
