// SPDX-License-Identifier: GPL-2.0-only
/*
 * The prediction is wall time - span + span * without / observed: `span` is the run from its first sync call to its last,
 * `observed` and `without` are what the simulation makes of it as it was and with a family taken away. What the simulation
 * doesn't know of is in both, and cancels out. With a single task nobody waits for anybody, and the prediction is
 * the wall time less what goes away.
 *
 * What a flush costs beside itself and how it is seen:
 * - the way to the device and back: all that lies between an empty flush's allocation and its sender's running again, and
 *   between the steps of a barrier write;
 * - writes that a device holds until it has flushed: release_writes();
 * - changes that wait for such a write of the journal: unblock();
 * - commits and FLUSHes that are shared, or that come too early: sim.c;
 * - CPUs that are slower after a long sleep: left_without();
 * - writes that get slower when CPUs get busier: share_kernel_time().
 * Not seen: what tasks do between calls while they hold a lock that others want.
 */
#include "analyse/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "analyse/whatif/sim.h"

#define STRETCH	      1024u /* calls in a row */
#define STRETCHES     16u   /* kept; of longer runs every second, every fourth.. stretch is kept */
#define FLUSHES	      2048u /* of a stretch */
#define COMMITS_BACK  8u    /* a commit is looked for among so many last ones */
#define PACE_ROUNDS   3
#define DRIVER_MAX_NS 100000u /* CPU time of a request: more is not its own */
#define WAKE_MAX_NS   100000u /* who is woken and runs after a longer time has waited for others */
#define SHARE_MIN     0.01    /* of the ledger, for a family to be worth a prediction */

/* ---- types ---- */

struct interval {
	uint64_t from, to;
};

struct kept {
	struct sim_call c;
	struct interval write; /* from its first own write to the last */
	uint64_t enter, exit;
	struct whatif_gap gap;
	uint32_t tid;
	uint32_t commit; /* index + 1 */
};

struct kept_commit {
	struct sim_commit c;
	struct interval blocks; /* from its beginning until its blocks were written */
	struct interval write;	/* of the blocks, from the first to the last */
	struct interval data;	/* of the record */
	uint64_t key;		/* the end of its barrier write */
	uint64_t seen;		/* how much of it was seen by the one who saw most of it */
	uint64_t after_from;	/* while a call is read: the next commit, perhaps */
	struct interval after_write;
};

struct stretch {
	uint64_t number; /* of all stretches of the run */
	uint32_t n_calls, n_commits, n_flushes;
	struct kept call[STRETCH];
	struct kept_commit commit[STRETCH];
	struct interval flush[FLUSHES];
};

struct whatif {
	struct stretch *stretch[STRETCHES]; /* behind the n in use: NULL, or one to use again, for memory to stay as it is */
	uint32_t n;
	uint64_t skip; /* every so many stretches one is kept */
	uint64_t calls;
	uint64_t first, last; /* from the first call's enter to the last exit */
	bool cpu[4096];
	uint32_t n_cpus;
};

/* ---- what is kept ---- */

static const uint8_t cause_kinds[CAUSE_COUNT] = {
	/* enum sim_kind */
	[CAUSE_CPU] = SIM_CPU,
	[CAUSE_RUNQ] = SIM_RUNQ,
	[CAUSE_WORKER] = SIM_RUNQ,
	[CAUSE_COMPLETION] = SIM_COMPLETION,
	[CAUSE_TAG] = SIM_IO_QUEUE,
	[CAUSE_IOQ] = SIM_IO_QUEUE,
	[CAUSE_THROTTLE] = SIM_THROTTLE,
	[CAUSE_DEVICE_WRITE] = SIM_WRITE,
	[CAUSE_DEVICE_FUA] = SIM_WRITE,
	[CAUSE_DEVICE_READ] = SIM_DELAY,
	[CAUSE_DEVICE_DISCARD] = SIM_DELAY,
	[CAUSE_DEVICE_OTHER] = SIM_DELAY,
	[CAUSE_FLUSH_WAIT] = SIM_DELAY,
	[CAUSE_FLUSH_PRE] = SIM_DELAY,
	[CAUSE_FLUSH_POST] = SIM_DELAY,
	[CAUSE_FLUSH_ONLY] = SIM_DELAY,
	[CAUSE_JOURNAL] = SIM_DELAY,
	[CAUSE_LOCK] = SIM_DELAY,
	[CAUSE_UNKNOWN] = SIM_DELAY,
};

static inline enum sim_kind kind_of(const struct walk_slice *s)
{
	return s->cause == CAUSE_RUNQ && s->ns <= WAKE_MAX_NS ? SIM_WAKE : cause_kinds[s->cause];
}

static uint32_t sum(uint32_t a, uint64_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

static inline void spend(struct sim_phase *p, const struct walk_slice *s)
{
	uint32_t *to = &p->ns[kind_of(s)];

	*to = sum(*to, s->ns);
}

static bool is_journal(const struct walk_slice *s)
{
	return s->barrier || (s->part == PART_JOURNAL && s->via);
}

/* A call while its slices are read, in the order of time. */
struct reading {
	struct kept *call;
	struct kept_commit commit; /* the last one that it waited for */
	uint64_t time;		   /* where the slice begins */
};

/* From the first to the last write. What is not known of the journal's thread is a write too, more often than not. */
static void note_write(struct interval *i, const struct reading *r, const struct walk_slice *s)
{
	if (kind_of(s) != SIM_WRITE && s->cause != CAUSE_UNKNOWN)
		return;
	if (!i->from)
		i->from = r->time;
	i->to = r->time + s->ns;
}

/* The last commit was not the one: the next began when it ended. */
static void next_commit(struct reading *r, uint64_t key)
{
	struct kept_commit *k = &r->commit;

	if (k->key)
		*k = (struct kept_commit){ .c.before = k->c.after, .write = k->after_write, .blocks.from = k->after_from };
	k->key = key;
	if (!k->blocks.from)
		k->blocks.from = r->time;
	k->blocks.to = r->time;
}

static void read_blocks(struct reading *r, const struct walk_slice *s)
{
	struct kept_commit *k = &r->commit;

	if (k->key) {
		if (!k->after_from)
			k->after_from = r->time;
		spend(&k->c.after, s);
		note_write(&k->after_write, r, s);
		return;
	}
	if (!k->blocks.from)
		k->blocks.from = r->time;
	spend(&k->c.before, s);
	note_write(&k->write, r, s);
}

static void read_journal(struct reading *r, const struct walk_slice *s)
{
	struct kept_commit *k = &r->commit;

	r->call->c.commit = true;
	memset(&r->call->c.tail, 0, sizeof(r->call->c.tail));
	if (s->barrier && s->barrier != k->key)
		next_commit(r, s->barrier);
	k->seen += s->ns;
	switch (s->part) {
	case PART_PRE:
		if (s->cause != CAUSE_FLUSH_WAIT)
			k->c.pre = sum(k->c.pre, s->ns);
		break;
	case PART_DATA:
		spend(&k->c.data, s);
		note_write(&k->data, r, s);
		break;
	case PART_POST:
		if (s->cause != CAUSE_FLUSH_WAIT)
			k->c.post = sum(k->c.post, s->ns);
		break;
	default: read_blocks(r, s);
	}
}

/* A barrier write of the caller's own is its own business except for the flushes. */
static void read_own(struct reading *r, const struct walk_slice *s)
{
	struct sim_call *c = &r->call->c;

	if (s->part == PART_EMPTY || s->part == PART_PRE || s->part == PART_POST) {
		if (cause_family(s->cause) != FAMILY_FLUSH)
			spend(&c->hop, s);
		else if (s->cause == CAUSE_FLUSH_POST)
			c->post = sum(c->post, s->ns);
		else if (s->cause != CAUSE_FLUSH_WAIT)
			c->flush = sum(c->flush, s->ns);
		return;
	}
	if (c->commit || c->flush || c->post) {
		spend(&c->tail, s);
	} else {
		spend(&c->own, s);
		note_write(&r->call->write, r, s);
	}
}

static struct kept_commit *find_commit(struct stretch *st, uint64_t key)
{
	for (uint32_t i = st->n_commits; i-- > 0 && i + COMMITS_BACK >= st->n_commits;)
		if (st->commit[i].key == key)
			return &st->commit[i];
	st->commit[st->n_commits] = (struct kept_commit){ .key = key };
	return &st->commit[st->n_commits++];
}

/* Of those who waited for a commit, the one who waited longest saw most of it. */
static void keep_commit(struct stretch *st, struct kept *call, const struct kept_commit *c)
{
	struct kept_commit *k = find_commit(st, c->key);

	call->commit = (uint32_t)(k - st->commit) + 1;
	if (c->seen >= k->seen)
		*k = *c;
}

static void read_call(struct stretch *st, struct kept *k, const struct walk_result *result)
{
	struct reading r = { .call = k, .time = k->enter };

	for (size_t i = 0; i < result->n; i++) {
		if (is_journal(&result->slice[i]))
			read_journal(&r, &result->slice[i]);
		else
			read_own(&r, &result->slice[i]);
		r.time += result->slice[i].ns;
	}
	if (r.commit.key)
		keep_commit(st, k, &r.commit);
}

/* ---- stretches ---- */

static void thin_out(struct whatif *w)
{
	uint32_t kept = 0;

	w->skip *= 2;
	for (uint32_t i = 0; i < w->n; i++) {
		struct stretch *st = w->stretch[i];

		if (st->number % w->skip)
			continue;
		w->stretch[i] = w->stretch[kept];
		w->stretch[kept++] = st;
	}
	w->n = kept;
}

/* NULL: this call is not kept. */
static struct stretch *stretch_of(struct whatif *w)
{
	uint64_t number = w->calls++ / STRETCH;
	struct stretch *st;

	if (number % w->skip)
		return NULL;
	if (w->n && w->stretch[w->n - 1]->number == number)
		return w->stretch[w->n - 1];
	if (w->n == STRETCHES)
		thin_out(w);
	if (number % w->skip)
		return NULL;
	/* what is in its arrays is written before it is counted: to clear them would cost more than to fill them */
	st = w->stretch[w->n] = xrealloc(w->stretch[w->n], sizeof(*st));
	w->n++;
	st->number = number;
	st->n_calls = st->n_commits = st->n_flushes = 0;
	return st;
}

/* A call that has no ledger: like the one before it, of any task, if there is one. */
static void guess_call(const struct stretch *st, struct kept *k, uint64_t ns)
{
	if (k == st->call) {
		k->c.own.ns[SIM_DELAY] = sum(0, ns);
		return;
	}
	k->c = k[-1].c;
	k->commit = k[-1].commit;
}

void whatif_call(struct whatif *w, const struct wire_sync *s, const struct walk_result *r, struct whatif_gap gap)
{
	struct stretch *st = stretch_of(w);
	struct kept *k;

	if (!w->first || s->enter < w->first)
		w->first = s->enter;
	if (s->exit > w->last)
		w->last = s->exit;
	if (!st)
		return;
	k = &st->call[st->n_calls++];
	if (gap.from > s->enter)
		gap = (struct whatif_gap){ 0 };
	*k = (struct kept){ .enter = s->enter, .exit = s->exit, .gap = gap, .tid = s->tid };
	if (r)
		read_call(st, k, r);
	else
		guess_call(st, k, s->exit - s->enter);
}

static void keep_flush(struct stretch *st, const struct wire_step *s)
{
	/* one FLUSH ends many waits, one after the other */
	if (!s->issue || s->done <= s->issue || st->n_flushes == FLUSHES)
		return;
	if (st->n_flushes && st->flush[st->n_flushes - 1].to == s->done)
		return;
	st->flush[st->n_flushes++] = (struct interval){ s->issue, s->done };
}

void whatif_request(struct whatif *w, const struct wire_request *r)
{
	struct stretch *st = w->n ? w->stretch[w->n - 1] : NULL;

	if (!(r->flags & (REQUEST_SEQUENCE | REQUEST_ONLY)) || !st || st->number != w->calls / STRETCH)
		return;
	keep_flush(st, &r->pre);
	keep_flush(st, &r->post);
}

void whatif_cpu(struct whatif *w, uint32_t cpu)
{
	cpu %= sizeof(w->cpu);
	w->n_cpus += !w->cpu[cpu];
	w->cpu[cpu] = true;
}

/* ---- from stretches to a simulation ---- */

/* Stretches in a row: one simulation. */
struct scene {
	struct sim_call *call;
	const struct kept **from;
	const struct kept_commit **needed; /* by call; NULL: none */
	struct sim_commit *commit;
	const struct kept_commit **from_commit;
	struct interval *flush, *blocks; /* by time */
	uint32_t n_flushes;
	struct lane *lane;
	struct sim_input in;
	uint64_t start;
};

/* Who calls: a task, and those who take its place when it has ended. */
struct lane {
	uint32_t tid;
	bool commit;   /* its last call waited for one */
	uint64_t exit; /* of its last call so far */
	uint32_t left; /* calls of this task still to come */
};

static struct lane *lane_of(struct scene *sc, const struct kept *k)
{
	struct lane *free_lane = NULL;

	for (uint32_t i = 0; i < sc->in.n_tasks; i++) {
		struct lane *l = &sc->lane[i];

		if (l->left && l->tid == k->tid)
			return l;
		if (!k->gap.from && !l->left && l->exit <= k->enter && (!free_lane || l->exit > free_lane->exit))
			free_lane = l;
	}
	if (free_lane)
		return free_lane;
	sc->lane[sc->in.n_tasks] = (struct lane){ .exit = sc->start };
	return &sc->lane[sc->in.n_tasks++];
}

struct caller {
	uint32_t tid, call;
};

static int by_tid(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid) : (x->call > y->call) - (x->call < y->call);
}

/* How many calls each task still makes, by call. */
static uint32_t *calls_left(const struct scene *sc)
{
	struct caller *c = xcalloc(sc->in.n_calls, sizeof(*c));
	uint32_t *left = xcalloc(sc->in.n_calls, sizeof(*left));

	for (uint32_t i = 0; i < sc->in.n_calls; i++)
		c[i] = (struct caller){ sc->from[i]->tid, i };
	qsort(c, sc->in.n_calls, sizeof(*c), by_tid);
	for (uint32_t i = sc->in.n_calls; i-- > 0;)
		left[c[i].call] = i + 1 < sc->in.n_calls && c[i + 1].tid == c[i].tid ? left[c[i + 1].call] + 1 : 1;
	free(c);
	return left;
}

/* Was the commit that satisfied it under way already? Its change was older than the call, then. */
static bool came_late(const struct kept *k, const struct kept_commit *c)
{
	/* of one that nobody saw begin, blocks is empty */
	return k->enter > c->blocks.from || c->blocks.from == c->blocks.to;
}

static void add_call(struct scene *sc, uint32_t i, uint32_t left)
{
	const struct kept *k = sc->from[i];
	struct lane *l = lane_of(sc, k);

	if (!l->left) {
		l->tid = k->tid;
		l->left = left;
	}
	sc->call[i] = k->c;
	sc->call[i].before = sc->needed[i] && came_late(k, sc->needed[i]);
	sc->call[i].task = (uint32_t)(l - sc->lane);
	sc->call[i].gap = k->enter > l->exit ? k->enter - l->exit : 0;
	if (l->exit == k->gap.from && k->gap.waited <= sc->call[i].gap) {
		sc->call[i].gap -= k->gap.waited;
		sc->call[i].gap_wait = sum(0, k->gap.waited);
		sc->call[i].busy = k->gap.busy;
	}
	sc->call[i].after_commit = l->commit;
	l->commit = k->c.commit;
	l->exit = k->exit;
	l->left--;
}

static int by_time(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* The last interval that begins at `time` or before it; NULL: none. */
static const struct interval *last_at(const struct interval *i, uint32_t n, uint64_t time)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (i[mid].from <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &i[lo - 1] : NULL;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The FLUSH that was in the device when the write came; NULL: none. */
static const struct interval *flush_before(const struct scene *sc, const struct interval *write)
{
	const struct interval *f = last_at(sc->flush, sc->n_flushes, write->from);

	return f && f->to > write->from ? f : NULL;
}

static uint64_t median_write(const struct scene *sc)
{
	uint64_t *ns = xcalloc(sc->in.n_calls + 1, sizeof(*ns)), median;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sc->in.n_calls; i++)
		if (sc->from[i]->write.to && !flush_before(sc, &sc->from[i]->write))
			ns[n++] = sc->from[i]->write.to - sc->from[i]->write.from;
	qsort(ns, n, sizeof(*ns), by_size);
	median = n ? ns[n / 2] : 0;
	free(ns);
	return median;
}

static void take(uint32_t *from, uint64_t *ns)
{
	uint32_t n = *ns < *from ? (uint32_t)*ns : *from;

	*from -= n;
	*ns -= n;
}

static void release(const struct scene *sc, const struct interval *write, struct sim_phase *p)
{
	const struct interval *f = write->to ? flush_before(sc, write) : NULL;
	uint64_t held = f && write->to >= f->to ? f->to - write->from : 0;

	take(&p->ns[SIM_WRITE], &held);
	take(&p->ns[SIM_DELAY], &held);
}

/*
 * Does a write that comes while the device flushes wait for the end of that? It does if those that had the time to get done
 * before, half as much again as a write takes alone, mostly didn't. Then the time that they were held is not theirs.
 */
static void release_writes(struct scene *sc)
{
	uint64_t alone = median_write(sc);
	uint32_t held = 0, not_held = 0;

	for (uint32_t i = 0; i < sc->in.n_calls; i++) {
		const struct interval *w = &sc->from[i]->write, *f = w->to ? flush_before(sc, w) : NULL;

		if (!f || f->to - w->from < alone + alone / 2)
			continue;
		held += w->to >= f->to;
		not_held += w->to < f->to;
	}
	sc->in.holds_writes = held > not_held;
	if (!sc->in.holds_writes)
		return;
	for (uint32_t i = 0; i < sc->in.n_calls; i++)
		release(sc, &sc->from[i]->write, &sc->call[i].own);
	for (uint32_t i = 0; i < sc->in.n_commits; i++) {
		release(sc, &sc->from_commit[i]->write, &sc->commit[i].before);
		release(sc, &sc->from_commit[i]->data, &sc->commit[i].data);
	}
}

/* How long blocks were being written during a gap. Those that were still being so at its end did not stop it: 0. */
static uint64_t overlap(const struct scene *sc, uint64_t begin, uint64_t end, bool *inside)
{
	const struct interval *b = last_at(sc->blocks, sc->in.n_commits, end);
	uint64_t ns = 0;

	*inside = b && b->to > end;
	for (; b && !*inside && b >= sc->blocks && b->to > begin; b--)
		ns += b->to - (b->from > begin ? b->from : begin);
	return ns;
}

/*
 * What a task does between its calls stops at blocks that a commit is writing. Whether it does is not seen, but a gap that
 * ended while blocks were being written was not stopped, and one in which they got ready probably was: as many of the
 * gaps are taken to be such that can be.
 */
static void unblock(struct scene *sc)
{
	uint64_t stopped = 0, passed = 0, turn = 0;

	for (uint32_t i = 0; i < sc->in.n_calls; i++) {
		uint64_t gap = sc->call[i].gap, end = sc->from[i]->enter, ns;
		bool inside;

		ns = overlap(sc, end - gap, end, &inside);
		sc->call[i].gap = ns < gap ? gap - ns : 0;
		passed += inside;
		stopped += ns > 0;
	}
	for (uint32_t i = 0; stopped && i < sc->in.n_calls; i++) {
		turn += stopped;
		sc->call[i].blocked = turn >= stopped + passed;
		if (sc->call[i].blocked)
			turn -= stopped + passed;
	}
}

/* CPU time of gaps, by whether the calls before and after them waited for a commit: a database does the same again and again. */
struct gaps {
	uint64_t ns, n;
};

static struct gaps *gaps_of(struct gaps kind[4], const struct scene *sc, uint32_t i)
{
	return &kind[2 * sc->call[i].after_commit + sc->call[i].commit];
}

/* A gap in which the task lost the CPU: what it computed is taken to be as much as in those like it in which it didn't. */
static void sleep_in_gaps(struct scene *sc)
{
	struct gaps kind[4] = { 0 };

	for (uint32_t i = 0; i < sc->in.n_calls; i++) {
		struct gaps *g = gaps_of(kind, sc, i);

		g->ns += sc->call[i].busy ? sc->call[i].gap : 0;
		g->n += sc->call[i].busy;
	}
	for (uint32_t i = 0; i < sc->in.n_calls; i++) {
		const struct gaps *g = gaps_of(kind, sc, i);
		struct sim_call *c = &sc->call[i];

		if (c->busy || !g->n || !sc->from[i]->gap.from || c->gap <= g->ns / g->n)
			continue;
		c->sleep = c->gap - g->ns / g->n;
		c->gap = g->ns / g->n;
		c->busy = true;
	}
}

static void copy_stretch(struct scene *sc, const struct stretch *st)
{
	for (uint32_t i = 0; i < st->n_calls; i++) {
		const struct kept *k = &st->call[i];

		sc->needed[sc->in.n_calls] = k->commit ? &st->commit[k->commit - 1] : NULL;
		sc->from[sc->in.n_calls++] = k;
		if (k->enter < sc->start)
			sc->start = k->enter;
	}
	for (uint32_t i = 0; i < st->n_commits; i++) {
		sc->from_commit[sc->in.n_commits] = &st->commit[i];
		sc->blocks[sc->in.n_commits] = st->commit[i].blocks;
		sc->commit[sc->in.n_commits++] = st->commit[i].c;
	}
	for (uint32_t i = 0; i < st->n_flushes; i++)
		sc->flush[sc->n_flushes++] = st->flush[i];
}

static void new_scene(struct scene *sc, size_t calls, size_t flushes)
{
	*sc = (struct scene){ .start = UINT64_MAX };
	sc->call = xcalloc(calls, sizeof(*sc->call));
	sc->from = xcalloc(calls, sizeof(*sc->from));
	sc->needed = xcalloc(calls, sizeof(*sc->needed));
	sc->lane = xcalloc(calls, sizeof(*sc->lane));
	sc->commit = xcalloc(calls, sizeof(*sc->commit));
	sc->from_commit = xcalloc(calls, sizeof(*sc->from_commit));
	sc->blocks = xcalloc(calls, sizeof(*sc->blocks));
	sc->flush = xcalloc(flushes, sizeof(*sc->flush));
	sc->in.call = sc->call;
	sc->in.commit = sc->commit;
}

static void gather(struct scene *sc, struct stretch *const *st, uint32_t n, uint32_t cpus)
{
	uint32_t *left;

	new_scene(sc, (size_t)n * STRETCH, (size_t)n * FLUSHES);
	sc->in.cpus = cpus ? cpus : 1;
	for (uint32_t i = 0; i < n; i++)
		copy_stretch(sc, st[i]);
	left = calls_left(sc);
	for (uint32_t i = 0; i < sc->in.n_calls; i++)
		add_call(sc, i, left[i]);
	free(left);
	qsort(sc->flush, sc->n_flushes, sizeof(*sc->flush), by_time);
	qsort(sc->blocks, sc->in.n_commits, sizeof(*sc->blocks), by_time);
	release_writes(sc);
	unblock(sc);
	sleep_in_gaps(sc);
}

static void free_scene(struct scene *sc)
{
	free(sc->call);
	free(sc->from);
	free(sc->needed);
	free(sc->lane);
	free(sc->commit);
	free(sc->from_commit);
	free(sc->blocks);
	free(sc->flush);
}

/* Stretches in a row make one scene. */
static uint32_t gather_all(struct scene sc[STRETCHES], const struct whatif *w)
{
	uint32_t scenes = 0;

	for (uint32_t i = 0, n; i < w->n; i += n) {
		for (n = 1; i + n < w->n && w->stretch[i + n]->number == w->stretch[i]->number + n; n++)
			;
		gather(&sc[scenes++], &w->stretch[i], n, w->n_cpus);
	}
	return scenes;
}

/* ---- the report ---- */

struct removal {
	enum cause_family family; /* FAMILY_COUNT: one cause */
	enum cause cause;
	struct sim_without without;
	uint32_t causes; /* what it is worth in the ledger: bits by cause */
};

#define BIT(cause) (1u << (cause))

/* clang-format off */
static const struct removal removals[] = {
	{ FAMILY_FLUSH, 0, { .flush = true },
	  BIT(CAUSE_FLUSH_WAIT) | BIT(CAUSE_FLUSH_PRE) | BIT(CAUSE_FLUSH_POST) | BIT(CAUSE_FLUSH_ONLY) },
	{ FAMILY_COUNT, CAUSE_FLUSH_POST, { .post = true }, BIT(CAUSE_FLUSH_POST) },
	{ FAMILY_IO_SCHEDULER, 0, { .kind = { [SIM_IO_QUEUE] = true } }, BIT(CAUSE_TAG) | BIT(CAUSE_IOQ) },
	{ FAMILY_CPU_SCHEDULER, 0, { .kind = { [SIM_WAKE] = true, [SIM_RUNQ] = true } }, BIT(CAUSE_RUNQ) },
	{ FAMILY_COUNT, CAUSE_THROTTLE, { .kind = { [SIM_THROTTLE] = true } }, BIT(CAUSE_THROTTLE) },
};
/* clang-format on */

static uint64_t removable(const struct removal *m, const struct ledger *l)
{
	uint64_t ns = 0;

	for (int c = 0; c < CAUSE_COUNT; c++)
		if (m->causes & BIT(c))
			ns += l->ns[c];
	return ns;
}

uint64_t whatif_period(const struct whatif *w, const struct ledger *all)
{
	uint64_t span = w->last - w->first, ns = 0;

	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++)
		if (removals[i].family != FAMILY_COUNT)
			ns += removable(&removals[i], all);
	return w->calls && ns >= span / 5 ? span / w->calls : 0;
}

/* What is simulated: stretches of the run. */
struct film {
	struct scene scene[STRETCHES];
	uint32_t n;
	uint64_t calls;
	uint64_t observed;     /* ns: what the simulation makes of it as it was */
	struct pace_sum rests; /* and how CPUs rested */
};

static uint64_t simulate(const struct film *f, const struct sim_without *without, struct pace_sum *rests)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < f->n; i++)
		ns += sim_run(&f->scene[i].in, without, rests);
	return ns;
}

static uint64_t phase_cpu(const struct sim_phase *p)
{
	return p->ns[SIM_CPU] + p->ns[SIM_COMPLETION];
}

/* CPU time of callers and of the journal, as far as it is known. */
static uint64_t known_cpu(const struct sim_input *in)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < in->n_calls; i++)
		ns += phase_cpu(&in->call[i].own) + phase_cpu(&in->call[i].hop) + phase_cpu(&in->call[i].tail) +
		      (in->call[i].busy ? in->call[i].gap : 0);
	for (uint32_t i = 0; i < in->n_commits; i++)
		ns += phase_cpu(&in->commit[i].before) + phase_cpu(&in->commit[i].data) + phase_cpu(&in->commit[i].after);
	return ns;
}

/* Phases that write, and FLUSHes. */
static uint64_t requests_of(const struct scene *sc)
{
	uint64_t n = sc->n_flushes;

	for (uint32_t i = 0; i < sc->in.n_calls; i++)
		n += sc->call[i].own.ns[SIM_WRITE] > 0;
	for (uint32_t i = 0; i < sc->in.n_commits; i++)
		n += (sc->commit[i].before.ns[SIM_WRITE] > 0) + (sc->commit[i].data.ns[SIM_WRITE] > 0);
	return n;
}

/*
 * What the kernel computed beyond what callers and the journal did is interrupts, workers and drivers that carry out requests:
 * when CPUs get busier, writes get slower. What callers of no command did in user space is taken off too, so it comes out rather
 * too small, and what is too much for a request is somebody else's.
 */
static void share_kernel_time(struct film *f, const struct whatif *w, const struct report *r)
{
	uint64_t known = 0, requests = 0, all = (r->kernel_cpu_ns + r->user_ns) / w->calls * f->calls, each;

	for (uint32_t i = 0; i < f->n; i++) {
		known += known_cpu(&f->scene[i].in);
		requests += requests_of(&f->scene[i]);
	}
	each = requests && all > known ? (all - known) / requests : 0;
	for (uint32_t i = 0; i < f->n; i++)
		f->scene[i].in.beside = each < DRIVER_MAX_NS ? each : DRIVER_MAX_NS;
}

/*
 * Without what is removed, the same code runs again sooner, on a warmer CPU, and that makes it sooner still: a few rounds
 * settle it. As a share of what was observed.
 */
static double left_without(const struct film *f, const struct sim_without *without)
{
	struct sim_without w = *without;
	uint64_t ns;

	w.work = w.wake = 1;
	for (int i = 0;; i++) {
		struct pace_sum rests = { .pace = f->rests.pace };
		double work, wake;

		ns = simulate(f, &w, &rests);
		work = pace_left(rests.work, f->rests.work);
		wake = pace_left(rests.wake, f->rests.wake);
		if (i == PACE_ROUNDS || (work == w.work && wake == w.wake))
			break;
		w.work = work;
		w.wake = wake;
	}
	return (double)ns / (double)f->observed;
}

static bool is_worth_it(const struct report *r, const struct removal *m)
{
	uint64_t ns = removable(m, &r->sync.ledger);

	return ns && (double)ns >= SHARE_MIN * (double)r->sync.total_ns;
}

static void predict(struct report *r, uint64_t span, const struct removal *m, double left)
{
	struct report_whatif *out = grow((void **)&r->whatif, &r->n_whatif, sizeof(*out));

	out->remove = xstrdup(m->family == FAMILY_COUNT ? cause_name(m->cause) : family_name(m->family));
	out->wall_ns = r->wall_ns - span + (uint64_t)((double)span * (left < 1 ? left : 1));
	out->speedup = out->wall_ns ? (double)r->wall_ns / (double)out->wall_ns : 0;
}

void whatif_make(struct report *r, const struct whatif *w)
{
	uint64_t span = w->last - w->first;
	struct film f = { .rests.pace = &r->pace };

	if (!r->have_sync || !r->wall_ns || !w->n)
		return;
	if (span > r->wall_ns)
		span = r->wall_ns;
	f.n = gather_all(f.scene, w);
	for (uint32_t i = 0; i < f.n; i++)
		f.calls += f.scene[i].in.n_calls;
	share_kernel_time(&f, w, r);
	f.observed = simulate(&f, &(struct sim_without){ .flush = false }, &f.rests);
	for (size_t i = 0; f.observed && i < sizeof(removals) / sizeof(removals[0]); i++)
		if (is_worth_it(r, &removals[i]))
			predict(r, span, &removals[i], left_without(&f, &removals[i].without));
	for (uint32_t i = 0; i < f.n; i++)
		free_scene(&f.scene[i]);
}

/* ---- all ---- */

struct whatif *whatif_new(void)
{
	struct whatif *w = xcalloc(1, sizeof(*w));

	w->skip = 1;
	return w;
}

void whatif_forget(struct whatif *w)
{
	w->n = 0;
	w->skip = 1;
	w->calls = w->first = w->last = 0;
}

void whatif_free(struct whatif *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < STRETCHES; i++)
		free(w->stretch[i]);
	free(w);
}
