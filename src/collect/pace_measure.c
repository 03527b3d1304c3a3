// SPDX-License-Identifier: GPL-2.0-only
#include "pace_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"

#define ROUNDS	9

/* How long is slept, and how often in a row: short sleeps keep what the ones before them had warmed up. */
static const struct {
	uint64_t ns;
	int times;
} sleeps[PACE_POINTS] = { { 100000, 8 }, { 300000, 8 }, { 1000000, 3 }, { 3000000, 1 }, { 10000000, 1 } };

struct bench {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int ping[2], pong[2];
	pthread_t other;
	uint64_t woken;		/* when the other one ran; handed over by the pipe */
};

static void *answer(void *arg)
{
	struct bench *b = arg;
	char c;

	while (read(b->ping[0], &c, 1) == 1) {
		b->woken = clock_ns();
		if (write(b->pong[1], &c, 1) != 1)
			break;
	}
	return NULL;
}

/* What a process that syncs does in between: a statement, and system calls on a file, here one in memory. */
static bool work(struct bench *b)
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
	ok = ok && sqlite3_step(b->insert) == SQLITE_DONE;
	sqlite3_reset(b->insert);
	return ok;
}

static bool once(struct bench *b, uint64_t sleep_ns, struct pace_point *out)
{
	struct timespec t = { .tv_sec = (time_t)(sleep_ns / 1000000000), .tv_nsec = (long)(sleep_ns % 1000000000) };
	uint64_t from, worked;
	char c = 0;

	while (nanosleep(&t, &t) && errno == EINTR)
		;
	from = clock_ns();
	if (!work(b))
		return false;
	worked = clock_ns();
	if (write(b->ping[1], &c, 1) != 1 || read(b->pong[0], &c, 1) != 1)
		return false;
	*out = (struct pace_point){ .idle_ns = sleep_ns, .work_ns = worked - from, .wake_ns = b->woken - worked };
	return true;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t *v)
{
	qsort(v, ROUNDS, sizeof(*v), by_size);
	return v[ROUNDS / 2];
}

/* All lengths in turn, so that what else the machine does is in all of them. */
static bool measure(struct bench *b, size_t n, struct pace_point *point)
{
	uint64_t worked[PACE_POINTS][ROUNDS], woke[PACE_POINTS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n; i++) {
			for (int k = 0; k < sleeps[i].times; k++)
				if (!once(b, sleeps[i].ns, &point[i]))
					return false;
			worked[i][round] = point[i].work_ns;
			woke[i][round] = point[i].wake_ns;
		}
	}
	for (size_t i = 0; i < n; i++) {
		point[i].work_ns = median(worked[i]);
		point[i].wake_ns = median(woke[i]);
	}
	return true;
}

static bool open_db(struct bench *b)
{
	static const char sql[] = "insert into t values (1, current_timestamp, 'abcdefghijkl')";

	return sqlite3_open(":memory:", &b->db) == SQLITE_OK &&
	       sqlite3_exec(b->db, "create table t (a, b, c)", NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(b->db, sql, -1, &b->insert, NULL) == SQLITE_OK;
}

/* With the pipes open: another task to wake. */
static bool with_other(struct bench *b, size_t n, struct pace_point *point)
{
	bool ok;

	if (pthread_create(&b->other, NULL, answer, b)) {
		close(b->ping[1]);
		return false;
	}
	ok = measure(b, n, point);
	close(b->ping[1]);	/* it ends */
	pthread_join(b->other, NULL);
	return ok;
}

static bool with_pipes(struct bench *b, size_t n, struct pace_point *point)
{
	bool ok;

	if (pipe2(b->ping, O_CLOEXEC))
		return false;
	if (pipe2(b->pong, O_CLOEXEC)) {
		close(b->ping[0]);
		close(b->ping[1]);
		return false;
	}
	ok = with_other(b, n, point);
	close(b->ping[0]);
	close(b->pong[0]);
	close(b->pong[1]);
	return ok;
}

void pace_measure(uint64_t longest, struct pace *p)
{
	struct bench b = { 0 };
	size_t n = 1;

	while (n < PACE_POINTS && sleeps[n - 1].ns < longest)
		n++;
	p->point = xcalloc(n, sizeof(*p->point));
	p->n = open_db(&b) && with_pipes(&b, n, p->point) ? n : 0;
	sqlite3_finalize(b.insert);
	sqlite3_close(b.db);
}
