// SPDX-License-Identifier: GPL-2.0-only
#include "spare.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

/* From SCHED_IDLE back needs what raising one's nice value to the present one needs (sched(7)). */
static bool may_return(void)
{
	struct rlimit nice;

	return geteuid() == 0 || (!getrlimit(RLIMIT_NICE, &nice) && nice.rlim_cur >= 20);
}

bool spare_begin(void)
{
	const struct sched_param p = { 0 };

	return sched_getscheduler(0) == SCHED_OTHER && may_return() && !sched_setscheduler(0, SCHED_IDLE, &p);
}

void spare_end(void)
{
	const struct sched_param p = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &p);
}
