/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analysis_internal.h - what analysis.c adds up and analysis_report.c tells. Private to them. Everything below struct totals starts afresh
 * with each interval; names of files, sleeps and requests stay.
 */
#ifndef BT_ANALYSE_ANALYSIS_INTERNAL_H
#define BT_ANALYSE_ANALYSIS_INTERNAL_H

#include "analyse/ledger/call_recorder.h"
#include "analyse/ledger/device_table.h"
#include "analyse/ledger/call_groups.h"
#include "model/heat_map.h"
#include "model/histogram.h"
#include "analyse/ledger/file_names.h"
#include "analyse/ledger/folded_stacks.h"
#include "analyse/ledger/other_calls.h"
#include "analyse/ledger/slowest_calls.h"
#include "analyse/ledger/tail.h"
#include "analyse/analysis.h"
#include "analyse/ledger/timeline.h"
#include "analyse/ledger/walk.h"
#include "analyse/whatif/whatif.h"

struct totals {
	struct call_sums sample[CALL_SAMPLES]; /* of all calls: see struct report_sync */
	uint64_t count, calls[CALL_COUNT], no_ledger, no_ledger_ns, without[NO_LEDGER_REASONS], dropped_ns;
	uint64_t flush_own_ns, flush_foreign_ns, busy_in_flight, busy_flushes, elsewhere, elsewhere_ns;
	struct hist latency;
};

struct sync_analysis {
	struct sync_opts opts;
	struct devices devices;
	const struct device_name *device; /* that was looked for last; NULL: none, or it is not known */
	struct timeline *tl;
	struct walk *walk;
	struct whatif *whatif; /* NULL: of an interval none is made */
	uint64_t damaged;
	uint64_t epoch; /* steps when groups are thrown away */
	struct inodes inodes;

	struct totals totals;
	struct groups processes, files;
	struct leaves leaves;
	struct slowest slowest;
	struct tail tail;
	struct heat heat; /* of the calls */
	struct other_calls others;
	struct detail *detail; /* NULL: not wanted */
};

#endif
