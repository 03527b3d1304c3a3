/* SPDX-License-Identifier: GPL-2.0-only */
/* spare.h - work in CPU time that nobody else wants. */
#ifndef BT_SPARE_H
#define BT_SPARE_H

#include <stdbool.h>

/*
 * From here to spare_end() the calling thread runs only when a CPU has nothing else to do: keep it short. False, and
 * nothing changed, where the way back isn't certain (no right to it) or somebody has chosen our scheduling already.
 */
bool spare_begin(void);
void spare_end(void);

#endif
