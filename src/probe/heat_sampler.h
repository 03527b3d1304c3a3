/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heat_sampler.h - latencies over time, out of counters that know no time: they are looked at every so often, and what came since is
 * counted as of the middle between two looks. Looks become rarer with the length of the run.
 */
#ifndef BT_PROBE_HEAT_SAMPLER_H
#define BT_PROBE_HEAT_SAMPLER_H

#include <stdbool.h>

#include "probe/counters.h"
#include "model/report.h"

struct heats;

struct heats *heats_new(struct counters *c);
void heats_free(struct heats *h); /* NULL is fine */

/* Which counters a heat map is made of: its own view and, for a whole disk, the views of its named partitions. */
struct heats_source {
	uint32_t view, n_parts;
	uint32_t part_view[WIRE_MAX_PARTS];
	bool bio_based; /* bios have a total time only */
};

/* Adds a device; its number is the count of those before it. */
void heats_add(struct heats *h, const struct heats_source *source);

/* To be called often; looks when a column has ended, `time` ns after the run's start. `now`: looks in any case. */
void heats_look(struct heats *h, uint64_t time, bool now);

/* From now on a new time is counted, from 0; what was counted so far is forgotten. */
void heats_restart(struct heats *h);

/* A copy for a device's report: the caller's; NULL where nothing was counted. */
struct heat *heats_copy(const struct heats *h, size_t device, enum heat_class c);

#endif
