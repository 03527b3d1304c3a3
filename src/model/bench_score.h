/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_score.h - a workload's score with the tracer's explanation beside it: the seam between running one (bench.c)
 * and rendering. Times are nanoseconds. Strings are raw and owned.
 */
#ifndef BT_MODEL_BENCH_SCORE_H
#define BT_MODEL_BENCH_SCORE_H

#include "model/report.h"

struct bench_times { /* of the workload's own clock */
	uint64_t count, sum, min, p50, p90, p99, max;
};

struct bench_row {
	char *name;
	uint64_t ops, bytes, syncs, wall_ns;
	uint64_t uncounted; /* at most so many more syncs, which its program makes and doesn't tell */
	struct bench_times each;
	char *missing;			   /* why it was not measured; NULL: it was */
	const struct report_group *traced; /* the sync calls of its file; in the report; NULL: not known by file */
};

struct bench {
	char *workload, *summary, *dir;
	char **settings; /* "journal_mode DELETE"; NULL: none */
	char *tool;	 /* with its version; NULL: built in */
	char *unit;	 /* of the score: "inserts"; NULL: no score but the rows' */
	uint64_t score_ops, wall_ns;
	uint64_t syncs, uncounted; /* by the workload's own count; the rows' */
	struct bench_row *row;
	size_t n_rows;
	struct report report; /* owned */
};

void bench_free(struct bench *b);

#endif
