/* SPDX-License-Identifier: GPL-2.0-only */
/* verdict_report.h - reports made by hand, for whoever judges them. */
#ifndef VERDICT_REPORT_H
#define VERDICT_REPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "util/mem.h"
#include "wire.h"

#define MADE_BY_HAND __attribute__((unused))

#define US  1000ull
#define MS  1000000ull
#define SEC 1000000000ull

static MADE_BY_HAND struct report_device *add_device(struct report *r, const char *name, const char *cache)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->write_cache = xstrdup(cache);
	d->scheduler = xstrdup("mq-deadline");
	d->nr_requests = 64;
	d->kernel.have = d->kernel.have_flush = true;
	return d;
}

static MADE_BY_HAND void ops(struct report_device *d, enum op_class c, uint64_t n, uint64_t device_ns)
{
	for (uint64_t i = 0; i < n; i++) {
		tally_add(&d->op[c].device, device_ns);
		tally_add(&d->op[c].queue, 0);
		tally_add(&d->op[c].total, device_ns);
	}
	d->op[c].count += n;
	if (c == OP_FLUSH) {
		d->kernel.flushes += n;
		d->kernel.flush_ns += n * device_ns;
	}
}

static MADE_BY_HAND void add_mount(struct report_device *d, const char *dir, const char *barrier)
{
	struct report_mount *m = grow((void **)&d->mounts, &d->n_mounts, sizeof(*m));

	m->dir = xstrdup(dir);
	m->fstype = xstrdup("ext4");
	m->options = xstrdup("rw,noatime,nobarrier");
	m->barrier = xstrdup(barrier);
}

static MADE_BY_HAND void add_process(struct report *r, const char *comm, uint32_t pid, uint64_t count, uint64_t ns)
{
	struct report_group *g = grow((void **)&r->sync.process, &r->sync.n_processes, sizeof(*g));

	g->comm = xstrdup(comm);
	g->pid = pid;
	g->count = count;
	g->total_ns = ns;
}

/* 100 fdatasyncs of 10 ms each, in a run of 1.1 s, nothing in the ledger yet. Shares in per mille. */
static MADE_BY_HAND struct report *start(void)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = 1100 * MS;
	r->sync.count = 100;
	r->sync.calls[CALL_FDATASYNC] = 100;
	r->sync.total_ns = SEC;
	for (int i = 0; i < 100; i++)
		hist_add(&r->sync.latency, 10 * MS);
	add_process(r, "sqlite3", 42, 100, SEC);
	return r;
}

static MADE_BY_HAND void add_file(struct report *r, const char *path, const char *device, uint64_t unsafe)
{
	struct report_group *g = grow((void **)&r->sync.file, &r->sync.n_files, sizeof(*g));

	g->path = xstrdup(path);
	g->device = device ? xstrdup(device) : NULL;
	g->count = r->sync.count;
	g->unsafe = unsafe;
}

static MADE_BY_HAND void spend(struct report *r, enum cause c, unsigned int permille)
{
	r->sync.ledger.ns[c] += permille * MS;
}

static MADE_BY_HAND void wrap(struct report *r)
{
	strv_add(&r->command, xstrdup("sqlite3"));
}

static MADE_BY_HAND void drop(struct report *r)
{
	report_free(r);
	free(r);
}

static MADE_BY_HAND void drop_made(struct report **r)
{
	drop(*r);
}

/* Of its block: MADE *r = start(); */
#define MADE __attribute__((cleanup(drop_made))) struct report

#endif
