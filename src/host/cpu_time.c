// SPDX-License-Identifier: GPL-2.0-only
#include "host/cpu_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

uint64_t cpu_kernel_ns(void)
{
	uint64_t system, irq, softirq;
	long ticks = sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	int n;

	if (!f)
		return 0;
	/* user, nice, system, idle, iowait, irq, softirq */
	n = fscanf(f, "cpu %*u %*u %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64, &system, &irq, &softirq);
	fclose(f);
	return n == 3 && ticks > 0 ? (system + irq + softirq) * (1000000000 / (uint64_t)ticks) : 0;
}
