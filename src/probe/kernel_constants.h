/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_constants.h - private to probe/: the running kernel's own numbers, asked of its BTF by name. */
#ifndef BT_PROBE_KERNEL_CONSTANTS_H
#define BT_PROBE_KERNEL_CONSTANTS_H

#include <bpf/btf.h>

#include "config.h"

/* Fills the constants of *cfg (operations, flag masks, argument orders); leaves the rest alone. */
void constants_from_btf(const struct btf *btf, struct bt_config *cfg);

/* The names that it asks for: the i-th one, NULL after the last; one can come twice. */
const char *constants_enumerator(size_t i);

/* Number of arguments of a tracepoint, without the leading data pointer; -ENOENT when this kernel has no such one. */
int tracepoint_args(const struct btf *btf, const char *event);

#endif
