/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_warmup.h - how long the same small work takes a CPU that did something else, or nothing, for a while: caches, branch
 * predictors and idle states make it slower the longer that was. What a run without flushes would take depends on it.
 */
#ifndef BT_MODEL_CPU_WARMUP_H
#define BT_MODEL_CPU_WARMUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_POINTS 5

struct pace_point {
	uint64_t idle_ns; /* how long nothing was done */
	uint64_t work_ns; /* then some system calls and a database's insert in memory: median */
	uint64_t wake_ns; /* then waking another task, until it ran: median */
};

/* By idle time, ascending. n is 0: not measured. */
struct pace {
	struct pace_point *point;
	size_t n;
};

/* What work and waking a task take, ns, each time after so much idleness: straight lines between the points, constant beyond them. */
struct pace_sum {
	const struct pace *pace;
	double work, wake;
};

void pace_add(struct pace_sum *s, uint64_t idle_ns);

/* How much of the time that it `was` is left when it is as much as it is now, as often. 1 when that isn't known, or would be more than 1. */
double pace_left(double now, double was);

/* Are its points in order? */
bool pace_sane(const struct pace *p);

/* Time of a wake-up after so much idleness, ns; 0: not known. */
uint64_t pace_wake_ns(const struct pace *p, uint64_t idle);

#endif
