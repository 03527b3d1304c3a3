/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle.bpf.h - the doorbell. While no sync call comes, user space detaches what only ledgers need; what stays attached costs nothing
 * while nobody syncs, and tells user space of the first who does. See run_idle.c.
 *
 * The same bell rings for sys_enter alone: where sync calls are traced at their own functions, only writes and the calls of 32-bit
 * programs need it, and its mere presence costs every system call of the machine.
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
	return cfg.own_clocks && (!cfg.ledger || run.idle);
}

/* Once: then user space is on its way. If the record finds no room, it sees at its next tick that the bell was rung. */
static __always_inline void ring_out(__bt_u32 *bell)
{
	struct wire_head rung = { .kind = WIRE_BELL, .size = sizeof(rung) };

	if (*bell != IDLE_LISTENS)
		return;
	*bell = IDLE_RUNG;
	bpf_ringbuf_output(&ring, &rung, sizeof(rung), BPF_RB_FORCE_WAKEUP);
}

static __always_inline void ring_bell(void)
{
	ring_out(&run.idle);
}

/* For a call that only sys_enter tells of. */
static __always_inline void ring_for_entry(void)
{
	ring_out(&run.entry);
}

/* Is a sync call one of those that are traced at functions of their own, which those of 32-bit programs are not? */
static __always_inline bool has_function(u32 call)
{
	return call != CALL_WRITE && !is_32bit_call();
}

/* True where the current task is in a sync call that only sys_enter tells of, and nobody was told of it. */
int entry_is_missed(void);

/*
 * Does a request or bio with these flags, for a device, have to ring? File systems in `covered` tell of each sync call by themselves, except of a
 * direct write to a file that is open with O_DSYNC: that is a FUA write which is none of a journal's, or, on a disk without a volatile
 * cache, cannot be told from any other direct write. Direct writes are marked as synchronous and not to be waited with (REQ_IDLE).
 */
static __always_inline bool is_told_by_none(u32 flags, u32 dev, const struct wire_disk *d)
{
	bool write = cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
	bool direct = write && flags & cfg.req_idle && !(flags & (cfg.req_preflush | cfg.req_meta));

	return direct ? flags & cfg.req_fua || !d->cached : !bpf_map_lookup_elem(&covered, &dev);
}

/* Is that to be asked, where this bell listens? Not of the FLUSH of a sequence, which is itself asked about. */
static __always_inline bool may_ring(u32 bell, u32 flags)
{
	return bell == IDLE_LISTENS && (flags & 0xff) != cfg.op_flush &&
	       flags & (cfg.req_sync | cfg.req_fua | cfg.req_preflush) &&
	       cfg.op_class[flags & (CONFIG_OPS - 1)] == WIRE_WRITE_SYNC;
}

/* Asked where a request or bio is sent, by whoever sends it. */
static __always_inline void sent(u32 flags, u32 dev, const struct wire_disk *d)
{
	if (!run.idle && may_ring(run.entry, flags) && is_told_by_none(flags, dev, d) && entry_is_missed())
		ring_for_entry();
}

#endif
