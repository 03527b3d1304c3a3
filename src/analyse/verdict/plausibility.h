/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plausibility.h - is the flush of a disk believable for such a device?
 *
 * Only what physics gives is held against it. To be durable, 4 KiB have to reach the medium:
 *   rotating  the place comes by once per rotation (4.0 ms at 15,000 per minute, the fastest there were): writes
 *             that wait for it take half a rotation on average. A median below an eighth of the shortest is
 *             impossible. And no rotating disk takes more than 600 MB/s (two actuators) for good.
 *   flash     a page is programmed: 100 µs and more, in the quickest cells (single-level). Less is possible only
 *             where the cache survives a power cut (capacitors), or where the medium is another one.
 *   virtual   a disk that the kernel has from a host, another file system or memory: what its flush means is decided
 *             there.
 * A device without a volatile cache may answer at once. It says so to the kernel, which then sends no flush at all.
 */
#ifndef BT_ANALYSE_VERDICT_PLAUSIBILITY_H
#define BT_ANALYSE_VERDICT_PLAUSIBILITY_H

#include "model/flush_profile.h"

#define BELIEVE_ROTATION_NS   500000u /* an eighth of 4 ms */
#define BELIEVE_PROGRAM_NS    100000u
#define BELIEVE_ROTATING_RATE 600000000.0 /* bytes per second */
#define BELIEVE_FEW	      5u	  /* calls: below, nothing is said */

/* Fills in medium, grade, sentence and reasons from the rest. */
void believe(struct card *c);

/* What changed from a card to another. Both must outlive *out, which is overwritten. */
void believe_compare(const struct card *a, const struct card *b, struct card_comparison *out);

#endif
