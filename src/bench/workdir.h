/* SPDX-License-Identifier: GPL-2.0-only */
/* workdir.h - the folder of a workload. Private to workloads. */
#ifndef BT_BENCH_WORKDIR_H
#define BT_BENCH_WORKDIR_H

#include "bench/workload_io.h"

/* Makes w->path in DIR and opens it. 0, or -1 with the error set. */
int place_make(struct work *w);

/* Removes it with all that is in it. What stays is said in the scores' error. */
void place_remove(struct work *w);

/* Is DIR a folder that can be written to, with room for `need` bytes? */
int place_allowed(const struct workload_opts *o, uint64_t need, bool sized, struct err *e);

#endif
