/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_event.h - private to probe/: events of the kernel that a BPF program is attached to by way of perf_event_open(2). Each
 * returns a descriptor, which belongs to the caller and is not enabled yet, or a negative errno.
 */
#ifndef BT_PROBE_PERF_EVENT_H
#define BT_PROBE_PERF_EVENT_H

#include <stdbool.h>

/* A classic tracepoint, "raw_syscalls", "sys_enter". -ENOENT: no tracefs is mounted that tells its number, nor may we look at one. */
int perf_event_tracepoint(const char *group, const char *name);

/* At a function's entry or its return. -ENOENT: this kernel has no kprobes. */
int perf_event_kprobe(const char *function, bool at_return);

bool perf_event_has_kprobes(void);

#endif
