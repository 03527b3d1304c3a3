/* SPDX-License-Identifier: GPL-2.0-only */
/* fake_tree.h - a made-up /sys and /proc below a temporary folder. */
#ifndef FAKE_TREE_H
#define FAKE_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "util/mem.h"
#include "tap.h"

static char dir[] = "/tmp/barriertrace_test.XXXXXX";

/* A path below `dir`, whose folders are made; the caller's to free. */
static inline char *full(const char *path)
{
	char *whole = xasprintf("%s/%s", dir, path);

	for (char *p = whole + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(whole, 0755);
		*p = '/';
	}
	return whole;
}

static inline void put(const char *path, const char *text)
{
	char *whole = full(path);
	FILE *f = fopen(whole, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	free(whole);
}

static inline void link_to(const char *path, const char *target)
{
	char *whole = full(path);

	unlink(whole);
	if (symlink(target, whole))
		diag("cannot link %s", whole);
	free(whole);
}

/* A device in /sys: its folder, its links, and its attributes as "name=value" up to NULL. */
static inline void device(const char *folder, const char *dev, const char *const *attributes)
{
	const char *name = strrchr(folder, '/') + 1;
	char *path = xasprintf("sys/class/block/%s", name), *target = xasprintf("../../devices/%s", folder);

	link_to(path, target);
	free(path);
	free(target);
	if (dev) {
		path = xasprintf("sys/dev/block/%s", dev);
		target = xasprintf("../../devices/%s", folder);
		link_to(path, target);
		free(path);
		free(target);
		path = xasprintf("sys/devices/%s/dev", folder);
		target = xasprintf("%s\n", dev);
		put(path, target);
		free(path);
		free(target);
	}
	for (; *attributes; attributes++) {
		size_t n = strcspn(*attributes, "=");

		path = xasprintf("sys/devices/%s/%.*s", folder, (int)n, *attributes);
		put(path, *attributes + n + 1);
		free(path);
	}
}

#define DEVICE(folder, dev, ...) device(folder, dev, (const char *const[]){ __VA_ARGS__, NULL })

/* Of the mount that a path is in, as the kernel numbers it. */
static inline int mount_id(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC), id = -1;
	char *info = xasprintf("/proc/self/fdinfo/%d", fd), *text = file_text(info), *line;

	line = text ? strstr(text, "mnt_id:") : NULL;
	if (line)
		id = atoi(line + strlen("mnt_id:"));
	free(text);
	free(info);
	close(fd);
	return id;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_remove(void)
{
	nftw(dir, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char *tree_sys, *tree_proc;

/* Makes it, empty; sysfs.h reads it from here on. */
static inline void tree_make(void)
{
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary folder\n");
		exit(1);
	}
	tree_sys = full("sys");
	tree_proc = full("proc");
	sysfs_roots(tree_sys, tree_proc);
}

/* What main() returns. */
static inline int tree_done(void)
{
	tree_remove();
	free(tree_sys);
	free(tree_proc);
	return tap_done();
}

#endif
