// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every function that explains a window [from, to) hands out exactly to - from: either in one piece, or along a position that
 * only moves forward and never beyond `to`. So the slices tile the call whatever the times in the facts are.
 */
#include "analyse/ledger/walk.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define WALK_DEPTH (VIAS_DEPTH - 1)
#define SLICES_MAX (1u << 18) /* of one call, 8 MiB; beyond, the rest is unknown */

struct walk {
	struct timeline *tl;
	struct walk_result result;
	size_t cap; /* slices */
	const struct wire_sync *call;
	uint64_t serial;	    /* of the call */
	const struct wire_bio *bio; /* that ended the innermost sleep of which that is known; NULL: none */
	struct vias vias;
	enum no_ledger why;
	uint64_t missed_switches;
};

/* A task whose time is being walked, and how we came to it. */
struct frame {
	const struct frame *up;
	const struct tl_task *task; /* NULL: nothing is known of it */
	uint32_t tid, via;
	unsigned int depth;
	bool asleep;	     /* it sleeps all through the window of the next frame */
	bool caller;	     /* in its own call all its sleeps are known */
	bool handle;	     /* it holds a handle of the journal for which a commit waits */
	uint64_t from, woke; /* it ended a sleep of [from, woke): its sleeps that ended in there are known; 0: it did not */
	bool have_seq;	     /* and when it did, its next sleep was to be number `seq` */
	uint32_t seq;
	uint32_t work;	  /* a worker, which did it in its work of this number; 0: not known */
	enum cause blind; /* what the sleeper's stack says where this task's time is not known */
};

/* ---- slices ---- */

static bool has_device(enum cause c)
{
	return c != CAUSE_CPU && c != CAUSE_RUNQ && c != CAUSE_WORKER && c != CAUSE_LOCK && c != CAUSE_JOURNAL &&
	       c != CAUSE_UNKNOWN;
}

static struct walk_slice *new_slice(struct walk *w)
{
	struct walk_result *r = &w->result;

	if (r->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 64;
		r->slice = xrealloc(r->slice, w->cap * sizeof(*r->slice));
	}
	return &r->slice[r->n++];
}

static inline void add_slice(struct walk *w, enum cause cause, uint32_t via, uint32_t dev, uint64_t ns)
{
	struct walk_result *r = &w->result;
	struct walk_slice *s = r->n ? &r->slice[r->n - 1] : NULL;

	if (r->n >= SLICES_MAX) {
		cause = CAUSE_UNKNOWN;
		via = dev = 0;
		r->blind = true;
	}
	if (s && s->cause == cause && s->via == via && s->dev == dev)
		s->ns += ns;
	else
		*new_slice(w) = (struct walk_slice){
			.ns = ns,
			.via = via,
			.dev = dev,
			.cause = cause,
		};
	r->ledger.ns[cause] += ns;
}

/* Through `via`. While a handle is held, what its holder does counts as the journal's, except I/O. */
static inline void emit_by(struct walk *w, const struct frame *f, uint32_t via, enum cause cause, uint32_t dev, uint64_t ns)
{
	bool device = has_device(cause);

	if (ns)
		add_slice(w, f->handle && !device ? CAUSE_JOURNAL : cause, via, device ? dev : 0, ns);
}

static void emit(struct walk *w, const struct frame *f, enum cause cause, uint32_t dev, uint64_t ns)
{
	emit_by(w, f, f->via, cause, dev, ns);
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* clang-format off */
static const enum cause class_causes[WIRE_CLASSES] = {
	[WIRE_READ_SYNC] = CAUSE_DEVICE_READ,
	[WIRE_READ_ASYNC] = CAUSE_DEVICE_READ,
	[WIRE_WRITE_SYNC] = CAUSE_DEVICE_WRITE,
	[WIRE_WRITE_ASYNC] = CAUSE_DEVICE_WRITE,
	[WIRE_WRITE_BARRIER] = CAUSE_DEVICE_WRITE,
	[WIRE_FUA] = CAUSE_DEVICE_FUA,
	[WIRE_FLUSH] = CAUSE_DEVICE_OTHER,	/* an empty flush has no data step */
	[WIRE_DISCARD] = CAUSE_DEVICE_DISCARD,
	[WIRE_OTHER] = CAUSE_DEVICE_OTHER,
};
/* clang-format on */

/* What a disk without requests does with a bio, apart from the FLUSH before a write. */
static enum cause bio_cause(const struct wire_bio *b)
{
	if (b->class == WIRE_FLUSH)
		return CAUSE_FLUSH_ONLY;
	return b->class == WIRE_WRITE_BARRIER && !b->flushed ? CAUSE_UNKNOWN : class_causes[b->class];
}

static void emit_bio(struct walk *w, const struct frame *f, enum cause cause, uint64_t ns)
{
	if (cause_family(cause) == FAMILY_FLUSH)
		w->result.flush_own_ns += ns;
	emit(w, f, cause, w->bio->disk, ns);
}

/* Nothing was seen between these two times, unless a bio was on its way: then its disk, or what drives that, was at it. */
static void emit_blind(struct walk *w, const struct frame *f, enum cause cause, uint64_t from, uint64_t to)
{
	const struct wire_bio *b = cause == CAUSE_UNKNOWN ? w->bio : NULL;
	uint64_t queued, flushed, done;

	if (from >= to)
		return;
	w->result.blind = true;
	if (!b) {
		emit(w, f, cause, 0, to - from);
		return;
	}
	queued = clamp(b->queued, from, to);
	flushed = clamp(b->flushed, queued, to);
	done = clamp(b->done, flushed, to);
	emit(w, f, cause, 0, queued - from);
	emit_bio(w, f, CAUSE_FLUSH_PRE, flushed - queued);
	emit_bio(w, f, bio_cause(b), done - flushed);
	emit(w, f, cause, 0, to - done);
}

/* ---- through whom ---- */

static uint32_t via_push(struct walk *w, uint32_t up, const struct tl_task *t)
{
	return vias_push(&w->vias, up, t->name[0] ? t->name : "(task)");
}

/* A worker is called by what it runs. */
static uint32_t via_push_work(struct walk *w, uint32_t up, const struct tl_task *t, uint32_t no)
{
	const struct wire_work *k = tl_work(w->tl, t->tid, no);
	const char *name = k ? tl_work_name(w->tl, k) : NULL;

	return name ? vias_push(&w->vias, up, name) : via_push(w, up, t);
}

size_t walk_via(const struct walk *w, uint32_t via, const char *name[VIAS_DEPTH])
{
	return vias_names(&w->vias, via, name);
}

void walk_forget(struct walk *w)
{
	vias_forget(&w->vias);
}

/* ---- requests ---- */

/* A sleep that is being cut along a request's life. */
struct cut {
	struct walk *w;
	const struct frame *f; /* the sleeper */
	struct tl_request *r;
	uint64_t at, to; /* what lies before `at` has been handed out */
	bool foreign;
};

static void walk_task(struct walk *w, const struct frame *f, uint64_t from, uint64_t to);

/* Up to `time`, through `via`. Nothing if that is behind us or 0. */
static void upto_by(struct cut *c, uint32_t via, uint64_t time, enum cause cause)
{
	uint64_t end = min(time, c->to), ns = end - c->at;

	if (end <= c->at)
		return;
	emit_by(c->w, c->f, via, cause, c->r->r.dev, ns);
	if (cause_family(cause) == FAMILY_FLUSH)
		*(c->foreign ? &c->w->result.flush_foreign_ns : &c->w->result.flush_own_ns) += ns;
	c->at = end;
}

static void upto(struct cut *c, uint64_t time, enum cause cause)
{
	if (cause != CAUSE_UNKNOWN) {
		upto_by(c, c->f->via, time, cause);
	} else {
		uint64_t end = clamp(time, c->at, c->to);

		emit_blind(c->w, c->f, cause, c->at, end);
		c->at = end;
	}
}

/* The task that issues a step was told, waited for a CPU, and ran. `otherwise`: what it is if it was not followed. */
static void hop(struct cut *c, const struct wire_step *s, uint64_t time, enum cause otherwise)
{
	const struct tl_task *t;
	uint32_t via = c->f->via;

	if (time <= c->at)
		return;
	if (!s->issuer_on || s->issuer_wake > s->issuer_on || s->issuer_on > s->issue) {
		upto(c, time, otherwise);
		return;
	}
	t = s->issuer && s->issuer != c->f->tid ? tl_task(c->w->tl, s->issuer) : NULL;
	if (t)
		via = via_push(c->w, via, t);
	if (s->issuer_wake)
		upto(c, min(s->issuer_wake, time), CAUSE_COMPLETION);
	else
		upto(c, min(s->issuer_on, time), otherwise);
	upto_by(c, via, min(s->issuer_on, time), CAUSE_RUNQ);
	upto_by(c, via, time, CAUSE_CPU);
}

static bool on_the_way(const struct frame *f, uint32_t tid)
{
	for (; f; f = f->up)
		if (f->asleep && f->tid == tid)
			return true;
	return false;
}

/* What the sender was doing. It woke nobody at the end of that time, so less is known of it than of a waker. */
static void walk_sender(struct cut *c, uint64_t time)
{
	const struct wire_request *r = &c->r->r;
	const struct tl_task *t = r->tid ? tl_task(c->w->tl, r->tid) : NULL;
	struct frame f = {
		.up = c->f,
		.task = t,
		.tid = r->tid,
		.depth = c->f->depth + 1,
		.asleep = true,
		.handle = c->f->handle,
		.blind = CAUSE_UNKNOWN,
	};

	if (!t || f.depth > WALK_DEPTH || on_the_way(c->f, r->tid)) {
		upto(c, time, CAUSE_UNKNOWN);
		return;
	}
	f.via = via_push(c->w, c->f->via, t);
	walk_task(c->w, &f, c->at, time);
	c->at = time;
}

static void sender_upto(struct cut *c, uint64_t time)
{
	time = min(time, c->to);
	if (time > c->at)
		walk_sender(c, time);
}

/* The first of its times that is known from step i on; 0 is pre, 1 data, 2 post, 3 the end. */
static uint64_t next_time(const struct wire_request *r, int i)
{
	const struct wire_step *steps[] = { &r->pre, &r->data, &r->post };

	for (; i < 3; i++) {
		if (steps[i]->begin)
			return steps[i]->begin;
		if (steps[i]->issue)
			return steps[i]->issue;
	}
	return r->done;
}

static bool knows_start(const struct wire_request *r)
{
	return r->alloc && !(r->flags & REQUEST_NO_START);
}

uint64_t walk_request_began(const struct wire_request *r)
{
	return knows_start(r) ? r->alloc : next_time(r, 0);
}

static void before_request(struct cut *c)
{
	const struct wire_request *r = &c->r->r;
	uint64_t time = walk_request_began(r);

	if (r->flags & REQUEST_THROTTLED)
		upto(c, time, CAUSE_THROTTLE);
	else if (knows_start(r))
		sender_upto(c, time);
	else
		upto(c, time, CAUSE_UNKNOWN);
}

static bool happened(const struct wire_step *s)
{
	return s->issue || s->done;
}

/* In the device, or not known for how long. */
static void step_end(struct cut *c, const struct wire_step *s, uint64_t next, enum cause cause)
{
	bool known = s->issue && s->done;

	upto(c, s->done ? s->done : next, known ? cause : CAUSE_UNKNOWN);
}

/* Once per call, in whatever number of pieces it was waited for. */
static void count_flush(struct cut *c, const struct wire_step *s, uint32_t bit)
{
	struct tl_request *r = c->r;

	if (r->call != c->w->serial) {
		r->call = c->w->serial;
		r->steps = 0;
	}
	if (r->steps & bit)
		return;
	r->steps |= bit;
	c->w->result.flushes++;
	c->w->result.in_flight += s->in_flight;
}

static void pre_step(struct cut *c)
{
	const struct wire_request *r = &c->r->r;
	uint64_t before;

	if (!happened(&r->pre))
		return;
	upto(c, r->pre.begin ? r->pre.begin : r->pre.issue, CAUSE_FLUSH_WAIT);
	hop(c, &r->pre, r->pre.issue, CAUSE_IOQ);
	before = c->at;
	step_end(c, &r->pre, next_time(r, 1), r->flags & REQUEST_ONLY ? CAUSE_FLUSH_ONLY : CAUSE_FLUSH_PRE);
	if (c->at > before)
		count_flush(c, &r->pre, 1);
}

/*
 * From its allocation to its insertion a plain request lies in its sender's plug. If that is the sleeper itself, it has
 * left the plug behind: the request waits for whoever issues it.
 */
static void data_start(struct cut *c, uint64_t time)
{
	const struct wire_request *r = &c->r->r;

	if (happened(&r->pre))
		hop(c, &r->data, time, CAUSE_COMPLETION);
	else if (r->tid == c->f->tid)
		hop(c, &r->data, time, CAUSE_IOQ);
	else
		sender_upto(c, time);
}

static void data_step(struct cut *c)
{
	const struct wire_request *r = &c->r->r;

	if (!happened(&r->data))
		return;
	data_start(c, r->data.begin ? r->data.begin : r->data.issue);
	upto(c, r->data.issue, CAUSE_IOQ);
	step_end(c, &r->data, next_time(r, 2), class_causes[r->class]);
}

static void post_step(struct cut *c)
{
	const struct wire_request *r = &c->r->r;
	uint64_t before;

	if (!happened(&r->post))
		return;
	upto(c, r->post.begin ? r->post.begin : r->post.issue, CAUSE_FLUSH_WAIT);
	hop(c, &r->post, r->post.issue, CAUSE_COMPLETION);
	before = c->at;
	step_end(c, &r->post, r->done, CAUSE_FLUSH_POST);
	if (c->at > before)
		count_flush(c, &r->post, 2);
}

/* Sent by another user process? A kernel thread sends for everybody, the caller included. */
static bool is_foreign(const struct walk *w, const struct wire_request *r)
{
	const struct tl_task *t;

	if (!r->tgid || r->tgid == w->call->tgid)
		return false;
	t = tl_task(w->tl, r->tid);
	if (t && t->kind)
		return t->kind == TASK_USER;
	/* it has made a sync call, or it is one of several threads: both only user processes do */
	return (t && t->exit) || r->tid != r->tgid;
}

static void walk_request(struct walk *w, const struct frame *f, struct tl_request *r, uint64_t from, uint64_t to)
{
	struct cut c = { .w = w, .f = f, .r = r, .at = from, .to = to, .foreign = is_foreign(w, &r->r) };
	const struct wire_step *last = happened(&r->r.post) ? &r->r.post :
				       happened(&r->r.data) ? &r->r.data :
							      &r->r.pre;

	before_request(&c);
	pre_step(&c);
	data_step(&c);
	post_step(&c);
	if (!happened(last))
		upto(&c, r->r.done, CAUSE_UNKNOWN);
	upto(&c, to, CAUSE_COMPLETION);
}

/* ---- tasks ---- */

/* clang-format off */
static const enum cause stack_causes[] = {
	[STACK_NONE] = CAUSE_UNKNOWN,
	[STACK_LOCK] = CAUSE_LOCK,
	[STACK_COMMIT] = CAUSE_JOURNAL,
	[STACK_JOURNAL] = CAUSE_JOURNAL,
	[STACK_TAG] = CAUSE_TAG,
	[STACK_THROTTLE] = CAUSE_THROTTLE,
	[STACK_IO] = CAUSE_UNKNOWN,
	[STACK_FLUSH] = CAUSE_UNKNOWN,
};
/* clang-format on */

static bool is_jbd2(const struct tl_task *t)
{
	return t && !memcmp(t->name, "jbd2/", 5);
}

/*
 * Did the sleeper wait until `t` closed its handle? A commit waits for all of them, and so do those who need
 * room in the journal; the journal's own threads are waited for in other ways.
 */
static bool held_by(const struct frame *sleeper, const struct tl_sleep *s, const struct tl_task *t)
{
	uint8_t kind = t && t->kind ? t->kind : s->waker_kind;

	if (s->class == STACK_JOURNAL)
		return kind == TASK_USER || !kind;
	return kind == TASK_USER && is_jbd2(sleeper->task);
}

static void walk_waker(struct walk *w, const struct frame *f, const struct tl_sleep *s, uint64_t from, uint64_t to)
{
	const struct tl_task *t = tl_task(w->tl, s->waker);
	struct frame next = {
		.up = f,
		.task = t,
		.tid = s->waker,
		.depth = f->depth + 1,
		.asleep = true,
		.handle = f->handle || held_by(f, s, t),
		.from = s->off,
		.woke = s->wake,
		.have_seq = s->done == 1,
		.seq = (uint32_t)s->rq,
		.work = s->done == 1 ? (uint32_t)(s->rq >> 32) : 0,
		.blind = stack_causes[s->class],
	};

	if (on_the_way(f, s->waker) || next.depth > WALK_DEPTH) {
		emit(w, f, s->class == STACK_NONE ? CAUSE_LOCK : stack_causes[s->class], 0, to - from);
		return;
	}
	next.via = t ? via_push_work(w, f->via, t, next.work) : f->via;
	walk_task(w, &next, from, to);
}

/* By what ended the sleep. */
static void explain_end(struct walk *w, const struct frame *f, const struct tl_sleep *s, uint64_t from, uint64_t to)
{
	enum cause cause = stack_causes[s->class];
	struct tl_request *r;

	if (s->class == STACK_TAG || s->class == STACK_THROTTLE) {
		emit(w, f, cause, 0, to - from);
		return;
	}
	switch (s->how) {
	case HOW_REQUEST:
		r = tl_request(w->tl, s->rq, s->done);
		if (r)
			walk_request(w, f, r, from, to);
		else
			emit_blind(w, f, CAUSE_UNKNOWN, from, to);
		return;
	case HOW_TASK: walk_waker(w, f, s, from, to); return;
	case HOW_IRQ:
		if (s->class == STACK_JOURNAL) {
			emit(w, f, cause, 0, to - from);
			return;
		}
		/* fall through */
	default: emit_blind(w, f, cause, from, to);
	}
}

/* Asleep in [from, to). */
static void explain(struct walk *w, const struct frame *f, const struct tl_sleep *s, uint64_t from, uint64_t to)
{
	const struct wire_bio *outer = w->bio, *bio = tl_bio(w->tl, s);

	if (bio)
		w->bio = bio;
	explain_end(w, f, s, from, to);
	w->bio = outer;
}

/*
 * How long the caller waited for a CPU when it was not seen to come onto one: by the kernel's count, which is of all its waiting in the
 * call, less what is known of it. False where that does not tell.
 */
static bool waited_unseen(const struct tl_task *t, const struct wire_sync *call, uint64_t *ns)
{
	uint64_t all = call->waited_exit - call->waited_enter, known = 0;
	uint32_t unseen = 0;

	for (uint32_t i = tl_first(t, call->enter); i < t->n; i++) {
		const struct tl_sleep *s = tl_at(t, i);

		if (s->off >= call->exit)
			break;
		if (s->how == HOW_UNSEEN)
			unseen++;
		else if (!s->wake)
			return false;
		else
			known += s->on - s->wake;
	}
	*ns = all > known ? all - known : 0;
	return unseen == 1 && call->waited_exit;
}

/* Ready to run since `at`, and ran some time before `to`. */
static void walk_unseen(struct walk *w, const struct frame *f, uint64_t at, uint64_t to)
{
	uint64_t waited = 0;

	if (!f->caller || !waited_unseen(f->task, w->call, &waited)) {
		emit_blind(w, f, CAUSE_UNKNOWN, at, to);
		return;
	}
	emit(w, f, CAUSE_RUNQ, 0, min(waited, to - at));
	emit(w, f, CAUSE_CPU, 0, to - at - min(waited, to - at));
}

/* One sleep, from `at` on; returns where it ends. */
static uint64_t walk_sleep(struct walk *w, const struct frame *f, const struct tl_sleep *s, uint64_t at, uint64_t to)
{
	uint64_t on = clamp(s->on, at, to);
	uint64_t wake = clamp(s->how == HOW_PREEMPTED ? at : s->wake ? s->wake : on, at, on);

	if (s->how == HOW_UNSEEN) {
		walk_unseen(w, f, at, on);
		return on;
	}
	if (wake > at)
		explain(w, f, s, at, wake);
	emit(w, f, CAUSE_RUNQ, 0, on - wake);
	return on;
}

/* Not so if it was followed at `from` only because it was in a call that ended before `to`. */
static bool still_followed(const struct tl_task *t, uint64_t from, uint64_t to)
{
	return (t->since && t->since <= from) || from > t->exit || t->exit >= to;
}

/* Is it known that the task ran all the time between these two sleeps? Either may be NULL. */
static bool ran_between(const struct frame *f, const struct tl_sleep *before, const struct tl_sleep *after)
{
	if (f->caller)
		return true;
	if (before && after && after->off && after->seq == before->seq + 1)
		return true;
	if (f->have_seq && before && before->seq + 1 == f->seq && (!after || after->off >= f->woke))
		return true;
	/* where its sleeps in [from, woke) have no such number and have all been sent: behind the last it ran until it woke the sleeper */
	return !f->have_seq && f->woke && before && before->on > f->from && before->on <= f->woke &&
	       (!after || after->off >= f->woke) && still_followed(f->task, before->on, f->woke);
}

/* Not asleep in [from, to) as far as is known. */
static void walk_gap(struct walk *w, const struct frame *f, const struct tl_sleep *before, const struct tl_sleep *after,
		     uint64_t from, uint64_t to)
{
	uint64_t enter, exit;

	if (ran_between(f, before, after)) {
		emit(w, f, CAUSE_CPU, 0, to - from);
		return;
	}
	/* in a sync call of its own all its sleeps are known too */
	enter = f->task ? clamp(f->task->enter, from, to) : from;
	exit = f->task ? clamp(f->task->exit, enter, to) : from;
	emit_blind(w, f, f->blind, from, enter);
	emit(w, f, CAUSE_CPU, 0, exit - enter);
	emit_blind(w, f, f->blind, exit, to);
}

/* When a sleep began: one that began before the task was followed is known from then on. */
static uint64_t began(const struct tl_task *t, const struct tl_sleep *s)
{
	if (s->off)
		return s->off;
	return t->since ? min(t->since, s->on) : s->wake ? s->wake : s->on;
}

/*
 * A kworker's work begins when it is woken for it: what it did before was for others. Returns the index of the last
 * sleep for want of work that ended in (from, to), or `i` when there is none.
 */
static uint32_t last_idle(const struct tl_task *t, uint32_t i, uint64_t to)
{
	uint32_t found = i;

	for (; i < t->n; i++) {
		const struct tl_sleep *s = tl_at(t, i);

		if (began(t, s) >= to || s->wake >= to)
			break;
		if (s->idle)
			found = i;
	}
	return found;
}

/* Woken in [from, to) for want of work: until then it was on its way to the worker, with whoever brought it. Returns when. */
static uint64_t walk_idle(struct walk *w, const struct frame *f, const struct tl_sleep *s, uint64_t from, uint64_t to)
{
	if (!s->idle || s->wake <= from || s->wake >= to)
		return from;
	explain(w, f, s, from, s->wake);
	return s->wake;
}

/* Queued, and not yet begun: until a worker was woken for it, if none was awake, and had a CPU. */
static void walk_queue(struct walk *w, const struct frame *f, const struct tl_sleep *idle, uint64_t from, uint64_t to)
{
	uint64_t wake = idle ? clamp(idle->wake, from, to) : to, on = idle ? clamp(idle->on, wake, to) : to;

	emit(w, f, CAUSE_WORKER, 0, wake - from);
	emit(w, f, CAUSE_RUNQ, 0, on - wake);
	emit(w, f, CAUSE_WORKER, 0, to - on);
}

/* Before it was queued, in [from, to): with who queued it. `idle`: the worker's sleep that ended for it, or NULL. */
static void walk_queuer(struct walk *w, const struct frame *f, const struct wire_work *k, const struct tl_sleep *idle,
			uint64_t from, uint64_t to)
{
	const struct tl_sleep until = {
		.off = from,
		.wake = to,
		.on = to,
		.rq = k->rq,
		.done = k->done,
		.waker = k->by,
		.how = k->how,
		.waker_kind = k->by_kind,
		.bio = tl_work_bio(w->tl, k),
	};
	struct frame by = *f;

	by.asleep = false; /* a worker may have queued for itself what it did later */
	if (k->how == HOW_TASK || k->how == HOW_REQUEST || until.bio)
		explain(w, &by, &until, from, to);
	else if (idle)
		explain(w, f, idle, from, to);
	else
		emit_blind(w, f, CAUSE_UNKNOWN, from, to);
}

/* The sleep for want of work, if that was it, out of which the worker came to this one. */
static const struct tl_sleep *idle_before(const struct tl_task *t, const struct wire_work *k, uint64_t from)
{
	uint32_t i = t ? tl_first(t, k->begun) : 0;
	const struct tl_sleep *s = i ? tl_at(t, i - 1) : NULL;

	return s && s->idle && s->wake > from && s->wake >= k->queued ? s : NULL;
}

/* Until the work began, in [from, to). */
static void walk_to_work(struct walk *w, const struct frame *f, const struct wire_work *k, uint64_t from, uint64_t to)
{
	const struct tl_sleep *idle = idle_before(f->task, k, from);
	uint64_t queued = clamp(k->queued ? k->queued : idle ? idle->wake : to, from, to);

	if (queued > from)
		walk_queuer(w, f, k, idle, from, queued);
	walk_queue(w, f, idle, queued, to);
}

/* The sleep `i` is the first that ended after `from`. */
static void walk_from(struct walk *w, const struct frame *f, uint32_t i, uint64_t from, uint64_t to)
{
	const struct tl_task *t = f->task;
	const struct wire_work *k = f->work ? tl_work(w->tl, f->tid, f->work) : NULL;
	const struct tl_sleep *before = NULL, *s = NULL;
	struct tl_sleep begun;
	uint32_t n = t ? t->n : 0;

	if (f->work && (!k || k->begun > to)) {
		emit_blind(w, f, CAUSE_UNKNOWN, from, to);
		return;
	}
	/* of a worker's time only that of its work is the sleeper's; what was before, is with whoever brought it */
	if (k && k->begun > from) {
		walk_to_work(w, f, k, from, k->begun);
		from = k->begun;
		i = t ? tl_first(t, from) : 0;
	} else if (!k && t && t->kind == TASK_KWORKER && i < n) {
		i = last_idle(t, i, to);
		from = walk_idle(w, f, tl_at(t, i), from, to);
	}
	if (i)
		before = tl_at(t, i - 1);
	if (k && k->begun <= from && (!before || before->on <= k->begun)) {
		/* as if it had slept until then: from there on it ran until the sleep with that number */
		begun = (struct tl_sleep){ .off = k->begun, .on = k->begun, .seq = k->seq - 1 };
		before = &begun;
	}
	for (; i < n && from < to; i++) {
		s = tl_at(t, i);
		if (began(t, s) >= to || w->result.n >= SLICES_MAX)
			break;
		if (began(t, s) > from) {
			walk_gap(w, f, before, s, from, began(t, s));
			from = began(t, s);
		}
		from = walk_sleep(w, f, s, from, to);
		before = s;
	}
	if (from < to)
		walk_gap(w, f, before, i < n ? tl_at(t, i) : NULL, from, to);
}

static void walk_task(struct walk *w, const struct frame *f, uint64_t from, uint64_t to)
{
	walk_from(w, f, f->task ? tl_first(f->task, from) : 0, from, to);
}

/* ---- calls ---- */

/* Tracepoints miss events while another tracer comes or goes; the kernel's own count of switches doesn't. */
static uint16_t missed_switches(const struct wire_sync *call)
{
	uint16_t more = call->switches - call->sleeps, less = call->sleeps - call->switches;

	return more < less ? more : less;
}

/* Are all sleeps of the caller known that lie in the call? The first of them is `first`. */
static bool complete(const struct tl_task *t, const struct wire_sync *call, uint32_t first)
{
	const struct tl_sleep *before, *s;

	if (!t)
		return true;
	before = first ? tl_at(t, first - 1) : NULL;
	for (uint32_t i = first; i < t->n; i++, before = s) {
		s = tl_at(t, i);
		if (s->off >= call->exit)
			break;
		/* between calls a caller's sleeps are not counted, a helper's are; a new task counts from 0 */
		if (i == first && (!before || t->since || !s->seq))
			continue;
		if (s->seq != before->seq + 1)
			return false;
	}
	return true;
}

/* Carried out by another task: as if the caller had slept from submission to completion, which it may or may not have. */
static void walk_by_worker(struct walk *w, const struct wire_sync *call, const struct frame *f)
{
	struct tl_sleep s = {
		.off = call->enter,
		.wake = call->exit,
		.on = call->exit,
		.how = HOW_TASK,
		.waker = call->worker,
	};

	walk_waker(w, f, &s, call->enter, call->exit);
}

/* The promise is that a ledger adds up, so it does even if there should be a mistake in here. */
static void settle(struct walk *w, const struct wire_sync *call)
{
	uint64_t want = call->exit - call->enter, have = ledger_sum(&w->result.ledger);

	if (have == want)
		return;
	w->result.mended = true;
	if (have > want) {
		w->result.n = 0;
		w->result.flush_own_ns = w->result.flush_foreign_ns = 0;
		memset(&w->result.ledger, 0, sizeof(w->result.ledger));
		have = 0;
	}
	add_slice(w, CAUSE_UNKNOWN, 0, 0, want - have);
}

/* Else it says why not. */
static bool followed(struct walk *w, const struct frame *f, const struct wire_sync *call, uint32_t first)
{
	uint16_t missed = missed_switches(call);

	w->missed_switches += missed;
	w->why = f->task && f->task->lost > call->enter ? NO_LEDGER_LIMIT : NO_LEDGER_DROPPED;
	return !missed && w->why == NO_LEDGER_DROPPED && complete(f->task, call, first);
}

bool walk_call(struct walk *w, const struct wire_sync *call, const struct walk_result **out)
{
	bool by_worker = call->worker && call->worker != call->tid;
	struct frame f = {
		.task = tl_task(w->tl, call->tid),
		.tid = call->tid,
		.asleep = !by_worker,
		.caller = !by_worker,
		.blind = CAUSE_UNKNOWN,
	};
	uint32_t first = f.task && !by_worker ? tl_first(f.task, call->enter) : 0;

	if (!by_worker && !followed(w, &f, call, first))
		return false;
	w->result = (struct walk_result){ .slice = w->result.slice };
	w->bio = NULL;
	w->call = call;
	w->serial++;
	if (by_worker)
		walk_by_worker(w, call, &f);
	else
		walk_from(w, &f, first, call->enter, call->exit);
	settle(w, call);
	*out = &w->result;
	return true;
}

enum no_ledger walk_why(const struct walk *w)
{
	return w->why;
}

uint64_t walk_missed_switches(const struct walk *w)
{
	return w->missed_switches;
}

struct walk *walk_new(struct timeline *tl)
{
	struct walk *w = xcalloc(1, sizeof(*w));

	w->tl = tl;
	walk_forget(w);
	return w;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	free(w->result.slice);
	vias_free(&w->vias);
	free(w);
}
