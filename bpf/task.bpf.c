// SPDX-License-Identifier: GPL-2.0-only
/* task.bpf.c - the wrapped command's family: its forks and threads, from the first exec to the last exit. */
#include "state.bpf.h"

static __always_inline int on_fork(struct task_struct *parent, struct task_struct *child)
{
	u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid), one = 1;

	if (!in_family(from))
		return 0;
	__sync_fetch_and_add(&run.threads, 1);
	if (from == to)
		return 0;
	__sync_fetch_and_add(&run.processes, 1);
	if (bpf_map_update_elem(&family, &to, &one, BPF_ANY))
		__sync_fetch_and_add(&run.family_full, 1);
	__sync_fetch_and_add(&run.family_turn, 1);
	return 0;
}

/* signal->live has been counted down before the tracepoint: at 0 the process is gone and its number can come back. */
static __always_inline int on_exit(struct task_struct *task)
{
	u32 tgid = BPF_CORE_READ(task, tgid);

	if (in_family(tgid) && BPF_CORE_READ(task, signal, live.counter) == 0) {
		bpf_map_delete_elem(&family, &tgid);
		__sync_fetch_and_add(&run.family_turn, 1);
	}
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int fork_btf(u64 *ctx)
{
	return on_fork((struct task_struct *)ctx[0], (struct task_struct *)ctx[1]);
}

SEC("?raw_tp/sched_process_fork")
int fork_raw(u64 *ctx)
{
	return on_fork((struct task_struct *)ctx[0], (struct task_struct *)ctx[1]);
}

SEC("?tp_btf/sched_process_exit")
int exit_btf(u64 *ctx)
{
	return on_exit((struct task_struct *)ctx[0]);
}

SEC("?raw_tp/sched_process_exit")
int exit_raw(u64 *ctx)
{
	return on_exit((struct task_struct *)ctx[0]);
}
