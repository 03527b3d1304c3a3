// SPDX-License-Identifier: GPL-2.0-only
#include "host/cpu_warmup_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/mem.h"

#define ROUNDS_MIN  5
#define ROUNDS_KEPT 32	/* of more every second, every fourth .. is kept */
#define PAUSE_MS    200 /* between rounds, at first */
#define STACK_BYTES (256 * 1024)

/* How long is slept, and how often in a row: short sleeps keep what the ones before them had warmed up. */
static const struct {
	uint64_t ns;
	int times;
} sleeps[PACE_POINTS] = { { 100000, 4 }, { 300000, 4 }, { 1000000, 2 }, { 3000000, 1 }, { 10000000, 1 } };

struct pace_meter {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int ping[2], pong[2], stop[2];
	pthread_t other, self;
	bool has_other;
	uint64_t woken; /* when the other one ran; handed over by the pipe */
	uint64_t worked[PACE_POINTS][ROUNDS_KEPT], woke[PACE_POINTS][ROUNDS_KEPT];
	size_t n; /* rounds that are kept */
	int pause_ms;
	bool failed;
};

static void *answer(void *arg)
{
	struct pace_meter *m = arg;
	char c;

	while (read(m->ping[0], &c, 1) == 1) {
		m->woken = clock_ns();
		if (write(m->pong[1], &c, 1) != 1)
			break;
	}
	return NULL;
}

/* What a process that syncs does in between: a statement, and system calls on a file, here one in memory. */
static bool work(struct pace_meter *m)
{
	static const char page[4096];
	int fd = memfd_create("barriertrace", MFD_CLOEXEC);
	bool ok = fd >= 0;
	struct stat st;

	for (int i = 0; ok && i < 4; i++)
		ok = pwrite(fd, page, sizeof(page), i * (off_t)sizeof(page)) == (ssize_t)sizeof(page);
	ok = ok && !fstat(fd, &st) && !ftruncate(fd, 0);
	if (fd >= 0)
		close(fd);
	ok = ok && sqlite3_step(m->insert) == SQLITE_DONE;
	sqlite3_reset(m->insert);
	return ok;
}

static bool once(struct pace_meter *m, uint64_t sleep_ns, struct pace_point *out)
{
	struct timespec t = { .tv_sec = (time_t)(sleep_ns / 1000000000), .tv_nsec = (long)(sleep_ns % 1000000000) };
	uint64_t from, worked;
	char c = 0;

	while (nanosleep(&t, &t) && errno == EINTR)
		;
	from = clock_ns();
	if (!work(m))
		return false;
	worked = clock_ns();
	if (write(m->ping[1], &c, 1) != 1 || read(m->pong[0], &c, 1) != 1)
		return false;
	*out = (struct pace_point){ .work_ns = worked - from, .wake_ns = m->woken - worked };
	return true;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return v[n / 2];
}

/* All lengths in turn, so that what else the machine does is in all of them. */
static bool measure(struct pace_meter *m)
{
	struct pace_point last = { 0 };

	for (size_t i = 0; i < PACE_POINTS; i++) {
		for (int k = 0; k < sleeps[i].times; k++)
			if (!once(m, sleeps[i].ns, &last))
				return false;
		m->worked[i][m->n] = last.work_ns;
		m->woke[i][m->n] = last.wake_ns;
	}
	m->n++;
	return true;
}

/* However long it takes, the rounds are spread over all of it. */
static void thin_out(struct pace_meter *m)
{
	if (m->n < ROUNDS_KEPT)
		return;
	m->n /= 2;
	m->pause_ms *= 2;
	for (size_t i = 0; i < PACE_POINTS; i++)
		for (size_t k = 0; k < m->n; k++) {
			m->worked[i][k] = m->worked[i][2 * k];
			m->woke[i][k] = m->woke[i][2 * k];
		}
}

static void *measure_on(void *arg)
{
	struct pace_meter *m = arg;
	struct pollfd stop = { .fd = m->stop[0] };

	do {
		m->failed = !measure(m);
		thin_out(m);
	} while (!m->failed && poll(&stop, 1, m->pause_ms) == 0);
	return NULL;
}

static bool open_db(struct pace_meter *m)
{
	static const char sql[] = "insert into t values (1, current_timestamp, 'abcdefghijkl')";

	return sqlite3_open(":memory:", &m->db) == SQLITE_OK &&
	       sqlite3_exec(m->db, "create table t (a, b, c)", NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(m->db, sql, -1, &m->insert, NULL) == SQLITE_OK;
}

static bool start_thread(pthread_t *t, void *(*run)(void *), struct pace_meter *m)
{
	pthread_attr_t attr;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	ok = !pthread_attr_setstacksize(&attr, STACK_BYTES) && !pthread_create(t, &attr, run, m);
	pthread_attr_destroy(&attr);
	return ok;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void free_meter(struct pace_meter *m)
{
	close_one(&m->ping[1]); /* the other one ends */
	if (m->has_other)
		pthread_join(m->other, NULL);
	close_one(&m->ping[0]);
	for (int i = 0; i < 2; i++) {
		close_one(&m->pong[i]);
		close_one(&m->stop[i]);
	}
	sqlite3_finalize(m->insert);
	sqlite3_close(m->db);
	free(m);
}

struct pace_meter *pace_meter_start(void)
{
	struct pace_meter *m = xcalloc(1, sizeof(*m));

	m->pause_ms = PAUSE_MS;
	for (int i = 0; i < 2; i++)
		m->ping[i] = m->pong[i] = m->stop[i] = -1;
	if (open_db(m) && !pipe2(m->ping, O_CLOEXEC) && !pipe2(m->pong, O_CLOEXEC) && !pipe2(m->stop, O_CLOEXEC)) {
		m->has_other = start_thread(&m->other, answer, m);
		if (m->has_other && start_thread(&m->self, measure_on, m))
			return m;
	}
	free_meter(m);
	return NULL;
}

static void take(struct pace_meter *m, struct pace *p)
{
	while (!m->failed && m->n < ROUNDS_MIN)
		m->failed = !measure(m);
	if (m->failed)
		return;
	p->n = PACE_POINTS;
	p->point = xcalloc(p->n, sizeof(*p->point));
	for (size_t i = 0; i < p->n; i++)
		p->point[i] = (struct pace_point){
			.idle_ns = sleeps[i].ns,
			.work_ns = median(m->worked[i], m->n),
			.wake_ns = median(m->woke[i], m->n),
		};
}

void pace_meter_end(struct pace_meter *m, struct pace *p)
{
	if (!m)
		return;
	close_one(&m->stop[1]);
	pthread_join(m->self, NULL);
	if (p)
		take(m, p);
	free_meter(m);
}
