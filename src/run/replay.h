/* SPDX-License-Identifier: GPL-2.0-only */
/* replay.h - a report out of a recording. */
#ifndef BT_RUN_REPLAY_H
#define BT_RUN_REPLAY_H

#include <stdbool.h>

#include "util/err.h"
#include "model/report.h"

/*
 * Reads a recording to its end and makes the report that the live run made. What a damaged or cut-off file
 * still holds is used; *damage says then what is wrong with it (owned by the caller), else it is NULL.
 */
int replay(const char *path, bool detail, struct report *out, char **damage, struct err *e);

/* The same on a descriptor, which it owns from now on, also when it fails. */
int replay_fd(int fd, const char *path, bool detail, struct report *out, char **damage, struct err *e);

#endif
