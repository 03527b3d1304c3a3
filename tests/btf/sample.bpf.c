// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs for the tests of btfcheck, never loaded: one of each kind of use, what is guarded and what is not, so that
 * forged kernels can lack each of them.
 */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef u32 __u32;
typedef u64 __u64;
typedef unsigned short __u16;
typedef unsigned short __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef s32 __s32;
typedef long long __s64;
typedef unsigned char __u8;
enum bpf_map_type { BPF_MAP_TYPE_RINGBUF = 27 };
enum bpf_func_id { BPF_FUNC_get_current_task_btf = 158 };
enum req_op { REQ_OP_FLUSH = 2 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define CORE __attribute__((preserve_access_index))

struct request {
	u32 cmd_flags;
	int tag;
	struct {
		u32 seq;
	} flush;
	u64 start_time_ns, io_start_time_ns;
} CORE;

/* another kernel's form */
struct request___future {
	u64 issue_time_ns;
} CORE;

struct task_struct {
	int pid;
} CORE;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

char LICENSE[] SEC("license") = "GPL";
u64 sum;

extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_of_the_future(void) __ksym __weak;

SEC("tp_btf/block_rq_issue")
int typed(u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];

	sum += rq->tag;
	return 0;
}

/* what is newer is asked for first: this takes either */
SEC("raw_tp/block_rq_complete")
int guarded(u64 *ctx)
{
	struct request___future *newer = (void *)ctx[0];
	struct request *rq = (void *)ctx[0];

	if (bpf_core_field_exists(newer->issue_time_ns))
		sum += BPF_CORE_READ(newer, issue_time_ns);
	else
		sum += BPF_CORE_READ(rq, io_start_time_ns);
	return 0;
}

static __noinline int read_seq(struct request *rq)
{
	return BPF_CORE_READ(rq, flush.seq);
}

/* what it uses stands in a function that it calls */
SEC("raw_tp/block_rq_insert")
int calling(u64 *ctx)
{
	sum += read_seq((void *)ctx[0]);
	return 0;
}

SEC("fentry/blk_insert_flush")
int on_function(u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];

	sum += rq->cmd_flags;
	return 0;
}

SEC("kprobe/flush_end_io")
int on_kprobe(void *ctx)
{
	(void)ctx;
	sum++;
	return 0;
}

SEC("tp_btf/sched_switch")
int helping(u64 *ctx)
{
	struct task_struct *task;
	void *room;

	(void)ctx;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		task = (void *)bpf_get_current_task_btf();
	else
		task = (void *)bpf_get_current_task();
	sum += BPF_CORE_READ(task, pid) + bpf_core_enum_value(enum req_op, REQ_OP_FLUSH);
	room = bpf_ringbuf_reserve(&ring, 8, 0);
	if (room)
		bpf_ringbuf_submit(room, 0);
	return 0;
}

SEC("tp_btf/sched_waking")
int kernel_calling(u64 *ctx)
{
	(void)ctx;
	bpf_rcu_read_lock();
	if (bpf_of_the_future)
		bpf_of_the_future();
	return 0;
}
