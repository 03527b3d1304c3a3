/* SPDX-License-Identifier: GPL-2.0-only */
/* functions.h - kernel functions that tell something: where a task sleeps, and what a worker runs. */
#ifndef BT_ANALYSE_LEDGER_FUNCTIONS_H
#define BT_ANALYSE_LEDGER_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/names.h"
#include "wire.h"

/* What the innermost telling function of a sleeper's stack says that it waits for. */
enum stack_class {
	STACK_NONE,
	STACK_LOCK,	/* something that another task holds or does */
	STACK_COMMIT,	/* another task that writes the journal for it */
	STACK_JOURNAL,	/* the journal itself: a batching sleep, room, other handles */
	STACK_TAG,	/* a free request */
	STACK_THROTTLE, /* rq-qos or blk-throttle */
	STACK_IO,	/* a request; which one, its completion tells, unless that was missed */
	STACK_FLUSH,	/* a flush of its own: no class of a sleep, see analyse/waiting.c */
};

struct functions;

struct functions *functions_new(const struct kernel_symbol *symbols, size_t n);
void functions_free(struct functions *f); /* NULL is fine */

/* Is it this function? Compilers append to names: __mutex_lock.constprop.0 */
bool function_is(const char *name, const char *listed);
enum stack_class function_class(const char *name);

/* Where a task sleeps. The record may end before its stack: its head says so. */
enum stack_class functions_class(struct functions *f, const struct wire_sleep *s);

/* The name of what a work runs, by its address; NULL: not known, or of no interest. */
const char *functions_work(const struct functions *f, uint64_t address);

#endif
