// SPDX-License-Identifier: GPL-2.0-only
#include "probe/heat_sampler.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define FIRST_LOOK_NS (8ull * HEAT_FINEST_NS) /* 100 ms: then columns and looks go together */

struct device_heat {
	struct heats_source from;
	uint64_t seen[HEAT_CLASSES][HEAT_ROWS];
	struct heat *heat[HEAT_CLASSES];
};

struct heats {
	struct counters *counters;
	struct device_heat *device;
	size_t n_devices;
	uint64_t last, every;
};

static const uint32_t *class_cells(enum heat_class c)
{
	static const uint32_t cells[HEAT_CLASSES][4] = {
		[HEAT_READ] = { WIRE_READ_SYNC, WIRE_READ_ASYNC, WIRE_CLASSES },
		[HEAT_WRITE] = { WIRE_WRITE_SYNC, WIRE_WRITE_ASYNC, WIRE_WRITE_BARRIER, WIRE_CLASSES },
		[HEAT_FUA] = { WIRE_FUA, WIRE_CLASSES },
		[HEAT_FLUSH] = { WIRE_FLUSH, WIRE_CLASSES },
	};

	return cells[c];
}

struct heats *heats_new(struct counters *c)
{
	struct heats *h = xcalloc(1, sizeof(*h));

	h->counters = c;
	h->every = FIRST_LOOK_NS;
	return h;
}

static void clear(struct heats *h)
{
	for (size_t i = 0; i < h->n_devices; i++)
		for (int c = 0; c < HEAT_CLASSES; c++) {
			free(h->device[i].heat[c]);
			h->device[i].heat[c] = NULL;
		}
}

void heats_free(struct heats *h)
{
	if (!h)
		return;
	clear(h);
	free(h->device);
	free(h);
}

void heats_add(struct heats *h, const struct heats_source *source)
{
	struct device_heat *d = grow((void **)&h->device, &h->n_devices, sizeof(*d));

	d->from = *source;
}

static void read_class(const struct heats *h, const struct device_heat *d, enum heat_class c, uint64_t rows[HEAT_ROWS])
{
	for (const uint32_t *cell = class_cells(c); *cell != WIRE_CLASSES; cell++) {
		counters_rows(h->counters, d->from.view, *cell, d->from.bio_based, rows);
		/* a FLUSH is the whole disk's */
		for (uint32_t i = 0; i < d->from.n_parts && c != HEAT_FLUSH; i++)
			counters_rows(h->counters, d->from.part_view[i], *cell, d->from.bio_based, rows);
	}
}

static void look_at(const struct heats *h, struct device_heat *d, enum heat_class c, uint64_t time)
{
	uint64_t rows[HEAT_ROWS] = { 0 };

	read_class(h, d, c, rows);
	for (unsigned int r = 0; r < HEAT_ROWS; r++) {
		if (rows[r] <= d->seen[c][r])
			continue;
		if (!d->heat[c]) {
			d->heat[c] = xcalloc(1, sizeof(*d->heat[c]));
			d->heat[c]->column_ns = FIRST_LOOK_NS;
		}
		heat_add(d->heat[c], time, heat_row_lower(r), rows[r] - d->seen[c][r]);
		d->seen[c][r] = rows[r];
	}
}

void heats_look(struct heats *h, uint64_t time, bool now)
{
	if (!now && time / h->every == h->last / h->every)
		return;
	for (size_t i = 0; i < h->n_devices; i++)
		for (int c = 0; c < HEAT_CLASSES; c++)
			look_at(h, &h->device[i], (enum heat_class)c, h->last + (time - h->last) / 2);
	h->last = time;
	while (time / h->every >= HEAT_COLUMNS)
		h->every *= 2;
}

void heats_restart(struct heats *h)
{
	heats_look(h, h->last, true);
	clear(h);
	h->last = 0;
	h->every = FIRST_LOOK_NS;
}

struct heat *heats_copy(const struct heats *h, size_t device, enum heat_class c)
{
	struct heat *out;

	if (device >= h->n_devices || !h->device[device].heat[c])
		return NULL;
	out = xcalloc(1, sizeof(*out));
	*out = *h->device[device].heat[c];
	return out;
}
