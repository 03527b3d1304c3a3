// SPDX-License-Identifier: GPL-2.0-only
#include "host/task_filter.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/cgroup_find.h"
#include "host/mountinfo.h"
#include "host/sysfs.h"
#include "util/mem.h"
#include "util/num.h"

/* The process that a thread number belongs to; 0 when there is none. */
static pid_t process_of(pid_t tid)
{
	char *text = file_textf("/proc/%d/status", tid), *line = text ? strstr(text, "\nTgid:") : NULL;
	int tgid = line ? atoi(line + strlen("\nTgid:")) : 0;

	free(text);
	return tgid;
}

/* "pid 42, comm postgres" */
static void describe(struct filter *f, const char *option, const char *value)
{
	char *text = f->text ? xasprintf("%s, %s %s", f->text, option, value) : xasprintf("%s %s", option, value);

	free(f->text);
	f->text = text;
}

static int refuse_more(const char *option, struct err *e)
{
	return err_set(e, EINVAL, EXIT_USAGE, "--%s can be given %d times", option, FILTER_MAX);
}

/* ---- processes ---- */

/* -errno when it has ended meanwhile. */
static int watch_end(struct filter *f, pid_t pid)
{
	struct epoll_event ready = { .events = EPOLLIN, .data.u64 = f->n_pids };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	if (f->fd < 0)
		f->fd = epoll_create1(EPOLL_CLOEXEC);
	if (f->fd < 0 || epoll_ctl(f->fd, EPOLL_CTL_ADD, fd, &ready)) {
		close(fd);
		return -ESRCH;
	}
	f->pidfd = xrealloc(f->pidfd, (f->n_pids + 1) * sizeof(*f->pidfd));
	f->pidfd[f->n_pids] = fd;
	f->alive++;
	return 0;
}

int filter_pid(struct filter *f, const char *value, struct err *e)
{
	uint64_t n;
	pid_t pid;

	if (num_parse_range(value, 1, 1u << 22, &n))
		return err_set(e, EINVAL, EXIT_USAGE, "--pid %s: not a process number", value);
	pid = process_of((pid_t)n);
	for (size_t i = 0; i < f->n_pids; i++)
		if (f->pid[i] == pid)
			return 0;
	if (!pid || watch_end(f, pid))
		return err_set(e, ESRCH, EXIT_FAILED, "there is no process %s", value);
	*(pid_t *)grow((void **)&f->pid, &f->n_pids, sizeof(*f->pid)) = pid;
	value = xasprintf("%d", pid);
	describe(f, "pid", value);
	free((char *)value);
	return 0;
}

int filter_comm(struct filter *f, const char *value, struct err *e)
{
	struct processes_wanted want = { .comm = &f->comm[f->n_comms], .n_comms = 1, .no_children = true };
	size_t n;

	if (!*value)
		return err_set(e, EINVAL, EXIT_USAGE, "--comm needs the name of processes");
	if (f->n_comms == FILTER_MAX)
		return refuse_more("comm", e);
	snprintf(f->comm[f->n_comms], PROCESS_COMM, "%s", value);
	free(processes_find("/proc", &want, &n));
	if (!n)
		return err_set(e, ESRCH, EXIT_FAILED, "--comm %s: there is no process of this name", value);
	f->n_comms++;
	describe(f, "comm", value);
	return 0;
}

bool filter_by_process(const struct filter *f)
{
	return f->n_pids || f->n_comms;
}

struct processes_wanted filter_processes(const struct filter *f)
{
	return (struct processes_wanted){ f->pid, f->n_pids, f->comm, f->n_comms, f->no_children };
}

bool filter_look(struct filter *f)
{
	struct epoll_event gone;

	while (f->fd >= 0 && epoll_wait(f->fd, &gone, 1, 0) == 1) {
		close(f->pidfd[gone.data.u64]); /* and it is out of the others */
		f->pidfd[gone.data.u64] = -1;
		f->alive--;
	}
	return f->n_pids && !f->alive && !f->n_comms && !f->n_groups;
}

/* ---- cgroups ---- */

static bool has_blkio(const struct mount_entry *m)
{
	char *option = strcmp(m->fstype, "cgroup") ? NULL : mount_option(m, "blkio");
	bool has = option;

	free(option);
	return has;
}

/* Has this v1 hierarchy (its mount holds `dir`) the blkio controller? */
static bool v1_has_blkio(const char *dir)
{
	const struct mount_entry *best = NULL;
	struct mount_table t;
	bool yes;

	mount_table_read("/proc/self/mountinfo", &t);
	for (size_t i = 0; i < t.n; i++) {
		const struct mount_entry *m = &t.mounts[i];

		if (!strcmp(m->fstype, "cgroup") && path_within(dir, m->dir) &&
		    (!best || strlen(m->dir) >= strlen(best->dir)))
			best = m;
	}
	yes = best && has_blkio(best);
	mount_table_free(&t);
	return yes;
}

/*
 * Has the cgroup the io controller? Only where its parent hands that down; else the bios sent from it carry the nearest
 * cgroup above that has it, and only their sender tells where they are from.
 */
static bool v2_has_io(const char *dir)
{
	char *controllers = file_textf("%s/cgroup.controllers", dir);
	bool yes = controllers && strstr(controllers, "io");

	free(controllers);
	return yes;
}

/* `option` and `value` are the user's words. -ENOENT: `dir` is no cgroup. */
static int add_group(struct filter *f, const char *dir, const char *option, const char *value, struct err *e)
{
	bool by_bio = true;
	struct statfs fs;
	struct stat st;

	if (statfs(dir, &fs) || stat(dir, &st) || !S_ISDIR(st.st_mode))
		return -ENOENT;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		by_bio = v2_has_io(dir);
	else if (fs.f_type != CGROUP_SUPER_MAGIC)
		return -ENOENT;
	else if (!v1_has_blkio(dir))
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--%s %s: this hierarchy does not control block I/O: name the group in the blkio one",
			       option, value);
	if (f->n_groups == FILTER_MAX)
		return refuse_more(option, e);
	/* kernfs: the inode number is the cgroup's id */
	f->group[f->n_groups++] = (struct filter_group){ xstrdup(dir), st.st_ino, by_bio };
	describe(f, option, value);
	return 0;
}

int filter_cgroup(struct filter *f, const char *value, struct err *e)
{
	static const char *const roots[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/", "/sys/fs/cgroup/blkio/" };

	if (!*value)
		return err_set(e, EINVAL, EXIT_USAGE, "--cgroup needs the path of a cgroup");
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char *joined = xasprintf("%s%s", roots[i], value), *real = realpath(joined, NULL);
		int err = real ? add_group(f, real, "cgroup", value, e) : -ENOENT;

		free(joined);
		free(real);
		if (err != -ENOENT)
			return err;
	}
	return err_set(e, ENOENT, EXIT_USAGE, "--cgroup %s: there is no such cgroup", value);
}

/* Where the hierarchies are mounted in which a group can be followed: version 2 first, where there are both. */
static char **cgroup_roots(void)
{
	char **found = NULL, *blkio = NULL;
	struct mount_table t;

	mount_table_read("/proc/self/mountinfo", &t);
	for (size_t i = 0; i < t.n; i++)
		if (!strcmp(t.mounts[i].fstype, "cgroup2"))
			strv_add(&found, xstrdup(t.mounts[i].dir));
		else if (!blkio && has_blkio(&t.mounts[i]))
			blkio = xstrdup(t.mounts[i].dir);
	mount_table_free(&t);
	if (blkio)
		strv_add(&found, blkio);
	return found;
}

/* -ENOENT: it isn't below this root, and *instance may say what is. */
static int find_below(struct filter *f, const char *root, enum cgroup_of of, const char *value, char **instance,
		      struct err *e)
{
	const char *option = of == CGROUP_OF_UNIT ? "unit" : "container";
	struct cgroup_found found = cgroup_find(root, of, value);
	size_t len = strlen(root);
	int err = -ENOENT;

	if (found.n == 1)
		err = add_group(f, found.first, option, value, e);
	else if (found.n)
		err = err_set(e, EINVAL, EXIT_USAGE,
			      "--%s %s: %zu cgroups have that name, %.100s and %.100s: name one with --cgroup", option,
			      value, found.n, found.first + len, found.second + len);
	if (found.instance && !*instance)
		*instance = xstrdup(found.instance);
	cgroup_found_free(&found);
	return err;
}

static int find_group(struct filter *f, enum cgroup_of of, const char *value, struct err *e)
{
	const char *option = of == CGROUP_OF_UNIT ? "unit" : "container";
	char **roots, *instance = NULL;
	int err = -ENOENT;

	if (!*value || strchr(value, '/'))
		return err_set(e, EINVAL, EXIT_USAGE, "--%s needs a name; --cgroup takes a path", option);
	roots = cgroup_roots();
	for (size_t i = 0; roots && roots[i] && err == -ENOENT; i++)
		err = find_below(f, roots[i], of, value, &instance, e);
	if (err == -ENOENT && of == CGROUP_OF_UNIT)
		err = err_set(e, ENOENT, EXIT_FAILED, "--unit %s: no unit of this name has processes%s%s", value,
			      instance ? "; there is " : "", instance ? instance : "");
	else if (err == -ENOENT)
		err = err_set(e, ENOENT, EXIT_FAILED,
			      "--container %s: no cgroup has this name; a container's ID always stands in it (docker ps)",
			      value);
	free(instance);
	strv_free(roots);
	return err;
}

int filter_unit(struct filter *f, const char *value, struct err *e)
{
	return find_group(f, CGROUP_OF_UNIT, value, e);
}

int filter_container(struct filter *f, const char *value, struct err *e)
{
	return find_group(f, CGROUP_OF_CONTAINER, value, e);
}

/* "/a/b" is in the group whose folder is ROOT/a. */
static bool is_below(const char *dir, const char *root, const char *path)
{
	size_t n = strlen(root);

	return !strncmp(dir, root, n) && path_within(path, dir + n);
}

/* "0::/a/b", "4:blkio:/a/b": a hierarchy, its controllers, and where in it the process is. */
static bool line_in_groups(const struct filter *f, char **roots, const char *line)
{
	const char *path = strchr(line, ':');

	path = path ? strchr(path + 1, ':') : NULL;
	for (size_t r = 0; path && roots && roots[r]; r++)
		for (size_t i = 0; i < f->n_groups; i++)
			if (strlen(f->group[i].dir) >= strlen(roots[r]) && is_below(f->group[i].dir, roots[r], path + 1))
				return true;
	return false;
}

bool filter_in_groups(const struct filter *f, pid_t pid)
{
	char *file = xasprintf("/proc/%d/cgroup", pid), **roots = f->n_groups ? cgroup_roots() : NULL, line[4096];
	FILE *in = roots ? fopen(file, "re") : NULL;
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		found = line_in_groups(f, roots, line);
	}
	if (in)
		fclose(in);
	strv_free(roots);
	free(file);
	return found;
}

bool filter_look_for_groups(struct filter *f)
{
	bool changed = false;

	for (size_t i = 0; i < f->n_groups; i++) {
		struct stat st;
		uint64_t id = stat(f->group[i].dir, &st) ? 0 : st.st_ino;

		changed |= id != f->group[i].id;
		f->group[i].id = id;
	}
	return changed;
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->n_pids; i++)
		if (f->pidfd[i] >= 0)
			close(f->pidfd[i]);
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->n_groups; i++)
		free(f->group[i].dir);
	free_all(f->pidfd, f->pid, f->text);
	*f = (struct filter)FILTER_NONE;
}
