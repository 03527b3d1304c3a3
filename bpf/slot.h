/* SPDX-License-Identifier: GPL-2.0-only */
/* slot.h - what the kernel side knows of a request while it is alive. User space looks at it for the requests that are under way. */
#ifndef BT_SLOT_H
#define BT_SLOT_H

#include "wire.h"

/*
 * A request while it is alive, found by hardware queue and tag: no allocation and no hash. `rq` tells a live slot
 * from a stale one. Sent on one CPU and completed on another, it travels between their caches: what every request needs
 * fills one line of 64 bytes, what only flush sequences need stands behind.
 */
struct slot {
	__bt_u64 rq;
	__bt_u64 insert, issue;
	__bt_u64 start;			 /* when it came into being; 0: not known */
	__bt_u64 data_done;		 /* the data step of its flush sequence completed: ready for the post-flush */
	__bt_u32 tid, tgid;		 /* who sent it; 0: not known */
	__bt_u32 in_flight;		 /* others in the device when it was issued */
	__bt_u32 issuer;		 /* kept, as all that stands below, only when sync calls are traced */
	__bt_u32 bytes;			 /* of a flush sequence's data step */
	__bt_u8 issued;			 /* 1 while it counts as in the device */
	__bt_u8 mine;			 /* 1: its sender passes the filter by task */
	__bt_u8 throttled;		 /* blk-throttle had held its bio */
	__bt_u8 steps;			 /* enum slot_steps: which of those below are its own */
	__bt_u64 issuer_wake, issuer_on; /* of the issuing task, when it is followed */
	__bt_u64 taken;			 /* by the flush machinery: ready for the pre-flush; 0: not known */
	/* of a FLUSH's slot: ends that let the next FLUSH begin; 0: not seen */
	__bt_u64 flush_end; /* of the last FLUSH */
	__bt_u64 data_end;  /* of the last data of a flush sequence while no FLUSH was under way */
	__bt_u64 pad[3];
	struct wire_step data, pre, post; /* steps of its flush sequence that are over */
} __attribute__((aligned(64)));

enum slot_steps { STEP_PRE = 1, STEP_DATA = 2, STEP_POST = 4 };

#endif
