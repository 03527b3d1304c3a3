/* SPDX-License-Identifier: GPL-2.0-only */
/* runs.h - the workloads' own functions, for the table in table.c alone. Bytes of room, and 0 or -1 (see work.h). */
#ifndef BT_WORKLOAD_RUNS_H
#define BT_WORKLOAD_RUNS_H

#include "work.h"

uint64_t barrier_need(const struct workload_opts *o);
int barrier_run(struct work *w);
uint64_t sqlite_need(const struct workload_opts *o);
int sqlite_run(struct work *w);
uint64_t sync_need(const struct workload_opts *o);
int sync_run(struct work *w);
uint64_t fio_need(const struct workload_opts *o);
int etcd_run(struct work *w);
int ars_run(struct work *w);

#endif
