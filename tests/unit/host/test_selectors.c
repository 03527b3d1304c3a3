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

static void test_ended(void)
{
	static const struct {
		char state;
		int threads;
		bool gone;
	} rows[] = { { 'Z', 0, true }, { 'Z', 1, true },  { 'Z', 2, false },
		     { 'X', 2, true }, { 'S', 0, false }, { 'D', 1, false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		process(900, "nine", rows[i].state, 0, rows[i].threads);
		ok(gone(900) == rows[i].gone, "state %c with %d threads", rows[i].state, rows[i].threads);
	}
}

static void test_numbers(void)
{
	static const char name[][PROCESS_COMM] = { "number" };
	static const pid_t all[] = { 20 };
	struct processes_wanted want = chosen(all, 1, NULL, 0);
	pid_t *found;
	size_t n = 77;

	process(0, "number", 'S', 20, 1);
	process(1000, "number", 'S', 20, 1);
	process(9000, "number", 'S', 20, 1);
	process(20, "number", 'S', 9000, 1); /* each other's parent: a race with numbers that are given again */
	ok(finds(alone(chosen(NULL, 0, name, 1)), "20 1000 9000"),
	   "from the smallest number to the largest, and 0 is none");
	ok(finds(chosen(all, 1, NULL, 0), "20 1000 9000"), "children in a circle");
	ok(finds(chosen(NULL, 0, NULL, 0), ""), "who looks for nobody finds nobody");
	found = processes_find("/no/such/place", &want, &n);
	ok(found && !n, "nor does who looks where no processes are");
	free(found);
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

#define DIGITS_60 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"

struct folder_row {
	enum cgroup_of of;
	const char *name, *folder;
	size_t want;
};

static const struct folder_row folder_rows[] = {
	{ CGROUP_OF_UNIT, "a", "a", 1 },
	{ CGROUP_OF_UNIT, "a", "a.service", 1 },
	{ CGROUP_OF_UNIT, "a", "a.servic", 0 },
	{ CGROUP_OF_UNIT, "a", "a.service2", 0 },
	{ CGROUP_OF_UNIT, "a.service", "a.service", 1 },
	{ CGROUP_OF_UNIT, "a.service", "a", 0 },
	{ CGROUP_OF_UNIT, "a", "ab", 0 },
	{ CGROUP_OF_UNIT, "a", "xa", 0 },
	{ CGROUP_OF_UNIT, "a", "b/.a", 0 },
	{ CGROUP_OF_UNIT, "a", "b/c/d/a", 1 },
	{ CGROUP_OF_UNIT, ".a", ".a", 0 },
	{ CGROUP_OF_UNIT, "a", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/a", 1 },
	{ CGROUP_OF_UNIT, "a", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/a", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "abc", 1 },
	{ CGROUP_OF_CONTAINER, "ab", "abc", 0 },
	{ CGROUP_OF_CONTAINER, "abc.scope", "abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc.service", "abc.service", 0 },
	{ CGROUP_OF_CONTAINER, "abc.slice", "abc.slice", 0 },
	{ CGROUP_OF_CONTAINER, "abc.mount", "abc.mount", 0 },
	{ CGROUP_OF_CONTAINER, "abc.socket", "abc.socket", 0 },
	{ CGROUP_OF_CONTAINER, "abc.swap", "abc.swap", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "docker-abc.swap", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "docker-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "ab", "docker-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abd", "docker-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "bc", "docker-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "docker-abc.scope", "docker-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-payload-abc", 1 },
	{ CGROUP_OF_CONTAINER, "payload", "libpod-payload-abc", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-conmon-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "conmon", "libpod-conmon-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "cri-containerd-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "crio-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "containerd-abc", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "lxc.payload.abc", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "machine-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "other-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cdef", 1 },
	{ CGROUP_OF_CONTAINER, DIGITS_60 "cdef", DIGITS_60 "cdef", 1 },
	{ CGROUP_OF_CONTAINER, "1", DIGITS_60 "cdef", 0 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cde", 0 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cdef0", 0 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cdeg", 0 },
};

/* Each in a hierarchy of its own. */
static void test_folders(void)
{
	for (size_t i = 0; i < sizeof(folder_rows) / sizeof(*folder_rows); i++) {
		const struct folder_row *r = &folder_rows[i];
		char *path = xasprintf("folders/%zu/%s/x", i, r->folder), *root = xasprintf("%s/folders/%zu", dir, i);
		struct cgroup_found f;

		free(full(path));
		f = cgroup_find(root, r->of, r->name);
		ok(f.n == r->want, "%s %s %s '%s'", r->folder, r->want ? "is" : "isn't",
		   r->of == CGROUP_OF_UNIT ? "unit" : "container", r->name);
		cgroup_found_free(&f);
		ok(!f.n && !f.first && !f.second && !f.instance, "freed");
		free(path);
		free(root);
	}
}

static void test_several(void)
{
	GROUPS("three/x/tri.service", "three/y/tri.service", "three/z/tri.service", "one.slice/multi@1.service",
	       "one.slice/multi@2.service");
	put("cgroup/file.service", "");
	ok(cgroup(CGROUP_OF_UNIT, "tri", 3, NULL), "three");
	ok(cgroup(CGROUP_OF_UNIT, "file", 0, ""), "a file is no group");
	ok(cgroup(CGROUP_OF_UNIT, "multi", 0, NULL), "two instances");
	ok(cgroup(CGROUP_OF_CONTAINER, "multi", 0, ""), "containers have none");
	ok(cgroup(CGROUP_OF_UNIT, "multi@2", 1, "/one.slice/multi@2.service"), "one of them");
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
	test_ended();
	test_numbers();
	test_cgroups();
	test_folders();
	test_several();
	test_filter();
	tree_remove();
	return tap_done();
}
