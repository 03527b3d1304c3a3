// SPDX-License-Identifier: GPL-2.0-only
/* run_wake_sources.c - what tells, while ledgers are off, that a sync call has come: the kernel side is told which devices' requests do. */
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>

#include "host/covered_devices.h"
#include "host/sysfs.h"
#include "util/mem.h"

static bool covers(const void *ctx, const char *fstype)
{
	return probes_hear(ctx, fstype);
}

static void tell_covered(struct traced_run *run)
{
	struct covered_devices c;

	covered_devices_read(covers, run->probes, &c);
	probes_tell_covered(run->probes, c.dev, c.n);
	covered_devices_free(&c);
}

/* A disk's cache can be turned on and off meanwhile, and so can what the kernel believes of it. */
static void tell_caches(struct traced_run *run)
{
	for (size_t i = 0; i < run->n_disks; i++) {
		char *cache = block_text(run->disk[i].name, "queue/write_cache");

		probes_tell_cached(run->probes, &run->disk[i].wire, cache && !strcmp(cache, "write back"));
		free(cache);
	}
}

void run_wake_sources_tell(struct traced_run *run)
{
	tell_covered(run);
	tell_caches(run);
}

static void look_for_remote(void *ctx, const struct mounted *m)
{
	static const char *const remote[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "lustre", "gpfs" };
	bool *any = ctx;

	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		*any |= !strcmp(m->fstype, remote[i]);
}

bool run_wake_sources_lacking(const struct traced_run *run)
{
	bool any = false;

	if (run->opts.all)
		mounts_each(look_for_remote, &any);
	return any;
}

void run_wake_sources_places(struct traced_run *run)
{
	uint32_t *dev = xcalloc(run->places.n, sizeof(*dev));
	size_t n = 0;

	for (size_t i = 0; i < run->places.n && run->opts.want.may_idle; i++)
		if (!run_is_of_run(run, run->places.device[i].dev))
			dev[n++] = run->places.device[i].dev;
	probes_tell_elsewhere(run->probes, dev, n);
	free(dev);
}
