/* SPDX-License-Identifier: GPL-2.0-only */
/* device_names.h - what the device numbers in facts stand for: mounted file systems, partitions, disks. */
#ifndef BT_HOST_DEVICE_NAMES_H
#define BT_HOST_DEVICE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/names.h"

struct places {
	struct device_name *device;
	size_t n;
};

/*
 * Reads mountinfo and sysfs. `traced` holds the kernel dev_ts of the traced whole disks. What is new is added, and what is another one now
 * replaces what had its number. Of what is gone, what was on a traced disk stays, until its number is another's. False: all is as it was.
 */
bool places_learn(struct places *p, const uint32_t *traced, size_t n_traced);

void places_free(struct places *p);

/* What the kernel shows of its symbols depends on the rights with which they are opened. NULL: nothing. */
FILE *symbols_open(void);

/*
 * The addresses of the named kernel functions (names end with NULL), those with a compiler's suffix too, in the order of addresses;
 * owned by the caller. NULL when they are hidden.
 */
struct kernel_symbol *symbols_of(FILE *kallsyms, const char *const *names, size_t *n);

#endif
