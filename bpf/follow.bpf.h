/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.bpf.h - the tasks that sync calls depend on.
 *
 * An entry per process number says at the cost of one load where a task's state stands, if it ever mattered: nothing is
 * hashed. Entries of many tasks share a cache line that all CPUs read, so one is written only when its task first matters, when
 * a task of its number ends, and when the next one comes onto a CPU; whether a task is followed at present stands in its state.
 *
 * Callers are followed while they are inside a sync call. A task that wakes a followed one in its own time is a helper from
 * then on: it did something that a sync call waited for, and will again (jbd2, the kworkers of XFS, loop or btrfs, whoever
 * holds the journal). A helper's sleeps are remembered here and sent only when it wakes a followed task.
 */
#ifndef BT_FOLLOW_BPF_H
#define BT_FOLLOW_BPF_H

#include "state.bpf.h"
#include "task_state.h"

/* Task flags (include/linux/sched.h): macros, unchanged since 5.12, when PF_IO_WORKER came. */
#define PF_EXITING   0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD   0x00200000

#define TASK_INTERRUPTIBLE 1	 /* in task_struct.__state, as the next */
#define TASK_NOLOAD	   0x400 /* part of TASK_IDLE */

#define HISTORY	     64
#define WORKS	     16
#define RECORDS_EACH 3 /* of a sleep or a work, at most: itself, a bio and a request */

/*
 * A helper's last sleeps, in a ring by seq, and the requests and bios that ended them; a worker's last works, by number, and the requests
 * and bios that queued them. kind 0: sent already, or none.
 */
struct history {
	struct wire_sleep sleep[HISTORY];
	struct wire_request request[HISTORY];
	struct wire_bio bio[HISTORY];
	struct wire_work work[WORKS];
	struct wire_request queuer[WORKS];
	struct wire_bio queuer_bio[WORKS];
	u64 cut; /* when a wake-up last had no room for all of its sleeps; 0: they have been sent since */
};

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before load: pid_max / PIDS_PER_CHUNK + 1 */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct pid_chunk);
} pids SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_TASKS);
	__uint(map_flags, BPF_F_MMAPABLE); /* for its alignment */
	__type(key, u32);
	__type(value, struct task_state);
} tasks SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_HISTORIES);
	__type(key, u32);
	__type(value, struct history);
} histories SEC(".maps");

STATE unsigned int history_owner[WIRE_HISTORIES] SEC(".data"); /* tid of who took it; 0: it is free */

STATE unsigned int sweep_wanted SEC(".data"); /* 1: an entry could come back: its task has ended, or there was none left */

/* Entries of the two that nobody uses; filled by fill(). Programs take them, user space gives them back: see task_sweep.h. */
STATE struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, WIRE_TASKS);
	__type(value, u32);
} free_tasks SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, WIRE_HISTORIES);
	__type(value, u32);
} free_histories SEC(".maps");

/* Tasks whose state is being made at this moment, and its index: there is to be one for each task, whoever asks on how many CPUs. */
STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, u32);
} being_made SEC(".maps");

STATE struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set before load */
} ring SEC(".maps");

/* Follows a task from now on, if it isn't followed yet. In sched.bpf.c, as the next. */
int learn(u32 tid);

/* Makes the state of a task that has none. Returns its index, plus 1; 0: there is none. `no_room` (enum wire_drop) counts if that is why. */
u32 make_state(u32 pid, u32 no_room);

/*
 * Callers within a sync call now, and since when there was one all the time. Too many if one's end is missed: that costs time, and
 * nothing else. Works that are queued while there is none matter to nobody.
 */
STATE unsigned long long callers SEC(".data") __attribute__((aligned(64)));
STATE unsigned long long callers_since SEC(".data");
/* When a call of this run last began, and one that only sys_enter sees: for a while after it nothing that it needs is detached. */
STATE unsigned long long last_call SEC(".data");
STATE unsigned long long last_sys_enter_call SEC(".data");

static __always_inline bool somebody_waits(void)
{
	return callers || run.pending_used; /* AIO or io_uring have synced */
}

static __always_inline void caller_came(u64 now)
{
	if (!callers)
		callers_since = now;
	__sync_fetch_and_add(&callers, 1);
}

/* Is a sync call on this device of this run, as far as is known here? */
static __always_inline bool is_of_run(u32 dev)
{
	return !bpf_map_lookup_elem(&elsewhere, &dev);
}

static __always_inline void note_call(u32 dev, u64 now, bool needs_enter)
{
	if (!cfg.may_idle || !is_of_run(dev))
		return;
	last_call = now;
	if (needs_enter)
		last_sys_enter_call = now;
}

static __always_inline void caller_left(void)
{
	if (callers) /* user space may have reset it meanwhile */
		__sync_fetch_and_add(&callers, -1);
}

/*
 * Sends what is remembered of a helper's sleeps from the last that ended before `from` on, unless sent, oldest first: at most `room` records
 * (ALL_RECORDS: whatever there is). Returns the room that is left.
 */
u32 send_history(u32 tid, u64 from, u32 room);
#define ALL_RECORDS (RECORDS_EACH * HISTORY)

STATE unsigned long long last_cut SEC(".data"); /* of all histories */

/* Sends what wake-ups had no room for, whoever waited, and what else is in these histories. */
int send_rest(void);

/* Call it before a call's record is sent: what that depends on goes first. Others' calls and those without a ledger depend on nothing. */
static __always_inline void before_call(void)
{
	if (rarely(last_cut))
		send_rest();
}

/* How often the kernel says that a task lost the CPU. */
static __always_inline u32 switches_of(struct task_struct *task)
{
	return GET(TASK_BTF, task, nvcsw) + GET(TASK_BTF, task, nivcsw);
}

/* How long it was ready to run and waited for a CPU, ns; 0: not known. */
static __always_inline u64 waited_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info) ? GET(TASK_BTF, task, sched_info.run_delay) : 0;
}

static __always_inline u16 *follow_entry(u32 pid)
{
	u32 key = pid / PIDS_PER_CHUNK;
	struct pid_chunk *c = bpf_map_lookup_elem(&pids, &key);

	return c ? &c->entry[pid % PIDS_PER_CHUNK] : NULL;
}

static __always_inline struct task_state *state_by_entry(u32 entry)
{
	return entry-- ? bpf_map_lookup_elem(&tasks, &entry) : NULL;
}

/* The state of the task that an entry is of, NULL if it has none; so is `entry` of a number that is too large. */
static __always_inline struct task_state *state_at(const u16 *entry)
{
	return entry ? state_by_entry(*entry) : NULL;
}

static __always_inline struct task_state *state_of(u32 pid)
{
	return state_at(follow_entry(pid));
}

/* The state of a task that is followed now, else NULL. */
static __always_inline struct task_state *followed_by_entry(u32 entry)
{
	struct task_state *t = state_by_entry(entry);

	return t && (t->caller || t->history) ? t : NULL;
}

static __always_inline struct task_state *followed(u32 pid)
{
	u16 *entry = follow_entry(pid);

	return entry ? followed_by_entry(*entry) : NULL;
}

/* Off its CPU as far as was seen. */
static __always_inline bool not_on(const struct task_state *t)
{
	return t->off > t->on;
}

/*
 * How often a task that runs, or comes onto a CPU now, has lost it since it was last seen to come onto one. Some kernels leave programs out,
 * under load or while another tracer comes or goes; their own count of switches is whole.
 */
static __always_inline u32 times_off(const struct task_state *t, struct task_struct *task)
{
	u32 seen = t->seen_switches;

	if (!seen && t->caller)
		seen = t->switches;
	return seen ? switches_of(task) - seen : not_on(t);
}

/*
 * Makes up for switches of the current task that no program was shown: they become an unexplained sleep. `going`: 1 while the task loses the
 * CPU, as the kernel has counted that already, else 0. Does nothing where times_off() is not above it.
 */
int catch_up(u32 tid, u32 going);

/* The state of a task; a new one if it has none, NULL if none can be made. */
static __always_inline struct task_state *state_for(u32 pid, enum wire_drop no_room)
{
	u16 *entry = follow_entry(pid);
	struct task_state *t = state_at(entry);

	return t || !entry ? t : state_by_entry(make_state(pid, no_room));
}

/* There will be no record of a sync call that took no longer than since then. */
static __always_inline void count_unrecorded(enum wire_drop why, u64 since)
{
	__sync_fetch_and_add(&run.drops[why], 1);
	__sync_fetch_and_add(&run.unrecorded_ns, bpf_ktime_get_ns() - since);
}

/* A sync call that began, or went on, while what ledgers need was not attached. */
static __always_inline void count_idle(u32 dev)
{
	if (is_of_run(dev))
		__sync_fetch_and_add(&run.idle_calls, 1);
}

/* The task is in another call now, or gone: was it seen to leave its sync call? Of the kernel's own that can't be told: one may be within another. */
static __always_inline void count_end_missed(const struct task_state *t)
{
	if (run.idle && t->caller)
		count_idle(t->dev);
	else if (t->caller && t->nr != CALL_NO_NR)
		count_unrecorded(DROP_END, t->enter);
}

static __always_inline struct history *history_of(struct task_state *t)
{
	u32 i = t->history - 1;

	return bpf_map_lookup_elem(&histories, &i);
}

/* What a kernel thread has: since e32cf5dfbe22 ("kthread: Generalize pf_io_worker", 5.17) it has a place of its own. */
static __always_inline struct kthread *kthread_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->worker_private))
		return BPF_CORE_READ(task, worker_private);
	return (struct kthread *)BPF_CORE_READ(task, set_child_tid);
}

/* The first eight bytes of the name of the workqueue that a worker works for, as a number; 0: not known. Names keep 23 letters. */
static __always_inline u64 queue_of_worker(struct task_struct *task)
{
	struct workqueue_struct *wq;
	struct worker *w;
	u64 name = 0;

	if (!(GET(TASK_BTF, task, flags) & PF_WQ_WORKER))
		return 0;
	w = BPF_CORE_READ(kthread_of(task), data);
	wq = w ? BPF_CORE_READ(w, current_pwq, wq) : NULL;
	return wq && !bpf_core_read(&name, sizeof(name), &wq->name) ? name : 0;
}

/* The function of the work that a worker is at; 0: not known. */
static __always_inline u64 function_of_worker(struct task_struct *task)
{
	struct worker *w = GET(TASK_BTF, task, flags) & PF_WQ_WORKER ? BPF_CORE_READ(kthread_of(task), data) : NULL;

	return w ? (u64)BPF_CORE_READ(w, current_func) : 0;
}

/* "ksoftir" with its NUL would not fit: the first eight bytes of a ksoftirqd's name, as a number. */
static __always_inline bool is_ksoftirqd(struct task_struct *task)
{
	static const char name[8] = { 'k', 's', 'o', 'f', 't', 'i', 'r', 'q' };
	u64 comm;

	if (!(GET(TASK_BTF, task, flags) & PF_KTHREAD))
		return false;
	if (TASK_BTF)
		comm = *(u64 *)task->comm;
	else
		bpf_core_read(&comm, sizeof(comm), &task->comm);
	return comm == *(const u64 *)name;
}

/*
 * Do we run in an interrupt, on top of a task, the current one, that has nothing to do with it, or in ksoftirqd, which runs what an
 * interrupt put off? Hard and soft interrupts have a stack of their
 * own, and `ctx`, the tracepoint's arguments, stands on the stack in use. (The preemption count would say it too, but its
 * address is known only where kallsyms lists data.) The pointer becomes a number by way of a map's memory, which must be of
 * this CPU and this program alone: on its stack the verifier would still know what it is.
 */
static __always_inline bool in_interrupt(void *ctx, struct task_struct *task, u64 *scratch)
{
	*(void *volatile *)scratch = ctx;
	return *(volatile u64 *)scratch - (u64)GET(TASK_BTF, task, stack) >= cfg.thread_size || is_ksoftirqd(task);
}

#endif
