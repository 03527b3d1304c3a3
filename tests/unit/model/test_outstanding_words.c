// SPDX-License-Identifier: GPL-2.0-only
/* The words for a sync call that has not returned: each of its facts, known or not. */
#include <string.h>

#include "model/outstanding.h"
#include "tap.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SEC    1000000000ull

static void says(const struct buf *b, const char *want)
{
	if (!ok(b->data && !strcmp(b->data, want), "%s", want))
		diag("%s", b->data ? b->data : "nothing");
}

/* Texts of a report are its own: these are never freed. */
#define T(text) ((char *)(uintptr_t)(text))

static void who(void)
{
	static const struct {
		struct report_outstanding o;
		const char *want;
	} all[] = {
		{ { .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .ns = 3 * SEC },
		  "dd (7) has been in fsync for 3.00 s" },
		{ { .pid = 7, .tid = 8, .comm = T("dd"), .call = T("fsync"), .ns = 3 * SEC, .before = true },
		  "dd (7, thread 8) has been in fsync for at least 3.00 s" },
		{ { .pid = 7, .tid = 7, .comm = T(""), .call = T("sync"), .device = T("sda1"), .ns = SEC },
		  "? (7) has been in sync on sda1 for 1.00 s" },
		{ { .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .path = T("/f"), .ns = SEC },
		  "dd (7) has been in fsync on /f for 1.00 s" },
		{ { .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .path = T("/f"), .device = T("sda1"), .ns = SEC },
		  "dd (7) has been in fsync on /f (sda1) for 1.00 s" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct buf b = { 0 };

		outstanding_who(&all[i].o, &b);
		says(&b, all[i].want);
		buf_free(&b);
	}
}

static void waits(void)
{
	static const struct {
		struct report_outstanding o;
		const char *want;
	} all[] = {
		{ { .step = T("cpu") }, "It is running, or ready to run." },
		{ { .step = T("tag") }, "It waits for a free request of the disk." },
		{ { .step = T("throttle") },
		  "The kernel holds its I/O back (writeback throttling, or an I/O limit of a cgroup)." },
		{ { .step = T("journal") }, "It waits for the journal." },
		{ { .step = T("lock") }, "It waits for another task." },
		{ { .step = T("flush") }, "It waits for a FLUSH." },
		{ { .step = T("unknown") }, "What it waits for is not known." },
		{ { .step = T("unknown"), .where = T("io_schedule") },
		  "What it waits for is not known: it sleeps in io_schedule." },
		{ { .step = T("journal"), .where = T("x"), .via = T("jbd2/sda1-8") }, "It waits for jbd2/sda1-8." },
		/* a request that it is known to wait for */
		{ { .op = T("write"), .disk = T("sda"), .certain = true }, "It waits for a write that has been in sda." },
		{ { .op = T("read"), .disk = T("sda"), .certain = true, .request_ns = 2 * SEC },
		  "It waits for a read that has been in sda for 2.00 s." },
		{ { .op = T("fua"), .disk = T("sda"), .certain = true, .request_ns = 2 * SEC, .request_before = true },
		  "It waits for a FUA write that has been in sda for at least 2.00 s." },
		{ { .op = T("discard"), .disk = T("sda"), .certain = true, .queued = true, .request_ns = SEC },
		  "It waits for a discard that has been in the queue of sda for 1.00 s." },
		{ { .op = T("flush"), .disk = T("sda"), .certain = true, .request_ns = SEC },
		  "It waits for a FLUSH that has been in sda for 1.00 s." },
		{ { .op = T("flush"), .disk = T("sda"), .certain = true, .queued = true, .request_ns = SEC },
		  "It waits for a FLUSH that has not been sent to sda." },
		{ { .op = T("other"), .disk = T("sda"), .certain = true }, "It waits for a request that has been in sda." },
		{ { .op = T("write"), .disk = T("sda"), .certain = true, .via = T("jbd2") },
		  "It waits for jbd2, which waits for a write that has been in sda." },
		/* one that it may wait for */
		{ { .op = T("write"), .disk = T("sda") }, "It waits for I/O, and sda has a write in flight." },
		{ { .op = T("write"), .disk = T("sda"), .via = T("jbd2") },
		  "It waits for jbd2, and sda has a write in flight." },
		{ { .op = T("flush"), .disk = T("sda"), .via = T("jbd2"), .request_ns = 2 * SEC },
		  "It waits for jbd2, and sda has not completed a FLUSH for 2.00 s." },
		{ { .op = T("flush"), .disk = T("sda"), .request_ns = 2 * SEC, .request_before = true },
		  "It waits for I/O, and sda has not completed a FLUSH for at least 2.00 s." },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct buf b = { 0 };

		outstanding_wait(&all[i].o, &b);
		says(&b, all[i].want);
		buf_free(&b);
	}
}

static void families(void)
{
	struct report_outstanding o = { 0 };
	bool good = true;

	for (enum cause c = 0; c < CAUSE_COUNT; c++) {
		o.step = T(cause_name(c));
		good = good && outstanding_family(&o) == cause_family(c);
	}
	for (enum cause_family f = 0; f < FAMILY_COUNT; f++) {
		o.step = T(family_name(f));
		good = good && outstanding_family(&o) == f;
	}
	ok(good, "what it waits for is a cause, or a family");
	o.step = T("");
	ok(outstanding_family(&o) == FAMILY_UNKNOWN, "or not known");
}

static void in_flight(void)
{
	static const struct {
		struct requests_in_flight n;
		bool any;
		const char *want;
	} all[] = {
		{ { .have = true }, false, "" },
		{ { .n = { [ROW_READ] = 1 } }, false, "" },
		{ { .have = true, .n = { [ROW_FLUSH] = 1 } }, true, "1 FLUSH" },
		{ { .have = true, .n = { [ROW_FLUSH] = 2 } }, true, "2 FLUSHes" },
		{ { .have = true, .n = { [ROW_FLUSH] = 1, [ROW_WRITE] = 2 } }, true, "1 FLUSH and 2 writes" },
		{ { .have = true, .n = { [ROW_FLUSH] = 3, [ROW_WRITE] = 1, [ROW_READ] = 1 } },
		  true,
		  "3 FLUSHes, 1 write and 1 read" },
		{ { .have = true,
		    .n = { [ROW_READ] = 5, [ROW_WRITE] = 4, [ROW_FLUSH] = 3, [ROW_DISCARD] = 2, [ROW_OTHER] = 1 } },
		  true,
		  "3 FLUSHes, 4 writes, 5 reads, 2 discards and 1 other request" },
		{ { .have = true, .n = { [ROW_DISCARD] = 1, [ROW_OTHER] = 1200 } }, true, "1 discard and 1,200 other requests" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct buf b = { 0 };

		buf_str(&b, "");
		in_flight_words(&all[i].n, &b);
		says(&b, all[i].want);
		ok(in_flight_any(&all[i].n) == all[i].any, "and whether there are any");
		buf_free(&b);
	}
}

int main(void)
{
	who();
	waits();
	families();
	in_flight();
	return tap_done();
}
