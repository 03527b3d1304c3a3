// SPDX-License-Identifier: GPL-2.0-only
/*
 * patient_run(): its deadline, and who drops the job. The clock stands still, waits end at once, threads start when the test
 * says so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"
#include "util/patient.h"

#define MOST 4 /* that are left behind */

static struct timespec now, until; /* what the clock says; what was waited for */
static clockid_t asked;		   /* the clock */
static pthread_mutex_t *lock;	   /* of the last one that was waited for */
static bool all_held = true;	   /* whenever it has to be */
static int dropped, joined, detached;

static enum { AT_ONCE, LATER, NEVER } begins; /* NEVER: there is no thread to be had */

static struct {
	void *(*fn)(void *arg);
	void *arg;
	pthread_mutex_t *lock;
} later[MOST];
static int n_later;

/* ---- in the place of libc's ---- */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	asked = clock;
	*t = now;
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *t)
{
	(void)cond;
	until = *t;
	later[n_later - 1].lock = mutex;
	all_held = all_held && pthread_mutex_trylock(mutex) == EBUSY;
	return ETIMEDOUT;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	(void)cond;
	all_held = all_held && (!lock || pthread_mutex_trylock(lock) == EBUSY);
	return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	(void)attr;
	*thread = pthread_self();
	if (begins == NEVER)
		return EAGAIN;
	if (begins == AT_ONCE) {
		fn(arg);
		return 0;
	}
	later[n_later].fn = fn;
	later[n_later++].arg = arg;
	return 0;
}

int pthread_join(pthread_t thread, void **ret)
{
	(void)thread;
	(void)ret;
	joined++;
	return 0;
}

int pthread_detach(pthread_t thread)
{
	(void)thread;
	detached++;
	return 0;
}

/* ---- tests ---- */

static void add_one(void *job)
{
	++*(int *)job;
}

static void drop(void *job)
{
	dropped += 1 + *(int *)job;
	free(job);
}

static int *none(void)
{
	return calloc(1, sizeof(int));
}

static void test_until(void)
{
	static const struct {
		struct timespec now;
		unsigned int ms;
		struct timespec until;
	} rows[MOST] = {
		{ { 100, 0 }, 1000, { 101, 0 } },
		{ { 100, 1 }, 5, { 100, 5000001 } },
		{ { 100, 999000000 }, 1, { 101, 0 } },
		{ { 100, 999999999 }, 2999, { 103, 998999999 } },
	};

	begins = LATER;
	for (int i = 0; i < MOST; i++) {
		now = rows[i].now;
		ok(!patient_run(add_one, none(), drop, rows[i].ms) && until.tv_sec == rows[i].until.tv_sec &&
			   until.tv_nsec == rows[i].until.tv_nsec && asked == CLOCK_MONOTONIC,
		   "%u ms after %ld.%09ld s", rows[i].ms, (long)now.tv_sec, now.tv_nsec);
	}
	ok(!dropped && !joined && detached == MOST, "what is not done by then is left behind");
}

static void test_left(void)
{
	begins = AT_ONCE;
	ok(!patient_run(add_one, none(), drop, 1) && dropped == 1 && !joined, "another one is dropped before it is begun");
	dropped = 0;
	for (int i = 0; i < MOST; i++) {
		lock = later[i].lock;
		later[i].fn(later[i].arg);
	}
	lock = NULL;
	ok(dropped == 2 * MOST, "what returns has been done, and is dropped then");
	ok(all_held, "and nobody looks at it without its lock");
}

static void test_done(void)
{
	int *job = none();

	begins = AT_ONCE;
	dropped = joined = 0;
	for (int i = 0; i < 2 * MOST; i++)
		patient_run(add_one, job, drop, 1);
	ok(*job == 2 * MOST && joined == 2 * MOST && !dropped, "what is done is the caller's again, and leaves its place");
	free(job);
}

static void test_no_thread(void)
{
	sigset_t before, after;
	bool same = true;

	begins = NEVER;
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	for (int i = 0; i < 2 * MOST; i++)
		same = same && !patient_run(add_one, none(), drop, 1);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	ok(same && dropped == 2 * MOST, "without a thread it is dropped before it is begun");
	for (int sig = 1; sig < 32; sig++)
		same = same && sigismember(&before, sig) == sigismember(&after, sig);
	ok(same, "and signals come as before");
}

int main(void)
{
	test_until();
	test_left();
	test_done();
	test_no_thread();
	test_done();
	return tap_done();
}
