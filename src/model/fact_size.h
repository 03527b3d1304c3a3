/* SPDX-License-Identifier: GPL-2.0-only */
/* fact_size.h - how long the kernel side's records are. */
#ifndef BT_MODEL_FACT_SIZE_H
#define BT_MODEL_FACT_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct fact_size {
	size_t least, whole; /* later versions may send more than `whole`, which is what this one knows */
};

/* Of a kind that is not known no record is long enough. */
static inline struct fact_size fact_size(uint16_t kind)
{
/* clang-format off */
#define WHOLE(type) { sizeof(struct type), sizeof(struct type) }
	static const struct fact_size sizes[] = {
		[WIRE_SYNC] = WHOLE(wire_sync),
		[WIRE_SLEEP] = { WIRE_SLEEP_SHORT, sizeof(struct wire_sleep) }, /* a short one has no stack */
		[WIRE_REQUEST] = WHOLE(wire_request),
		[WIRE_FOLLOW] = WHOLE(wire_follow),
		[WIRE_FILE] = WHOLE(wire_file),
		[WIRE_BIO] = WHOLE(wire_bio),
		[WIRE_WORK] = WHOLE(wire_work),
	};
#undef WHOLE
	/* clang-format on */

	if (kind >= sizeof(sizes) / sizeof(sizes[0]) || !sizes[kind].whole)
		return (struct fact_size){ SIZE_MAX, SIZE_MAX };
	return sizes[kind];
}

#endif
