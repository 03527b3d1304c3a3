/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BT_HOST_CPU_TIME_H
#define BT_HOST_CPU_TIME_H

#include <stdint.h>

/*
 * What all CPUs together have spent in the kernel since boot, interrupts included, ns: /proc/stat, system + irq + softirq
 * (proc(5)), in its steps of 1/sysconf(_SC_CLK_TCK) s. 0: not known.
 */
uint64_t cpu_kernel_ns(void);

#endif
