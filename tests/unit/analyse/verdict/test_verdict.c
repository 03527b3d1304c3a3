// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict on reports made by hand: every class, and reports with hardly anything in them: golden/verdict.txt has the class, its family,
 * the share and the sentence. At their borders: test_rules.c, test_facts.c, test_confidence.c; its words: test_words.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "util/mem.h"
#include "situations.h"
#include "verdict_report.h"

static void expect(struct report *r, const char *what)
{
	const struct report_verdict *v = &r->verdict;
	bool there;

	verdict_make(r);
	SAY("%s: %s (%s)", what, v->class, v->family ? v->family : "no family");
	if (!isnan(v->share))
		SAY(", %.1f %%", 100 * v->share);
	if (v->second)
		SAY(", near %s", v->second);
	SAY("\n  %s\n", v->sentence);
	there = strv_len(v->advice) > 0;
	for (char **s = v->evidence; s && *s; s++)
		there = there && **s;
	ok(there, "%s: evidence and advice", what);
	drop(r);
}

/* ---- each class ---- */

static struct report *slow_flush(void)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, 7 * MS);
	ops(d, OP_WRITE_BARRIER, 100, 200 * US);
	spend(r, CAUSE_FLUSH_PRE, 300);
	spend(r, CAUSE_FLUSH_POST, 300);
	spend(r, CAUSE_FLUSH_ONLY, 200);
	spend(r, CAUSE_FLUSH_WAIT, 110);
	spend(r, CAUSE_DEVICE_WRITE, 60);
	spend(r, CAUSE_CPU, 30);
	r->sync.flush_own_ns = 910 * MS;
	r->sync.busy_flushes = 100;
	return r;
}

TEST(flush)
{
	struct report *r = slow_flush();

	expect(r, "most of the time in FLUSHes, nothing beside them");

	r = slow_flush();
	r->sync.flush_own_ns = 300 * MS;
	r->sync.flush_foreign_ns = 610 * MS;
	add_process(r, "fio", 77, 900, SEC / 20);
	expect(r, "a neighbour's flushes");

	r = slow_flush();
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "30 quick writes in front don't make a FLUSH of 7 ms");

	r = slow_flush();
	r->sync.count = 10000;
	expect(r, "quick calls");

	r = slow_flush(); /* none was seen to be issued, and the device was idle for most of the time */
	r->sync.busy_flushes = 0;
	r->device[0].flush.no_depth = 100;
	expect(r, "what was in the drive beside a FLUSH is not known");
}

static struct report *in_a_queue(uint64_t others, uint64_t flush_ns, uint64_t write_ns)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, flush_ns);
	ops(d, OP_WRITE_SYNC, 5000, write_ns);
	spend(r, CAUSE_FLUSH_PRE, 450);
	spend(r, CAUSE_DEVICE_WRITE, 450);
	spend(r, CAUSE_CPU, 100);
	r->sync.busy_flushes = 100;
	r->sync.busy_in_flight = 100 * others;
	return r;
}

TEST(busy)
{
	struct report *r;

	expect(in_a_queue(127, 143 * MS, 160 * MS), "128 tags full of others' writes");
	expect(in_a_queue(3, 24 * MS, 35 * MS), "4 tags full of others' writes");
	expect(in_a_queue(0, 24 * MS, 35 * MS), "the same times with nobody else there");
	expect(in_a_queue(1, 24 * MS, 35 * MS), "the same times with one other");
	r = in_a_queue(46, 1300 * US, 67 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 4000);
	expect(r, "a FLUSH that goes past the others' writes");
}

TEST(device)
{
	struct report *r = start();

	ops(add_device(r, "sda", "write back"), OP_WRITE_BARRIER, 100, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 800);
	spend(r, CAUSE_FLUSH_POST, 200);
	expect(r, "slow writes");

	r = start();
	ops(add_device(r, "sda", "write through"), OP_WRITE_SYNC, 10000, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 900);
	spend(r, CAUSE_CPU, 100);
	expect(r, "many writes in the device at all times, without any FLUSH to tell");

	r = start();
	ops(add_device(r, "sda", "write back"), OP_FUA, 100, 8 * MS);
	spend(r, CAUSE_DEVICE_FUA, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "slow FUA writes");

	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_DEVICE_READ, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "reads");

	r = start();
	spend(r, CAUSE_DEVICE_DISCARD, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "discards");
}

TEST(kernel_and_host)
{
	static const enum cause simple[] = { CAUSE_IOQ,	    CAUSE_TAG,	CAUSE_THROTTLE, CAUSE_RUNQ,
					     CAUSE_JOURNAL, CAUSE_LOCK, CAUSE_CPU,	CAUSE_COMPLETION };
	struct report *r;

	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
		r = start();
		add_device(r, "sda", "write back");
		spend(r, simple[i], 700);
		spend(r, CAUSE_FLUSH_PRE, 300);
		expect(r, cause_name(simple[i]));
	}
	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_TAG, 400);
	spend(r, CAUSE_IOQ, 350);
	spend(r, CAUSE_CPU, 250);
	expect(r, "tag and ioq together");
}

static struct report *few(uint64_t count, uint64_t ns)
{
	struct report *r = slow_flush();

	r->sync.count = r->sync.calls[CALL_FDATASYNC] = count;
	for (int c = 0; c < CAUSE_COUNT; c++)
		r->sync.ledger.ns[c] = 0;
	r->sync.ledger.ns[CAUSE_FLUSH_ONLY] = r->sync.total_ns = ns;
	return r;
}

/* One call of 0.6 s that wrote 200 MiB in 400 requests: each of them was in the device for a quarter of that, behind the others. */
static struct report *volume(void)
{
	struct report *r = few(1, 600 * MS);
	struct report_device *d = &r->device[0];

	r->wall_ns = 700 * MS;
	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	r->sync.ledger.ns[CAUSE_DEVICE_WRITE] = 500 * MS;
	r->sync.ledger.ns[CAUSE_FLUSH_POST] = 100 * MS;
	ops(d, OP_WRITE_SYNC, 400, 150 * MS);
	d->op[OP_WRITE_SYNC].bytes = 200ull << 20;
	r->sync.volume = (struct volume){ 1, 600 * MS, 400, 200ull << 20, { 500 * MS } };
	return r;
}

TEST(much_written)
{
	struct report *r = volume();

	expect(r, "one call that writes 200 MiB");
	r = volume();
	r->sync.volume.wait_ns[0] = 359 * MS;
	r->sync.ledger.ns[CAUSE_DEVICE_WRITE] = 359 * MS;
	r->sync.ledger.ns[CAUSE_FLUSH_POST] = 241 * MS;
	expect(r, "it waits for the disk in less than three fifths of the time");
	r = volume();
	ops(&r->device[0], OP_READ_SYNC, 300, MS);
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "others have more for the disk to do");
	r = volume();
	ops(&r->device[0], OP_WRITE_ASYNC, 1000, MS);
	expect(r, "background writes are nobody else's");
	r = volume();
	r->filter = xstrdup("pid 42");
	r->device[0].kernel.writes = 1000;
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "others, of whom only the kernel knows");
	r = volume();
	memset(&r->sync.volume, 0, sizeof(r->sync.volume));
	r->sync.calls[CALL_FDATASYNC] = 0;
	r->sync.calls[CALL_SYNC] = 1;
	expect(r, "sync");
}

/* ---- unsafe ---- */

static struct report *unflushed(const char *cache, uint64_t n)
{
	struct report *r = start();

	ops(add_device(r, "sda", cache), OP_WRITE_SYNC, 300, 200 * US);
	spend(r, CAUSE_DEVICE_WRITE, 800);
	spend(r, CAUSE_CPU, 200);
	r->sync.unsafe = n;
	r->sync.durable = 100 - n;
	add_file(r, "/mnt/fast/db", "sda", n);
	return r;
}

TEST(nobarrier)
{
	struct report *r = unflushed("write back", 51);
	struct report_device idle;

	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	wrap(r);
	r->wall_ns = 100 * SEC;
	expect(r, "before not-sync: it is because of that that it is quick");
	r = unflushed("write through", 100);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "nobarrier matters nothing without a volatile cache");
	r = unflushed("write back", 51);
	add_device(r, "sdb", "write back");
	idle = r->device[1];
	r->device[1] = r->device[0];
	r->device[0] = idle;
	add_mount(&r->device[0], "/mnt/idle", "nobarrier");
	add_mount(&r->device[1], "/mnt/safe", "barrier");
	add_mount(&r->device[1], "/mnt/fast", "nobarrier");
	expect(r, "nobarrier on an idle disk and on another");
}

/* ---- hardly anything known ---- */

TEST(sparse)
{
	struct report *r = start();

	spend(r, CAUSE_FLUSH_ONLY, 1000);
	expect(r, "no device was traced");

	r = start();
	spend(r, CAUSE_TAG, 1000);
	memset(&r->sync.latency, 0, sizeof(r->sync.latency));
	r->sync.n_processes = 0;
	free(r->sync.process[0].comm);
	free(r->sync.process);
	r->sync.process = NULL;
	r->wall_ns = 0;
	expect(r, "no device, no process, no wall time");

	r = start();
	grow((void **)&r->device, &r->n_devices, sizeof(struct report_device));
	spend(r, CAUSE_DEVICE_WRITE, 1000);
	free(r->sync.process[0].comm);
	r->sync.process[0].comm = NULL;
	expect(r, "a device of which nothing is known");

	r = slow_flush();
	add_device(r, "dm-0", "write back")->bio_based = true;
	ops(&r->device[1], OP_FLUSH, 100, 9 * MS);
	expect(r, "dm on a disk");
}

TEST(tail)
{
	MADE *r = slow_flush();

	r->sync.tail = (struct report_tail){ .count = 1, .total_ns = 40 * MS, .threshold_ns = 40 * MS, .median_ns = 10 * MS };
	verdict_make(r);
	SAY("the slowest calls are spoken of, too:\n  %s\n", r->sync.tail.sentence);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("verdict");
}
