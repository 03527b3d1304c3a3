// SPDX-License-Identifier: GPL-2.0-only
/* How idleness slows the CPUs down is measured by two threads, until the run is over. */
#include <stdlib.h>

#include "host/cpu_warmup_meter.h"
#include "tap.h"

static bool all_measured(const struct pace *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->point[i].work_ns || !p->point[i].wake_ns || (i && p->point[i].idle_ns <= p->point[i - 1].idle_ns))
			return false;
	return p->n == PACE_POINTS;
}

int main(void)
{
	struct pace_meter *m = pace_meter_start();
	struct pace p = { 0 };

	ok(m != NULL, "it starts");
	pace_meter_end(m, &p);
	ok(all_measured(&p), "a run that ends at once has all points");
	free(p.point);
	m = pace_meter_start();
	ok(m != NULL, "and again");
	pace_meter_end(m, NULL);
	ok(true, "one whose result nobody wants ends as well");
	return tap_done();
}
