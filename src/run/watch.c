// SPDX-License-Identifier: GPL-2.0-only
#include "run/watch.h"

#include "run/run_loop.h"

int watch(struct targets *targets, bool all, uint64_t duration_ns, struct report *r, struct err *e)
{
	struct trial_opts o = { .targets = *targets, .all = all, .duration_ns = duration_ns };
	struct trial t;
	int err;

	*targets = (struct targets){ 0 };
	err = trial_run(&o, &t, e);
	if (!err)
		*r = t.report;
	return err;
}
