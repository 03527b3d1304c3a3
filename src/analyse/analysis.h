/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analysis.h - from facts about sync calls, followed tasks and requests to a ledger per call, by the backward walk.
 * Plain C over a stream of records: no kernel, no device, no clock.
 */
#ifndef BT_ANALYSE_ANALYSIS_H
#define BT_ANALYSE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/names.h"
#include "model/report.h"
#include "wire.h"

struct sync_opts {
	uint64_t start_ns; /* of the run, CLOCK_MONOTONIC */
	uint64_t known_ns; /* calls that began earlier get no ledger: some of their facts may not be there */
	const struct kernel_symbol *symbols; /* all arrays are borrowed and have to outlive the analysis */
	size_t n_symbols;
	const struct device_name *devices; /* see sync_learn() */
	size_t n_devices;
	bool only_traced;     /* leave out calls on file systems whose disk isn't traced */
	unsigned int slowest; /* how many of the slowest calls to keep whole */
	bool detail;	      /* keep every call, its slices, and the requests */
	bool interval;	      /* keep nothing for whatif_make(): each report resets */
};

struct sync_analysis;

/* The functions whose addresses are wanted in sync_opts.symbols; ends with NULL. */
extern const char *const sync_symbol_names[];

struct sync_analysis *sync_new(const struct sync_opts *opts);

/* From here on these are the devices: something was mounted, or a disk came. */
void sync_learn(struct sync_analysis *a, const struct device_name *devices, size_t n);

/*
 * One record, in the order of arrival. A record that makes no sense (times out of order, unknown kind) is counted as damaged and
 * passed over; never crashes, whatever the bytes (size is checked against the kind).
 */
void sync_feed(struct sync_analysis *a, const struct wire_head *record);

/* What ended before that time is not asked for by any call still to be fed: it need not be remembered. */
void sync_forget(struct sync_analysis *a, uint64_t until);

/* Everything fed so far, or since the last sync_report() with `reset`. *out is overwritten; owned by the caller's report. */
void sync_report(struct sync_analysis *a, struct report_sync *out, bool reset);

/* Every call so far, for the report; the caller's. NULL without opts.detail, and the second time. */
struct report_detail *sync_take_detail(struct sync_analysis *a);

/* For whatif_make(): every call so far. NULL with opts.interval. Valid until the next sync_feed(). */
struct whatif;
const struct whatif *sync_whatif(const struct sync_analysis *a);

uint64_t sync_damaged(const struct sync_analysis *a);

/* Switches of callers that the kernel counted within their calls, and of which no fact came. */
uint64_t sync_missed_switches(const struct sync_analysis *a);

void sync_free(struct sync_analysis *a); /* NULL is fine */

#endif
