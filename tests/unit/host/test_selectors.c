// SPDX-License-Identifier: GPL-2.0-only
/* Whom numbers and names select: process trees, and the cgroups of units and containers. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake_tree.h"
#include "host/cgroup_find.h"
#include "host/process_tree.h"

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

/* ---- cgroups ---- */

#define DIGITS_60 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"

struct folder_row {
	enum cgroup_of of;
	const char *name, *folder;
	size_t want;
};

static const struct folder_row folder_rows[] = {
	{ CGROUP_OF_UNIT, "a", "a", 1 },
	{ CGROUP_OF_UNIT, "a", "a.service", 1 },
	{ CGROUP_OF_UNIT, "a.service", "a.service", 1 },
	{ CGROUP_OF_UNIT, "a.service", "a", 0 },
	{ CGROUP_OF_UNIT, "a", "ab", 0 },
	{ CGROUP_OF_UNIT, "a", "b/c/d/a", 1 },
	{ CGROUP_OF_UNIT, "a", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/a", 1 },
	{ CGROUP_OF_UNIT, "a", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/a", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "abc", 1 },
	{ CGROUP_OF_CONTAINER, "ab", "abc", 0 },
	{ CGROUP_OF_CONTAINER, "abc.scope", "abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc.service", "abc.service", 0 },
	{ CGROUP_OF_CONTAINER, "abc.slice", "abc.slice", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "docker-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "ab", "docker-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "bc", "docker-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-payload-abc", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "libpod-conmon-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "abc", "cri-containerd-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "crio-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "containerd-abc", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "lxc.payload.abc", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "machine-abc.scope", 1 },
	{ CGROUP_OF_CONTAINER, "abc", "other-abc.scope", 0 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cdef", 1 },
	{ CGROUP_OF_CONTAINER, DIGITS_60 "cdef", DIGITS_60 "cdef", 1 },
	{ CGROUP_OF_CONTAINER, "0", DIGITS_60 "cde", 0 },
};

/* "1/a.slice/x.service": how many groups a name is, and which if it is one; or the instance that there is instead */
static void several(const char *name, const char *want)
{
	char *root = xasprintf("%s/several", dir), *got;
	struct cgroup_found f = cgroup_find(root, CGROUP_OF_UNIT, name);

	got = xasprintf("%zu%s%s", f.n, f.n == 1 ? f.first + strlen(root) : "", f.instance ? f.instance : "");
	is_text(got, want, name);
	cgroup_found_free(&f);
	free(root);
}

static void test_several(void)
{
	put("several/system.slice/postgresql@15-main.service/x", "");
	put("several/system.slice/redis.service/redis.service/x", "");
	put("several/three/x/tri.service/x", "");
	put("several/three/y/tri.service/x", "");
	put("several/three/z/tri.service/x", "");
	put("several/file.service", "");
	several("postgresql@15-main", "1/system.slice/postgresql@15-main.service");
	several("postgresql", "0postgresql@15-main.service");
	several("postgres", "0");
	several("redis", "1/system.slice/redis.service");
	several("file", "0");
	several("tri.service", "3");
}

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

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_processes();
	ok(!gone(10) && !gone(13) && gone(12) && gone(99) && gone(41), "who has ended");
	test_ended();
	test_several();
	test_folders();
	tree_remove();
	return tap_done();
}
