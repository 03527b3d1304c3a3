// SPDX-License-Identifier: GPL-2.0-only
/* perfetto_calls.c - the tasks' tracks: sync calls, and in each its slices by cause. */
#include <inttypes.h>
#include <stdlib.h>

#include "util/mem.h"
#include "render/export/perfetto.h"

static void ledger(struct buf *out, const struct ledger *l)
{
	bool any = false;

	buf_str(out, ",\"ledger\":{");
	for (enum cause c = 0; c < CAUSE_COUNT; c++) {
		if (!l->ns[c])
			continue;
		buf_printf(out, "%s\"%s\":%" PRIu64, any ? "," : "", cause_name(c), trace_number(l->ns[c]));
		any = true;
	}
	buf_char(out, '}');
}

/* A member with a comma before it, unless the name is empty. */
static void named(struct trace *t, const char *key, uint32_t name)
{
	if (!*t->d->name[name])
		return;
	buf_printf(t->out, ",\"%s\":", key);
	trace_string(t->out, t->d->name[name]);
}

static void slice(struct trace *t, struct trace_track where, const struct detail_slice *s, uint64_t from)
{
	const struct trace_flush *f = trace_find_flush(t, s, from);

	trace_open(t, where, family_name(cause_family(s->cause)), cause_name(s->cause), from, s->ns);
	buf_printf(t->out, "\"ns\":%" PRIu64, trace_number(s->ns));
	named(t, "via", s->via);
	named(t, "device", s->device);
	trace_close(t);
	if (f)
		trace_flow(t, where, t->request[f->request], from > f->issue_ns ? from : f->issue_ns);
}

static void call(struct trace *t, struct trace_track where, size_t i)
{
	const struct detail_call *c = &t->d->call[i];
	struct detail_slices all = detail_slices(t->d, c);
	uint64_t from = c->start_ns;
	struct detail_slice s;
	struct ledger l;

	detail_ledger(t->d, c, &l);
	trace_open(t, where, "sync", t->d->name[c->call], from, c->duration_ns);
	buf_printf(t->out, "\"id\":%zu,\"duration_ns\":%" PRIu64, i + 1, trace_number(c->duration_ns));
	named(t, "path", c->path);
	named(t, "device", c->device);
	ledger(t->out, &l);
	trace_close(t);
	for (; detail_next_slice(&all, &s); from += s.ns)
		slice(t, where, &s, from);
}

/* ---- tasks ---- */

static int by_task(const void *a, const void *b, void *calls)
{
	const struct detail_call *x = (struct detail_call *)calls + *(uint32_t *)a;
	const struct detail_call *y = (struct detail_call *)calls + *(uint32_t *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The task's own track, and others beside it for calls that it has in flight at the same time (io_uring, AIO). */
static struct trace_track new_track(struct trace *t, const struct detail_call *c, size_t lane)
{
	struct trace_track where = { c->pid, lane ? t->next_tid++ : c->tid };
	const char *comm = t->d->name[c->comm];
	char *name = lane ? xasprintf("%s (thread %u, lane %zu)", comm, c->tid, lane + 1) : xstrdup(comm);

	trace_name(t, "thread_name", where, name);
	free(name);
	return where;
}

static size_t task(struct trace *t, const uint32_t *order, size_t n)
{
	const struct detail_call *first = &t->d->call[order[0]];
	struct trace_lanes lanes = { 0 };
	struct trace_track *track = NULL;
	size_t n_tracks = 0, i;

	for (i = 0; i < n; i++) {
		const struct detail_call *c = &t->d->call[order[i]];
		size_t lane;

		if (c->pid != first->pid || c->tid != first->tid)
			break;
		lane = trace_lane(&lanes, c->start_ns, c->start_ns + c->duration_ns);
		if (lane == n_tracks)
			*(struct trace_track *)grow((void **)&track, &n_tracks, sizeof(*track)) = new_track(t, c, lane);
		call(t, track[lane], order[i]);
	}
	trace_lanes_free(&lanes);
	free(track);
	return i;
}

void trace_calls(struct trace *t)
{
	size_t n = t->d->n_calls, i;
	uint32_t *order = xcalloc(n, sizeof(*order)), pid = 0;

	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_task, t->d->call);
	for (i = 0; i < n;) {
		const struct detail_call *c = &t->d->call[order[i]];

		if (!i || c->pid != pid)
			trace_name(t, "process_name", (struct trace_track){ c->pid, c->pid }, t->d->name[c->comm]);
		pid = c->pid;
		i += task(t, order + i, n - i);
	}
	free(order);
}
