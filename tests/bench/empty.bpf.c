// SPDX-License-Identifier: GPL-2.0-only
/* For scripts/bench: the floor, a program that does nothing. Attached one at a time, by name. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* clang-format off */
#define EMPTY(name, section) \
SEC("?" section) \
int name(void *ctx) \
{ \
	(void)ctx; \
	return 0; \
}
/* clang-format on */

EMPTY(empty_switch, "tp_btf/sched_switch")
EMPTY(empty_complete, "tp_btf/block_rq_complete")
EMPTY(empty_sys_enter_tp_btf, "tp_btf/sys_enter")
EMPTY(empty_sys_exit_tp_btf, "tp_btf/sys_exit")
EMPTY(empty_sys_enter_tp, "tp/raw_syscalls/sys_enter")
EMPTY(empty_sys_exit_tp, "tp/raw_syscalls/sys_exit")

#define BURN_NS	  2000
#define BURN_RUNS 1000 /* at most: a bound for the verifier */

/* Costs a known time per request: does a measurement of throughput find it? */
SEC("?tp_btf/block_rq_complete")
int burn_complete(void *ctx)
{
	__u64 begin = bpf_ktime_get_ns();

	(void)ctx;
	for (int i = 0; i < BURN_RUNS && bpf_ktime_get_ns() - begin < BURN_NS; i++)
		;
	return 0;
}
