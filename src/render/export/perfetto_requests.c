// SPDX-License-Identifier: GPL-2.0-only
/* perfetto_requests.c - the devices' lanes: requests with their steps, and which FLUSH a call waited for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/export/perfetto.h"
#include "render/export/tables.h"

#define AHEAD 64 /* steps that are looked at; several only where a device has several FLUSHes at a time */

/* A step as it stands in the trace: within its request and behind the step before. `done` is 0 if it isn't known. */
struct shown {
	const char *name;
	const struct detail_step *step;
	uint64_t begin, issue, done;
};

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static size_t show_steps(const struct detail_request *q, struct shown out[3])
{
	const struct shown all[] = {
		{ .name = "preflush", .step = &q->pre },
		{ .name = "data", .step = &q->data },
		{ .name = "postflush", .step = &q->post },
	};
	uint64_t at = q->begin_ns, end = clamp(q->end_ns, at, UINT64_MAX);
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		const struct detail_step *s = all[i].step;

		if (!s->happened || s->done_ns < s->issue_ns)
			continue;
		out[n] = all[i];
		out[n].begin = clamp(s->begin_ns, at, end);
		out[n].issue = clamp(s->issue_ns, out[n].begin, end);
		at = out[n].done = clamp(s->done_ns, out[n].issue, end);
		n++;
	}
	return n;
}

/* ---- lanes ---- */

static uint32_t disk_of(const struct detail_request *q)
{
	return q->disk ? q->disk : q->device;
}

/* A request in the order in which they are shown. */
struct place {
	uint64_t begin_ns;
	uint32_t disk, request;
};

/* By the disk's name, for indices depend on the order of events. */
static int by_disk(const void *a, const void *b, void *detail)
{
	const struct report_detail *d = detail;
	const struct place *x = a, *y = b;
	int by_name = strcmp(d->name[x->disk], d->name[y->disk]);

	if (by_name)
		return by_name;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->request < y->request ? -1 : x->request > y->request;
}

static struct place *in_order(const struct report_detail *d)
{
	struct place *order = xcalloc(d->n_requests, sizeof(*order));

	for (size_t i = 0; i < d->n_requests; i++) {
		struct detail_request q;

		detail_request(d, i, &q);
		order[i] = (struct place){ q.begin_ns, disk_of(&q), (uint32_t)i };
	}
	qsort_r(order, d->n_requests, sizeof(*order), by_disk, (void *)d);
	return order;
}

static void plan_lanes(struct trace *t)
{
	const struct report_detail *d = t->d;
	struct trace_lanes lanes = { 0 };
	struct place *order = in_order(d);
	uint32_t pid = TRACE_FIRST_PID, first = t->next_tid;

	t->request = xcalloc(d->n_requests, sizeof(*t->request));
	for (size_t i = 0; i < d->n_requests; i++) {
		struct detail_request q;

		detail_request(d, order[i].request, &q);
		if (i && order[i].disk != order[i - 1].disk) {
			pid++;
			first += (uint32_t)lanes.n;
			trace_lanes_free(&lanes);
		}
		t->request[order[i].request].pid = pid;
		t->request[order[i].request].tid = first + (uint32_t)trace_lane(&lanes, q.begin_ns, q.end_ns);
	}
	t->next_tid = first + (uint32_t)lanes.n;
	trace_lanes_free(&lanes);
	free(order);
}

/* ---- flushes ---- */

static int flush_order(const void *a, const void *b)
{
	const struct trace_flush *x = a, *y = b;

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->done_ns != y->done_ns)
		return x->done_ns < y->done_ns ? -1 : 1;
	if (x->issue_ns != y->issue_ns)
		return x->issue_ns < y->issue_ns ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

static void add_flushes(struct trace *t, uint32_t request)
{
	struct detail_request all, *q = &all;
	struct shown step[3];
	size_t n;

	detail_request(t->d, request, q);
	n = show_steps(q, step);
	for (size_t i = 0; i < n; i++) {
		struct trace_flush f = { 0, q->device, step[i].issue, step[i].done, request };

		if (step[i].step == &q->data || f.issue_ns >= f.done_ns)
			continue;
		f.role = step[i].step == &q->post ? CAUSE_FLUSH_POST :
			 q->class == OP_FLUSH	  ? CAUSE_FLUSH_ONLY :
						    CAUSE_FLUSH_PRE;
		*(struct trace_flush *)grow((void **)&t->flush, &t->n_flushes, sizeof(f)) = f;
	}
}

/* Many requests may have waited for one FLUSH: in this order the first of them is found first. */
static void plan_flushes(struct trace *t)
{
	for (size_t i = 0; i < t->d->n_requests; i++)
		add_flushes(t, (uint32_t)i);
	if (t->n_flushes)
		qsort(t->flush, t->n_flushes, sizeof(*t->flush), flush_order);
}

void trace_plan_requests(struct trace *t)
{
	plan_lanes(t);
	plan_flushes(t);
}

/* Index of the first FLUSH that is not before `f` by role, device and end. */
static size_t lower_bound(const struct trace *t, const struct trace_flush *f)
{
	size_t lo = 0, hi = t->n_flushes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (flush_order(&t->flush[mid], f) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A slice ends with its FLUSH, or within it where the call (or who did it a favour) was gone before. */
const struct trace_flush *trace_find_flush(const struct trace *t, const struct detail_slice *s, uint64_t from)
{
	const struct trace_flush want = { .role = s->cause, .device = s->device, .done_ns = from + s->ns };
	size_t i;

	if (cause_family(s->cause) != FAMILY_FLUSH || s->cause == CAUSE_FLUSH_WAIT)
		return NULL;
	i = lower_bound(t, &want);
	for (size_t n = 0; n < AHEAD && i + n < t->n_flushes; n++) {
		const struct trace_flush *f = &t->flush[i + n];

		if (f->role != want.role || f->device != want.device)
			break;
		if (f->issue_ns < want.done_ns)
			return f;
	}
	return NULL;
}

/* ---- writing ---- */

/* `of`: the step that is in the device then, or NULL */
static void part(struct trace *t, struct trace_track where, const char *name, uint64_t from, uint64_t to,
		 const struct detail_step *of)
{
	if (from == to)
		return;
	trace_open(t, where, "request", name, from, to - from);
	buf_printf(t->out, "\"ns\":%" PRIu64, trace_number(to - from));
	if (of)
		buf_printf(t->out, ",\"in_flight\":%u", of->in_flight);
	trace_close(t);
}

static void step(struct trace *t, struct trace_track where, const struct shown *s, bool sequence)
{
	if (sequence)
		part(t, where, s->name, s->begin, s->done, NULL);
	part(t, where, "queue", s->begin, s->issue, NULL);
	part(t, where, "device", s->issue, s->done, s->step);
}

static void args(struct trace *t, const struct detail_request *q, size_t i)
{
	buf_printf(t->out, "\"id\":%zu,\"sector\":%" PRIu64 ",\"bytes\":%u,\"device\":", i + 1, trace_number(q->sector),
		   q->bytes);
	trace_string(t->out, t->d->name[q->device]);
	if (op_class_kind(q->class))
		buf_printf(t->out, ",\"kind\":\"%s\"", op_class_kind(q->class));
	if (q->pid)
		buf_printf(t->out, ",\"pid\":%u,\"tid\":%u", q->pid, q->tid);
	if (q->throttled)
		buf_str(t->out, ",\"throttled\":true");
}

static void request(struct trace *t, size_t i)
{
	struct detail_request all, *q = &all;
	struct shown s[3];
	size_t n;

	detail_request(t->d, i, q);
	n = show_steps(q, s);
	trace_open(t, t->request[i], "request", op_row_name(op_class_row(q->class)), q->begin_ns,
		   clamp(q->end_ns, q->begin_ns, UINT64_MAX) - q->begin_ns);
	args(t, q, i);
	trace_close(t);
	for (size_t k = 0; k < n; k++)
		step(t, t->request[i], &s[k], q->sequence && q->class != OP_FLUSH);
}

static void device_name(struct trace *t, uint32_t disk_name, uint32_t pid)
{
	const char *disk = t->d->name[disk_name];
	char *name = xasprintf("device %s", *disk ? disk : "(not known)");

	trace_name(t, "process_name", (struct trace_track){ pid, pid }, name);
	free(name);
}

static void lane_name(struct trace *t, struct trace_track where, uint32_t first)
{
	char *name = xasprintf("requests, lane %u", where.tid - first + 1);

	trace_name(t, "thread_name", where, name);
	free(name);
}

/* A device's lanes are numbered as they are first used, so a new one is one more than any before. */
void trace_requests(struct trace *t)
{
	struct place *order = in_order(t->d);
	struct trace_track at = { 0 };
	uint32_t first = 0;

	for (size_t i = 0; i < t->d->n_requests; i++) {
		struct trace_track where = t->request[order[i].request];

		if (where.pid != at.pid) {
			device_name(t, order[i].disk, where.pid);
			first = where.tid;
			at = (struct trace_track){ where.pid, first - 1 };
		}
		if (where.tid > at.tid) {
			lane_name(t, where, first);
			at = where;
		}
		request(t, order[i].request);
	}
	free(order);
}
