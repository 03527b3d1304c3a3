/* SPDX-License-Identifier: GPL-2.0-only */
/* run_internal.h - what the files of a run share. Private to them; each uses those that stand above it here. */
#ifndef BT_RUN_RUN_INTERNAL_H
#define BT_RUN_RUN_INTERNAL_H

#include <stdio.h>

#include "probe/request_clocks.h"
#include "probe/kernel_side.h"
#include "host/device_names.h"
#include "host/task_proc.h"
#include "model/run_context.h"
#include "probe/map_sizes.h"
#include "run/run.h"
#include "run/run_loop.h"

/* One thing that is reported: a disk or a partition. */
struct tracked {
	struct target t;
	char name[32]; /* of the report: of all that had or have t.name only the first has just that */
	size_t disk;   /* index in traced_run.disk */
	uint32_t view;
	bool vanished;
	bool succeeded;	  /* what came in its place has been looked at */
	uint64_t from_ns; /* when it was seen to have come; 0: it was there from the start */
	struct report_kernel before, at_step, at_turn, last;
	/* FLUSHes that the kernel counted between its look before that and `before`, or `at_turn`: ours may or may not have them */
	uint64_t edge_flushes, turn_edge_flushes;
};

/* One whole disk whose requests are counted. */
struct disk {
	char name[32];
	struct wire_disk wire;
	struct sizes_disk size; /* what it has */
	uint32_t n_slots;	/* kept for it */
	bool gone;		/* its place may be another's: see wire.diskseq */
};

/* What a report is of. */
enum span { SPAN_RUN, SPAN_INTERVAL, SPAN_FILE, SPANS };

/* Since when the present file of a recording that rotates has been written: what the sums were then. */
struct turn {
	uint64_t start_ns;
	char start_text[32];
	struct wire_run run;
	uint64_t skipped, ends_missed;
	struct heats *heats;
	bool headers_full; /* of the recording's file */
};

/* When programs that few calls need are detached, and for how long they stay once they are attached again. */
struct quiet {
	uint64_t since;	       /* when a call that needs them was last noticed */
	uint64_t changed;      /* when they were last detached or attached; 0: never */
	uint64_t keep_until;   /* stay attached until then, if `calls` */
	uint64_t calls_before; /* wire_run.idle_calls when they were detached */
	bool off;
	bool calls; /* since they were attached again, calls have come */
};

/* What is attached, each besides what stands below it but for the functions of sync calls. The table of architecture.md. */
enum attached_state {
	ATTACHED_ALL,	      /* what ledgers need, sys_enter and sys_exit */
	ATTACHED_BOTH,	      /* and the functions of sync calls: sys_enter can be detached soon */
	ATTACHED_DRAINING,    /* without sys_enter; sys_exit stays until the calls that began before have ended */
	ATTACHED_FUNCTIONS,   /* without both */
	ATTACHED_SETTLING,    /* without what ledgers need, of which some may still run */
	ATTACHED_REQUESTS,    /* the same, some ms later; or a run without ledgers */
	ATTACHED_INSERTS,     /* without issue */
	ATTACHED_COMPLETIONS, /* without insert */
	ATTACHED_STATES
};

struct attached {
	enum attached_state state;
	uint64_t since;		      /* in this state */
	uint64_t ns[ATTACHED_STATES]; /* in each, before */
	struct quiet ledgers, sys_enter;
	uint64_t drop_ns; /* when notes of calls that began in the last pause are to be dropped; 0: they have been */
	struct clocks clocks;	/* do the requests' own do? */
	bool clocks_refused;	/* insert and issue can't be attached any more */
	bool functions_refused; /* sync calls can't be traced at their functions */
};

struct traced_run {
	struct run_opts opts;
	struct run_observer observer;
	struct command cmd;
	struct run_loop loop;
	sigset_t taken, mask_before;
	bool let_go;	    /* nothing is traced any more, and nothing below is there */
	bool last_interval; /* has been reported: the whole has the same sync calls */

	struct probes *probes;
	struct counters *counters;
	struct heats *heats; /* by tracked; NULL before the start */
	struct carry *carry; /* NULL: the recording, if there is one, doesn't rotate */
	struct turn turn;
	struct tracked *tracked;
	size_t n_tracked;
	struct disk *disk;
	size_t n_disks;
	uint32_t views, slots;
	struct sizes sizes; /* of the maps: more views and slots there are not */
	uint64_t start_ns, step_ns;
	char start_text[32];
	struct ring *ring;  /* NULL: sync calls are not traced */
	uint64_t oldest_ns; /* when the first of the calls under way began, as of the reading that goes on */
	struct places places;
	bool description_cut; /* said: the recording's description of the run lacks something */
	int mounts;	      /* mounts_watch() */
	bool places_changed;  /* something was mounted, or a disk came, since they were read */
	uint32_t dev;	      /* of the latest fact that has one */
	uint32_t strange[16];
	size_t n_strange;
	struct kernel_symbol *symbols;
	size_t n_symbols;
	struct addresses *addresses;	 /* for all facts; from then on symbols have numbers */
	struct sync_analysis *sync;	 /* of the run */
	struct sync_analysis *sync_step; /* of the interval; NULL without a stream */
	bool given_back;
	struct attached attached;
	unsigned int not_followed; /* disks that appeared when there was no room left */
	bool looked;		   /* for what was under way when the trace began: */
	struct before *before;	   /* calls; NULL: nobody could look */
	struct disk_look *look;	   /* at what the disks of these had in flight then */
	size_t n_looks;
};

/* ---- run_disks.c ---- */

struct disk *run_disk(struct traced_run *run, uint32_t dev); /* the one there now; NULL: not traced */
/* A disk or a partition gets a view. */
int run_track(struct traced_run *run, const struct target *t, struct err *e);
void run_give_slots(struct traced_run *run, struct disk *d, struct sizes_disk size);
void run_link_stacks(struct traced_run *run);
void run_watch_heat(struct traced_run *run, const struct tracked *k);
void run_note_replaced(const struct traced_run *run, uint64_t start_ns, struct report *r);

/* Once a second or so: disks that came, disks that went, what was mounted, services that began again. */
void run_rescan(struct traced_run *run);

/* ---- run_select.c ---- */

/* Is one of the processes that the filter selects still there, or one of their children? */
bool run_anybody_left(struct traced_run *run);

void run_want_filter(struct probe_want *want, const struct filter *f); /* NULL: everybody counts */

/* Tells the kernel side who counts now: before it starts, and again when it has. */
int run_select(struct traced_run *run, struct err *e);
void run_look_for_groups(struct traced_run *run);
void run_left_running(struct traced_run *run, struct report *r); /* processes of a command that has ended */

/* ---- run_outstanding.c, and run_before.c for it ---- */

/* A call that was under way when the trace began. */
struct began {
	uint32_t pid, tid, call, dev;
	uint64_t start; /* of the task, see struct task_stat */
	struct task_call in;
	uint64_t switches; /* of the task, at the first look; 0: not known */
	char *path;
	uint64_t slept_ns;	    /* up to the first look it had been there for so long, at least */
	uint64_t first_ns, last_ns; /* looks that found it */
	bool other;		    /* the filter, or the wrapped command, leaves it out */
	bool over;
	bool sure; /* the last look found it in the call, and not running, which could be elsewhere */
};

/* Of which file and on which device a task's call is; *path is the caller's, or NULL. */
void run_find_file(uint32_t pid, uint32_t call, const struct task_call *in, char **path, uint32_t *dev);
void run_before_look(struct traced_run *run);
void run_before_tick(struct traced_run *run); /* now and then: are they still? */
const struct began *run_before_calls(const struct traced_run *run, size_t *n);
uint64_t began_ns(const struct began *b); /* for how long it has been under way, at least */
void run_before_returned(struct traced_run *run, enum span span, struct report *r);
void run_before_end(struct traced_run *run);

void run_outstanding_tick(struct traced_run *run);
void run_outstanding_end(struct traced_run *run);
/* Calls that have not returned, into the report; r NULL: none. Returns those whose end was not seen, by the look of it. */
struct calls_under_way run_outstanding_report(struct traced_run *run, enum span span, struct report *r);

/* ---- run_places.c ---- */

const struct device_name *run_place(const struct traced_run *run, uint32_t dev); /* NULL: not known */
/* Do calls on files of this device count (0: of no file)? As in struct calls_wanted; ctx: the run. */
bool run_is_of_run(const void *ctx, uint32_t dev);
void run_places_read(struct traced_run *run);
void run_places_look(struct traced_run *run); /* has something been mounted, or a disk come? */
void run_places_of(struct traced_run *run, const struct wire_head *fact); /* before it is analysed: is its device known? */
void run_places_end(struct traced_run *run);

/* ---- run_open.c ---- */

int run_prepare(struct traced_run *run, struct err *e);		  /* loads everything; nothing runs yet */
int run_follow(struct traced_run *run, pid_t pid, struct err *e); /* the command's first process; before run_attach() */
int run_attach(struct traced_run *run, struct err *e);		  /* and notes the kernel's own counters */
void run_follow_journals(struct traced_run *run);

/* ---- run_wake_sources.c ---- */

void run_wake_sources_tell(struct traced_run *run);   /* whose requests wake us, to the kernel side */
void run_wake_sources_places(struct traced_run *run); /* what is whose is known */
/* True if all file systems are traced, and the calls of some would not wake us, as they are on none of our disks. */
bool run_wake_sources_lacking(const struct traced_run *run);

/* ---- run_attached.c ---- */

void run_attached_start(struct traced_run *run, uint64_t now);
void run_attached_tick(struct traced_run *run);
void run_attached_second(struct traced_run *run);
void run_attached_wake(struct traced_run *run); /* has a call asked for what is detached? */
void run_attached_note(const struct traced_run *run, enum span span, struct report *r);

/* ---- run_context.c ---- */

/* Places and symbols are lent: run_drop_frame() frees the rest. */
void run_make_frame(struct traced_run *run, enum span span, struct frame *f);

/*
 * The kernel's counters into a frame that run_make_frame() made, and beside them ours, of `counts`: as near to each other as can be.
 * By view; the caller's.
 */
struct view_counts *run_take_counts(struct traced_run *run, enum span span, enum span counts, struct frame *f);
void run_drop_frame(struct frame *f);
/* Sync calls so far whose end was not seen. */
uint64_t run_ends_missed(struct traced_run *run);
/* By view; the caller's. Those of a file are those since the last step, which only intervals and turns take, and never both. */
struct view_counts *run_all_counts(struct traced_run *run, enum span span);

/* ---- run_record.c: only with opts.recording ---- */

void run_date(char text[32]);
void run_record_fact(void *ctx, const struct wire_head *record); /* as it is; ctx: the run */
void run_record(struct traced_run *run, const struct wire_head *record);
void run_record_start(struct traced_run *run);
void run_record_places(struct traced_run *run); /* they have changed */
void run_record_end(struct traced_run *run, const struct frame *f, const struct view_counts *v);
void run_save(struct traced_run *run); /* what is recorded so far survives the end of this process */

/* ---- run_report.c ---- */

int run_facts_fd(const struct traced_run *run);		/* readable when many facts wait; -1: there are none */
void run_tick(struct traced_run *run);			/* to be called ten times a second */
void run_let_go(struct traced_run *run);		/* frees all but command and loop; may be called again */
void run_feed(void *ctx, const struct wire_head *fact); /* ctx: the run */
void run_forget(void *ctx, uint64_t began);		/* what no call needs that began then or later */

#endif
