/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle.bpf.h - the doorbell. While no sync call comes, user space detaches what only ledgers need; what stays attached costs nothing
 * while nobody syncs, and tells user space of the first who does. See run_idle.c.
 */
#ifndef BT_IDLE_BPF_H
#define BT_IDLE_BPF_H

#include "follow.bpf.h"

/* Do requests have to say what a ledger needs? */
static __always_inline bool ledger_now(void)
{
	return cfg.ledger && !run.idle;
}

/* May times be those of the requests' own clocks? Of what a ledger needs they have nothing. */
static __always_inline bool may_use_clocks(void)
{
	return cfg.own_clocks && (!cfg.ledger || run.idle);
}

/* Once: then user space is on its way. If the record finds no room, it sees at its next tick that the bell was rung. */
static __always_inline void ring_bell(void)
{
	struct wire_head bell = { .kind = WIRE_BELL, .size = sizeof(bell) };

	if (run.idle != IDLE_LISTENS)
		return;
	run.idle = IDLE_RUNG;
	bpf_ringbuf_output(&ring, &bell, sizeof(bell), BPF_RB_FORCE_WAKEUP);
}

/*
 * Does a request or bio with these flags, for a device, ring? File systems in `covered` tell of each sync call by themselves, except of a
 * direct write to a file that is open with O_DSYNC: that is a FUA write which is none of a journal's, or, on a disk without a volatile
 * cache, cannot be told from any other direct write. Direct writes are marked as synchronous and not to be waited with (REQ_IDLE).
 */
static __always_inline void request_rings(u32 flags, u32 dev, const struct wire_disk *d)
{
	bool write = cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
	bool direct = write && flags & cfg.req_idle && !(flags & (cfg.req_preflush | cfg.req_meta));

	if (direct ? flags & cfg.req_fua || !d->cached : !bpf_map_lookup_elem(&covered, &dev))
		ring_bell();
}

/* Is that to be asked? Not of the FLUSH of a sequence, which is itself asked about. */
static __always_inline bool may_ring(u32 flags)
{
	return run.idle == IDLE_LISTENS && (flags & 0xff) != cfg.op_flush &&
	       flags & (cfg.req_sync | cfg.req_fua | cfg.req_preflush) &&
	       cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
}

#endif
