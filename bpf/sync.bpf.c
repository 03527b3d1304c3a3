// SPDX-License-Identifier: GPL-2.0-only
/*
 * sync.bpf.c - sync calls: system calls that must not return before data is durable, from entry to exit.
 */
#include "file.bpf.h"
#include "filter.bpf.h"
#include "idle.bpf.h"
#include "syscall.bpf.h"

/* User-space ABI (uapi): these values never change. */
#define MS_SYNC			    4
#define SYNC_FILE_RANGE_WAIT_BEFORE 1
#define SYNC_FILE_RANGE_WAIT_AFTER  4
#define RWF_DSYNC		    2
#define RWF_SYNC		    4
#define O_DSYNC			    010000 /* part of O_SYNC too */
#if defined(__TARGET_ARCH_arm64)
#define O_DIRECT 0200000
#else
#define O_DIRECT 040000
#endif

/* Kernel-internal flags (include/linux/fs.h); macros, unchanged since 5.10. */
#define SB_SYNCHRONOUS (1 << 4)
#define S_SYNC	       (1 << 0)

/* A system call, at its entry. */
struct syscall {
	union { /* where its arguments stand */
		struct pt_regs *regs;
		struct trace_event_raw_sys_enter *event;
	};
	u32 nr;
	bool compat;   /* of the 32-bit kind */
	bool in_event; /* a constant of the program */
};

/* Argument n of a system call. */
static __always_inline u64 syscall_arg(const struct syscall *s, int n)
{
	struct trace_event_raw_sys_enter *event = s->event;
	struct pt_regs *regs = s->regs;

	if (s->in_event)
		return BPF_CORE_READ(event, args[n]);
#if defined(__TARGET_ARCH_x86)
	switch (n) {
	case 0: return s->compat ? LOOK(regs, bx) : LOOK(regs, di);
	case 1: return s->compat ? LOOK(regs, cx) : LOOK(regs, si);
	case 2: return LOOK(regs, dx);
	case 3: return s->compat ? LOOK(regs, si) : LOOK(regs, r10);
	case 4: return s->compat ? LOOK(regs, di) : LOOK(regs, r8);
	default: return s->compat ? LOOK(regs, bp) : LOOK(regs, r9);
	}
#elif defined(__TARGET_ARCH_arm64)
	/* at entry the first argument is still in its register; struct pt_regs begins with user_pt_regs */
	return BPF_CORE_READ((struct user_pt_regs *)regs, regs[n]);
#else
#error "system call arguments of this architecture are not known"
#endif
}

/* The number of the system call; at sys_enter it is an argument of the tracepoint. */
static __always_inline u64 syscall_number(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->orig_ax;
#else
	return regs->syscallno;
#endif
}

/* A call that is none of those that may be sync calls, of either kind. */
static __always_inline bool never_sync(u64 nr)
{
	return nr < CONFIG_SYSCALLS && !(cfg.call_of_nr[nr].native | cfg.call_of_nr[nr].compat);
}

/* i386 passes a 64-bit offset in two registers; arm has sync_file_range2, with the flags in front for that reason. */
static __always_inline u64 sync_file_range_flags(const struct syscall *s)
{
	if (!s->compat)
		return syscall_arg(s, 3);
#if defined(__TARGET_ARCH_x86)
	return syscall_arg(s, 5);
#else
	return syscall_arg(s, 1);
#endif
}

/* Does a write to this file have to be durable when it returns? */
static __always_inline bool file_is_sync(struct file *file)
{
	struct inode *inode;

	if (LOOK(file, f_flags) & O_DSYNC)
		return true;
	inode = LOOK(file, f_inode);
	return LOOK(inode, i_flags) & S_SYNC || LOOK(LOOK(inode, i_sb), s_flags) & SB_SYNCHRONOUS;
}

/* The file of a sync call; whether it is one at all depends on its arguments. */
static __always_inline bool call_file(const struct syscall *s, u32 call, struct file **file)
{
	*file = NULL;
	switch (call) {
	case CALL_SYNC: return true;
	case CALL_MSYNC: return syscall_arg(s, 2) & MS_SYNC;
	case CALL_SYNC_FILE_RANGE:
		if (!(sync_file_range_flags(s) & (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER)))
			return false;
		break;
	}
	*file = file_of(syscall_arg(s, 0));
	if (!*file)
		return false;
	if (call != CALL_WRITE || file_is_sync(*file))
		return true;
	return s->nr == (s->compat ? cfg.nr_pwritev2_32 : cfg.nr_pwritev2) && syscall_arg(s, 5) & (RWF_DSYNC | RWF_SYNC);
}

static __always_inline u32 had_of(struct file *file)
{
	return (had_pages(file) ? HAD_PAGES : 0) | (LOOK(file, f_flags) & O_DIRECT ? HAD_DIRECT : 0);
}

#define barrier() asm volatile("" ::: "memory")

/*
 * The switches of the current task as the kernel counts them, and at the same moment its number of sleeps here. Since 6.13 a program at a
 * system call's begin or end can be preempted between the two: then once more.
 */
static __always_inline u32 switches_and_seq(struct task_struct *task, const struct task_state *t, u32 *seq)
{
	u32 n = switches_of(task), again;

	for (int i = 0; i < 3; i++) {
		barrier();
		*seq = t->seq;
		barrier();
		again = switches_of(task);
		if (again == n)
			break;
		n = again;
	}
	return n;
}

/* `file` may be NULL. */
static __always_inline void call_follow(u32 tid, struct file *file, u32 call, u32 tgid, u16 nr)
{
	struct task_struct *task = current_task();
	struct task_state *t = state_for(tid, DROP_CALLERS_FULL);
	u32 seq;

	if (!t)
		return;
	count_end_missed(t);
	if (file)
		note_file(t, file, call == CALL_SYNCFS);
	else
		t->ino = t->dev = t->generation = 0;
	t->call = call;
	t->nr = nr;
	t->tgid = tgid;
	t->flushes = t->writes = t->write_sectors = t->fua = 0;
	t->had = file ? had_of(file) : 0;
	t->wake = t->last_wake = 0;
	t->enter = t->on = bpf_ktime_get_ns();
	if (!t->caller)
		caller_came(t->enter);
	if (!t->caller && !t->history)
		t->seen_switches = t->switches = 0;
	else if (rarely(times_off(t, task)))
		catch_up(tid, 0);
	t->caller = 1;
	note_call(t->dev, t->enter, !has_function(call));
	/* from here on each switch is seen */
	t->switches = switches_and_seq(task, t, &seq);
	t->first_seq = seq;
	t->voluntary = GET(TASK_BTF, task, nvcsw);
	t->waited = waited_of(task);
	t->enter = t->on = bpf_ktime_get_ns();
}

/* Who waits for a server waits for calls that it does not make itself. What a helper's state has of a sync call is free for this. */
static __always_inline void other_begin(u32 tid, struct file *file, u32 call, u32 tgid, u16 nr)
{
	struct task_state *t = state_for(tid, DROP_CALLERS_FULL);
	struct file_key key = {};

	if (!t || t->caller)
		return;
	if (file)
		key_of_file(file, &key);
	t->dev = key.dev;
	t->ino = t->generation = 0; /* no file is named by it */
	t->call = call | CALL_OF_OTHER;
	t->nr = nr;
	t->tgid = tgid;
	t->enter = bpf_ktime_get_ns();
}

static __always_inline void call_begin(const struct syscall *s, u32 call)
{
	struct file *file;
	u32 tid, tgid;
	u64 id;

	if (!call_file(s, call, &file))
		return;
	id = bpf_get_current_pid_tgid();
	tid = (u32)id;
	tgid = id >> 32;
	if (caller_wanted(tgid))
		call_follow(tid, file, call, tgid, s->nr);
	else
		other_begin(tid, file, call, tgid, s->nr);
}

/*
 * Not inline: 5.10 forgets the bounds of a system call's number that has no register to stay in. Two, as only one of them copies its
 * arguments.
 */
static __noinline int call_begin_btf(struct pt_regs *regs, u32 nr, bool compat, u32 call)
{
	const struct syscall s = { .regs = regs, .nr = nr, .compat = compat };

	call_begin(&s, call);
	return 0;
}

static __noinline int call_begin_tp(struct trace_event_raw_sys_enter *event, u32 nr, bool compat, u32 call)
{
	const struct syscall s = { .event = event, .in_event = true, .nr = nr, .compat = compat };

	call_begin(&s, call);
	return 0;
}

/* Will a call that begins now be traced at its own function? */
static __always_inline bool traced_at_function(u32 call)
{
	return run.functions_since && has_function(call) && bpf_ktime_get_ns() >= run.functions_since;
}

static __always_inline void forget_idle_call(void)
{
	struct task_state *t = state_of((u32)bpf_get_current_pid_tgid());

	if (t && t->call & CALL_OF_IDLE && !t->caller)
		t->call = 0;
}

/* Most are rejected by their number, which is at hand: without asking who it is. */
static __always_inline int on_sys_enter(struct syscall *s, u64 nr)
{
	u32 call;

	if (nr >= CONFIG_SYSCALLS || never_sync(nr))
		return 0;
	s->nr = nr;
	s->compat = is_32bit_call();
	call = s->compat ? cfg.call_of_nr[nr].compat : cfg.call_of_nr[nr].native;
	if (!call || traced_at_function(call))
		return 0;
	if (rarely(run.sys_enter_bell == BELL_RUNG)) { /* sys_exit is not attached yet. The call that rang has ended */
		forget_idle_call();
		return 0;
	}
	return s->in_event ? call_begin_tp(s->event, s->nr, s->compat, call) :
			     call_begin_btf(s->regs, s->nr, s->compat, call);
}

SEC("?tp_btf/sys_enter")
int sys_enter_btf(u64 *ctx)
{
	struct syscall s = { .regs = (struct pt_regs *)ctx[0] };

	return on_sys_enter(&s, ctx[1]);
}

SEC("?tp/raw_syscalls/sys_enter")
int sys_enter_tp(struct trace_event_raw_sys_enter *ctx)
{
	struct syscall s = { .event = ctx, .in_event = true };

	return on_sys_enter(&s, ctx->id);
}

static __always_inline void send_call(struct task_state *t, u32 tid, int ret, bool other, u32 had)
{
	struct task_struct *task = current_task(), *loose = LOOSE(TASK_BTF, task);
	struct task_struct *leader = GET(TASK_BTF, loose, group_leader);
	struct wire_sync *s;
	u32 seq;
	u64 now;

	now = bpf_ktime_get_ns();
	s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);
	if (!s) {
		if (!other)
			count_unrecorded(DROP_CALL, t->enter);
		else
			__sync_fetch_and_add(&run.drops[DROP_RING_FULL], 1);
		return;
	}
	s->head.kind = WIRE_SYNC;
	s->head.size = sizeof(*s);
	s->head.cpu = 0;
	s->enter = t->enter;
	s->exit = now;
	s->ino = t->ino;
	s->dev = t->dev;
	s->generation = t->generation;
	s->tid = tid;
	s->tgid = t->tgid;
	s->worker = 0;
	s->ret = ret;
	s->call = (u16)t->call;
	s->switches = switches_and_seq(task, t, &seq) - t->switches;
	s->sleeps = seq - t->first_seq;
	s->voluntary_enter = t->voluntary;
	s->voluntary_exit = GET(TASK_BTF, task, nvcsw);
	s->waited_enter = t->waited;
	s->waited_exit = waited_of(task);
	s->flushes = t->flushes;
	s->write_bytes = (u64)t->write_sectors << 9;
	s->writes = t->writes;
	s->had = t->had | (t->fua ? HAD_FUA : 0) | had;
	s->other = other;
	if (TASK_BTF) {
		((u64 *)s->comm)[0] = ((u64 *)leader->comm)[0];
		((u64 *)s->comm)[1] = ((u64 *)leader->comm)[1];
	} else {
		bpf_core_read(s->comm, sizeof(s->comm), &leader->comm);
	}
	bpf_ringbuf_submit(s, wake_flag());
}

/* One that rang the bell, or came before all was attached: it has no ledger. */
static __always_inline void idle_end(struct task_state *t, u32 tid, int ret)
{
	t->call &= ~CALL_OF_IDLE;
	send_call(t, tid, ret, false, HAD_BEGUN_IDLE);
	if (is_of_run(t->dev))
		__sync_fetch_and_add(&run.idle_ends, 1);
	t->call = 0;
}

/* In this order: a call that user space does not see as begun any more has its record in the ring buffer. */
static __always_inline void call_end(struct task_state *t, u32 tid, int ret)
{
	if (rarely(run.idle)) { /* it began just before that */
		count_idle(t->dev);
		idle_end(t, tid, ret);
	} else {
		if (rarely(times_off(t, current_task())))
			catch_up(tid, 0);
		before_call();
		send_call(t, tid, ret, false, 0);
	}
	t->caller = 0;
	caller_left();
}

static __always_inline void other_end(struct task_state *t, u32 tid, int ret)
{
	send_call(t, tid, ret, true, 0);
	t->call = 0;
}

/* Others are sync calls with some files or flags only: that the task's last one was says nothing about the next. */
static __always_inline bool always_sync(u32 call)
{
	return call == CALL_FSYNC || call == CALL_FDATASYNC || call == CALL_SYNCFS || call == CALL_SYNC;
}

static __always_inline void dispatch_end(struct task_state *t, u32 tid, int ret)
{
	if (t->caller)
		call_end(t, tid, ret);
	else if (t->call & CALL_OF_OTHER)
		other_end(t, tid, ret);
	else if (t->call & CALL_OF_IDLE)
		idle_end(t, tid, ret);
	else if (!ret && always_sync(t->call) && !run.idle)
		count_unrecorded(DROP_BEGIN, t->enter);
}

static __always_inline int on_sys_exit(u64 nr, int ret)
{
	struct task_state *t;
	u32 tid;

	if (never_sync(nr))
		return 0;
	tid = (u32)bpf_get_current_pid_tgid();
	t = state_of(tid);
	/* of another call: the end of the sync call was missed */
	if (t && t->nr == nr)
		dispatch_end(t, tid, ret);
	return 0;
}

SEC("?tp_btf/sys_exit")
int sys_exit_btf(u64 *ctx)
{
	return on_sys_exit(syscall_number((struct pt_regs *)ctx[0]), (int)ctx[1]);
}

SEC("?tp/raw_syscalls/sys_exit")
int sys_exit_tp(struct trace_event_raw_sys_exit *ctx)
{
	return on_sys_exit(ctx->id, (int)ctx->ret);
}

/* A kernel thread may be at work for any task: true. */
__noinline int needs_sys_enter(void)
{
	u32 call, flags = GET(TASK_BTF, current_task(), flags);
	struct task_state *t;
	struct file *file;
	u64 nr;

	if (flags & (PF_KTHREAD | PF_IO_WORKER))
		return true;
	call = call_now(&nr);
	if (!call || has_function(call))
		return false;
	t = state_of((u32)bpf_get_current_pid_tgid());
	if (t && t->caller)
		return false;
	if (call != CALL_WRITE || nr == (is_32bit_call() ? cfg.nr_pwritev2_32 : cfg.nr_pwritev2))
		return true;
	file = file_of(first_argument());
	return file && file_is_sync(file);
}

/* ---- at the calls' own functions, whose only argument is a pointer to the caller's registers ---- */

/* Stays attached while nobody syncs, but does not ring: the file system's tracepoint does. */
static __always_inline int on_function(struct pt_regs *regs)
{
	u64 nr = syscall_number(regs), now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct task_state *t = state_of((u32)id);
	u32 call;

	if (nr >= CONFIG_SYSCALLS || is_32bit_call())
		return 0;
	call = cfg.call_of_nr[nr].native;
	if (run.selftest_pid && run.selftest_pid == id >> 32)
		run.selftest_calls |= 1u << (call & 31);
	/* the task's call before has ended: its end must not be taken for this one's */
	if (run.idle && t && !t->caller)
		t->call = 0;
	if (run.idle || !run.functions_since || now < run.functions_since)
		return 0;
	/* sys_enter saw this call begin, just before `functions_since` */
	if (t && t->caller && t->nr == nr && now - run.functions_since < 1000000000)
		return 0;
	return call_begin_btf(regs, (u32)nr | CALL_BY_FUNCTION, false, call);
}

static __always_inline int on_function_end(struct pt_regs *regs, int ret)
{
	u64 nr = syscall_number(regs);
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct task_state *t = state_of(tid);

	if (t && (t->nr == (nr | CALL_BY_FUNCTION) || (t->nr == nr && t->call & CALL_OF_IDLE && !t->caller)))
		dispatch_end(t, tid, ret);
	return 0;
}

/* clang-format off */
#if defined(__TARGET_ARCH_x86)
#define FUNCTION_OF(call) "__x64_sys_" call
#define FUNCTION_OF_SYNC  "__do_sys_sync" /* of both kinds */
#else
#define FUNCTION_OF(call) "__arm64_sys_" call
#define FUNCTION_OF_SYNC  FUNCTION_OF("sync")
#endif

#define AT_FUNCTION(name, function) \
	SEC("?fentry/" function) \
	int call_##name##_fentry(u64 *ctx) \
	{ \
		return on_function((struct pt_regs *)ctx[0]); \
	} \
	SEC("?fexit/" function) \
	int call_##name##_end_fentry(u64 *ctx) \
	{ \
		return on_function_end((struct pt_regs *)ctx[0], (int)ctx[1]); \
	}

AT_FUNCTION(fsync, FUNCTION_OF("fsync"))
AT_FUNCTION(fdatasync, FUNCTION_OF("fdatasync"))
AT_FUNCTION(msync, FUNCTION_OF("msync"))
AT_FUNCTION(syncfs, FUNCTION_OF("syncfs"))
AT_FUNCTION(sync_file_range, FUNCTION_OF("sync_file_range"))
AT_FUNCTION(sync, FUNCTION_OF_SYNC)
/* clang-format on */

/* ---- sync calls that no system call tells of: nfsd's, loop's, those of overlayfs when it copies a file up ---- */

/* Is it within a call that is counted already? One of the kernel's own begins anew: it is nested, or its end was missed. */
static __always_inline bool within_call(u32 tid)
{
	struct task_struct *task = current_task();
	struct task_state *t = followed(tid);

	if (t && t->caller)
		return t->call != CALL_KERNEL_FSYNC;
	return BPF_CORE_READ(task, flags) & PF_IO_WORKER || (t && t->aio);
}

static __always_inline int kernel_begin(struct file *file)
{
	u64 id = bpf_get_current_pid_tgid();

	if (run.idle) {
		ring_idle_bell();
		return 0;
	}
	if (!within_call((u32)id) && caller_wanted(id >> 32))
		call_follow((u32)id, file, CALL_KERNEL_FSYNC, id >> 32, CALL_NO_NR);
	return 0;
}

static __always_inline int kernel_end(int ret)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct task_state *t = followed(tid);

	if (t && t->caller && t->call == CALL_KERNEL_FSYNC)
		call_end(t, tid, ret);
	return 0;
}

/* The first argument as a number: the verifier lets no typed pointer into a global function. */
static __always_inline struct file *untyped_arg(u64 *ctx)
{
	struct file *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), ctx);
	return file;
}

/* clang-format off */
#define KERNEL_PROGRAMS(name, function, args) \
SEC("?fentry/" #function) \
int name##_fentry(u64 *ctx) \
{ \
	return kernel_begin(untyped_arg(ctx)); \
} \
SEC("?kprobe/" #function) \
int name##_kprobe(struct pt_regs *ctx) \
{ \
	return kernel_begin((struct file *)FUNCTION_ARG(ctx)); \
} \
SEC("?fexit/" #function) \
int name##_end_fentry(u64 *ctx) \
{ \
	return kernel_end((int)ctx[args]); \
} \
SEC("?kretprobe/" #function) \
int name##_end_kprobe(struct pt_regs *ctx) \
{ \
	return kernel_end((int)FUNCTION_RESULT(ctx)); \
}
/* clang-format on */

KERNEL_PROGRAMS(ksync_range, vfs_fsync_range, 4)
KERNEL_PROGRAMS(ksync_file, vfs_fsync, 2)
