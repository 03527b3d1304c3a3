// SPDX-License-Identifier: GPL-2.0-only
/*
 * work.bpf.c - what kernel workers do. A worker runs one work after another, for whomever: the cause of what it does is not in its past
 * but in who queued the work. While nobody is within a sync call, a work that is queued costs two loads, and so does one that begins.
 */
#include "async.bpf.h"
#include "fact.bpf.h"

#define QUEUED 1024

/* A work that was queued and has not begun. A place by its address: of two at the same place the first is lost, and so not explained. */
struct queued {
	u64 work; /* 0: none */
	u64 at;
	u64 rq, done; /* as in struct wire_work, as the next */
	u32 by;
	u8 how, by_kind;
	u16 followed; /* 1: by a followed task */
	struct wire_request request;
	struct wire_bio bio; /* kind 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QUEUED);
	__type(key, u32);
	__type(value, struct queued);
} queued SEC(".maps");

static __always_inline struct queued *place_of(u64 work)
{
	u32 key = work * 0x9e3779b97f4a7c15 >> 32;

	key %= QUEUED;
	return bpf_map_lookup_elem(&queued, &key);
}

static __always_inline void by_task(struct queued *q, struct task_struct *me, u32 pid)
{
	struct task_state *t = followed(pid);

	q->how = HOW_TASK;
	q->by = pid;
	q->by_kind = kind_of(GET(TASK_BTF, me, flags));
	q->followed = !!t;
	if (!t)
		return;
	q->rq = (u64)(q->by_kind == TASK_KWORKER ? t->work : 0) << 32 | t->seq;
	q->done = 1;
}

static __noinline int work_queued(u64 *ctx, u64 work)
{
	struct completing *here = completing_cpu(), *c;
	struct task_struct *me = current_task();
	struct queued *q = place_of(work);
	u32 pid = current_pid(me);
	u64 now = bpf_ktime_get_ns();
	bool irq;

	if (!q || !here)
		return 0;
	irq = in_interrupt(ctx, me, &here->at_queue);
	c = completing_now(here, irq, pid, now);
	q->work = 0;
	q->at = now;
	q->rq = q->done = 0;
	q->by = q->by_kind = q->followed = 0;
	q->how = HOW_IRQ;
	if (!bio_ending(&q->bio, irq, pid, now, 0, 0))
		q->bio.head.kind = 0;
	if (c) {
		q->how = HOW_REQUEST;
		q->rq = c->rq;
		q->done = c->done;
		build_request(&q->request, c);
	} else if (!irq) {
		by_task(q, me, pid);
	}
	q->work = work;
	return 0;
}

static __always_inline u64 function_of_work(u64 work)
{
	return address_at((void *)(work + bpf_core_field_offset(struct work_struct, func)));
}

/* What loop devices' workers run, as it was learned from them: each request to such a disk is a work. */
static unsigned long long loop_functions[2] SEC(".data");

static __always_inline bool is_loop_function(u64 function)
{
	return function && (function == loop_functions[0] || function == loop_functions[1]);
}

static __always_inline void learn_loop_function(u64 function)
{
	if (!loop_functions[0] || loop_functions[0] == function)
		loop_functions[0] = function;
	else
		loop_functions[1] = function;
}

/* Numbers, and no pointers: their places are computed from them. */
SEC("?raw_tp/workqueue_queue_work")
int work_queue_raw(u64 *ctx)
{
	if (aio_fsync_work && function_of_work(ctx[2]) == aio_fsync_work)
		aio_queued(ctx[2]);
	return somebody_waits() ? work_queued(ctx, ctx[2]) : 0;
}

/* A worker is followed from its first work that a followed task, or the completion of a request or bio, has queued. */
static __always_inline struct task_state *worker_for(const struct queued *q, u64 function, u32 tid)
{
	if (!q || !(q->how == HOW_REQUEST || q->bio.head.kind || q->followed))
		return NULL;
	if (by_loop(current_task())) {
		learn_loop_function(function);
		return NULL;
	}
	learn(tid);
	return followed(tid);
}

static __always_inline void fill_work(struct wire_work *w, const struct queued *q, u64 function, u32 tid,
				      const struct task_state *t)
{
	fill_head(&w->head, WIRE_WORK, sizeof(*w));
	w->begun = bpf_ktime_get_ns();
	w->function = function;
	w->queued = w->rq = w->done = w->by = w->how = w->by_kind = 0;
	w->pad[0] = w->pad[1] = w->pad[2] = 0;
	w->tid = tid;
	w->no = t->work;
	w->seq = t->seq;
	if (!q)
		return;
	w->queued = q->at < w->begun ? q->at : w->begun;
	w->rq = q->rq;
	w->done = q->done;
	w->by = q->by;
	w->how = q->how;
	w->by_kind = q->by_kind;
}

static __noinline int work_began(u64 work, u64 function, u32 tid)
{
	struct task_state *t = followed(tid);
	struct queued *q = place_of(work);
	struct history *h;
	u32 i;

	/* from before there was a caller it may be of another time that the same work was queued */
	if (q && (q->work != work || (q->at < callers_since && !run.pending_used)))
		q = NULL;
	if (!t)
		t = worker_for(q, function, tid);
	h = t ? history_of(t) : NULL;
	if (!h)
		return 0;
	i = ++t->work % WORKS;
	fill_work(&h->work[i], q, function, tid, t);
	h->queuer[i].head.kind = h->queuer_bio[i].head.kind = 0;
	if (q && q->bio.head.kind) {
		h->queuer_bio[i] = q->bio;
		h->queuer_bio[i].tid = tid;
		h->queuer_bio[i].seq = t->work;
		h->queuer_bio[i].work = 1;
	}
	if (q && q->how == HOW_REQUEST)
		h->queuer[i] = q->request;
	if (q)
		q->work = 0;
	return 0;
}

SEC("?raw_tp/workqueue_execute_start")
int work_start_raw(u64 *ctx)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	bool is_followed = followed(tid);
	u64 function;

	if (!is_followed && !somebody_waits())
		return 0;
	function = function_of_work(ctx[0]);
	if (rarely(run.pending_used && aio_fsync_work && function == aio_fsync_work))
		aio_begins(ctx[0], tid);
	if (!is_followed && is_loop_function(function))
		return 0;
	return work_began(ctx[0], function, tid);
}
