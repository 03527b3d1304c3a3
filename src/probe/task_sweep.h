/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_sweep.h - private to probe/: what nobody uses any more of the entries for tasks and for histories comes back.
 *
 * The programs only take entries: on several CPUs at once, and maybe for a task that has ended already. Two of them may take an entry for
 * the same task, too; it keeps one, and the other has no name. An entry comes back when nothing names it in two sweeps, between which all
 * programs have ended that were running at the first: none is at it then, and none finds it any more.
 */
#ifndef BT_PROBE_TASK_SWEEP_H
#define BT_PROBE_TASK_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "task_state.h"

#define SWEEP_SPARE	48	   /* histories that are to be free for helpers to come */
#define SWEEP_RETIRE_NS 500000000u /* a helper that has not mattered for so long makes room for them */

/* Of the last sweep: who took the entries that nothing named; 0: none. */
struct task_sweep {
	uint32_t task[WIRE_TASKS], history[WIRE_HISTORIES];
	bool unnamed; /* there were such: they come back with the next sweep, if nothing names them then */
};

struct sweep_calls {
	bool (*names)(void *ctx, uint32_t tid, size_t task); /* does the number of this task name that entry? */
	bool (*gone)(void *ctx, uint32_t tid);
	void (*bury)(void *ctx, uint32_t tid); /* its number is to name nothing; its end was not seen */
	void (*free_task)(void *ctx, uint32_t task);
	void (*free_history)(void *ctx, uint32_t history);
};

/* The first n tasks, and all histories by their owners. */
void task_sweep(struct task_sweep *s, struct task_state *task, size_t n, volatile uint32_t owner[WIRE_HISTORIES],
		uint64_t now, const struct sweep_calls *calls, void *ctx);

#endif
