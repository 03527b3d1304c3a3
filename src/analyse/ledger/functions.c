// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/functions.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define CLASS_CACHE 256u

/* The innermost function that is listed decides. */
#define STACK_FUNCTIONS(F) \
	F(blk_mq_get_tag, TAG) \
	F(rq_qos_wait, THROTTLE) \
	F(wbt_wait, THROTTLE) \
	F(__rq_qos_throttle, THROTTLE) \
	F(ioc_rqos_throttle, THROTTLE) \
	F(blkcg_iolatency_throttle, THROTTLE) \
	F(blkcg_maybe_throttle_current, THROTTLE) \
	F(blkcg_maybe_throttle_blkg, THROTTLE) \
	F(__blk_throtl_bio, THROTTLE) \
	F(blk_throtl_bio, THROTTLE) \
	/* jbd2, ext4 */ \
	F(jbd2_journal_stop, JOURNAL) \
	F(wait_transaction_locked, JOURNAL) \
	F(wait_transaction_switching, JOURNAL) \
	F(start_this_handle, JOURNAL) \
	F(add_transaction_credits, JOURNAL) \
	F(do_get_write_access, JOURNAL) \
	F(jbd2_journal_wait_updates, JOURNAL) \
	F(jbd2_journal_lock_updates, JOURNAL) \
	F(jbd2_journal_commit_transaction, JOURNAL) \
	F(__jbd2_log_wait_for_space, JOURNAL) \
	F(jbd2_log_wait_commit, COMMIT) \
	F(jbd2_complete_transaction, COMMIT) \
	F(jbd2_fc_begin_commit, COMMIT) \
	F(ext4_fc_commit, COMMIT) \
	/* XFS */ \
	F(xlog_grant_head_wait, JOURNAL) \
	F(xlog_grant_head_check, JOURNAL) \
	F(xlog_state_get_iclog_space, JOURNAL) \
	F(xlog_wait, COMMIT) \
	F(xlog_wait_on_iclog, COMMIT) \
	F(xlog_wait_on_iclog_lsn, COMMIT) \
	F(xlog_force_lsn, COMMIT) \
	F(xlog_cil_force_seq, COMMIT) \
	F(xlog_cil_order_write, COMMIT) \
	F(xfs_log_force, COMMIT) \
	F(xfs_log_force_seq, COMMIT) \
	/* btrfs */ \
	F(wait_for_writer, JOURNAL) \
	F(start_log_trans, JOURNAL) \
	F(wait_current_trans, JOURNAL) \
	F(btrfs_commit_transaction, JOURNAL) \
	F(wait_log_commit, COMMIT) \
	F(wait_for_commit, COMMIT) \
	F(btrfs_wait_for_commit, COMMIT) \
	F(btrfs_start_ordered_extent, LOCK) \
	F(wait_extent_bit, LOCK) \
	/* f2fs */ \
	F(f2fs_issue_checkpoint, COMMIT) \
	/* blk-throttle's timer, which sends for its worker */ \
	F(throtl_pending_timer_fn, THROTTLE) \
	/* I/O on the way of others, a commit's above all */ \
	F(__wait_on_buffer, IO) \
	F(folio_wait_writeback, IO) \
	F(wait_on_page_writeback, IO) \
	F(submit_bio_wait, IO) \
	/* locks, and work that others do */ \
	F(mutex_lock, LOCK) \
	F(mutex_lock_io, LOCK) \
	F(__mutex_lock, LOCK) \
	F(__mutex_lock_slowpath, LOCK) \
	F(down_read, LOCK) \
	F(down_write, LOCK) \
	F(rwsem_down_read_slowpath, LOCK) \
	F(rwsem_down_write_slowpath, LOCK) \
	F(percpu_rwsem_wait, LOCK) \
	F(__percpu_down_read, LOCK) \
	F(percpu_down_write, LOCK) \
	F(__down, LOCK) \
	F(down, LOCK) \
	F(__folio_lock, LOCK) \
	F(__lock_page, LOCK) \
	F(__lock_buffer, LOCK) \
	F(inode_sleep_on_writeback, LOCK) \
	F(__inode_wait_for_writeback, LOCK) \
	F(wb_wait_for_completion, LOCK) \
	F(__flush_work, LOCK) \
	F(blk_queue_enter, LOCK) \
	F(__bio_queue_enter, LOCK)

struct stack_function {
	const char *name;
	enum stack_class class;
};

#define ROW(function, what) { #function, STACK_##what },
static const struct stack_function stack_functions[] = { STACK_FUNCTIONS(ROW) };

/* What kernel workers run for those who write and sync, and for the disks below them. Others are called by their worker's name. */
/* clang-format off */
#define WORK_FUNCTIONS(F) \
	F(loop_rootcg_workfn) F(loop_workfn) \
	F(ext4_end_io_rsv_work) \
	F(btrfs_work_helper) F(simple_end_io_work) F(clone_write_end_io_work) F(orig_write_end_io_work) F(btrfs_end_bio_work) F(end_workqueue_fn) \
	F(xfs_end_io) F(xfs_buf_ioend_work) F(xlog_ioend_work) F(xlog_cil_push_work) F(xfs_log_worker) F(xfs_inodegc_worker) \
	F(iomap_dio_complete_work) F(dio_aio_complete_work) F(aio_fsync_work) \
	F(wb_workfn) F(inode_switch_wbs_work_fn) \
	F(blk_mq_run_work_fn) F(blk_mq_requeue_work) F(blk_throtl_dispatch_work_fn) \
	F(kcryptd_crypt) F(dm_wq_work) F(do_worker) F(flush_expired_bios) F(integrity_commit) F(integrity_writer) \
	F(submit_flushes) F(md_submit_flush_data) \
	F(nvme_tcp_io_work) F(nvme_requeue_work) F(rpc_async_schedule)
/* clang-format on */

#define WORK_NAME(function) #function,
static const char *const work_names[] = { WORK_FUNCTIONS(WORK_NAME) };

#define NAME(function, what) #function,
const char *const sync_symbol_names[] = { STACK_FUNCTIONS(NAME) WORK_FUNCTIONS(WORK_NAME) NULL };

struct range {
	uint64_t start, end;
	enum stack_class class;
};

struct class_cache {
	uint64_t address;
	enum stack_class class;
};

struct work {
	uint64_t start;
	const char *name;
};

struct functions {
	struct range *range; /* by start */
	size_t n_ranges;
	struct work *work;
	size_t n_works;
	struct class_cache cache[CLASS_CACHE];
};

bool function_is(const char *name, const char *listed)
{
	size_t len = strlen(listed);

	return !strncmp(name, listed, len) && (!name[len] || name[len] == '.');
}

enum stack_class function_class(const char *name)
{
	for (size_t i = 0; i < sizeof(stack_functions) / sizeof(stack_functions[0]); i++)
		if (function_is(name, stack_functions[i].name))
			return stack_functions[i].class;
	return STACK_NONE;
}

static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void add_range(struct functions *f, const struct kernel_symbol *s, enum stack_class class)
{
	struct range *r = grow((void **)&f->range, &f->n_ranges, sizeof(*r));

	r->start = s->start;
	r->end = s->end;
	r->class = class;
}

static void add_work(struct functions *f, const struct kernel_symbol *s)
{
	for (size_t i = 0; i < sizeof(work_names) / sizeof(work_names[0]); i++)
		if (!strcmp(s->name, work_names[i])) {
			struct work *w = grow((void **)&f->work, &f->n_works, sizeof(*w));

			w->start = s->start;
			w->name = work_names[i];
		}
}

struct functions *functions_new(const struct kernel_symbol *symbols, size_t n)
{
	struct functions *f = xcalloc(1, sizeof(*f));

	for (size_t i = 0; i < n; i++) {
		enum stack_class class = function_class(symbols[i].name);

		add_work(f, &symbols[i]);
		if (class != STACK_NONE && symbols[i].end > symbols[i].start)
			add_range(f, &symbols[i], class);
	}
	if (f->n_ranges)
		qsort(f->range, f->n_ranges, sizeof(*f->range), range_order);
	return f;
}

void functions_free(struct functions *f)
{
	if (!f)
		return;
	free_all(f->range, f->work, f);
}

static enum stack_class search_class(const struct functions *f, uint64_t address)
{
	size_t lo = 0, hi = f->n_ranges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->range[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && address < f->range[lo - 1].end ? f->range[lo - 1].class : STACK_NONE;
}

static enum stack_class class_of_address(struct functions *f, uint64_t address)
{
	struct class_cache *c = &f->cache[(address ^ address >> 8) % CLASS_CACHE];

	if (c->address != address) {
		c->address = address;
		c->class = search_class(f, address);
	}
	return c->class;
}

enum stack_class functions_class(struct functions *f, const struct wire_sleep *s)
{
	unsigned int n = s->head.size < sizeof(*s) ? 0 : s->stack_len;

	for (unsigned int i = 0; i < n && i < WIRE_STACK; i++) {
		enum stack_class class = class_of_address(f, s->stack[i]);

		if (class != STACK_NONE)
			return class;
	}
	return STACK_NONE;
}

const char *functions_work(const struct functions *f, uint64_t address)
{
	for (size_t i = 0; i < f->n_works; i++)
		if (f->work[i].start == address)
			return f->work[i].name;
	return NULL;
}
