/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h - the clock by which we wait: monotonic, nanoseconds. Those of facts are in probe/request_clocks.h. */
#ifndef BT_UTIL_CLOCK_H
#define BT_UTIL_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);

/* So much later; the last moment there is, if that would be beyond it. */
uint64_t clock_after(uint64_t from, uint64_t ns);

#endif
