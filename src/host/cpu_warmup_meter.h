/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BT_HOST_CPU_WARMUP_METER_H
#define BT_HOST_CPU_WARMUP_METER_H

#include "model/cpu_warmup.h"

/*
 * Measures it here and now, by a little work in memory between sleeps of 0.1 to 10 ms: while a run goes on, as it is then that CPUs
 * are left alone, by other guests of the machine too, and that others use their caches. Five times a second at first, more seldom the longer
 * it goes on; 0.5 % of a CPU at most. Nothing is written but this process's own memory.
 */
struct pace_meter;

/* In a thread of its own, until it is ended. NULL: can't be done. */
struct pace_meter *pace_meter_start(void);

/*
 * After a run that was too short for it, some rounds more: 0.1 s at most. p->point is the caller's to free; p->n is 0 when it could
 * not be done. m is freed; it may be NULL, as may p: then nothing is measured any more.
 */
void pace_meter_end(struct pace_meter *m, struct pace *p);

#endif
