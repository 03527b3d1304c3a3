/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_context.h - what a report needs beside counters and facts: the run, the disks, the names. A live run fills it from the
 * system, a replay from the recording; from there on both take the same way, so both make the same report.
 */
#ifndef BT_MODEL_RUN_CONTEXT_H
#define BT_MODEL_RUN_CONTEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "analyse/analysis.h"
#include "util/err.h"
#include "model/scope_counts.h"
#include "model/report.h"

struct frame_device {
	struct report_device facts;	/* what is not measured, and the kernel's own counters */
	uint32_t view;
	uint32_t n_parts;		/* a whole disk: views of its named partitions, to be added up */
	uint32_t part_view[WIRE_MAX_PARTS];
};

struct frame {
	struct report run;		/* everything but devices, sync calls and what follows from them */
	struct frame_device *device;
	size_t n_devices;
	uint32_t views;
	bool all;			/* every disk was traced: those without I/O are left out */
	bool only_command;		/* those that the command did not reach are left out */
	bool ledger;			/* sync calls were traced */
	bool detail;			/* every call is wanted; the caller's wish, no part of a recording */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	uint64_t known_ns;		/* facts from then on are all there; the file of a recording may begin amid calls */
	struct sync_device *place;
	size_t n_places;
	struct sync_symbol *symbol;
	size_t n_symbols;
};

/* How the frame's sync calls are to be analysed. The arrays stay the frame's. */
struct sync_opts frame_sync_opts(const struct frame *f);

/*
 * Makes the report. Moves the frame's strings into it: of the frame only places and symbols are left. `views` holds
 * frame.views counters; `sync` may be NULL.
 */
void frame_report(struct frame *f, const struct view_counts *views, struct sync_analysis *sync, bool interval,
		  struct report *out);

void frame_free(struct frame *f);	/* zeroes it */

/* As JSON, for recordings; strings that are not UTF-8 survive. The result is the caller's. */
json_t *frame_encode(const struct frame *f);

/* -EBADMSG and *e when it isn't a frame; *out is unchanged then. What is missing is not known. */
int frame_decode(const json_t *j, struct frame *out, struct err *e);

#endif
