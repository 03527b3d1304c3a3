// SPDX-License-Identifier: GPL-2.0-only
/*
 * async.bpf.c - sync calls that one task asks for and another carries out: io_uring's fsync (a thread of io-wq) and AIO's
 * (a kworker). The call lasts from its submission to its completion.
 */
#include "async.bpf.h"
#include "file.bpf.h"
#include "filter.bpf.h"
#include "idle.bpf.h"
#include "syscall.bpf.h"

#define IORING_OP_FSYNC 3 /* user-space ABI: uapi/linux/io_uring.h */

/*
 * io_uring: by request. AIO: by work, until a worker begins it, then by that worker: its caller knows of the end before the worker has left
 * the work, which may be another fsync's by then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct pending);
} pendings SEC(".maps");

unsigned long long aio_fsync_work SEC(".data"); /* address of the function that its works run; 0: not known */
static unsigned int aio_began SEC(".data"); /* 1: a worker has begun with an AIO fsync; before, no work that ends is one */

static __always_inline u64 worker_key(u32 tid)
{
	return tid | 1ull << 62;
}

static __always_inline void pending_begin(u64 key, struct pending *p)
{
	struct task_struct *leader = LOOK(current_task(), group_leader);
	u64 id = bpf_get_current_pid_tgid();

	p->tid = (u32)id;
	p->tgid = id >> 32;
	bpf_core_read_str(p->comm, sizeof(p->comm), &leader->comm);
	if (!run.pending_used) /* each request reads that cache line */
		run.pending_used = 1;
	p->enter = bpf_ktime_get_ns();
	note_call(p->file.dev, p->enter, false);
	if (bpf_map_update_elem(&pendings, &key, p, BPF_ANY))
		__sync_fetch_and_add(&run.drops[DROP_CALLERS_FULL], 1);
}

/* What the call returned is known to nobody here: it counts as done. */
static __always_inline void pending_end(u64 key, struct pending *p, u32 worker, u16 call)
{
	struct wire_sync s = {};

	s.exit = bpf_ktime_get_ns();
	s.head.kind = WIRE_SYNC;
	s.head.size = sizeof(s);
	s.enter = p->enter;
	s.ino = p->file.ino;
	s.dev = p->file.dev;
	s.generation = p->file.generation;
	s.tid = p->tid;
	s.tgid = p->tgid;
	s.worker = worker;
	s.call = call;
	__builtin_memcpy(s.comm, p->comm, sizeof(s.comm));
	bpf_map_delete_elem(&pendings, &key);
	if (worker == (u32)bpf_get_current_pid_tgid())
		catch_up(worker, 0);
	if (call == CALL_AIO_FSYNC) /* io_uring may hold a lock: there no more than its worker's own */
		before_call();
	send_history(worker, s.enter, ALL_RECORDS);
	learn(worker);
	if (bpf_ringbuf_output(&ring, &s, sizeof(s), wake_flag()))
		count_unrecorded(DROP_CALL, s.enter);
}

/* ---- io_uring ---- */

static __always_inline void uring_submitted(struct io_kiocb *req)
{
	struct pending p = {};
	struct file *file;

	if (req->opcode != IORING_OP_FSYNC || !caller_wanted(bpf_get_current_pid_tgid() >> 32))
		return;
	/* not resolved yet by io_uring itself; a registered file's number means nothing here */
	file = file_of(BPF_CORE_READ(req, cqe.fd));
	if (file) {
		key_of_file(file, &p.file);
		name_file(file, &p.file);
	}
	pending_begin((u64)req, &p);
}

SEC("?tp_btf/io_uring_submit_req")
int uring_submit_btf(u64 *ctx)
{
	uring_submitted((struct io_kiocb *)ctx[0]);
	return 0;
}

/* Its name up to 6.3. In 5.10 it takes other arguments, and a completion does not tell of which request: refused there. */
SEC("?tp_btf/io_uring_submit_sqe")
int uring_submit_sqe_btf(u64 *ctx)
{
	uring_submitted((struct io_kiocb *)ctx[0]);
	return 0;
}

/* Completion is handed to the submitter (DEFER_TASKRUN): whoever hands it over is the worker. */
SEC("?tp_btf/io_uring_task_add")
int uring_task_add_btf(u64 *ctx)
{
	u64 key = ctx[0];
	struct pending *p = bpf_map_lookup_elem(&pendings, &key);

	if (p)
		p->worker = (u32)bpf_get_current_pid_tgid();
	return 0;
}

SEC("?tp_btf/io_uring_complete")
int uring_complete_btf(u64 *ctx)
{
	u64 key = ctx[1];
	struct pending *p = bpf_map_lookup_elem(&pendings, &key);
	u32 worker;

	if (!p)
		return 0;
	worker = p->worker ? p->worker : (u32)bpf_get_current_pid_tgid();
	pending_end(key, p, worker, CALL_URING_FSYNC);
	return 0;
}

/* ---- AIO ---- */

/* Of fs/aio.c. */
struct fsync_iocb {
	struct file *file;
	struct work_struct work;
} __attribute__((preserve_access_index));

/* io_submit(2) queues a work for each fsync. */
__noinline int aio_queued(u64 work)
{
	struct fsync_iocb *iocb = (void *)(work - bpf_core_field_offset(struct fsync_iocb, work));
	struct pending p = {};
	struct file *file;

	if (!caller_wanted(bpf_get_current_pid_tgid() >> 32))
		return 0;
	file = BPF_CORE_READ(iocb, file);
	if (!file)
		return 0;
	key_of_file(file, &p.file);
	name_file(file, &p.file);
	pending_begin(work, &p);
	return 0;
}

__noinline int aio_begins(u64 work, u32 tid)
{
	struct pending *p = bpf_map_lookup_elem(&pendings, &work);
	u64 key = worker_key(tid);
	struct task_state *t;

	if (!p)
		return 0;
	p->worker = tid;
	learn(tid);
	t = state_of(tid);
	if (!t)
		return 0;
	aio_began = 1;
	t->aio = 1;
	if (bpf_map_update_elem(&pendings, &key, p, BPF_ANY))
		__sync_fetch_and_add(&run.drops[DROP_CALLERS_FULL], 1);
	else
		bpf_map_delete_elem(&pendings, &work);
	return 0;
}

/* A worker begins to sync a file for somebody who has asked io_uring: what it does is to be known. */
static __always_inline bool by_worker(void)
{
	struct task_struct *task = current_task();
	u32 flags = GET(TASK_BTF, task, flags);

	if (flags & PF_IO_WORKER)
		learn((u32)bpf_get_current_pid_tgid());
	return flags & (PF_IO_WORKER | PF_WQ_WORKER);
}

/* The worker has done its work: AIO's fsync tells its caller at its end. */
SEC("?tp_btf/workqueue_execute_end")
int work_end_btf(u64 *ctx __attribute__((unused)))
{
	struct task_state *t;
	struct pending *p;
	u32 tid;
	u64 key;

	if (!aio_began)
		return 0;
	tid = (u32)bpf_get_current_pid_tgid();
	t = state_of(tid);
	if (!t || !t->aio || !t->history)
		return 0;
	key = worker_key(tid);
	t->aio = 0;
	p = bpf_map_lookup_elem(&pendings, &key);
	if (p && p->worker == tid)
		pending_end(key, p, tid, CALL_AIO_FSYNC);
	return 0;
}

/* ---- the file systems' own tracepoints ---- */

/* Could this be the begin of a sync call that no program at system calls has seen? */
static __always_inline bool may_be_unseen(void)
{
	struct task_state *t;

	if (run.idle || run.sys_enter_bell == BELL_OFF)
		return run.idle;
	t = state_of((u32)bpf_get_current_pid_tgid());
	return !t || !t->caller;
}

/* Is it another call than the one that is noted? These may ask several file systems, or for several files. */
static __always_inline bool is_another_call(const struct task_state *t, u32 call, u64 nr)
{
	return t->call != (call | CALL_OF_IDLE) || t->nr != nr || (call != CALL_SYNC && call != CALL_MSYNC);
}

/*
 * The current task begins to sync on a device (0: not known) while the programs that trace its call are detached: ring. Note the call of
 * a user task, as its end may be seen in on_sys_exit() or on_function_end(). NULL: nothing was noted.
 */
static __always_inline struct task_state *idle_begin(u32 dev)
{
	struct task_struct *task = current_task();
	u64 id = bpf_get_current_pid_tgid(), nr;
	u32 call, flags = GET(TASK_BTF, task, flags);
	struct task_state *t;

	if (!is_of_run(dev))
		return NULL;
	if (flags & (PF_KTHREAD | PF_IO_WORKER)) { /* which task it works for is not known here */
		if (!run.idle) {
			by_worker();
			return NULL;
		}
		ring_idle_bell();
		if (flags & PF_IO_WORKER || (aio_fsync_work && function_of_worker(task) == aio_fsync_work))
			__sync_fetch_and_add(&run.idle_calls, 1);
		return NULL;
	}
	call = call_now(&nr);
	if (!call || (!run.idle && has_function(call)))
		return NULL;
	if (run.idle)
		ring_idle_bell();
	t = state_for((u32)id, DROP_CALLERS_FULL);
	if (!t || t->caller || !is_another_call(t, call, nr))
		return NULL;
	__sync_fetch_and_add(&run.idle_calls, 1);
	if (!has_function(call))
		ring_sys_enter_bell();
	t->call = call | CALL_OF_IDLE;
	t->nr = nr;
	t->tgid = id >> 32;
	t->ino = t->dev = t->generation = 0;
	t->flushes = t->writes = t->write_sectors = t->fua = t->had = 0;
	t->enter = bpf_ktime_get_ns();
	return t;
}

/* msync(2) names memory, and what is mapped there begins to be synced: the first file of the call is its file. */
static __always_inline struct task_state *msync_without_file(void)
{
	struct task_state *t = state_of((u32)bpf_get_current_pid_tgid());

	return t && t->caller && t->call == CALL_MSYNC && !t->ino ? t : NULL;
}

/* In 7.2 the union that it is in has no name any more. */
struct dentry___alias {
	struct hlist_node d_alias;
} __attribute__((preserve_access_index));

/* Where a dentry has its place in the list of its inode's; 0: not known. */
static __always_inline u64 alias_offset(void)
{
	if (bpf_core_field_exists(((struct dentry *)0)->d_u.d_alias))
		return bpf_core_field_offset(struct dentry, d_u.d_alias);
	if (bpf_core_field_exists(((struct dentry___alias *)0)->d_alias))
		return bpf_core_field_offset(struct dentry___alias, d_alias);
	return 0;
}

/* Of a tracepoint without a file: one of the inode's names. */
static __always_inline void note_inode(struct task_state *t, u64 address)
{
	struct inode *inode = (struct inode *)address;
	struct file_key key;
	u64 alias;

	key_of_inode(inode, &key);
	t->dev = key.dev;
	t->ino = key.ino;
	t->generation = key.generation;
	if (!alias_offset() || !is_to_be_named(&key))
		return;
	alias = address_at(&inode->i_dentry.first);
	if (alias)
		send_file(alias - alias_offset(), address);
}

/* A file system begins to sync this inode. The task whose file is still to be noted; NULL: none. */
static __always_inline struct task_state *sync_begins(struct inode *inode)
{
	if (rarely(may_be_unseen()))
		return idle_begin(LOOK(LOOK(inode, i_sb), s_dev));
	return by_worker() ? NULL : msync_without_file();
}

/* Of ext4 and btrfs: their tracepoints' first argument is the file. */
SEC("?raw_tp")
int sync_file_raw(u64 *ctx)
{
	struct file *file = (struct file *)ctx[0];
	struct task_state *t;

	t = sync_begins(LOOK(file, f_inode));
	if (t) {
		note_file(t, file, false);
		t->had = had_pages(file) ? HAD_PAGES : 0;
	}
	return 0;
}

SEC("?raw_tp")
int xfs_sync_raw(u64 *ctx)
{
	u64 address = ctx[0] + bpf_core_field_offset(struct xfs_inode, i_vnode);
	struct task_state *t;

	t = sync_begins((struct inode *)address);
	if (t)
		note_inode(t, address);
	return 0;
}

/* sync(2), for each file system, and syncfs(2). */
SEC("?raw_tp")
int sync_fs_raw(u64 *ctx __attribute__((unused)))
{
	struct file *file;
	struct task_state *t;
	u64 nr;
	u32 dev = 0;

	if (!may_be_unseen())
		return 0;
	if (!(GET(TASK_BTF, current_task(), flags) & PF_KTHREAD) && call_now(&nr) == CALL_SYNCFS) {
		file = file_of(first_argument());
		dev = file ? LOOK(LOOK(LOOK(file, f_inode), i_sb), s_dev) : 0;
	}
	t = idle_begin(dev);
	if (t)
		t->dev = dev;
	return 0;
}
