// SPDX-License-Identifier: GPL-2.0-only
/* The words for a sync call that has not returned: each of its facts, known or not: golden/outstanding_words.txt. */
#include <string.h>

#include "model/outstanding.h"
#include "situations.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SEC    1000000000ull

/* Texts of a report are its own: these are never freed. */
#define T(text) ((char *)(uintptr_t)(text))

TEST(who)
{
	static const struct report_outstanding all[] = {
		{ .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .ns = 3 * SEC },
		{ .pid = 7, .tid = 8, .comm = T("dd"), .call = T("fsync"), .ns = 3 * SEC, .before = true },
		{ .pid = 7, .tid = 7, .comm = T(""), .call = T("sync"), .device = T("sda1"), .ns = SEC },
		{ .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .path = T("/f"), .ns = SEC },
		{ .pid = 7, .tid = 7, .comm = T("dd"), .call = T("fsync"), .path = T("/f"), .device = T("sda1"), .ns = SEC },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		FREED(buf) struct buf b = { 0 };

		outstanding_who(&all[i], &b);
		SAY("%s\n", b.data);
	}
}

TEST(waits)
{
	static const struct report_outstanding all[] = {
		{ .step = T("cpu") },
		{ .step = T("tag") },
		{ .step = T("throttle") },
		{ .step = T("journal") },
		{ .step = T("lock") },
		{ .step = T("flush") },
		{ .step = T("unknown") },
		{ .step = T("unknown"), .where = T("io_schedule") },
		{ .step = T("journal"), .where = T("x"), .via = T("jbd2/sda1-8") },
		/* a request that it is known to wait for */
		{ .op = T("write"), .disk = T("sda"), .certain = true },
		{ .op = T("read"), .disk = T("sda"), .certain = true, .request_ns = 2 * SEC },
		{ .op = T("fua"), .disk = T("sda"), .certain = true, .request_ns = 2 * SEC, .request_before = true },
		{ .op = T("discard"), .disk = T("sda"), .certain = true, .queued = true, .request_ns = SEC },
		{ .op = T("flush"), .disk = T("sda"), .certain = true, .request_ns = SEC },
		{ .op = T("flush"), .disk = T("sda"), .certain = true, .queued = true, .request_ns = SEC },
		{ .op = T("other"), .disk = T("sda"), .certain = true },
		{ .op = T("write"), .disk = T("sda"), .certain = true, .via = T("jbd2") },
		/* one that it may wait for */
		{ .op = T("write"), .disk = T("sda") },
		{ .op = T("write"), .disk = T("sda"), .via = T("jbd2") },
		{ .op = T("flush"), .disk = T("sda"), .via = T("jbd2"), .request_ns = 2 * SEC },
		{ .op = T("flush"), .disk = T("sda"), .request_ns = 2 * SEC, .request_before = true },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		FREED(buf) struct buf b = { 0 };

		outstanding_wait(&all[i], &b);
		SAY("%s\n", b.data);
	}
}

TEST(families)
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

TEST(in_flight)
{
	static const struct requests_in_flight all[] = {
		{ .have = true },
		{ .n = { [ROW_READ] = 1 } },
		{ .have = true, .n = { [ROW_FLUSH] = 1 } },
		{ .have = true, .n = { [ROW_FLUSH] = 2 } },
		{ .have = true, .n = { [ROW_FLUSH] = 1, [ROW_WRITE] = 2 } },
		{ .have = true, .n = { [ROW_FLUSH] = 3, [ROW_WRITE] = 1, [ROW_READ] = 1 } },
		{ .have = true,
		  .n = { [ROW_READ] = 5, [ROW_WRITE] = 4, [ROW_FLUSH] = 3, [ROW_DISCARD] = 2, [ROW_OTHER] = 1 } },
		{ .have = true, .n = { [ROW_DISCARD] = 1, [ROW_OTHER] = 1200 } },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		FREED(buf) struct buf b = { 0 };

		buf_str(&b, "");
		in_flight_words(&all[i], &b);
		SAY("%s%s\n", in_flight_any(&all[i]) ? "" : "none", b.data);
	}
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("outstanding_words");
}
