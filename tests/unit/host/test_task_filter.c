// SPDX-License-Identifier: GPL-2.0-only
/*
 * What --pid, --comm, --cgroup, --unit and --container take, and what they say to who asks for something else. The hierarchies of
 * cgroups are made up: the functions below stand in for the C library's where task_filter.c asks for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/task_filter.h"
#include "util/mem.h"
#include "check.h"
#include "fake_tree.h"
#include "open_files.h"

/* ---- the C library's ---- */

/* The files that are made up are these; the others are as they are. */
static char *instead(const char *path)
{
	if (!strcmp(path, "/proc/self/mountinfo"))
		return xasprintf("%s/mounts", dir);
	if (!strcmp(path, "/proc/4711/cgroup"))
		return xasprintf("%s/process", dir);
	if (!strncmp(path, "/sys/fs/cgroup/", 15))
		return xasprintf("%s/sys/%s", dir, path + 15);
	return xstrdup(path);
}

FILE *fopen(const char *path, const char *mode)
{
	char *there = instead(path);
	int fd = open(there, *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0644);

	free(there);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Of the paths here every one is as real as it gets. */
char *realpath(const char *path, char *resolved)
{
	char *there = instead(path);

	(void)resolved;
	if (!access(there, F_OK))
		return there;
	free(there);
	return NULL;
}

/* Of which kind a file system is, its folder's name below ours says. */
int statfs(const char *path, struct statfs *fs)
{
	const char *below = strncmp(path, dir, strlen(dir)) ? "" : path + strlen(dir);

	memset(fs, 0, sizeof(*fs));
	fs->f_type = TMPFS_MAGIC;
	if (strstr(below, "/v2"))
		fs->f_type = CGROUP2_SUPER_MAGIC;
	if (strstr(below, "/v1"))
		fs->f_type = CGROUP_SUPER_MAGIC;
	return access(path, F_OK);
}

/* ---- checks ---- */

typedef int filter_option(struct filter *f, const char *value, struct err *e);

/* ---- processes ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void end(pid_t pid)
{
	if (pid > 0 && !kill(pid, SIGKILL))
		waitpid(pid, NULL, 0);
}

static int take_pid(struct filter *f, pid_t pid)
{
	char *number = xasprintf("%d", pid);
	struct err e;
	int ret = filter_pid(f, number, &e);

	free(number);
	return ret;
}

static void test_pids(void)
{
	struct filter f = FILTER_NONE, first = FILTER_NONE;
	struct err e = { 0 };
	int before = open_files();
	pid_t a = sleeper(), b = sleeper();
	char *text = xasprintf("pid %d, pid %d", a, b);

	ok(filter_pid(&first, "1", &e) != -EINVAL, "1 is a process number"); /* of one that may be hidden */
	filter_free(&first);
	ok(!filter_by_process(&f) && !filter_look(&f), "nobody is named");
	ok(!take_pid(&f, a) && !take_pid(&f, b) && !take_pid(&f, a), "two processes, one of them twice");
	is_str(f.text, text, "in the order in which they were named");
	ok(f.n_pids == 2 && f.alive == 2 && f.pid[0] == a && f.pid[1] == b && f.fd >= 0 && filter_by_process(&f),
	   "are two");
	ok(!filter_look(&f) && f.alive == 2, "both live");
	end(b);
	ok(!filter_look(&f) && f.alive == 1 && f.pidfd[1] == -1 && f.pidfd[0] >= 0, "one has ended, which is not the last");
	end(a);
	ok(filter_look(&f) && !f.alive && f.pidfd[0] == -1, "the last one has");
	f.n_comms = 1;
	ok(!filter_look(&f), "but others of a name may come");
	f.n_comms = 0;
	f.n_groups = 1;
	f.group[0] = (struct filter_group){ 0 };
	ok(!filter_look(&f), "or others in a group");
	ok(take_pid(&f, a) == -ESRCH && f.n_pids == 2, "who has ended can't be named any more");
	filter_free(&f);
	ok(!f.n_pids && !f.pid && !f.pidfd && !f.text && f.fd == -1 && !f.n_groups, "nothing is left");
	ok(open_files() == before, "nor a descriptor");
	free(text);
}

static void test_comms(void)
{
	struct filter f = FILTER_NONE;
	struct processes_wanted want;
	struct err e;
	pid_t pid[] = { 1 };

	prctl(PR_SET_NAME, "unit_of_filters");
	ok(!filter_comm(&f, "unit_of_filters", &e) && !filter_comm(&f, "unit_of_filters_and_more", &e),
	   "a name is cut as the kernel cuts it");
	ok(f.n_comms == 2 && !strcmp(f.comm[1], "unit_of_filters") && filter_by_process(&f) && f.fd == -1, "two names");
	is_str(f.text, "comm unit_of_filters, comm unit_of_filters_and_more", "as they were given");
	ok(!filter_look(&f), "which never end");
	f.no_children = true;
	want = filter_processes(&f);
	ok(!want.n_pids && want.n_comms == 2 && want.comm == f.comm && want.no_children, "what is looked for");
	filter_free(&f);
	f.pid = pid;
	f.n_pids = 1;
	want = filter_processes(&f);
	ok(want.n_pids == 1 && want.pid == pid && !want.n_comms && !want.no_children, "or by number, with children");
}

/* ---- cgroups ---- */

static void group(const char *folder, const char *controllers)
{
	char *path = xasprintf("%s/cgroup.controllers", folder);

	put(path, controllers);
	free(path);
}

/* A line for each, which is to be below our folder. */
static void mounts(const char *const *line)
{
	char *text = xstrdup("short\n"), *longer;

	for (; *line; line++, text = longer) {
		char folder[64], type[16], options[64];

		sscanf(*line, "%63s %15s %63s", folder, type, options);
		longer = xasprintf("%s1 1 0:1 / %s/%s rw - %s none %s\n", text, dir, folder, type, options);
		free(text);
	}
	put("mounts", text);
	free(text);
}

#define MOUNTS(...) mounts((const char *const[]){ __VA_ARGS__, NULL })

static void make_groups(void)
{
	group("v2", "cpu io\n");
	group("v2/a", "cpu io memory\n");
	group("v2/a/b", "cpu memory\n");
	group("v2/ab", "");
	group("v2/system.slice/db.service", "io\n");
	group("v2/system.slice/pg@1.service", "io\n");
	group("v2/web1", "io\n");
	group("v2/web2", "io\n");
	group("v1/blkio/old", "");
	group("v1/blkio/system.slice/db.service", "");
	group("v1/blkio/system.slice/elder.service", "");
	group("v1/blkio/system.slice/pg@2.service", "");
	group("v1/memory/old", "");
	group("v1/memory/inner/x", "");
	group("v1/mem", "");
	group("sys/v2-below/c", "io\n");
	group("sys/unified/v2-below/d", "io\n");
	group("sys/blkio/v2-below/e", "io\n");
	group("elsewhere", "io\n");
	MOUNTS("elsewhere tmpfs rw,blkio", "v1/memory cgroup rw,memory", "v1/blkio cgroup rw,blkio", "v2 cgroup2 rw");
}

/* "/v2/a bio" without what is before our folder's name; or the error's text */
static void takes(filter_option *option, const char *value, const char *want, const char *name)
{
	struct filter f = FILTER_NONE;
	struct err e = { 0 };
	struct stat st = { 0 };
	char *got;

	if (option(&f, value, &e)) {
		is_str(e.text, want, name);
		ok(!f.n_groups && !f.text, "nothing is taken");
		return;
	}
	got = xasprintf("%s%s", f.group[0].dir + strlen(dir), f.group[0].by_bio ? " bio" : "");
	is_str(got, want, name);
	ok(f.n_groups == 1 && !stat(f.group[0].dir, &st) && f.group[0].id == st.st_ino, "its id is the folder's");
	ok(f.text && strstr(f.text, value) && !filter_by_process(&f) && !filter_look(&f), "and is told");
	free(got);
	filter_free(&f);
}

/* The same, of a path below our folder. */
static void takes_path(const char *path, const char *want, const char *name)
{
	char *value = xasprintf("%s/%s", dir, path),
	     *error = *want == '/' ? xstrdup(want) : xasprintf("--cgroup %s: %s", value, want);

	takes(filter_cgroup, value, error, name);
	free(error);
	free(value);
}

#define NO_CGROUP "there is no such cgroup"
#define NOT_BLKIO "this hierarchy does not control block I/O: name the group in the blkio one"

static void test_cgroups(void)
{
	takes_path("v2/a", "/v2/a bio", "a group with the io controller");
	takes_path("v2/a/b", "/v2/a/b", "one without it is told by the sender");
	takes_path("v2/ab", "/v2/ab", "one without any");
	takes_path("v2/system.slice", "/v2/system.slice", "one that says nothing of its controllers");
	takes_path("v1/blkio/old", "/v1/blkio/old bio", "version 1: in the blkio hierarchy");
	takes_path("v1/blkio", "/v1/blkio bio", "version 1: the hierarchy itself");
	takes_path("v1/memory/old", NOT_BLKIO, "version 1: another hierarchy");
	takes_path("v1/mem", NOT_BLKIO, "version 1: a name that is the beginning of another");
	takes_path("elsewhere", NO_CGROUP, "no cgroup");
	takes_path("v2/none", NO_CGROUP, "no folder");
	takes_path("v2/a/cgroup.controllers", NO_CGROUP, "a file");
	takes(filter_cgroup, "v2-below/c", "/sys/v2-below/c bio", "below the root of cgroups");
	takes(filter_cgroup, "v2-below/d", "/sys/unified/v2-below/d bio", "of the one that is beside version 1");
	takes(filter_cgroup, "v2-below/e", "/sys/blkio/v2-below/e bio", "of version 1");
	takes(filter_cgroup, "v2-below/f", "--cgroup v2-below/f: there is no such cgroup", "of none");
}

static void test_units(void)
{
	takes(filter_unit, "db", "/v2/system.slice/db.service bio", "a unit: version 2 goes first");
	takes(filter_unit, "elder", "/v1/blkio/system.slice/elder.service bio", "one that is in version 1 only");
	takes(filter_unit, "pg", "--unit pg: no unit of this name has processes; there is pg@1.service",
	      "the first instance is told");
	takes(filter_container, "web1", "/v2/web1 bio", "a container");
	MOUNTS("v1/memory cgroup rw,memory", "v1/mem cgroup rw,blkio", "v1/blkio cgroup rw,blkio");
	takes(filter_unit, "elder", "--unit elder: no unit of this name has processes",
	      "one mount of the blkio hierarchy is looked into");
	put("mounts", "");
	takes(filter_unit, "db", "--unit db: no unit of this name has processes", "no hierarchy at all");
	make_groups();
}

/* Which processes are in the groups v2/a and v1/blkio/old: by a line of their own file. */
static void test_members(void)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{ "0::/a\n", true },
		{ "0::/a/b\n", true },
		{ "0::/a", true },
		{ "0::/ab\n", false },
		{ "0::/\n", false },
		{ "0::/b/a\n", false },
		{ "3:memory:/x\n4:blkio:/old/c\n0::/\n", true },
		{ "4:blkio:/older\n", false },
		{ "/a\n:/a\n", false },
		{ "", false },
	};
	struct filter f = FILTER_NONE;
	char *a = xasprintf("%s/v2/a", dir), *old = xasprintf("%s/v1/blkio/old", dir), *root = xasprintf("%s/v2", dir);
	struct err e;

	put("process", "0::/a\n");
	ok(!filter_in_groups(&f, 4711), "without a group nobody is in one");
	ok(!filter_cgroup(&f, a, &e) && !filter_cgroup(&f, old, &e) && f.n_groups == 2, "two groups");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		put("process", rows[i].text);
		ok(filter_in_groups(&f, 4711) == rows[i].want, "who is in '%s'", rows[i].text);
	}
	ok(!filter_in_groups(&f, 4194304), "who is gone is in none");
	put("process", "0::/a\n");
	put("mounts", "");
	ok(!filter_in_groups(&f, 4711), "not known in which where none is mounted");
	make_groups();
	filter_free(&f);
	put("process", "0::/x/y\n");
	ok(!filter_cgroup(&f, root, &e) && filter_in_groups(&f, 4711), "everybody is in the root");
	filter_free(&f);
	free(root);
	free(old);
	free(a);
}

static void test_restarts(void)
{
	struct filter f = FILTER_NONE;
	char *folder = xasprintf("%s/v2/restarted", dir), *other = xasprintf("%s/v2/a", dir),
	     *aside = xasprintf("%s/v2/aside", dir);
	uint64_t id;
	struct err e;

	ok(!filter_look_for_groups(&f), "no group, no change");
	mkdir(folder, 0755);
	ok(!filter_cgroup(&f, folder, &e) && !filter_cgroup(&f, other, &e), "two groups");
	id = f.group[0].id;
	ok(id && !filter_look_for_groups(&f) && f.group[0].id == id, "are as they were");
	rename(folder, aside); /* its number is not free for the next one */
	ok(filter_look_for_groups(&f) && !f.group[0].id && f.group[1].id, "one is gone");
	ok(!filter_look_for_groups(&f), "and stays so");
	mkdir(folder, 0755);
	ok(filter_look_for_groups(&f) && f.group[0].id && f.group[0].id != id, "it comes back as another one");
	ok(!filter_look_for_groups(&f), "and stays that");
	filter_free(&f);
	free(aside);
	free(other);
	free(folder);
}

int main(void)
{
	int before;

	if (!mkdtemp(dir))
		return 1;
	make_groups();
	test_pids();
	test_comms();
	before = open_files();
	test_cgroups();
	test_units();
	test_members();
	test_restarts();
	ok(open_files() == before, "no file is left open");
	tree_remove();
	return tap_done();
}
