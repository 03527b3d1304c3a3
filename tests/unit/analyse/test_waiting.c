// SPDX-License-Identifier: GPL-2.0-only
/* What a call that has not returned waits for: by where it sleeps, its own requests, and those of its disks. */
#include <stdlib.h>
#include <string.h>

#include "analyse/waiting.h"
#include "util/buf.h"
#include "util/mem.h"
#include "tap.h"

/* "step|where|via|op disk ns", what is not known left out; + behind ns: at least; ! certain, ? queued. */
static char *found(const struct waiting *w)
{
	struct report_outstanding *o = xcalloc(1, sizeof(*o));
	struct buf b = { 0 };

	waiting_explain(w, o);
	buf_printf(&b, "%s|%s|%s", o->step ? o->step : "", o->where ? o->where : "", o->via ? o->via : "");
	if (o->via_tid)
		buf_printf(&b, " %u", o->via_tid);
	if (o->op)
		buf_printf(&b, "|%s %s %llu%s%s%s", o->op, o->disk, (unsigned long long)o->request_ns,
			   o->request_before ? "+" : "", o->certain ? "!" : "", o->queued ? "?" : "");
	outstanding_free(o, 1);
	return b.data;
}

static void is(const struct waiting *w, const char *want, const char *what)
{
	char *have = found(w);

	if (!ok(!strcmp(have, want), "%s", what))
		diag("is %s, not %s", have, want);
	free(have);
}

static struct waiting asleep(char *const *stack)
{
	return (struct waiting){ .call = { .tid = 5, .state = 'D', .stack = stack } };
}

#define STACK(...) ((char *const[]){ __VA_ARGS__, NULL })

/* ---- places ---- */

static void test_places(void)
{
	static const struct {
		const char *function, *step;
	} rows[] = {
		{ "blk_mq_get_tag", "tag" },
		{ "blk_mq_get_tag.isra.0", "tag" },
		{ "blk_mq_get_tags", "unknown" },
		{ "blk_mq_get_ta", "unknown" },
		{ "rq_qos_wait", "throttle" },
		{ "__blk_throtl_bio", "throttle" },
		{ "blkdev_issue_flush", "flush" },
		{ "folio_wait_bit", "unknown" },
		{ "jbd2_log_wait_commit", "journal" },
		{ "start_this_handle", "journal" },
		{ "mutex_lock", "lock" },
		{ "__bio_queue_enter", "lock" },
		{ "no_such_function", "unknown" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting w = asleep(STACK((char *)rows[i].function));
		char *want = xasprintf("%s|%s|", rows[i].step, rows[i].function);

		is(&w, want, rows[i].function);
		free(want);
	}
}

static void test_stacks(void)
{
	struct waiting w = asleep(NULL);

	is(&w, "unknown||", "no stack");
	w = asleep((char *const[]){ NULL });
	is(&w, "unknown||", "an empty one");
	w = asleep(STACK("x", "mutex_lock", "start_this_handle"));
	is(&w, "lock|x|", "the innermost that is listed");
	w = asleep(STACK("folio_wait_bit", "mutex_lock"));
	is(&w, "unknown|folio_wait_bit|", "a wait for I/O within a lock");
	w = asleep(STACK("submit_bio_wait", "x", "blkdev_issue_flush"));
	is(&w, "flush|submit_bio_wait|", "a wait for I/O within a flush");
	w = asleep(STACK("folio_wait_bit", "mutex_lock", "blkdev_issue_flush"));
	is(&w, "flush|folio_wait_bit|", "with something else between them");
	w = asleep(STACK("blkdev_issue_flush", "mutex_lock"));
	is(&w, "flush|blkdev_issue_flush|", "a flush within a lock");
	w.call.state = 'S';
	is(&w, "flush|blkdev_issue_flush|", "a sleep that signals end");
	w.call.state = 'R';
	is(&w, "cpu||", "one that runs, wherever it was");
}

/* ---- its own requests ---- */

static void test_own(void)
{
	static const struct {
		struct waiting_request q[2];
		const char *want, *what;
	} rows[] = {
		{ { { .sender = 5, .op = ROW_WRITE, .ns = 7 }, { .sender = 5, .op = ROW_FUA, .ns = 8 } },
		  "device.fua|x||fua sda 8!",
		  "the older" },
		{ { { .sender = 5, .op = ROW_WRITE, .ns = 8 }, { .sender = 5, .op = ROW_FUA, .ns = 8 } },
		  "device.write|x||write sda 8!",
		  "of two as old the first" },
		{ { { .sender = 6, .op = ROW_WRITE, .ns = 9 }, { .sender = 5, .op = ROW_DISCARD, .ns = 8 } },
		  "device.discard|x||discard sda 8!",
		  "another's is not its own" },
		{ { { .sender = 5, .op = ROW_READ, .ns = 9 }, { .sender = 5, .op = ROW_OTHER, .ns = 8 } },
		  "device.other|x||other sda 8!",
		  "a read is of another file" },
		{ { { .sender = 5, .op = ROW_FLUSH, .flush = true, .ns = 9 }, { .sender = 5, .op = ROW_WRITE, .ns = 8 } },
		  "device.write|x||write sda 8!",
		  "a FLUSH of the machinery is nobody's" },
		{ { { .sender = 5, .op = ROW_WRITE, .queued = true, .ns = 8 } },
		  "ioq|x||write sda 8!?",
		  "one that was not issued" },
		{ { { .sender = 5, .op = ROW_WRITE, .unsent = true, .ns = 8 } },
		  "ioq|x||write sda 8!?",
		  "one that was not even inserted" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .ns = 8 } },
		  "flush.wait|x||flush sda 8!",
		  "one that waits for its FLUSH" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .unsent = true, .ns = 8 } },
		  "flush.wait|x||flush sda 8!?",
		  "which was not sent, and no FLUSH is there" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .unsent = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "flush|x||flush sda 3!",
		  "which was not sent, and a FLUSH is there" },
		{ { { .sender = 5, .op = ROW_WRITE, .unsent = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "flush|x||flush sda 3",
		  "one that is on its way behind a FLUSH, or not" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "flush.wait|x||flush sda 8!",
		  "one whose FLUSH is not there yet" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting_disk d = { .name = "sda", .request = rows[i].q, .n_requests = 2 };
		struct waiting w = asleep(STACK("x"));

		w.disk = &d;
		w.n_disks = 1;
		is(&w, rows[i].want, rows[i].what);
	}
}

static void test_own_on_disks(void)
{
	struct waiting_request a = { .sender = 5, .op = ROW_WRITE, .ns = 5 },
			       b = { .sender = 5, .op = ROW_WRITE, .ns = 6 };
	struct waiting_disk d[] = { { .name = "sda", .request = &a, .n_requests = 1 },
				    { .name = "sdb", .request = &b, .n_requests = 1 } };
	struct waiting w = asleep(STACK("x"));

	w.disk = d;
	w.n_disks = 1;
	is(&w, "device.write|x||write sda 5!", "of the first of its disks");
	w.n_disks = 2;
	is(&w, "device.write|x||write sdb 6!", "or of the second");
	b.unsent = true;
	d[0].n = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	is(&w, "ioq|x||write sdb 6!?", "a FLUSH of another disk doesn't hold it");
}

/* ---- the FLUSH of a disk ---- */

static void test_flush(void)
{
	struct waiting_request q[] = { { .flush = true, .ns = 3 },
				       { .flush = true, .ns = 4 },
				       { .flush = true, .ns = 4 },
				       { .op = ROW_WRITE, .ns = 9 } };
	struct waiting_disk d[] = { { .name = "sda" }, { .name = "sdb", .request = q, .n_requests = 4 } };
	struct waiting w = asleep(STACK("blkdev_issue_flush"));

	w.disk = d;
	w.n_disks = 2;
	is(&w, "flush|blkdev_issue_flush||flush sdb 4", "the oldest FLUSH that was seen to begin");
	q[0].ns = 5;
	is(&w, "flush|blkdev_issue_flush||flush sdb 5", "the first may be the oldest");
	q[0].ns = 3;
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 1 } };
	is(&w, "flush|blkdev_issue_flush|", "by the kernel's word there is none");
	d[1].n.by_kind = false;
	is(&w, "flush|blkdev_issue_flush||flush sdb 4", "the kernel doesn't tell by kind");
	d[1].n_requests = 0;
	is(&w, "flush|blkdev_issue_flush|", "none was seen");
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	is(&w, "flush|blkdev_issue_flush||flush sdb 0", "the kernel has one, since when is not known");
	d[1].since_ns[ROW_FLUSH] = 6;
	is(&w, "flush|blkdev_issue_flush||flush sdb 6+", "for as long at least");
	d[0].n = d[1].n;
	is(&w, "flush|blkdev_issue_flush||flush sda 0", "the first disk that has one");
}

/* Wherever it sleeps, but for a lock and the like: what it has sent comes first. */
static void test_own_before_others(void)
{
	static const struct {
		const char *function, *want;
	} rows[] = {
		{ "blkdev_issue_flush", "device.write|blkdev_issue_flush||write sda 2!" },
		{ "folio_wait_bit", "device.write|folio_wait_bit||write sda 2!" },
		{ "mutex_lock", "lock|mutex_lock|" },
		{ "rq_qos_wait", "throttle|rq_qos_wait|" },
		{ "blk_mq_get_tag", "tag|blk_mq_get_tag|" },
		{ "start_this_handle", "flush|start_this_handle||flush sda 9" },
	};
	struct waiting_request q[] = { { .flush = true, .ns = 9 }, { .sender = 5, .op = ROW_WRITE, .ns = 2 } };
	struct waiting_disk d = { .name = "sda", .request = q, .n_requests = 2 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting w = asleep(STACK((char *)rows[i].function));

		w.disk = &d;
		w.n_disks = 1;
		is(&w, rows[i].want, rows[i].function);
	}
}

/* ---- the oldest in its disks ---- */

static struct waiting for_io(const struct waiting_disk *d, size_t n)
{
	static char *const stack[] = { "folio_wait_bit", NULL };
	struct waiting w = asleep(stack);

	w.disk = d;
	w.n_disks = n;
	return w;
}

static void test_oldest_seen(void)
{
	struct waiting_request q[] = { { .op = ROW_READ, .ns = 3 },
				       { .op = ROW_WRITE, .held = true, .ns = 9 },
				       { .op = ROW_WRITE, .queued = true, .ns = 9 },
				       { .flush = true, .ns = 4 },
				       { .op = ROW_FUA, .ns = 4 } };
	struct waiting_disk d[] = { { .name = "sda", .request = q, .n_requests = 1 },
				    { .name = "sdb", .request = q + 1, .n_requests = 4 } };
	struct waiting w = for_io(d, 1);

	is(&w, "device.read|folio_wait_bit||read sda 3", "a read of somebody");
	w.n_disks = 2;
	is(&w, "flush|folio_wait_bit||flush sdb 4", "the oldest in any of the devices; what is held or queued is in none");
	q[4].ns++;
	is(&w, "device.fua|folio_wait_bit||fua sdb 5", "an older one behind it");
}

static void test_kinds(void)
{
	struct waiting_disk d[] = { { .name = "sda",
				      .n = { true, true, { [ROW_READ] = 1, [ROW_WRITE] = 1, [ROW_OTHER] = 1 } } },
				    { .name = "sdb" } };
	struct waiting w = for_io(d, 2);

	is(&w, "device.write|folio_wait_bit||write sda 0", "of kinds of no known age the likely one");
	for (int op = 0; op < OP_ROWS; op++)
		d[0].since_ns[op] = 6;
	is(&w, "device.write|folio_wait_bit||write sda 6+", "of as old ones the likely one");
	d[0].since_ns[ROW_FLUSH] = 99;
	is(&w, "device.write|folio_wait_bit||write sda 6+", "what is not in flight doesn't count");
	d[0].since_ns[ROW_OTHER] = 7;
	is(&w, "device.other|folio_wait_bit||other sda 7+", "an older one, the last");
	d[0].since_ns[ROW_READ] = 8;
	is(&w, "device.read|folio_wait_bit||read sda 8+", "an older one, the first");
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_DISCARD] = 1 } };
	d[1].since_ns[ROW_DISCARD] = 9;
	is(&w, "device.discard|folio_wait_bit||discard sdb 9+", "an older one on another disk");
	d[1].since_ns[ROW_DISCARD] = 8;
	is(&w, "device.read|folio_wait_bit||read sda 8+", "of as old ones on two disks that of the first");
}

/* The kernel's word is "at least": only where all that were seen began after the first look is it the oldest. */
static void test_before(void)
{
	struct waiting_request q = { .op = ROW_WRITE, .ns = 50 };
	struct waiting_disk d = { .name = "sda",
				  .n = { true, true, { [ROW_WRITE] = 1 } },
				  .since_ns = { [ROW_WRITE] = 40 },
				  .first_look_ns = 51,
				  .request = &q,
				  .n_requests = 1 };
	struct waiting w = for_io(&d, 1);

	is(&w, "device.write|folio_wait_bit||write sda 40+",
	   "one from before, though one that was seen has the larger figure");
	d.first_look_ns = 50;
	is(&w, "device.write|folio_wait_bit||write sda 50", "the one that was seen may be that which the look found");
	q.op = ROW_OTHER;
	is(&w, "device.other|folio_wait_bit||other sda 50",
	   "so may one of another kind, which the kernel counts as a write");
	q.op = ROW_READ;
	is(&w, "device.write|folio_wait_bit||write sda 40+", "a read was not");
	q.flush = true;
	is(&w, "device.write|folio_wait_bit||write sda 40+", "nor a FLUSH");
	d.n.n[ROW_WRITE] = 0;
	d.n.n[ROW_FLUSH] = 1;
	d.since_ns[ROW_FLUSH] = 30;
	is(&w, "flush|folio_wait_bit||flush sda 50", "a FLUSH that was seen may be the one that the look found");
	q.flush = false;
	q.op = ROW_FLUSH;
	is(&w, "flush|folio_wait_bit||flush sda 30+", "an empty flush of a caller is none");
	q.ns = 20;
	d.since_ns[ROW_FLUSH] = 0;
	is(&w, "flush|folio_wait_bit||flush sda 20", "none was there at the look");
}

static void test_before_one_of_two(void)
{
	struct waiting_request q[] = { { .op = ROW_READ, .ns = 10 }, { .op = ROW_WRITE, .ns = 50 } };
	struct waiting_disk d = { .name = "sda",
				  .n = { true, true, { [ROW_WRITE] = 1 } },
				  .since_ns = { [ROW_WRITE] = 40 },
				  .first_look_ns = 50,
				  .request = q,
				  .n_requests = 2 };
	struct waiting w = for_io(&d, 1);

	is(&w, "device.write|folio_wait_bit||write sda 50",
	   "the second of those that were seen may be the one that the look found");
}

/* ---- the journal ---- */

static struct waiting for_commit(char state, char *const *stack, const struct waiting_disk *d)
{
	static char *const commit[] = { "jbd2_log_wait_commit", NULL };
	struct waiting w = asleep(commit);

	w.journal = (struct waiting_task){ .tid = 9, .state = state, .stack = stack, .name = "jbd2" };
	w.disk = d;
	w.n_disks = 1;
	return w;
}

static void test_journal(void)
{
	struct waiting_request q[] = { { .sender = 9, .op = ROW_WRITE, .ns = 3 }, { .op = ROW_READ, .ns = 4 } };
	struct waiting_disk d = { .name = "sda", .request = q, .n_requests = 2 };
	char *const *io = STACK("jbd2_journal_commit_transaction"), *const *handles = STACK("jbd2_journal_wait_updates");
	struct waiting w = for_commit('D', io, &d);

#define AT "|jbd2_log_wait_commit|"
	is(&w, "device.write" AT "jbd2 9|write sda 3!", "the journal's thread waits for its own request");
	q[0].sender = 8;
	is(&w, "device.read" AT "jbd2 9|read sda 4", "or for the oldest in the device");
	w = for_commit('S', io, &d);
	is(&w, "journal" AT "jbd2 9", "it doesn't wait for I/O");
	w = for_commit('D', handles, &d);
	is(&w, "journal" AT "jbd2 9", "it waits for others");
	q[0].sender = 9;
	is(&w, "device.write" AT "jbd2 9|write sda 3!", "but has sent something");
	d.n_requests = 0;
	w = for_commit('D', io, &d);
	is(&w, "journal" AT "jbd2 9", "nothing is in flight");
	w.journal.tid = 0;
	is(&w, "journal" AT, "no thread is known, and nothing is in flight");
	d.n_requests = 2;
	is(&w, "device.read" AT "|read sda 4", "no thread is known: the oldest in the device");
	d.n = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 1, [ROW_FLUSH] = 1 } };
	d.n_requests = 0;
	is(&w, "flush" AT "|flush sda 0", "of kinds as old the FLUSH is likely");
}

int main(void)
{
	test_places();
	test_stacks();
	test_own();
	test_own_on_disks();
	test_flush();
	test_own_before_others();
	test_oldest_seen();
	test_kinds();
	test_before();
	test_before_one_of_two();
	test_journal();
	return tap_done();
}
