/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_context.h - what a report needs beside counters and facts: the run, the disks, the names. A live run fills it from the
 * system, a replay from the recording; from there on both take the same way, so both make the same report.
 */
#ifndef BT_MODEL_RUN_CONTEXT_H
#define BT_MODEL_RUN_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/names.h"
#include "model/report.h"
#include "wire.h"

struct frame_device {
	struct report_device facts; /* what is not measured, and the kernel's own counters */
	uint32_t view;
	uint32_t n_parts; /* a whole disk: views of its named partitions, to be added up */
	uint32_t part_view[WIRE_MAX_PARTS];
};

struct frame {
	struct report run; /* everything but devices, sync calls and what follows from them */
	struct frame_device *device;
	size_t n_devices;
	uint32_t views;
	bool all;	   /* every disk was traced: those without I/O are left out */
	bool only_command; /* those that the command did not reach are left out */
	bool ledger;	   /* sync calls were traced */
	bool damaged;	   /* a recording that is not whole: calls may be missing; no part of one */
	bool detail;	   /* every call is wanted; the caller's wish, no part of a recording */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t known_ns; /* facts from then on are all there; the file of a recording may begin amid calls */
	struct device_name *place;
	size_t n_places;
	struct kernel_symbol *symbol;
	size_t n_symbols;
};

void frame_free(struct frame *f); /* zeroes it */

#endif
