// SPDX-License-Identifier: GPL-2.0-only
/*
 * The meter's rounds, by a clock that is made up: which are kept, for how long is slept, and what a failure leaves. The functions
 * below stand in for the C library's; test_cpu_warmup.c measures this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/cpu_warmup_meter.h"
#include "open_files.h"
#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SLEEPS	     12 /* of one round */
#define ROUNDS_MOST  100

/* How long is slept in a round, in this order; what is measured after the last one of each length counts. */
static const uint64_t sleep_ns[SLEEPS] = { 100000, 100000, 100000,  100000,  300000,  300000,
					   300000, 300000, 1000000, 1000000, 3000000, 10000000 };
static const int point_of[SLEEPS] = { -1, -1, -1, 0, -1, -1, -1, 1, -1, 2, 3, 4 };

static const uint64_t idle_ns[PACE_POINTS] = { 100000, 300000, 1000000, 3000000, 10000000 };

/* What happens, and what is to go wrong. */
static struct {
	int rounds; /* that the meter's own thread makes before it is ended */
	int polls, sleeps, other_sleeps, wrong_sleeps, works, writes, wrong_writes, looks; /* counted */
	int pause[ROUNDS_MOST];
	int interrupted;	  /* this sleep is */
	int bad_work;		  /* this work fails .. */
	const char *by;		  /* .. in this function */
	int bad_pipe, bad_thread; /* counted down to the one that can't be had */
	uint64_t now;
} world;

static sem_t enough;

/* In even rounds much more than in odd ones: it matters which are kept. In each point another one. */
static uint64_t measured(int round, int point)
{
	return (uint64_t)(10 * ((round % 2 ? 0 : 1000) + round) + point + 1);
}

/* ---- the C library's ---- */

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (world.interrupted && world.sleeps + 1 == world.interrupted) {
		world.interrupted = 0;
		*left = (struct timespec){ .tv_nsec = 77 };
		errno = EINTR;
		return -1;
	}
	if (t->tv_nsec == 77)
		world.other_sleeps++;
	else if (t->tv_sec || (uint64_t)t->tv_nsec != sleep_ns[world.sleeps % SLEEPS])
		world.wrong_sleeps++;
	world.sleeps++;
	world.looks = 0;
	return 0;
}

/* After each sleep the clock is read when the work begins, when it ends, and when the other thread has been woken. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int last = world.sleeps - 1, point = last < 0 ? -1 : point_of[last % SLEEPS];
	uint64_t work = point < 0 ? 5000000 : measured(last / SLEEPS, point);

	(void)clock;
	world.now += world.looks == 1 ? work : world.looks == 2 ? 2 * work : 1000;
	world.looks++;
	*t = (struct timespec){ .tv_sec = (time_t)(world.now / 1000000000), .tv_nsec = (long)(world.now % 1000000000) };
	return 0;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (n != 1)
		world.wrong_sleeps++;
	if (world.polls < ROUNDS_MOST)
		world.pause[world.polls] = timeout;
	if (++world.polls < world.rounds)
		return 0;
	sem_post(&enough);
	return (int)syscall(SYS_ppoll, fds, n, NULL, NULL, 0); /* until it is ended */
}

static bool fails(const char *function)
{
	return world.works == world.bad_work && !strcmp(world.by, function);
}

int memfd_create(const char *name, unsigned int flags)
{
	world.works++;
	if (fails("memfd_create")) {
		sem_post(&enough);
		return -1;
	}
	return (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	if (n != 4096 || at != world.writes % 4 * 4096)
		world.wrong_writes++;
	world.writes++;
	if (fails("pwrite")) {
		sem_post(&enough);
		return (ssize_t)n - 1;
	}
	return syscall(SYS_pwrite64, fd, data, n, at);
}

int ftruncate(int fd, off_t size)
{
	if (fails("ftruncate") || size) {
		sem_post(&enough);
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

int pipe2(int fd[2], int flags)
{
	return world.bad_pipe && !--world.bad_pipe ? -1 : (int)syscall(SYS_pipe2, fd, flags);
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
	(void)attr;
	(void)size; /* the sanitizers need a larger one */
	return world.bad_thread && !--world.bad_thread ? EINVAL : 0;
}

/* ---- checks ---- */

static void begin(int rounds)
{
	memset(&world, 0, sizeof(world));
	world.rounds = rounds;
	sem_init(&enough, 0, 0);
}

/* Is each point the median of what was measured in `round`? */
static bool is_round(const struct pace *p, int round)
{
	bool good = p->n == PACE_POINTS;

	for (int i = 0; good && i < PACE_POINTS; i++) {
		const struct pace_point *at = &p->point[i];

		good = at->idle_ns == idle_ns[i] && at->work_ns == measured(round, i) &&
		       at->wake_ns == 2 * measured(round, i);
		if (!good)
			diag("point %d: %" PRIu64 " ns of work, %" PRIu64 " of waking, not %" PRIu64, i, at->work_ns,
			     at->wake_ns, measured(round, i));
	}
	return good;
}

/* Of n values in ascending order the median is the one with number n / 2, counted from 0. */
static void test_rounds(void)
{
	static const struct {
		int made, all, median; /* rounds of its own, with those after its end, and which round's values are in the middle */
	} rows[] = {
		{ 1, 5, 0 },				     /* 1 3 | 0 2 4 */
		{ 4, 5, 0 },	{ 5, 5, 0 },	{ 6, 6, 0 }, /* 1 3 5 | 0 2 4 */
		{ 31, 31, 0 },				     /* 15 odd ones before 16 even ones */
		{ 32, 32, 16 },				     /* the 16 even ones are kept */
		{ 33, 33, 16 }, { 36, 36, 16 },		     /* 33 35 | 0 2 .. 34: number 10 of 20 */
		{ 47, 47, 16 },				     /* 33 35 .. 45 | 0 2 .. 46: number 15 of 31 */
		{ 48, 48, 32 },				     /* 0 4 .. 28, 32 34 .. 46: number 8 of 16 */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pace_meter *m;
		struct pace p = { 0 };
		bool in_order = true;

		begin(rows[i].made);
		m = pace_meter_start();
		sem_wait(&enough);
		pace_meter_end(m, &p);
		ok(world.sleeps == SLEEPS * rows[i].all && !world.wrong_sleeps && world.works == world.sleeps &&
			   world.writes == 4 * world.works && !world.wrong_writes,
		   "%d rounds before the end are %d in all", rows[i].made, rows[i].all);
		ok(is_round(&p, rows[i].median), "the median is that of round %d", rows[i].median);
		for (int k = 0; k < world.polls; k++)
			in_order = in_order && world.pause[k] == (k < 31 ? 200 : k < 47 ? 400 : 800);
		ok(world.polls == rows[i].made && in_order, "the pauses become longer when rounds are thinned out");
		free(p.point);
	}
}

static void test_interrupted(void)
{
	struct pace_meter *m;
	struct pace p = { 0 };

	begin(5);
	world.interrupted = 3;
	m = pace_meter_start();
	sem_wait(&enough);
	pace_meter_end(m, &p);
	ok(world.other_sleeps == 1 && !world.wrong_sleeps && world.sleeps == 5 * SLEEPS,
	   "a sleep that is interrupted goes on");
	ok(is_round(&p, 0), "and counts as one");
	free(p.point);
}

static void test_failures(void)
{
	static const struct {
		const char *by;
		int at;
	} rows[] = {
		{ "memfd_create", 1 }, { "pwrite", 1 },	    { "ftruncate", 1 }, { "memfd_create", 20 },
		{ "pwrite", 59 },      { "ftruncate", 60 }, /* in the rounds that make up for a short run */
	};
	int before = open_files();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pace_meter *m;
		struct pace p = { 0 };

		begin(1);
		world.bad_work = rows[i].at;
		world.by = rows[i].by;
		m = pace_meter_start();
		sem_wait(&enough);
		pace_meter_end(m, &p);
		ok(!p.n && !p.point && world.works == rows[i].at, "%s fails in work %d: nothing was measured",
		   rows[i].by, rows[i].at);
	}
	ok(open_files() == before, "and no descriptor is left");
}

static void test_no_start(void)
{
	int before = open_files();

	for (int i = 1; i <= 3; i++) {
		begin(1);
		world.bad_pipe = i;
		ok(!pace_meter_start() && !world.bad_pipe, "it doesn't start without its pipe %d", i);
	}
	for (int i = 1; i <= 2; i++) {
		begin(1);
		world.bad_thread = i;
		ok(!pace_meter_start() && !world.bad_thread && !world.works, "nor without its thread %d", i);
	}
	ok(open_files() == before, "no descriptor is left");
	pace_meter_end(NULL, NULL);
	pace_meter_end(NULL, &(struct pace){ 0 });
	ok(true, "what didn't start can be ended");
}

static void test_not_wanted(const char *prefix)
{
	struct pace_meter *m;
	int before = open_files();

	begin(1);
	m = pace_meter_start();
	sem_wait(&enough);
	pace_meter_end(m, NULL);
	ok(world.sleeps == SLEEPS, "%snothing more is measured when nobody wants it", prefix);
	ok(open_files() == before, "%sall is closed", prefix);
}

static void test_without_input(void)
{
	int in = close_input();

	test_not_wanted("without standard input: ");
	ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "descriptor 0 is closed again");
	restore_input(in);
}

int main(void)
{
	test_rounds();
	test_interrupted();
	test_failures();
	test_no_start();
	test_not_wanted("");
	test_without_input();
	return tap_done();
}
