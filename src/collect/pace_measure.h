/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BT_COLLECT_PACE_MEASURE_H
#define BT_COLLECT_PACE_MEASURE_H

#include "pace.h"

/*
 * Measures it here and now, by a little work in memory between sleeps of up to `longest` ns, shorter ones too: 0.15 s for
 * sleeps of up to 10 ms. Nothing is written but this process's own memory. p->point is the caller's to free; p->n is 0 when
 * it could not be done.
 */
void pace_measure(uint64_t longest, struct pace *p);

#endif
