// SPDX-License-Identifier: GPL-2.0-only
/* What a report is asked for: sums, orders and names, each against figures that are all different. */
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "tap.h"
#include "util/mem.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool is(const char *have, const char *want)
{
	return have && !strcmp(have, want);
}

static struct ledger powers(uint64_t factor)
{
	struct ledger l;

	for (int c = 0; c < CAUSE_COUNT; c++)
		l.ns[c] = factor << c;
	return l;
}

TEST(order_of_causes)
{
	struct ledger l = { { 0 } };
	enum cause order[CAUSE_COUNT];

	ok(!ledger_causes(&l, order), "nothing has no causes");
	l.ns[CAUSE_CPU] = 5;
	l.ns[CAUSE_RUNQ] = 7;
	l.ns[CAUSE_TAG] = 7;
	l.ns[CAUSE_LOCK] = 9;
	l.ns[CAUSE_UNKNOWN] = 1;
	ok(ledger_causes(&l, order) == 5 && order[0] == CAUSE_LOCK && order[1] == CAUSE_RUNQ && order[2] == CAUSE_TAG &&
		   order[3] == CAUSE_CPU && order[4] == CAUSE_UNKNOWN,
	   "the largest first, equal ones in their order");
	l = powers(1);
	ok(ledger_causes(&l, order) == CAUSE_COUNT && order[0] == CAUSE_COUNT - 1 && order[CAUSE_COUNT - 1] == 0,
	   "all of them, the other way round");
}

TEST(sums_of_calls)
{
	struct call_sums a, b;
	uint64_t *x = (uint64_t *)&a, *y = (uint64_t *)&b;
	bool good = true;

	_Static_assert(sizeof(a) % sizeof(*x) == 0, "words");
	for (size_t i = 0; i < sizeof(a) / sizeof(*x); i++) {
		x[i] = 1000 * i + 7;
		y[i] = i * i + 1;
	}
	call_sums_add(&a, &b);
	for (size_t i = 0; i < sizeof(a) / sizeof(*x); i++)
		good = good && x[i] == 1000 * i + 7 + i * i + 1;
	ok(good, "sums of calls: each figure is added");
	ok(volume_wait(&b.volume) == b.volume.wait_ns[0] + b.volume.wait_ns[1] + b.volume.wait_ns[2] + b.volume.wait_ns[3],
	   "waiting for the disk to take writes: all causes of it");
}

/* ---- devices ---- */

/* Class c has 10^c of requests. */
static void count(struct report_device *d)
{
	uint64_t n = 1;

	memset(d, 0, sizeof(*d));
	for (int c = 0; c < OP_CLASSES; c++, n *= 10)
		d->op[c].count = n;
}

TEST(requests)
{
	struct report_device *d = xcalloc(1, sizeof(*d));

	count(d);
	ok(report_device_requests(d) == 111111111, "requests of all classes");
	ok(report_device_sent(d) == 110111111, "what was sent: without the FLUSHes");
	d->flush.sequence.count = 700;
	d->flush.barrier_writes = 300;
	ok(report_device_sent(d) == 110111511, "and with the empty flushes of callers");
	d->flush.barrier_writes = 700;
	ok(report_device_sent(d) == 110111111, "sequences that are all barrier writes");
	d->flush.barrier_writes = 701;
	ok(report_device_sent(d) == 110111111, "or fewer than those");
	ok(report_device_depths(d) == 1000000, "all FLUSHes have a depth");
	d->flush.no_depth = 1;
	ok(report_device_depths(d) == 999999, "all but one");
	d->flush.no_depth = 1000000;
	ok(!report_device_depths(d), "none");
	d->flush.no_depth = 1000001;
	ok(!report_device_depths(d), "none, where counts were read one after the other");
	free(d);
}

TEST(flush_times)
{
	static const struct {
		uint64_t kernel_ns, flushes, ours;
		bool agree;
	} all[] = {
		/* a tenth, 3 us each, and 2 ms */
		{ 100000000, 1000, 100000000, true },
		{ 100000000, 1000, 115000000, true },
		{ 100000000, 1000, 115000001, false },
		{ 100000000, 1000, 85000000, true },
		{ 100000000, 1000, 84999999, false },
		{ 0, 0, 2000000, true },
		{ 0, 0, 2000001, false },
		{ 0, 1, 2003000, true },
		{ 0, 1, 2003001, false },
		{ 2000000, 0, 0, true },
	};
	struct report_device *d = xcalloc(1, sizeof(*d));

	for (size_t i = 0; i < LEN(all); i++) {
		d->kernel.flush_ns = all[i].kernel_ns;
		d->kernel.flushes = d->op[OP_FLUSH].count = all[i].flushes;
		d->op[OP_FLUSH].total.sum = all[i].ours;
		ok(report_flush_times_agree(d) == all[i].agree, "%llu ns of FLUSHes, %llu by the kernel's count: %s",
		   (unsigned long long)all[i].ours, (unsigned long long)all[i].kernel_ns,
		   all[i].agree ? "agree" : "do not");
	}
	d->op[OP_FLUSH].count++;
	ok(report_flush_times_agree(d), "of other ones the times say nothing");
	d->kernel.flushes = 5;
	for (uint64_t n = 4; n < 9; n++) {
		d->op[OP_FLUSH].count = n;
		d->kernel.edge_flushes = 0;
		ok(report_flushes_agree(d) == (n == 5), "%llu FLUSHes, 5 by the kernel's count", (unsigned long long)n);
		d->kernel.edge_flushes = 2;
		ok(report_flushes_agree(d) == (n >= 5 && n <= 7), "and 2 at the edges");
	}
	free(d);
}

/* Class c has a request of c * 1000 + 1 bytes, with times of 10, 100 and 1000 times c + 1. */
static void fill(struct report_device *d)
{
	memset(d, 0, sizeof(*d));
	for (unsigned int c = 0; c < OP_CLASSES; c++) {
		d->op[c].count = 1;
		d->op[c].bytes = c * 1000 + 1;
		tally_add(&d->op[c].queue, (c + 1) * 10);
		tally_add(&d->op[c].device, (c + 1) * 100);
		tally_add(&d->op[c].total, (c + 1) * 1000);
	}
}

static bool op_is(const struct report_op *o, uint64_t n, uint64_t bytes, uint64_t sum)
{
	return o->count == n && o->bytes == bytes && o->queue.count == n && o->device.count == n && o->total.count == n &&
	       o->queue.sum == sum * 10 && o->device.sum == sum * 100 && o->total.sum == sum * 1000;
}

TEST(rows)
{
	struct report_device *d = xcalloc(1, sizeof(*d));
	struct report_op *o = xcalloc(1, sizeof(*o));

	fill(d);
	o->count = 77;
	report_device_row(d, ROW_READ, o);
	ok(op_is(o, 2, 1 + 1001, 1 + 2), "reads, and read-ahead");
	report_device_row(d, ROW_WRITE, o);
	ok(op_is(o, 3, 2001 + 3001 + 4001, 3 + 4 + 5) && o->device.min == 300 && o->device.max == 500,
	   "three classes of writes");
	report_device_row(d, ROW_OTHER, o);
	ok(op_is(o, 1, 8001, 9), "the last class is one of its own");
	report_device_op(d, OP_WRITE_BARRIER, o);
	ok(op_is(o, 1, 4001, 5), "one class");
	free(o);
	report_device_free(d);
	free(d);
}

/* ---- reports ---- */

TEST(lost)
{
	struct report r = { 0 };

	report_add_lost(&r, 0, LOSS_OF_LEDGERS, "ring buffer full");
	ok(!r.n_lost && !r.incomplete && !report_may_lack_calls(&r), "nothing lost, nothing said");
	report_add_lost(&r, 5, LOSS_OF_LEDGERS, "ring buffer full");
	report_add_lost(&r, 7, LOSS_OF_LEDGERS, "no room");
	report_add_lost(&r, 30, LOSS_OF_LEDGERS, "no room");
	report_add_lost(&r, 100, LOSS_OF_LEDGERS, "ring buffer full");
	report_add_lost(&r, 1000, LOSS_OF_REQUESTS, "else");
	ok(r.n_lost == 3 && r.lost[0].count == 105 && is(r.lost[0].reason, "ring buffer full") &&
		   r.lost[1].count == 37 && is(r.lost[1].reason, "no room") && r.lost[2].count == 1000,
	   "what was lost, by its reason");
	ok(r.lost[0].reach == LOSS_OF_LEDGERS && r.lost[2].reach == LOSS_OF_REQUESTS && r.lost[1].at_most + 1 == 0,
	   "what it was of; what it changed is not known yet");
	ok(r.lost_events == 1142 && !r.incomplete && !report_may_lack_calls(&r),
	   "in all; whether it matters says who knows the times");
	r.incomplete = true;
	ok(report_may_lack_calls(&r), "a report that lacks something");
	r.incomplete = false;
	r.sync.lost = 1;
	ok(report_may_lack_calls(&r), "a report that lacks calls");
	report_free(&r);
	ok(!r.n_lost && !r.lost_events && !r.sync.lost, "freed, it is empty");
	report_free(NULL);
}

TEST(without_devices)
{
	char filter[] = "pid 42";
	struct report r = { 0 };

	ok(is(report_no_devices(&r), "No I/O was seen on any disk."), "nothing was done");
	r.filter = filter;
	ok(is(report_no_devices(&r), "No I/O of the filtered tasks was seen on any disk."),
	   "or not by whom it was asked about");
}

int main(void)
{
	tests_run();
	return tap_done();
}
