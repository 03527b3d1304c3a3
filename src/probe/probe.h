/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.h - from the table of probes to programs that run in the kernel.
 *
 * Each logical probe has rungs, best first. The plan is made by trying: a rung that the kernel refuses is
 * kept with the reason, and the next one is tried. A name in BTF does not mean that it can be attached.
 */
#ifndef BT_PROBE_PROBE_H
#define BT_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "util/err.h"
#include "util/notice.h"
#include "model/report.h"
#include "wire.h"

enum probe_id {
	PROBE_RQ_COMPLETE,
	PROBE_RQ_ISSUE,
	PROBE_RQ_INSERT,
	PROBE_RQ_REQUEUE,
	PROBE_RQ_MERGE,
	PROBE_IO_START,
	PROBE_BIO_QUEUE,
	PROBE_BIO_COMPLETE,
	PROBE_FORK,
	PROBE_EXIT,
	PROBE_RENAME,
	PROBE_SYS_ENTER,
	PROBE_SYS_EXIT,
	PROBE_CALL_FSYNC,
	PROBE_CALL_FSYNC_END,
	PROBE_CALL_FDATASYNC,
	PROBE_CALL_FDATASYNC_END,
	PROBE_CALL_MSYNC,
	PROBE_CALL_MSYNC_END,
	PROBE_CALL_SYNCFS,
	PROBE_CALL_SYNCFS_END,
	PROBE_CALL_RANGE,
	PROBE_CALL_RANGE_END,
	PROBE_CALL_SYNC,
	PROBE_CALL_SYNC_END,
	PROBE_SWITCH,
	PROBE_WAKING,
	PROBE_FORGET,
	PROBE_URING_SUBMIT,
	PROBE_URING_SUBMIT_SQE,
	PROBE_URING_TASK_ADD,
	PROBE_URING_COMPLETE,
	PROBE_EXT4_SYNC,
	PROBE_XFS_SYNC,
	PROBE_BTRFS_SYNC,
	PROBE_BTRFS_ENTER,
	PROBE_EXT4_SYNC_FS,
	PROBE_XFS_SYNC_FS,
	PROBE_BTRFS_SYNC_FS,
	PROBE_WORK_END,
	PROBE_WORK_QUEUE,
	PROBE_WORK_START,
	PROBE_FLUSH_INSERT,
	PROBE_FLUSH_DATA,
	PROBE_FLUSH_END,
	PROBE_KSYNC_RANGE,
	PROBE_KSYNC_RANGE_END,
	PROBE_KSYNC_FILE,
	PROBE_KSYNC_FILE_END,
	PROBE_COUNT
};

enum rung { RUNG_TP_BTF, RUNG_RAW_TP, RUNG_TP, RUNG_FENTRY, RUNG_KPROBE, RUNG_COUNT };

/* What a run needs; filled by the caller before probes_open(). */
struct probe_want {
	bool on[PROBE_COUNT];
	int force[PROBE_COUNT];	 /* -1: any rung; else the only one allowed: without it there is no run */
	bool named[PROBE_COUNT]; /* forced by its own name, not by its family's */
	bool try_all;		 /* try the rungs below the first that is to be had, too */
	uint32_t views, slots;	 /* how many of each to make room for */
	uint32_t stripes;	 /* copies of each counter; fewer than CPUs: added to atomically */
	struct notices notices;	 /* hears what libbpf says */
	bool ledger;		 /* trace sync calls too */
	bool may_idle;		 /* probes_rest() may be called */
	bool own_numbers;	 /* our numbers of tasks are the kernel's own */
	uint32_t ring_bytes;	 /* for their facts; a power of two; 0: the default */
	/* as in struct bt_config */
	uint32_t command, filter, filter_family, no_children, task_groups, bio_groups, n_comms;
	char comm[CONFIG_COMMS][16];
};

struct probes;

/* Sets `on` for everything that counting requests needs, and no forced rung. */
void probe_want_default(struct probe_want *want);

/* --rung NAME=RUNG: of a probe, or of those of a family that have this rung. */
int probe_want_force(struct probe_want *want, const char *spec, struct err *e);

/* How many process numbers there can be: each has an entry while sync calls are traced. */
uint32_t probes_pid_max(void);

/*
 * Makes the plan and loads the programs; nothing runs yet. On failure *e says what is missing (status 3: not
 * permitted, 4: this kernel cannot). The result is owned by the caller: probes_close().
 */
int probes_open(const struct probe_want *want, struct probes **out, struct err *e);

/* Starts all programs. */
int probes_attach(struct probes *p, struct err *e);

/* Is all that is asked for to be had without issue, as long as the requests' own clocks are valid? */
bool probes_may_use_clocks(const struct probes *p);

/* Stops tracing issue, and insert as well, or starts it again. Returns 0 or a negative errno: then nothing has changed. */
int probes_use_clocks(struct probes *p, enum wire_clocks which);

/* The devices whose sync calls neither keep what ledgers need attached nor ring. */
void probes_tell_elsewhere(const struct probes *p, const uint32_t *dev, size_t n);

/* When a sync call last began; 0: never. */
uint64_t probes_last_call(const struct probes *p);

/* When a call last began that only sys_enter sees: a write that syncs, or one of a 32-bit program; 0: never. */
uint64_t probes_last_sys_enter_call(const struct probes *p);

/*
 * Programs at sys_enter and sys_exit slow down every system call of the machine. Few sync calls need them where the kernel lets us trace
 * the others at their own functions. Call these in this order.
 */

/* Traces sync calls at their functions. 0 or a negative errno: this kernel does not allow it. */
int probes_trace_functions(struct probes *p);
/* A few ms later: detaches sys_enter. The first call that needs it then rings. */
void probes_stop_sys_enter(struct probes *p);
/* Once all calls that began before have ended: detaches sys_exit. */
void probes_stop_sys_exit(struct probes *p);
enum wire_bell probes_sys_enter_bell(const struct probes *p);
/* Once it was rung: attaches both again. 0 or a negative errno. */
int probes_trace_syscalls(struct probes *p);

/*
 * While nobody syncs: detaches the programs that only ledgers need, until probes_wake(). The first sync call then rings, see
 * probes_rung(): by the tracepoints of file systems whose type probes_hear() knows, else by its requests. Some ms later, when no
 * detached program runs any more, call probes_forget_tasks().
 */
void probes_rest(struct probes *p);
bool probes_rung(const struct probes *p);
void probes_forget_tasks(struct probes *p, bool (*counts)(const void *ctx, uint32_t dev), const void *ctx);

/* 0 or a negative errno: then not all is attached, and sync calls have no ledger. */
int probes_wake(struct probes *p);

/* Some time after it: those of the calls that began before, and are noted, whose end was not seen. */
void probes_drop_idle(struct probes *p);

/* Has a disk a volatile write cache now? */
void probes_tell_cached(const struct probes *p, struct wire_disk *disk, bool cached);

/* Is each sync call on a file system of this type heard by itself? */
bool probes_hear(const struct probes *p, const char *fstype);

/* The devices whose requests ring no bell, see covered_devices.h; those of before do, again. */
void probes_tell_covered(const struct probes *p, const uint32_t *dev, size_t n);

/* Is everything planned that ledgers of sync calls need? */
bool probes_have_ledger(const struct probes *p);

/* Follows a task from the start, where it is known beforehand that sync calls will wait for it. */
void probes_follow(const struct probes *p, uint32_t tid);

/* To be called ten times a second: entries for tasks that nobody uses any more come back. */
void probes_sweep_tasks(struct probes *p);

/* A call that has begun and not ended, as far as the kernel side was told. */
struct call_under_way {
	uint32_t pid, tid; /* tid 0: not known */
	uint32_t dev;	   /* of its file; 0: it has none */
	uint32_t call;	   /* enum wire_call */
	uint64_t enter;
	bool other; /* the command or the filter leaves it out */
};

struct calls_under_way {
	uint64_t n, oldest; /* when the first of them began; only if there are any */
	uint64_t returned;  /* calls that are over, as their tasks are somewhere else by now: their end was not seen */
	uint64_t returned_ns; /* what these took, at most */
};

struct calls_wanted {
	uint64_t until;				       /* calls that began before */
	bool (*counts)(const void *ctx, uint32_t dev); /* those on this device (0: of no file) */
	const void *ctx;
	bool others; /* those that the command or the filter leaves out, too; */
	void (*each)(void *to, const struct call_under_way *c); /* NULL: nobody asks for each */
	void *to;
};

/* Those that are still under way. Others are told to `each` and not counted. */
struct calls_under_way probes_calls_under_way(const struct probes *p, const struct calls_wanted *want);

/* When the one began that has been under way for longest, of those that are wanted; `until`: none is. 0: not known. */
uint64_t probes_oldest_call(const struct probes *p, const struct calls_wanted *want);

/* Is the task in a sync call that was seen to begin? */
bool probes_in_call(const struct probes *p, uint32_t tid);

/*
 * The kind of sync call (enum wire_call) that a system call is, by its number and arguments; 0: it is none, or it can't be told. `flags`
 * says with which a descriptor was opened; it is asked where that decides.
 */
uint32_t probes_sync_call(long nr, bool is_32bit, const uint64_t arg[6],
			  uint32_t (*flags)(const void *ctx, uint32_t fd), const void *ctx);

/* A request that has begun and not completed. */
struct request_under_way {
	uint32_t sender; /* tid; 0: not known */
	bool flush;	 /* a FLUSH that the flush machinery sent, for whomever */
	bool inserted, issued;
	bool held;	/* of a flush sequence: its data is done, and it waits for the post-flush */
	uint64_t since; /* the last of these steps, or its beginning */
};

/* Of a whole disk, whose slots these are. */
void probes_requests_under_way(const struct probes *p, const struct wire_disk *disk,
			       void (*each)(void *ctx, const struct request_under_way *q), void *ctx);

/* For another disk: what is left in them is of requests of the one before. */
void probes_clear_slots(const struct probes *p, uint32_t first, uint32_t n);

/* Program runs that the kernel skipped because the same program was already running on that CPU. */
uint64_t probes_skipped_runs(const struct probes *p);

/* Copies the plan into a report. Also for a plan that failed: `p` may be NULL then, and the last plan made is told. */
void probes_report(const struct probes *p, struct report *r);

/* Stops everything. NULL is fine. */
void probes_close(struct probes *p);

#endif
