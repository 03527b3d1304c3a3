// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_before.c - sync calls that were under way before the trace came: no program saw them begin, and only /proc tells of them. Who, in
 * which call, on which file, since when at least, and whether they have returned since.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/task_filter.h"
#include "host/task_proc.h"
#include "run/run_internal.h"
#include "util/clock.h"
#include "util/mem.h"

#define BEGAN_MAX  256 /* are remembered */
#define ASLEEP_MAX 32  /* of those it is asked since when: that moves us from CPU to CPU */

/* Calls from before that have returned: how many, and what the longest took at least. */
struct returned {
	uint64_t n, ns;
};

struct before {
	struct began *call;
	size_t n;
	struct returned since[SPANS]; /* the beginning of the run, of the interval, of the file */
};

/* ---- is it of those that are asked for? ---- */

/* A command that is wrapped has not begun anything before the trace. */
static bool left_out(const struct traced_run *run, uint32_t pid)
{
	const struct probe_want *w = &run->opts.want;

	if (!w->filter)
		return w->command;
	if (w->filter_family && probes_follows_process(run->probes, pid))
		return false;
	return !filter_in_groups(run->opts.filter, (pid_t)pid);
}

/* ---- the first look ---- */

static bool device_node(const char *path, uint32_t *dev)
{
	struct stat st;

	/* a file system of the kernel's own: it can't hang */
	if (strncmp(path, "/dev/", 5) || stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	*dev = WIRE_DEV(major(st.st_rdev), minor(st.st_rdev));
	return true;
}

void run_find_file(uint32_t pid, uint32_t call, const struct task_call *in, char **path, uint32_t *dev)
{
	struct task_file f;

	*path = NULL;
	*dev = 0;
	if (call == CALL_SYNC)
		return;
	if (call == CALL_MSYNC) {
		task_mapping_read(pid, in->arg[0], path, dev);
		return;
	}
	*path = task_fd_path(pid, (uint32_t)in->arg[0]);
	if (*path && !device_node(*path, dev) && task_fd_read(pid, (uint32_t)in->arg[0], &f))
		*dev = task_mount_dev(pid, f.mount);
}

static uint32_t flags_of_fd(const void *ctx, uint32_t fd)
{
	struct task_file f;

	return task_fd_read(*(const uint32_t *)ctx, fd, &f) ? f.flags : 0;
}

/* A call that began meanwhile has been seen by the kernel side: it was all attached when we began to look. */
static bool find_call(const struct traced_run *run, struct began *b)
{
	struct task_stat stat;

	if (!task_call_read(b->pid, b->tid, &b->in) || b->in.nr < 0)
		return false;
	b->call = probes_sync_call(b->in.nr, task_call_is_32bit(&b->in), b->in.arg, flags_of_fd, &b->pid);
	if (!b->call || !task_stat_read(b->pid, b->tid, &stat) || stat.kernel_thread || probes_in_call(run->probes, b->tid))
		return false;
	b->start = stat.start;
	if (!task_switches_read(b->pid, b->tid, &b->switches))
		b->switches = 0;
	run_find_file(b->pid, b->call, &b->in, &b->path, &b->dev);
	return b->call == CALL_SYNC || (b->dev && run_is_of_run(run, b->dev));
}

static bool look_first(void *ctx, uint32_t pid, uint32_t tid)
{
	struct traced_run *run = ctx;
	struct before *o = run->before;
	struct began b = { .pid = pid, .tid = tid };

	if (pid == (uint32_t)getpid() || !find_call(run, &b)) {
		free(b.path);
		return true;
	}
	b.other = left_out(run, pid);
	if (o->n < ASLEEP_MAX)
		b.slept_ns = task_asleep_ns(pid, tid);
	b.first_ns = b.last_ns = clock_ns(); /* after it: no time counts twice */
	b.sure = true;
	*(struct began *)grow((void **)&o->call, &o->n, sizeof(b)) = b;
	return o->n < BEGAN_MAX;
}

void run_before_look(struct traced_run *run)
{
	/* in a PID namespace the kernel's numbers of tasks are not those of /proc; to see which call a task is in takes CAP_SYS_PTRACE */
	if (!run->ring || !run->opts.want.own_numbers || !task_may_look())
		return;
	run->before = xcalloc(1, sizeof(*run->before));
	task_each(look_first, run);
}

/* ---- are they still? ---- */

static bool same_call(const struct task_call *a, const struct task_call *b)
{
	return a->nr == b->nr && a->sp == b->sp && !memcmp(a->arg, b->arg, sizeof(a->arg));
}

enum still { OVER, RUNS, STILL };

/*
 * The same system call with the same arguments: it is the same one if the task never ran since, or if the kernel side knows of no sync
 * call that the task is in. Whether a running task is in the kernel or in its own code is not known.
 */
static enum still still_in(const struct traced_run *run, const struct began *b)
{
	struct task_call now;
	struct task_stat stat;
	uint64_t switches;

	if (!task_stat_read(b->pid, b->tid, &stat) || stat.start != b->start || !task_call_read(b->pid, b->tid, &now))
		return OVER;
	if (now.running)
		return RUNS;
	if (!same_call(&now, &b->in))
		return OVER;
	if (task_switches_read(b->pid, b->tid, &switches) && b->switches == switches)
		return STILL;
	return probes_in_call(run->probes, b->tid) ? OVER : STILL;
}

uint64_t began_ns(const struct began *b)
{
	return b->slept_ns + b->last_ns - b->first_ns;
}

static void look_again(struct traced_run *run, struct began *b)
{
	uint64_t now = clock_ns();
	enum still still = still_in(run, b);

	b->sure = still == STILL;
	if (b->sure)
		b->last_ns = now;
	if (still != OVER)
		return;
	b->over = true;
	for (int i = 0; i < SPANS && !b->other; i++) {
		struct returned *r = &run->before->since[i];

		r->n++;
		r->ns = began_ns(b) > r->ns ? began_ns(b) : r->ns;
	}
}

void run_before_tick(struct traced_run *run)
{
	for (size_t i = 0; run->before && i < run->before->n; i++)
		if (!run->before->call[i].over)
			look_again(run, &run->before->call[i]);
}

const struct began *run_before_calls(const struct traced_run *run, size_t *n)
{
	*n = run->before ? run->before->n : 0;
	return run->before ? run->before->call : NULL;
}

void run_before_returned(struct traced_run *run, enum span span, struct report *r)
{
	struct before *o = run->before;

	if (!o)
		return;
	r->looked_before = !run->opts.all;
	r->began_before = o->since[span].n;
	r->began_before_ns = o->since[span].ns;
	if (span != SPAN_RUN)
		o->since[span] = (struct returned){ 0 };
}

void run_before_end(struct traced_run *run)
{
	for (size_t i = 0; run->before && i < run->before->n; i++)
		free(run->before->call[i].path);
	if (run->before)
		free(run->before->call);
	free(run->before);
	run->before = NULL;
}
