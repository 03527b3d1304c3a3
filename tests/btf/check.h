/* SPDX-License-Identifier: GPL-2.0-only */
/* check.h - one kernel held against the programs: what it has of what they use, and which of them it would take. */
#ifndef BT_BTF_CHECK_H
#define BT_BTF_CHECK_H

#include "kernel.h"
#include "object.h"

struct fact {
	char *use;	/* "field request.rq_flags", "tracepoint block_rq_issue", "probe request.issue", ... */
	char *form;	/* what this kernel has; "missing" */
	struct buf users;	/* the probes that use it, ", " between; empty: all do */
};

/* A program on this kernel. */
struct program {
	const struct function *function;
	const char *probe, *rung;	/* NULL: it belongs to no row of the table of probes */
	const char *kind;		/* "tp_btf" */
	unsigned int arguments;		/* that it takes from its context */
	struct buf lacks;		/* why it would be refused, "; " between; empty: it would be taken */
	struct buf without;		/* what is missing, but asked for before it is used */
	struct buf notes;
};

struct check {
	struct fact *fact;	/* sorted by use, once each */
	size_t n_facts;
	struct program *program;
	size_t n_programs;
};

/* Returns -1, with one line on stderr, when the object is damaged. */
int check_kernel(struct check *c, const struct object *o, const struct kernel *k);
void check_free(struct check *c);

/* The form of a use; NULL: nothing uses that. */
const char *check_form(const struct check *c, const char *use);

#endif
