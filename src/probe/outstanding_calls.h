/* SPDX-License-Identifier: GPL-2.0-only */
/* outstanding_calls.h - private to probe/: the sync calls that are under way, by what the kernel side keeps of tasks. */
#ifndef BT_PROBE_OUTSTANDING_CALLS_H
#define BT_PROBE_OUTSTANDING_CALLS_H

#include "probe/probe.h"

struct calls_look {
	uint64_t until;				       /* calls that began before */
	bool (*counts)(const void *ctx, uint32_t dev); /* as in probes_calls_under_way(); NULL: all of them */
	const void *ctx;
	bool ask; /* the system whether their tasks are still in them */
	struct calls_under_way found;
};

/* False: it can't be told. */
bool calls_look(const struct wire_maps *m, struct calls_look *l);

#endif
