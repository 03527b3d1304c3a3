/* SPDX-License-Identifier: GPL-2.0-only */
/* probe_table.h - private to probe/: the table of probes, one row each. */
#ifndef BT_PROBE_PROBE_TABLE_H
#define BT_PROBE_PROBE_TABLE_H

#include "probe/probe.h"

struct probe_row {
	const char *name;		 /* public: `barriertrace probes`, --rung, JSON */
	const char *event;		 /* tracepoint: rungs tp_btf, raw_tp and tp; or NULL */
	const char *group;		 /* of the classic tracepoint of that name: rung tp; or NULL */
	const char *module;		 /* whose tracepoint it is where the kernel itself hasn't got it; or NULL */
	const char *function;		 /* of the kernel: rungs fentry and kprobe; or NULL */
	const char *program[RUNG_COUNT]; /* program of each rung; NULL: there is none */
	bool at_return;			 /* of the function, not at its entry */
	bool later;			 /* attached by probes_trace_functions(); from the start if it is forced */
	enum probe_id stands_in;	 /* wanted, too, where that one is and the kernel hasn't got it; 0: for none */
	bool required;			 /* a run that wants it can't do without it */
	bool begins;	     /* attached behind the others: something begins with it that they follow and end */
	const char *without; /* what is lost when an optional one is missing */
};

extern const struct probe_row probe_table[PROBE_COUNT];
extern const char *const rung_names[RUNG_COUNT];

#endif
