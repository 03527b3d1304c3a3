/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.bpf.h - one named accessor per kernel difference, decided by asking BTF, never by a version.
 *
 * `direct` is a compile-time constant: true where the verifier is to follow typed pointers, which only tp_btf programs can;
 * false where members are copied with a helper.
 */
#ifndef BT_COMPAT_BPF_H
#define BT_COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* What is rare stands behind what each request runs through: that takes fewer cache lines of code. */
#define rarely(x) __builtin_expect(!!(x), 0)

/* ptr->member, by the cheapest way that the program type allows */
/* clang-format off */
#define GET(direct, ptr, member) ({ \
	typeof((ptr)->member) __v; \
	if (direct) \
		__v = (ptr)->member; \
	else \
		bpf_core_read(&__v, sizeof(__v), &(ptr)->member); \
	__v; \
})
/* clang-format on */

/*
 * The request or bio among the arguments of a block tracepoint: since a54895fa057c ("block: remove the request_queue to
 * argument request based tracepoints", 5.11 and back-ported) it is the first, before it the second. The empty
 * asm keeps the compiler from folding the two loads into one at a computed offset, which the verifier refuses.
 */
static __always_inline void *block_arg(unsigned long long *ctx, bool second)
{
	unsigned long long v;

	if (second) {
		v = ctx[1];
		asm volatile("" : "+r"(v));
	} else {
		v = ctx[0];
		asm volatile("" : "+r"(v));
	}
	return (void *)v;
}

enum bpf_func_id___task { BPF_FUNC_get_current_task_btf___task = 158 };

/*
 * Does the kernel hand out a typed pointer to the current task (5.11)? If not, its members have to be copied. A constant at
 * load time: the verifier removes the other way.
 */
#define TASK_BTF bpf_core_enum_value_exists(enum bpf_func_id___task, BPF_FUNC_get_current_task_btf___task)

static __always_inline struct task_struct *current_task(void)
{
	return TASK_BTF ? bpf_get_current_task_btf() : (struct task_struct *)bpf_get_current_task();
}

/* Its number, which is at hand with it where it is typed. */
static __always_inline u32 current_pid(struct task_struct *task)
{
	return TASK_BTF ? (u32)task->pid : (u32)bpf_get_current_pid_tgid();
}

/* The first argument of a function, at its entry, and what it returns, at its end. */
#if defined(__TARGET_ARCH_x86)
#define FUNCTION_ARG(at)    ((at)->di)
#define FUNCTION_RESULT(at) ((at)->ax)
#elif defined(__TARGET_ARCH_arm64)
#define FUNCTION_ARG(at)    (((struct user_pt_regs *)(at))->regs[0])
#define FUNCTION_RESULT(at) FUNCTION_ARG(at)
#else
#error "registers of this architecture are not known"
#endif

/* The disk of a request. */
static __always_inline struct gendisk *request_disk(struct request *rq, struct request_queue *q, bool direct)
{
	if (bpf_core_field_exists(struct request_queue, disk))
		return GET(direct, q, disk);
	return BPF_CORE_READ((struct request___rq_disk *)rq, rq_disk);
}

/*
 * What tells this disk from others that have, had or will have its dev_t; 0 before cf179948554a ("block: add disk sequence number",
 * 5.15). Another medium in the same gendisk (a loop device's file) counts it up, too.
 */
static __always_inline u64 disk_sequence(struct gendisk *disk, bool direct)
{
	if (bpf_core_field_exists(struct gendisk, diskseq))
		return GET(direct, disk, diskseq);
	return 0;
}

/* The same of a queue that has a disk, for kernels where the queue knows it: d152c682f03c, 5.15 as well. */
static __always_inline u64 queue_sequence(struct request_queue *q, bool direct)
{
	if (bpf_core_field_exists(struct request_queue, disk))
		return disk_sequence(GET(direct, q, disk), direct);
	return 0;
}

/* The device number that a request is accounted to: a partition's or the whole disk's; 0 for none (a FLUSH). */
static __always_inline u32 request_part_dev(struct request *rq, bool direct)
{
	struct block_device *whole_or_part;

	if (bpf_core_type_exists(struct hd_struct)) {
		struct hd_struct *part = BPF_CORE_READ((struct request___hd_struct *)rq, part);

		return part ? BPF_CORE_READ(part, __dev.devt) : 0;
	}
	whole_or_part = GET(direct, rq, part);
	return GET(direct, whole_or_part, bd_dev);
}

/* The request that stands on a flush queue's list through this node. */
static __always_inline struct request *flush_waiter(struct list_head *node)
{
	unsigned long off;

	if (bpf_core_field_exists(struct request___flush_list, flush.list))
		off = bpf_core_field_offset(struct request___flush_list, flush.list);
	else
		off = bpf_core_field_offset(struct request, queuelist);
	return (struct request *)((char *)node - off);
}

/* The disk of a bio. */
static __always_inline struct gendisk *bio_disk(struct bio *bio)
{
	if (bpf_core_field_exists(struct bio___disk, bi_disk))
		return BPF_CORE_READ((struct bio___disk *)bio, bi_disk);
	return BPF_CORE_READ(bio, bi_bdev, bd_disk);
}

#endif
