// SPDX-License-Identifier: GPL-2.0-only
/* The verdict on reports made by hand: every class, the borders between them, and reports with hardly anything in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "util/mem.h"
#include "tap.h"
#include "verdict_report.h"

/* ---- checks ---- */

static bool words_are_there(const struct report_verdict *v)
{
	bool good = v->sentence && strlen(v->sentence) > 20 && v->sentence[strlen(v->sentence) - 1] == '.';

	for (char **s = v->evidence; s && *s; s++)
		good = good && **s;
	good = good && strv_len(v->advice) > 0;
	return good && !strstr(v->sentence, "nan") && !strstr(v->sentence, "(null)");
}

static bool says(char **v, const char *what)
{
	for (; v && *v; v++)
		if (strstr(*v, what))
			return true;
	return false;
}

static void show(const struct report_verdict *v)
{
	diag("%s %.3f: %s", v->class ? v->class : "-", v->share, v->sentence ? v->sentence : "-");
	for (char **s = v->evidence; s && *s; s++)
		diag("  %s", *s);
}

static void is_str(const char *have, const char *want, const char *what)
{
	if (!ok(have && !strcmp(have, want), "%s", what))
		diag("is %s", have ? have : "NULL");
}

/* Where there is nothing to have a part of, there is none: not 0. */
static bool share_fits(const struct report_verdict *v)
{
	if (!strcmp(v->class, "no-sync") || !strcmp(v->class, "too-little-data"))
		return isnan(v->share);
	return v->share >= 0 && v->share <= 1;
}

/* Judges; the report stays for further questions. */
static bool judged(struct report *r, const char *class, const char *family, const char *what)
{
	const struct report_verdict *v = &r->verdict;
	bool good;

	verdict_make(r);
	good = r->have_verdict && !strcmp(v->class, class) && words_are_there(v) && share_fits(v) &&
	       (family ? v->family && !strcmp(v->family, family) : !v->family);
	if (!ok(good, "%s: %s", class, what) || getenv("VERBOSE"))
		show(v);
	return good;
}

static void expect(struct report *r, const char *class, const char *family, const char *what)
{
	judged(r, class, family, what);
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

static void test_flush(void)
{
	struct report *r = slow_flush();

	judged(r, "device-flush", "flush", "most of the time in FLUSHes, nothing beside them");
	ok(r->verdict.share > 0.909 && r->verdict.share < 0.911, "its share is the family's");
	ok(!strcmp(r->verdict.sentence, "Your fsyncs are slow because the drive takes 7.00 ms to empty its write cache: 91.0 % "
					"of the 1.00 s that sqlite3 spent in fdatasync."),
	   "its sentence");
	ok(says(r->verdict.evidence, "kernel itself counted 100"), "the kernel's own count is among the evidence");
	ok(says(r->verdict.evidence, "unknown 0 %"), "unknown is among the evidence, also when it is nothing");
	ok(says(r->verdict.advice, "power cut"), "the risk of barrier=0 is told");
	drop(r);

	r = slow_flush();
	r->sync.flush_own_ns = 300 * MS;
	r->sync.flush_foreign_ns = 610 * MS;
	add_process(r, "fio", 77, 900, SEC / 20);
	judged(r, "device-flush", "flush", "a neighbour's flushes");
	ok(says(r->verdict.evidence, "fio (pid 77, 900 calls"), "the neighbour is named");
	ok(says(r->verdict.evidence, "67.0 %"), "and its share of the flush time");
	drop(r);

	r = slow_flush();
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-flush", "flush", "30 quick writes in front don't make a FLUSH of 7 ms");

	r = slow_flush();
	r->sync.count = 10000;
	judged(r, "device-flush", "flush", "quick calls");
	ok(strstr(r->verdict.sentence, "quick") && !strstr(r->verdict.sentence, "slow because"), "aren't called slow");
	drop(r);

	r = slow_flush(); /* none was seen to be issued, and the device was idle for most of the time */
	r->sync.busy_flushes = 0;
	r->device[0].flush.no_depth = 100;
	judged(r, "device-flush", "flush", "what was in the drive beside a FLUSH is not known");
	ok(!says(r->verdict.evidence, "other requests were in the drive"), "and then nothing is said of it");
	drop(r);
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

static void test_busy(void)
{
	struct report *r;

	expect(in_a_queue(127, 143 * MS, 160 * MS), "device-busy", "device", "128 tags full of others' writes");
	expect(in_a_queue(3, 24 * MS, 35 * MS), "device-busy", "device", "4 tags full of others' writes");
	expect(in_a_queue(0, 24 * MS, 35 * MS), "mixed", NULL, "the same times with nobody else there");
	expect(in_a_queue(1, 24 * MS, 35 * MS), "mixed", NULL, "the same times with one other");
	r = in_a_queue(46, 1300 * US, 67 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 4000);
	judged(r, "device-busy", "device", "a FLUSH that goes past the others' writes");
	ok(says(r->verdict.evidence, "46.0 other requests were in the drive on average") &&
		   !says(r->verdict.evidence, "in their queue"),
	   "did not wait in their queue");
	drop(r);
}

static void test_device(void)
{
	struct report *r = start();

	ops(add_device(r, "sda", "write back"), OP_WRITE_BARRIER, 100, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 800);
	spend(r, CAUSE_FLUSH_POST, 200);
	expect(r, "device-write", "device", "slow writes");

	r = start();
	ops(add_device(r, "sda", "write through"), OP_WRITE_SYNC, 10000, 5 * MS);
	spend(r, CAUSE_DEVICE_WRITE, 900);
	spend(r, CAUSE_CPU, 100);
	expect(r, "device-busy", "device", "many writes in the device at all times, without any FLUSH to tell");

	r = start();
	ops(add_device(r, "sda", "write back"), OP_FUA, 100, 8 * MS);
	spend(r, CAUSE_DEVICE_FUA, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "device-fua", "device", "slow FUA writes");

	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_DEVICE_READ, 800);
	spend(r, CAUSE_CPU, 200);
	expect(r, "device-read", "device", "reads");

	r = start();
	spend(r, CAUSE_DEVICE_DISCARD, 800);
	spend(r, CAUSE_CPU, 200);
	judged(r, "device-write", "device", "discards");
	ok(strstr(r->verdict.sentence, "discard") != NULL, "are called that");
	drop(r);
}

static void test_kernel_and_host(void)
{
	static const struct {
		enum cause cause;
		const char *class, *family;
	} simple[] = {
		{ CAUSE_IOQ, "io-scheduler", "I/O scheduler" },
		{ CAUSE_TAG, "io-scheduler", "I/O scheduler" },
		{ CAUSE_THROTTLE, "throttled", "I/O scheduler" },
		{ CAUSE_RUNQ, "cpu-scheduler", "CPU scheduler" },
		{ CAUSE_JOURNAL, "journal", "file system" },
		{ CAUSE_LOCK, "lock", "host" },
		{ CAUSE_CPU, "cpu", "host" },
		{ CAUSE_COMPLETION, "cpu", "host" },
	};
	struct report *r;

	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
		r = start();
		add_device(r, "sda", "write back");
		spend(r, simple[i].cause, 700);
		spend(r, CAUSE_FLUSH_PRE, 300);
		expect(r, simple[i].class, simple[i].family, cause_name(simple[i].cause));
	}
	r = start();
	add_device(r, "sda", "write back");
	spend(r, CAUSE_TAG, 400);
	spend(r, CAUSE_IOQ, 350);
	spend(r, CAUSE_CPU, 250);
	judged(r, "io-scheduler", "I/O scheduler", "tag and ioq together");
	ok(strstr(r->verdict.sentence, "slots (64)") && says(r->verdict.advice, "nr_requests"),
	   "the larger one has the word");
	drop(r);
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

static void test_volume(void)
{
	struct report *r = volume();

	judged(r, "volume", "device", "one call that writes 200 MiB");
	ok(strstr(r->verdict.sentence,
		  "It is slow because it writes 200 MiB in 400 requests, and the drive takes 400 MiB/s: 83.3 % of that time."),
	   "its sentence: %s", r->verdict.sentence);
	ok(says(r->verdict.advice, "vm.dirty_background_bytes"), "earlier is better");
	drop(r);
	r = volume();
	r->sync.volume.wait_ns[0] = 359 * MS;
	r->sync.ledger.ns[CAUSE_DEVICE_WRITE] = 359 * MS;
	r->sync.ledger.ns[CAUSE_FLUSH_POST] = 241 * MS;
	judged(r, "mixed", NULL, "it waits for the disk in less than three fifths of the time");
	is_str(r->verdict.second, "volume", "which is near");
	drop(r);
	r = volume();
	ops(&r->device[0], OP_READ_SYNC, 300, MS);
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-busy", "device", "others have more for the disk to do");
	r = volume();
	ops(&r->device[0], OP_WRITE_ASYNC, 1000, MS);
	expect(r, "volume", "device", "background writes are nobody else's");
	r = volume();
	r->filter = xstrdup("pid 42");
	r->device[0].kernel.writes = 1000;
	r->sync.busy_in_flight = 100 * 30;
	expect(r, "device-busy", "device", "others, of whom only the kernel knows");
	r = volume();
	memset(&r->sync.volume, 0, sizeof(r->sync.volume));
	r->sync.calls[CALL_FDATASYNC] = 0;
	r->sync.calls[CALL_SYNC] = 1;
	judged(r, "volume", "device", "sync");
	ok(strstr(r->verdict.sentence, "it writes whatever is dirty, 200 MiB in "), "which has others write: %s",
	   r->verdict.sentence);
	drop(r);
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

static void test_nobarrier(void)
{
	struct report *r = unflushed("write back", 51);
	struct report_device idle;

	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	wrap(r);
	r->wall_ns = 100 * SEC;
	expect(r, "unsafe-fast", NULL, "before not-sync: it is because of that that it is quick");
	r = unflushed("write through", 100);
	add_mount(&r->device[0], "/mnt/fast", "nobarrier");
	expect(r, "device-write", "device", "nobarrier matters nothing without a volatile cache");
	r = unflushed("write back", 51);
	add_device(r, "sdb", "write back");
	idle = r->device[1];
	r->device[1] = r->device[0];
	r->device[0] = idle;
	add_mount(&r->device[0], "/mnt/idle", "nobarrier");
	add_mount(&r->device[1], "/mnt/safe", "barrier");
	add_mount(&r->device[1], "/mnt/fast", "nobarrier");
	judged(r, "unsafe-fast", NULL, "nobarrier on an idle disk and on another");
	ok(strstr(r->verdict.sentence, "/mnt/fast"), "the one that was written to is named");
	drop(r);
}

/* ---- hardly anything known ---- */

static void test_sparse(void)
{
	struct report *r = start();

	spend(r, CAUSE_FLUSH_ONLY, 1000);
	expect(r, "device-flush", "flush", "no device was traced");

	r = start();
	spend(r, CAUSE_TAG, 1000);
	memset(&r->sync.latency, 0, sizeof(r->sync.latency));
	r->sync.n_processes = 0;
	free(r->sync.process[0].comm);
	free(r->sync.process);
	r->sync.process = NULL;
	r->wall_ns = 0;
	expect(r, "io-scheduler", "I/O scheduler", "no device, no process, no wall time");

	r = start();
	grow((void **)&r->device, &r->n_devices, sizeof(struct report_device));
	spend(r, CAUSE_DEVICE_WRITE, 1000);
	free(r->sync.process[0].comm);
	r->sync.process[0].comm = NULL;
	expect(r, "device-write", "device", "a device of which nothing is known");

	r = slow_flush();
	add_device(r, "dm-0", "write back")->bio_based = true;
	ops(&r->device[1], OP_FLUSH, 100, 9 * MS);
	judged(r, "device-flush", "flush", "dm on a disk");
	ok(strstr(r->verdict.sentence, "7.00 ms") != NULL, "the disk's times count");
	drop(r);
}

static void test_tail(void)
{
	struct report *r = slow_flush();

	r->sync.tail = (struct report_tail){ .count = 1, .total_ns = 40 * MS, .threshold_ns = 40 * MS, .median_ns = 10 * MS };
	verdict_make(r);
	is_str(r->sync.tail.sentence, "The slowest of 100 calls took 40.0 ms, 4.00 times the median of 10.0 ms.",
	       "the slowest calls are spoken of, too");
	drop(r);
}

int main(void)
{
	test_flush();
	test_busy();
	test_device();
	test_kernel_and_host();
	test_volume();
	test_nobarrier();
	test_sparse();
	test_tail();
	return tap_done();
}
