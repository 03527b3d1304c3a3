/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waiting.h - what a sync call that has not returned waits for: from where its task sleeps, where the journal's thread does, and the
 * requests that are in flight. Says no more than these show.
 */
#ifndef BT_ANALYSE_WAITING_H
#define BT_ANALYSE_WAITING_H

#include "model/outstanding.h"

struct waiting_task {
	uint32_t tid;
	char state;	    /* as in /proc: 'D', 'S', 'R'; 0: not known */
	char *const *stack; /* functions, innermost first; NULL: not known */
	const char *name;
};

/* A request that the trace saw begin and not end. */
struct waiting_request {
	uint32_t sender; /* tid; 0: not known */
	enum op_row op;
	bool flush;  /* a FLUSH of the machinery itself, which has no sender */
	bool held;   /* the flush machinery has it, its data is done: it waits for a FLUSH */
	bool unsent; /* not inserted, not issued: held for a FLUSH, or on its way */
	bool queued; /* inserted, not issued */
	uint64_t ns; /* since it was issued, else since it began */
};

/*
 * What its disk has in flight as the kernel tells, and for how long the oldest of each kind has been there, at least: since a first look,
 * early in the trace, was over. 0: not known.
 */
struct waiting_disk {
	const char *name;
	struct requests_in_flight n;
	uint64_t since_ns[OP_ROWS];
	uint64_t first_look_ns; /* for how long that has been over; 0: there was none */
	const struct waiting_request *request;
	size_t n_requests;
};

struct waiting {
	struct waiting_task call;
	struct waiting_task journal;	 /* the thread that commits for its file system; `tid` 0: none is known */
	const struct waiting_disk *disk; /* below its file */
	size_t n_disks;
};

/* Fills in step, where, via and what is known of the request. */
void waiting_explain(const struct waiting *w, struct report_outstanding *o);

#endif
