// SPDX-License-Identifier: GPL-2.0-only
#include "probe/probe_table.h"

/*
 * What the tool can't do without are tracepoints: they work where fentry is refused and kprobes are absent. The classic
 * tracepoint is a rung of system calls only: of a request it hands over formatted fields and not the request itself, so a FLUSH could
 * not be matched to anything.
 */
/* clang-format off */
const char *const rung_names[RUNG_COUNT] = {
	[RUNG_TP_BTF] = "tp_btf",
	[RUNG_RAW_TP] = "raw_tp",
	[RUNG_TP] = "tp",
	[RUNG_FENTRY] = "fentry",
	[RUNG_KPROBE] = "kprobe",
};
/* clang-format on */

#define TYPED(program) \
	{ \
		[RUNG_TP_BTF] = program "_btf" \
	}

/* These compute with addresses, which typed pointers aren't for, or serve several tracepoints, which a type would not. */
#define RAW(program) \
	{ \
		[RUNG_RAW_TP] = program "_raw" \
	}

#define SYSCALLS(program) \
	{ \
		[RUNG_TP_BTF] = program "_btf", [RUNG_TP] = program "_tp" \
	}

/* A function of the kernel, for what no tracepoint shows. */
#define FUNCTION(program) \
	{ \
		[RUNG_FENTRY] = program "_fentry", [RUNG_KPROBE] = program "_kprobe" \
	}
#define NO_LEDGER   "sync calls have no ledger"
#define NO_URING    "fsyncs through io_uring are not seen"
#define NO_WORKER   "on this file system msync has no file, and an io_uring worker's first fsync is not explained"
#define NO_BELL	    "while no sync call comes, any FLUSH on such a file system wakes the trace"
#define NO_KSYNC    "sync calls of the kernel itself are not seen"
#define NO_FUNCTION "while anybody syncs, every system call of the machine costs a little more"
#define NO_SPLIT    "what a FLUSH was held back by is not known"
#define NO_AIO	    "fsyncs through AIO are not seen"
#define NO_WORK \
	"fsyncs through AIO are not seen, and what a kernel worker did before it began with a call's work counts as a part of the call"

/* As in sync.bpf.c. */
#ifdef __x86_64__
#define FUNCTION_OF(call) "__x64_sys_" call
#define FUNCTION_OF_SYNC  "__do_sys_sync"
#else
#define FUNCTION_OF(call) "__arm64_sys_" call
#define FUNCTION_OF_SYNC  FUNCTION_OF("sync")
#endif

/* A sync call's own function: its begin, and its end. */
#define CALL(id, call, of) \
	[id] = { \
		.name = "call." call, .function = of, .program = { [RUNG_FENTRY] = "call_" call "_fentry" }, \
		.later = true, .begins = true, .without = NO_FUNCTION, \
	}, \
	[id##_END] = { \
		.name = "call." call "_end", .function = of, .program = { [RUNG_FENTRY] = "call_" call "_end_fentry" }, \
		.at_return = true, .later = true, .without = NO_FUNCTION, \
	},

const struct probe_row probe_table[PROBE_COUNT] = {
	[PROBE_RQ_COMPLETE] = {
		.name = "request.complete", .event = "block_rq_complete", .program = TYPED("rq_complete"),
		.required = true,
	},
	[PROBE_RQ_ISSUE] = {
		.name = "request.issue", .event = "block_rq_issue", .program = TYPED("rq_issue"),
		.required = true,
	},
	[PROBE_RQ_INSERT] = {
		.name = "request.insert", .event = "block_rq_insert", .program = TYPED("rq_insert"),
		.required = true,
	},
	[PROBE_RQ_REQUEUE] = {
		.name = "request.requeue", .event = "block_rq_requeue", .program = TYPED("rq_requeue"),
		.without = "requeued requests are not counted",
	},
	[PROBE_RQ_MERGE] = {
		.name = "request.merge", .event = "block_rq_merge", .program = TYPED("rq_merge"),
		.without = "merged requests are not counted",
	},
	[PROBE_IO_START] = {
		.name = "request.start", .event = "block_io_start", .program = TYPED("io_start"),
		.without = "a request's sender is taken where it is inserted or issued",
	},
	[PROBE_BIO_QUEUE] = {
		.name = "bio.queue", .event = "block_bio_queue", .program = TYPED("bio_queue"),
		.begins = true, .without = "dm, md and other bio-based disks show nothing",
	},
	[PROBE_BIO_COMPLETE] = {
		.name = "bio.complete", .event = "block_bio_complete", .program = TYPED("bio_complete"),
		.without = "dm, md and other bio-based disks show nothing",
	},
	[PROBE_FORK] = {
		.name = "task.fork", .event = "sched_process_fork", .program = TYPED("fork"),
		.without = "processes that begin during the run are not followed",
	},
	[PROBE_EXIT] = {
		.name = "task.exit", .event = "sched_process_exit", .program = TYPED("exit"),
		.without = "a reused process number can be taken for that of a followed process",
	},
	[PROBE_RENAME] = {
		.name = "task.rename", .event = "task_rename", .program = TYPED("rename"),
		.without = "of a name, only the processes that had it at the start are followed, and their children",
	},
	[PROBE_SYS_ENTER] = {
		.name = "sync.enter", .event = "sys_enter", .group = "raw_syscalls", .program = SYSCALLS("sys_enter"),
		.begins = true, .without = NO_LEDGER,
	},
	[PROBE_SYS_EXIT] = {
		.name = "sync.exit", .event = "sys_exit", .group = "raw_syscalls", .program = SYSCALLS("sys_exit"),
		.without = NO_LEDGER,
	},
	CALL(PROBE_CALL_FSYNC, "fsync", FUNCTION_OF("fsync"))
	CALL(PROBE_CALL_FDATASYNC, "fdatasync", FUNCTION_OF("fdatasync"))
	CALL(PROBE_CALL_MSYNC, "msync", FUNCTION_OF("msync"))
	CALL(PROBE_CALL_SYNCFS, "syncfs", FUNCTION_OF("syncfs"))
	CALL(PROBE_CALL_RANGE, "sync_file_range", FUNCTION_OF("sync_file_range"))
	CALL(PROBE_CALL_SYNC, "sync", FUNCTION_OF_SYNC)
	[PROBE_SWITCH] = {
		.name = "sched.switch", .event = "sched_switch", .program = TYPED("switch"),
		.without = NO_LEDGER,
	},
	[PROBE_WAKING] = {
		.name = "sched.waking", .event = "sched_waking", .program = TYPED("waking"),
		.without = NO_LEDGER,
	},
	[PROBE_FORGET] = {
		.name = "sched.exit", .event = "sched_process_exit", .program = TYPED("forget"),
		.without = NO_LEDGER,
	},
	[PROBE_URING_SUBMIT] = {
		.name = "uring.submit", .event = "io_uring_submit_req", .program = TYPED("uring_submit"),
		.begins = true, .without = NO_URING,
	},
	/* its predecessor, up to 6.3 */
	[PROBE_URING_SUBMIT_SQE] = {
		.name = "uring.submit_sqe", .event = "io_uring_submit_sqe", .program = TYPED("uring_submit_sqe"),
		.begins = true, .without = NO_URING,
	},
	[PROBE_URING_TASK_ADD] = {
		.name = "uring.task_add", .event = "io_uring_task_add", .program = TYPED("uring_task_add"),
		.without = NO_URING,
	},
	[PROBE_URING_COMPLETE] = {
		.name = "uring.complete", .event = "io_uring_complete", .program = TYPED("uring_complete"),
		.without = NO_URING,
	},
	[PROBE_EXT4_SYNC] = {
		.name = "async.ext4", .event = "ext4_sync_file_enter", .module = "ext4", .program = RAW("sync_file"),
		.without = NO_WORKER,
	},
	[PROBE_XFS_SYNC] = {
		.name = "async.xfs", .event = "xfs_file_fsync", .module = "xfs", .program = RAW("xfs_sync"),
		.without = NO_WORKER,
	},
	[PROBE_BTRFS_SYNC] = {
		.name = "async.btrfs", .event = "btrfs_sync_file", .module = "btrfs", .program = RAW("sync_file"),
		.without = NO_WORKER,
	},
	/* its successor, from 7.2 on */
	[PROBE_BTRFS_ENTER] = {
		.name = "async.btrfs_enter", .event = "btrfs_sync_file_enter", .module = "btrfs",
		.program = RAW("sync_file"), .without = NO_WORKER,
	},
	/* bells only, see idle.bpf.h */
	[PROBE_EXT4_SYNC_FS] = {
		.name = "async.ext4_fs", .event = "ext4_sync_fs", .module = "ext4", .program = RAW("sync_fs"),
		.without = NO_BELL,
	},
	[PROBE_XFS_SYNC_FS] = {
		.name = "async.xfs_fs", .event = "xfs_fs_sync_fs", .module = "xfs", .program = RAW("sync_fs"),
		.without = NO_BELL,
	},
	[PROBE_BTRFS_SYNC_FS] = {
		.name = "async.btrfs_fs", .event = "btrfs_sync_fs", .module = "btrfs", .program = RAW("sync_fs"),
		.without = NO_BELL,
	},
	[PROBE_WORK_END] = {
		.name = "async.work_end", .event = "workqueue_execute_end", .program = TYPED("work_end"),
		.without = NO_AIO,
	},
	[PROBE_WORK_QUEUE] = {
		.name = "work.queue", .event = "workqueue_queue_work", .program = RAW("work_queue"),
		.without = NO_WORK,
	},
	[PROBE_WORK_START] = {
		.name = "work.start", .event = "workqueue_execute_start", .program = RAW("work_start"),
		.without = NO_WORK,
	},
	[PROBE_FLUSH_INSERT] = {
		.name = "flush.insert", .function = "blk_insert_flush", .program = FUNCTION("flush_insert"),
		.stands_in = PROBE_IO_START, .without = NO_SPLIT ", nor, where there is no request.start, who sent an empty flush",
	},
	[PROBE_FLUSH_DATA] = {
		.name = "flush.data", .function = "mq_flush_data_end_io", .program = FUNCTION("flush_data"),
		.without = NO_SPLIT,
	},
	[PROBE_FLUSH_END] = {
		.name = "flush.end", .function = "flush_end_io", .program = FUNCTION("flush_end"),
		.without = NO_SPLIT,
	},
	/* Each is inlined into the other, or into the system calls, on some kernels: only both see all calls from elsewhere. */
	[PROBE_KSYNC_RANGE] = {
		.name = "ksync.range", .function = "vfs_fsync_range", .program = FUNCTION("ksync_range"),
		.begins = true, .without = NO_KSYNC,
	},
	[PROBE_KSYNC_RANGE_END] = {
		.name = "ksync.range_end", .function = "vfs_fsync_range", .program = FUNCTION("ksync_range_end"),
		.at_return = true, .without = NO_KSYNC,
	},
	[PROBE_KSYNC_FILE] = {
		.name = "ksync.file", .function = "vfs_fsync", .program = FUNCTION("ksync_file"),
		.begins = true, .without = NO_KSYNC,
	},
	[PROBE_KSYNC_FILE_END] = {
		.name = "ksync.file_end", .function = "vfs_fsync", .program = FUNCTION("ksync_file_end"),
		.at_return = true, .without = NO_KSYNC,
	},
};
