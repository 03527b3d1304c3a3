/* SPDX-License-Identifier: GPL-2.0-only */
/* install_hints.h - the programs that people measure disks with, which we wrap: how one that is not there can be had. */
#ifndef BT_CMD_INSTALL_HINTS_H
#define BT_CMD_INSTALL_HINTS_H

#include "util/err.h"

struct benchmark {
	const char *name, *get; /* a phrase */
};

/* By name; ends with a row without one. */
extern const struct benchmark benchmarks[];

/* By its name alone, without a folder; NULL: it is none of them. */
const struct benchmark *benchmark_find(const char *name);

/* Where *e says that `command` was not found, and it is one of them: adds how to get it. */
void benchmark_hint(const char *command, struct err *e);

#endif
