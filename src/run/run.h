/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - one tracing run: which disks are traced in which views, the kernel's counters before and after, and
 * the report made of it all. Joins probe, host, recording and analyse for the commands.
 */
#ifndef BT_RUN_RUN_H
#define BT_RUN_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "recording/rotation.h"
#include "host/task_filter.h"
#include "host/target.h"
#include "util/err.h"
#include "probe/probe.h"
#include "model/report.h"

struct session_opts {
	struct targets targets;	    /* owned by the session once opened */
	bool all;		    /* every disk, also those that appear later */
	bool only_command;	    /* report only the disks that the wrapped command reached */
	bool stream;		    /* session_report_interval() will be called */
	bool detail;		    /* the whole run's report has report.detail */
	struct rotation *recording; /* gets every fact; NULL: none. The caller's */
	char *const *command;	    /* borrowed; NULL: none */
	size_t top;		    /* names of each kind in an interval's report; 0: REPORT_TOP */
	uint64_t memory;	    /* bytes that the kernel side's maps may take; 0: SIZES_DEFAULT */
	struct filter *filter;	    /* borrowed; NULL: everybody counts. Its groups are looked for again */
	struct probe_want want;	    /* rungs, ledger; the session adds the filter and sizes */
};

struct session;

/* Loads everything; nothing runs yet. Takes opts->targets, also on failure. */
int session_open(struct session_opts *opts, struct session **out, struct err *e);

/* The wrapped command's first process. Before session_start(). */
int session_follow(struct session *s, pid_t pid, struct err *e);

/* Attaches, and notes the kernel's own counters. */
int session_start(struct session *s, struct err *e);

/* Once a second or so: disks that came, disks that went, services that began again. */
void session_look_around(struct session *s);

/* Is one of the processes that the filter selects still there, or one of their children? */
bool session_anybody_left(struct session *s);

/* Readable when facts should be fetched with session_drain() before the next second is over; -1: there are none. */
int session_fd(const struct session *s);

/* Fetches facts and explains them. */
void session_drain(struct session *s);

/* To be called ten times a second. */
void session_tick(struct session *s);

/* Writes out what is recorded so far: it survives the end of this process. */
void session_save(struct session *s);

/* Requests completed so far, for a sign of life. */
void session_progress(struct session *s, uint64_t *requests, uint64_t *flushes);

/* What only the command knows of a run. Borrowed. */
struct session_facts {
	char *const *command;
	bool have_exit_status;
	int exit_status;
	uint64_t user_ns;   /* CPU time in user space of the command's processes that have ended; 0: not known */
	const char *filter; /* NULL: none */
	const char *note;   /* NULL: none */
	bool same_facts;    /* of sync calls, report those that the last interval's report knew, and no later ones */
};

/* Ends an interval and reports it. */
void session_report_interval(struct session *s, const struct session_facts *facts, struct report *r);

/* The run so far, for looking at: no end of a recording, no detail, no what-if. */
void session_report_so_far(struct session *s, const struct session_facts *facts, struct report *r);

/* The whole run so far; also the end of the recording, if there is one. */
void session_report_total(struct session *s, const struct session_facts *facts, struct report *r);

/* NULL is fine. */
void session_close(struct session *s);

#endif
