/* SPDX-License-Identifier: GPL-2.0-only */
/* outstanding.h - sync calls that have not returned: who is in them since when, and what for; in words that all outputs share. */
#ifndef BT_MODEL_OUTSTANDING_H
#define BT_MODEL_OUTSTANDING_H

#include "model/report.h"
#include "util/buf.h"

/*
 * Of its request: the one that it waits for, where that is certain; else the one that its disk has had in flight for longest.
 * Strings are owned.
 */
struct report_outstanding {
	uint32_t pid, tid;
	char *comm, *cmdline, *call;
	char *path, *device; /* NULL: it has none, or it is not known */
	bool before;	     /* it began before the trace: `ns` is the least that it has taken */
	bool other;	     /* the filter, or the wrapped command, leaves it out */
	uint64_t ns;	     /* since it began */
	char *step;	     /* what it waits for: a cause's or a family's name */
	char *where;	     /* the kernel function that it sleeps in; NULL: not known */
	char *via;	     /* the task that it waits for; NULL: none is known */
	uint32_t via_tid;
	char *op, *disk; /* of the request: an operation's name (op_row_name()), and where it is; NULL: no request is known */
	bool certain;
	bool queued;	     /* it has not been issued to the device */
	bool request_before; /* `request_ns` is the least that it has taken */
	uint64_t request_ns; /* 0: not known */
};

/* "dd (4711) has been in fsync on /srv/f (loop0) for at least 3.00 s" */
void outstanding_who(const struct report_outstanding *o, struct buf *b);

/* "It waits for jbd2/loop0-8, and loop0 has not completed a FLUSH for at least 2.00 s." */
void outstanding_wait(const struct report_outstanding *o, struct buf *b);

/* The family that its step is of, FAMILY_UNKNOWN for none. */
enum cause_family outstanding_family(const struct report_outstanding *o);

void outstanding_free(struct report_outstanding *o, size_t n); /* and the array */

#endif
