/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - one tracing run: which disks are traced in which views, the command that runs meanwhile, signals and time, the
 * kernel's counters before and after, and the report made of it all. Joins probe, host, recording and analyse for the commands.
 * Runs may follow each other in one process.
 */
#ifndef BT_RUN_RUN_H
#define BT_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "recording/rotation.h"
#include "host/command.h"
#include "host/task_filter.h"
#include "host/target.h"
#include "util/err.h"
#include "util/notice.h"
#include "probe/probe.h"
#include "model/report.h"

struct run_opts {
	struct targets targets;	    /* owned by the run once opened */
	bool all;		    /* every disk, also those that appear later */
	bool only_command;	    /* report only the disks that the wrapped command reached */
	bool detail;		    /* the whole run's report has report.detail */
	struct rotation *recording; /* gets every fact; NULL: none. The caller's */
	const char *note;	    /* for the report; NULL: none. Borrowed */
	size_t top;		    /* names of each kind in an interval's report; 0: REPORT_TOP */
	uint64_t memory;	    /* bytes that the kernel side's maps may take; 0: SIZES_DEFAULT */
	struct filter *filter;	    /* borrowed; NULL: everybody counts. Its groups are looked for again */
	struct probe_want want;	    /* rungs, ledger; the run adds the filter and sizes */
	struct notices notices;	    /* who hears what has to be told meanwhile */

	char *const *command; /* borrowed; NULL: none */
	struct command_io io; /* of the command; zeroed: our own */
	bool as_root;	      /* see command.h: by default the caller's rights */
	bool eager;	      /* everything stays attached, also while no call needs it */

	uint64_t interval_ns, duration_ns; /* 0: no intervals; until it is stopped, or the command has ended */
	const sigset_t *signals;	   /* that are taken while it runs; NULL: SIGINT, SIGTERM, SIGHUP */
};

/* What is wanted where nothing else is said. */
void run_opts_default(struct run_opts *o);

/* Who looks on. Each may be NULL. */
struct run_observer {
	void (*tick)(void *ctx);		   /* ten times a second, for signs of life */
	void (*second)(void *ctx);		   /* after disks that came or went have been looked for */
	int (*interval)(void *ctx, struct err *e); /* one is over; what came after the last one is not told */
	bool (*signal)(void *ctx, int sig);	   /* true: it does not ask for the end */
	void (*stopping)(void *ctx);		   /* the end has been asked for */
	void (*waiting)(void *ctx);		   /* ten times a second, in run_wait_command() */
	int (*fd)(void *ctx);			   /* to be waited for; -1: none */
	void (*readable)(void *ctx);		   /* it is */
	void *ctx;
};

/* How a run has ended, or is about to. */
struct run_end {
	bool have_status;    /* false: no command, or it has not ended */
	int status;	     /* 128+N when signal N ended it */
	int signal;	     /* the last that asked for the end; 0: none */
	bool now;	     /* a second one came: the command is not waited for */
	bool selected_ended; /* all processes that the filter names by number, and their children */
	uint64_t wall_ns;    /* the command, from its release to its end; without one, the run */
};

struct traced_run;

/*
 * Loads and attaches everything, then lets the command go. Takes opts->targets, also on failure: then the command has not run,
 * and *out is NULL. Signals that the caller has blocked stay blocked.
 */
int run_open(struct run_opts *opts, const struct run_observer *observer, struct traced_run **out, struct err *e);

/* Traces until it is over; a failure is one of the observer's, or of waiting itself. */
int run_until_end(struct traced_run *run, struct err *e);

/* As if this signal had come; the command gets it. The second time ends the run without waiting for the command. */
void run_stop(struct traced_run *run, int sig);

struct run_end run_end(const struct traced_run *run);

/* The probes go, and with them all that was measured; a command that still runs is waited for, until a second signal comes. */
void run_wait_command(struct traced_run *run);

/* NULL is fine. A command that still runs is left alone. Signals are as they were before. */
void run_close(struct traced_run *run);

/* Fetches facts and explains them, as happens anyway when many wait. */
void run_drain(struct traced_run *run);

/* Requests completed so far, for a sign of life. */
void run_progress(const struct traced_run *run, uint64_t *requests, uint64_t *flushes);

enum run_report {
	RUN_INTERVAL, /* ends it. One that is made after the end of the run is the last: the whole has the same sync calls */
	RUN_SO_FAR, /* for looking at: no end of a recording, no detail, no what-if */
	RUN_WHOLE,  /* also ends the recording, if there is one */
};

void run_report(struct traced_run *run, enum run_report which, struct report *r);

struct run_result {
	struct report report;
	struct run_end end;
};

/*
 * All of it, for commands that want the whole report and no screen, recording or output. A signal that ended it is no failure:
 * end.signal tells. On failure (the command cannot be run, the probes cannot be had) *result is empty.
 */
int run_traced(struct run_opts *opts, const struct run_observer *observer, struct run_result *result, struct err *e);

void run_result_free(struct run_result *result); /* zeroes it */

#endif
