/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * palette.h - the colour of each family of causes, the same in every picture. Okabe and Ito's colours
 * (https://jfly.uni-koeln.de/color/): they tell apart for the colour-blind too.
 */
#ifndef BT_RENDER_PALETTE_H
#define BT_RENDER_PALETTE_H

#include "model/report.h"

static inline const char *palette_family(enum cause_family f)
{
	/* clang-format off */
	static const char *const colors[FAMILY_COUNT] = {
		[FAMILY_HOST] = "#56b4e9",
		[FAMILY_CPU_SCHEDULER] = "#009e73",
		[FAMILY_IO_SCHEDULER] = "#e69f00",
		[FAMILY_DEVICE] = "#0072b2",
		[FAMILY_FLUSH] = "#d55e00",
		[FAMILY_FILE_SYSTEM] = "#cc79a7",
		[FAMILY_UNKNOWN] = "#8c8c8c",
	};
	/* clang-format on */

	return colors[f];
}

#endif
