// SPDX-License-Identifier: GPL-2.0-only
#include "probe/outstanding_calls.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "probe/syscalls.h"
#include "slot.h"
#include "task_state.h"
#include "util/clock.h"

/* ---- has it returned, though no program was told? ---- */

static uint16_t entry_of(const struct wire_maps *m, uint32_t tid)
{
	uint32_t key = tid / PIDS_PER_CHUNK;
	struct pid_chunk c;

	return bpf_map_lookup_elem(m->pids_fd, &key, &c) ? 0 : c.entry[tid % PIDS_PER_CHUNK];
}

bool calls_state_is(const struct wire_maps *m, uint32_t tid, size_t index)
{
	return entry_of(m, tid) == index + 1;
}

/* The task whose state it is; 0: its number names another, or says nothing to us. */
static uint32_t task_of_state(const struct wire_maps *m, const struct task_state *t, size_t index)
{
	uint32_t tid = t->tid;

	return m->own_numbers && calls_state_is(m, tid, index) ? tid : 0;
}

enum where { WHERE_UNKNOWN, WHERE_IN_CALL, WHERE_ELSEWHERE };

/*
 * The file holds the number of the system call that the task sleeps in, -1 if it sleeps in none, or "running", which tells nothing;
 * nor can we always read it.
 */
static enum where where_is(uint32_t tid, uint32_t call)
{
	char path[32], line[32], *end = line;
	long nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/syscall", tid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		nr = strtol(line, &end, 10);
	if (f)
		fclose(f);
	if (end == line)
		return WHERE_UNKNOWN;
	return syscalls_can_be(nr, call) ? WHERE_IN_CALL : WHERE_ELSEWHERE;
}

/* What the kernel side writes while we look. */
struct glance {
	bool asked, other;
	bool idle;     /* asked, and it began while what ledgers need was not attached */
	uint32_t call; /* enum wire_call */
	uint64_t enter;
};

/* False: it is in no sync call. */
static bool glance_at(const struct task_state *t, struct glance *g)
{
	bool caller = __atomic_load_n(&t->caller, __ATOMIC_ACQUIRE);
	uint32_t call = t->call;

	*g = (struct glance){
		.idle = !caller && call & CALL_OF_IDLE,
		.call = call & ~(CALL_OF_OTHER | CALL_OF_IDLE),
		.enter = t->enter,
	};
	g->asked = caller || g->idle;
	g->other = !g->asked && call & CALL_OF_OTHER;
	return g->asked || g->other;
}

/* In the same call before and after we look where its task is. The kernel's own are no system calls. */
static bool has_returned(const struct task_state *t, const struct glance *g, uint32_t tid)
{
	struct glance again;

	return g->call != CALL_KERNEL_FSYNC && tid && where_is(tid, g->call) == WHERE_ELSEWHERE &&
	       glance_at(t, &again) && again.enter == g->enter;
}

/* ---- looks ---- */

static void tell(const struct task_state *t, const struct glance *g, uint32_t tid, const struct calls_wanted *w)
{
	struct call_under_way c = {
		.pid = t->tgid,
		.tid = tid,
		.dev = t->dev,
		.call = g->call,
		.enter = g->enter,
		.other = g->other,
	};

	if (w && w->each)
		w->each(w->to, &c);
}

static void look_at(const struct wire_maps *m, const struct task_state *t, size_t index, struct calls_look *l)
{
	const struct calls_wanted *w = l->wanted;
	struct calls_under_way *found = &l->found;
	struct glance g;
	uint32_t tid;

	if (!glance_at(t, &g) || (g.other && (!w || !w->others)) || g.enter >= l->until ||
	    (w && !w->counts(w->ctx, t->dev)))
		return;
	tid = g.enter < l->ask_before ? task_of_state(m, t, index) : 0;
	if (tid && has_returned(t, &g, tid)) {
		found->returned += g.asked && !g.idle;
		found->returned_ns += g.asked && !g.idle ? clock_ns() - g.enter : 0;
		return;
	}
	tell(t, &g, tid, w);
	if (g.asked && (!found->n++ || g.enter < found->oldest))
		found->oldest = g.enter;
}

#define BATCH 256 /* more than a bucket of 4,096 entries' hash can have */

uint64_t calls_pending_since(const struct wire_maps *m, uint64_t from, const struct calls_wanted *w)
{
	static uint64_t key[BATCH];
	static struct pending p[BATCH];
	uint64_t oldest = UINT64_MAX, at = 0;
	bool more = m->run->pending_used;

	for (bool first = true; more; first = false) {
		uint32_t n = BATCH;
		int err = bpf_map_lookup_batch(m->pendings_fd, first ? NULL : &at, &at, key, p, &n, NULL);

		if (err && errno != ENOENT)
			return 0;
		more = !err;
		for (uint32_t i = 0; i < n; i++)
			if (p[i].enter >= from && p[i].enter < oldest && w->counts(w->ctx, p[i].file.dev))
				oldest = p[i].enter;
	}
	return oldest;
}

struct task_state *calls_map_tasks(const struct wire_maps *m, int access, size_t *n)
{
	size_t parts = sizeof(m->run->tasks_used);
	void *t;

	while (parts && !m->run->tasks_used[parts - 1])
		parts--;
	*n = parts * WIRE_TASKS_PART;
	if (!*n)
		return NULL;
	t = mmap(NULL, *n * sizeof(struct task_state), access, MAP_SHARED, m->tasks_fd, 0);
	return t == MAP_FAILED ? NULL : t;
}

void calls_unmap_tasks(struct task_state *t, size_t n)
{
	if (t)
		munmap(t, n * sizeof(*t));
}

bool calls_look(const struct wire_maps *m, struct calls_look *l)
{
	size_t n;
	struct task_state *t = calls_map_tasks(m, PROT_READ, &n);

	for (size_t i = 0; t && i < n; i++)
		if (m->run->tasks_used[i / WIRE_TASKS_PART])
			look_at(m, &t[i], i, l);
	calls_unmap_tasks(t, n);
	return t || !n;
}

static void forget_task(struct task_state *t)
{
	if (t->caller)
		t->call |= CALL_OF_IDLE;
	t->caller = t->aio = 0;
	t->history = 0;
}

void calls_forget_tasks(const struct wire_maps *m, bool (*counts)(const void *ctx, uint32_t dev), const void *ctx)
{
	size_t n;
	struct task_state *t = calls_map_tasks(m, PROT_READ | PROT_WRITE, &n);

	for (size_t i = 0; t && i < n; i++) {
		if (!m->run->tasks_used[i / WIRE_TASKS_PART])
			continue;
		if (t[i].caller && counts(ctx, t[i].dev))
			__atomic_fetch_add(&m->run->idle_calls, 1, __ATOMIC_SEQ_CST);
		forget_task(&t[i]);
	}
	calls_unmap_tasks(t, n);
	*m->callers = 0;
}

/* A call that begins meanwhile is left alone. */
static void drop_idle(const struct wire_maps *m, struct task_state *t, size_t index)
{
	uint32_t call = __atomic_load_n(&t->call, __ATOMIC_ACQUIRE), tid;
	struct glance g;

	if (!glance_at(t, &g) || !g.idle || g.call != (call & ~CALL_OF_IDLE))
		return;
	tid = task_of_state(m, t, index);
	if (!tid || where_is(tid, g.call) != WHERE_IN_CALL)
		__atomic_compare_exchange_n(&t->call, &call, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void calls_drop_idle(const struct wire_maps *m)
{
	size_t n;
	struct task_state *t = calls_map_tasks(m, PROT_READ | PROT_WRITE, &n);

	for (size_t i = 0; t && i < n; i++)
		if (m->run->tasks_used[i / WIRE_TASKS_PART])
			drop_idle(m, &t[i], i);
	calls_unmap_tasks(t, n);
}

bool calls_has(const struct wire_maps *m, uint32_t tid)
{
	uint32_t index = entry_of(m, tid);
	struct task_state t;
	struct glance g;

	return index-- && !bpf_map_lookup_elem(m->tasks_fd, &index, &t) && glance_at(&t, &g);
}

/* ---- requests ---- */

/* A request behind its data waits for a FLUSH again. The kernel side writes meanwhile: what makes no sense is left out. */
static bool under_way(const struct slot *s, bool flush, struct request_under_way *q)
{
	uint64_t issue = s->issue, insert = s->insert, start = s->start, data_done = s->data_done;

	if (!__atomic_load_n(&s->rq, __ATOMIC_ACQUIRE))
		return false;
	*q = (struct request_under_way){
		.sender = flush ? 0 : s->tid,
		.flush = flush,
		.issued = issue,
		.inserted = insert,
		.held = !issue && !insert && data_done,
		.since = issue	   ? issue :
			 insert	   ? insert :
			 data_done ? data_done :
				     start,
	};
	return q->since && (!flush || issue);
}

/* Of each hardware queue `depth` slots for tags, and one for its FLUSH. */
void requests_look(const struct wire_maps *m, const struct wire_disk *disk,
		   void (*each)(void *ctx, const struct request_under_way *q), void *ctx)
{
	uint64_t n = (uint64_t)disk->hw_queues * (disk->depth + 1);
	size_t size = (size_t)m->n_slots * sizeof(struct slot);
	struct request_under_way q;
	const struct slot *s;

	if (!n || disk->slot_base + n > m->n_slots)
		return;
	s = mmap(NULL, size, PROT_READ, MAP_SHARED, m->slots_fd, 0);
	if (s == MAP_FAILED)
		return;
	for (uint64_t i = 0; i < n; i++)
		if (under_way(&s[disk->slot_base + i], i % (disk->depth + 1) == disk->depth, &q))
			each(ctx, &q);
	munmap((void *)s, size);
}
