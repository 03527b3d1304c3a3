// SPDX-License-Identifier: GPL-2.0-only
/* Requests in flight: each kind of them, lines that are none, what was completed, and since when the oldest has been there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/in_flight.h"
#include "host/journal_threads.h"
#include "host/sysfs.h"
#include "fake_tree.h"
#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool are(const struct requests_in_flight *n, uint64_t reads, uint64_t writes, uint64_t flushes,
		uint64_t discards, uint64_t others)
{
	return n->n[ROW_READ] == reads && n->n[ROW_WRITE] == writes && n->n[ROW_FLUSH] == flushes &&
	       n->n[ROW_DISCARD] == discards && n->n[ROW_OTHER] == others;
}

#define BUSY(op, state) "0000 {.op=" op ", .cmd_flags=SYNC, .state=" state ", .tag=45}\n"

static void test_busy(void)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t reads, writes, flushes, discards, others;
	} rows[] = {
		{ BUSY("FLUSH", "in_flight"), true, 0, 0, 1, 0, 0 },
		{ BUSY("DISCARD", "in_flight"), true, 0, 0, 0, 1, 0 },
		{ BUSY("WRITE_ZEROES", "in_flight") BUSY("REA", "in_flight") BUSY("", "in_flight"), true, 0, 0, 0, 0, 3 },
		{ BUSY("READ", "idle") BUSY("READ", "complete") BUSY("READ", "in_fligh"), true, 0, 0, 0, 0, 0 },
		{ BUSY("READ", "in_flight") BUSY("READ", "in_flight") "\n\n" BUSY("WRITE", "in_flight"), true, 2, 1, 0,
		  0, 0 },
		{ "{.op=READ} .state=in_flight", true, 1, 0, 0, 0, 0 },
		{ "{.op=READ\n", false, 0, 0, 0, 0, 0 },
		{ ".state=in_flight\n", false, 0, 0, 0, 0, 0 },
		{ "", true, 0, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct requests_in_flight n = { 0 };

		ok(in_flight_busy(rows[i].text, &n) == rows[i].good &&
			   are(&n, rows[i].reads, rows[i].writes, rows[i].flushes, rows[i].discards, rows[i].others),
		   "what is busy, text %zu", i);
	}
}

/* A FLUSH that has been there all the time, unless one thing is otherwise. */
static void test_since(void)
{
	static const struct {
		uint64_t then_n, now_n, then_done, now_done, then_to, now_from;
		bool then_have, now_have;
		uint64_t want;
		const char *name;
	} rows[] = {
		{ 1, 1, 7, 7, 110, 500, true, true, 390, "one that was there before" },
		{ 1, 1, 7, 7, 110, 109, true, true, 0, "looks that overlap" },
		{ 0, 1, 7, 7, 110, 500, true, true, 0, "none was there" },
		{ 1, 0, 7, 7, 110, 500, true, true, 0, "none is there" },
		{ 1, 1, 7, 8, 110, 500, true, true, 0, "one was completed" },
		{ 1, 1, 7, 7, 110, 500, false, true, 0, "not known before" },
		{ 1, 1, 7, 7, 110, 500, true, false, 0, "not known now" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct in_flight then = { .from_ns = 1, .to_ns = rows[i].then_to },
				 now = { .from_ns = rows[i].now_from, .to_ns = 999 };
		uint64_t got;

		then.n.n[ROW_FLUSH] = rows[i].then_n;
		now.n.n[ROW_FLUSH] = rows[i].now_n;
		then.before.n[ROW_FLUSH] = rows[i].then_done;
		now.after.n[ROW_FLUSH] = rows[i].now_done;
		then.before.have[ROW_FLUSH] = rows[i].then_have;
		now.after.have[ROW_FLUSH] = rows[i].now_have;
		got = in_flight_since(&then, &now, ROW_FLUSH);
		if (!ok(got == rows[i].want && !in_flight_since(&then, &now, ROW_READ), "%s", rows[i].name))
			diag("%" PRIu64 " ns", got);
	}
}

/* Reads, writes and FLUSHes that were completed; where `have` is false 0 is expected, too. */
static bool done(const struct in_flight_done *d, bool io, uint64_t reads, uint64_t writes, bool flush, uint64_t flushes)
{
	return d->have[ROW_READ] == io && d->have[ROW_WRITE] == io && d->have[ROW_FLUSH] == flush &&
	       d->n[ROW_READ] == reads && d->n[ROW_WRITE] == writes && d->n[ROW_FLUSH] == flushes &&
	       !d->have[ROW_DISCARD] && !d->have[ROW_OTHER] && !d->n[ROW_DISCARD] && !d->n[ROW_OTHER];
}

#define STAT_FILE "sys/class/block/bta/stat"

static void test_done(void)
{
	struct in_flight f;

	put("sys/class/block/bta/inflight", "0 0\n");
	put(STAT_FILE, " 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116\n");
	in_flight_read("bta", &f);
	ok(done(&f.before, false, 101, 105, true, 116), "not known whether reads and writes are counted");
	put("sys/class/block/bta/queue/iostats", "1\n");
	put(STAT_FILE, " 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n");
	in_flight_read("bta", &f);
	ok(done(&f.before, true, 101, 105, true, 116) && done(&f.after, true, 101, 105, true, 116), "what was completed");
	ok(f.n.have && !f.n.by_kind && f.from_ns && f.to_ns >= f.from_ns, "and when");
	put("sys/class/block/bta/queue/iostats", "0\n");
	in_flight_read("bta", &f);
	ok(done(&f.before, false, 101, 105, true, 116), "without iostats FLUSHes alone are counted");
	put("sys/class/block/bta/queue/iostats", "1\n");
	put(STAT_FILE, "101 102 103 104 105 106 107 108 109 110 111 112 113 114 115\n");
	in_flight_read("bta", &f);
	ok(done(&f.after, true, 101, 105, false, 0), "an old kernel counts no FLUSHes");
	put(STAT_FILE, "");
	in_flight_read("bta", &f);
	ok(done(&f.after, false, 0, 0, false, 0), "an empty file");
}

static void test_queues(void)
{
	struct in_flight f;

	put("sys/class/block/bta/inflight", "3\n");
	in_flight_read("bta", &f);
	ok(!f.n.have && !f.n.by_kind, "one number of two is not understood");
	put("sys/class/block/bta/inflight", "3 4\n");
	put("sys/kernel/debug/block/bta/state", "LIVE\n");
	in_flight_read("bta", &f);
	ok(f.n.have && !f.n.by_kind && are(&f.n, 3, 4, 0, 0, 0), "debugfs without queues");
	put("sys/kernel/debug/block/bta/hctx0/busy", "");
	in_flight_read("bta", &f);
	ok(f.n.by_kind && are(&f.n, 0, 0, 0, 0, 0), "a queue in which nothing is");
	put("sys/kernel/debug/block/bta/hctx0/busy", BUSY("READ", "in_flight"));
	put("sys/kernel/debug/block/bta/hctx1/busy", BUSY("READ", "in_flight") BUSY("FLUSH", "in_flight"));
	in_flight_read("bta", &f);
	ok(f.n.by_kind && are(&f.n, 2, 0, 1, 0, 0), "two queues");
	put("sys/kernel/debug/block/bta/hctx0/busy", "a format to come\n");
	in_flight_read("bta", &f);
	ok(!f.n.by_kind && are(&f.n, 3, 4, 0, 0, 0), "the first of them not understood");
	put("sys/kernel/debug/block/bta/hctx0/busy", "");
	put("sys/kernel/debug/block/bta/hctx2/tags", "");
	in_flight_read("bta", &f);
	ok(!f.n.by_kind && f.n.have, "one that doesn't tell");
}

/* ---- the journals' threads ---- */

/* "7 jbd2/sda1-8, 9 .." */
static void journals_are(const char *want, const char *name)
{
	char text[300] = "";
	size_t n = 77, len = 0;
	struct journal_thread *j = journal_threads(&n);

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%" PRIu32 " %s", i ? ", " : "", j[i].tid,
					j[i].name);
	if (!ok(!strcmp(text, want), "%s", name))
		diag("got '%s', want '%s'", text, want);
	free(j);
}

static void test_journals(void)
{
	journals_are("", "no processes");
	put("proc/7/comm", "jbd2/sda1-8\n");
	journals_are("7 jbd2/sda1-8", "the only process");
	put("proc/10/comm", "jbd2/a-name-that-is-longer-than-the-kernel-has-them\n");
	put("proc/11/comm", "jbd2\n");
	put("proc/12/comm", "xjbd2/\n");
	put("proc/13/comm", "jbd2/\n");
	put("proc/self/comm", "jbd2/self\n");
	put("proc/0/comm", "jbd2/nobody\n");
	put("proc/14/stat", "");
	journals_are("7 jbd2/sda1-8, 10 jbd2/a-name-that-is-longer-than, 13 jbd2/", "by the beginning of a name, in order");
	put("proc/2/comm", "kthreadd\n");
	journals_are("7 jbd2/sda1-8, 10 jbd2/a-name-that-is-longer-than, 13 jbd2/", "where the kernel tells no children");
	put("proc/2/task/2/children", "13 11 99 7\n");
	journals_are("13 jbd2/, 7 jbd2/sda1-8", "among the kernel's own threads");
	put("proc/2/task/2/children", "\n");
	journals_are("", "of which there are none");
	put("proc/2/comm", "kthreadd2\n");
	journals_are("7 jbd2/sda1-8, 10 jbd2/a-name-that-is-longer-than, 13 jbd2/", "process 2 is another one");
}

int main(void)
{
	tree_make();
	test_busy();
	test_since();
	test_done();
	test_queues();
	test_journals();
	return tree_done();
}
