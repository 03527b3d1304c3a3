// SPDX-License-Identifier: GPL-2.0-only
/* run_places.c - which file systems and disks the numbers in facts stand for; those that come during the run, too. */
#include "run/run_internal.h"

#include <stdlib.h>
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

bool run_is_of_run(const struct traced_run *run, uint32_t dev)
{
	const struct device_name *p = run_place(run, dev);

	return (p && p->traced) || run->opts.all || !dev;
}

static bool learn(struct traced_run *run)
{
	uint32_t *traced = xcalloc(run->n_disks, sizeof(*traced));
	bool any;

	for (size_t i = 0; i < run->n_disks; i++)
		traced[i] = run_disk_key(&run->disk[i]);
	any = places_learn(&run->places, traced, run->n_disks);
	free(traced);
	return any;
}

void run_places_read(struct traced_run *run)
{
	run->mounts = mounts_watch();
	learn(run);
	run_idle_start(run);
}

void run_places_again(struct traced_run *run)
{
	if (!learn(run))
		return;
	run->dev = 0;
	run_idle_start(run);
	if (!run->sync)
		return;
	sync_learn(run->sync, run->places.device, run->places.n);
	if (run->sync_step)
		sync_learn(run->sync_step, run->places.device, run->places.n);
	if (run->opts.recording)
		run_record_places(run);
}

void run_places_look(struct traced_run *run)
{
	if (run->mounts >= 0 && mounts_changed(run->mounts))
		run_places_again(run);
}

static uint32_t device_of(const struct wire_head *fact)
{
	switch (fact->kind) {
	case WIRE_SYNC: return ((const struct wire_sync *)fact)->dev;
	case WIRE_FILE: return ((const struct wire_file *)fact)->dev;
	default: return 0;
	}
}

void run_places_of(struct traced_run *run, const struct wire_head *fact)
{
	uint32_t dev = device_of(fact);

	if (!dev || dev == run->dev)
		return;
	if (!run_place(run, dev))
		run_places_look(run);
	run->dev = dev;
}

void run_places_end(struct traced_run *run)
{
	if (run->mounts >= 0)
		close(run->mounts);
	places_free(&run->places);
}
