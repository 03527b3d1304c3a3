// SPDX-License-Identifier: GPL-2.0-only
/* Until when is waited for what may not return: a clock that stands still, and waits that are over at once. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "util/patient.h"

static struct timespec now, until; /* what the clock says; what was waited for */
static clockid_t asked;		   /* the clock */
static int gate[2], dropped;	   /* a job ends when the gate is closed; atomic */

/* In the place of libc's, as is the next one. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	asked = clock;
	*t = now;
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *t)
{
	(void)cond;
	(void)mutex;
	until = *t;
	return ETIMEDOUT;
}

static void hang(void *job)
{
	while (read(gate[0], job, 1) > 0)
		;
}

static void drop(void *job)
{
	free(job);
	__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
}

int main(void)
{
	static const struct {
		struct timespec now;
		unsigned int ms;
		struct timespec until;
	} rows[] = {
		{ { 100, 0 }, 1000, { 101, 0 } },
		{ { 100, 1 }, 5, { 100, 5000001 } },
		{ { 100, 999000000 }, 1, { 101, 0 } },
		{ { 100, 999999999 }, 2999, { 103, 998999999 } },
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]); /* no more can be left behind */

	if (pipe(gate))
		abort();
	for (size_t i = 0; i < n; i++) {
		now = rows[i].now;
		ok(!patient_run(hang, malloc(1), drop, rows[i].ms) && until.tv_sec == rows[i].until.tv_sec &&
			   until.tv_nsec == rows[i].until.tv_nsec && asked == CLOCK_MONOTONIC,
		   "%u ms after %ld.%09ld s", rows[i].ms, (long)now.tv_sec, now.tv_nsec);
	}
	close(gate[1]);
	for (int i = 0; i < 500 && __atomic_load_n(&dropped, __ATOMIC_RELAXED) < (int)n; i++)
		usleep(10000);
	ok(__atomic_load_n(&dropped, __ATOMIC_RELAXED) == (int)n, "all return");
	close(gate[0]);
	return tap_done();
}
