// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload_sync.c - what pg_test_fsync tests: ways to make writes durable, each with a small file of its own that is written
 * again and again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "bench/workload_list.h"

#define FILE_BYTES 131072u

enum how { SYNC_NONE, SYNC_FSYNC, SYNC_FDATASYNC, SYNC_BY_WRITE, SYNC_REOPENED };

static const struct method {
	const char *name, *file;
	int flags;
	enum how how;
	unsigned int writes, kib;
} methods[] = {
	{ "open_datasync, 1 x 8k", "open_datasync-1x8k", O_DSYNC | O_DIRECT, SYNC_BY_WRITE, 1, 8 },
	{ "fdatasync, 1 x 8k", "fdatasync-1x8k", 0, SYNC_FDATASYNC, 1, 8 },
	{ "fsync, 1 x 8k", "fsync-1x8k", 0, SYNC_FSYNC, 1, 8 },
	{ "open_sync, 1 x 8k", "open_sync-1x8k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 1, 8 },
	{ "open_datasync, 2 x 8k", "open_datasync-2x8k", O_DSYNC | O_DIRECT, SYNC_BY_WRITE, 2, 8 },
	{ "fdatasync, 2 x 8k", "fdatasync-2x8k", 0, SYNC_FDATASYNC, 2, 8 },
	{ "fsync, 2 x 8k", "fsync-2x8k", 0, SYNC_FSYNC, 2, 8 },
	{ "open_sync, 2 x 8k", "open_sync-2x8k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 2, 8 },
	{ "open_sync, 1 x 16k", "open_sync-1x16k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 1, 16 },
	{ "open_sync, 4 x 4k", "open_sync-4x4k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 4, 4 },
	{ "open_sync, 8 x 2k", "open_sync-8x2k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 8, 2 },
	{ "open_sync, 16 x 1k", "open_sync-16x1k", O_SYNC | O_DIRECT, SYNC_BY_WRITE, 16, 1 },
	{ "fdatasync, 1 x 64k", "fdatasync-1x64k", 0, SYNC_FDATASYNC, 1, 64 },
	{ "write, fsync, close", "write-fsync-close", 0, SYNC_FSYNC, 1, 8 },
	{ "write, close, fsync", "write-close-fsync", 0, SYNC_REOPENED, 1, 8 },
	{ "no sync, 1 x 8k", "no-sync-1x8k", 0, SYNC_NONE, 1, 8 },
};

#define N_METHODS (sizeof(methods) / sizeof(methods[0]))

/* pg_test_fsync opens and closes in each turn of these two. */
static bool reopens(const struct method *m)
{
	return !strncmp(m->name, "write, ", 7);
}

uint64_t sync_need(const struct workload_opts *o)
{
	(void)o;
	return N_METHODS * FILE_BYTES;
}

struct turn {
	struct work *w;
	const struct method *m;
	struct scores_row *row;
	void *data;
	int fd; /* -1: it is opened in each turn */
};

static int writes(const struct turn *t, int fd)
{
	const size_t n = t->m->kib * 1024;

	for (unsigned int i = 0; i < t->m->writes; i++) {
		int err = write_all(fd, t->data, n, (off_t)(i * n));

		if (err)
			return err;
		if (t->m->how == SYNC_BY_WRITE) {
			t->row->syncs++;
			t->w->t->syncs++;
		}
	}
	return 0;
}

static int sync_it(const struct turn *t, int fd)
{
	if (t->m->how == SYNC_NONE || t->m->how == SYNC_BY_WRITE)
		return 0;
	t->row->syncs++;
	return work_sync(t->w, fd, t->m->how == SYNC_FDATASYNC, t->m->file);
}

static int one_open(const struct turn *t, int fd)
{
	int err = writes(t, fd);

	if (err)
		return work_fail(t->w, -err, "write %s/%s", t->w->path, t->m->file);
	if (t->m->how == SYNC_REOPENED) {
		close(fd);
		fd = work_open(t->w, t->m->file, O_RDWR);
		if (fd < 0)
			return -1;
	}
	err = sync_it(t, fd);
	if (t->fd < 0)
		close(fd);
	return err;
}

static int one(const struct turn *t)
{
	int fd = t->fd < 0 ? work_open(t->w, t->m->file, O_RDWR) : t->fd;

	return fd < 0 ? -1 : one_open(t, fd);
}

static int turns(struct turn *t, uint64_t share_ns)
{
	uint64_t began = clock_ns(), now = began, before, progress = t->w->t->done;
	struct hist each = { 0 };

	while (now < began + share_ns || !t->row->ops) {
		before = now;
		if (one(t))
			return -1;
		now = clock_ns();
		hist_add(&each, now - before);
		t->row->ops++;
		t->row->bytes += (uint64_t)t->m->writes * t->m->kib * 1024;
		t->w->t->done = progress + (now - began < share_ns ? now - began : share_ns);
	}
	t->row->wall_ns = now - began;
	work_row_times(t->row, &each);
	return 0;
}

/* File systems without O_DIRECT, and disks with larger sectors, refuse some. */
static bool possible(const struct turn *t)
{
	int fd = openat(t->w->dir, t->m->file, O_RDWR | O_CLOEXEC | (t->m->flags & O_DIRECT)), err = fd < 0 ? errno : 0;

	if (!err)
		err = -write_all(fd, t->data, t->m->kib * 1024, 0);
	if (fd >= 0)
		close(fd);
	if (err == EINVAL)
		snprintf(t->row->missing, sizeof(t->row->missing), "not here: O_DIRECT of %u KiB is refused", t->m->kib);
	return err != EINVAL;
}

static int method(struct work *w, const struct method *m, void *data, uint64_t share_ns)
{
	struct turn t = { .w = w, .m = m, .data = data, .row = work_row(w, m->name, m->file), .fd = -1 };
	uint64_t size = FILE_BYTES;
	int err;

	work_phase(w, m->name);
	t.fd = work_prepare(w, m->file, &size, SECOND);
	if (t.fd < 0)
		return -1;
	t.row->syncs = 1; /* the preparation's, on the same file */
	close(t.fd);
	t.fd = -1;
	if ((m->flags & O_DIRECT) && !possible(&t))
		return 0;
	if (!reopens(m))
		t.fd = work_open(w, m->file, O_RDWR | m->flags);
	err = !reopens(m) && t.fd < 0 ? -1 : turns(&t, share_ns);
	if (t.fd >= 0)
		close(t.fd);
	return err;
}

int sync_run(struct work *w)
{
	uint64_t share = w->o->time_ns / N_METHODS;
	void *data = work_buffer(FILE_BYTES);
	int err = 0;

	w->t->total = share * N_METHODS;
	for (size_t i = 0; i < N_METHODS && !err; i++)
		err = method(w, &methods[i], data, share);
	free(data);
	return err;
}
