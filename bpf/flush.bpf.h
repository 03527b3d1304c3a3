/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flush.bpf.h - the flush machinery (block/blk-flush.c), read where it stands.
 *
 * Writes with PREFLUSH or FUA and empty flushes wait on one of two lists of their hardware queue's blk_flush_queue. One
 * FLUSH request at a time serves everybody on the running list. When it completes, before the machinery moves
 * the waiters on, their `flush.seq` tells which steps each has behind it: that is the role the FLUSH played.
 */
#ifndef BT_FLUSH_BPF_H
#define BT_FLUSH_BPF_H

#include "state.bpf.h"

#define FLUSH_MAX_WAITERS 128 /* read per FLUSH; the rest makes the role "unknown" */

enum flush_role { ROLE_PRE = 1, ROLE_POST = 2, ROLE_ONLY = 4 };

static __always_inline u32 flush_role(u32 seq)
{
	if (!(seq & cfg.fseq_data))
		return ROLE_PRE;
	return seq & cfg.fseq_preflush && !(seq & cfg.fseq_postflush) ? ROLE_POST : ROLE_ONLY;
}

/* The list of those that the present FLUSH of a hardware queue serves: where it stands, and what stands there. */
static __always_inline struct list_head *flush_running_list(struct request *flush_rq, struct list_head *list, bool direct)
{
	struct blk_mq_hw_ctx *hctx = GET(direct, LOOSE(direct, flush_rq), mq_hctx);
	struct blk_flush_queue *fq = GET(direct, hctx, fq);
	struct list_head *head = &fq->flush_queue[0];

	if (direct) {
		if (BPF_CORE_READ_BITFIELD(fq, flush_running_idx))
			head = &fq->flush_queue[1];
		list->next = head->next;
		list->prev = head->prev;
		return head;
	}
	if (BPF_CORE_READ_BITFIELD_PROBED(fq, flush_running_idx))
		head = &fq->flush_queue[1];
	if (bpf_probe_read_kernel(list, sizeof(*list), head))
		list->next = list->prev = NULL;
	return head;
}

/* Is a FLUSH of this request's hardware queue under way? */
static __always_inline bool flush_under_way(struct request *rq)
{
	struct blk_flush_queue *fq = BPF_CORE_READ(rq, mq_hctx, fq);

	return BPF_CORE_READ_BITFIELD_PROBED(fq, flush_running_idx) !=
	       BPF_CORE_READ_BITFIELD_PROBED(fq, flush_pending_idx);
}

static __always_inline void flush_count_role(struct wire_view *v, u32 roles, bool whole)
{
	bool shared = cfg.atomic;

	if (!whole)
		ADD(shared, v->flush_unknown, 1);
	else if (roles == ROLE_PRE)
		ADD(shared, v->flush_pre, 1);
	else if (roles == ROLE_POST)
		ADD(shared, v->flush_post, 1);
	else if (roles == ROLE_ONLY)
		ADD(shared, v->flush_only, 1);
	else
		ADD(shared, v->flush_mixed, 1);
}

#endif
