/* SPDX-License-Identifier: GPL-2.0-only */
/* watch.h - a tracing run of a given length, for commands that want its report: no command, screen or recording. */
#ifndef BT_RUN_WATCH_H
#define BT_RUN_WATCH_H

#include <stdint.h>

#include "host/target.h"
#include "util/err.h"
#include "model/report.h"

/*
 * Traces the targets, which it takes also on failure, for so long, or until a signal (SIGINT, SIGTERM,
 	SIGHUP) ends the run
 * early: that is no failure. `all`: also disks that appear meanwhile. Fills *r, verdict included; the caller's to free.
 */
int watch(struct targets *targets, bool all, uint64_t duration_ns, struct report *r, struct err *e);

#endif
