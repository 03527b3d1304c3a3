/* SPDX-License-Identifier: GPL-2.0-only */
/* run_internal.h - what the files of a session share. Private to them; each uses those that stand above it here. */
#ifndef BT_RUN_RUN_INTERNAL_H
#define BT_RUN_RUN_INTERNAL_H

#include "probe/request_clocks.h"
#include "probe/counters.h"
#include "host/device_names.h"
#include "model/run_context.h"
#include "probe/map_sizes.h"
#include "run/run.h"

/* One thing that is reported: a disk or a partition. */
struct tracked {
	struct target t;
	uint32_t view;
	bool vanished;
	struct report_kernel before, at_step, at_turn, last;
};

/* One whole disk whose requests are counted. */
struct disk {
	char name[32];
	struct wire_disk wire;
	struct sizes_disk size; /* what it has */
};

/* What a report is of. */
enum span { SPAN_RUN, SPAN_INTERVAL, SPAN_FILE };

/* Since when the present file of a recording that rotates has been written: what the sums were then. */
struct turn {
	uint64_t start_ns;
	char start_text[32];
	struct wire_run run;
	uint64_t skipped, ends_missed;
	struct heats *heats;
};

struct session {
	struct session_opts opts;
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
	uint64_t start_kernel_cpu_ns; /* see cpu_kernel_ns() */
	char start_text[32];
	struct ring *ring;  /* NULL: sync calls are not traced */
	uint64_t oldest_ns; /* when the first of the calls under way began, as of the reading that goes on */
	struct places places;
	struct kernel_symbol *symbols;
	size_t n_symbols;
	struct sync_analysis *sync;	 /* of the run */
	struct sync_analysis *sync_step; /* of the interval; NULL without a stream */
	uint64_t ring_written;		 /* ring_written() at the last tick */
	struct pace_meter *pace;	 /* of the CPUs, once it matters */
	bool given_back;
	struct clocks clocks; /* do the requests' own do? */
	bool clocks_failed;   /* insert and issue can't be attached any more */
	enum wire_clocks clocks_now;
	uint64_t clocks_since_ns, clocks_ns[CLOCKS_KINDS]; /* since when that; for how long each, before */
	unsigned int not_followed;			   /* disks that appeared when there was no room left */
};

/* ---- run_disks.c ---- */

struct disk *session_disk(struct session *s, uint32_t dev); /* NULL: not traced */
uint32_t session_disk_key(const struct disk *d);
/* A disk or a partition gets a view. */
int session_track(struct session *s, const struct target *t, struct err *e);
void session_give_slots(struct session *s, struct disk *d, struct sizes_disk size);
void session_link_stacks(struct session *s);
int session_tell_kernel(struct session *s, const struct disk *d);
void session_watch_heat(struct session *s, const struct tracked *k);

/* ---- run_select.c ---- */

void session_want_filter(struct probe_want *want, const struct filter *f); /* NULL: everybody counts */
/* Tells the kernel side who counts now: before it starts, and again when it has. */
int session_select(struct session *s, struct err *e);
void session_look_for_groups(struct session *s);

/* ---- run_clocks.c ---- */

void session_look_at_clocks(struct session *s);
void session_note_clocks(const struct session *s, struct report *r);

/* ---- run_context.c ---- */

/* Places and symbols are lent: session_drop_frame() frees the rest. */
void session_make_frame(struct session *s, const struct session_facts *facts, enum span span, struct frame *f);
void session_drop_frame(struct frame *f);
/* Sync calls so far whose end was not seen. */
uint64_t session_ends_missed(const struct session *s);
/* By view; the caller's. Those of a file are those since the last step, which only intervals and turns take, and never both. */
struct view_counts *session_all_counts(struct session *s, enum span span);

/* ---- run_record.c: only with opts.recording ---- */

void session_date(char text[32]);
void session_record_fact(void *ctx, const struct wire_head *record); /* as it is; ctx: the session */
void session_record(struct session *s, const struct wire_head *record);
void session_record_start(struct session *s);
void session_record_end(struct session *s, const struct session_facts *facts, const struct frame *f,
			const struct view_counts *v);

/* ---- run.c ---- */

void session_feed(void *ctx, const struct wire_head *fact); /* ctx: the session */
void session_forget(void *ctx, uint64_t began);		    /* what no call needs that began then or later */

#endif
