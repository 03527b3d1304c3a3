// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* What a place to sleep in says. */
enum place { PLACE_UNKNOWN, PLACE_IO, PLACE_FLUSH, PLACE_COMMIT, PLACE_JOURNAL, PLACE_TAG, PLACE_THROTTLE, PLACE_LOCK };

/* The innermost function that is listed decides. The kernel leaves out of a stack what only sleeps: mutex_lock, wait_on_bit, schedule. */
static const struct {
	const char *function;
	enum place place;
} places[] = {
	{ "blk_mq_get_tag", PLACE_TAG },
	{ "blk_mq_get_request", PLACE_TAG },
	{ "__blk_mq_alloc_requests", PLACE_TAG },
	{ "rq_qos_wait", PLACE_THROTTLE },
	{ "wbt_wait", PLACE_THROTTLE },
	{ "__rq_qos_throttle", PLACE_THROTTLE },
	{ "ioc_rqos_throttle", PLACE_THROTTLE },
	{ "blkcg_iolatency_throttle", PLACE_THROTTLE },
	{ "blkcg_maybe_throttle_current", PLACE_THROTTLE },
	{ "__blk_throtl_bio", PLACE_THROTTLE },
	/* its own empty flush; btrfs's, one for each of its disks */
	{ "blkdev_issue_flush", PLACE_FLUSH },
	{ "wait_dev_flush", PLACE_FLUSH },
	{ "barrier_all_devices", PLACE_FLUSH },
	{ "submit_bio_wait", PLACE_IO },
	{ "folio_wait_bit", PLACE_IO },
	{ "folio_wait_bit_common", PLACE_IO },
	{ "folio_wait_writeback", PLACE_IO },
	{ "wait_on_page_bit", PLACE_IO },
	{ "wait_on_page_writeback", PLACE_IO },
	{ "__wait_on_buffer", PLACE_IO },
	{ "__sync_dirty_buffer", PLACE_IO },
	{ "blkdev_direct_IO", PLACE_IO },
	{ "__iomap_dio_rw", PLACE_IO },
	{ "iomap_dio_rw", PLACE_IO },
	{ "__filemap_fdatawait_range", PLACE_IO },
	{ "f2fs_wait_on_page_writeback", PLACE_IO },
	{ "f2fs_wait_on_all_pages", PLACE_IO },
	{ "btrfs_wait_ordered_range", PLACE_IO },
	{ "btrfs_start_ordered_extent", PLACE_IO },
	{ "btrfs_wait_tree_log_extents", PLACE_IO },
	{ "btrfs_wait_extents", PLACE_IO },
	{ "write_all_supers", PLACE_IO },
	/* somebody else commits for it */
	{ "jbd2_log_wait_commit", PLACE_COMMIT },
	{ "jbd2_complete_transaction", PLACE_COMMIT },
	{ "jbd2_fc_begin_commit", PLACE_COMMIT },
	{ "ext4_fc_commit", PLACE_COMMIT },
	{ "xlog_wait", PLACE_COMMIT },
	{ "xlog_wait_on_iclog", PLACE_COMMIT },
	{ "xlog_wait_on_iclog_lsn", PLACE_COMMIT },
	{ "xlog_force_lsn", PLACE_COMMIT },
	{ "xlog_cil_force_seq", PLACE_COMMIT },
	{ "xfs_log_force", PLACE_COMMIT },
	{ "xfs_log_force_seq", PLACE_COMMIT },
	{ "wait_log_commit", PLACE_COMMIT },
	{ "wait_for_commit", PLACE_COMMIT },
	{ "btrfs_wait_for_commit", PLACE_COMMIT },
	{ "f2fs_issue_checkpoint", PLACE_COMMIT },
	/* or it has to wait before it may change anything */
	{ "jbd2_journal_stop", PLACE_JOURNAL },
	{ "wait_transaction_locked", PLACE_JOURNAL },
	{ "wait_transaction_switching", PLACE_JOURNAL },
	{ "start_this_handle", PLACE_JOURNAL },
	{ "add_transaction_credits", PLACE_JOURNAL },
	{ "do_get_write_access", PLACE_JOURNAL },
	{ "jbd2_journal_wait_updates", PLACE_JOURNAL },
	{ "jbd2_journal_lock_updates", PLACE_JOURNAL },
	{ "__jbd2_log_wait_for_space", PLACE_JOURNAL },
	{ "xlog_grant_head_wait", PLACE_JOURNAL },
	{ "xlog_grant_head_check", PLACE_JOURNAL },
	{ "xlog_state_get_iclog_space", PLACE_JOURNAL },
	{ "wait_current_trans", PLACE_JOURNAL },
	{ "start_log_trans", PLACE_JOURNAL },
	{ "wait_for_writer", PLACE_JOURNAL },
	{ "btrfs_commit_transaction", PLACE_JOURNAL },
	/* of the journal's thread: it waits for I/O of the commit, or for handles; the latter has a function of its own, above */
	{ "jbd2_journal_commit_transaction", PLACE_IO },
	{ "__mutex_lock", PLACE_LOCK },
	{ "mutex_lock", PLACE_LOCK },
	{ "down_read", PLACE_LOCK },
	{ "down_write", PLACE_LOCK },
	{ "rwsem_down_read_slowpath", PLACE_LOCK },
	{ "rwsem_down_write_slowpath", PLACE_LOCK },
	{ "percpu_rwsem_wait", PLACE_LOCK },
	{ "__percpu_down_read", PLACE_LOCK },
	{ "percpu_down_write", PLACE_LOCK },
	{ "__folio_lock", PLACE_LOCK },
	{ "__lock_page", PLACE_LOCK },
	{ "__lock_buffer", PLACE_LOCK },
	{ "inode_sleep_on_writeback", PLACE_LOCK },
	{ "__inode_wait_for_writeback", PLACE_LOCK },
	{ "wb_wait_for_completion", PLACE_LOCK },
	{ "__flush_work", PLACE_LOCK },
	{ "blk_queue_enter", PLACE_LOCK },
	{ "__bio_queue_enter", PLACE_LOCK },
};

/* Compilers append to names: wbt_wait.isra.0 */
static bool is_function(const char *name, const char *listed)
{
	size_t len = strlen(listed);

	return !strncmp(name, listed, len) && (!name[len] || name[len] == '.');
}

static enum place place_of_function(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (is_function(name, places[i].function))
			return places[i].place;
	return PLACE_UNKNOWN;
}

/* Whose request it is that is waited for stands further out. */
static enum place place_of(const struct waiting_task *t)
{
	enum place innermost = PLACE_UNKNOWN, next;

	for (char *const *f = t->stack; f && *f; f++) {
		next = place_of_function(*f);
		if (!innermost)
			innermost = next;
		if (innermost && (innermost != PLACE_IO || next == PLACE_FLUSH))
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
	if (w->journal.state == 'D' && place_of(&w->journal) == PLACE_IO)
		explain_io(w, &w->journal, ROW_FLUSH, o);
	else if (!by_own_request(w, w->journal.tid, o))
		set(&o->step, "journal");
	if (!strcmp(o->step, "unknown"))
		set(&o->step, "journal");
}

static void explain_place(const struct waiting *w, enum place place, struct report_outstanding *o)
{
	switch (place) {
	case PLACE_TAG: set(&o->step, "tag"); break;
	case PLACE_THROTTLE: set(&o->step, "throttle"); break;
	case PLACE_LOCK: set(&o->step, "lock"); break;
	case PLACE_JOURNAL:
	case PLACE_COMMIT: explain_commit(w, o); break;
	case PLACE_FLUSH:
		if (!by_own_request(w, w->call.tid, o) && !by_flush(w, o))
			set(&o->step, "flush");
		break;
	case PLACE_IO: explain_io(w, &w->call, ROW_WRITE, o); break;
	case PLACE_UNKNOWN:
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
	explain_place(w, place_of(&w->call), o);
}
