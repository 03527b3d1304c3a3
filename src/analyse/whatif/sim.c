// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does, as far as it makes one caller wait for another:
 * - jbd2 (fs/jbd2/commit.c): one commit at a time takes everything that was changed before it began; who comes later waits
 *   for the next one, together with all others who do. A file that is synced changes last when its data has been written:
 *   then its blocks become valid (ext4_end_io).
 * - The blocks that a commit writes can't be changed until they are written (BH_Shadow in fs/jbd2/transaction.c).
 * - blk-flush (block/blk-flush.c): one FLUSH is in the device at a time and serves all who waited when it was started (C1);
 *   none is started while data of a barrier write is on its way (C2).
 * - Many a device begins nothing while it flushes.
 * - n tasks that compute on c CPUs get min(1, c/n) of one each (processor sharing).
 * Otherwise device writes of different tasks don't disturb each other.
 */
#include "analyse/whatif/sim.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define NONE	 UINT32_MAX
#define FRACTION 10 /* bits of the CPUs' clock below a nanosecond */

/* clang-format off */
enum state {
	/* a task */
	S_START, S_FREE, S_GAP, S_OWN, S_COMMIT, S_FLUSH, S_SECOND, S_HOP, S_TAIL, S_END,
	/* the journal */
	S_IDLE, S_WAKE, S_BEFORE, S_PRE, S_DATA, S_POST, S_AFTER,
	/* the device's FLUSH */
	S_FLUSHING,
};
/* clang-format on */

struct actor {
	enum state state;
	uint32_t call;	  /* a task's: the one that it is in */
	uint32_t next;	  /* of a list: waiting for a commit, or for a FLUSH */
	uint64_t tid;	  /* the commit that it needs */
	uint64_t delay;	  /* to come after the CPU time */
	bool writes;	  /* and it is a write, among others */
	uint32_t service; /* of the FLUSH that it waits for */
};

/* A heap by time, then by order of arrival. */
struct entry {
	uint64_t time, order;
	uint32_t actor;
};

struct heap {
	struct entry *e;
	uint32_t n;
};

struct sim {
	const struct sim_input *in;
	const struct sim_without *without;
	uint32_t *follows;   /* the call of the same task after this one */
	struct actor *actor; /* tasks, then the journal, then the device */
	uint32_t journal, device;
	struct heap events, jobs; /* delays, by time; CPU times, by the CPUs' clock */
	uint64_t now, order, clock;
	struct pace_sum *rests;
	uint64_t idle_since;   /* the last CPU time ended; 0: none has */
	uint64_t longest_rest; /* since a call began */
	/* the journal */
	uint64_t running, committed; /* what changes now, and what has been committed: numbers of commits */
	bool wanted;		     /* somebody waits for the running one */
	const struct sim_commit *commit;
	uint64_t n_done;
	uint32_t committing_list; /* who waits for a commit */
	/* the device */
	uint32_t pending, served, last_pending;
	bool flushing, data_in_flight;
	uint32_t held, blocked; /* writes that came while it flushed; tasks that want to change blocks that are being written */
	uint32_t usual_flush;
	struct sim_phase usual_hop;
};

/* ---- heaps ---- */

static bool before(const struct entry *a, const struct entry *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct heap *h, struct entry e)
{
	uint32_t i = h->n++;

	for (; i && before(&e, &h->e[(i - 1) / 2]); i = (i - 1) / 2)
		h->e[i] = h->e[(i - 1) / 2];
	h->e[i] = e;
}

static struct entry pop(struct heap *h)
{
	struct entry top = h->e[0], last = h->e[--h->n];
	uint32_t i = 0, least;

	for (; (least = 2 * i + 1) < h->n; i = least) {
		if (least + 1 < h->n && before(&h->e[least + 1], &h->e[least]))
			least++;
		if (!before(&h->e[least], &last))
			break;
		h->e[i] = h->e[least];
	}
	h->e[i] = last;
	return top;
}

/* ---- time ---- */

static void wait(struct sim *s, uint32_t actor, uint64_t ns)
{
	push(&s->events, (struct entry){ s->now + ns, s->order++, actor });
}

static void compute(struct sim *s, uint32_t actor, uint64_t ns)
{
	if (!s->jobs.n && s->idle_since && s->now - s->idle_since > s->longest_rest)
		s->longest_rest = s->now - s->idle_since;
	push(&s->jobs, (struct entry){ s->clock + (ns << FRACTION), s->order++, actor });
}

static uint64_t crowd(const struct sim *s)
{
	return s->jobs.n > s->in->cpus ? s->jobs.n : s->in->cpus;
}

static uint64_t job_done(const struct sim *s)
{
	uint64_t end = s->jobs.e[0].time, left = end > s->clock ? end - s->clock : 0; /* it may be a rounding too late */

	return s->now + (((left * crowd(s) + s->in->cpus - 1) / s->in->cpus + (1 << FRACTION) - 1) >> FRACTION);
}

static void advance(struct sim *s, uint64_t to)
{
	s->clock += ((to - s->now) << FRACTION) * s->in->cpus / crowd(s);
	s->now = to;
}

static uint64_t paced(uint64_t ns, double pace)
{
	return pace > 0 ? (uint64_t)((double)ns * pace) : ns;
}

static uint64_t kind_ns(const struct sim *s, const struct sim_phase *p, enum sim_kind k)
{
	if (s->without->kind[k])
		return 0;
	if (k == SIM_CPU || k == SIM_COMPLETION)
		return paced(p->ns[k], s->without->work);
	return k == SIM_WAKE ? paced(p->ns[k], s->without->wake) : p->ns[k];
}

static uint64_t passing(const struct sim *s, const struct sim_phase *p)
{
	uint64_t ns = 0;

	for (int k = 0; k < SIM_KINDS; k++)
		if (k != SIM_CPU)
			ns += kind_ns(s, p, (enum sim_kind)k);
	return ns;
}

/* CPU time first, then what just passes; the actor's state says what comes then. A commit always writes its blocks. */
static void run_phase(struct sim *s, uint32_t i, enum state state, const struct sim_phase *p)
{
	uint64_t beside = s->in->beside < p->ns[SIM_WRITE] ? s->in->beside : p->ns[SIM_WRITE];

	s->actor[i].state = state;
	s->actor[i].delay = passing(s, p) - beside;
	s->actor[i].writes = p->ns[SIM_WRITE] > 0 || state == S_BEFORE;
	compute(s, i, kind_ns(s, p, SIM_CPU) + paced(beside, s->without->work));
}

/* ---- the device ---- */

static void kick(struct sim *s)
{
	if (s->flushing || s->data_in_flight || s->pending == NONE)
		return;
	s->served = s->pending;
	s->pending = s->last_pending = NONE;
	s->flushing = true;
	wait(s, s->device, s->actor[s->served].service);
}

static void want_flush(struct sim *s, uint32_t i, enum state state, uint32_t service)
{
	s->actor[i].state = state;
	s->actor[i].service = service;
	s->actor[i].next = NONE;
	if (s->pending == NONE)
		s->pending = i;
	else
		s->actor[s->last_pending].next = i;
	s->last_pending = i;
	kick(s);
}

static void step(struct sim *s, uint32_t i);

static void flush_done(struct sim *s)
{
	uint32_t served = s->served, held = s->held, next;

	s->flushing = false;
	s->held = NONE;
	for (uint32_t i = held; i != NONE; i = next) {
		next = s->actor[i].next;
		wait(s, i, s->actor[i].delay);
	}
	for (uint32_t i = served; i != NONE; i = next) {
		next = s->actor[i].next;
		step(s, i);
		/* as the kernel does, after each: the data of a barrier write that comes later in the list is kept back */
		kick(s);
	}
}

/* ---- the journal ---- */

/* From here on changes belong to the next commit. */
static void start_commit(struct sim *s)
{
	struct sim_phase rest = s->commit->before;

	rest.ns[SIM_RUNQ] = rest.ns[SIM_WAKE] = 0;
	s->wanted = false;
	s->running++;
	run_phase(s, s->journal, S_BEFORE, &rest);
}

/* Its thread has to be woken, wherever in `before` it waited for a CPU: who comes until it runs is still in time. */
static void wake_journal(struct sim *s)
{
	s->commit = &s->in->commit[s->n_done++ % s->in->n_commits];
	s->actor[s->journal].state = S_WAKE;
	wait(s, s->journal, kind_ns(s, &s->commit->before, SIM_RUNQ) + kind_ns(s, &s->commit->before, SIM_WAKE));
}

static void end_commit(struct sim *s)
{
	uint32_t list = s->committing_list, next;

	s->actor[s->journal].state = S_IDLE;
	s->committed = s->running - 1;
	s->committing_list = NONE;
	for (uint32_t i = list; i != NONE; i = next) {
		next = s->actor[i].next;
		if (s->actor[i].tid <= s->committed) {
			step(s, i);
		} else {
			s->actor[i].next = s->committing_list;
			s->committing_list = i;
		}
	}
	if (s->wanted && s->actor[s->journal].state == S_IDLE)
		wake_journal(s);
}

/* Its blocks are written: now comes the record. */
static void blocks_written(struct sim *s)
{
	uint32_t list = s->blocked, next;

	s->blocked = NONE;
	for (uint32_t i = list; i != NONE; i = next) {
		next = s->actor[i].next;
		step(s, i);
	}
}

static void data_phase(struct sim *s)
{
	s->data_in_flight = true;
	run_phase(s, s->journal, S_DATA, &s->commit->data);
}

static void step_journal(struct sim *s)
{
	bool none = s->without->flush;

	switch (s->actor[s->journal].state) {
	case S_WAKE: start_commit(s); break;
	case S_BEFORE:
		s->actor[s->journal].state = S_PRE;
		blocks_written(s);
		if (s->commit->pre && !none)
			want_flush(s, s->journal, S_PRE, s->commit->pre);
		else
			data_phase(s);
		break;
	case S_PRE: data_phase(s); break;
	case S_DATA:
		s->data_in_flight = false;
		if (s->commit->post && !none && !s->without->post) {
			want_flush(s, s->journal, S_POST, s->commit->post);
			break;
		}
		run_phase(s, s->journal, S_AFTER, &s->commit->after);
		kick(s);
		break;
	case S_POST: run_phase(s, s->journal, S_AFTER, &s->commit->after); break;
	default: end_commit(s);
	}
}

/* ---- a task ---- */

static const struct sim_call *call_of(const struct sim *s, uint32_t i)
{
	return &s->in->call[s->actor[i].call];
}

static void second_flush(struct sim *s, uint32_t i)
{
	const struct sim_call *c = call_of(s, i);

	if (c->post && !s->without->post)
		want_flush(s, i, S_SECOND, c->post);
	else
		run_phase(s, i, S_HOP, c->flush || c->post ? &c->hop : &s->usual_hop);
}

static void empty_flush(struct sim *s, uint32_t i, uint32_t service)
{
	const struct sim_call *c = call_of(s, i);

	if (s->without->flush || (!service && !c->post))
		run_phase(s, i, S_TAIL, &c->tail);
	else if (service)
		want_flush(s, i, S_FLUSH, service);
	else
		second_flush(s, i);
}

static void want_commit(struct sim *s, uint32_t i)
{
	struct actor *a = &s->actor[i];

	/* another's commit took its changes along: its own data still lies in the cache (ext4_fsync_journal) */
	if (a->tid <= s->committed) {
		empty_flush(s, i, s->usual_flush);
		return;
	}
	a->state = S_COMMIT;
	a->next = s->committing_list;
	s->committing_list = i;
	if (a->tid == s->running)
		s->wanted = true;
	if (s->wanted && s->actor[s->journal].state == S_IDLE)
		wake_journal(s);
}

/* Before its call, does it have to wait until blocks are written? At the beginning of what it does then, or at the end. */
static bool is_blocked(struct sim *s, uint32_t i)
{
	if (!call_of(s, i)->blocked || s->actor[s->journal].state != S_BEFORE)
		return false;
	s->actor[i].next = s->blocked;
	s->blocked = i;
	return true;
}

static void call_begins(struct sim *s)
{
	if (s->rests)
		pace_add(s->rests, s->longest_rest);
	s->longest_rest = 0;
}

static void next_call(struct sim *s, uint32_t i)
{
	struct actor *a = &s->actor[i];

	a->call = s->follows[a->call];
	a->state = S_END;
	if (a->call == NONE)
		return;
	a->state = S_FREE;
	if (!is_blocked(s, i))
		step(s, i);
}

static void step(struct sim *s, uint32_t i)
{
	struct actor *a = &s->actor[i];
	const struct sim_call *c;

	if (i == s->journal) {
		step_journal(s);
		return;
	}
	if (i == s->device) {
		flush_done(s);
		return;
	}
	c = call_of(s, i);
	switch (a->state) {
	case S_FREE:
		a->state = S_GAP;
		a->delay = c->sleep + (s->without->kind[SIM_RUNQ] ? 0 : c->gap_wait);
		a->writes = false;
		compute(s, i, c->busy ? paced(c->gap, s->without->work) : c->gap);
		break;
	case S_GAP:
		if (is_blocked(s, i))
			break;
		/* fall through */
	case S_START:
		call_begins(s);
		a->tid = c->before ? s->committed + 1 : s->running;
		run_phase(s, i, S_OWN, &c->own);
		break;
	case S_OWN:
		if (!c->before)
			a->tid = s->running;
		if (c->commit && s->in->n_commits)
			want_commit(s, i);
		else
			empty_flush(s, i, c->flush);
		break;
	case S_COMMIT: empty_flush(s, i, c->flush); break;
	case S_FLUSH: second_flush(s, i); break;
	case S_SECOND: run_phase(s, i, S_HOP, &c->hop); break;
	case S_HOP: run_phase(s, i, S_TAIL, &c->tail); break;
	default: next_call(s, i);
	}
}

/* ---- all ---- */

static void usual(struct sim *s)
{
	uint64_t n = 0, flush = 0, hop[SIM_KINDS] = { 0 };

	for (size_t i = 0; i < s->in->n_calls; i++) {
		const struct sim_call *c = &s->in->call[i];

		if (!c->flush)
			continue;
		n++;
		flush += c->flush;
		for (int k = 0; k < SIM_KINDS; k++)
			hop[k] += c->hop.ns[k];
	}
	if (!n)
		return;
	s->usual_flush = (uint32_t)(flush / n);
	for (int k = 0; k < SIM_KINDS; k++)
		s->usual_hop.ns[k] = (uint32_t)(hop[k] / n);
}

static void set_up(struct sim *s)
{
	uint32_t n = s->in->n_tasks;
	uint32_t *last = xcalloc(n, sizeof(*last));

	s->journal = n;
	s->device = n + 1;
	s->running = 1;
	s->pending = s->last_pending = s->committing_list = s->held = s->blocked = NONE;
	s->follows = xcalloc(s->in->n_calls, sizeof(*s->follows));
	s->actor = xcalloc(n + 2, sizeof(*s->actor));
	s->events.e = xcalloc(n + 2, sizeof(*s->events.e));
	s->jobs.e = xcalloc(n + 2, sizeof(*s->jobs.e));
	for (uint32_t i = 0; i < n; i++)
		s->actor[i].call = last[i] = NONE;
	for (uint32_t i = 0; i < s->in->n_calls; i++) {
		uint32_t task = s->in->call[i].task;

		if (last[task] == NONE)
			s->actor[task].call = i;
		else
			s->follows[last[task]] = i;
		s->follows[i] = NONE;
		last[task] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		s->actor[i].state = s->actor[i].call == NONE ? S_END : S_START;
		if (s->actor[i].call != NONE)
			wait(s, i, call_of(s, i)->gap);
	}
	s->actor[s->journal].state = S_IDLE;
	s->actor[s->device].state = S_FLUSHING;
	free(last);
}

/* The end of CPU time, then of the time that passes after it. */
static void computed(struct sim *s, uint32_t i)
{
	struct actor *a = &s->actor[i];

	if (a->writes && s->in->holds_writes && s->flushing) {
		a->next = s->held;
		s->held = i;
	} else if (a->delay) {
		wait(s, i, a->delay);
	} else {
		step(s, i);
	}
}

static void run(struct sim *s)
{
	while (s->jobs.n || s->events.n) {
		uint64_t job = s->jobs.n ? job_done(s) : UINT64_MAX;

		if (s->events.n && s->events.e[0].time <= job) {
			advance(s, s->events.e[0].time);
			step(s, pop(&s->events).actor);
		} else {
			advance(s, job);
			s->idle_since = s->now;
			computed(s, pop(&s->jobs).actor);
		}
	}
}

uint64_t sim_run(const struct sim_input *in, const struct sim_without *without, struct pace_sum *rests)
{
	struct sim s = { .in = in, .without = without, .rests = rests };

	if (!in->n_calls)
		return 0;
	set_up(&s);
	usual(&s);
	run(&s);
	free(s.follows);
	free(s.actor);
	free(s.events.e);
	free(s.jobs.e);
	return s.now;
}
