// SPDX-License-Identifier: GPL-2.0-only
/* For scripts/bench: the floor, a program that does nothing. Attached one at a time, by name. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* clang-format off */
#define EMPTY(name, event) \
SEC("?tp_btf/" #event) \
int name(void *ctx) \
{ \
	(void)ctx; \
	return 0; \
}
/* clang-format on */

EMPTY(empty_switch, sched_switch)
EMPTY(empty_complete, block_rq_complete)
