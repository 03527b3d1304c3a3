// SPDX-License-Identifier: GPL-2.0-only
/*
 * However opening the probes ends, the loaders' threads are joined before the types go whose path they read. The linker puts the
 * __wrap functions between the units (--wrap, see Makefile): they count the threads and refuse what a kernel may refuse.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/loader.h"
#include "probe/probe.h"
#include "tap.h"

/* Which turn of it fails, counted from 1; 0: none. */
static struct {
	bool plan_all; /* ask the kernel; else a plan without a probe will do */
	int plan, open, thread;
	bool again, maps; /* the first load is to be planned anew; the maps are refused */
} refuse;

static struct {
	int plans, loads, opens;
	int threads, unjoined;
	int early;			     /* what was let go of, or looked at, with threads still running */
	const struct types *lent[4], *freed; /* to the loaders */
	int n_lent, n_freed;
} seen;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	int err = refuse.thread ? EAGAIN : __real_pthread_create(t, a, fn, arg);

	seen.threads += !err;
	seen.unjoined += !err;
	return err;
}

int __real_pthread_join(pthread_t t, void **ret);
int __wrap_pthread_join(pthread_t t, void **ret)
{
	seen.unjoined--;
	return __real_pthread_join(t, ret);
}

int __real_load_new(const struct types *path, const struct probe_want *want, struct load **out, struct err *e);
int __wrap_load_new(const struct types *path, const struct probe_want *want, struct load **out, struct err *e)
{
	seen.lent[seen.n_lent++ % 4] = path;
	return __real_load_new(path, want, out, e);
}

static bool is_lent(const struct types *t)
{
	for (int i = 0; i < seen.n_lent; i++)
		if (seen.lent[i] == t)
			return true;
	return false;
}

void __real_types_free(struct types *t);
void __wrap_types_free(struct types *t)
{
	if (is_lent(t)) {
		seen.n_freed++;
		seen.early += seen.unjoined;
	}
	__real_types_free(t);
}

int __real_bpf_object__open_skeleton(struct bpf_object_skeleton *s, const struct bpf_object_open_opts *opts);
int __wrap_bpf_object__open_skeleton(struct bpf_object_skeleton *s, const struct bpf_object_open_opts *opts)
{
	return ++seen.opens == refuse.open ? -ENOMEM : __real_bpf_object__open_skeleton(s, opts);
}

int __real_bpf_object__load_skeleton(struct bpf_object_skeleton *s);
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	return refuse.maps ? -EPERM : __real_bpf_object__load_skeleton(s);
}

int __real_plan_make(struct plan *plan, const struct probe_want *want, const struct plan_types *types, struct err *e);
int __wrap_plan_make(struct plan *plan, const struct probe_want *want, const struct plan_types *types, struct err *e)
{
	if (++seen.plans == refuse.plan)
		return err_set(e, EPERM, EXIT_KERNEL_CANNOT, "a required probe is refused");
	return refuse.plan_all ? __real_plan_make(plan, want, types, e) : 0;
}

int __real_load_programs(struct load *l, const struct probe_want *want, struct plan *plan,
			 const struct plan_types *types, struct err *e);
int __wrap_load_programs(struct load *l, const struct probe_want *want, struct plan *plan,
			 const struct plan_types *types, struct err *e)
{
	int err;

	if (++seen.loads == 1 && refuse.again)
		return -EAGAIN;
	err = __real_load_programs(l, want, plan, types, e);
	seen.early += seen.unjoined;
	return err;
}

/* Types of a kernel without any that is asked for. */
static bool write_types(int fd)
{
	struct btf *btf = btf__new_empty();
	const void *raw;
	__u32 size;
	bool good;

	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	raw = btf__raw_data(btf, &size);
	good = write(fd, raw, size) == (ssize_t)size;
	btf__free(btf);
	return good;
}

static int open_probes(const char *types, struct probes **p, struct err *e)
{
	struct probe_want want;

	memset(&seen, 0, sizeof(seen));
	probe_want_default(&want);
	want.btf_path = types;
	want.views = want.stripes = 1;
	return probes_open(&want, p, e);
}

/* Loads that were begun have threads, and nobody's memory was touched behind their backs. */
static void refused(const char *types, int loads, enum exit_status status, const char *what)
{
	struct probes *p = NULL;
	struct err e = { 0 };
	int err = open_probes(types, &p, &e);

	if (!ok(err < 0 && e.status == status && !p, "%s: refused", what))
		diag("%d, status %d: %s", err, (int)e.status, e.text);
	if (!ok(seen.n_lent == loads && !seen.threads == !!refuse.thread && seen.n_freed == 1 && !seen.early && !seen.unjoined,
		"%s: each loader is joined before the types are freed", what))
		diag("%d loads, %d threads, types freed %d times, %d threads then, %d at the end", seen.n_lent,
		     seen.threads, seen.n_freed, seen.early, seen.unjoined);
	memset(&refuse, 0, sizeof(refuse));
}

static void test_refused(const char *types)
{
	refused("/nowhere/types", 1, EXIT_FAILED, "no types in --btf FILE");
	refuse.plan = 1;
	refused(types, 1, EXIT_KERNEL_CANNOT, "a required probe");
	refuse.again = true;
	refuse.plan = 2;
	refused(types, 2, EXIT_KERNEL_CANNOT, "a required probe, at the second try");
	refuse.open = 1;
	refused(types, 1, EXIT_FAILED, "the skeleton");
	refuse.again = true;
	refuse.open = 2;
	refused(types, 2, EXIT_FAILED, "the skeleton, at the second try");
	refuse.maps = true;
	refused(types, 2, EXIT_NOT_PERMITTED, "maps, twice");
	refuse.thread = 1;
	refused("/nowhere/types", 1, EXIT_FAILED, "threads, and no types");
}

/* The threads' real work, where the kernel lets us. */
static void test_opened(void)
{
	static const char name[] = "what is loaded: each loader is joined before the types are freed";
	struct probes *p = NULL;
	struct err e = { 0 };
	int err;

	refuse.plan_all = true;
	err = open_probes(NULL, &p, &e);
	ok(!seen.early && !seen.unjoined && seen.n_freed == 1, "%s", name);
	if (err)
		ok(!p, "it can be loaded # SKIP %s", e.text);
	else
		ok(p && seen.threads > 0, "it can be loaded");
	probes_close(p);
	ok(seen.n_freed == 1, "and the types are freed once");
}

int main(void)
{
	char types[] = "/tmp/barriertrace_test.XXXXXX";
	int fd = mkstemp(types);

	if (ok(fd >= 0 && write_types(fd), "types for it"))
		test_refused(types);
	close(fd);
	unlink(types);
	test_opened();
	return tap_done();
}
