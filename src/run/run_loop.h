/* SPDX-License-Identifier: GPL-2.0-only */
/* run_loop.h - the one loop of a run: waits for all that can happen, and calls what serves it. Knows no probes. Private to run/. */
#ifndef BT_RUN_RUN_LOOP_H
#define BT_RUN_RUN_LOOP_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/command.h"
#include "run/run.h"
#include "util/err.h"

#define RUN_TICK_NS 100000000
#define RUN_SOURCES 3

/* A descriptor to be read from; fd() is asked each time, -1: none now. */
struct run_source {
	int (*fd)(void *ctx);
	void (*ready)(void *ctx);
};

struct run_calls {
	struct run_source source[RUN_SOURCES];
	void (*tick)(void *ctx); /* each RUN_TICK_NS */
	void (*second)(void *ctx);
	int (*interval)(void *ctx, struct err *e); /* one is over; the last one, with the run, is not told */
	bool (*signal)(void *ctx, int sig);	   /* true: it does not ask for the end */
	void (*stopping)(void *ctx);		   /* the end has been asked for */
};

/* Both as they are in clock.h and poll.h; wait()'s time UINT64_MAX: no end. */
struct run_time {
	uint64_t (*now)(void);
	int (*wait)(struct pollfd *p, nfds_t n, uint64_t ns);
};

extern const struct run_time run_time_real;

struct run_timer {
	uint64_t every, next; /* ns; every 0: never */
};

struct run_loop {
	const struct run_calls *calls;
	void *ctx;
	const struct run_time *time;
	struct command *cmd; /* its pid 0: none */
	int signals;	     /* signalfd; -1: none */
	uint64_t start_ns, duration_ns;
	struct run_timer tick, second, interval;
	bool only_command; /* its end is waited for, with ticks and signals alone: what the run was made of is gone */
	struct run_end end;
};

/* From now on; intervals and the duration of 0: none. */
void run_loop_start(struct run_loop *l, uint64_t interval_ns, uint64_t duration_ns);

/* Until it is over: the command has ended, the time is up, what was selected has ended, or somebody asked for the end. */
int run_loop(struct run_loop *l, struct err *e);
bool run_loop_over(const struct run_loop *l);

/*
 * The first time ends the run, once the command has ended too; the second time ends it at once. `pass_on`: the command does not know
 * of it yet.
 */
void run_loop_stop(struct run_loop *l, int sig, bool pass_on);

/* Signals that came after the last look: they count, and don't end us when they are let through. */
void run_loop_late_signals(struct run_loop *l);

#endif
