// SPDX-License-Identifier: GPL-2.0-only
/* Whom numbers and names select: process trees, and the cgroups of units and containers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_tree.h"
#include "host/cgroup_find.h"
#include "host/process_tree.h"
#include "host/task_filter.h"

/* ---- process trees ---- */

static void process(int pid, const char *comm, char state, int parent, int threads)
{
	char *path = xasprintf("proc/%d/stat", pid);
	char *text = xasprintf("%d (%s) %c %d 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 %d 0 99 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n",
			       pid, comm, state, parent, threads);

	put(path, text);
	free(path);
	free(text);
}

static void make_processes(void)
{
	process(1, "init", 'S', 0, 1);
	process(10, "postgres", 'S', 1, 1);
	process(2, "kthreadd", 'S', 0, 1);
	process(11, "postgres", 'S', 10, 1);
	process(5, "backend", 'D', 11, 1); /* numbers wrap: a child's can be the smaller one */
	process(12, "postgres", 'Z', 10, 1);
	process(13, "mariadbd", 'Z', 10, 30); /* its first thread has ended, the others haven't */
	process(30, "sh", 'S', 1, 1);
	process(31, "a ) S 10 (", 'S', 30, 1); /* a name that looks like the rest of the line */
	process(32, "pgbench", 'R', 31, 4);
	put("proc/40/stat", "");
	put("proc/41/stat", "41 (cut");
	put("proc/42/stat", "42 (cut) S 10 1 1\n");
	put("proc/self/stat", "11 (postgres) S 10 1\n");
}

static struct processes_wanted chosen(const pid_t *pid, size_t n_pids, const char (*comm)[PROCESS_COMM], size_t n_comms)
{
	return (struct processes_wanted){ pid, n_pids, comm, n_comms, false };
}

static struct processes_wanted alone(struct processes_wanted want)
{
	want.no_children = true;
	return want;
}

/* "5 10 11": those that are found */
static bool finds(struct processes_wanted want, const char *expected)
{
	char *proc = xasprintf("%s/proc", dir), text[200] = "";
	size_t n, len = 0;
	pid_t *found = processes_find(proc, &want, &n);

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d", i ? " " : "", found[i]);
	if (strcmp(text, expected))
		diag("found %s, not %s", text, expected);
	free(found);
	free(proc);
	return !strcmp(text, expected);
}

static void test_processes(void)
{
	static const char name[][PROCESS_COMM] = { "postgres", "pgbench" }, part[][PROCESS_COMM] = { "postgre" };
	static const pid_t server[] = { 10 }, two[] = { 31, 2 }, gone[] = { 99 }, ended[] = { 12 };

	make_processes();
	ok(finds(chosen(server, 1, NULL, 0), "5 10 11 13"), "a server, its children, and theirs");
	ok(finds(alone(chosen(server, 1, NULL, 0)), "10"), "without children");
	ok(finds(chosen(two, 2, NULL, 0), "2 31 32"), "two, one of them with parentheses in its name");
	ok(finds(alone(chosen(NULL, 0, name, 1)), "10 11"), "all of a name");
	ok(finds(alone(chosen(NULL, 0, name, 2)), "10 11 32"), "all of two names");
	ok(finds(chosen(two, 1, name, 1), "5 10 11 13 31 32"), "a name and a number");
	ok(finds(chosen(NULL, 0, part, 1), ""), "a part of a name is another name");
	ok(finds(chosen(gone, 1, NULL, 0), "") && finds(chosen(ended, 1, NULL, 0), ""), "one that is gone, or has ended");
}

static bool gone(pid_t pid)
{
	char *proc = xasprintf("%s/proc", dir);
	bool is = process_gone(proc, pid);

	free(proc);
	return is;
}

/* ---- cgroups ---- */

static void groups(const char *const *folder)
{
	for (; *folder; folder++) {
		char *path = xasprintf("cgroup/%s/x", *folder);

		free(full(path));
		free(path);
	}
}

#define GROUPS(...) groups((const char *const[]){ __VA_ARGS__, NULL })

static bool cgroup(enum cgroup_of of, const char *name, size_t expected, const char *first)
{
	char *root = xasprintf("%s/cgroup", dir);
	struct cgroup_found f = cgroup_find(root, of, name);
	bool good = f.n == expected && !f.first == !f.n && !f.second == (f.n < 2);

	if (good && first)
		good = !strcmp((f.n ? f.first + strlen(root) : f.instance ? f.instance : ""), first);
	if (!good)
		diag("%s: %zu, %s", name, f.n, f.first ? f.first : f.instance ? f.instance : "-");
	cgroup_found_free(&f);
	free(root);
	return good;
}

static void test_cgroups(void)
{
	GROUPS("system.slice/postgresql@15-main.service", "system.slice/redis.service/redis.service",
	       "system.slice/docker-4f5eb7a6c1d2.scope",
	       "docker/77aa456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	       "machine.slice/libpod-c0ffee.scope", "kubepods.slice/kubepods-pod12.slice/cri-containerd-be61c0.scope",
	       "machine.slice/libpod-conmon-c0ffee.scope", "lxc.payload.web1", "lxc.payload.web2");
	ok(cgroup(CGROUP_OF_UNIT, "postgresql@15-main", 1, "/system.slice/postgresql@15-main.service"),
	   "a unit without .service");
	ok(cgroup(CGROUP_OF_UNIT, "postgresql@15-main.service", 1, NULL), "a unit with it");
	ok(cgroup(CGROUP_OF_UNIT, "postgresql", 0, "postgresql@15-main.service"), "not an instance of it, which is told");
	ok(cgroup(CGROUP_OF_UNIT, "postgresql.service", 0, "postgresql@15-main.service"), "nor of one with .service");
	ok(cgroup(CGROUP_OF_UNIT, "postgres", 0, ""), "no other unit that begins so");
	ok(cgroup(CGROUP_OF_UNIT, "system.slice", 1, "/system.slice"), "a slice");
	ok(cgroup(CGROUP_OF_UNIT, "redis", 1, "/system.slice/redis.service"), "one within itself is one");
	ok(cgroup(CGROUP_OF_CONTAINER, "4f5eb7a", 1, "/system.slice/docker-4f5eb7a6c1d2.scope"), "docker under systemd");
	ok(cgroup(CGROUP_OF_CONTAINER, "77aa", 1, NULL), "docker on its own");
	ok(cgroup(CGROUP_OF_CONTAINER, "be61c0", 1, NULL), "containerd under Kubernetes");
	ok(cgroup(CGROUP_OF_CONTAINER, "c0ffee", 1, "/machine.slice/libpod-c0ffee.scope"), "podman, and not its monitor");
	ok(cgroup(CGROUP_OF_CONTAINER, "web1", 1, NULL), "a name");
	ok(cgroup(CGROUP_OF_CONTAINER, "web", 2, NULL), "two that begin so");
	ok(cgroup(CGROUP_OF_CONTAINER, "ffee", 0, NULL), "amid an ID");
	ok(cgroup(CGROUP_OF_CONTAINER, "postgresql", 0, NULL) && cgroup(CGROUP_OF_CONTAINER, "system", 0, NULL),
	   "no service, no slice");
}

/* ---- the filter ---- */

static void test_filter(void)
{
	struct filter f = FILTER_NONE;
	struct err e;
	char *self = xasprintf("%d", getpid()), *text = xasprintf("pid %d", getpid());

	ok(!filter_pid(&f, self, &e), "a process that is there");
	ok(!filter_pid(&f, self, &e), "and again");
	ok(f.n_pids == 1 && f.alive == 1 && !strcmp(f.text, text), "is one");
	ok(!filter_look(&f), "and lives");
	ok(filter_comm(&f, "nobody has this", &e) == -ESRCH, "a name that nobody has");
	ok(f.n_comms == 0 && !strcmp(f.text, text), "is not taken");
	filter_free(&f);
	free(self);
	free(text);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_processes();
	ok(!gone(10) && !gone(13) && gone(12) && gone(99) && gone(41), "who has ended");
	test_cgroups();
	test_filter();
	tree_remove();
	return tap_done();
}
