// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a verdict goes by: which disk matters, what is in its queue, whose writes and FLUSHes, and which groups are the largest:
 * golden/facts.txt has what is found in each situation, where it is not nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "situations.h"
#include "verdict_report.h"

static struct report *empty(void)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = SEC;
	return r;
}

/* ---- disks ---- */

TEST(legs)
{
	static const struct {
		const char *disk, *slave;
		bool leg;
	} rows[] = {
		{ "sda", "sda", true },
		{ "sda", "sda1", true },
		{ "sda", "sda12", true },
		{ "sda", "sdab", false },
		{ "sda", "sdb", false },
		{ "sda", "sd", false },
		{ "sda", "sdap1", true },
		{ "sda", "sdap", false },
		{ "sda", "sdapx", false },
		{ "nvme0n1", "nvme0n1", true },
		{ "nvme0n1", "nvme0n1p2", true },
		{ "nvme0n1", "nvme0n12", false },
		{ "nvme0n1", "nvme0n1px", false },
		{ "sda (diskseq 17)", "sda", true },
		{ "sda (diskseq 17)", "sda3", true },
		{ "", "5", false },
	};
	struct report_device top = { 0 }, d = { 0 };
	char *slaves[3] = { "zz9" };

	ok(!facts_is_leg(&top, &d), "nothing lies on a disk without slaves");
	top.slaves = slaves;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(d.name, sizeof(d.name), "%s", rows[i].disk);
		slaves[1] = (char *)rows[i].slave;
		ok(facts_is_leg(&top, &d) == rows[i].leg, "%s is %sone of %s", rows[i].slave, rows[i].leg ? "" : "not ",
		   rows[i].disk);
	}
}

TEST(nobarrier)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	ok(!facts_nobarrier(d), "no mounts");
	add_mount(d, "/a", NULL);
	add_mount(d, "/b", "barrier");
	ok(!facts_nobarrier(d), "mounts with barriers, or without a choice");
	add_mount(d, "/c", "nobarrier");
	ok(facts_nobarrier(d) == &d->mounts[2], "the one without");
	free(d->write_cache);
	d->write_cache = xstrdup("write through");
	ok(!facts_nobarrier(d), "without a volatile cache it doesn't matter");
	free(d->write_cache);
	d->write_cache = NULL;
	ok(!facts_nobarrier(d), "nor where it is not known");
}

static void figure(const char *what, uint64_t n)
{
	if (n)
		SAY(" %s %llu", what, (unsigned long long)n);
}

static void says_facts(const struct facts *f, const char *what)
{
	SAY("%s:\n  disk %s, ahead %.2f", what, f->dev ? f->dev->name : "none", f->ahead);
	figure("flush_mean", f->flush_mean);
	figure("flush_p50", f->flush_p50);
	figure("write_mean", f->write_mean);
	figure("write_p50", f->write_p50);
	figure("write_fast", f->write_fast);
	SAY("%s%s%s%s", f->flush_queued ? ", FLUSHes queued" : "", f->data_queued ? ", data queued" : "",
	    f->for_everybody ? ", for everybody" : "", f->own_queue ? ", its own queue" : "");
	if (f->volume.calls)
		SAY(", volume of %llu calls: %llu ns, %llu writes, %llu bytes", (unsigned long long)f->volume.calls,
		    (unsigned long long)f->volume.total_ns, (unsigned long long)f->volume.writes,
		    (unsigned long long)f->volume.bytes);
	if (f->flushed)
		SAY(", %llu FLUSHes of %s: %llu ns", (unsigned long long)f->flushes, f->flushed->name,
		    (unsigned long long)f->flushes_ns);
	if (f->written)
		SAY(", %llu writes to %s: %llu ns", (unsigned long long)f->writes, f->written->name,
		    (unsigned long long)f->writes_ns);
	SAY("\n  groups %d and %d:", f->first, f->second);
	for (int g = 0; g < GROUPS; g++)
		if (f->ns[g])
			SAY(" %d has %llu", g, (unsigned long long)f->ns[g]);
	SAY("\n");
}

static void says(const struct report *r, const char *what)
{
	struct facts f;

	facts_of(r, &f);
	says_facts(&f, what);
}

TEST(main_disk)
{
	static const enum op_class waited[] = { OP_FLUSH, OP_WRITE_BARRIER, OP_WRITE_SYNC, OP_FUA };
	static const enum op_class others[] = { OP_READ_SYNC, OP_READ_ASYNC, OP_WRITE_ASYNC, OP_DISCARD, OP_OTHER };
	MADE *r = empty();

	says(r, "no disk");
	add_device(r, "sda", "write back");
	says(r, "one that did nothing");
	add_device(r, "sdb", "write back");
	says(r, "the first of two that did nothing");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ops(&r->device[1], others[i], 1, MS);
	says(r, "no call waits for reads, background writes or discards");
	for (size_t i = 0; i < sizeof(waited) / sizeof(waited[0]); i++) {
		ops(&r->device[1 - i % 2], waited[i], 1, (i + 1) * MS);
		ops(&r->device[1 - i % 2], waited[i], 1, (i + 1) * MS);
		says(r, "the one with most time of what calls wait for");
	}
}

/* md0, 100 ms of FLUSHes, on sda and sdb, with so much of their own. */
static struct report *stack(uint64_t a_ns, uint64_t b_ns)
{
	struct report *r = empty();
	struct report_device *d = add_device(r, "md0", "write back");

	d->bio_based = true;
	strv_add(&d->slaves, xstrdup("sda1"));
	tally_add(&d->op[OP_FLUSH].total, 100 * MS - 1);
	tally_add(&d->op[OP_FLUSH].device, 1); /* not its time */
	if (a_ns)
		ops(add_device(r, "sda", "write back"), OP_FLUSH, 1, a_ns);
	if (b_ns)
		ops(add_device(r, "sdb", "write back"), OP_FLUSH, 1, b_ns);
	return r;
}

TEST(stack)
{
	struct report *r = stack(50 * MS, 0);

	says(r, "half of the time is spent below");
	drop(r);
	r = stack(50 * MS - 1, 0);
	says(r, "less than half is");
	drop(r);
	r = stack(60 * MS, 70 * MS);
	says(r, "of two with requests of their own the one with more");
	drop(r);
	r = stack(0, 0);
	says(r, "nothing below");
	drop(r);
	r = stack(90 * MS, 0); /* dm-0 is on md0, and none of its legs */
	r->device[1].bio_based = true;
	strv_free(r->device[0].slaves);
	r->device[0].slaves = NULL;
	strv_add(&r->device[0].slaves, xstrdup("sdz"));
	says(r, "another that is on top of others, but not below this one");
	drop(r);
	r = stack(100 * MS, 0);
	tally_add(&r->device[0].op[OP_FLUSH].total, 10 * MS); /* more than any below it */
	r->device[1].bio_based = true;
	ops(&r->device[1], OP_FLUSH, 1, MS);
	strv_add(&r->device[1].slaves, xstrdup("sdc"));
	ops(add_device(r, "sdc", "write back"), OP_FLUSH, 1, 60 * MS);
	says(r, "the lowest of three");
	drop(r);
}

/* ---- the queue ---- */

TEST(times)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	for (int i = 0; i < 20; i++) {
		tally_add(&d->op[OP_WRITE_SYNC].device, i < 2 ? 16 : i < 10 ? 24 : 40);
		tally_add(&d->op[OP_WRITE_SYNC].total, 60);
		tally_add(&d->op[OP_FLUSH].device, i < 10 ? 20 : 50);
		tally_add(&d->op[OP_FLUSH].total, 55);
	}
	says(r, "a FLUSH's mean and median in the device");
	d->bio_based = true;
	says(r, "of bios all of it");
}

TEST(ahead)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	for (int c = 0; c < OP_CLASSES; c++)
		ops(d, (enum op_class)c, 1, 4);
	r->wall_ns = 8;
	r->device[0].flush.no_depth = 1;
	says(r, "eight of half the run, FLUSHes left out, less the caller's own");
	r->wall_ns = 0;
	says(r, "of a run whose length is not known");
	r->wall_ns = SEC;
	ops(d, OP_FLUSH, 4, MS);
	d->flush.in_flight = 10;
	says(r, "what the FLUSHes of the disk found, those left out that were not seen to be issued");
	r->sync.busy_flushes = 2;
	r->sync.busy_in_flight = 9;
	says(r, "what those found that calls waited for");
}

TEST(queued)
{
	static const struct {
		double ahead;
		uint64_t flush_mean, write_fast, write_mean;
		bool flush, data;
		const char *what;
	} rows[] = {
		{ 2, 100, 100, 100, true, true, "two ahead, and as long as writes" },
		{ 1.99, 100, 100, 1000, false, false, "fewer than two ahead" },
		{ 2, 200, 100, 100, true, true, "a FLUSH of twice a write" },
		{ 2, 201, 100, 100, false, false, "of more" },
		{ 2, 50, 100, 100, true, true, "of half a write" },
		{ 2, 49, 100, 100, false, false, "of less" },
		{ 2, 0, 0, 0, false, true, "nothing took any time" },
		{ 2, 0, 100, 199, false, false, "no FLUSH, and a write less than twice the quickest" },
		{ 2, 0, 100, 200, false, true, "a write of twice the quickest" },
		{ 7.99, 1000, 100, 100, false, false, "fewer than eight ahead" },
		{ 8, 1000, 100, 100, false, true, "eight ahead" },
	};
	MADE *r = empty();
	struct facts f;

	add_device(r, "sda", "write back");
	facts_of(r, &f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f.ahead = rows[i].ahead;
		f.flush_mean = rows[i].flush_mean;
		f.write_fast = rows[i].write_fast;
		f.write_mean = rows[i].write_mean;
		facts_of_queue(&f);
		ok(f.flush_queued == rows[i].flush && f.data_queued == rows[i].data, "queued: %s", rows[i].what);
	}
	f.dev = NULL;
	facts_of_queue(&f);
	ok(!f.flush_queued && !f.data_queued, "without a disk there is no queue");
}

/* ---- groups ---- */

TEST(order)
{
	MADE *r = empty();

	says(r, "of nothing the first two");
	spend(r, CAUSE_UNKNOWN, 5);
	says(r, "the last group is all");
	spend(r, CAUSE_FLUSH_PRE, 5);
	says(r, "of two that are equal the first");
	spend(r, CAUSE_LOCK, 5);
	says(r, "of three the first two");
	spend(r, CAUSE_TAG, 4);
	spend(r, CAUSE_IOQ, 4);
	says(r, "the causes of a group add up");
}

/* ---- volume ---- */

TEST(own_queue)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	for (int i = 0; i < VOLUME_CAUSES; i++)
		spend(r, volume_causes[i], 100);
	r->sync.count = 1;
	r->sync.volume = (struct volume){ 1, SEC, 50, 1 << 20, { 10 * MS, 20 * MS, 30 * MS, 40 * MS } };
	ops(d, OP_WRITE_SYNC, 100, US);
	ops(d, OP_WRITE_ASYNC, 1000, US);
	says(r, "half of the requests are its own, background writes left out");
	ops(d, OP_READ_SYNC, 1, US);
	says(r, "less than half");
	d->kernel.reads = 20;
	d->kernel.writes = 1080;
	says(r, "what the kernel counted is not asked for without a filter");
	r->filter = xstrdup("pid 4");
	says(r, "with a filter it is: 100 beside the background's");
	d->kernel.reads++;
	says(r, "101 are too many");
	d->kernel.reads = d->kernel.writes = 0;
	says(r, "fewer than those of the background are none");
	d->kernel.have = false;
	says(r, "without the kernel's counters it is what was seen");
}

TEST(for_everybody)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	for (int i = 0; i < VOLUME_CAUSES; i++)
		r->sync.ledger.ns[volume_causes[i]] = (uint64_t)(i + 1) * MS;
	r->sync.count = 2;
	r->sync.total_ns = 30 * MS;
	r->sync.calls[CALL_SYNC] = r->sync.calls[CALL_SYNCFS] = 1;
	ops(d, OP_WRITE_ASYNC, 31, US);
	d->op[OP_WRITE_ASYNC].bytes = 5000;
	ops(d, OP_READ_SYNC, 200, US);
	says(r, "fewer than 16 writes for each call are no volume");
	ops(d, OP_WRITE_ASYNC, 1, US);
	says(r, "16 for each are, whatever else there is");
	r->sync.calls[CALL_SYNC] = 0;
	says(r, "one of two that is not for everybody");
	r->sync.calls[CALL_SYNC] = 1;
	r->sync.count = 0;
	says(r, "no call at all");
}

TEST(other_calls)
{
	MADE *r = start();
	struct call_sums calls = { .count = 3, .total_ns = 7, .unsafe = 1, .unsafe_ns = 5, .durable = 2 };
	struct report_sync s;
	struct facts f, g;

	add_device(r, "sda", "write back");
	r->sync.elsewhere = 9;
	spend(r, CAUSE_CPU, 500);
	calls.ledger.ns[CAUSE_LOCK] = 7;
	calls.volume.calls = 2;
	facts_of(r, &f);
	facts_with_calls(&f, &calls, &s, &g);
	ok(g.s == &s && s.count == 3 && s.total_ns == 7 && s.unsafe == 1 && s.unsafe_ns == 5 && s.durable == 2 &&
		   s.elsewhere == 9,
	   "other calls: their sums, and all else of the report");
	says_facts(&g, "and what their time went to");
	f.for_everybody = true;
	ops(&r->device[0], OP_WRITE_SYNC, 48, US);
	facts_with_calls(&f, &calls, &s, &g);
	says_facts(&g, "calls for everybody: all that the disk wrote");
}

/* ---- others' ---- */

TEST(flushed)
{
	MADE *r = empty();
	struct report_device *d;

	says(r, "no disk, no FLUSH");
	d = add_device(r, "sda", "write back");
	says(r, "no FLUSH");
	d->kernel.flushes = 3;
	d->kernel.flush_ns = 30;
	says(r, "those that the kernel counted");
	d->kernel.have = false;
	says(r, "it has no counters");
	d->kernel.have = true;
	d->kernel.have_flush = false;
	says(r, "it doesn't count FLUSHes");
	ops(d, OP_FLUSH, 2, 9);
	says(r, "then those that were seen");
	ops(add_device(r, "sdb", "write back"), OP_FLUSH, 1, 18);
	says(r, "of two disks with as much time the first");
	ops(&r->device[1], OP_FLUSH, 1, 1);
	says(r, "the one with more");
}

TEST(written)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_WRITE_SYNC, 2, 10);
	ops(d, OP_WRITE_BARRIER, 3, 10);
	ops(d, OP_FUA, 4, 10);
	ops(d, OP_WRITE_ASYNC, 50, 10);
	says(r, "nobody was asked about: there are no others");
	strv_add(&r->command, xstrdup("x"));
	says(r, "all but background writes");
	d->by_command = 8;
	says(r, "the command's own are no others'");
	d->by_command = 9;
	says(r, "all are the command's");
	d->by_command = 10;
	says(r, "and more");
	d->by_command = 0;
	ops(add_device(r, "sdb", "write back"), OP_FUA, 1, 90);
	says(r, "of two disks with as much time the first");
	ops(&r->device[1], OP_FUA, 1, 1);
	says(r, "the one with more");
}

TEST(written_by_filter)
{
	MADE *r = empty();
	struct report_device *d = add_device(r, "sda", "write back");

	r->filter = xstrdup("pid 4");
	ops(d, OP_WRITE_SYNC, 2, 10);
	d->kernel.writes = 2;
	says(r, "the kernel counted as many as came through");
	d->kernel.writes = 3;
	d->kernel.write_ns = 50;
	says(r, "one more, with the time that is left");
	d->kernel.write_ns = 19;
	says(r, "no time is left");
	d->kernel.have = false;
	says(r, "it has no counters");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("facts");
}
