/* SPDX-License-Identifier: GPL-2.0-only */
/* syscall.bpf.h - which system call a task is in. */
#ifndef BT_SYSCALL_BPF_H
#define BT_SYSCALL_BPF_H

#include "state.bpf.h"

#define TS_COMPAT 0x0002    /* x86 (asm/thread_info.h): in a system call of the 32-bit kind */
#define TIF_32BIT (1 << 22) /* arm64: a 32-bit task */

/* 32-bit programs number their system calls in another way. */
static __always_inline bool is_32bit_call(void)
{
	struct task_struct *task = current_task();

#if defined(__TARGET_ARCH_x86)
	return GET(TASK_BTF, task, thread_info.status) & TS_COMPAT;
#else
	return GET(TASK_BTF, task, thread_info.flags) & TIF_32BIT;
#endif
}

enum bpf_func_id___regs { BPF_FUNC_task_pt_regs___regs = 175 };

/* Where the registers of user space stand that the current task, which is no kernel thread, entered the kernel with. */
static __always_inline struct pt_regs *user_regs(void)
{
	struct task_struct *task = current_task();

	if (bpf_core_enum_value_exists(enum bpf_func_id___regs, BPF_FUNC_task_pt_regs___regs))
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	/* kernels before 5.15, on whose stacks nothing stands above them */
	return (struct pt_regs *)((u64)GET(TASK_BTF, task, stack) + cfg.thread_size - bpf_core_type_size(struct pt_regs));
}

/*
 * The kind of sync call (enum wire_call) that the current task's system call can be, and its number; 0: it is none. The verifier of kernels
 * up to 6.1 forgets the bounds of a number that is spilled to the stack: mask it right before its use.
 */
static __always_inline u32 call_now(u64 *nr)
{
	struct pt_regs *regs = user_regs();
	__typeof__(cfg.call_of_nr[0]) *calls;
	bool compat = is_32bit_call();
	u64 n;

#if defined(__TARGET_ARCH_x86)
	n = LOOK(regs, orig_ax);
#else
	n = (u32)LOOK(regs, syscallno);
#endif
	*nr = n;
	if (n >= CONFIG_SYSCALLS)
		return 0;
	asm volatile("%0 &= %1" : "+r"(n) : "i"(CONFIG_SYSCALLS - 1));
	calls = &cfg.call_of_nr[n];
	asm volatile("" : "+r"(calls));
	return compat ? calls->compat : calls->native;
}

/* Of a task's present system call. */
static __always_inline u64 first_argument(void)
{
	struct pt_regs *regs = user_regs();

#if defined(__TARGET_ARCH_x86)
	return is_32bit_call() ? LOOK(regs, bx) : LOOK(regs, di);
#else
	return LOOK(regs, orig_x0);
#endif
}

#endif
