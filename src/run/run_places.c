// SPDX-License-Identifier: GPL-2.0-only
/* run_places.c - which file systems and disks the numbers in facts stand for; those that come during the run, too. */
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "host/device_names.h"
#include "host/sysfs.h"
#include "util/mem.h"

const struct device_name *run_place(const struct traced_run *run, uint32_t dev)
{
	for (size_t i = 0; dev && i < run->places.n; i++)
		if (run->places.device[i].dev == dev)
			return &run->places.device[i];
	return NULL;
}

bool run_is_of_run(const void *ctx, uint32_t dev)
{
	const struct traced_run *run = ctx;
	const struct device_name *p = run_place(run, dev);

	return (p && p->traced) || run->opts.all || !dev;
}

static bool learn(struct traced_run *run)
{
	uint32_t *traced = xcalloc(run->n_disks, sizeof(*traced));
	size_t n = 0;
	bool any;

	for (size_t i = 0; i < run->n_disks; i++)
		if (!run->disk[i].gone)
			traced[n++] = run->disk[i].wire.dev;
	any = places_learn(&run->places, traced, n);
	free(traced);
	return any;
}

void run_places_read(struct traced_run *run)
{
	run->mounts = mounts_watch();
	learn(run);
	run_wake_sources_places(run);
}

/* ---- what comes during the run ---- */

static void learn_again(struct traced_run *run)
{
	run->places_changed = false;
	if (!learn(run))
		return;
	run_wake_sources_places(run);
	if (!run->sync)
		return;
	sync_learn(run->sync, run->places.device, run->places.n);
	if (run->sync_step)
		sync_learn(run->sync_step, run->places.device, run->places.n);
	if (run->opts.recording)
		run_record_places(run);
}

static void look(struct traced_run *run)
{
	run->places_changed |= run->mounts >= 0 && mounts_changed(run->mounts);
}

void run_places_look(struct traced_run *run)
{
	look(run);
	if (!run->places_changed)
		return;
	if (run->sync) /* facts of before are of what was there before */
		run_drain(run);
	if (run->places_changed)
		learn_again(run);
	memset(run->strange, 0, sizeof(run->strange));
}

static uint32_t device_of(const struct wire_head *fact)
{
	switch (fact->kind) {
	case WIRE_SYNC: return ((const struct wire_sync *)fact)->dev;
	case WIRE_FILE: return ((const struct wire_file *)fact)->dev;
	default: return 0;
	}
}

/* Of a container's own mounts nothing is ever known: each number is asked for once between two looks. */
static bool is_strange(const struct traced_run *run, uint32_t dev)
{
	for (size_t i = 0; i < sizeof(run->strange) / sizeof(*run->strange); i++)
		if (run->strange[i] == dev)
			return true;
	return false;
}

void run_places_of(struct traced_run *run, const struct wire_head *fact)
{
	uint32_t dev = device_of(fact);

	if (!dev || dev == run->dev)
		return;
	run->dev = dev;
	if (run_place(run, dev) || is_strange(run, dev))
		return;
	look(run);
	if (run->places_changed)
		learn_again(run);
	if (!run_place(run, dev))
		run->strange[run->n_strange++ % (sizeof(run->strange) / sizeof(*run->strange))] = dev;
}

void run_places_end(struct traced_run *run)
{
	if (run->mounts >= 0)
		close(run->mounts);
	places_free(&run->places);
}
