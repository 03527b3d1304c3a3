/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sim.h - sync calls as a closed loop: tasks that compute, write, flush and wait for one journal whose commits they share,
 * one FLUSH at a time that serves all who wait for it, and some CPUs. A discrete-event simulation in whole nanoseconds:
 * no randomness, the same input gives the same result.
 */
#ifndef BT_ANALYSE_WHATIF_SIM_H
#define BT_ANALYSE_WHATIF_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cpu_warmup.h"

/* clang-format off */
enum sim_kind {
	SIM_CPU, SIM_WAKE,	/* waking up, on an idle CPU */
	SIM_RUNQ,		/* waiting for a busy one */
	SIM_COMPLETION, SIM_IO_QUEUE, SIM_THROTTLE, SIM_WRITE, SIM_DELAY, SIM_KINDS
};
/* clang-format on */

/* Time by what it was spent on. CPU time contends for the CPUs, everything else just passes. */
struct sim_phase {
	uint32_t ns[SIM_KINDS];
};

struct sim_call {
	/* since the end of the task's call before; of its first call: since the simulation's start */
	uint64_t gap;	       /* computing, or nobody knows what */
	uint64_t sleep;	       /* and then not */
	uint32_t gap_wait;     /* waiting for a CPU */
	bool busy;	       /* `gap` is CPU time, nothing else */
	uint32_t task;	       /* from 0; calls of one task follow one another */
	uint32_t flush;	       /* the empty flush that it waited for was in the device so long; 0: none */
	uint32_t post;	       /* and then another one, behind a barrier write of its own */
	bool commit;	       /* it waited for a commit of the journal */
	bool before;	       /* and a commit that had begun when it came was enough: the change was older */
	bool after_commit;     /* so did the task's call before */
	bool blocked;	       /* what it does before the call cannot be done while a commit writes its blocks */
	struct sim_phase own;  /* on its own, before it waits for a commit or an empty flush */
	struct sim_phase hop;  /* what an empty flush costs beside the device: completion, waking up */
	struct sim_phase tail; /* after that */
};

/* One commit: blocks, then a record between two FLUSHes. */
struct sim_commit {
	struct sim_phase before, data, after;
	uint32_t pre, post; /* in the device, with the way there and back; 0: none */
};

struct sim_input {
	const struct sim_call *call; /* each task's in their order */
	uint32_t n_calls, n_tasks;
	const struct sim_commit *commit;
	uint32_t n_commits; /* used in turn; 0: no call waits for one */
	unsigned int cpus;
	uint64_t beside;   /* of a phase's writes, ns: CPU time of interrupts, workers, drivers */
	bool holds_writes; /* the device begins no write while it flushes */
};

/* What is taken away. */
struct sim_without {
	bool flush; /* all FLUSHes */
	bool post;  /* those behind a commit record */
	bool kind[SIM_KINDS];
	double work, wake; /* what then remains of CPU time, and of waking up; 0: all, as 1 */
};

/*
 * Until the last call ends. `rests`: gets for each call the longest time that all CPUs rested since the call before it began, of any
 * task: so long what it runs has had time to get cold. May be NULL.
 */
uint64_t sim_run(const struct sim_input *in, const struct sim_without *without, struct pace_sum *rests);

#endif
