/* SPDX-License-Identifier: GPL-2.0-only */
/* workload_list.h - the workloads' own functions, for the table in workload_table.c alone. Bytes of room, and 0 or -1 (see workload_io.h). */
#ifndef BT_BENCH_WORKLOAD_LIST_H
#define BT_BENCH_WORKLOAD_LIST_H

#include "bench/workload_io.h"

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
