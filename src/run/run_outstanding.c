// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_outstanding.c - sync calls that have not returned, those of before the trace too: /proc has where a task sleeps, the kernel side
 * which requests are in flight, sysfs and debugfs those that were before.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/waiting.h"
#include "host/in_flight.h"
#include "host/journal_threads.h"
#include "host/sysfs.h"
#include "host/task_proc.h"
#include "run/run_internal.h"
#include "util/clock.h"
#include "util/mem.h"

#define HANGS_NS    1000000000ull /* a call that has not returned for so long is told of */
#define TOLD	    64		  /* of so many calls, the oldest */
#define STACK_DEPTH 8		  /* of devices on devices */
#define DISKS_MAX   16

/* ---- the disks below a file ---- */

struct disk_names {
	char name[DISKS_MAX][BLOCK_NAME_LEN];
	size_t n;
};

static void add_disk_name(struct disk_names *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->name[i], name))
			return;
	if (d->n < DISKS_MAX)
		snprintf(d->name[d->n++], BLOCK_NAME_LEN, "%s", name);
}

/* Those that have requests: dm and md send theirs on. */
static void disks_below(const char *name, unsigned int depth, struct disk_names *d)
{
	char disk[BLOCK_NAME_LEN], **slaves;

	if (depth > STACK_DEPTH || !block_disk(name, disk))
		return;
	slaves = block_slaves(disk);
	for (size_t i = 0; slaves && slaves[i]; i++)
		disks_below(slaves[i], depth + 1, d);
	if (!slaves)
		add_disk_name(d, disk);
	strv_free(slaves);
}

/* A call of no file (sync) may wait for any. */
static void disks_of(const struct traced_run *run, uint32_t dev, struct disk_names *d)
{
	const struct device_name *p = run_place(run, dev);

	d->n = 0;
	if (p)
		disks_below(p->name, 0, d);
	for (size_t i = 0; !dev && i < run->n_disks; i++)
		disks_below(run->disk[i].name, 0, d);
}

/* ---- what disks had in flight when the trace began ---- */

struct disk_look {
	char name[BLOCK_NAME_LEN];
	struct in_flight first;
};

static void first_looks(struct traced_run *run)
{
	struct disk_names all = { .n = 0 }, of_call;
	const struct began *call;
	size_t n;

	run_before_look(run);
	call = run_before_calls(run, &n);
	for (size_t i = 0; i < n; i++) {
		disks_of(run, call[i].dev, &of_call);
		for (size_t k = 0; k < of_call.n; k++)
			add_disk_name(&all, of_call.name[k]);
	}
	for (size_t i = 0; i < all.n; i++) {
		struct disk_look *d = grow((void **)&run->look, &run->n_looks, sizeof(*d));

		memcpy(d->name, all.name[i], sizeof(d->name));
		in_flight_read(d->name, &d->first);
	}
}

/*
 * It takes 20 ms where there are 2,000 processes, so not while the traced work waits for us to begin. What has returned until then was
 * under way for a tenth of a second of the run.
 */
void run_outstanding_tick(struct traced_run *run)
{
	if (run->looked)
		run_before_tick(run);
	else
		first_looks(run);
	run->looked = true;
}

void run_outstanding_end(struct traced_run *run)
{
	run_before_end(run);
	free(run->look);
	run->look = NULL;
}

static const struct in_flight *first_look(const struct traced_run *run, const char *disk)
{
	static const struct in_flight none;

	for (size_t i = 0; i < run->n_looks; i++)
		if (!strcmp(run->look[i].name, disk))
			return &run->look[i].first;
	return &none;
}

/* ---- what each waits for ---- */

/* A call that is told of, whichever way it is known. */
struct told {
	uint32_t pid, tid, call, dev;
	uint64_t ns;
	const char *path; /* of one from before */
	bool before, other;
};

struct told_list {
	const struct traced_run *s;
	struct told *call;
	size_t n;
	uint64_t now;
};

struct journals {
	struct journal_thread *thread;
	size_t n;
};

/* "jbd2/sda1-8", of which older kernels tell 15 letters */
static void find_journal(const struct traced_run *run, const struct journals *j, uint32_t dev, struct waiting_task *t)
{
	const struct device_name *p = run_place(run, dev);
	char name[48];

	if (!p)
		return;
	snprintf(name, sizeof(name), "jbd2/%s-", p->name);
	for (size_t i = 0; i < j->n && !t->tid; i++) {
		size_t len = strlen(j->thread[i].name), whole = strlen(name);

		if (strncmp(j->thread[i].name, name, len < whole && len == 15 ? len : whole))
			continue;
		t->tid = j->thread[i].tid;
		t->name = j->thread[i].name;
	}
}

static void look_at_task(uint32_t pid, uint32_t tid, struct waiting_task *t)
{
	struct task_stat stat;

	t->tid = tid;
	t->state = task_stat_read(pid, tid, &stat) ? stat.state : 0;
	t->stack = task_stack_read(pid, tid);
}

struct requests {
	struct waiting_request *q;
	size_t n;
	uint64_t now;
	const struct requests_in_flight *in_flight;
};

/* What kind an issued request is the kernel side doesn't keep: known where the disk has but one kind in flight, beside FLUSHes. */
static enum op_row kind_of(const struct requests *r, const struct request_under_way *q)
{
	enum op_row only = ROW_OTHER;

	if (!q->issued || !r->in_flight->by_kind)
		return ROW_OTHER;
	for (enum op_row op = 0; op < OP_ROWS; op++) {
		if (!r->in_flight->n[op] || op == ROW_FLUSH)
			continue;
		if (only != ROW_OTHER)
			return ROW_OTHER;
		only = op;
	}
	return only;
}

static void add_request(void *ctx, const struct request_under_way *q)
{
	struct requests *r = ctx;
	struct waiting_request *w;

	if (q->since > r->now)
		return;
	w = grow((void **)&r->q, &r->n, sizeof(*w));
	*w = (struct waiting_request){
		.sender = q->sender,
		.flush = q->flush,
		.held = q->held,
		.unsent = !q->issued && !q->inserted,
		.queued = q->inserted && !q->issued,
		.op = q->flush ? ROW_FLUSH : kind_of(r, q),
		.ns = r->now - q->since,
	};
}

static void look_at_disk(struct traced_run *run, const char *name, uint64_t now, struct waiting_disk *d)
{
	const struct in_flight *first = first_look(run, name);
	struct requests r = { .now = now, .in_flight = &d->n };
	struct in_flight at_end;
	unsigned int major, minor;
	struct disk *traced;

	in_flight_read(name, &at_end);
	d->name = xstrdup(name);
	d->n = at_end.n;
	for (enum op_row op = 0; op < OP_ROWS; op++)
		d->since_ns[op] = in_flight_since(first, &at_end, op);
	d->first_look_ns = first->n.have && now > first->to_ns ? now - first->to_ns : 0;
	traced = block_dev(name, &major, &minor) ? run_disk(run, WIRE_DEV(major, minor)) : NULL;
	if (traced)
		probes_requests_under_way(run->probes, &traced->wire, add_request, &r);
	d->request = r.q;
	d->n_requests = r.n;
}

/* What is looked at once for all calls of a report. */
struct looks {
	struct journals journals;
	struct waiting_disk *disk;
	size_t n;
	uint64_t now;
};

static struct waiting_disk *look(struct traced_run *run, struct looks *l, const char *name)
{
	struct waiting_disk *d;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->disk[i].name, name))
			return &l->disk[i];
	d = grow((void **)&l->disk, &l->n, sizeof(*d));
	look_at_disk(run, name, l->now, d);
	return d;
}

static void looks_free(struct looks *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free((char *)l->disk[i].name);
		free((void *)l->disk[i].request);
	}
	free(l->disk);
	free(l->journals.thread);
}

static void explain(struct traced_run *run, struct looks *l, const struct told *c, struct report_outstanding *o)
{
	struct disk_names names;
	struct waiting_disk disk[DISKS_MAX] = { 0 };
	struct waiting w = { .disk = disk };

	disks_of(run, c->dev, &names);
	w.n_disks = names.n;
	look_at_task(c->pid, c->tid, &w.call);
	find_journal(run, &l->journals, c->dev, &w.journal);
	if (w.journal.tid)
		look_at_task(w.journal.tid, w.journal.tid, &w.journal);
	for (size_t i = 0; i < names.n; i++)
		disk[i] = *look(run, l, names.name[i]);
	waiting_explain(&w, o);
	strv_free((char **)w.call.stack);
	strv_free((char **)w.journal.stack);
}

/* ---- the report ---- */

/* Without its number nothing can be asked of a task: it has just ended, or this is not the kernel's numbering. */
static void add_seen(void *to, const struct call_under_way *c)
{
	struct told_list *l = to;

	if (!c->tid)
		return;
	*(struct told *)grow((void **)&l->call, &l->n, sizeof(*l->call)) = (struct told){
		.pid = c->pid,
		.tid = c->tid,
		.call = c->call,
		.dev = c->dev,
		.ns = l->now - c->enter,
		.other = c->other,
	};
}

static struct calls_under_way find_seen(const struct traced_run *run, struct told_list *l, bool tell)
{
	struct calls_wanted w = {
		.until = l->now - HANGS_NS,
		.counts = run_is_of_run,
		.ctx = run,
		.others = tell,
		.each = tell && run->opts.want.own_numbers ? add_seen : NULL,
		.to = l,
	};

	if (!run->ring || l->now <= HANGS_NS)
		return (struct calls_under_way){ 0 };
	return probes_calls_under_way(run->probes, &w);
}

static void find_began(struct traced_run *run, struct told_list *l, struct report *r)
{
	const struct began *b;
	size_t n;

	run_outstanding_tick(run);
	b = run_before_calls(run, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = began_ns(&b[i]);

		if (b[i].over || !b[i].sure || ns < HANGS_NS)
			continue;
		if (!b[i].other) {
			r->under_way++;
			r->under_way_ns = ns > r->under_way_ns ? ns : r->under_way_ns;
		}
		*(struct told *)grow((void **)&l->call, &l->n, sizeof(*l->call)) = (struct told){
			.pid = b[i].pid,
			.tid = b[i].tid,
			.call = b[i].call,
			.dev = b[i].dev,
			.ns = ns,
			.path = b[i].path,
			.before = true,
			.other = b[i].other,
		};
	}
}

static int oldest_first(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int asked_first(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return x->other != y->other ? x->other - y->other : oldest_first(a, b);
}

static uint32_t flags_unknown(const void *ctx, uint32_t fd)
{
	(void)ctx;
	(void)fd;
	return O_DSYNC; /* that a write is one has been seen */
}

/* Its file: while it is in that call, before and after we ask. The kernel's own are no system calls. */
static char *path_of(const struct told *c)
{
	struct task_call in, after;
	char *path = NULL;
	uint32_t dev;

	if (c->path)
		return xstrdup(c->path);
	if (!task_call_read(c->pid, c->tid, &in) || in.nr < 0 ||
	    probes_sync_call(in.nr, task_call_is_32bit(&in), in.arg, flags_unknown, NULL) != c->call)
		return NULL;
	run_find_file(c->pid, c->call, &in, &path, &dev);
	if (dev == c->dev && task_call_read(c->pid, c->tid, &after) && after.nr == in.nr && after.arg[0] == in.arg[0])
		return path;
	free(path);
	return NULL;
}

/* As in other tables a process goes by its leader's name. */
static void tell(struct traced_run *run, struct looks *l, const struct told *c, struct report *r)
{
	struct report_outstanding *o = grow((void **)&r->outstanding, &r->n_outstanding, sizeof(*o));
	const struct device_name *p = run_place(run, c->dev);
	struct task_stat leader = { .comm = "?" };

	task_stat_read(c->pid, c->pid, &leader);
	*o = (struct report_outstanding){
		.pid = c->pid,
		.tid = c->tid,
		.comm = xstrdup(leader.comm),
		.cmdline = task_cmdline(c->pid),
		.call = xstrdup(call_name(c->call)),
		.path = path_of(c),
		.device = p ? xstrdup(p->name) : NULL,
		.before = c->before,
		.other = c->other,
		.ns = c->ns,
	};
	explain(run, l, c, o);
}

static void tell_all(struct traced_run *run, struct told_list *l, struct report *r)
{
	struct looks looks = { .now = l->now };
	size_t n = l->n < TOLD ? l->n : TOLD;

	if (!n)
		return;
	qsort(l->call, l->n, sizeof(*l->call), asked_first);
	qsort(l->call, n, sizeof(*l->call), oldest_first);
	looks.journals.thread = journal_threads(&looks.journals.n);
	for (size_t i = 0; i < n; i++)
		tell(run, &looks, &l->call[i], r);
	looks_free(&looks);
}

struct calls_under_way run_outstanding_report(struct traced_run *run, enum span span, struct report *r)
{
	struct told_list l = { .s = run, .now = clock_ns() };
	struct calls_under_way seen = find_seen(run, &l, r);

	if (r) {
		r->under_way = seen.n;
		r->under_way_ns = seen.n ? l.now - seen.oldest : 0;
		find_began(run, &l, r);
		tell_all(run, &l, r);
		run_before_returned(run, span, r);
	}
	free(l.call);
	return seen;
}
