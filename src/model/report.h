/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - what a run found out: the seam between analysing and rendering.
 *
 * Append only. A renderer sees one `struct report` and writes bytes; the same report gives the same
 * bytes. Times are nanoseconds, sizes bytes, shares 0 to 1. Strings are UTF-8 or raw kernel bytes
 * (names of files and commands): a renderer escapes them for its own format. A pointer that is NULL
 * or a `have_` flag that is false means "not known": it is left out, never shown as zero.
 *
 * Everything is owned by the report and freed by report_free().
 */
#ifndef BT_MODEL_REPORT_H
#define BT_MODEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heat_map.h"
#include "model/histogram.h"
#include "model/sparse_histogram.h"

/* What a block request does. Internal classes; op_rows (report.c) joins them to the public ones. */
enum op_class {
	OP_READ_SYNC,	  /* somebody may be waiting */
	OP_READ_ASYNC,	  /* read-ahead */
	OP_WRITE_SYNC,	  /* REQ_SYNC: fsync, O_DIRECT, journal */
	OP_WRITE_ASYNC,	  /* background writeback */
	OP_WRITE_BARRIER, /* data step of a write that the flush machinery runs (PREFLUSH or emulated FUA) */
	OP_FUA,		  /* write with FUA done by the device itself */
	OP_FLUSH,	  /* a FLUSH sent to the device */
	OP_DISCARD,
	OP_OTHER, /* write zeroes, secure erase, zone management, pass-through */
	OP_CLASSES
};

/* The public operation rows, in this order, in text and JSON. */
enum op_row { ROW_READ, ROW_WRITE, ROW_FUA, ROW_FLUSH, ROW_DISCARD, ROW_OTHER, OP_ROWS };

struct report_op {
	uint64_t count; /* completed requests */
	uint64_t bytes;
	struct hist queue;  /* insert to issue; a request that was issued directly counts as 0 */
	struct hist device; /* issue to complete */
	struct hist total;  /* insert (or issue, when never inserted) to complete */
};

/* The same where there are many of them: see sparse_histogram.h. */
struct report_op_tally {
	uint64_t count, bytes;
	struct tally queue, device, total;
};

/* What a sync call's time went to: the public causes, in this order everywhere. Table: report.c. */
/* clang-format off */
enum cause {
	CAUSE_CPU, CAUSE_RUNQ, CAUSE_WORKER, CAUSE_THROTTLE, CAUSE_TAG, CAUSE_IOQ,
	CAUSE_DEVICE_READ, CAUSE_DEVICE_WRITE, CAUSE_DEVICE_FUA, CAUSE_DEVICE_DISCARD, CAUSE_DEVICE_OTHER,
	CAUSE_FLUSH_WAIT, CAUSE_FLUSH_PRE, CAUSE_FLUSH_POST, CAUSE_FLUSH_ONLY,
	CAUSE_COMPLETION, CAUSE_JOURNAL, CAUSE_LOCK, CAUSE_UNKNOWN,
	CAUSE_COUNT
};

enum cause_family {
	FAMILY_HOST, FAMILY_CPU_SCHEDULER, FAMILY_IO_SCHEDULER, FAMILY_DEVICE, FAMILY_FLUSH, FAMILY_FILE_SYSTEM,
	FAMILY_UNKNOWN, FAMILY_COUNT
};
/* clang-format on */

struct cause_row {
	const char *name;
	enum cause_family family;
	const char *help;
};

extern const struct cause_row cause_rows[CAUSE_COUNT];

/* Here, as it is asked for each piece of each call. */
static inline enum cause_family cause_family(enum cause c)
{
	return cause_rows[c].family;
}

struct ledger {
	uint64_t ns[CAUSE_COUNT]; /* adds up to the duration of the call or calls, exactly */
};

/* Time of sync calls by where it went: a leaf of the flame graph. */
struct report_leaf {
	char *path; /* frames joined by ';': command;call;file;through whom..;cause;device. Frames never hold ';' */
	enum cause cause;
	uint64_t ns;
	struct tally each; /* the single contributions; owned */
};

#define REPORT_OTHER_PROCESSES "(other processes)"
#define REPORT_OTHER_FILES     "(other files)"
#define REPORT_OTHER_STACKS    "(other);(other calls);" REPORT_OTHER_FILES ";" /* and the cause */

struct report_group { /* sync calls of one process, or of one file */
	uint32_t pid;
	char *comm;	     /* by process */
	char *path, *device; /* by file */
	uint64_t count, total_ns;
	uint64_t unsafe, unsafe_ns; /* of them, see struct call_sums */
	bool rest;		    /* all that have no line of their own */
	bool late;		    /* made after others had to give way: earlier calls of its may be among the rest */
	struct ledger ledger;
	struct tally latency;
};

struct report_call {	   /* one sync call */
	uint64_t start_ns; /* from the run's start */
	uint64_t duration_ns;
	uint32_t pid, tid;
	char *comm, *call, *path, *device;
	bool unsafe; /* see struct call_sums */
	struct ledger ledger;
};

/*
 * Every single sync call, what it waited for piece by piece, and the requests that somebody waited for: only where an output
 * asks for it. Names are indices of `name`; 0 is "". Times are from the run's start.
 */
struct detail_slice { /* the slices of a call stand in order of time and add up to its duration */
	uint64_t ns;
	uint32_t via;	 /* through whom: tasks joined by ';', "" when the call itself waited */
	uint32_t device; /* "" where no device is involved */
	enum cause cause;
};

struct detail_call {
	uint64_t start_ns, duration_ns;
	uint32_t pid, tid;
	uint32_t comm, call, path, device;
	uint32_t at;		/* in detail.packed */
	uint32_t n_slices : 30; /* see detail_slices() */
	uint32_t flushed : 1;	/* a FLUSH ended for it, be it before it had to wait */
	uint32_t summed : 1;	/* beyond what was kept: no slices, only the ledger */
};

struct detail_step { /* a FLUSH that the request waited for, or its own way to the device */
	bool happened;
	uint64_t begin_ns, issue_ns, done_ns; /* of a FLUSH: started by the machinery; of data: inserted */
	uint32_t in_flight;		      /* others in the device when it was issued, FLUSHes left out */
};

struct detail_request {
	uint64_t begin_ns, end_ns; /* from allocation (or the first that is known of it) to the very end */
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid, tid; /* who sent it; 0: not known */
	uint32_t device, disk;
	enum op_class class;
	bool sequence;	/* ran through the flush machinery: pre, data, post */
	bool throttled; /* blk-throttle held it before */
	struct detail_step pre, data, post;
};

/* Made and read by the functions below: slices and requests are packed. */
struct report_detail {
	char **name;
	size_t n_names;
	struct detail_call *call; /* in the order of their ends */
	size_t n_calls, n_slices; /* n_slices: of all calls */
	uint32_t *request_at;	  /* where each request stands in `packed`, in the order of arrival, each once */
	size_t n_requests;
	uint8_t *packed;
	size_t n_packed;
	size_t cap_calls, cap_requests, cap_packed;
	uint64_t calls_left_out, slices_left_out, requests_left_out; /* beyond what is kept; slices: calls without them */
};

enum heat_class { HEAT_READ, HEAT_WRITE, HEAT_FUA, HEAT_FLUSH, HEAT_CLASSES };

#define REPORT_SLOWEST	       10 /* how many of the slowest calls outputs show that have no room for all that are kept */
#define REPORT_UNFLUSHED_SHARE 200 /* 1/200 of the calls without a flush: worth a warning */

/* A process whose sync calls were not asked about. */
struct report_other {
	uint32_t pid; /* 0: those that had no room, together */
	char comm[16];
	uint64_t count, total_ns;
};

/* A call that sent so many writes itself, each of which it may have to wait for, is one of volume. */
#define VOLUME_WRITES 16

#define VOLUME_CAUSES 4
extern const enum cause volume_causes[VOLUME_CAUSES]; /* writes in the device, and what keeps them out of it */

/* Of calls of volume. */
struct volume {
	uint64_t calls, total_ns;
	uint64_t writes, bytes;		 /* that they sent themselves, completed within them */
	uint64_t wait_ns[VOLUME_CAUSES]; /* of total_ns, what they waited for the disk to take writes: by volume_causes */
};

/*
 * What a verdict's class goes by, added up over calls. The ledger is that of all of them.
 *
 * A call is unsafe when it had data to make durable (it waited for a write or sent one, or its file had pages that were dirty or under
 * writeback, or is open with O_DIRECT on a mount without barriers), its disk has a volatile cache, and it returned success with neither a FLUSH nor a FUA write that was for it. It is durable when it
 * had such a FLUSH or FUA write. Neither, when it had nothing to make durable, or where part of its time may hide a flush.
 */
struct call_sums {
	uint64_t count, total_ns;
	uint64_t unsafe, unsafe_ns, durable;
	struct volume volume;
	struct ledger ledger;
};

/* Of each call one of so many gets it, in turn: what is drawn from when the verdict's confidence is asked for. */
#define CALL_SAMPLES 128

#define REPORT_TAIL_CALLS 20  /* fewer have no tail */
#define REPORT_TAIL_SHARE 100 /* one call in so many, rounded up, is the tail */
#define REPORT_TAIL_FAR	  5   /* so many times the median, on average: worth a word */

/* The slowest calls. */
struct report_tail {
	uint64_t count; /* all that took threshold_ns or longer: the share, or a few more that the histogram's bucket has; 0: there is no tail */
	uint64_t total_ns, threshold_ns;
	uint64_t median_ns; /* of all calls */
	struct ledger ledger;
	uint64_t period;	    /* one call in so many is slow, in turn; 0: not so */
	uint64_t period_ns;	    /* a call is slow after every so long; 0: not so */
	uint64_t slow_ns, quick_ns; /* with a period: the median of the slow calls, and what a quarter of all takes at most */
	/* What most of them have in common, and others have not; NULL or 0: nothing. */
	char *path, *comm;
	uint32_t pid;
	char *sentence; /* NULL: nobody made one */
};

/* Why a call has no ledger. */
enum no_ledger {
	NO_LEDGER_DROPPED, /* facts about it were lost: they are among report.lost */
	NO_LEDGER_BEFORE,  /* it began before the trace, or before the present file of a recording that rotates */
	NO_LEDGER_IDLE,	   /* it began while what ledgers need was not attached */
	NO_LEDGER_LIMIT,   /* its task slept more often since than is remembered */
	NO_LEDGER_REASONS
};

struct report_sync {
	uint64_t count, total_ns;
	uint64_t calls[11]; /* by enum wire_call */
	uint64_t no_ledger; /* of the calls in the ledger's window, those that could not be explained; not in count */
	uint64_t no_ledger_ns;				 /* what these took */
	uint64_t without[NO_LEDGER_REASONS], dropped_ns; /* how many of these, by reason; what those of the first took */
	struct hist latency;
	struct ledger ledger;
	struct report_group *process, *file;
	size_t n_processes, n_files;
	uint64_t gone_processes, gone_files; /* that gave way to later ones: the rest has their sums */
	struct report_call *slowest;	     /* slowest first */
	size_t n_slowest;
	struct report_leaf *leaf;
	size_t n_leaves;
	/* flush time spent on FLUSHes sent for the caller or its journal, and for others */
	uint64_t flush_own_ns, flush_foreign_ns;
	/* other requests in the device when the FLUSHes waited for were issued: sum, and number of those FLUSHes */
	uint64_t busy_in_flight, busy_flushes;
	uint64_t unsafe, unsafe_ns, durable; /* see struct call_sums */
	struct volume volume;
	struct call_sums *sample; /* the calls in n_samples parts, at most CALL_SAMPLES; up to as many calls, each its own */
	size_t n_samples;
	struct report_tail tail;
	struct heat *heat;		  /* of the calls, by when they ended; NULL: not known */
	uint64_t elsewhere, elsewhere_ns; /* calls left out: on file systems whose disk was not traced; not in count */
	uint64_t lost;			  /* of the run's lost events, those that may have been of calls */
	/* what the command or the filter left out, on the traced disks; in no other figure. By process, longest first */
	uint64_t others, others_ns;
	struct report_other *other;
	size_t n_other;
};

/* What would be left without a cause: see analyse/whatif/whatif.h. */
struct report_whatif {
	char *remove;		     /* a cause's or a family's name */
	uint64_t now_ns, without_ns; /* a call, on average */
	uint64_t wall_ns;	     /* of the run; 0: not known, or it has no length of its own */
	double speedup; /* of the run; without wall_ns, how many times as much work there can be in the same time */
	bool bound;	/* that much at most */
};

#define WHATIF_WORTH_A_LINE 1.05 /* what gains less is told in passing */

struct report_verdict {
	const char *class; /* one of the public classes; static */
	const char *scope; /* whose calls it is about: "asked" (the run's, the command's, the filter's) "others" or "outstanding"; static */
	const char *family; /* family or NULL; static */
	const char *second; /* the other class, where a threshold between the two is near; static; NULL: none is */
	double confidence; /* share of resamplings of the calls that give the same class; 0: it is not about calls that returned */
	double share; /* of the sync time (of the wall time for not-sync and others, of the calls for unsafe-fast); NAN: none */
	char *sentence;
	char **evidence; /* NULL-terminated sentences with figures */
	char **advice;	 /* NULL-terminated: what could be done, best first, each with its risk */
};

/* How the machinery turned barriers into FLUSH requests. */
struct report_flush {
	uint64_t pre, post, only; /* FLUSH requests by the role that they played for their waiters */
	uint64_t mixed;		  /* one FLUSH that served waiters in different roles */
	uint64_t unknown;	  /* FLUSH requests whose waiters could not be read */
	uint64_t waiters;	  /* waiting requests that they served */
	uint64_t barrier_writes;  /* writes with data that ran through the machinery (journal commits) */
	uint64_t barrier_flushes; /* pre- and post-flush steps that those writes waited for */
	uint64_t in_flight;	  /* summed over FLUSHes: other requests in the device when it was issued */
	uint64_t no_depth;	  /* FLUSHes left out of it: they were not seen to be issued */
	uint64_t native_fua;	  /* of barrier_writes, those whose data went out as native FUA */
	struct tally slot_wait;	  /* a waiter ready for its FLUSH until the machinery started that FLUSH */
	/* of it, until the FLUSH before was done, and then until data of other sequences was; empty: not known */
	struct tally slot_wait_flush, slot_wait_data;
	struct tally sequence; /* a barrier write or stand-alone flush from allocation to its very end */
};

/* The kernel's own counters (/sys/block/X/stat), as the change over the run. */
struct report_kernel {
	bool have;
	bool have_flush; /* fields 16 and 17 are there */
	uint64_t reads, read_bytes, read_ns;
	uint64_t writes, write_bytes, write_ns;
	uint64_t discards, discard_bytes, discard_ns;
	uint64_t flushes, flush_ns;
	uint64_t edge_flushes; /* beside these, counted while the trace's own were begun or read: among them or not */
};

struct report_mount {
	char *dir, *fstype;
	char *options; /* as the kernel shows them, comma-separated */
	char *barrier; /* "barrier", "nobarrier", or NULL where the file system has no such choice */
};

/* Requests by kind; FUA writes are among the writes. Without `by_kind` only reads and writes are known. */
struct requests_in_flight {
	bool have, by_kind;
	uint64_t n[OP_ROWS];
};

struct report_device {
	char name[32]; /* sda, sda1, dm-0; of a disk that came in another's place "sda (diskseq 17)" */
	unsigned int major, minor;
	uint64_t diskseq; /* the kernel's sequence number of the whole disk; 0: not known */
	uint64_t from_ns; /* since the start of the run: it is traced from then on; 0: from the start */
	char *model;
	char *write_cache; /* "write back" or "write through" */
	char *scheduler;
	bool have_fua, fua;
	bool have_rotational, rotational;
	bool have_wbt;
	uint64_t wbt_lat_us;  /* 0: off */
	uint64_t nr_requests; /* 0: not known */
	uint64_t size;	      /* bytes; 0: not known */
	char **slaves;	      /* NULL-terminated names; NULL when there are none */
	char *via;	/* how the user's words led here, e.g. "/srv/db is on dm-0, on sda"; NULL: named directly */
	char *disk;	/* for a partition: its whole disk, else NULL */
	bool vanished;	/* the disk went away while traced */
	bool bio_based; /* dm, md, ...: times are of bios: only `total` is filled */
	struct report_mount *mounts;
	size_t n_mounts;

	struct report_op_tally op[OP_CLASSES];
	struct tally naive_write; /* writes as other tools time them: allocation to the very end, flushes included */
	struct report_flush flush;
	struct report_kernel kernel;
	struct requests_in_flight in_flight; /* when the report was made; asked where none was completed */
	uint64_t requeues;
	uint64_t merges;
	uint64_t errors;		 /* requests that completed with an error */
	uint64_t unpaired;		 /* counted, but without (all) times: in flight when the run began, or lost */
	uint64_t by_command;		 /* of report_device_sent(), what the wrapped command's own threads sent */
	struct heat *heat[HEAT_CLASSES]; /* time in the device, by about when they completed; NULL: none, or not known */
};

enum probe_state { PROBE_ATTACHED, PROBE_REFUSED, PROBE_ABSENT, PROBE_OFF };

struct report_probe {
	char *name;
	char *rung;  /* tp_btf, raw_tp, tp, fentry, kprobe; NULL when none */
	char *could; /* all rungs that were tried and can be had, parted by commas; NULL: none; not in recordings */
	enum probe_state state;
	char *reason; /* NULL when attached */
};

/* What lost events can have changed. */
enum loss_reach {
	LOSS_OF_ANYTHING, /* nobody can say */
	LOSS_OF_LEDGERS, /* what is unknown in ledgers, and calls without one; or calls that have no record, whose time is known */
	LOSS_OF_REQUESTS, /* that many of the requests are not in the figures */
};

struct report_lost {
	char *reason;
	uint64_t count;
	uint32_t reach; /* enum loss_reach */
	double at_most; /* what they changed, as a share of the sync calls' time, or of the requests; -1: not bounded */
};

struct report_outstanding;

struct report {
	char *version;

	/* run */
	char *start;	       /* RFC 3339, UTC, seconds */
	uint64_t wall_ns;      /* 0: not known, of a recording that was cut off */
	char **command;	       /* NULL-terminated; NULL when none was wrapped */
	bool arguments_hidden; /* command has but its program's name: see arguments.h */
	bool have_exit_status;
	int exit_status;       /* 128+N when signal N ended it */
	bool stopped;	       /* a signal asked for the end of the run */
	uint64_t left_running; /* processes of the wrapped command that it left behind when it ended, */
	uint32_t left_pid;     /* the one with the lowest number, and its name */
	char left_comm[16];
	uint64_t processes; /* of the wrapped command, forks included */
	uint64_t threads;
	char *kernel, *arch;
	char *filter;  /* "pid 42", "cgroup /x"; NULL: none */
	bool interval; /* this is one interval of a stream */
	bool final;
	double interval_start_s; /* from the run's start */
	uint64_t lost_events;	 /* sum of lost[] */
	struct report_lost *lost;
	size_t n_lost;
	bool incomplete;	/* what was lost can change an answer: see loss_bound.h */
	uint64_t unrecorded;	/* sync calls that are known to have been made, and of which there is no record, */
	uint64_t unrecorded_ns; /* and what they took, at most */
	uint64_t idle_unended; /* calls that began while what ledgers need was not attached, and whose end was not seen */
	char **notes;	       /* NULL-terminated plain sentences that the user should see; or NULL */

	struct report_probe *probe;
	size_t n_probes;
	struct report_device *device;
	size_t n_devices;

	bool have_sync; /* sync calls were traced */
	struct report_sync sync;
	struct report_whatif *whatif;
	size_t n_whatif;
	bool have_verdict;
	struct report_verdict verdict;
	struct report_detail *detail; /* NULL: nobody asked for it */
	uint64_t under_way;	      /* sync calls that had not returned at the end, after a second or more */
	uint64_t under_way_ns;	      /* the oldest's age */
	struct report_outstanding *outstanding; /* those calls, and those of others (outstanding.h); the oldest first */
	size_t n_outstanding;
	/* For calls that were under way when the trace began, on disks that were named: what the look misses (io_uring, AIO, the kernel's own)
	   shows in their requests in flight. Of all disks only those with I/O are in the report. */
	bool looked_before;
	uint64_t began_before,
		began_before_ns; /* calls that began before the trace and returned in it; what the longest took at least */
};

const char *cause_name(enum cause c);	      /* "flush.pre" */
const char *family_name(enum cause_family f); /* "flush" */
const char *cause_help(enum cause c);	      /* "a FLUSH before the commit record was in the device" */
uint64_t ledger_sum(const struct ledger *l);
void ledger_add(struct ledger *to, const struct ledger *from);
uint64_t ledger_family(const struct ledger *l, enum cause_family f);
void call_sums_add(struct call_sums *to, const struct call_sums *calls);
uint64_t volume_wait(const struct volume *v); /* all of wait_ns */
/* Fills in the causes that are not 0, largest first, equal ones in the public order; returns how many. */
size_t ledger_causes(const struct ledger *l, enum cause order[CAUSE_COUNT]);
const char *call_name(unsigned int call); /* enum wire_call: "fdatasync" */

/* The name that stands in every output: "read", "write", ... */
const char *op_row_name(enum op_row row);

/* Which public row a class belongs to. */
enum op_row op_class_row(enum op_class c);
const char *op_class_name(enum op_class c); /* "write barrier" */
const char *op_class_kind(enum op_class c); /* of reads and writes "sync", "async" or "barrier"; else NULL */

/* Completed requests of all classes. */
uint64_t report_device_requests(const struct report_device *d);

/* "1 FLUSH and 2 writes"; nothing where none is known to be in flight. */
struct buf;
void in_flight_words(const struct requests_in_flight *n, struct buf *b);
bool in_flight_any(const struct requests_in_flight *n);

/* What somebody sent to it: requests, with the empty flushes of callers in place of the FLUSHes that served them. */
uint64_t report_device_sent(const struct report_device *d);

/* The time that a class of requests took, in the device where that is known; all classes, those with the most first. */
uint64_t report_device_weight(const struct report_device *d, enum op_class c);
void report_device_by_weight(const struct report_device *d, enum op_class order[OP_CLASSES]);

/* Where no sync call is in a report: one that was made may be among what was lost, or in what a recording lacks. */
bool report_may_lack_calls(const struct report *r);

/* What a report without devices has in their place. All were traced then: where some are named, these are there. */
const char *report_no_devices(const struct report *r);

/* FLUSHes that flush.in_flight is the sum of. */
uint64_t report_device_depths(const struct report_device *d);

/* Adds the classes of a row up into *out, which is cleared first. */
/* One class, with its histograms in full. */
void report_device_op(const struct report_device *d, enum op_class c, struct report_op *out);

void report_device_row(const struct report_device *d, enum op_row row, struct report_op *out);

/* As many FLUSHes as the kernel counted, but for those of its edges. */
bool report_flushes_agree(const struct report_device *d);

/* Whether the kernel's time of as many FLUSHes is that of their `total` here, as far as both are exact. */
bool report_flush_times_agree(const struct report_device *d);

/* "attached", "refused", "absent", "off" */
const char *probe_state_name(enum probe_state s);

/* Events were lost: adds them up by reason. Nothing when count is 0. What they can have changed: see loss_bound(). */
void report_add_lost(struct report *r, uint64_t count, enum loss_reach reach, const char *reason);

const char *heat_class_name(enum heat_class c); /* "flush" */

/* Of a call, `at`, `n_slices` and `summed` are filled in. With sums it gets no slices; without, slices of it may follow. */
void report_detail_add_call(struct report_detail *d, const struct detail_call *c, const struct ledger *sums);
void report_detail_add_slice(struct report_detail *d, const struct detail_slice *s);
void report_detail_add_request(struct report_detail *d, const struct detail_request *q);

/* The slices of a call, in order of time: `left` of them are still to come. */
struct detail_slices {
	const uint8_t *at;
	uint32_t left;
};

struct detail_slices detail_slices(const struct report_detail *d, const struct detail_call *c);
bool detail_next_slice(struct detail_slices *from, struct detail_slice *out);

/* Where a call's time went: the sum of its slices. */
void detail_ledger(const struct report_detail *d, const struct detail_call *c, struct ledger *out);

/* Request i of n_requests. */
void detail_request(const struct report_detail *d, size_t i, struct detail_request *out);

void report_detail_free(struct report_detail *d); /* NULL is fine */

/* Each frees what one owns. */
void report_device_free(struct report_device *d);
void report_group_free(struct report_group *g);

/* Frees everything the report owns and zeroes it. NULL is fine. */
void report_free(struct report *r);
void report_probes_free(struct report_probe *probe, size_t n); /* and the array */

#endif
