/* SPDX-License-Identifier: GPL-2.0-only */
/* benchmarks.h - the programs that people measure disks with, which we wrap: how one that is not there can be had. */
#ifndef BT_COLLECT_BENCHMARKS_H
#define BT_COLLECT_BENCHMARKS_H

struct benchmark {
	const char *name, *get;		/* a phrase */
};

/* By name; ends with a row without one. */
extern const struct benchmark benchmarks[];

/* By its name alone, without a folder; NULL: it is none of them. */
const struct benchmark *benchmark_find(const char *name);

#endif
