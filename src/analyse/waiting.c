// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/functions.h"
#include "util/mem.h"

/*
 * Of a call that has not returned the kernel tells the whole stack, and leaves out of it what only sleeps (mutex_lock, wait_on_bit,
 * schedule): these functions stand in it beside those of functions.c, or say something else here.
 */
static const struct {
	const char *function;
	enum stack_class class;
} places[] = {
	{ "blk_mq_get_request", STACK_TAG },
	{ "__blk_mq_alloc_requests", STACK_TAG },
	/* its own empty flush; btrfs's, one for each of its disks */
	{ "blkdev_issue_flush", STACK_FLUSH },
	{ "wait_dev_flush", STACK_FLUSH },
	{ "barrier_all_devices", STACK_FLUSH },
	{ "folio_wait_bit", STACK_IO },
	{ "folio_wait_bit_common", STACK_IO },
	{ "wait_on_page_bit", STACK_IO },
	{ "__sync_dirty_buffer", STACK_IO },
	{ "blkdev_direct_IO", STACK_IO },
	{ "__iomap_dio_rw", STACK_IO },
	{ "iomap_dio_rw", STACK_IO },
	{ "__filemap_fdatawait_range", STACK_IO },
	{ "f2fs_wait_on_page_writeback", STACK_IO },
	{ "f2fs_wait_on_all_pages", STACK_IO },
	{ "btrfs_wait_ordered_range", STACK_IO },
	{ "btrfs_start_ordered_extent", STACK_IO },
	{ "btrfs_wait_tree_log_extents", STACK_IO },
	{ "btrfs_wait_extents", STACK_IO },
	{ "write_all_supers", STACK_IO },
	{ "wait_extent_bit", STACK_NONE }, /* what for stands further out */
	/* of the journal's thread: it waits for I/O of the commit, or for handles; the latter has a function of its own */
	{ "jbd2_journal_commit_transaction", STACK_IO },
};

static enum stack_class class_of(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (function_is(name, places[i].function))
			return places[i].class;
	return function_class(name);
}

/* Whose request it is that is waited for stands further out. */
static enum stack_class class_of_stack(const struct waiting_task *t)
{
	enum stack_class innermost = STACK_NONE, next;

	for (char *const *f = t->stack; f && *f; f++) {
		next = class_of(*f);
		if (!innermost)
			innermost = next;
		if (innermost && (innermost != STACK_IO || next == STACK_FLUSH))
			return next;
	}
	return innermost;
}

static void set(char **to, const char *s)
{
	free(*to);
	*to = xstrdup(s);
}

/* ---- the request ---- */

static const char *step_of_op(enum op_row op)
{
	static const char *const steps[OP_ROWS] = {
		[ROW_READ] = "device.read", [ROW_WRITE] = "device.write",     [ROW_FUA] = "device.fua",
		[ROW_FLUSH] = "flush",	    [ROW_DISCARD] = "device.discard", [ROW_OTHER] = "device.other",
	};

	return steps[op];
}

static void name_request(struct report_outstanding *o, const struct waiting_disk *d, enum op_row op, uint64_t ns, bool before)
{
	set(&o->op, op_row_name(op));
	set(&o->disk, d->name);
	set(&o->step, step_of_op(op));
	o->request_ns = ns;
	o->request_before = before && ns;
}

/* What was missed to complete stays in the trace's books; the kernel's own tell. */
static const struct waiting_request *flush_of(const struct waiting_disk *d)
{
	const struct waiting_request *oldest = NULL;

	for (size_t i = 0; i < d->n_requests && (!d->n.by_kind || d->n.n[ROW_FLUSH]); i++)
		if (d->request[i].flush && (!oldest || d->request[i].ns > oldest->ns))
			oldest = &d->request[i];
	return oldest;
}

/* The FLUSH that the disk has in flight: seen to begin, or there since before; false: none is known. */
static bool name_flush(struct report_outstanding *o, const struct waiting_disk *d)
{
	const struct waiting_request *f = flush_of(d);

	if (f)
		name_request(o, d, ROW_FLUSH, f->ns, false);
	else if (d->n.n[ROW_FLUSH])
		name_request(o, d, ROW_FLUSH, d->since_ns[ROW_FLUSH], true);
	return f || d->n.n[ROW_FLUSH];
}

/* The oldest request that a task sent and that has not completed. Reads are of other files: a sync call writes. */
static const struct waiting_request *own_request(const struct waiting *w, uint32_t tid, const struct waiting_disk **on)
{
	const struct waiting_request *oldest = NULL;

	for (size_t i = 0; i < w->n_disks; i++)
		for (size_t k = 0; k < w->disk[i].n_requests; k++) {
			const struct waiting_request *q = &w->disk[i].request[k];

			if (q->sender != tid || q->flush || q->op == ROW_READ || (oldest && q->ns <= oldest->ns))
				continue;
			oldest = q;
			*on = &w->disk[i];
		}
	return oldest;
}

/* Whatever the task waits for, it isn't done before that is. One that has not been sent waits for a FLUSH where there is one, or not. */
static bool by_own_request(const struct waiting *w, uint32_t tid, struct report_outstanding *o)
{
	const struct waiting_disk *on = NULL;
	const struct waiting_request *q = own_request(w, tid, &on);

	if (!q)
		return false;
	o->certain = !q->unsent || q->held;
	if (q->unsent && name_flush(o, on))
		return true;
	o->certain = true;
	name_request(o, on, q->held ? ROW_FLUSH : q->op, q->ns, false);
	o->queued = q->queued || q->unsent;
	if (q->held)
		set(&o->step, "flush.wait");
	else if (o->queued)
		set(&o->step, "ioq");
	return true;
}

/* The kinds of a disk, `first` before the others. */
static enum op_row nth_kind(enum op_row first, int n)
{
	return n == 0 ? first : (enum op_row)n <= first ? (enum op_row)(n - 1) : (enum op_row)n;
}

static bool may_be_of_kind(const struct waiting_request *q, enum op_row op)
{
	return q->flush ? op == ROW_FLUSH : op != ROW_FLUSH && (q->op == op || q->op == ROW_OTHER);
}

/* One that the first look found, which the trace has not seen begin: all that it has seen are younger. */
static bool is_from_before(const struct waiting_disk *d, enum op_row op)
{
	for (size_t i = 0; i < d->n_requests; i++)
		if (may_be_of_kind(&d->request[i], op) && d->request[i].ns >= d->first_look_ns)
			return false;
	return d->since_ns[op];
}

/* By the kernel's word. Of several kinds that have been there for as long, the one that such a task is likely to wait for. */
static bool name_oldest_kind(const struct waiting *w, enum op_row likely, bool from_before, struct report_outstanding *o)
{
	for (size_t i = 0; i < w->n_disks; i++) {
		const struct waiting_disk *d = &w->disk[i];

		for (int n = 0; n < OP_ROWS; n++) {
			enum op_row op = nth_kind(likely, n);

			if (!d->n.n[op] || (from_before && !is_from_before(d, op)))
				continue;
			if (!o->op || d->since_ns[op] > o->request_ns)
				name_request(o, d, op, d->since_ns[op], true);
		}
	}
	return o->op;
}

static void name_older_seen(const struct waiting *w, struct report_outstanding *o)
{
	for (size_t i = 0; i < w->n_disks; i++)
		for (size_t k = 0; k < w->disk[i].n_requests; k++) {
			const struct waiting_request *q = &w->disk[i].request[k];

			if (!q->held && !q->queued && q->ns > o->request_ns)
				name_request(o, &w->disk[i], q->flush ? ROW_FLUSH : q->op, q->ns, false);
		}
}

/*
 * The oldest that is in the disk's device, whosesoever. The kernel's word is "at least", which is not to be compared with the exact time
 * of one that the trace saw: a FLUSH from before it would lose to the write of somebody who came a little later.
 */
static bool by_oldest_in_device(const struct waiting *w, enum op_row likely, struct report_outstanding *o)
{
	if (name_oldest_kind(w, likely, true, o))
		return true;
	name_oldest_kind(w, likely, false, o);
	name_older_seen(w, o);
	return o->op;
}

/* A flush of its own waits for the FLUSH that its disk has in flight, if both are of one hardware queue. */
static bool by_flush(const struct waiting *w, struct report_outstanding *o)
{
	for (size_t i = 0; i < w->n_disks; i++)
		if (name_flush(o, &w->disk[i]))
			return true;
	return false;
}

/* ---- the step ---- */

static void explain_io(const struct waiting *w, const struct waiting_task *t, enum op_row likely,
		       struct report_outstanding *o)
{
	if (by_own_request(w, t->tid, o) || by_oldest_in_device(w, likely, o))
		return;
	set(&o->step, "unknown");
}

/* Without the file system's own thread (XFS, btrfs) what the disk has in flight has to do. */
static void explain_commit(const struct waiting *w, struct report_outstanding *o)
{
	if (!w->journal.tid) {
		if (!by_oldest_in_device(w, ROW_FLUSH, o))
			set(&o->step, "journal");
		return;
	}
	set(&o->via, w->journal.name);
	o->via_tid = w->journal.tid;
	if (w->journal.state == 'D' && class_of_stack(&w->journal) == STACK_IO)
		explain_io(w, &w->journal, ROW_FLUSH, o);
	else if (!by_own_request(w, w->journal.tid, o))
		set(&o->step, "journal");
	if (!strcmp(o->step, "unknown"))
		set(&o->step, "journal");
}

static void explain_class(const struct waiting *w, enum stack_class class, struct report_outstanding *o)
{
	switch (class) {
	case STACK_TAG: set(&o->step, "tag"); break;
	case STACK_THROTTLE: set(&o->step, "throttle"); break;
	case STACK_LOCK: set(&o->step, "lock"); break;
	case STACK_JOURNAL:
	case STACK_COMMIT: explain_commit(w, o); break;
	case STACK_FLUSH:
		if (!by_own_request(w, w->call.tid, o) && !by_flush(w, o))
			set(&o->step, "flush");
		break;
	case STACK_IO: explain_io(w, &w->call, ROW_WRITE, o); break;
	case STACK_NONE:
		if (!by_own_request(w, w->call.tid, o))
			set(&o->step, "unknown");
		break;
	}
}

void waiting_explain(const struct waiting *w, struct report_outstanding *o)
{
	if (w->call.state == 'R') {
		set(&o->step, "cpu");
		return;
	}
	if (w->call.stack && *w->call.stack)
		set(&o->where, *w->call.stack);
	explain_class(w, class_of_stack(&w->call), o);
}
