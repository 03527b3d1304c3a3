// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.bpf.c - block requests: from insert and issue to completion, into histograms. No event leaves
 * the kernel.
 *
 * Section names start with `?`: off until the probe table turns them on; `direct`: see compat.bpf.h. Completion is the only program that
 * writes cells, so a cell of a CPU has one writer at a time: the kernel doesn't start a program on a CPU on which it already runs.
 */
#include "filter.bpf.h"
#include "flush.bpf.h"
#include "follow.bpf.h"
#include "idle.bpf.h"

#define NO_SLOT	 (~0u) /* no such key: a lookup gives NULL */
#define NO_DEPTH (~0u)

/* What is known of the request's queue, or NULL when its disk isn't traced. */
static __always_inline struct wire_queue *queue_slow(struct request *rq, struct request_queue *q, struct wire_queue *qs,
						     bool direct)
{
	struct gendisk *disk = request_disk(rq, q, direct);
	struct wire_disk *d;
	u32 dev;
	u64 seq;

	if (!disk)
		return NULL;
	dev = WIRE_DEV(BPF_CORE_READ(disk, major), BPF_CORE_READ(disk, first_minor));
	d = bpf_map_lookup_elem(&disks, &dev);
	seq = queue_sequence(q, false);
	qs->q = (u64)q;
	qs->id = BPF_CORE_READ(q, id);
	if (!d || !same_disk(d, seq)) {
		qs->state = QUEUE_IGNORED;
		return NULL;
	}
	__builtin_memcpy(&qs->disk, d, sizeof(*d));
	qs->disk.diskseq = seq;
	qs->in_flight = 0;
	qs->state = QUEUE_TRACED;
	return qs;
}

/* The number is asked last, and of what is traced: another disk may have the queue's id, its address, and even the queue itself. */
static __always_inline bool queue_known(const struct wire_queue *qs, struct request_queue *q, bool direct)
{
	if (qs->q != (u64)q || qs->state == QUEUE_NEW)
		return false;
	return qs->state != QUEUE_TRACED || qs->disk.diskseq == queue_sequence(q, direct);
}

static __always_inline struct wire_queue *queue_of(struct request *rq, bool direct)
{
	struct request_queue *q = GET(direct, LOOSE(direct, rq), q);
	u32 id = GET(direct, q, id);
	struct wire_queue *qs = bpf_map_lookup_elem(&queues, &id);

	if (rarely(!qs))
		return NULL;
	if (rarely(!queue_known(qs, q, direct)))
		return queue_slow(rq, q, qs, direct);
	return qs->state == QUEUE_TRACED ? qs : NULL;
}

/*
 * A request's slot. With a scheduler a request keeps its internal_tag for life; without one it has only `tag`. A
 * FLUSH borrows its first waiter's tag, so it has a slot of its own behind its hardware queue's.
 */
static __always_inline u32 slot_key(struct request *rq, struct wire_queue *qs, bool flush, bool direct)
{
	u32 tag = qs->disk.depth, hw = 0;

	if (!flush) {
		tag = GET(direct, rq, internal_tag);
		if ((s32)tag < 0)
			tag = GET(direct, rq, tag);
		if (rarely(tag >= qs->disk.depth))
			return NO_SLOT;
	}
	if (qs->disk.hw_queues != 1) {
		struct blk_mq_hw_ctx *hctx = GET(direct, LOOSE(direct, rq), mq_hctx);

		hw = GET(direct, hctx, queue_num);
		if (rarely(hw >= qs->disk.hw_queues))
			return NO_SLOT;
	}
	return qs->disk.slot_base + hw * (qs->disk.depth + 1) + tag;
}

/* The same of a request that waits for the FLUSH with this key: that serves waiters of its hardware queue only. */
static __always_inline u32 waiter_key(u32 internal_tag, u32 tag, struct wire_queue *qs, u32 flush_key)
{
	if ((s32)internal_tag >= 0)
		tag = internal_tag;
	return flush_key == NO_SLOT || tag >= qs->disk.depth ? NO_SLOT : flush_key - qs->disk.depth + tag;
}

static __always_inline struct slot *slot_of(struct request *rq, struct wire_queue *qs, bool flush, bool direct)
{
	u32 key = slot_key(rq, qs, flush, direct);

	return bpf_map_lookup_elem(&slots, &key);
}

/* ---- filters: rejected first, cost nothing when off ---- */

static __always_inline bool wanted(struct request *rq, struct slot *s)
{
	if (!cfg.filter)
		return true;
	return (s && s->rq == (u64)rq && s->mine) || bio_matches(BPF_CORE_READ(rq, bio));
}

/* ---- how many are in the device ---- */

enum depth_change { DEPTH_ISSUED, DEPTH_COMPLETED, DEPTH_UNDONE };

/* Each field but `undone` has one program that writes to it, so none of them interrupts another on its CPU. */
static __always_inline void depth_change(struct wire_queue *qs, enum depth_change what)
{
	struct wire_depth *d;

	if (ledger_now()) {
		__sync_fetch_and_add(&qs->in_flight, what == DEPTH_ISSUED ? 1 : -1);
		return;
	}
	d = depth_of(qs);
	if (!d)
		return;
	if (what == DEPTH_ISSUED)
		ADD(cfg.atomic, d->issued, 1);
	else if (what == DEPTH_COMPLETED)
		ADD(cfg.atomic, d->completed, 1);
	else
		ADD(true, d->undone, 1);
}

/* Added up from all CPUs: for a FLUSH, not for each request. A global function: the verifier follows the loop once. */
__noinline u32 depth_now(u32 view)
{
	u64 sum = 0;

	for (u32 i = 0; i < WIRE_MAX_STRIPES && i < cfg.stripes; i++) {
		u32 key = view * cfg.stripes + i;
		struct wire_depth *d = bpf_map_lookup_elem(&depths, &key);

		if (d)
			sum += d->issued - d->completed - d->undone;
	}
	return (s64)sum > 0 ? (u32)sum : 0;
}

static __always_inline u32 depth_at_issue(struct wire_queue *qs, bool flush)
{
	if (ledger_now())
		return qs->in_flight;
	return flush ? depth_now(qs->disk.view) : 0;
}

static __always_inline void slot_left_device(struct slot *s, struct wire_queue *qs, enum depth_change how)
{
	if (!s->issued)
		return;
	s->issued = 0;
	depth_change(qs, how);
}

/* Does blk-throttle's worker run here, which sends on what had been held? */
static __always_inline bool by_throttle(void)
{
	static const char name[8] = { 'k', 't', 'h', 'r', 'o', 't', 'l', 'd' };

	return queue_of_worker(current_task()) == *(const u64 *)name;
}

/* A request that was not seen to begin: its sender is not who runs now. */
static __always_inline void slot_begin_unknown(struct slot *s, struct request *rq, struct wire_queue *qs)
{
	s->rq = (u64)rq;
	s->insert = s->issue = s->data_done = 0;
	if (cfg.flush_path)
		s->taken = 0;
	slot_left_device(s, qs, DEPTH_UNDONE); /* still counted? then the completion of the last request was missed */
	if (!cfg.track_task)
		return;
	s->tid = s->tgid = s->mine = 0;
	s->start = 0;
	s->throttled = s->steps = 0;
}

static __always_inline void slot_begin(struct slot *s, struct request *rq, struct wire_queue *qs)
{
	u64 id;

	slot_begin_unknown(s, rq, qs);
	/* At rest the sender isn't needed: only ledgers ask for it. A run that needs it for anything else never rests. */
	if (!cfg.track_task || (cfg.ledger && run.idle))
		return;
	id = bpf_get_current_pid_tgid();
	s->tid = (u32)id;
	s->tgid = id >> 32;
	s->mine = sender_wanted(s->tgid);
	s->throttled = ledger_now() && by_throttle();
}

/*
 * Which of the queue's partitions that are traced by name this is, from 1; 0: none. A global function: the verifier would walk through
 * the rest of the program again from each way out of the loop.
 */
__noinline u32 part_of(u32 queue_id, u32 dev)
{
	struct wire_queue *qs = bpf_map_lookup_elem(&queues, &queue_id);

	for (u32 i = 0; qs && i < WIRE_MAX_PARTS && i < qs->disk.n_parts; i++)
		if (qs->disk.part_dev[i] == dev)
			return i + 1;
	return 0;
}

static __always_inline u32 view_of_part(const struct wire_queue *qs, u32 part)
{
	return part ? qs->disk.part_view[(part - 1) & (WIRE_MAX_PARTS - 1)] : qs->disk.view;
}

/* Which view a request is counted in: its partition's (`dev`) when that is traced by name, else its disk's. */
static __always_inline u32 view_by_dev(const struct wire_queue *qs, u32 dev)
{
	return view_of_part(qs, qs->disk.n_parts ? part_of(qs->id, dev) : 0);
}

static __always_inline u32 request_view(struct request *rq, struct wire_queue *qs, bool direct)
{
	return qs->disk.n_parts ? view_by_dev(qs, request_part_dev(LOOSE(direct, rq), direct)) : qs->disk.view;
}

/* A global function: the verifier does not know its result, so it walks through what follows once, not once for each class. */
__noinline u32 request_class(u32 flags, u32 rq_flags)
{
	u32 class = cfg.op_class[flags & (CONFIG_OPS - 1)];

	if (class == WIRE_READ_SYNC)
		return flags & cfg.req_rahead ? WIRE_READ_ASYNC : WIRE_READ_SYNC;
	if (class != WIRE_WRITE_SYNC)
		return class;
	if (flags & cfg.req_fua)
		return WIRE_FUA;
	if (rq_flags & cfg.rqf_flush_seq)
		return WIRE_WRITE_BARRIER;
	return flags & cfg.req_sync ? WIRE_WRITE_SYNC : WIRE_WRITE_ASYNC;
}

/* ---- start, insert, issue ---- */

/* When the issuing task was woken and came onto its CPU, if it is followed: that is what the request waited for. */
static __always_inline void note_issuer(struct slot *s)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct task_state *t = followed(tid);

	s->issuer = tid;
	if (t && times_off(t, current_task()))
		t = NULL;
	s->issuer_wake = t ? t->last_wake : 0;
	s->issuer_on = t ? t->on : 0;
}

/* The step of `s` that `by` (its own slot, or the FLUSH's that it waited for) has now behind it. */
static __always_inline void step_take(struct slot *s, enum slot_steps which, struct slot *by, u64 begin, u64 done)
{
	struct wire_step *step = which == STEP_DATA ? &s->data : which == STEP_POST ? &s->post : &s->pre;

	if (!by->issue)
		return;
	s->steps |= which;
	/* never backwards, whatever the clocks of the CPUs: see fill_sleep() */
	step->issue = by->issue < done ? by->issue : done;
	step->begin = begin < step->issue ? begin : step->issue;
	step->done = done;
	step->issuer = by->issuer;
	step->issuer_wake = by->issuer_wake;
	step->issuer_on = by->issuer_on;
	step->in_flight = by->in_flight;
}

/* From now until the next completion on this CPU, who is woken here is woken by this request; rq NULL: by none. */
static __always_inline void completion_note(void *ctx, struct request *rq, struct wire_queue *qs, struct slot *s,
					    u32 key, u64 done, u16 class, u16 flags, u32 bytes, u32 dev, bool direct)
{
	struct completing *c = completing_cpu();

	if (!c)
		return;
	c->rq = (u64)rq;
	c->done = done;
	if (!rq)
		return;
	c->slot = key;
	c->pid = (u32)bpf_get_current_pid_tgid();
	c->irq = in_interrupt(ctx, current_task(), &c->at);
	c->sent = 0;
	c->class = class;
	c->flags = flags;
	c->disk = qs->disk.dev;
	c->bytes = bytes;
	c->sender = s && s->rq == (u64)rq ? s->tid : 0;
	c->dev = dev;
	c->sector = GET(direct, rq, __sector);
}

static __always_inline int on_start(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *s = qs ? slot_of(rq, qs, false, direct) : NULL;

	if (s) {
		slot_begin(s, rq, qs);
		if (cfg.ledger)
			s->start = bpf_ktime_get_ns();
	}
	if (qs && run.sys_enter_bell == BELL_LISTENS)
		ring_for_sender(GET(direct, rq, cmd_flags), request_part_dev(rq, false), &qs->disk);
	return 0;
}

/* The slot of a request that its sender is handing over; NULL: it isn't traced. */
static __always_inline struct slot *slot_begun(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *s = qs ? slot_of(rq, qs, false, direct) : NULL;

	if (s && s->rq != (u64)rq)
		slot_begin(s, rq, qs);
	return s;
}

static __always_inline int on_insert(struct request *rq, bool direct)
{
	struct slot *s = slot_begun(rq, direct);

	if (!s)
		return 0;
	s->insert = bpf_ktime_get_ns();
	s->issue = 0;
	return 0;
}

static __always_inline int on_issue(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *s;
	bool flush;

	if (!qs)
		return 0;
	flush = rarely((GET(direct, rq, cmd_flags) & 0xff) == cfg.op_flush);
	s = slot_of(rq, qs, flush, direct);
	if (rarely(!s))
		return 0;
	/* issued once already and not taken back: its completion was missed, and this is the next request with that tag */
	if (flush || s->rq != (u64)rq || s->issue)
		slot_begin(s, rq, qs);
	s->in_flight = depth_at_issue(qs, flush);
	if (ledger_now())
		note_issuer(s);
	if (!flush && !s->issued) {
		s->issued = 1;
		depth_change(qs, DEPTH_ISSUED);
	}
	/* last: to read the clock waits for all that the kernel has begun, and our own loads are part of that */
	s->issue = bpf_ktime_get_ns();
	return 0;
}

/* ---- requeue, merge: rare ---- */

static __always_inline int on_requeue(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct wire_view *v;
	struct slot *s;

	if (!qs)
		return 0;
	s = slot_of(rq, qs, (GET(direct, rq, cmd_flags) & 0xff) == cfg.op_flush, direct);
	if (s && s->rq == (u64)rq) {
		slot_left_device(s, qs, DEPTH_UNDONE);
		s->issue = 0;
	}
	v = view_of(request_view(rq, qs, direct));
	if (v)
		ADD(cfg.atomic, v->requeues, 1);
	return 0;
}

static __always_inline int on_merge(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *s = qs ? slot_of(rq, qs, false, direct) : NULL;
	struct wire_view *v;

	if (!qs)
		return 0;
	if (s && s->rq == (u64)rq)
		s->rq = 0; /* it lives on inside another request and never completes */
	v = view_of(request_view(rq, qs, direct));
	if (v)
		ADD(cfg.atomic, v->merges, 1);
	return 0;
}

/* ---- completion ---- */

struct times {
	u64 insert, issue, now;
	bool known; /* issue is known */
};

static __always_inline u64 queue_time(const struct times *t)
{
	return t->insert ? t->issue - t->insert : 0;
}

/* Since da4c8c3d0975 ("block: cache current nsec time in struct blk_plug", 6.9) a task reads the clock once per plug. */
#define PLUG_CLOCK bpf_core_field_exists(struct blk_plug, cur_ktime)

/* Has another request begun with the same reading of the clock? Then at least one of them began later. */
static __always_inline bool stamp_shared(u64 stamp)
{
	u32 zero = 0, i = (stamp ^ stamp >> 6) & (STAMPS - 1);
	struct stamps *s = bpf_map_lookup_elem(&stamps, &zero);

	if (!s || s->seen[i] == stamp)
		return true;
	s->seen[i] = stamp;
	return false;
}

/*
 * Is it known that no more than a moment passed between the reading of the clock in its sender's plug and its issue? Reads and direct
 * writes are sent at once; writeback and journals go on collecting, as does what has been merged.
 */
static __always_inline bool plug_was_short(struct request *rq, u32 flags, bool direct)
{
	u32 class = cfg.op_class[flags & (CONFIG_OPS - 1)];

	struct request *loose = LOOSE(direct, rq);

	if (GET(direct, loose, bio) != GET(direct, loose, biotail))
		return false;
	return class == WIRE_READ_SYNC ||
	       (class == WIRE_WRITE_SYNC && (flags & (cfg.req_idle | cfg.req_meta)) == cfg.req_idle);
}

/* Into t->insert: its allocation if that is stamped, else when it was inserted as long as that is traced (0: it never was). */
static __always_inline bool own_begin(struct times *t, struct request *rq, struct slot *s, u32 rq_flags,
				      enum wire_clocks now, bool direct)
{
	if (rq_flags & cfg.rqf_io_stat && now != CLOCKS_ISSUE) {
		t->insert = GET(direct, rq, start_time_ns);
		return t->insert;
	}
	if (now == CLOCKS_ALL)
		return false;
	if (!run.unbegun)
		run.unbegun = 1;
	t->insert = s && s->rq == (u64)rq ? s->insert : 0;
	return s;
}

/*
 * From the request's own clocks, if they are valid: blk_mq_start_request() stamps it only while the queue collects statistics, and its
 * allocation only with `iostats`. A request of a flush sequence was allocated before its pre-flush.
 */
static __always_inline enum wire_unclocked own_times(struct times *t, struct request *rq, struct slot *s, u32 flags,
						     u32 rq_flags, enum wire_clocks now, bool direct)
{
	if ((rq_flags & (cfg.rqf_stats | cfg.rqf_flush_seq)) != cfg.rqf_stats ||
	    !own_begin(t, rq, s, rq_flags, now, direct))
		return UNCLOCKED_ONE;
	t->issue = GET(direct, rq, io_start_time_ns);
	if (!t->issue || t->insert > t->issue || t->issue > t->now)
		return UNCLOCKED_ONE;
	if (!PLUG_CLOCK)
		return UNCLOCKED_NONE;
	if (!plug_was_short(rq, flags, direct))
		return UNCLOCKED_ONE;
	return stamp_shared(t->insert ? t->insert : t->issue) ? UNCLOCKED_SHARED : UNCLOCKED_NONE;
}

/* From the slot, or, for requests issued before the run began, from the request's own clock where it is valid. */
static __always_inline void request_times(struct times *t, struct request *rq, struct slot *s, u32 rq_flags, bool direct)
{
	t->insert = t->issue = 0;
	if (s && s->rq == (u64)rq && s->issue) {
		t->insert = s->insert;
		t->issue = s->issue;
	} else if (rq_flags & cfg.rqf_stats) {
		t->issue = GET(direct, rq, io_start_time_ns);
	}
	t->known = t->issue && t->issue <= t->now;
}

static __always_inline void cell_count(struct wire_cell *c, u64 bytes)
{
	ADD(cfg.atomic, c->count, 1);
	ADD(cfg.atomic, c->bytes, bytes);
}

/* One request. A global function: the verifier looks at it once, and not on each way that leads to it. */
__noinline int cell_record(u32 view, u32 cell, u64 bytes, u64 queue, u64 device)
{
	struct wire_cell *c = cell_of(view, cell);
	u64 i = hist_index(device);

	if (rarely(!c))
		return 0;
	cell_count(c, bytes);
	time_add(c, WIRE_DEVICE, device, i);
	if (queue) {
		time_record(c, WIRE_QUEUE, queue);
		time_record(c, WIRE_TOTAL, queue + device);
	} else {
		time_add(c, WIRE_QUEUE, 0, 0);
		time_add(c, WIRE_TOTAL, device, i);
	}
	return 0;
}

static __always_inline void cell_times(u32 view, u32 cell, u64 bytes, const struct times *t)
{
	cell_record(view, cell, bytes, queue_time(t), t->now - t->issue);
}

/* One whose times are not known. */
static __always_inline void cell_unpaired(u32 view, u32 cell, u64 bytes)
{
	struct wire_cell *c = cell_of(view, cell);
	struct wire_view *v = view_of(view);

	if (!c || !v)
		return;
	cell_count(c, bytes);
	ADD(cfg.atomic, v->unpaired, 1);
}

/*
 * What held a waiter back: first the FLUSH that was under way when it was ready, then data of other sequences (conditions C1
 * and C2 in block/blk-flush.c). Neither: its FLUSH began at once.
 */
static __always_inline void flush_held(struct wire_cell *c, struct slot *fs, u64 ready)
{
	u64 clear = fs->flush_end > ready ? fs->flush_end : ready;

	time_record(c, WIRE_QUEUE, clear - ready);
	time_record(c, WIRE_TOTAL, fs->data_end > clear ? fs->data_end - clear : 0);
}

/* Who sent a waiter may be in a sync call: this FLUSH was for it, even if it ends before the caller gets to sleep. */
static __always_inline void flush_tell(u32 tid)
{
	struct task_state *t = followed(tid);

	if (t)
		ADD(true, t->flushes, 1);
}

/* Who sent a write may be in a sync call: then that is what the call writes. */
static __always_inline void write_tell(const struct slot *s, u64 rq, u16 class, u32 bytes, u32 whole)
{
	struct task_state *t;

	if (!s || s->rq != rq || (class != WIRE_WRITE_SYNC && class != WIRE_WRITE_BARRIER && class != WIRE_FUA))
		return;
	t = followed(s->tid);
	if (!t)
		return;
	ADD(true, t->write_sectors, bytes >> 9);
	ADD(true, t->writes, whole);
	if (class == WIRE_FUA)
		ADD(true, t->fua, 1);
}

#define VISIT_ROLE    7u	 /* enum flush_role */
#define VISIT_PART(v) ((v) >> 8) /* its partition's place in wire_disk.part_dev, plus 1; 0: in none */

/*
 * One waiter of a completing FLUSH: in which role, and how long it had waited for it. Returns 0 when a filter
 * rejects it. A global function, so that the verifier looks at it once and not once per waiter; addresses travel as numbers
 * because 5.10 knows no pointer arguments.
 */
__noinline u32 flush_visit(u64 waiter, u64 start, u32 queue_id, u64 now, u32 flush_key)
{
	struct request *w = (struct request *)waiter;
	struct wire_queue *qs = bpf_map_lookup_elem(&queues, &queue_id);
	u32 role, view, key, part = 0;
	struct wire_cell *c;
	struct wire_view *v;
	struct slot *s;
	struct slot *fs = NULL;
	u64 ready = 0;
	bool mine;

	if (!qs)
		return 0;
	key = waiter_key(LOOK(w, internal_tag), LOOK(w, tag), qs, flush_key);
	s = bpf_map_lookup_elem(&slots, &key);
	mine = wanted(w, s);
	if (!mine && !cfg.ledger)
		return 0;
	role = flush_role(LOOK(w, flush.seq));
	if (cfg.ledger || cfg.flush_path)
		fs = bpf_map_lookup_elem(&slots, &flush_key);
	if (ledger_now() && s) {
		if (s->rq != waiter)
			slot_begin_unknown(s, w, qs);
		else
			flush_tell(s->tid);
		if (fs)
			step_take(s, role == ROLE_POST ? STEP_POST : STEP_PRE, fs, start, now);
	}
	if (!mine)
		return 0;
	if (qs->disk.n_parts)
		part = part_of(queue_id, request_part_dev(w, false));
	view = view_of_part(qs, part);
	c = cell_of(view, WIRE_CELL_SLOT_WAIT);
	v = view_of(view);
	if (!c || !v)
		return 0;
	ADD(cfg.atomic, v->waiters, 1);
	if (role != ROLE_ONLY)
		ADD(cfg.atomic, v->barrier_flushes, 1);
	if (role == ROLE_POST)
		ready = s && s->rq == waiter ? s->data_done : 0;
	else if (cfg.flush_path)
		ready = s && s->rq == waiter ? s->taken : 0;
	else if (LOOK(w, rq_flags) & cfg.rqf_io_stat)
		ready = LOOK(w, start_time_ns);
	if (!ready)
		return role | part << 8;
	cell_count(c, 0);
	time_record(c, WIRE_DEVICE, start > ready ? start - ready : 0);
	if (cfg.flush_path && fs)
		flush_held(c, fs, ready);
	return role | part << 8;
}

/*
 * A completing FLUSH and what its waiters said so far. In memory, and what works on it in global functions: held in registers, each
 * way through one waiter would be a way of its own through all that follow, and the verifier would walk them all.
 */
struct flush_walk {
	u64 node, last, head; /* the next waiter, the last one, and where there is none left */
	u64 start;	      /* when the machinery started the FLUSH (blk_rq_init in blk_kick_flush) */
	u64 issue, now;	      /* issue 0: not known */
	u32 queue_id, key;    /* key: of the FLUSH's slot */
	u32 in_flight;
	u32 visited, any;      /* waiters; one of them passes the filters */
	u32 roles, part_roles; /* part_roles: three bits for each partition */
	u32 whole;	       /* all have been visited */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct flush_walk);
} flush_walks SEC(".maps");

static __always_inline struct flush_walk *flush_walk_cpu(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&flush_walks, &zero);
}

#define FLUSH_AT_ONCE 8

/* Visits the next waiters. Returns 0 when there are none left. */
__noinline int flush_walk_on(void)
{
	struct flush_walk *f = flush_walk_cpu();

	for (u32 i = 0; f && i < FLUSH_AT_ONCE; i++) {
		struct list_head *node = (struct list_head *)f->node;
		u32 visit, part;

		if (!node || f->node == f->head) {
			f->whole = f->visited > 0;
			return 0;
		}
		visit = flush_visit((u64)flush_waiter(node), f->start, f->queue_id, f->now, f->key);
		part = VISIT_PART(visit);
		f->node = f->node == f->last ? f->head : address_at(&node->next);
		f->visited++;
		f->any |= visit;
		f->roles |= visit & VISIT_ROLE;
		if (part)
			f->part_roles |= (visit & VISIT_ROLE) << (3 * ((part - 1) & (WIRE_MAX_PARTS - 1)));
	}
	return f != NULL;
}

/* Counts the FLUSH of the present walk in a view, and its times. */
__noinline int flush_cell(u32 view, u32 roles)
{
	struct flush_walk *f = flush_walk_cpu();
	struct wire_view *v = view_of(view);
	u64 begun;

	if (!f || !v)
		return 0;
	flush_count_role(v, roles, f->whole);
	if (f->in_flight == NO_DEPTH)
		ADD(cfg.atomic, v->flush_no_depth, 1);
	else
		ADD(cfg.atomic, v->flush_in_flight, f->in_flight);
	if (!f->issue) {
		cell_unpaired(view, WIRE_FLUSH, 0);
		return 0;
	}
	begun = f->start && f->start <= f->issue ? f->start : f->issue;
	cell_record(view, WIRE_FLUSH, 0, f->issue - begun, f->now - f->issue);
	return 0;
}

static __always_inline int complete_flush(struct request *rq, struct wire_queue *qs, struct times *t, bool direct)
{
	u32 key = slot_key(rq, qs, true, direct);
	struct slot *s = bpf_map_lookup_elem(&slots, &key);
	struct list_head list, *head = flush_running_list(rq, &list, direct);
	struct flush_walk *f = flush_walk_cpu();

	if (!f)
		return 0;
	request_times(t, rq, s, GET(direct, rq, rq_flags), direct);
	f->head = (u64)head;
	f->node = (u64)list.next;
	f->last = (u64)list.prev;
	f->key = key;
	f->start = GET(direct, rq, start_time_ns);
	f->issue = t->known ? t->issue : 0;
	f->now = t->now;
	f->queue_id = qs->id;
	f->visited = f->roles = f->part_roles = f->whole = 0;
	f->in_flight = NO_DEPTH;
	f->any = !cfg.filter;
	if (s && s->rq == (u64)rq) {
		f->in_flight = s->in_flight;
		s->rq = 0;
	}
	if (ledger_now())
		completion_note(NULL, NULL, qs, NULL, NO_SLOT, t->now, 0, 0, 0, 0, direct);
	for (u32 i = 0; i < FLUSH_MAX_WAITERS / FLUSH_AT_ONCE; i++)
		if (!flush_walk_on())
			break;
	if (!f->any)
		return 0;
	flush_cell(qs->disk.view, f->roles);
	for (u32 p = 0; p < WIRE_MAX_PARTS && p < qs->disk.n_parts; p++)
		if (f->part_roles >> (3 * p) & 7)
			flush_cell(qs->disk.part_view[p], f->part_roles >> (3 * p) & 7);
	return 0;
}

/*
 * The very end of a write that went through the machinery, or of an empty flush: 0 bytes, RQF_FLUSH_SEQ already gone. Its
 * data, if any, was counted when the data step completed.
 */
static __always_inline void complete_sequence(struct request *rq, struct wire_cell *c, struct wire_view *v,
					      struct slot *s, u32 rq_flags, u64 now, bool direct)
{
	u64 start = GET(direct, rq, start_time_ns);

	if (s && s->rq == (u64)rq) {
		s->rq = 0;
		if (cfg.command && in_family(s->tgid))
			ADD(cfg.atomic, v->by_command, 1);
	}
	if (rq_flags & cfg.rqf_io_stat && start && start <= now) {
		cell_count(c, 0);
		time_record(c, WIRE_DEVICE, now - start);
	}
}

/* The slot of a completing request comes free, except that a barrier write may still wait for its post-flush. */
static __always_inline void slot_end(struct slot *s, struct request *rq, struct wire_queue *qs, bool sequence, u64 now,
				     u32 bytes)
{
	if (rarely(!s))
		return;
	if (s->rq == (u64)rq)
		slot_left_device(s, qs, DEPTH_COMPLETED);
	if (!rarely(sequence)) {
		if (s->rq == (u64)rq)
			s->rq = 0;
		return;
	}
	if (s->rq != (u64)rq)
		slot_begin_unknown(s, rq, qs);
	s->insert = s->issue = 0;
	s->data_done = now;
	s->bytes = bytes;
}

static __always_inline void complete_data(struct request *rq, u32 view, struct slot *s, struct times *t, u32 class,
					  bool sequence, u32 bytes, int error)
{
	struct wire_view *v;

	/* while issue is not traced, what gets here has no times of its own either: see short_way() */
	if (rarely(!t->known || (may_use_clocks() && run.own_clocks)))
		cell_unpaired(view, class, bytes);
	else
		cell_times(view, class, bytes, t);
	if (!rarely(!s || error || sequence || cfg.command))
		return;
	v = view_of(view);
	if (!v)
		return;
	if (!s)
		ADD(cfg.atomic, v->overflow, 1);
	if (error)
		ADD(cfg.atomic, v->errors, 1);
	if (cfg.command && s && s->rq == (u64)rq && in_family(s->tgid))
		ADD(cfg.atomic, v->by_command, 1);
	if (sequence) {
		ADD(cfg.atomic, v->barrier_writes, 1);
		if (class == WIRE_FUA)
			ADD(cfg.atomic, v->native_fua, 1);
	}
}

/* Part of a request is done (SCSI may complete in pieces): the bytes count now, the rest with the last piece. */
static __always_inline void complete_piece(u32 view, u32 class, u32 bytes)
{
	struct wire_cell *c = cell_of(view, class);

	if (c)
		ADD(cfg.atomic, c->bytes, bytes);
}

static __always_inline void note_sequence(void *ctx, struct request *rq, struct wire_queue *qs, struct slot *s, u32 key,
					  u64 now, u32 class, u32 dev, bool direct)
{
	bool data = s && s->rq == (u64)rq && s->steps & STEP_DATA;

	if (!data)
		flushed_below(&qs->disk, now);
	completion_note(ctx, rq, qs, s, key, now, data ? class : WIRE_FLUSH,
			data ? REQUEST_SEQUENCE : REQUEST_SEQUENCE | REQUEST_ONLY, s ? s->bytes : 0, dev, direct);
}

/* Its insert is not the next one's. It may have been issued while that was traced; how many are in the device is not known now. */
static __always_inline void slot_forget(struct slot *s, struct request *rq)
{
	if (s && s->rq == (u64)rq)
		s->rq = s->issue = s->issued = 0;
}

static __always_inline void complete_by_clocks(struct request *rq, struct wire_queue *qs, struct slot *s,
					       const struct times *t, u32 class, u32 bytes, bool direct)
{
	struct wire_depth *depth = depth_of(qs);

	slot_forget(s, rq);
	if (depth)
		ADD(cfg.atomic, depth->by_clocks, 1);
	cell_times(request_view(rq, qs, direct), class, bytes, t);
}

/*
 * The short way, for what most requests are: all of it done at once, in no flush sequence, and timed by its own clocks. False: it is
 * not for this one, or not now.
 */
static __always_inline bool short_way(struct request *rq, struct wire_queue *qs, struct slot *s, struct times *own,
				      u32 flags, u32 bytes, int error, enum wire_clocks now, bool direct)
{
	u32 rq_flags = GET(direct, rq, rq_flags), why;

	why = own_times(own, rq, s, flags, rq_flags, now, direct);
	if (!why && (!bytes || bytes != GET(direct, rq, __data_len) || error))
		why = UNCLOCKED_ONE;
	own->known = !why;
	if (why > run.unclocked)
		run.unclocked = why;
	if (now == CLOCKS_TRACED || why || run.unclocked == UNCLOCKED_SHARED)
		return false;
	complete_by_clocks(rq, qs, s, own, request_class(flags, rq_flags), bytes, direct);
	return true;
}

static __always_inline u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* How far what the request's own clocks say is from what was traced. */
static __always_inline void compare_clocks(struct wire_queue *qs, const struct times *own, const struct times *t)
{
	u64 queue = queue_time(t);
	struct wire_depth *d = depth_of(qs);

	if (!own->known || !t->known || !d)
		return;
	ADD(cfg.atomic, d->off, distance(own->issue, t->issue) + distance(queue_time(own), queue));
	ADD(cfg.atomic, d->of, queue + t->now - t->issue);
}

static __always_inline struct slot *slot_find(struct request *rq, struct wire_queue *qs, u32 *key, bool direct)
{
	*key = slot_key(rq, qs, false, direct);
	return bpf_map_lookup_elem(&slots, key);
}

static __always_inline int on_complete(void *ctx, struct request *rq, int error, u32 bytes, bool direct)
{
	struct times t = { .now = bpf_ktime_get_ns() }, own = t;
	struct wire_queue *qs = queue_of(rq, direct);
	u32 flags, rq_flags, left, class, key, dev, view;
	struct slot *s;
	struct wire_cell *c;
	struct wire_view *v;
	/* clocks: may_use_clocks(), of the same moment */
	bool sequence, mine, whole, ledger = ledger_now(), clocks = cfg.own_clocks && !ledger;

	if (!qs)
		return 0;
	flags = GET(direct, rq, cmd_flags);
	if (cfg.ledger && rarely(may_ring(run.idle, flags)) && must_ring(flags, request_part_dev(rq, false), &qs->disk))
		ring_idle_bell();
	if (clocks && run.own_clocks == CLOCKS_ALL) {
		if (short_way(rq, qs, NULL, &own, flags, bytes, error, CLOCKS_ALL, direct))
			return 0;
		s = slot_find(rq, qs, &key, direct);
	} else {
		s = slot_find(rq, qs, &key, direct);
		if (clocks && short_way(rq, qs, s, &own, flags, bytes, error, run.own_clocks, direct))
			return 0;
	}
	if (rarely((flags & 0xff) == cfg.op_flush))
		return complete_flush(rq, qs, &t, direct);
	rq_flags = GET(direct, rq, rq_flags);
	left = GET(direct, rq, __data_len);
	/*
	 * Once, before the ways part: at each typed pointer that is loaded out of a tracepoint's argument the verifier looks
	 * through all types of the kernel, on each way to it.
	 */
	dev = ledger || qs->disk.n_parts ? request_part_dev(LOOSE(direct, rq), direct) : 0;
	sequence = rq_flags & cfg.rqf_flush_seq;
	class = request_class(flags, rq_flags);
	view = view_by_dev(qs, dev);
	/* a filter is for what is counted: calls wait for the requests of others, the journal's above all */
	mine = wanted(rq, s);
	if (rarely(!mine && !ledger)) {
		slot_end(s, rq, qs, sequence, t.now, bytes);
		return 0;
	}
	if (rarely(!left && !bytes && !sequence) &&
	    (class == WIRE_WRITE_SYNC || class == WIRE_FUA || class == WIRE_WRITE_ASYNC)) {
		c = cell_of(view, WIRE_CELL_SEQUENCE);
		v = view_of(view);
		if (ledger)
			note_sequence(ctx, rq, qs, s, key, t.now, class, dev, direct);
		if (rarely(!mine))
			slot_end(s, rq, qs, sequence, t.now, bytes);
		else if (c && v)
			complete_sequence(rq, c, v, s, rq_flags, t.now, direct);
		return 0;
	}
	whole = bytes >= left || error;
	if (ledger)
		write_tell(s, (u64)rq, class, bytes, whole);
	if (rarely(!whole)) {
		if (mine)
			complete_piece(view, class, bytes);
		return 0;
	}
	request_times(&t, rq, s, rq_flags, direct);
	if (ledger) {
		if (s && s->rq == (u64)rq)
			step_take(s, STEP_DATA, s, s->insert, t.now);
		completion_note(ctx, sequence ? NULL : rq, qs, s, key, t.now, class, 0, bytes, dev, direct);
	}
	if (rarely(!mine)) {
		slot_end(s, rq, qs, sequence, t.now, bytes);
		return 0;
	}
	if (clocks && !run.own_clocks)
		compare_clocks(qs, &own, &t);
	complete_data(rq, view, s, &t, class, sequence, bytes, error);
	slot_end(s, rq, qs, sequence, t.now, bytes);
	return 0;
}

/* ---- the flush machinery's own functions: exact where the tracepoints leave something to infer ---- */

/* blk_insert_flush(): before 6.5 the only sight of an empty flush while its sender runs. */
static __always_inline int on_flush_insert(struct request *rq, bool direct)
{
	struct slot *s = slot_begun(rq, direct);

	if (s)
		s->taken = bpf_ktime_get_ns();
	return 0;
}

/* mq_flush_data_end_io(): a FLUSH may begin inside of it. */
static __always_inline int on_flush_data(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *s = qs ? slot_of(rq, qs, false, direct) : NULL;
	struct slot *fs = qs ? slot_of(rq, qs, true, direct) : NULL;
	u64 now = bpf_ktime_get_ns();

	if (s && s->rq == (u64)rq)
		s->data_done = now;
	if (fs && !flush_under_way(rq))
		fs->data_end = now;
	return 0;
}

/*
 * flush_end_io(): its waiters have been visited at the tracepoint; from here on the next FLUSH may begin. Whoever looks through
 * a queue's requests (a read of diskstats does) lets go of a FLUSH under way by this function, too: the last one ends it.
 */
static __always_inline int on_flush_end(struct request *rq, bool direct)
{
	struct wire_queue *qs = queue_of(rq, direct);
	struct slot *fs = qs ? slot_of(rq, qs, true, direct) : NULL;
	u32 holders = 0;

	bpf_core_read(&holders, sizeof(holders), &rq->ref);
	if (fs && holders <= 1)
		fs->flush_end = bpf_ktime_get_ns();
	return 0;
}

/* ---- the programs ---- */

/* Functions whose first argument is the request. */
/* clang-format off */
#define FUNCTION_PROGRAMS(name, function) \
SEC("?fentry/" #function) \
int name##_fentry(u64 *ctx) \
{ \
	return on_##name((struct request *)ctx[0], true); \
} \
SEC("?kprobe/" #function) \
int name##_kprobe(struct pt_regs *ctx) \
{ \
	return on_##name((struct request *)FUNCTION_ARG(ctx), false); \
}
/* clang-format on */

FUNCTION_PROGRAMS(flush_insert, blk_insert_flush)
FUNCTION_PROGRAMS(flush_data, mq_flush_data_end_io)
FUNCTION_PROGRAMS(flush_end, flush_end_io)

/* What is rare copies: to follow typed pointers costs the verifier more than it spares here. */
/* clang-format off */
#define REQUEST_PROGRAM(event, handler, direct) \
SEC("?tp_btf/block_" #event) \
int event##_btf(u64 *ctx) \
{ \
	return handler(block_arg(ctx, cfg.queue_first), direct); \
}
/* clang-format on */

REQUEST_PROGRAM(rq_insert, on_insert, true)
REQUEST_PROGRAM(rq_issue, on_issue, true)
REQUEST_PROGRAM(rq_requeue, on_requeue, false)
REQUEST_PROGRAM(rq_merge, on_merge, false)

SEC("?tp_btf/block_io_start")
int io_start_btf(u64 *ctx)
{
	return on_start((struct request *)ctx[0], true);
}

SEC("?tp_btf/block_rq_complete")
int rq_complete_btf(u64 *ctx)
{
	return on_complete(ctx, (struct request *)ctx[0], (int)ctx[1], (u32)ctx[2], true);
}
