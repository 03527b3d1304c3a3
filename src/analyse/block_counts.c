// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/block_counts.h"

/* The kernel side's classes are the report's, in the same order. */
_Static_assert((int)WIRE_READ_SYNC == OP_READ_SYNC && (int)WIRE_READ_ASYNC == OP_READ_ASYNC &&
		       (int)WIRE_WRITE_SYNC == OP_WRITE_SYNC && (int)WIRE_WRITE_ASYNC == OP_WRITE_ASYNC &&
		       (int)WIRE_WRITE_BARRIER == OP_WRITE_BARRIER && (int)WIRE_FUA == OP_FUA &&
		       (int)WIRE_FLUSH == OP_FLUSH && (int)WIRE_DISCARD == OP_DISCARD && (int)WIRE_OTHER == OP_OTHER &&
		       (int)WIRE_CLASSES == OP_CLASSES,
	       "classes differ");

static void add_op(struct report_op_tally *op, const struct cell_counts *c)
{
	op->count += c->count;
	op->bytes += c->bytes;
	tally_merge_hist(&op->queue, &c->queue);
	tally_merge_hist(&op->device, &c->device);
	tally_merge_hist(&op->total, &c->total);
}

static void add_roles(struct report_flush *f, const struct wire_view *s)
{
	f->pre += s->flush_pre;
	f->post += s->flush_post;
	f->only += s->flush_only;
	f->mixed += s->flush_mixed;
	f->unknown += s->flush_unknown;
	f->in_flight += s->flush_in_flight;
	f->no_depth += s->flush_no_depth;
}

static void add_sums(struct report_device *d, const struct wire_view *s)
{
	d->flush.waiters += s->waiters;
	d->flush.barrier_writes += s->barrier_writes;
	d->flush.barrier_flushes += s->barrier_flushes;
	d->flush.native_fua += s->native_fua;
	d->requeues += s->requeues;
	d->merges += s->merges;
	d->errors += s->errors;
	d->unpaired += s->unpaired;
	d->by_command += s->by_command;
}

void block_add_view(struct report_device *d, const struct view_counts *v, bool own)
{
	for (int c = 0; c < WIRE_CLASSES; c++)
		if (c != WIRE_FLUSH || own)
			add_op(&d->op[c], &v->cell[c]);
	add_sums(d, &v->sums);
	if (own)
		add_roles(&d->flush, &v->sums);
	tally_merge_hist(&d->flush.slot_wait, &v->cell[WIRE_CELL_SLOT_WAIT].device);
	tally_merge_hist(&d->flush.slot_wait_flush, &v->cell[WIRE_CELL_SLOT_WAIT].queue);
	tally_merge_hist(&d->flush.slot_wait_data, &v->cell[WIRE_CELL_SLOT_WAIT].total);
	tally_merge_hist(&d->flush.sequence, &v->cell[WIRE_CELL_SEQUENCE].device);
}

/*
 * Tools that time a request from its allocation to its very end see, for a write that the flush machinery ran, the
 * flushes too, and an empty flush as a write of 0 bytes; for a plain write they see the same as we do.
 */
void block_finish(struct report_device *d)
{
	tally_merge(&d->naive_write, &d->op[OP_WRITE_SYNC].total);
	tally_merge(&d->naive_write, &d->op[OP_WRITE_ASYNC].total);
	tally_merge(&d->naive_write, &d->flush.sequence);
	/* native FUA writes without a flush around them; those inside a sequence are in it already */
	if (!d->flush.native_fua)
		tally_merge(&d->naive_write, &d->op[OP_FUA].total);
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * What the kernel counts as a write (blk_account_io_done): plain writes, FUA writes, the ends of flush sequences, of which the
 * data step is not counted, and write zeroes.
 */
static uint64_t writes_as_kernel_counts(const struct report_device *d)
{
	return d->op[OP_WRITE_SYNC].count + d->op[OP_WRITE_ASYNC].count +
	       above(d->op[OP_FUA].count, d->flush.native_fua) + d->flush.sequence.count + d->op[OP_OTHER].count;
}

uint64_t block_missed(const struct report_device *d)
{
	const struct report_kernel *k = &d->kernel;
	uint64_t missed;

	if (!k->have || d->bio_based)
		return 0;
	missed = above(k->reads, d->op[OP_READ_SYNC].count + d->op[OP_READ_ASYNC].count) +
		 above(k->writes, writes_as_kernel_counts(d)) + above(k->discards, d->op[OP_DISCARD].count);
	if (k->have_flush)
		missed += above(k->flushes, d->op[OP_FLUSH].count);
	return missed;
}
