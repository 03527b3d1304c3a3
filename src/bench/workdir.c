// SPDX-License-Identifier: GPL-2.0-only
/* workdir.c - the folder of a workload, made and removed with the caller's rights; and whether there is room for it. */
#include "bench/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/num.h"

int place_make(struct work *w)
{
	snprintf(w->path, sizeof(w->path), "%s/" WORKLOAD_PREFIX "XXXXXX", w->o->dir);
	if (!mkdtemp(w->path)) {
		int code = errno;

		*w->path = 0;
		return work_fail(w, code, "cannot make a folder in %s", w->o->dir);
	}
	w->dir = open(w->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return w->dir < 0 ? work_fail(w, errno, "cannot use %s", w->path) : 0;
}

static int empty(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!d)
		return errno;
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && unlinkat(dir, entry->d_name, 0) && !err)
			err = errno;
	closedir(d);
	return err;
}

void place_remove(struct work *w)
{
	struct scores *t = w->t;
	size_t n;
	int err;

	if (!*w->path)
		return;
	err = w->dir < 0 ? 0 : empty(w->dir);
	if (!err && rmdir(w->path))
		err = errno;
	if (w->dir >= 0)
		close(w->dir);
	n = strlen(t->error);
	if (err) {
		snprintf(t->error + n, sizeof(t->error) - n, "%s%s could not be removed: %s", n ? "; " : "", w->path,
			 strerror(err));
		t->status = EXIT_FAILED;
	}
}

/* ---- before anything is done ---- */

static const char *kind(mode_t mode)
{
	if (S_ISBLK(mode))
		return "a disk, and nothing is written to a raw one: name a folder on its file system";
	return S_ISCHR(mode) ? "a device: name a folder to write in" : "a file: name a folder to write in";
}

/* What stays free when we are at our largest */
static uint64_t spare(const struct statvfs *v)
{
	uint64_t part = (uint64_t)v->f_blocks * v->f_frsize / 50;

	return part < 16 * MIB ? 16 * MIB : part > 1024 * MIB ? 1024 * MIB : part;
}

int place_allowed(const struct workload_opts *o, uint64_t need, bool sized, struct err *e)
{
	struct statvfs v;
	struct stat st;
	uint64_t room;

	if (stat(o->dir, &st))
		return err_set(e, errno, EXIT_FAILED, "%s: %s", o->dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, EXIT_USAGE, "%s is %s", o->dir, kind(st.st_mode));
	if (statvfs(o->dir, &v))
		return err_set(e, errno, EXIT_FAILED, "%s: %s", o->dir, strerror(errno));
	if (v.f_flag & ST_RDONLY)
		return err_set(e, EROFS, EXIT_FAILED, "%s is on a file system that is mounted read-only", o->dir);
	room = (uint64_t)v.f_bavail * v.f_frsize;
	if (need + spare(&v) <= room)
		return 0;
	return err_set(e, ENOSPC, EXIT_FAILED, "%s has %s free; %s needs %s and leaves %s%s", o->dir,
		       num_bytes(room, 0).s, o->workload, num_bytes(need, 0).s, num_bytes(spare(&v), 0).s,
		       sized ? ": a smaller --size may fit" : "");
}
