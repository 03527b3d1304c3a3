/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_loop.h - one command under the tracer, once, for commands that want its report and not a screen, a recording or an
 * output: runs may follow each other in one process. Below it, what such a run shares with the tracing command itself.
 */
#ifndef BT_RUN_RUN_LOOP_H
#define BT_RUN_RUN_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/command.h"
#include "host/target.h"
#include "util/err.h"
#include "model/report.h"
#include "run/run.h"

struct trial_opts {
	struct targets targets; /* taken, also on failure */
	bool all;		/* also disks that appear meanwhile */
	bool only_command;	/* report only the disks that the command reached */
	bool detail;		/* report.detail is wanted */
	bool no_ledger;
	char *const *command;	       /* borrowed; NULL: none, trace for duration_ns */
	struct command_io io;	       /* of the command; zeroed: our own */
	bool as_root;		       /* see command.h: by default the caller's rights */
	uint64_t duration_ns;	       /* without a command: for so long */
	const sigset_t *signals;       /* that ask for the end; NULL: SIGINT, SIGTERM, SIGHUP */
	const struct probe_want *want; /* rungs, BTF; NULL: the defaults */
	void (*tick)(void *ctx);       /* about ten times a second, for signs of life; NULL: none */
	void *ctx;
};

struct trial {
	struct report report; /* verdict included */
	bool have_status;     /* false: no command, or a second signal let go of it */
	int status;	      /* 128+N when signal N ended it */
	uint64_t wall_ns;     /* the command, from its release to its end; without one, the run */
	int signal;	      /* asked for the end; 0: none */
};

/*
 * Traces, runs, reports. The signals are passed on to the command, whose end is then waited for; a second one ends the
 * wait. That is no failure: t->signal tells. Signals that the caller has blocked stay blocked. On failure (the command
 * cannot be run, the probes cannot be had) *t is empty.
 */
int trial_run(struct trial_opts *o, struct trial *t, struct err *e);

void trial_free(struct trial *t); /* zeroes it */

/* ---- what runs share ---- */

#define TRIAL_TICK_NS 100000000 /* so often we look whether facts are to be fetched, or earlier when many wait */

/* Descriptors for a run's loop: `signals` as they come, and a tick each TRIAL_TICK_NS. -1 for what isn't open. */
int trial_wakeups(const sigset_t *signals, int *signal_fd, int *tick_fd, struct err *e);

/* At a tick; true once a second, after which *ticks begins anew: disks that came and went have been looked for then. */
bool trial_tick(int tick_fd, struct session *s, uint64_t *ticks);

struct trial_start {
	char *const *command; /* NULL: none */
	struct command_io io;
	bool as_root;
	const sigset_t *blocked; /* blocked from now on, but not in the command */
};

/* Attaches the probes of an open session, then lets the command go. On failure the command has not run. */
int trial_start(struct session *s, struct command *cmd, const struct trial_start *how, struct err *e);

#endif
