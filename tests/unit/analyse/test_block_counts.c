// SPDX-License-Identifier: GPL-2.0-only
/* From the counters of views to a device: what goes where, and what the kernel counted beyond that. */
#include <stdlib.h>
#include <string.h>

#include "analyse/block_counts.h"
#include "tap.h"
#include "util/mem.h"

/* ---- views ---- */

/* Cell c: c + 1 requests, each of its times different. */
static struct view_counts *view(void)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));
	uint64_t *sums = (uint64_t *)&v->sums;

	for (unsigned int c = 0; c < WIRE_CELLS; c++) {
		v->cell[c].count = c + 1;
		v->cell[c].bytes = 4096 * (c + 1);
		for (unsigned int i = 0; i <= c; i++) {
			hist_add(&v->cell[c].queue, 10 * (c + 1));
			hist_add(&v->cell[c].device, 100 * (c + 1));
			hist_add(&v->cell[c].total, 1000 * (c + 1));
		}
	}
	for (unsigned int i = 0; i < sizeof(v->sums) / sizeof(*sums); i++)
		sums[i] = 1u << i;
	return v;
}

static bool op_is(const struct report_op_tally *op, uint64_t c, uint64_t times)
{
	uint64_t n = (c + 1) * times;

	return op->count == n && op->bytes == 4096 * n && op->queue.count == n && op->device.count == n &&
	       op->total.count == n && op->queue.sum == 10 * n * (c + 1) && op->device.sum == 100 * n * (c + 1) &&
	       op->total.sum == 1000 * n * (c + 1);
}

static bool sums_are(const struct report_device *d, const struct wire_view *s, uint64_t times)
{
	return d->flush.waiters == s->waiters * times && d->flush.barrier_writes == s->barrier_writes * times &&
	       d->flush.barrier_flushes == s->barrier_flushes * times && d->flush.native_fua == s->native_fua * times &&
	       d->requeues == s->requeues * times && d->merges == s->merges * times && d->errors == s->errors * times &&
	       d->unpaired == s->unpaired * times && d->by_command == s->by_command * times;
}

static bool roles_are(const struct report_flush *f, const struct wire_view *s, uint64_t times)
{
	return f->pre == s->flush_pre * times && f->post == s->flush_post * times && f->only == s->flush_only * times &&
	       f->mixed == s->flush_mixed * times && f->unknown == s->flush_unknown * times &&
	       f->in_flight == s->flush_in_flight * times && f->no_depth == s->flush_no_depth * times;
}

static bool times_are(const struct tally *t, uint64_t count, uint64_t each)
{
	return t->count == count && t->sum == count * each && t->min == each && t->max == each;
}

TEST(views)
{
	struct report_device *d = xcalloc(1, sizeof(*d));
	struct view_counts *v = view();
	bool good = true;

	block_add_view(d, v, true);
	for (unsigned int c = 0; c < WIRE_CLASSES; c++)
		good = good && op_is(&d->op[c], c, 1);
	ok(good && sums_are(d, &v->sums, 1) && roles_are(&d->flush, &v->sums, 1), "a device's own view: all of it");
	ok(times_are(&d->flush.slot_wait, 11, 1100) && times_are(&d->flush.slot_wait_flush, 11, 110) &&
		   times_are(&d->flush.slot_wait_data, 11, 11000) && times_are(&d->flush.sequence, 10, 1000),
	   "with the waits and sequences of the machinery");
	block_add_view(d, v, false);
	for (unsigned int c = 0; c < WIRE_CLASSES; c++)
		good = good && op_is(&d->op[c], c, c == WIRE_FLUSH ? 1 : 2);
	ok(good && sums_are(d, &v->sums, 2) && roles_are(&d->flush, &v->sums, 1),
	   "a partition's view: all but the disk's FLUSHes");
	report_device_free(d);
	free(d);
	free(v);
}

TEST(as_other_tools_see_it)
{
	struct report_device *d = xcalloc(1, sizeof(*d));

	tally_add(&d->op[OP_WRITE_SYNC].total, 1);
	tally_add(&d->op[OP_WRITE_ASYNC].total, 10);
	tally_add(&d->flush.sequence, 100);
	tally_add(&d->op[OP_FUA].total, 1000);
	tally_add(&d->op[OP_WRITE_BARRIER].total, 10000);
	tally_add(&d->op[OP_READ_SYNC].total, 10000);
	block_finish(d);
	ok(d->naive_write.count == 4 && d->naive_write.sum == 1111, "writes as other tools time them");
	tally_free(&d->naive_write);
	d->flush.native_fua = 1;
	block_finish(d);
	ok(d->naive_write.count == 3 && d->naive_write.sum == 111, "FUA writes of sequences are in them already");
	report_device_free(d);
	free(d);
}

/* ---- what was missed ---- */

TEST(missed)
{
	struct report_device *d = xcalloc(1, sizeof(*d));
	struct report_kernel *k = &d->kernel;

	for (int c = 0; c < OP_CLASSES; c++)
		d->op[c].count = 10 + (unsigned int)c;
	d->flush.sequence.count = 100;
	d->flush.native_fua = 5;
	/* reads 10 + 11; writes 12 + 13, FUA 15 - 5, sequences 100, others 18; discards 17; FLUSHes 16 */
	*k = (struct report_kernel){ .have_flush = true, .reads = 1000, .writes = 1000, .discards = 1000, .flushes = 1000 };
	ok(!block_missed(d), "nothing is known to be missed where the kernel's counters are not known");
	k->have = true;
	ok(block_missed(d) == 1000 - 21 + 1000 - 153 + 1000 - 17 + 1000 - 16, "what the kernel counted beyond");
	k->have_flush = false;
	ok(block_missed(d) == 1000 - 21 + 1000 - 153 + 1000 - 17, "without FLUSHes where it counts none");
	*k = (struct report_kernel){
		.have = true, .have_flush = true, .reads = 21, .writes = 153, .discards = 17, .flushes = 16
	};
	ok(!block_missed(d), "the same: nothing");
	k->reads = k->writes = k->discards = k->flushes = 0;
	ok(!block_missed(d), "less: nothing");
	k->reads = 22;
	ok(block_missed(d) == 1, "one read");
	d->bio_based = true;
	ok(!block_missed(d), "disks without requests have other counters");
	d->bio_based = false;
	k->reads = 0;
	k->writes = 143;
	d->flush.native_fua = 15;
	ok(!block_missed(d), "all FUA writes are of sequences");
	d->flush.native_fua = 16;
	k->writes = 144;
	ok(block_missed(d) == 1, "and no more than all");
	free(d);
}

int main(void)
{
	tests_run();
	return tap_done();
}
