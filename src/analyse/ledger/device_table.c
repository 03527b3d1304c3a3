// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/device_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire.h"

static int device_order(const void *a, const void *b)
{
	const struct device_name *x = a, *y = b;

	return (x->dev > y->dev) - (x->dev < y->dev);
}

void devices_copy(struct devices *d, const struct device_name *from, size_t n)
{
	d->device = xcalloc(n, sizeof(*d->device));
	d->n = n;
	if (!n)
		return;
	memcpy(d->device, from, n * sizeof(*d->device));
	qsort(d->device, n, sizeof(*d->device), device_order);
}

const struct device_name *devices_find(const struct devices *d, uint32_t dev)
{
	size_t lo = 0, hi = d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->device[mid].dev == dev)
			return &d->device[mid];
		if (d->device[mid].dev < dev)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const char *devices_label(const struct devices *d, uint32_t dev, char label[32])
{
	const struct device_name *known = devices_find(d, dev);

	if (known)
		snprintf(label, 32, "%.31s", known->name);
	else
		snprintf(label, 32, "%u:%u", WIRE_MAJOR(dev), WIRE_MINOR(dev));
	return dev ? label : "";
}

char *devices_name(const struct devices *d, uint32_t dev)
{
	char label[32];

	return dev ? xstrdup(devices_label(d, dev, label)) : NULL;
}

void devices_free(struct devices *d)
{
	free(d->device);
}
