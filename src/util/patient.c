// SPDX-License-Identifier: GPL-2.0-only
#include "util/patient.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/clock.h"
#include "util/mem.h"

#define LEFT_MAX 4 /* threads that do not return: each has memory and a stack */

struct errand {
	void (*fn)(void *job), (*drop)(void *job);
	void *job;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool done, left; /* by the thread; by who waited */
};

static unsigned int threads_left; /* atomic */

static void errand_free(struct errand *e)
{
	pthread_cond_destroy(&e->over);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void *go(void *arg)
{
	struct errand *e = arg;
	bool left;

	e->fn(e->job);
	pthread_mutex_lock(&e->lock);
	e->done = true;
	left = e->left;
	pthread_cond_signal(&e->over);
	pthread_mutex_unlock(&e->lock);
	if (!left)
		return NULL;
	e->drop(e->job);
	errand_free(e);
	__atomic_fetch_sub(&threads_left, 1, __ATOMIC_RELAXED);
	return NULL;
}

static struct errand *errand_new(void (*fn)(void *job), void *job, void (*drop)(void *job))
{
	struct errand *e = xcalloc(1, sizeof(*e));
	pthread_condattr_t attr;

	e->fn = fn;
	e->drop = drop;
	e->job = job;
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->over, &attr);
	pthread_condattr_destroy(&attr);
	return e;
}

/* Signals are for the thread that asked. */
static bool begin(struct errand *e, pthread_t *thread)
{
	sigset_t all, before;
	bool good;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	good = !pthread_create(thread, NULL, go, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}

static struct timespec after(unsigned int ms)
{
	uint64_t ns = clock_ns() + ms * 1000000ull;

	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
}

/* False: the thread has it now. */
static bool wait_for(struct errand *e, unsigned int ms)
{
	struct timespec until = after(ms);
	bool done;

	pthread_mutex_lock(&e->lock);
	while (!e->done && pthread_cond_timedwait(&e->over, &e->lock, &until) != ETIMEDOUT)
		;
	done = e->done;
	e->left = !done;
	pthread_mutex_unlock(&e->lock);
	return done;
}

bool patient_run(void (*fn)(void *job), void *job, void (*drop)(void *job), unsigned int ms)
{
	struct errand *e;
	pthread_t thread;

	if (__atomic_load_n(&threads_left, __ATOMIC_RELAXED) >= LEFT_MAX) {
		drop(job);
		return false;
	}
	e = errand_new(fn, job, drop);
	if (!begin(e, &thread)) {
		errand_free(e);
		drop(job);
		return false;
	}
	__atomic_fetch_add(&threads_left, 1, __ATOMIC_RELAXED);
	if (!wait_for(e, ms)) {
		pthread_detach(thread);
		return false;
	}
	pthread_join(thread, NULL);
	errand_free(e);
	__atomic_fetch_sub(&threads_left, 1, __ATOMIC_RELAXED);
	return true;
}

/* ---- files ---- */

#define TEXT_MS 200

struct reading {
	char *path, *text;
	size_t size;
};

static void drop_reading(void *job)
{
	struct reading *r = job;

	free_all(r->path, r->text, r);
}

static void read_text(void *job)
{
	struct reading *r = job;
	FILE *f = fopen(r->path, "re"), *to;
	int c;

	if (!f)
		return;
	to = xmust(open_memstream(&r->text, &r->size));
	while ((c = getc(f)) != EOF)
		putc(c, to);
	fclose(to);
	fclose(f);
}

char *patient_text(const char *path, size_t *size)
{
	struct reading *r = xcalloc(1, sizeof(*r));
	char *text;

	r->path = xstrdup(path);
	if (!patient_run(read_text, r, drop_reading, TEXT_MS))
		return NULL;
	text = r->text;
	*size = r->size;
	r->text = NULL;
	drop_reading(r);
	return text;
}
