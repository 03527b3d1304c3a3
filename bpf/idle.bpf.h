/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle.bpf.h - two doorbells, see enum wire_bell. While no sync call comes, user space detaches the programs that only ledgers need.
 * What stays attached costs nothing while nobody syncs. The first task that syncs rings `run.idle`. See run_attached.c.
 *
 * Where sync calls are traced at their own functions, only synchronous writes and the sync calls of 32-bit programs need sys_enter, and
 * a program there slows down every system call of the machine. While it is detached, such a call rings `run.sys_enter_bell`. See
 * run_attached.c.
 */
#ifndef BT_IDLE_BPF_H
#define BT_IDLE_BPF_H

#include "follow.bpf.h"
#include "syscall.bpf.h"

/* Do requests have to say what a ledger needs? */
static __always_inline bool ledger_now(void)
{
	return cfg.ledger && !run.idle;
}

/* May times be those of the requests' own clocks? Of what a ledger needs they have nothing. */
static __always_inline bool may_use_clocks(void)
{
	return cfg.own_clocks && !ledger_now();
}

/* Ring once, to wake user space. If the ring buffer is full, user space finds BELL_RUNG at its next tick. */
static __always_inline void ring_once(__bt_u32 *bell)
{
	struct wire_head rung = { .kind = WIRE_BELL, .size = sizeof(rung) };

	if (*bell != BELL_LISTENS)
		return;
	*bell = BELL_RUNG;
	bpf_ringbuf_output(&ring, &rung, sizeof(rung), BPF_RB_FORCE_WAKEUP);
}

static __always_inline void ring_idle_bell(void)
{
	ring_once(&run.idle);
}

/* For a sync call that only sys_enter sees. */
static __always_inline void ring_sys_enter_bell(void)
{
	ring_once(&run.sys_enter_bell);
}

/* Can this sync call be traced at its own function? A write cannot, nor can any call of a 32-bit program. */
static __always_inline bool has_function(u32 call)
{
	return call != CALL_WRITE && !is_32bit_call();
}

/* True if the current task is in a sync call that only sys_enter sees, and its begin was not seen. */
int needs_sys_enter(void);

/*
 * Does a request or bio with these flags, for a device, have to ring? The file systems on devices in `covered` ring for each sync call
 * themselves, except for a direct write to an O_DSYNC file. That is a FUA write which is not the journal's; on a disk without a volatile
 * cache it looks like any other direct write. Direct writes have REQ_SYNC and REQ_IDLE.
 */
static __always_inline bool must_ring(u32 flags, u32 dev, const struct wire_disk *d)
{
	bool write = cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
	bool direct = write && flags & cfg.req_idle && !(flags & (cfg.req_preflush | cfg.req_meta));

	return direct ? flags & cfg.req_fua || !d->cached : !bpf_map_lookup_elem(&covered, &dev);
}

/* Could it have to, while this bell listens? Check this first: it is cheap. A sequence's own FLUSH does not count: the sequence does. */
static __always_inline bool may_ring(u32 bell, u32 flags)
{
	return bell == BELL_LISTENS && (flags & 0xff) != cfg.op_flush &&
	       flags & (cfg.req_sync | cfg.req_fua | cfg.req_preflush) &&
	       cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
}

/* Called by the sender of a request or bio: ring if the sender's call needs sys_enter. */
static __always_inline void ring_for_sender(u32 flags, u32 dev, const struct wire_disk *d)
{
	if (!run.idle && may_ring(run.sys_enter_bell, flags) && must_ring(flags, dev, d) && needs_sys_enter())
		ring_sys_enter_bell();
}

#endif
