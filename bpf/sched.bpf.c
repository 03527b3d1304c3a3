// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched.bpf.c - when followed tasks sleep, and who wakes them. A context switch between tasks that nobody follows costs
 * two loads.
 */
#include "fact.bpf.h"

static __always_inline u32 task_state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(struct task_struct, __state))
		return task->__state;
	return BPF_CORE_READ((struct task_struct___state *)task, state);
}

/* ---- helpers ---- */

static __always_inline void announce(struct task_state *t, u32 tid, struct task_struct *task)
{
	struct wire_follow f = {};

	f.head.kind = WIRE_FOLLOW;
	f.head.size = sizeof(f);
	f.since = t->since;
	f.tid = tid;
	f.tgid = GET(TASK_BTF, task, tgid);
	f.kind = kind_of(GET(TASK_BTF, task, flags));
	bpf_core_read_str(f.comm, sizeof(f.comm), &task->comm);
	send(&f, sizeof(f));
	t->announced = 1;
}

/* The state that another CPU has made just now, or is making. */
static __always_inline u32 made_elsewhere(u32 pid, const u16 *entry)
{
	u32 *i = bpf_map_lookup_elem(&being_made, &pid), made = i ? *i + 1 : 0;
	struct task_state *t = state_by_entry(made);

	if (state_at(entry))
		return *entry;
	return t && t->tid == pid ? made : 0; /* the place in `being_made` may be another task's by now */
}

/* A global function, as is the next, to keep the verifier's work small. */
__noinline u32 make_state(u32 pid, u32 no_room)
{
	u16 *entry = follow_entry(pid);
	struct task_state *t;
	u32 i, made;
	bool first;

	if (!entry)
		return 0;
	if (bpf_map_pop_elem(&free_tasks, &i)) {
		__sync_fetch_and_add(&run.drops[no_room % (sizeof(run.drops) / sizeof(run.drops[0]))], 1);
		return 0;
	}
	t = bpf_map_lookup_elem(&tasks, &i);
	if (!t)
		return 0;
	__builtin_memset(t, 0, sizeof(*t));
	t->tid = pid;
	made = i + 1;
	first = !bpf_map_update_elem(&being_made, &pid, &i, BPF_NOEXIST);
	if (first && !state_at(entry)) {
		u8 *used = &run.tasks_used[i / WIRE_TASKS_PART % sizeof(run.tasks_used)];

		if (!*used) /* each request reads that cache line */
			*used = 1;
		*entry = made;
	} else {
		made = made_elsewhere(pid, entry);
		t->tid = 0;
		bpf_map_push_elem(&free_tasks, &i, BPF_ANY);
	}
	if (first)
		bpf_map_delete_elem(&being_made, &pid);
	/* a helper may have ended meanwhile, but a caller is there: its call is not to be lost in silence */
	if (!made && no_room == DROP_CALLERS_FULL)
		__sync_fetch_and_add(&run.drops[DROP_CALLERS_FULL], 1);
	return made;
}

__noinline int learn(u32 tid)
{
	struct task_struct *task;
	struct task_state *t;
	bool current;
	u16 *entry;
	u32 i;

	if (!tid || followed(tid))
		return 0;
	task = current_task();
	current = tid == (u32)bpf_get_current_pid_tgid();
	entry = follow_entry(tid);
	/* the end of one that ends was seen already, and so was that of one that sent a request and has ended since */
	if (current ? GET(TASK_BTF, task, flags) & PF_EXITING : entry && *entry == ENTRY_ENDED)
		return 0;
	t = state_for(tid, DROP_HELPERS_FULL);
	if (!t)
		return 0;
	if (bpf_map_pop_elem(&free_histories, &i) || i >= WIRE_HISTORIES) {
		__sync_fetch_and_add(&run.drops[DROP_HELPERS_FULL], 1);
		sweep_wanted = 1;
		return 0;
	}
	if (t->caller) { /* its sync call has begun on another CPU: the state is that call's */
		bpf_map_push_elem(&free_histories, &i, BPF_ANY);
		return 0;
	}
	history_owner[i] = tid;
	t->since = t->mattered = bpf_ktime_get_ns();
	t->announced = 0;
	t->seq++;		      /* a gap: what it did since it was followed before is not known, */
	t->work++;		      /* nor was what it is at seen to begin */
	t->off = t->wake = t->on = 0; /* of that time */
	t->seen_switches = current ? switches_of(task) : 0;
	t->history = i + 1;
	return 0;
}

/*
 * Sends what is kept at a place of a helper's history; returns how many records that was. Once is enough: whoever else it wakes finds it
 * there. Not inline: the verifier would walk through it 64 times for each program that sends a history, half a second each time.
 */
__noinline u32 send_kept(u32 tid, u32 place)
{
	struct task_state *t;
	struct history *h = history_by_tid(tid, &t);
	struct wire_sleep *s;
	struct wire_request *r;
	struct wire_bio *b;
	u32 sent = 1;

	if (!h)
		return 0;
	s = &h->sleep[place % HISTORY];
	r = &h->request[place % HISTORY];
	if (!s->head.kind)
		return 0;
	b = &h->bio[place % HISTORY];
	if (b->head.kind && b->seq == s->seq) {
		send(b, sizeof(*b));
		b->head.kind = 0;
		sent++;
	}
	if (s->how == HOW_REQUEST && r->head.kind && r->rq == s->rq && r->done == s->done) {
		send(r, sizeof(*r));
		learn_from(r, tid);
		r->head.kind = 0;
		sent++;
	}
	send(s, s->stack_len ? sizeof(*s) : WIRE_SLEEP_SHORT);
	s->head.kind = 0;
	return sent;
}

enum sleep_age { SLEEP_GONE, SLEEP_SINCE, SLEEP_BEFORE };

/* A global function: the verifier walks through it once, not in each of the loop's 64 rounds. */
__noinline int sleep_age(u32 history, u32 seq, u64 from)
{
	struct wire_sleep *s;
	struct history *h;

	history--;
	h = bpf_map_lookup_elem(&histories, &history);
	if (!h)
		return SLEEP_GONE;
	s = &h->sleep[seq % HISTORY];
	if (s->seq != seq)
		return SLEEP_GONE;
	return s->on <= from ? SLEEP_BEFORE : SLEEP_SINCE;
}

/*
 * How many, back to the last sleep that was over before: from its end on the helper is known to have run. The place of the oldest is the
 * one that the helper itself, on another CPU, fills now.
 */
__noinline u32 sleeps_since(u32 history, u32 next, u64 from)
{
	u32 n;

	for (n = 0; n < HISTORY - 1 && n < next; n++) {
		int age = sleep_age(history, next - n - 1, from);

		if (age != SLEEP_SINCE)
			return age == SLEEP_BEFORE ? n + 1 : n;
	}
	return n;
}

__noinline u32 send_history(u32 tid, u64 from, u32 room)
{
	struct task_state *t;
	struct history *h = history_by_tid(tid, &t);
	u32 n, first;

	if (!h)
		return room;
	n = sleeps_since(t->history, t->seq, from);
	first = t->seq - n;
	for (u32 i = 0; i < HISTORY && i < n; i++) {
		if (room < RECORDS_EACH) {
			h->cut = last_cut = t->mattered = bpf_ktime_get_ns();
			break;
		}
		room -= send_kept(tid, first + i);
	}
	return room;
}

__noinline int send_rest(void)
{
	u64 last = last_cut;

	for (u32 i = 0; i < WIRE_HISTORIES; i++) {
		u32 key = i; /* of `i` itself the verifier then knows no bound */
		struct history *h = bpf_map_lookup_elem(&histories, &key);
		u64 cut = h ? h->cut : 0;

		if (!cut)
			continue;
		send_history(history_owner[i], 0, ALL_RECORDS);
		if (h->cut == cut) /* else a wake-up has cut it meanwhile: the next call sends that */
			h->cut = 0;
	}
	if (last_cut == last)
		last_cut = 0;
	return 0;
}

/* Send a work, once, behind the request and the bio that queued it. Returns enum wire_how: 0 if it is not known who queued the work. */
__noinline int send_work(u32 tid, u32 no)
{
	struct task_state *t;
	struct history *h = history_by_tid(tid, &t);
	struct wire_request *r;
	struct wire_work *w;
	struct wire_bio *b;

	if (!h)
		return 0;
	w = &h->work[no % WORKS];
	r = &h->queuer[no % WORKS];
	if (w->no != no || !no)
		return 0;
	if (!w->head.kind)
		return w->how;
	if (w->how == HOW_REQUEST && r->head.kind) {
		send(r, sizeof(*r));
		learn_from(r, tid);
		r->head.kind = 0;
	}
	b = &h->queuer_bio[no % WORKS];
	if (b->head.kind)
		send(b, sizeof(*b));
	send(w, sizeof(*w));
	b->head.kind = w->head.kind = 0;
	return w->how;
}

#define WORK_CHAIN 4 /* works that queue works */

/* The work in which a worker wakes somebody who has slept since `from`, and those that led to it, and `room` records of who queued them. */
__noinline int send_works(u32 tid, u32 no, u64 from, u32 room)
{
	for (int i = 0; i < WORK_CHAIN && send_work(tid, no) == HOW_TASK; i++) {
		struct task_state *t;
		struct history *h = history_by_tid(tid, &t);
		struct wire_work *w;

		if (!h)
			return 0;
		w = &h->work[no % WORKS];
		if (w->queued <= from)
			return 0;
		tid = w->by;
		no = w->done == 1 ? w->rq >> 32 : 0;
		if (w->by_kind != TASK_USER)
			learn(tid);
		room = send_history(tid, from, room);
	}
	return 0;
}

/*
 * The place of the sleep with this number. A journal's thread that needs many blocks and finds no free request sleeps more
 * often than there is room for: what would be forgotten is sent. Not so for workers, which also serve those whom nobody
 * waits for: theirs, last written to long ago, is not read here.
 */
static __always_inline struct wire_sleep *make_room(struct history *h, u32 seq, u32 tid, u8 kind)
{
	struct wire_sleep *s = &h->sleep[seq % HISTORY];

	if (kind == TASK_KTHREAD && s->head.kind)
		send_kept(tid, seq);
	return s;
}

static __always_inline void send_request(struct completing *c, u32 tid)
{
	struct wire_request *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	c->sent = 1;
	if (!r) {
		__sync_fetch_and_add(&run.drops[DROP_RING_FULL], 1);
		return;
	}
	build_request(r, c);
	learn_from(r, tid);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/*
 * The request that woke a caller is sent at once. One that woke a helper is kept beside the sleep that it ended: it
 * matters only if the helper wakes a followed task.
 */
static __always_inline void take_request(struct completing *c, struct task_state *t, struct task_struct *task)
{
	struct history *h;

	if (c->sent)
		return;
	if (t->caller) {
		send_request(c, task->pid);
		return;
	}
	h = history_of(t);
	if (!h)
		return;
	make_room(h, t->seq, task->pid, kind_of(task->flags));
	build_request(&h->request[t->seq % HISTORY], c);
}

/* The bio that ends here goes the way of the request, and with the sleep that it ends. */
static __always_inline void take_bio(struct task_state *t, struct task_struct *task, u32 tid, bool irq, u32 pid)
{
	struct wire_bio b = {};
	struct history *h;

	if (!bio_ending(&b, irq, pid, t->wake, tid, t->seq))
		return;
	if (t->caller) {
		send(&b, sizeof(b));
		return;
	}
	h = history_of(t);
	if (!h)
		return;
	make_room(h, t->seq, tid, kind_of(task->flags));
	h->bio[t->seq % HISTORY] = b;
}

/* ---- off and on ---- */

static __always_inline void fill_sleep(struct wire_sleep *s, struct task_state *t, u32 tid, u64 now)
{
	fill_head(&s->head, WIRE_SLEEP, t->stack_len ? sizeof(*s) : WIRE_SLEEP_SHORT);
	/* the clock may differ by a little between CPUs (ktime_get_mono_fast_ns): time does not run backwards here */
	s->off = t->off < now ? t->off : now;
	s->wake = t->wake && t->wake < s->off ? s->off : t->wake < now ? t->wake : now;
	s->on = now;
	s->rq = t->rq;
	s->done = t->done;
	s->tid = tid;
	s->waker = t->waker;
	s->seq = t->seq;
	s->how = t->how;
	s->stack_len = t->stack_len;
	s->waker_kind = t->waker_kind;
	s->idle = t->idle;
}

static __always_inline void fill_stack(struct wire_sleep *s, struct task_state *t)
{
	for (int i = 0; i < WIRE_STACK; i++)
		s->stack[i] = i < t->stack_len ? t->stack[i] : 0;
}

/* A caller's sleep goes out at once; most have no stack. */
static __always_inline void send_sleep(struct task_state *t, u32 tid, u64 now)
{
	struct wire_sleep *s = t->stack_len ? bpf_ringbuf_reserve(&ring, sizeof(*s), 0) : NULL;

	if (s) {
		fill_sleep(s, t, tid, now);
		fill_stack(s, t);
		bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
		return;
	}
	t->stack_len = 0;
	s = bpf_ringbuf_reserve(&ring, WIRE_SLEEP_SHORT, 0);
	if (s) {
		fill_sleep(s, t, tid, now);
		bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	} else {
		__sync_fetch_and_add(&run.drops[DROP_RING_FULL], 1);
	}
}

static __always_inline void keep_sleep(struct task_state *t, u32 tid, u8 kind, u64 now)
{
	struct history *h = history_of(t);
	struct wire_sleep *s;

	if (!h)
		return;
	s = make_room(h, t->seq, tid, kind);
	fill_sleep(s, t, tid, now);
	if (t->stack_len)
		fill_stack(s, t);
}

/* The sleep that ends `now`. */
static __always_inline void take_sleep(struct task_struct *task, struct task_state *t, u32 tid, u64 now)
{
	bool helper = t->history;

	if (t->caller)
		send_sleep(t, tid, now);
	if (helper) {
		if (!t->announced)
			announce(t, tid, task);
		keep_sleep(t, tid, kind_of(GET(TASK_BTF, task, flags)), now);
	}
	t->seq++;
}

/* Of the time since `off` nothing is known, until its wake-up if that was seen. */
static __always_inline void unexplained(struct task_state *t, u64 off, u64 wake)
{
	t->off = off;
	t->wake = wake;
	t->how = HOW_UNKNOWN;
	t->stack_len = t->idle = 0;
}

/* The next sleep stands for so many switches: the kernel counted all of them, and a call's sleeps must come to its switches. */
static __always_inline void stands_for(struct task_state *t, u32 times)
{
	if (times > 1)
		t->switches += times - 1;
	__sync_fetch_and_add(&run.drops[DROP_SWITCH], times > 1 ? times : 1);
}

__noinline int catch_up(u32 tid, u32 going)
{
	struct task_struct *task = current_task();
	struct task_state *t = followed(tid);
	u32 times = t ? times_off(t, task) : 0;
	u64 now = bpf_ktime_get_ns(), wake;
	bool off_seen;

	if (!t || times <= going)
		return 0;
	times -= going;
	t->seen_switches = switches_of(task) - going;
	off_seen = times == 1 && not_on(t);
	wake = off_seen && t->wake > t->off ? t->wake : 0;
	stands_for(t, times);
	if (wake) { /* what ended its sleep is known, but not when it came onto a CPU: that stands for itself */
		take_sleep(task, t, tid, wake);
		t->switches--;
		unexplained(t, wake, 0);
		t->how = HOW_UNSEEN;
	} else {
		unexplained(t, off_seen ? t->off : t->on, 0);
	}
	take_sleep(task, t, tid, now);
	t->last_wake = 0;
	t->on = now;
	return 0;
}

static __always_inline void on_off(struct task_struct *task, struct task_state *t, bool preempted, u64 now)
{
	u32 state = task_state_of(task);

	if (rarely(not_on(t)))
		catch_up(task->pid, 1);
	t->off = now;
	t->idle = !preempted && state & TASK_NOLOAD;
	if (preempted || !state) {
		t->how = HOW_PREEMPTED;
		t->wake = now;
		t->stack_len = 0;
	} else if (t->wake <= t->on) {
		/* not woken already in the moment between deciding to sleep and leaving the CPU */
		t->how = HOW_UNKNOWN;
		t->wake = 0;
		t->stack_len = 0;
	}
}

static __always_inline void on_on(struct task_struct *task, u32 tid, struct task_state *t, u64 now)
{
	u32 times = times_off(t, task);

	t->seen_switches = switches_of(task);
	if (rarely(times > 1 || t->off < t->on)) { /* it lost the CPU some time after it was last seen to come onto it */
		stands_for(t, times);
		unexplained(t, t->on, times <= 1 && t->wake > t->on ? t->wake : 0);
	}
	take_sleep(task, t, tid, now);
	t->last_wake = t->wake;
	t->on = now;
}

/*
 * Those of the two that have an entry. A function of its own: most switches end before it, and a program saves at its begin all
 * registers that it uses anywhere.
 */
static __noinline int switch_known(u64 *ctx, u32 prev_entry, u32 next_entry)
{
	struct task_state *off = followed_by_entry(prev_entry), *on = followed_by_entry(next_entry);
	struct task_struct *prev = (struct task_struct *)ctx[1], *next = (struct task_struct *)ctx[2];
	u64 now;

	if (!off && !on)
		return 0;
	now = bpf_ktime_get_ns();
	if (off)
		on_off(prev, off, ctx[0], now);
	if (on)
		on_on(next, next->pid, on, now);
	return 0;
}

SEC("?tp_btf/sched_switch")
int switch_btf(u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1], *next = (struct task_struct *)ctx[2];
	u16 *off = follow_entry(prev->pid), *on = follow_entry(next->pid);

	if (!off || !on || !(*off | *on))
		return 0;
	if (rarely(*on == ENTRY_ENDED) && !(next->flags & PF_EXITING)) /* another task has its number now */
		*on = 0;
	return switch_known(ctx, *off, *on);
}

/* ---- who wakes whom ---- */

/*
 * A wake-up sends its records with interrupts off and a lock held that other CPUs may spin for. Besides histories there may be a chain of
 * works, and twice a few: what catch_up() finds, and what a bio displaces.
 */
#define WAKEUP_RECORDS 32
#define WAKEUP_ROOM    (WAKEUP_RECORDS - RECORDS_EACH * (WORK_CHAIN + 2)) /* for histories */

#define STEP_MAX_NS 50000 /* from the end of a step until its machinery has sent for a worker */

/* Does it wait for work? A kernel thread sleeps so that signals would wake it where nobody waits for what it does. */
static __always_inline bool waits_for_work(const struct task_state *t, struct task_struct *task)
{
	return t->idle || (kind_of(task->flags) == TASK_KTHREAD && task_state_of(task) & TASK_INTERRUPTIBLE);
}

/* Where a sleeping task sleeps: asked only where its waker alone does not tell what it waited for. */
static __always_inline void take_stack(struct task_state *t, struct task_struct *task)
{
	long n;

	if (waits_for_work(t, task))
		return;
	n = bpf_get_task_stack(task, t->stack, sizeof(t->stack), 0);
	t->stack_len = n > 0 ? n / sizeof(u64) : 0;
}

/*
 * Woken by another task in its own time: it is learned, unless
 * - it is a caller itself: its sleeps are sent anyway;
 * - it is a loop device's worker that wakes an idle one: that gets the device's next request or somebody else's work, and
 *   they all would be followed before long, who serve the disk and not the callers;
 * - it is a user task that wakes a kworker: it brings work to an idle one, or it is the far end of a driver (FUSE, nbd) below
 *   the traced disk. What happens below the disk is the device's time and nobody's to explain.
 */
static __always_inline void woken_by_task(struct task_state *t, struct task_struct *task, struct task_struct *me, u32 pid)
{
	u8 kind = kind_of(task->flags);
	struct task_state *w = followed(pid);
	u32 room;

	t->how = HOW_TASK;
	t->waker = pid;
	t->rq = t->done = 0;
	t->waker_kind = kind_of(GET(TASK_BTF, me, flags));
	if (t->waker_kind == TASK_USER && kind == TASK_KWORKER)
		return;
	if (t->waker_kind == TASK_KWORKER && kind == TASK_KWORKER && t->idle && by_loop(me))
		return;
	if (!w || t->waker_kind == TASK_USER)
		take_stack(t, task);
	if (w && w->history) {
		if (rarely(times_off(w, me)))
			catch_up(pid, 0);
		t->rq = w->seq;
		t->done = 1;
		w->mattered = t->wake;
		room = send_history(pid, t->off, WAKEUP_ROOM);
		if (t->waker_kind == TASK_KWORKER) {
			t->rq |= (u64)w->work << 32;
			send_works(pid, w->work, t->off, room);
		}
	}
	if (w)
		return;
	learn(pid);
	w = followed(pid);
	if (w && !w->announced)
		announce(w, pid, me);
}

/* A step of a flush sequence ended here just now: its machinery sends for a worker to go on. */
static __always_inline bool after_step(const struct completing *c, u64 now)
{
	return !c->rq && now - c->done < STEP_MAX_NS;
}

/* An idle worker woken by an interrupt: who sends for it tells (blk-throttle's timer), not where it slept. */
static __always_inline void take_own_stack(struct task_state *t, void *ctx)
{
	long n = bpf_get_stack(ctx, t->stack, sizeof(t->stack), 0);

	t->stack_len = n > 0 ? n / sizeof(u64) : 0;
}

/* A worker that gets its work by the completion of a traced request is a helper from its first time on. */
static __always_inline struct task_state *worker_of_request(struct task_struct *task, u32 tid)
{
	struct task_state *t;

	learn(tid);
	t = followed(tid);
	if (t)
		t->idle = !!(task_state_of(task) & TASK_NOLOAD);
	return t;
}

/* Who is woken by `me`, or by an interrupt on top of it, is followed; c: the completion that does it, or NULL. */
static __always_inline void woken(void *ctx, struct task_state *t, struct task_struct *task, struct task_struct *me,
				  struct completing *here, struct completing *c, bool irq, u32 pid)
{
	t->stack_len = 0;
	if (c) {
		t->how = HOW_REQUEST;
		t->rq = c->rq;
		t->done = c->done;
		take_request(c, t, task);
		if (c->sender != (u32)task->pid)
			take_stack(t, task);
	} else if (irq) {
		t->how = HOW_IRQ;
		if (t->idle && !after_step(here, t->wake))
			take_own_stack(t, ctx);
		else
			take_stack(t, task);
	} else {
		woken_by_task(t, task, me, pid);
	}
	if (cfg.bios)
		take_bio(t, task, task->pid, irq, pid);
}

/*
 * Of the wake-ups of workers that nobody follows most end at a look at this CPU's last completion. A function of its own as
 * switch_known() is.
 */
static __noinline int waking_known(u64 *ctx, u32 entry)
{
	struct task_struct *task = (struct task_struct *)ctx[0], *me;
	struct task_state *t = followed_by_entry(entry);
	struct completing *here, *c;
	u32 pid;
	bool irq;
	u64 now;

	if (!t && !(task->flags & PF_WQ_WORKER))
		return 0;
	here = completing_cpu();
	if (!here || (!t && !here->rq))
		return 0;
	me = current_task();
	pid = current_pid(me);
	if (!t && here->pid != pid)
		return 0;
	irq = in_interrupt(ctx, me, &here->at_waking);
	now = bpf_ktime_get_ns();
	c = completing_now(here, irq, pid, now);
	if (!t && c)
		t = worker_of_request(task, task->pid);
	if (!t)
		return 0;
	t->wake = now;
	woken(ctx, t, task, me, here, c, irq, pid);
	return 0;
}

SEC("?tp_btf/sched_waking")
int waking_btf(u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	u16 *entry = follow_entry(task->pid);

	return entry && (*entry || task->flags & PF_WQ_WORKER) ? waking_known(ctx, *entry) : 0;
}

/* A task has ended: its number may come back as another task's. */
static __always_inline int forget(u32 tid)
{
	u16 *entry = follow_entry(tid);
	struct task_state *t = state_at(entry);
	struct history *h = t ? history_of(t) : NULL;

	if (!entry)
		return 0;
	if (h && rarely(h->cut))
		send_history(tid, 0, ALL_RECORDS);
	*entry = ENTRY_ENDED;
	if (!t)
		return 0;
	count_end_missed(t);
	if (t->caller)
		caller_left();
	t->caller = t->history = t->call = 0;
	sweep_wanted = 1;
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int forget_btf(u64 *ctx)
{
	return forget(((struct task_struct *)ctx[0])->pid);
}

/* Run by user space for a task that is gone, and whose end was not seen. */
SEC("?raw_tp")
int bury(u64 *ctx)
{
	return forget(ctx[0]);
}

/* Run by user space, once per task that is sure to matter (jbd2), with its number as the only argument. */
SEC("?raw_tp")
int seed(u64 *ctx)
{
	return learn(ctx[0]);
}

/*
 * User space runs this for each part of both maps (enum wire_free, number of the part), the last part first. To update the maps from there,
 * one entry at a time, takes some ms.
 */
SEC("?raw_tp")
int fill(u64 *ctx)
{
	u32 entry = ((u32)ctx[1] + 1) * WIRE_FREE_PART;
	bool tasks = ctx[0] == WIRE_FREE_TASKS;

#pragma clang loop unroll(disable)
	for (u32 i = 0; i < WIRE_FREE_PART; i++) {
		entry--;
		if (tasks)
			bpf_map_push_elem(&free_tasks, &entry, BPF_ANY);
		else
			bpf_map_push_elem(&free_histories, &entry, BPF_ANY);
	}
	return 0;
}
