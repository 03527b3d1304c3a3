/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire.h - everything that crosses the kernel line: the memory-mapped counters and the records.
 *
 * Append only: fixed widths, values written out, sizes asserted on both sides. Times are
 * CLOCK_MONOTONIC nanoseconds (bpf_ktime_get_ns), 0 means "did not happen" or "not known".
 */
#ifndef BT_WIRE_H
#define BT_WIRE_H

#include "hist_geometry.h"

#ifndef __VMLINUX_H__
#include <stdint.h>
typedef uint64_t __bt_u64;
typedef uint32_t __bt_u32;
typedef uint16_t __bt_u16;
typedef uint8_t __bt_u8;
#else
typedef u64 __bt_u64;
typedef u32 __bt_u32;
typedef u16 __bt_u16;
typedef u8 __bt_u8;
#endif

/* clang-format off */
#define WIRE_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(type) == (size), "size of " #type " is public")
/* clang-format on */

/* ---- request classes; the order is that of enum op_class in report.h ---- */

enum wire_class {
	WIRE_READ_SYNC = 0,
	WIRE_READ_ASYNC = 1,
	WIRE_WRITE_SYNC = 2,
	WIRE_WRITE_ASYNC = 3,
	WIRE_WRITE_BARRIER = 4,
	WIRE_FUA = 5,
	WIRE_FLUSH = 6,
	WIRE_DISCARD = 7,
	WIRE_OTHER = 8,
	WIRE_CLASSES = 9,
	/* cells that are no class of their own but are counted the same way */
	WIRE_CELL_SEQUENCE = 9, /* device: a barrier write or lone flush, allocation to the very end */
	/*
	 * device: a waiter ready for its FLUSH until that FLUSH was started. With the probes flush.*, what held it back: queue: the
	 * FLUSH before; total: then, data of other sequences.
	 */
	WIRE_CELL_SLOT_WAIT = 10,
	WIRE_CELLS = 11,
};

/* Each request has three times, each with a histogram. */
enum wire_time { WIRE_QUEUE = 0, WIRE_DEVICE = 1, WIRE_TOTAL = 2, WIRE_TIMES = 3 };

struct wire_extremes {
	__bt_u64 min[WIRE_TIMES]; /* complement of the minimum, so that 0 means none */
	__bt_u64 max[WIRE_TIMES];
	__bt_u64 pad[2];
};

/*
 * What is counted for one class of one view on one stripe (CPU). Each request writes to it: all but buckets is in two lines of 64 bytes,
 * and the buckets of times that are alike are in the same page, or in the same line. How many have a time is the sum of its buckets.
 */
struct wire_cell {
	__bt_u64 count;
	__bt_u64 bytes;
	__bt_u64 sum[WIRE_TIMES];
	__bt_u64 pad[3];
	struct wire_extremes extremes[2]; /* by generation, see struct wire_run */
	__bt_u64 bucket[HIST_BUCKETS][WIRE_TIMES];
};
WIRE_ASSERT_SIZE(struct wire_cell, 64 * 3 + 8 * WIRE_TIMES * HIST_BUCKETS);

/* What is counted for one view (a disk, or a named partition) on one stripe beside the classes. */
struct wire_view {
	__bt_u64 flush_pre, flush_post, flush_only, flush_mixed, flush_unknown;
	__bt_u64 waiters;
	__bt_u64 barrier_writes, barrier_flushes, native_fua;
	__bt_u64 flush_in_flight;
	__bt_u64 requeues, merges, errors, unpaired, by_command;
	__bt_u64 overflow;	 /* tag beyond the slots that were reserved */
	__bt_u64 flush_no_depth; /* FLUSHes that flush_in_flight lacks: they were not seen to be issued */
};
WIRE_ASSERT_SIZE(struct wire_view, 8 * 17);

/*
 * How many requests are in the device, FLUSHes left out: those issued, less those that completed, less those that were taken back
 * (requeued, or their completion was missed). By stripe, as all that each request writes; a stripe on its own says nothing, a
 * request may complete on another CPU. Not kept in runs with ledgers, where each request wants to know the sum.
 */
#define WIRE_MAX_STRIPES 256

struct wire_depth {
	__bt_u64 issued, completed, undone;
	__bt_u64 off; /* by how much the requests' own clocks told other queue and device times than insert and issue, */
	__bt_u64 of;  /* and those times: summed over requests that have both */
	__bt_u64 by_clocks; /* completed while issue was not traced: in none of the first three */
	__bt_u64 pad[2];
};
WIRE_ASSERT_SIZE(struct wire_depth, 64);

enum wire_unclocked {
	UNCLOCKED_NONE = 0,
	UNCLOCKED_ONE = 1,    /* a request without valid clocks */
	UNCLOCKED_SHARED = 2, /* requests that share a reading of the clock: whose it is can't be told */
};

/* Where times come from. */
enum wire_clocks {
	CLOCKS_TRACED = 0, /* insert and issue are traced */
	CLOCKS_ALL = 1,	   /* neither is: each request says when it came into being and when it was issued */
	CLOCKS_ISSUE = 2, /* insert is traced, issue is the request's own: a queue with `iostats` off stamps nothing before */
};

/* Programs that nobody needs are detached; the first task that needs them rings a bell. See idle.bpf.h. */
enum wire_bell {
	BELL_OFF = 0,	  /* the programs are attached */
	BELL_LISTENS = 1, /* they are detached, and nobody has rung */
	BELL_RUNG = 2,	  /* somebody has rung: user space attaches them again */
};

#define WIRE_TASKS	8192 /* that are followed, or were; see ENTRY_ENDED */
#define WIRE_TASKS_PART 256
#define WIRE_HISTORIES	192 /* of helpers among them */
#define WIRE_FREE_PART	32  /* entries of either that one run of fill() makes free */

enum wire_free { WIRE_FREE_TASKS, WIRE_FREE_HISTORIES };

/* Changes while the programs run. */
struct wire_run {
	/*
	 * Minima and maxima are kept for the present and for the previous interval: user space steps this at
	 * the end of an interval, reads the entry that is no longer written, and clears it before its next turn.
	 */
	__bt_u32 generation;
	/*
	 * enum wire_clocks. Changed by user space once no request has shown for a while that its clocks don't do: then the kernel side
	 * sets `unclocked`.
	 */
	__bt_u32 own_clocks;
	__bt_u32 unclocked;    /* enum wire_unclocked */
	__bt_u32 family_turn;  /* steps when a process comes to the wrapped command's or goes */
	__bt_u32 unbegun;      /* 1: requests were seen whose begin is not stamped, so that insert has to be traced */
	__bt_u32 pending_used; /* 1: a sync call was seen that one task asked for and another carries out */
	__bt_u8 tasks_used[WIRE_TASKS / WIRE_TASKS_PART]; /* 1: of that part of the map of tasks an entry was used */
	__bt_u32 idle;					  /* enum wire_bell: the programs that only ledgers need */
	/* enum wire_bell: sys_enter and sys_exit. Read for each request, so keep it off cache lines that CPUs write to often. */
	__bt_u32 sys_enter_bell;
	__bt_u64 processes, threads; /* of the wrapped command */
	__bt_u64 bios_full;	     /* bios not timed because the table was full */
	__bt_u64 family_full;	     /* processes not followed because the table was full */
	__bt_u64 drops[8];	     /* by enum wire_drop */
	/* What the calls took of which there is no record, at most: from their begin, or from that of the task's call before. */
	__bt_u64 unrecorded_ns;
	__bt_u64 idle_calls;	  /* sync calls that rang, or began while the programs that trace them were detached, */
	__bt_u64 idle_ends;	  /* and those of them whose end was seen */
	__bt_u64 functions_since; /* trace calls that begin from then on at their functions, if they have any; 0: none */
	__bt_u32 selftest_pid;	  /* process whose calls set bits in `selftest_calls`; 0: none */
	__bt_u32 selftest_calls;  /* 1 << enum wire_call: seen at its function */
};
WIRE_ASSERT_SIZE(struct wire_run, 200);

/* ---- what is traced: filled by user space ---- */

#define WIRE_MAX_PARTS 8

/* A traced disk, found by the device number of the whole disk. */
struct wire_disk {
	__bt_u32 view; /* view of the disk (of what lies in no named partition) */
	__bt_u16 n_parts;
	__bt_u16 cached; /* 1: it has a volatile write cache, so that a direct write that has to be durable shows: as FUA, or by a FLUSH */
	__bt_u32 slot_base; /* first of its request slots */
	__bt_u32 depth;	    /* slots per hardware queue, without the flush slot */
	__bt_u32 hw_queues;
	__bt_u32 part_dev[WIRE_MAX_PARTS]; /* kernel dev_t of each named partition */
	__bt_u32 part_view[WIRE_MAX_PARTS];
	__bt_u32 dev;	  /* kernel dev_t: the key */
	__bt_u32 above;	  /* key of the traced disk without requests that lies on this one (dm, md); 0: none */
	__bt_u64 flushed; /* when a FLUSH last ended in a disk that this one lies on */
	__bt_u64 diskseq; /* the kernel's sequence number of the disk: another disk may come under the same dev_t; 0: not known */
};
WIRE_ASSERT_SIZE(struct wire_disk, 24 + 4 * (6 + 2 * WIRE_MAX_PARTS));

/* What is known of a request queue; filled by the first request that is seen of it. */
#define WIRE_MAX_QUEUES 4096 /* request_queue.id is a small integer, the lowest free one */

enum wire_queue_state { QUEUE_NEW = 0, QUEUE_TRACED = 1, QUEUE_IGNORED = 2 };

struct wire_queue {
	__bt_u64 q;	       /* the request_queue itself: an id can come back as another disk's, as can the address */
	__bt_u32 state;	       /* enum wire_queue_state */
	__bt_u32 id;	       /* request_queue.id, under which it stands here */
	struct wire_disk disk; /* its diskseq is the one that the kernel had then */
	int in_flight;	       /* with ledgers: what else struct wire_depth tells; in a cache line of its own */
	__bt_u32 pad3[15];
};
WIRE_ASSERT_SIZE(struct wire_queue, 192);

/* Kernel dev_t: major in the upper 12 bits, minor in the lower 20 (linux/kdev_t.h). */
#define WIRE_DEV(major, minor) (((__bt_u32)(major) << 20) | (__bt_u32)(minor))
#define WIRE_MAJOR(dev)	       ((__bt_u32)(dev) >> 20)
#define WIRE_MINOR(dev)	       ((__bt_u32)(dev)&0xfffff)

/* ---- records: facts about sync calls, sent through the ring buffer ---- */

/*
 * Addresses of the kernel (rq, stack, function) are replaced as soon as a record was read: src/probe/addresses.h.
 *
 * Only facts about calls that must not return before data is durable, about tasks that such calls wait for, and about
 * requests whose completion woke one of them. Explaining is left to user space. Every record starts with a head;
 * a reader skips kinds that it doesn't know by their size. Order of arrival is roughly, not exactly, the order of time.
 */
enum wire_kind {
	WIRE_SYNC = 1,	  /* a sync call has ended */
	WIRE_SLEEP = 2,	  /* a followed task runs again */
	WIRE_REQUEST = 3, /* the life of a request that woke a followed task */
	WIRE_FOLLOW = 4,  /* from now on a task's sleeps are known */
	WIRE_FILE = 5,	  /* the name of a file that was synced, once */
	WIRE_BIO = 6,	  /* a bio inside whose completion a followed task was woken */
	WIRE_WORK = 7,	  /* a work in which a worker woke a followed task, or queued such a work */
	WIRE_BELL = 8,	  /* a head, and nothing else: a bell was rung; never recorded */
	/* made by user space for recordings; never sent by the kernel side */
	WIRE_HEADER = 64, /* JSON: how and where the recording was made */
	WIRE_END = 66,	  /* JSON: the end of the run: drops, exit status */
	WIRE_COUNTS = 67, /* counters of a view, see recording.h */
};

struct wire_head {
	__bt_u16 kind; /* enum wire_kind */
	__bt_u16 size; /* of the record, head included */
	__bt_u32 cpu;
};

/* clang-format off */
enum wire_call {
	CALL_FSYNC = 1, CALL_FDATASYNC = 2, CALL_MSYNC = 3, CALL_SYNC = 4, CALL_SYNCFS = 5, CALL_SYNC_FILE_RANGE = 6,
	CALL_WRITE = 7,		/* any write on an O_SYNC or O_DSYNC file, or with RWF_SYNC or RWF_DSYNC */
	CALL_URING_FSYNC = 8,	/* from submission to completion; `worker` carried it out */
	CALL_AIO_FSYNC = 9,
	CALL_KERNEL_FSYNC = 10,	/* of the kernel itself (nfsd, loop), or within a system call that is none of these */
	CALL_COUNT = 11
};
/* clang-format on */

#define WIRE_INO_DISK (~0ULL) /* no file system has it: it is (ino_t)-1 */

struct wire_sync {
	struct wire_head head;
	__bt_u64 enter, exit;
	__bt_u64 ino;	     /* 0: the call has no file (sync); WIRE_INO_DISK: the file is a disk's node */
	__bt_u32 dev;	     /* kernel dev_t of the file's file system, or of that disk */
	__bt_u32 generation; /* of the inode */
	__bt_u32 tid, tgid;  /* who called */
	__bt_u32 worker;     /* who carried it out when it is another task (io_uring, AIO); else 0 */
	int ret;
	__bt_u16 call;		 /* enum wire_call */
	__bt_u16 sleeps;	 /* of the caller within the call, modulo 2^16: as sent, */
	char comm[16];		 /* of the calling process's leader */
	__bt_u16 switches;	 /* and as the kernel counts them (nvcsw + nivcsw); 0 and 0 with a worker */
	__bt_u16 voluntary_exit; /* nvcsw of the caller since it exists, modulo 2^16, at exit; 0 and 0 with a worker */
	/* ns that the caller was ready to run and waited for a CPU since it exists, at enter and exit; 0: not known (sched_info) */
	__bt_u64 waited_enter, waited_exit;
	__bt_u32 flushes; /* FLUSHes that ended within the call and served a request of the caller's own: also those so fast that it never slept */
	__bt_u16 voluntary_enter; /* and at enter */
	__bt_u16 other; /* 1: of a task that was not asked about: who, when, on which device, and nothing else */
	/* Writes that the caller sent and that completed within the call, but for background writeback: their bytes (modulo 2 TiB) and number */
	__bt_u64 write_bytes;
	__bt_u32 writes;
	__bt_u32 had; /* enum wire_had */
};
WIRE_ASSERT_SIZE(struct wire_sync, 120);

/* What a sync call had to do, and had done. */
enum wire_had {
	HAD_PAGES = 1,	/* pages of its file were dirty or under writeback when it began */
	HAD_FUA = 2,	/* one of its writes was a FUA write */
	HAD_DIRECT = 4, /* its file is open with O_DIRECT */
	HAD_BEGUN_IDLE = 8, /* it began while what ledgers need was not attached: `enter` is when its file system was asked */
};

/* What ended a sleep. */
enum wire_how {
	HOW_UNKNOWN = 0,
	HOW_PREEMPTED = 1, /* it never slept: it lost the CPU and was ready to run all the time; wake == off */
	HOW_TASK = 2,	   /* another task, `waker`, in its own time */
	HOW_REQUEST = 3,   /* the completion of the request with key (rq, done) */
	HOW_IRQ = 4,	   /* an interrupt that completed no traced request: a timer, another device */
	HOW_UNSEEN = 5, /* it was ready to run since `off`, and ran again some time before `on`: when, was not seen; wake == 0 */
};

#define WIRE_STACK 12

/*
 * Task `tid` lost the CPU at `off`, was woken at `wake` and ran again at `on`. Its sleeps and the time it ran between
 * them tile its time since its WIRE_FOLLOW record, as long as `seq` has no gap.
 */
struct wire_sleep {
	struct wire_head head;
	__bt_u64 off;  /* 0: since before it was followed */
	__bt_u64 wake; /* 0: not seen */
	__bt_u64 on;
	/*
	 * With HOW_REQUEST: the request's key; with HOW_TASK and done = 1: rq's lower half is the seq that the waker's next sleep will
	 * have, the upper the number of the work that it was at, see struct wire_work; 0: not known, or none.
	 */
	__bt_u64 rq, done;
	__bt_u32 tid;
	__bt_u32 waker;		    /* with HOW_TASK */
	__bt_u32 seq;		    /* counts this task's sleeps, by one */
	__bt_u8 how;		    /* enum wire_how */
	__bt_u8 stack_len;	    /* entries of `stack` that are filled */
	__bt_u8 waker_kind;	    /* enum wire_task_kind of the waker, or 0 */
	__bt_u8 idle;		    /* 1: it slept for want of work (TASK_IDLE: a kworker between two work items) */
	__bt_u64 stack[WIRE_STACK]; /* where it slept, innermost first; taken only where the waker alone doesn't tell */
};
WIRE_ASSERT_SIZE(struct wire_sleep, 160);
#define WIRE_SLEEP_SHORT 64 /* bytes of a record without a stack: it ends before it */

enum wire_task_kind { TASK_USER = 1, TASK_KTHREAD = 2, TASK_KWORKER = 3 };

struct wire_follow {
	struct wire_head head;
	__bt_u64 since;
	__bt_u32 tid, tgid;
	__bt_u32 kind; /* enum wire_task_kind */
	__bt_u32 pad;
	char comm[16]; /* of the task itself */
};
WIRE_ASSERT_SIZE(struct wire_follow, 48);

/* One step of a request: a FLUSH that it waited for, or its own way to the device. */
struct wire_step {
	__bt_u64 begin;	      /* FLUSH: the machinery started it. Data: inserted; 0: issued directly */
	__bt_u64 issue, done; /* 0: the step did not happen */
	__bt_u64 issuer_wake; /* when the task that issued it was last woken and last came onto its CPU, */
	__bt_u64 issuer_on;   /* if it is followed; else 0 */
	__bt_u32 issuer;      /* its tid */
	__bt_u32 in_flight;   /* others in the device when it was issued, FLUSHes left out */
};
WIRE_ASSERT_SIZE(struct wire_step, 48);

enum wire_request_flags {
	REQUEST_SEQUENCE = 1,  /* ran through the flush machinery: pre, data, post in this order, each if it happened */
	REQUEST_ONLY = 2,      /* an empty flush: `pre` is the FLUSH that it waited for */
	REQUEST_THROTTLED = 4, /* its bio was held by blk-throttle before */
	REQUEST_NO_START = 8,  /* `alloc` is not known */
};

struct wire_request {
	struct wire_head head;
	__bt_u64 rq, done; /* the key; `done` is the very end */
	__bt_u64 alloc;	   /* when the request came into being */
	__bt_u64 sector;
	__bt_u32 dev; /* kernel dev_t of the partition or disk that it was sent to; the disk's for an empty flush of a whole disk */
	__bt_u32 disk; /* kernel dev_t of the whole disk */
	__bt_u32 bytes;
	__bt_u32 tid, tgid; /* who sent it; 0: not known */
	__bt_u16 class;	    /* enum wire_class; WIRE_FLUSH for an empty flush */
	__bt_u16 flags;	    /* enum wire_request_flags */
	struct wire_step pre, data, post;
};
WIRE_ASSERT_SIZE(struct wire_request, 208);

/*
 * Sleep `seq` of task `tid` was ended while a bio of a disk without requests (dm, md) was being completed. Sent before that sleep.
 * What such a disk does with a bio before, between and after the requests that it makes of it shows nowhere else.
 */
struct wire_bio {
	struct wire_head head;
	__bt_u64 queued, done;
	__bt_u64 flushed; /* a write with PREFLUSH: when its FLUSH below had ended; 0: not known, or no such write */
	__bt_u32 tid, seq;
	__bt_u32 disk;	/* kernel dev_t */
	__bt_u16 class; /* enum wire_class; WIRE_WRITE_BARRIER for a write with PREFLUSH */
	__bt_u16 work;	/* 1: its completion queued the worker's work number `seq`, and ended no sleep */
};
WIRE_ASSERT_SIZE(struct wire_bio, 48);

/*
 * Worker `tid` began its work number `no` at `begun`. What it did before has nothing to do with that: it was queued at `queued`, by
 * the completion of a request, by a task in its own time, or by an interrupt. Sent before the sleep that it ended.
 */
struct wire_work {
	struct wire_head head;
	__bt_u64 begun;
	__bt_u64 queued;   /* 0: not seen */
	__bt_u64 function; /* address of what it runs */
	__bt_u64 rq, done; /* as in struct wire_sleep, of who queued it */
	__bt_u32 tid, no;
	__bt_u32 seq;	 /* that the worker's next sleep will have */
	__bt_u32 by;	 /* with HOW_TASK: who queued it */
	__bt_u8 how;	 /* enum wire_how; HOW_UNKNOWN: not seen */
	__bt_u8 by_kind; /* enum wire_task_kind of `by`, or 0 */
	__bt_u16 pad[3];
};
WIRE_ASSERT_SIZE(struct wire_work, 72);

#define WIRE_NAMES 8  /* path components, the file's own first */
#define WIRE_NAME  48 /* bytes of each, NUL-terminated, cut if longer */

/* The path of a file from the root of its file system. Sent at the first sync of (dev, ino). */
struct wire_file {
	struct wire_head head;
	__bt_u64 ino;
	__bt_u32 dev;
	__bt_u16 n;	/* components filled */
	__bt_u16 whole; /* 1: the root was reached; 0: there are more above */
	char name[WIRE_NAMES][WIRE_NAME];
};
WIRE_ASSERT_SIZE(struct wire_file, 24 + WIRE_NAMES * WIRE_NAME);

/* Why a fact was not sent, or a call has no ledger. Indices of wire_run.drops. */
enum wire_drop {
	DROP_RING_FULL = 0,    /* the ring buffer was full */
	DROP_CALLERS_FULL = 1, /* more tasks in sync calls at once than there is room for */
	DROP_HELPERS_FULL = 2, /* a task that a call waited for could not be followed: no room */
	DROP_CALL = 3,	       /* the record of a sync call: the ring buffer was full */
	DROP_END = 4,	       /* a sync call of a task that has begun its next one, or ended: its end was not seen */
	DROP_BEGIN = 5,	       /* a sync call whose end was seen, and not its begin */
	DROP_SWITCH = 6,       /* a task that calls depend on lost the CPU, or came onto one, and no program ran */
	DROP_COUNT = 7
};
_Static_assert(sizeof(((struct wire_run *)0)->drops) / sizeof(__bt_u64) >= DROP_COUNT, "a place for each");

#endif
