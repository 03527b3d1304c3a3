// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call that has not returned waits for: by where it sleeps, its own requests, and those of its disks: golden/waiting.txt has what is
 * found.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/waiting.h"
#include "util/mem.h"
#include "situations.h"

/* What is known: the step, the function, through whom, and the request. */
static void is(const struct waiting *w, const char *what)
{
	struct report_outstanding *o = xcalloc(1, sizeof(*o));

	waiting_explain(w, o);
	SAY("%s:\n  %s", what, o->step ? o->step : "nothing");
	if (o->where)
		SAY(" in %s", o->where);
	if (o->via)
		SAY(" by way of %s (%u)", o->via, o->via_tid);
	if (o->op)
		SAY(", %s %s in %s%s, for %s%llu ns", o->certain ? "certainly" : "perhaps", o->op,
		    o->queued ? "the queue of " : "", o->disk, o->request_before ? "at least " : "",
		    (unsigned long long)o->request_ns);
	SAY("\n");
	outstanding_free(o, 1);
}

static struct waiting asleep(char *const *stack)
{
	return (struct waiting){ .call = { .tid = 5, .state = 'D', .stack = stack } };
}

#define STACK(...) ((char *const[]){ __VA_ARGS__, NULL })

/* ---- places ---- */

TEST(places)
{
	static const char *const rows[] = {
		"blk_mq_get_tag",	"blk_mq_get_tag.isra.0", "blk_mq_get_tags",    "blk_mq_get_ta",
		"rq_qos_wait",		"__blk_throtl_bio",	 "blkdev_issue_flush", "folio_wait_bit",
		"jbd2_log_wait_commit", "start_this_handle",	 "mutex_lock",	       "__bio_queue_enter",
		"no_such_function"
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting w = asleep(STACK((char *)rows[i]));

		is(&w, rows[i]);
	}
}

TEST(stacks)
{
	struct waiting w = asleep(NULL);

	is(&w, "no stack");
	w = asleep((char *const[]){ NULL });
	is(&w, "an empty one");
	w = asleep(STACK("x", "mutex_lock", "start_this_handle"));
	is(&w, "the innermost that is listed");
	w = asleep(STACK("folio_wait_bit", "mutex_lock"));
	is(&w, "a wait for I/O within a lock");
	w = asleep(STACK("submit_bio_wait", "x", "blkdev_issue_flush"));
	is(&w, "a wait for I/O within a flush");
	w = asleep(STACK("folio_wait_bit", "mutex_lock", "blkdev_issue_flush"));
	is(&w, "with something else between them");
	w = asleep(STACK("blkdev_issue_flush", "mutex_lock"));
	is(&w, "a flush within a lock");
	w.call.state = 'S';
	is(&w, "a sleep that signals end");
	w.call.state = 'R';
	is(&w, "one that runs, wherever it was");
}

/* ---- its own requests ---- */

TEST(own)
{
	static const struct {
		struct waiting_request q[2];
		const char *what;
	} rows[] = {
		{ { { .sender = 5, .op = ROW_WRITE, .ns = 7 }, { .sender = 5, .op = ROW_FUA, .ns = 8 } }, "the older" },
		{ { { .sender = 5, .op = ROW_WRITE, .ns = 8 }, { .sender = 5, .op = ROW_FUA, .ns = 8 } },
		  "of two as old the first" },
		{ { { .sender = 6, .op = ROW_WRITE, .ns = 9 }, { .sender = 5, .op = ROW_DISCARD, .ns = 8 } },
		  "another's is not its own" },
		{ { { .sender = 5, .op = ROW_READ, .ns = 9 }, { .sender = 5, .op = ROW_OTHER, .ns = 8 } },
		  "a read is of another file" },
		{ { { .sender = 5, .op = ROW_FLUSH, .flush = true, .ns = 9 }, { .sender = 5, .op = ROW_WRITE, .ns = 8 } },
		  "a FLUSH of the machinery is nobody's" },
		{ { { .sender = 5, .op = ROW_WRITE, .queued = true, .ns = 8 } }, "one that was not issued" },
		{ { { .sender = 5, .op = ROW_WRITE, .unsent = true, .ns = 8 } }, "one that was not even inserted" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .ns = 8 } }, "one that waits for its FLUSH" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .unsent = true, .ns = 8 } },
		  "which was not sent, and no FLUSH is there" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .unsent = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "which was not sent, and a FLUSH is there" },
		{ { { .sender = 5, .op = ROW_WRITE, .unsent = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "one that is on its way behind a FLUSH, or not" },
		{ { { .sender = 5, .op = ROW_WRITE, .held = true, .ns = 8 }, { .flush = true, .ns = 3 } },
		  "one whose FLUSH is not there yet" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting_disk d = { .name = "sda", .request = rows[i].q, .n_requests = 2 };
		struct waiting w = asleep(STACK("x"));

		w.disk = &d;
		w.n_disks = 1;
		is(&w, rows[i].what);
	}
}

TEST(own_on_disks)
{
	struct waiting_request a = { .sender = 5, .op = ROW_WRITE, .ns = 5 },
			       b = { .sender = 5, .op = ROW_WRITE, .ns = 6 };
	struct waiting_disk d[] = { { .name = "sda", .request = &a, .n_requests = 1 },
				    { .name = "sdb", .request = &b, .n_requests = 1 } };
	struct waiting w = asleep(STACK("x"));

	w.disk = d;
	w.n_disks = 1;
	is(&w, "of the first of its disks");
	w.n_disks = 2;
	is(&w, "or of the second");
	b.unsent = true;
	d[0].n = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	is(&w, "a FLUSH of another disk doesn't hold it");
}

/* ---- the FLUSH of a disk ---- */

TEST(flush)
{
	struct waiting_request q[] = { { .flush = true, .ns = 3 },
				       { .flush = true, .ns = 4 },
				       { .flush = true, .ns = 4 },
				       { .op = ROW_WRITE, .ns = 9 } };
	struct waiting_disk d[] = { { .name = "sda" }, { .name = "sdb", .request = q, .n_requests = 4 } };
	struct waiting w = asleep(STACK("blkdev_issue_flush"));

	w.disk = d;
	w.n_disks = 2;
	is(&w, "the oldest FLUSH that was seen to begin");
	q[0].ns = 5;
	is(&w, "the first may be the oldest");
	q[0].ns = 3;
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 1 } };
	is(&w, "by the kernel's word there is none");
	d[1].n.by_kind = false;
	is(&w, "the kernel doesn't tell by kind");
	d[1].n_requests = 0;
	is(&w, "none was seen");
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_FLUSH] = 1 } };
	is(&w, "the kernel has one, since when is not known");
	d[1].since_ns[ROW_FLUSH] = 6;
	is(&w, "for as long at least");
	d[0].n = d[1].n;
	is(&w, "the first disk that has one");
}

/* Wherever it sleeps, but for a lock and the like: what it has sent comes first. */
TEST(own_before_others)
{
	static const char *const rows[] = { "blkdev_issue_flush", "folio_wait_bit", "mutex_lock",
					    "rq_qos_wait",	  "blk_mq_get_tag", "start_this_handle" };
	struct waiting_request q[] = { { .flush = true, .ns = 9 }, { .sender = 5, .op = ROW_WRITE, .ns = 2 } };
	struct waiting_disk d = { .name = "sda", .request = q, .n_requests = 2 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct waiting w = asleep(STACK((char *)rows[i]));

		w.disk = &d;
		w.n_disks = 1;
		is(&w, rows[i]);
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

TEST(oldest_seen)
{
	struct waiting_request q[] = { { .op = ROW_READ, .ns = 3 },
				       { .op = ROW_WRITE, .held = true, .ns = 9 },
				       { .op = ROW_WRITE, .queued = true, .ns = 9 },
				       { .flush = true, .ns = 4 },
				       { .op = ROW_FUA, .ns = 4 } };
	struct waiting_disk d[] = { { .name = "sda", .request = q, .n_requests = 1 },
				    { .name = "sdb", .request = q + 1, .n_requests = 4 } };
	struct waiting w = for_io(d, 1);

	is(&w, "a read of somebody");
	w.n_disks = 2;
	is(&w, "the oldest in any of the devices; what is held or queued is in none");
	q[4].ns++;
	is(&w, "an older one behind it");
}

TEST(kinds)
{
	struct waiting_disk d[] = { { .name = "sda",
				      .n = { true, true, { [ROW_READ] = 1, [ROW_WRITE] = 1, [ROW_OTHER] = 1 } } },
				    { .name = "sdb" } };
	struct waiting w = for_io(d, 2);

	is(&w, "of kinds of no known age the likely one");
	for (int op = 0; op < OP_ROWS; op++)
		d[0].since_ns[op] = 6;
	is(&w, "of as old ones the likely one");
	d[0].since_ns[ROW_FLUSH] = 99;
	is(&w, "what is not in flight doesn't count");
	d[0].since_ns[ROW_OTHER] = 7;
	is(&w, "an older one, the last");
	d[0].since_ns[ROW_READ] = 8;
	is(&w, "an older one, the first");
	d[1].n = (struct requests_in_flight){ true, true, { [ROW_DISCARD] = 1 } };
	d[1].since_ns[ROW_DISCARD] = 9;
	is(&w, "an older one on another disk");
	d[1].since_ns[ROW_DISCARD] = 8;
	is(&w, "of as old ones on two disks that of the first");
}

/* The kernel's word is "at least": only where all that were seen began after the first look is it the oldest. */
TEST(before)
{
	struct waiting_request q = { .op = ROW_WRITE, .ns = 50 };
	struct waiting_disk d = { .name = "sda",
				  .n = { true, true, { [ROW_WRITE] = 1 } },
				  .since_ns = { [ROW_WRITE] = 40 },
				  .first_look_ns = 51,
				  .request = &q,
				  .n_requests = 1 };
	struct waiting w = for_io(&d, 1);

	is(&w, "one from before, though one that was seen has the larger figure");
	d.first_look_ns = 50;
	is(&w, "the one that was seen may be that which the look found");
	q.op = ROW_OTHER;
	is(&w, "so may one of another kind, which the kernel counts as a write");
	q.op = ROW_READ;
	is(&w, "a read was not");
	q.flush = true;
	is(&w, "nor a FLUSH");
	d.n.n[ROW_WRITE] = 0;
	d.n.n[ROW_FLUSH] = 1;
	d.since_ns[ROW_FLUSH] = 30;
	is(&w, "a FLUSH that was seen may be the one that the look found");
	q.flush = false;
	q.op = ROW_FLUSH;
	is(&w, "an empty flush of a caller is none");
	q.ns = 20;
	d.since_ns[ROW_FLUSH] = 0;
	is(&w, "none was there at the look");
}

TEST(before_one_of_two)
{
	struct waiting_request q[] = { { .op = ROW_READ, .ns = 10 }, { .op = ROW_WRITE, .ns = 50 } };
	struct waiting_disk d = { .name = "sda",
				  .n = { true, true, { [ROW_WRITE] = 1 } },
				  .since_ns = { [ROW_WRITE] = 40 },
				  .first_look_ns = 50,
				  .request = q,
				  .n_requests = 2 };
	struct waiting w = for_io(&d, 1);

	is(&w, "the second of those that were seen may be the one that the look found");
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

TEST(journal)
{
	struct waiting_request q[] = { { .sender = 9, .op = ROW_WRITE, .ns = 3 }, { .op = ROW_READ, .ns = 4 } };
	struct waiting_disk d = { .name = "sda", .request = q, .n_requests = 2 };
	char *const *io = STACK("jbd2_journal_commit_transaction"), *const *handles = STACK("jbd2_journal_wait_updates");
	struct waiting w = for_commit('D', io, &d);

	is(&w, "the journal's thread waits for its own request");
	q[0].sender = 8;
	is(&w, "or for the oldest in the device");
	w = for_commit('S', io, &d);
	is(&w, "it doesn't wait for I/O");
	w = for_commit('D', handles, &d);
	is(&w, "it waits for others");
	q[0].sender = 9;
	is(&w, "but has sent something");
	d.n_requests = 0;
	w = for_commit('D', io, &d);
	is(&w, "nothing is in flight");
	w.journal.tid = 0;
	is(&w, "no thread is known, and nothing is in flight");
	d.n_requests = 2;
	is(&w, "no thread is known: the oldest in the device");
	d.n = (struct requests_in_flight){ true, true, { [ROW_WRITE] = 1, [ROW_FLUSH] = 1 } };
	d.n_requests = 0;
	is(&w, "of kinds as old the FLUSH is likely");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("waiting");
}
