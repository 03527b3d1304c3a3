// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains of waits that are made up, with what they have to come to: a call that waits for tasks, for works of kernel workers, for requests
 * and for those who send or queue them, up to six deep, preempted, beside what the same workers did for others. Each has to come out
 * exact to the nanosecond, whatever the order in which its facts arrive.
 *
 * usage: test_chains [CHAINS [SEED]]: 5,000 of them. A chain that fails is printed as a table of facts.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/timeline.h"
#include "analyse/ledger/walk.h"
#include "model/report.h"
#include "rnd.h"
#include "tap.h"
#include "wire.h"

#define APP	    100
#define FIRST	    1000000 /* when the call begins */
#define LONG	    40000   /* ns that it takes, at most */
#define DEPTH_MAX   6
#define FACTS_MAX   1024
#define CHOICES_MAX 512
#define TAGS	    4 /* few, so that requests reuse addresses */
#define SDA	    WIRE_DEV(8, 0)

/* ---- what is chosen: a row of numbers, all 0 for the simplest chain ---- */

static uint16_t choice[CHOICES_MAX];
static size_t next_choice, n_choices;

/* 0 to most */
static uint32_t pick(uint32_t most)
{
	return next_choice < n_choices ? choice[next_choice++] % (most + 1) : 0;
}

/* A time in (from, to), if there is one. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from + 1 ? from + 1 + (pick(UINT16_MAX) * (to - from - 2) >> 16) : from;
}

/* ---- the chain: facts, and the truth about them ---- */

union fact {
	struct wire_head head;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_work work;
};

static union fact fact[FACTS_MAX];
static size_t n_facts;
static struct ledger truth;
static uint32_t next_tid;
static uint64_t next_rq;

static void add(const void *record, uint16_t kind, size_t size)
{
	union fact *f = &fact[n_facts];

	if (n_facts == FACTS_MAX)
		return;
	n_facts++;
	memcpy(f, record, size);
	f->head.kind = kind;
	f->head.size = (uint16_t)size;
}

static void spent(enum cause cause, uint64_t from, uint64_t to)
{
	truth.ns[cause] += to > from ? to - from : 0;
}

/* A task that is walked: all that it does is known, from `seq` on. */
struct actor {
	uint32_t tid, seq;
	uint32_t work; /* a worker: the number of its work; else 0 */
	uint32_t kind;
};

static struct actor new_actor(uint32_t kind, uint64_t since)
{
	struct actor a = { .tid = ++next_tid, .seq = pick(9) + 2, .kind = kind };
	struct wire_follow f = { .since = since, .tid = a.tid, .tgid = a.tid, .kind = kind };

	strcpy(f.comm, kind == TASK_KWORKER ? "kworker/u8:1" : "helper");
	add(&f, WIRE_FOLLOW, sizeof(f));
	return a;
}

static void add_sleep(struct actor *a, struct wire_sleep s)
{
	s.tid = a->tid;
	s.seq = a->seq++;
	add(&s, WIRE_SLEEP, WIRE_SLEEP_SHORT);
}

/* Of no meaning to anybody, ended by an interrupt. */
static void doze(struct actor *a, uint64_t off, uint64_t on, bool idle)
{
	add_sleep(a, (struct wire_sleep){ .off = off, .wake = on, .on = on, .how = HOW_IRQ, .idle = idle });
}

/* How the sleep ended, or by whom the work was queued. */
struct end {
	uint8_t how, kind;
	uint32_t who;
	uint64_t rq, done;
};

static struct end by_actor(const struct actor *a)
{
	return (struct end){ HOW_TASK, (uint8_t)a->kind, a->tid, (uint64_t)a->work << 32 | a->seq, 1 };
}

static struct end wait_for(uint32_t sleeper, uint64_t from, uint64_t to, int depth);

/* What `a` does in [from, to): it runs, but for some sleeps. */
static void act(struct actor *a, uint64_t from, uint64_t to, int depth)
{
	uint32_t sleeps = to - from > 64 ? pick(3) : 0;

	for (uint32_t i = 0; i < sleeps && to - from > 16; i++) {
		uint64_t off = between(from, from + (to - from) / 2), wake = off, on;
		struct end e = { .how = HOW_PREEMPTED };

		if (depth < DEPTH_MAX && pick(3)) {
			wake = between(off, to - 1);
			e = wait_for(a->tid, off, wake, depth + 1);
		}
		on = pick(1) || wake == off ? between(wake, to) : wake;
		spent(CAUSE_CPU, from, off);
		spent(CAUSE_RUNQ, wake, on);
		add_sleep(a, (struct wire_sleep){ .off = off,
						  .wake = wake,
						  .on = on,
						  .how = e.how,
						  .waker = e.who,
						  .waker_kind = e.kind,
						  .rq = e.rq,
						  .done = e.done });
		from = on;
	}
	spent(CAUSE_CPU, from, to);
}

/* ---- requests ---- */

/* A time of the request's life in [from, to): after the sleep began, or before. */
static uint64_t stage(uint64_t *from, uint64_t to, enum cause cause)
{
	uint64_t time = between(*from, to);

	spent(cause, *from, time);
	*from = time;
	return time;
}

/* Begun, issued by somebody who is followed or not, and done. */
static struct wire_step step(uint64_t *at, uint64_t to, enum cause before, enum cause queued, enum cause device)
{
	struct wire_step s = { .begin = stage(at, to, before) };

	if (pick(1)) {
		s.issuer = ++next_tid;
		s.issuer_wake = stage(at, to, CAUSE_COMPLETION);
		s.issuer_on = stage(at, to, CAUSE_RUNQ);
		s.issue = stage(at, to, CAUSE_CPU);
	} else {
		s.issue = stage(at, to, queued);
	}
	s.done = stage(at, to, device);
	return s;
}

/* Until `time` its sender did something else. */
static uint64_t sent_by_another(struct wire_request *r, uint64_t from, uint64_t to, int depth)
{
	struct actor a = new_actor(TASK_KTHREAD, from - 500);
	uint64_t time = between(from, from + (to - from) / 2);

	doze(&a, from - 300, from - 200, false);
	r->tid = r->tgid = a.tid;
	act(&a, from, time, depth + 1);
	doze(&a, to + 50, to + 60, false); /* known to have run until then */
	return time;
}

static struct end for_request(uint32_t sleeper, uint64_t from, uint64_t to, int depth)
{
	struct wire_request r = { .rq = ++next_rq % TAGS + 1, .dev = SDA, .disk = SDA, .tid = sleeper, .tgid = sleeper };
	uint32_t sort = pick(3);
	uint64_t at = from;

	r.class = sort == 1 ? WIRE_WRITE_BARRIER : sort == 2 ? WIRE_FLUSH : WIRE_WRITE_SYNC;
	r.alloc = from - 20;
	if (depth < DEPTH_MAX && pick(1))
		r.alloc = at = sent_by_another(&r, from, to, depth);
	if (sort == 1) {
		r.flags = REQUEST_SEQUENCE;
		r.pre = step(&at, to, CAUSE_FLUSH_WAIT, CAUSE_IOQ, CAUSE_FLUSH_PRE);
		r.data.begin = stage(&at, to, CAUSE_COMPLETION);
		r.data.issue = stage(&at, to, CAUSE_IOQ);
		r.data.done = stage(&at, to, CAUSE_DEVICE_WRITE);
		if (pick(1))
			r.post = step(&at, to, CAUSE_FLUSH_WAIT, CAUSE_COMPLETION, CAUSE_FLUSH_POST);
	} else if (sort == 2) {
		r.flags = REQUEST_ONLY;
		r.pre = step(&at, to, CAUSE_FLUSH_WAIT, CAUSE_IOQ, CAUSE_FLUSH_ONLY);
	} else {
		r.data.begin = at; /* out of its sender's plug at once */
		r.data.issue = stage(&at, to, CAUSE_IOQ);
		r.data.done = stage(&at, to, CAUSE_DEVICE_WRITE);
	}
	r.done = at;
	spent(CAUSE_COMPLETION, at, to);
	add(&r, WIRE_REQUEST, sizeof(r));
	return (struct end){ .how = HOW_REQUEST, .rq = r.rq, .done = r.done };
}

/* ---- tasks and works ---- */

static struct end for_task(uint64_t from, uint64_t to, int depth)
{
	struct actor a = new_actor(TASK_KTHREAD, from - 500);

	doze(&a, from - 300, from - 200, false);
	act(&a, from, to, depth);
	return by_actor(&a);
}

/* A worker comes to it out of an idle sleep, or from other work, of which only that matters that it was not to be had. */
static void come_to_work(struct actor *a, uint64_t from, uint64_t queued, uint64_t begun)
{
	uint64_t wake, on;

	if (pick(1) && begun > queued + 4) {
		wake = between(queued, begun - 2);
		on = between(wake, begun);
		doze(a, from - 300, from - 200, false);
		add_sleep(a, (struct wire_sleep){ .off = from - 100, .wake = wake, .on = on, .how = HOW_IRQ, .idle = 1 });
		spent(CAUSE_WORKER, queued, wake);
		spent(CAUSE_RUNQ, wake, on);
		spent(CAUSE_WORKER, on, begun);
		return;
	}
	doze(a, from - 90, from - 80, true);
	for (uint32_t i = pick(2); i > 0 && from + 4 < begun; i--) {
		on = between(from, begun);
		doze(a, from, on, false);
		a->seq += pick(1); /* and not all of it is known */
		from = on + 1;
	}
	spent(CAUSE_WORKER, queued, begun);
}

static struct end for_work(uint32_t sleeper, uint64_t from, uint64_t to, int depth)
{
	struct actor a = new_actor(TASK_KWORKER, from - 500);
	struct wire_work k = { .tid = a.tid, .no = pick(9) + 1, .how = HOW_TASK };
	uint64_t queued = between(from, from + (to - from) / 2);
	struct end e;

	k.begun = between(queued, to);
	k.queued = queued;
	if (!pick(3)) { /* from before the sleep */
		k.queued = queued = from - 40;
		spent(CAUSE_WORKER, from, k.begun);
		doze(&a, from - 90, from - 80, false);
	} else {
		come_to_work(&a, from, queued, k.begun);
	}
	k.seq = a.seq;
	if (k.queued > from) {
		e = wait_for(sleeper, from, queued, depth + 1);
		k.how = e.how;
		k.by = e.who;
		k.by_kind = e.kind;
		k.rq = e.rq;
		k.done = e.done;
	}
	a.work = k.no;
	add(&k, WIRE_WORK, sizeof(k));
	act(&a, k.begun, to, depth);
	return by_actor(&a);
}

/* Each takes one step further down; a work that waits for what queued it, two. */
static struct end wait_for(uint32_t sleeper, uint64_t from, uint64_t to, int depth)
{
	uint32_t what = depth < DEPTH_MAX ? pick(2) : 0;

	if (what == 2 && to - from > 64)
		return for_work(sleeper, from, to, depth);
	if (what)
		return for_task(from, to, depth);
	return for_request(sleeper, from, to, depth);
}

/* ---- one chain ---- */

static void make_chain(struct wire_sync *call)
{
	struct actor app = { .tid = APP, .kind = TASK_USER };

	next_choice = n_facts = 0;
	next_tid = 2 * APP;
	next_rq = 0;
	memset(&truth, 0, sizeof(truth));
	*call = (struct wire_sync){ .tid = APP, .tgid = APP, .enter = FIRST };
	call->exit = FIRST + 100 + pick(LONG - 100);
	act(&app, call->enter, call->exit, 0);
	call->sleeps = call->switches = (uint16_t)app.seq;
}

static bool comes_out(struct wire_sync *call, struct ledger *got, uint64_t order)
{
	struct timeline *tl = tl_new(NULL, 0);
	struct walk *w = walk_new(tl);
	const struct walk_result *r;
	bool good;

	/* facts of many CPUs come in any order: with a step that has no factor in common with their number, from anywhere */
	for (size_t i = 0; i < n_facts; i++) {
		const union fact *f = &fact[order % 3 ? (i + order) % n_facts : n_facts - 1 - i];

		switch (f->head.kind) {
		case WIRE_SLEEP: tl_add_sleep(tl, &f->sleep); break;
		case WIRE_REQUEST: tl_add_request(tl, &f->request); break;
		case WIRE_FOLLOW: tl_add_follow(tl, &f->follow); break;
		case WIRE_WORK: tl_add_work(tl, &f->work); break;
		}
	}
	good = walk_call(w, call, &r) && !r->mended;
	if (good)
		*got = r->ledger;
	walk_free(w);
	tl_free(tl);
	return good && !memcmp(got, &truth, sizeof(truth));
}

static bool fails(struct wire_sync *call, struct ledger *got, uint64_t order)
{
	memset(got, 0, sizeof(*got));
	make_chain(call);
	return n_facts < FACTS_MAX && !comes_out(call, got, order);
}

static void show_fact(const union fact *f)
{
	const struct wire_request *r = &f->request;

	switch (f->head.kind) {
	case WIRE_SLEEP:
		diag("sleep tid=%u seq=%u off=%lu wake=%lu on=%lu how=%u waker=%u kind=%u rq=%#lx done=%lu idle=%u",
		     f->sleep.tid, f->sleep.seq, f->sleep.off, f->sleep.wake, f->sleep.on, f->sleep.how, f->sleep.waker,
		     f->sleep.waker_kind, f->sleep.rq, f->sleep.done, f->sleep.idle);
		break;
	case WIRE_REQUEST:
		diag("request rq=%lu tid=%u alloc=%lu done=%lu flags=%u class=%u pre=%lu,%lu,%lu data=%lu,%lu,%lu post=%lu,%lu,%lu",
		     r->rq, r->tid, r->alloc, r->done, r->flags, r->class, r->pre.begin, r->pre.issue, r->pre.done,
		     r->data.begin, r->data.issue, r->data.done, r->post.begin, r->post.issue, r->post.done);
		break;
	case WIRE_FOLLOW:
		diag("follow tid=%u since=%lu kind=%u", f->follow.tid, f->follow.since, f->follow.kind);
		break;
	case WIRE_WORK:
		diag("work tid=%u no=%u seq=%u queued=%lu begun=%lu how=%u by=%u rq=%#lx done=%lu", f->work.tid, f->work.no,
		     f->work.seq, f->work.queued, f->work.begun, f->work.how, f->work.by, f->work.rq, f->work.done);
	}
}

static void show(const struct wire_sync *call, const struct ledger *got)
{
	diag("call enter=%lu exit=%lu", call->enter, call->exit);
	for (size_t i = 0; i < n_facts; i++)
		show_fact(&fact[i]);
	for (int c = 0; c < CAUSE_COUNT; c++)
		if (got->ns[c] != truth.ns[c])
			diag("%s %llu, expected %llu", cause_rows[c].name, (unsigned long long)got->ns[c],
			     (unsigned long long)truth.ns[c]);
}

int main(int argc, char **argv)
{
	unsigned long chains = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000, done = 0, works = 0, deep = 0;
	struct wire_sync call;
	struct ledger got;

	seed ^= argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	for (; done < chains; done++) {
		uint64_t order = rnd();

		n_choices = CHOICES_MAX;
		for (size_t i = 0; i < n_choices; i++)
			choice[i] = (uint16_t)rnd();
		if (fails(&call, &got, order)) {
			show(&call, &got);
			break;
		}
		works += truth.ns[CAUSE_WORKER] > 0;
		deep += n_facts > 20;
	}
	ok(done == chains, "%lu of %lu chains come out as they were made", done, chains);
	ok(works > chains / 10 && deep > chains / 10, "many with works (%lu), and of many facts (%lu)", works, deep);
	return tap_done();
}
