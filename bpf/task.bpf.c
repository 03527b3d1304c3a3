// SPDX-License-Identifier: GPL-2.0-only
/* task.bpf.c - the family: the wrapped command's processes, from the first exec to the last exit, or those that -p and --comm name. */
#include "state.bpf.h"

static __always_inline int join_family(u32 tgid, u32 why)
{
	__sync_fetch_and_add(&run.processes, 1);
	if (bpf_map_update_elem(&family, &tgid, &why, BPF_ANY))
		__sync_fetch_and_add(&run.family_full, 1);
	__sync_fetch_and_add(&run.family_turn, 1);
	return 0;
}

/* Is it a name that --comm asks for? */
static __always_inline bool has_name(const void *comm)
{
	u64 name[2] = {};

	if (!cfg.n_comms)
		return false;
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (u32 i = 0; i < CONFIG_COMMS && i < cfg.n_comms; i++)
		if (name[0] == cfg.comm[i][0] && name[1] == cfg.comm[i][1])
			return true;
	return false;
}

static __always_inline int leave_family(u32 tgid)
{
	bpf_map_delete_elem(&family, &tgid);
	__sync_fetch_and_add(&run.family_turn, 1);
	return 0;
}

static __always_inline int on_fork(struct task_struct *parent, struct task_struct *child)
{
	u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);

	if (!in_family(from))
		return 0;
	__sync_fetch_and_add(&run.threads, 1);
	if (from == to)
		return 0;
	if (!cfg.no_children)
		return join_family(to, MEMBER);
	return has_name(child->comm) ? join_family(to, MEMBER_BY_NAME) : 0;
}

/* signal->live has been counted down before the tracepoint: at 0 the process is gone and its number can come back. */
static __always_inline int on_exit(struct task_struct *task)
{
	u32 tgid = BPF_CORE_READ(task, tgid);

	if (in_family(tgid) && BPF_CORE_READ(task, signal, live.counter) == 0)
		return leave_family(tgid);
	return 0;
}

/*
 * exec() renames a process before it runs, and so may the process itself: its name is that of its first thread. A child has its parent's
 * until then.
 */
static __always_inline int on_rename(struct task_struct *task, const void *comm)
{
	u32 tgid = BPF_CORE_READ(task, tgid), *why;
	bool has = has_name(comm);

	if ((u32)BPF_CORE_READ(task, pid) != tgid)
		return 0;
	why = bpf_map_lookup_elem(&family, &tgid);
	if (!why)
		return has ? join_family(tgid, cfg.no_children ? MEMBER_BY_NAME : MEMBER) : 0;
	return *why == MEMBER_BY_NAME && !has ? leave_family(tgid) : 0;
}

SEC("?tp_btf/sched_process_fork")
int fork_btf(u64 *ctx)
{
	return on_fork((struct task_struct *)ctx[0], (struct task_struct *)ctx[1]);
}

SEC("?tp_btf/sched_process_exit")
int exit_btf(u64 *ctx)
{
	return on_exit((struct task_struct *)ctx[0]);
}

SEC("?tp_btf/task_rename")
int rename_btf(u64 *ctx)
{
	return on_rename((struct task_struct *)ctx[0], (const void *)ctx[1]);
}
