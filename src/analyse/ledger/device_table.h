/* SPDX-License-Identifier: GPL-2.0-only */
/* device_table.h - what device numbers stand for. */
#ifndef BT_ANALYSE_LEDGER_DEVICE_TABLE_H
#define BT_ANALYSE_LEDGER_DEVICE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "model/names.h"

struct devices {
	struct device_name *device; /* by number */
	size_t n;
};

void devices_copy(struct devices *d, const struct device_name *from, size_t n);
const struct device_name *devices_find(const struct devices *d, uint32_t dev); /* NULL: not known */

/* Its name, "8:1" if there is none, "" for 0. Returns label, or "". */
const char *devices_label(const struct devices *d, uint32_t dev, char label[32]);
char *devices_name(const struct devices *d, uint32_t dev); /* the same, the caller's; NULL for 0 */

void devices_free(struct devices *d);

#endif
