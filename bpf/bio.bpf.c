// SPDX-License-Identifier: GPL-2.0-only
/*
 * bio.bpf.c - disks without requests of their own (dm, md, zram, pmem): a bio from queued to complete. Only `total` can be
 * had: there is no insert and no issue. Turned on only when such a disk is traced.
 */
#include "filter.bpf.h"
#include "follow.bpf.h"
#include "idle.bpf.h"

static __always_inline struct wire_disk *bio_traced(struct bio *bio)
{
	struct gendisk *disk = bio_disk(bio);
	struct wire_disk *d;
	u32 dev;

	if (!disk || BPF_CORE_READ(disk, queue, mq_ops))
		return NULL;
	dev = WIRE_DEV(BPF_CORE_READ(disk, major), BPF_CORE_READ(disk, first_minor));
	d = bpf_map_lookup_elem(&disks, &dev);
	return d && same_disk(d, disk_sequence(disk, false)) ? d : NULL;
}

static __always_inline u32 bio_class(u32 flags, u32 bytes)
{
	u32 class = cfg.op_class[flags & (CONFIG_OPS - 1)];

	if (class == WIRE_READ_SYNC)
		return flags & cfg.req_rahead ? WIRE_READ_ASYNC : WIRE_READ_SYNC;
	if (class != WIRE_WRITE_SYNC)
		return class;
	if (flags & cfg.req_preflush)
		return bytes ? WIRE_WRITE_BARRIER : WIRE_FLUSH;
	if (flags & cfg.req_fua)
		return WIRE_FUA;
	return flags & cfg.req_sync ? WIRE_WRITE_SYNC : WIRE_WRITE_ASYNC;
}

static __always_inline bool bio_wanted(struct bio *bio)
{
	return sender_wanted(bpf_get_current_pid_tgid() >> 32) || bio_matches(bio);
}

static __always_inline int on_bio_queue(struct bio *bio)
{
	struct wire_disk *d = bio_traced(bio);
	struct bio_start start = {};
	u64 key = (u64)bio;

	if (!d)
		return 0;
	/* a filter is for what is counted: calls wait for the bios of others, the journal's above all */
	start.mine = bio_wanted(bio);
	if (!start.mine && !cfg.ledger)
		return 0;
	start.queued = bpf_ktime_get_ns();
	start.flags = BPF_CORE_READ(bio, bi_opf);
	if (cfg.ledger && may_ring(run.idle, start.flags) && must_ring(start.flags, d->dev, d))
		ring_idle_bell();
	if (cfg.ledger)
		ring_for_sender(start.flags, d->dev, d);
	start.bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	start.view = d->view;
	start.disk = d->dev;
	if (bpf_map_update_elem(&bios, &key, &start, BPF_ANY))
		__sync_fetch_and_add(&run.bios_full, 1);
	return 0;
}

/* From now until the next one on this CPU, who is woken here may have waited for this bio. */
static __always_inline void note_end(void *ctx, const struct bio_start *start, u32 class, u64 now)
{
	u32 zero = 0, dev = start->disk;
	struct bio_end *e = bpf_map_lookup_elem(&bio_ends, &zero);
	struct wire_disk *d = bpf_map_lookup_elem(&disks, &dev);

	if (!e || !d)
		return;
	if (class == WIRE_FLUSH)
		flushed_below(d, now);
	e->queued = start->queued;
	e->done = now;
	e->flushed = class == WIRE_WRITE_BARRIER && d->flushed > e->queued && d->flushed <= now ? d->flushed : 0;
	e->disk = dev;
	e->class = class;
	e->pid = (u32)bpf_get_current_pid_tgid();
	e->irq = in_interrupt(ctx, current_task(), &e->at);
}

/* Other programs may complete bios on this CPU meanwhile: a bio's cells are shared with no request's, so adding is safe. */
static __always_inline void count_bio(struct bio *bio, const struct bio_start *start, u32 class, u64 now)
{
	struct wire_cell *c = cell_of(start->view, class);
	struct wire_view *v = view_of(start->view);

	if (!c || !v)
		return;
	ADD(cfg.atomic, c->count, 1);
	ADD(cfg.atomic, c->bytes, start->bytes);
	time_record(c, WIRE_TOTAL, now - start->queued);
	if (BPF_CORE_READ(bio, bi_status))
		ADD(cfg.atomic, v->errors, 1);
}

static __always_inline int on_bio_complete(void *ctx, struct bio *bio)
{
	u64 key = (u64)bio, now = bpf_ktime_get_ns();
	struct bio_start *start = bpf_map_lookup_elem(&bios, &key);
	u32 class;

	if (!start)
		return 0;
	class = bio_class(start->flags, start->bytes);
	if (start->mine)
		count_bio(bio, start, class, now);
	if (ledger_now())
		note_end(ctx, start, class, now);
	bpf_map_delete_elem(&bios, &key);
	return 0;
}

SEC("?tp_btf/block_bio_queue")
int bio_queue_btf(u64 *ctx)
{
	return on_bio_queue(block_arg(ctx, cfg.bio_queue_first));
}

/* (queue, bio) on every kernel */
SEC("?tp_btf/block_bio_complete")
int bio_complete_btf(u64 *ctx)
{
	return on_bio_complete(ctx, (struct bio *)ctx[1]);
}
