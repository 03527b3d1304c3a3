/* SPDX-License-Identifier: GPL-2.0-only */
/* fact.bpf.h - what is told of requests and helpers, and how it is sent. */
#ifndef BT_FACT_BPF_H
#define BT_FACT_BPF_H

#include "follow.bpf.h"

static __always_inline u8 kind_of(u32 flags)
{
	if (flags & PF_WQ_WORKER)
		return TASK_KWORKER;
	return flags & PF_KTHREAD ? TASK_KTHREAD : TASK_USER;
}

static __always_inline void send(void *record, u32 size)
{
	if (bpf_ringbuf_output(&ring, record, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&run.drops[DROP_RING_FULL], 1);
}

static __always_inline struct history *history_by_tid(u32 tid, struct task_state **t)
{
	*t = state_of(tid);
	return *t ? history_of(*t) : NULL;
}

/* The completion that runs here and now, or NULL; c: this CPU's. */
static __always_inline struct completing *completing_now(struct completing *c, bool irq, u32 pid, u64 now)
{
	if (!c->rq || c->irq != irq || c->pid != pid || now - c->done > COMPLETION_MAX_NS)
		return NULL;
	return c;
}

/* The steps that were noted in the request's slot, if the tag hasn't gone to another request meanwhile. */
static __always_inline void request_steps(struct wire_request *r, struct completing *c)
{
	struct request *rq = (struct request *)c->rq;
	struct slot *s = bpf_map_lookup_elem(&slots, &c->slot);

	r->alloc = r->tid = r->tgid = 0;
	r->pre.issue = r->data.issue = r->post.issue = 0;
	r->pre.done = r->data.done = r->post.done = 0;
	r->pre.begin = r->data.begin = r->post.begin = 0;
	if (s && s->start <= c->done) {
		r->alloc = s->start;
		r->tid = s->tid;
		r->tgid = s->tgid;
		if (s->steps & STEP_PRE)
			r->pre = s->pre;
		if (s->steps & STEP_DATA)
			r->data = s->data;
		if (s->steps & STEP_POST)
			r->post = s->post;
		if (s->throttled)
			r->flags |= REQUEST_THROTTLED;
		if (!r->alloc && LOOK(rq, rq_flags) & cfg.rqf_io_stat)
			r->alloc = LOOK(rq, start_time_ns);
	}
	if (!r->alloc || r->alloc > r->done) {
		r->alloc = 0;
		r->flags |= REQUEST_NO_START;
	}
}

static __always_inline void build_request(struct wire_request *r, struct completing *c)
{
	fill_head(&r->head, WIRE_REQUEST, sizeof(*r));
	r->rq = c->rq;
	r->done = c->done;
	r->disk = c->disk;
	r->dev = c->dev;
	r->class = c->class;
	r->flags = c->flags;
	r->sector = c->sector;
	r->bytes = c->bytes;
	request_steps(r, c);
}

/* Who issued a request's steps or sent it holds the other ends of the gaps between them; `self` is followed anyway. */
static __always_inline void learn_from(const struct wire_request *r, u32 self)
{
	if (r->pre.issue)
		learn(r->pre.issuer);
	if (r->post.issue)
		learn(r->post.issuer);
	if (r->data.issue && r->flags & REQUEST_SEQUENCE)
		learn(r->data.issuer);
	if (r->tid != self)
		learn(r->tid);
}

/* Does a loop device's worker run here ("loop0" and so on)? */
static __always_inline bool by_loop(struct task_struct *me)
{
	static const char name[4] = { 'l', 'o', 'o', 'p' };

	return (u32)queue_of_worker(me) == *(const u32 *)name;
}

#endif
