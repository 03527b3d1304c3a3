// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash_map.h"
#include "util/mem.h"

#define NONE	     HASH_NONE
#define TASKS_MAX    16384u
#define TASKS_FEW    256u /* that many stay, however old */
#define RING_MIN     8u
#define RING_MAX     65536u	/* sleeps of one task: a sync() of many gigabytes sleeps that often */
#define SLEEPS_MAX   (1u << 20) /* of all tasks: 56 MiB */
#define REQUESTS_MIN 512u
#define REQUESTS_MAX 131072u /* 29 MiB */
#define BIOS_MIN     1024u
#define BIOS_MAX     65536u /* 3 MiB */
#define WORKS_MIN    1024u
#define WORKS_MAX    32768u		   /* 2 MiB */
#define KEEP_NS	     (120 * 1000000000ull) /* what is older makes room before more memory is taken */
#define SWEEP_NS     (15 * 1000000000ull)

struct timeline {
	struct tl_task *task; /* TASKS_MAX of them */
	uint32_t n_tasks;     /* entries ever used */
	uint32_t known;	      /* in use */
	uint32_t free;	      /* forgotten ones, linked by `older` */
	uint32_t newest, oldest;
	struct hash_map by_tid;
	size_t n_sleeps; /* slots in all rings */
	uint64_t needed; /* what ended before is not asked for */
	uint64_t swept;	 /* when rings were last looked through */

	struct tl_request *request; /* a ring */
	uint32_t cap, next, n_requests;
	struct hash_map by_end; /* by `rq` and when it was done */

	struct wire_bio *bio; /* a ring; NULL: none came */
	uint32_t bios;	      /* places in it; a power of two */
	uint32_t n_bios;      /* that came, modulo 2^32 and never 0 after the first */

	struct wire_work *work; /* each where its number belongs; NULL: none came */
	uint32_t works;		/* places for them; a power of two */
	uint32_t *work_bio;	/* of each of them, the bio that queued it; 0: none */

	struct functions *functions;
};

/* ---- tasks ---- */

static uint32_t find(const struct timeline *tl, uint32_t tid)
{
	HASH_MAP_EACH (&tl->by_tid, hash_words(tid, 0), i)
		if (tl->task[i].tid == tid)
			return i;
	return NONE;
}

const struct tl_task *tl_task(const struct timeline *tl, uint32_t tid)
{
	uint32_t i = find(tl, tid);

	return i == NONE ? NULL : &tl->task[i];
}

static void unlink_use(struct timeline *tl, struct tl_task *t)
{
	*(t->newer == NONE ? &tl->newest : &tl->task[t->newer].older) = t->older;
	*(t->older == NONE ? &tl->oldest : &tl->task[t->older].newer) = t->newer;
}

static void link_use(struct timeline *tl, uint32_t i)
{
	struct tl_task *t = &tl->task[i];

	t->newer = NONE;
	t->older = tl->newest;
	*(tl->newest == NONE ? &tl->oldest : &tl->task[tl->newest].newer) = i;
	tl->newest = i;
}

static void drop_ring(struct timeline *tl, struct tl_task *t)
{
	if (t->n && tl_at(t, t->n - 1)->on > t->lost)
		t->lost = tl_at(t, t->n - 1)->on;
	tl->n_sleeps -= t->cap;
	free(t->ring);
	t->ring = NULL;
	t->cap = t->head = t->n = 0;
}

static void forget(struct timeline *tl, uint32_t i)
{
	struct tl_task *t = &tl->task[i];

	hash_map_remove(&tl->by_tid, i);
	unlink_use(tl, t);
	drop_ring(tl, t);
	t->older = tl->free;
	tl->free = i;
	tl->known--;
}

static uint32_t blank(struct timeline *tl)
{
	uint32_t i;

	if (tl->free == NONE && tl->n_tasks == TASKS_MAX)
		forget(tl, tl->oldest);
	if (tl->free == NONE)
		return tl->n_tasks++;
	i = tl->free;
	tl->free = tl->task[i].older;
	return i;
}

static struct tl_task *use(struct timeline *tl, uint32_t tid)
{
	uint32_t i = find(tl, tid);

	if (i == NONE) {
		i = blank(tl);
		memset(&tl->task[i], 0, sizeof(tl->task[i]));
		tl->task[i].tid = tid;
		hash_map_add(&tl->by_tid, i, hash_words(tid, 0));
		tl->known++;
	} else if (i == tl->newest) {
		return &tl->task[i];
	} else {
		unlink_use(tl, &tl->task[i]);
	}
	link_use(tl, i);
	return &tl->task[i];
}

/* ---- sleeps ---- */

/* From the newest backwards in growing steps: what is asked for is nearly always among the last. */
uint32_t tl_first(const struct tl_task *t, uint64_t time)
{
	uint32_t lo = 0, hi = t->n, step = 1;

	while (step < hi && tl_at(t, hi - step)->on > time) {
		hi -= step;
		step *= 2;
	}
	if (step < hi)
		lo = hi - step + 1;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (tl_at(t, mid)->on > time)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Frees rings of tasks that have not been heard of for longest. */
static void make_room(struct timeline *tl, const struct tl_task *keep, size_t slots)
{
	uint32_t i = tl->oldest;

	while (tl->n_sleeps + slots > SLEEPS_MAX && i != NONE) {
		if (&tl->task[i] != keep)
			drop_ring(tl, &tl->task[i]);
		i = tl->task[i].newer;
	}
}

/* A full ring: what stands before its oldest goes behind the rest. Memory is not copied as long as it was never emptied. */
static void enlarge(struct timeline *tl, struct tl_task *t)
{
	uint32_t cap = t->cap, more = cap ? cap : RING_MIN;

	make_room(tl, t, more);
	t->ring = xrealloc(t->ring, (cap + more) * sizeof(*t->ring));
	memcpy(t->ring + cap, t->ring, t->head * sizeof(*t->ring));
	tl->n_sleeps += more;
	t->cap = cap + more;
}

static void drop_oldest(struct tl_task *t)
{
	if (tl_at(t, 0)->on > t->lost)
		t->lost = tl_at(t, 0)->on;
	t->head = (t->head + 1) & (t->cap - 1);
	t->n--;
}

static bool is_old(const struct timeline *tl, uint64_t ended, uint64_t now)
{
	return ended < tl->needed || (now > KEEP_NS && ended < now - KEEP_NS);
}

/* Is a time more than KEEP_NS before anything that may be asked for? */
static bool is_past(const struct timeline *tl, uint64_t time, uint64_t now)
{
	uint64_t asked = tl->needed < now ? tl->needed : now;

	return asked > KEEP_NS && time < asked - KEEP_NS;
}

/* The last `keep` of them, in memory of their own: to cut a ring short would leave it amid a hole. */
static void shrink(struct timeline *tl, struct tl_task *t, uint32_t keep)
{
	uint32_t cap = 1;
	struct tl_sleep *ring;

	while (cap < keep)
		cap *= 2;
	if (cap > t->cap / 4)
		return;
	while (t->n > keep)
		drop_oldest(t);
	ring = xrealloc(NULL, cap * sizeof(*ring));
	for (uint32_t i = 0; i < t->n; i++)
		ring[i] = *tl_at(t, i);
	free(t->ring);
	t->ring = ring;
	tl->n_sleeps -= t->cap - cap;
	t->cap = cap;
	t->head = 0;
}

static const struct wire_bio *bio_by_number(const struct timeline *tl, uint32_t n)
{
	return n && tl->n_bios - n < tl->bios ? &tl->bio[n & (tl->bios - 1)] : NULL;
}

/* The time of the last record of a task that BPF has not announced. */
static uint64_t last_heard(const struct timeline *tl, const struct tl_task *t)
{
	uint64_t last = t->n ? tl_at(t, t->n - 1)->on : t->lost;
	const struct wire_bio *b = bio_by_number(tl, t->bio), *w = bio_by_number(tl, t->work_bio);

	last = t->exit > last ? t->exit : last;
	last = b && b->done > last ? b->done : last;
	return w && w->done > last ? w->done : last;
}

/*
 * Has this caller most likely ended, as its last record is old? Tasks that BPF has announced stay: it announces each once, and such a
 * task may take part in others' calls after hours without a record. The newest stays, as a record is being added to it.
 */
static bool has_ended(const struct timeline *tl, uint32_t i, uint64_t now)
{
	const struct tl_task *t = &tl->task[i];
	return i != tl->newest && !t->since && is_past(tl, last_heard(tl, t), now);
}

static void shrink_task(struct timeline *tl, struct tl_task *t, uint64_t now)
{
	uint32_t old = 0;

	while (old < t->n && is_old(tl, tl_at(t, old)->on, now))
		old++;
	/* the last one that is old tells since when the task runs */
	if (t->cap > 1)
		shrink(tl, t, t->n - old + (old > 0));
}

/* Of tasks that have ended, and of those that slept often while somebody's call took long: what is still asked for stays. */
static void shrink_all(struct timeline *tl, uint64_t now)
{
	uint32_t i, newer;

	if (now < tl->swept + SWEEP_NS)
		return;
	tl->swept = now;
	for (i = tl->oldest; i != NONE; i = newer) {
		newer = tl->task[i].newer;
		if (tl->known > TASKS_FEW && has_ended(tl, i, now))
			forget(tl, i);
		else
			shrink_task(tl, &tl->task[i], now);
	}
}

/* The last sleep before what is needed tells that the task ran from then on. True: the oldest has gone. */
static bool room_for(struct timeline *tl, struct tl_task *t, uint64_t now)
{
	if (t->n < t->cap)
		return false;
	if (t->n && (t->cap >= RING_MAX || (t->n > 1 && is_old(tl, tl_at(t, 1)->on, now)))) {
		drop_oldest(t);
		return true;
	}
	shrink_all(tl, now);
	enlarge(tl, t);
	return false;
}

static bool same_sleep(const struct tl_sleep *a, const struct tl_sleep *b)
{
	return a->on == b->on || (a->off && a->off == b->off);
}

/* Where a sleep belongs by the time that it ended; NONE if it is there already. Nearly always it is the last. */
static uint32_t place(const struct tl_task *t, const struct tl_sleep *s)
{
	uint32_t i = t->n;

	if (i && tl_at(t, i - 1)->on > s->on)
		i = tl_first(t, s->on);
	if (i && same_sleep(tl_at(t, i - 1), s))
		return NONE;
	return i < t->n && same_sleep(tl_at(t, i), s) ? NONE : i;
}

static void insert(struct timeline *tl, struct tl_task *t, const struct tl_sleep *s)
{
	uint32_t at = place(t, s), i;

	if (at == NONE)
		return;
	if (room_for(tl, t, s->on) && at)
		at--;
	for (i = t->n++; i > at; i--)
		t->ring[(t->head + i) & (t->cap - 1)] = *tl_at(t, i - 1);
	t->ring[(t->head + at) & (t->cap - 1)] = *s;
}

bool tl_add_sleep(struct timeline *tl, const struct wire_sleep *w)
{
	struct tl_sleep s = {
		.off = w->off,
		.wake = w->wake,
		.on = w->on,
		.rq = w->rq,
		.done = w->done,
		.waker = w->waker,
		.seq = w->seq,
		.how = w->how,
		.waker_kind = w->waker_kind,
		.idle = w->idle,
	};
	const struct wire_bio *b;
	struct tl_task *t;

	if (!w->on || w->off > w->on || w->wake > w->on || w->how > HOW_UNSEEN)
		return false;
	/* woken between deciding to sleep and leaving the CPU */
	if (s.wake && s.wake < s.off)
		s.wake = s.off;
	s.class = functions_class(tl->functions, w);
	t = use(tl, w->tid);
	s.bio = t->bio;
	b = tl_bio(tl, &s);
	if (!b || b->tid != w->tid || b->seq != w->seq)
		s.bio = 0;
	insert(tl, t, &s);
	return true;
}

void tl_forget(struct timeline *tl, uint64_t until)
{
	tl->needed = until;
	shrink_all(tl, until);
}

/* ---- bios ---- */

const struct wire_bio *tl_bio(const struct timeline *tl, const struct tl_sleep *s)
{
	return bio_by_number(tl, s->bio);
}

static uint32_t next_bio(const struct timeline *tl)
{
	return tl->n_bios + 1 ? tl->n_bios + 1 : 1;
}

static void enlarge_bios(struct timeline *tl)
{
	uint32_t n = tl->bios, cap = n ? 2 * n : BIOS_MIN;
	struct wire_bio *bio = xcalloc(cap, sizeof(*bio));

	for (uint32_t i = 0, no = tl->n_bios; i < n; i++, no--)
		bio[no & (cap - 1)] = tl->bio[no & (n - 1)];
	free(tl->bio);
	tl->bio = bio;
	tl->bios = cap;
}

/* Would the next bio take the place of one that may still be asked for? */
static bool bio_in_the_way(const struct timeline *tl, uint32_t next, const struct wire_bio *b)
{
	const struct wire_bio *at = &tl->bio[next & (tl->bios - 1)];

	return at->done && !is_past(tl, at->done, b->done);
}

bool tl_add_bio(struct timeline *tl, const struct wire_bio *b)
{
	uint32_t next;

	if (!b->queued || b->queued > b->done || b->flushed > b->done || b->class >= WIRE_CLASSES)
		return false;
	next = next_bio(tl);
	if (!tl->bios || (tl->bios < BIOS_MAX && bio_in_the_way(tl, next, b)))
		enlarge_bios(tl);
	tl->n_bios = next;
	tl->bio[next & (tl->bios - 1)] = *b;
	if (b->work)
		use(tl, b->tid)->work_bio = tl->n_bios;
	else
		use(tl, b->tid)->bio = tl->n_bios;
	return true;
}

/* ---- works ---- */

const char *tl_work_name(const struct timeline *tl, const struct wire_work *w)
{
	return functions_work(tl->functions, w->function);
}

static uint32_t place_of_work(const struct timeline *tl, uint32_t tid, uint32_t no)
{
	return (tid * 2654435769u + no) & (tl->works - 1);
}

const struct wire_work *tl_work(const struct timeline *tl, uint32_t tid, uint32_t no)
{
	const struct wire_work *w = tl->work && no ? &tl->work[place_of_work(tl, tid, no)] : NULL;

	return w && w->tid == tid && w->no == no ? w : NULL;
}

/* The number of the bio that queued a work; 0: none. Its record comes right before the work's. */
static uint32_t bio_of_work(struct timeline *tl, const struct wire_work *w)
{
	const struct tl_task *t = tl_task(tl, w->tid);
	const struct wire_bio *b = t ? bio_by_number(tl, t->work_bio) : NULL;

	return b && b->tid == w->tid && b->seq == w->no ? t->work_bio : 0;
}

uint32_t tl_work_bio(const struct timeline *tl, const struct wire_work *w)
{
	return tl->work_bio[w - tl->work];
}

static void put_work(struct timeline *tl, const struct wire_work *w, uint32_t bio)
{
	uint32_t i = place_of_work(tl, w->tid, w->no);

	tl->work[i] = *w;
	tl->work_bio[i] = bio;
}

static void enlarge_works(struct timeline *tl)
{
	struct wire_work *work = tl->work;
	uint32_t *bio = tl->work_bio, n = tl->works;

	tl->works = n ? 2 * n : WORKS_MIN;
	tl->work = xcalloc(tl->works, sizeof(*tl->work));
	tl->work_bio = xcalloc(tl->works, sizeof(*tl->work_bio));
	for (uint32_t i = 0; i < n; i++)
		if (work[i].no)
			put_work(tl, &work[i], bio[i]);
	free(work);
	free(bio);
}

/* Would this work take the place of one that a call may still ask for? Works can last for minutes. */
static bool work_in_the_way(const struct timeline *tl, const struct wire_work *w)
{
	const struct wire_work *at = &tl->work[place_of_work(tl, w->tid, w->no)];

	return at->no && (at->tid != w->tid || at->no != w->no) && !is_past(tl, at->begun, w->begun);
}

bool tl_add_work(struct timeline *tl, const struct wire_work *w)
{
	if (!w->no || !w->begun || w->queued > w->begun || w->how > HOW_IRQ || w->how == HOW_PREEMPTED)
		return false;
	while (!tl->works || (tl->works < WORKS_MAX && work_in_the_way(tl, w)))
		enlarge_works(tl);
	put_work(tl, w, bio_of_work(tl, w));
	return true;
}

/* ---- names ---- */

static const char *const numbered[] = { "ksoftirqd/", "iou-wrk-", "iou-sqp-", "migration/", "rcuc/" };

/* Of "kworker/u8:2-xfs-log" "kworker-xfs-log" is left: numbers that change from run to run hide that it is the same work. */
static void set_name(struct tl_task *t, const char *comm)
{
	char *name = t->name;
	size_t len, rest;

	memset(name, 0, sizeof(t->name));
	memcpy(name, comm, strnlen(comm, sizeof(t->name) - 1));
	if (!strncmp(name, "kworker/", 8)) {
		rest = 8 + strcspn(name + 8, "-+");
		len = strlen(name + rest);
		memmove(name + 7, name + rest, len);
		memset(name + 7 + len, 0, sizeof(t->name) - 7 - len);
		if (len)
			name[7] = '-';
		return;
	}
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		len = strlen(numbered[i]);
		if (!strncmp(name, numbered[i], len))
			memset(name + len - 1, 0, sizeof(t->name) - (len - 1));
	}
}

static void forget_sleeps_until(struct tl_task *t, uint64_t time)
{
	while (t->n && tl_at(t, 0)->on <= time)
		drop_oldest(t);
}

/* A number can come back as another task's. */
bool tl_add_follow(struct timeline *tl, const struct wire_follow *f)
{
	struct tl_task *t;

	if (!f->since || f->kind < TASK_USER || f->kind > TASK_KWORKER)
		return false;
	t = use(tl, f->tid);
	if (f->since < t->since)
		return true;
	if (t->tgid && t->tgid != f->tgid) {
		forget_sleeps_until(t, f->since);
		t->enter = t->exit = 0;
	}
	t->since = f->since;
	t->tgid = f->tgid;
	t->kind = f->kind;
	set_name(t, f->comm);
	return true;
}

void tl_add_call(struct timeline *tl, const struct wire_sync *s, bool complete)
{
	struct tl_task *t = use(tl, s->tid);

	t->tgid = s->tgid;
	if (!t->name[0])
		set_name(t, s->comm);
	if (s->worker || !complete)
		return;
	t->enter = s->enter;
	t->exit = s->exit;
	t->waited = s->waited_exit;
	t->voluntary = s->voluntary_exit;
}

/* ---- requests ---- */

struct tl_request *tl_request(const struct timeline *tl, uint64_t rq, uint64_t done)
{
	HASH_MAP_EACH (&tl->by_end, hash_words(rq, done), i) {
		struct tl_request *r = &tl->request[i];

		if (r->r.rq == rq && r->r.done == done)
			return r;
	}
	return NULL;
}

/* To twice its size, as enlarge(): the ring is full, so the oldest stands at `next`. */
static void enlarge_requests(struct timeline *tl)
{
	uint32_t cap = tl->cap, old = tl->next;

	tl->request = xrealloc(tl->request, 2 * cap * sizeof(*tl->request));
	tl->cap = 2 * cap;
	tl->next = cap + old;
	for (uint32_t i = 0; i < old; i++) {
		const struct wire_request *r = &tl->request[i].r;

		tl->request[cap + i] = tl->request[i];
		hash_map_remove(&tl->by_end, i);
		hash_map_add(&tl->by_end, cap + i, hash_words(r->rq, r->done));
	}
}

static void room_for_request(struct timeline *tl, uint64_t now)
{
	if (tl->n_requests < tl->cap)
		return;
	if (tl->cap < REQUESTS_MAX && !is_old(tl, tl->request[tl->next].r.done, now)) {
		enlarge_requests(tl);
	} else {
		hash_map_remove(&tl->by_end, tl->next);
		tl->n_requests--;
	}
}

static bool step_ok(const struct wire_step *s)
{
	return !s->issue || !s->done || s->issue <= s->done;
}

bool tl_add_request(struct timeline *tl, const struct wire_request *r)
{
	struct tl_request *old, *new;

	if (!r->done || r->alloc > r->done || r->class >= WIRE_CLASSES)
		return false;
	if (!step_ok(&r->pre) || !step_ok(&r->data) || !step_ok(&r->post))
		return false;
	old = tl_request(tl, r->rq, r->done);
	if (old) {
		old->r = *r;
		return true;
	}
	room_for_request(tl, r->done);
	new = &tl->request[tl->next];
	new->r = *r;
	new->call = 0;
	new->steps = 0;
	hash_map_add(&tl->by_end, tl->next, hash_words(r->rq, r->done));
	tl->next = (tl->next + 1) & (tl->cap - 1);
	tl->n_requests++;
	return true;
}

/* ---- all ---- */

struct timeline *tl_new(const struct kernel_symbol *symbols, size_t n)
{
	struct timeline *tl = xcalloc(1, sizeof(*tl));

	tl->task = xcalloc(TASKS_MAX, sizeof(*tl->task));
	tl->free = tl->newest = tl->oldest = NONE;
	tl->cap = REQUESTS_MIN;
	tl->request = xcalloc(tl->cap, sizeof(*tl->request));
	tl->functions = functions_new(symbols, n);
	return tl;
}

void tl_free(struct timeline *tl)
{
	if (!tl)
		return;
	for (uint32_t i = 0; i < tl->n_tasks; i++)
		free(tl->task[i].ring);
	free(tl->task);
	hash_map_free(&tl->by_tid);
	free(tl->request);
	hash_map_free(&tl->by_end);
	free_all(tl->bio, tl->work, tl->work_bio);
	functions_free(tl->functions);
	free(tl);
}
