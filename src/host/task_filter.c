// SPDX-License-Identifier: GPL-2.0-only
#include "host/task_filter.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/num.h"

/* The process that a thread number belongs to; 0 when there is none. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int tgid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(f);
	return tgid;
}

/* The kernel side heeds one. */
static int refuse_both(struct err *e)
{
	return err_set(e, EINVAL, EXIT_USAGE, "--pid and --cgroup cannot be joined: choose one");
}

int filter_pid(struct filter *f, const char *value, struct err *e)
{
	uint64_t n;
	pid_t pid;

	if (f->cgroup_id)
		return refuse_both(e);
	if (num_parse_range(value, 1, 1u << 22, &n))
		return err_set(e, EINVAL, EXIT_USAGE, "--pid %s: not a process number", value);
	pid = process_of((pid_t)n);
	if (!pid)
		return err_set(e, ESRCH, EXIT_FAILED, "there is no process %s", value);
	filter_free(f);
	f->pid = pid;
	f->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	f->text = xasprintf("pid %d", pid);
	return 0;
}

/* Does this v1 hierarchy (its mount holds `dir`) have the blkio controller? */
static bool v1_has_blkio(const char *dir)
{
	char line[4096], mount[1024], type[64], options[1024];
	size_t best = 0;
	bool yes = false;
	FILE *f = fopen("/proc/self/mounts", "re");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		size_t len;

		if (sscanf(line, "%*s %1023s %63s %1023s", mount, type, options) != 3 || strcmp(type, "cgroup"))
			continue;
		len = strlen(mount);
		if (strncmp(dir, mount, len) || (dir[len] && dir[len] != '/') || len < best)
			continue;
		best = len;
		yes = strstr(options, "blkio");
	}
	fclose(f);
	return yes;
}

/*
 * Has the cgroup the io controller? Only where its parent hands that down; else the bios sent from it carry the nearest
 * cgroup above that has it, and only their sender tells where they are from.
 */
static bool v2_has_io(const char *dir)
{
	char path[4200], line[256] = "";
	FILE *f;
	bool yes;

	snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
	f = fopen(path, "re");
	if (!f)
		return false;
	yes = fgets(line, sizeof(line), f) && strstr(line, "io");
	fclose(f);
	return yes;
}

static int classify(struct filter *f, const char *dir, const char *value, struct err *e)
{
	struct statfs fs;
	struct stat st;

	if (statfs(dir, &fs) || stat(dir, &st) || !S_ISDIR(st.st_mode))
		return -ENOENT;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		f->cgroup_by_bio = v2_has_io(dir);
	else if (fs.f_type == CGROUP_SUPER_MAGIC && v1_has_blkio(dir))
		f->cgroup_by_bio = true;
	else if (fs.f_type == CGROUP_SUPER_MAGIC)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--cgroup %s: this hierarchy does not control block I/O: name the "
			       "group in the blkio one",
			       value);
	else
		return -ENOENT;
	f->cgroup_id = st.st_ino; /* kernfs: the inode number is the cgroup's id */
	free(f->text);
	f->text = xasprintf("cgroup %s", value);
	return 0;
}

int filter_cgroup(struct filter *f, const char *value, struct err *e)
{
	static const char *const roots[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/", "/sys/fs/cgroup/blkio/" };

	if (f->pid)
		return refuse_both(e);
	if (!*value)
		return err_set(e, EINVAL, EXIT_USAGE, "--cgroup needs the path of a cgroup");
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char *joined = xasprintf("%s%s", roots[i], value), *real = realpath(joined, NULL);
		int err = real ? classify(f, real, value, e) : -ENOENT;

		free(joined);
		free(real);
		if (err != -ENOENT)
			return err;
	}
	return err_set(e, ENOENT, EXIT_USAGE, "--cgroup %s: there is no such cgroup", value);
}

void filter_free(struct filter *f)
{
	if (f->pidfd >= 0)
		close(f->pidfd);
	f->pidfd = -1;
	free(f->text);
	f->text = NULL;
}
