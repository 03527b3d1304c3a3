/* SPDX-License-Identifier: GPL-2.0-only */
/* outstanding_calls.h - private to probe/: the sync calls that are under way, by what the kernel side keeps of tasks. */
#ifndef BT_PROBE_OUTSTANDING_CALLS_H
#define BT_PROBE_OUTSTANDING_CALLS_H

#include "probe/maps.h"
#include "probe/probe.h"
#include "task_state.h"

struct calls_look {
	uint64_t until;			   /* calls that began before */
	const struct calls_wanted *wanted; /* which of them; NULL: all that are asked for */
	uint64_t ask_before; /* of those that began before: the system, whether their tasks are still in them */
	struct calls_under_way found;
};

/* Is this where the state of the task stands? */
bool calls_state_is(const struct wire_maps *m, uint32_t tid, size_t index);

/*
 * The states, as many as there may be in use; NULL: none, or, with *n, they can't be had. For one look only: all that
 * is mapped counts as resident. `access`: PROT_READ, or that and PROT_WRITE.
 */
struct task_state *calls_map_tasks(const struct wire_maps *m, int access, size_t *n);
void calls_unmap_tasks(struct task_state *t, size_t n);

/* False: it can't be told. */
bool calls_look(const struct wire_maps *m, struct calls_look *l);

/*
 * When the first began that waits for another task to carry it out, or is carried out, of those since `from`; UINT64_MAX: there is
 * none; 0: it can't be told.
 */
uint64_t calls_pending_since(const struct wire_maps *m, uint64_t from, const struct calls_wanted *w);

/*
 * What was known of tasks does not go on: their sleeps are not seen for a while. One that is in a sync call is in one that began so. No
 * program may run that writes to it.
 */
void calls_forget_tasks(const struct wire_maps *m, bool (*counts)(const void *ctx, uint32_t dev), const void *ctx);

/* Of calls that began so only those are still of interest whose tasks sleep in them: no end was seen of the others. */
void calls_drop_idle(const struct wire_maps *m);

/* Is the task in a sync call? */
bool calls_has(const struct wire_maps *m, uint32_t tid);

/* See probes_requests_under_way(). */
void requests_look(const struct wire_maps *m, const struct wire_disk *disk,
		   void (*each)(void *ctx, const struct request_under_way *q), void *ctx);

#endif
