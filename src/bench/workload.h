/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * workload.h - what `barriertrace bench` runs under the tracer. A workload runs in a process of its own, with the
 * rights of the person who called, started as "/proc/self/exe --workload" with scores as its standard output:
 * memory that both processes see. The tool fills in the options, the workload what it did. Workloads know nothing of
 * the tracer.
 */
#ifndef BT_BENCH_WORKLOAD_H
#define BT_BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

#define WORKLOAD_ENTRY	"--workload"	      /* the hidden word that makes a process a workload */
#define WORKLOAD_PREFIX "barriertrace-bench." /* of the folder that it makes inside DIR */
#define SCORES_ROWS	48
#define SCORES_MAGIC	0x62746c79u

/* Options that a workload understands. */
#define TAKES_SIZE    1u
#define TAKES_TIME    2u
#define TAKES_SQLITE  4u /* --inserts, --copies, --journal, --synchronous */
#define TAKES_DISCARD 8u

struct workload_opts {
	char workload[16];
	char dir[4096];
	uint64_t size;	  /* bytes of data at most */
	uint64_t time_ns; /* of measuring, about */
	uint64_t inserts, copies;
	char journal[12], synchronous[12];
	bool discard;
};

/* Nanoseconds; of the workload's own clock. */
struct scores_times {
	uint64_t count, sum, min, p50, p90, p99, max;
};

struct scores_row {
	char name[40];	/* what is shown: "fdatasync, 1 x 8k" */
	char file[40];	/* the file, in its folder, whose sync calls are this row's; "": none of its own */
	uint32_t kind;	/* the workload's own */
	uint64_t param; /* ditto */
	uint64_t ops, bytes, syncs, wall_ns;
	uint64_t uncounted;	  /* sync calls that its program made besides and does not tell: so many at most */
	struct scores_times each; /* an operation with its sync */
	char missing[80];	  /* why it could not be measured here; "": it was */
};

struct scores {
	uint32_t magic, bytes; /* of this very build */
	struct workload_opts opts;
	uint64_t done, total; /* how far, in units of the workload; total 0: not known */
	char phase[48];	      /* what is being done */
	char tool[64];	      /* the program that it ran, with its version; "": none */
	char error[400];      /* one line; "": none */
	int32_t status;	      /* exit status that goes with the error */
	uint64_t syncs;	      /* sync calls, those of the preparation included */
	uint64_t uncounted;   /* the rows' */
	uint64_t prepared;    /* bytes that were laid out beforehand */
	uint64_t wall_ns;     /* of the measuring alone */
	uint32_t n_rows;
	struct scores_row row[SCORES_ROWS];
};

struct work;

struct workload {
	const char *name, *summary;
	const char *unit; /* of the score: what is counted per second; NULL: no score */
	unsigned int takes;
	const char *tool;	/* a program that it needs, of that package in Debian; or NULL */
	uint64_t size, time_ns; /* defaults */
	uint64_t (*need)(const struct workload_opts *o); /* room, bytes */
	int (*run)(struct work *w);			 /* 0, or -1 with the scores' error set */
};

extern const struct workload workloads[]; /* ends with a row without a name */

const struct workload *workload_find(const char *name); /* NULL: none */

/* Shared memory for one run, as a file descriptor in *fd; EXIT_FAILED when there is none. */
int scores_new(struct scores **t, int *fd, struct err *e);
void scores_free(struct scores *t, int fd);

/* Ends the strings and bounds the counts: what another process wrote is not to be trusted. */
void scores_check(struct scores *t);

/* Is there room for it in DIR, is DIR a place to write to, and is its program there? Changes nothing. */
int workload_allowed(const struct workload *w, const struct workload_opts *o, struct err *e);

/* The workload's own process: with scores as standard output. The exit status. */
int workload_main(void);

#endif
