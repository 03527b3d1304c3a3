// SPDX-License-Identifier: GPL-2.0-only
/* What may not return is waited for no longer than it is worth. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open_files.h"
#include "tap.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/patient.h"

static int gate[2], dropped; /* a job that reads from the gate goes on when it is closed; atomic */

static void hang(void *job)
{
	char c;

	if (read(gate[0], &c, 1) == 0)
		*(int *)job = 2;
}

static void add_one(void *job)
{
	++*(int *)job;
}

static void drop(void *job)
{
	free(job);
	__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
}

static int *number(int n)
{
	int *p = xcalloc(1, sizeof(*p));

	*p = n;
	return p;
}

static int drops(void)
{
	return __atomic_load_n(&dropped, __ATOMIC_RELAXED);
}

static bool all_dropped(int n)
{
	for (int i = 0; i < 500 && drops() < n; i++)
		usleep(10000);
	return drops() == n;
}

static void note_mask(void *job)
{
	pthread_sigmask(SIG_BLOCK, NULL, job);
}

/* Signals come to who asks. */
static void test_signals(void)
{
	sigset_t *there = xcalloc(1, sizeof(*there)), before, after;
	bool same = true;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	ok(patient_run(note_mask, there, drop, 5000) && sigismember(there, SIGTERM) == 1 &&
		   sigismember(there, SIGINT) == 1 && sigismember(there, SIGCHLD) == 1,
	   "the thread gets no signals");
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int sig = 1; sig < 32; sig++)
		same = same && sigismember(&before, sig) == sigismember(&after, sig);
	ok(same, "who asks gets those of before");
	free(there);
}

static void test_run(void)
{
	uint64_t began = clock_ns();
	int *n = number(6);

	ok(patient_run(add_one, n, drop, 5000) && *n == 7 && clock_ns() - began < 4000000000ull,
	   "what is quick is waited for");
	free(n);
	n = number(0);
	for (int i = 0; i < 10; i++)
		patient_run(add_one, n, drop, 5000);
	ok(*n == 10 && !drops(), "time and again");
	free(n);
	began = clock_ns();
	ok(!patient_run(hang, number(1), drop, 999) && !drops() && clock_ns() - began >= 999000000,
	   "what hangs is left behind, with its job, when it is time");
	for (int i = 0; i < 3; i++)
		patient_run(hang, number(1), drop, 1);
	ok(!drops() && !patient_run(add_one, number(1), drop, 1000) && drops() == 1, "of those there are not many");
	close(gate[1]);
	ok(all_dropped(5), "who returns drops its job");
	for (int i = 0; i < 500; i++) {
		n = number(6);
		if (patient_run(add_one, n, drop, 5000))
			break;
		n = NULL;
		usleep(10000);
	}
	ok(n && *n == 7, "and then there is room again");
	free(n);
}

static void test_text(void)
{
	char path[] = "/tmp/barriertrace_test.XXXXXX";
	int fd = mkstemp(path), before = open_files();
	bool closed = false;
	size_t size = 0;
	char *text;

	ok(fd >= 0 && write(fd, "a\0b", 3) == 3, "a file");
	text = patient_text(path, &size);
	ok(text && size == 3 && !memcmp(text, "a\0b", 4) && open_files() == before,
	   "is read whole, ends with a NUL, and is closed");
	free(text);
	close(fd);
	unlink(path);
	ok(!patient_text(path, &size), "none is none");
	ok(!mkfifo(path, 0600) && !patient_text(path, &size), "one that nobody writes to is given up");
	before = open_files();
	fd = open(path, O_WRONLY);
	ok(fd >= 0 && write(fd, "late", 4) == 4 && !close(fd), "a writer comes too late");
	for (int i = 0; i < 500 && !closed; i++) {
		usleep(10000);
		closed = open_files() == before;
	}
	ok(closed, "the late text is discarded and the file closed");
	unlink(path);
}

int main(void)
{
	if (pipe(gate))
		return 1;
	test_signals();
	test_run();
	test_text();
	return tap_done();
}
