/* SPDX-License-Identifier: GPL-2.0-only */
/* other_calls.h - sync calls that were not asked about: how many, how long, and of which processes. */
#ifndef BT_ANALYSE_LEDGER_OTHER_CALLS_H
#define BT_ANALYSE_LEDGER_OTHER_CALLS_H

#include "model/report.h"
#include "wire.h"

#define OTHERS_KEPT 256 /* processes; what gave way to others is the last one's, with pid 0 */

struct other_calls {
	uint64_t count, total_ns;
	struct report_other process[OTHERS_KEPT + 1];
	uint64_t last_ns[OTHERS_KEPT]; /* the end of its last call */
	size_t n;
};

void others_add(struct other_calls *o, const struct wire_sync *s);

/* Into out->others and what goes with it, which is the report's then. */
void others_report(const struct other_calls *o, struct report_sync *out);

#endif
