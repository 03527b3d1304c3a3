/* SPDX-License-Identifier: GPL-2.0-only */
/* replay.h - a report out of a recording. */
#ifndef BT_RUN_REPLAY_H
#define BT_RUN_REPLAY_H

#include <stdbool.h>

#include "util/budget.h"
#include "util/err.h"
#include "model/report.h"

struct replay_opts {
	bool detail;	       /* report.detail is wanted */
	bool huge;	       /* with no end to the memory that a long recording takes: see budget.h */
	struct budget *so_far; /* what recordings that were read before take, and this one then too; NULL: it is the only one */
};

/*
 * Reads a recording to its end and makes the report that the live run made. What a damaged or cut-off file
 * still holds is used; *damage says then what is wrong with it (owned by the caller), else it is NULL.
 */
int replay(const char *path, const struct replay_opts *o, struct report *out, char **damage, struct err *e);

/* The same on a descriptor, which it owns from now on, also when it fails. */
int replay_fd(int fd, const char *path, const struct replay_opts *o, struct report *out, char **damage, struct err *e);

#endif
