// SPDX-License-Identifier: GPL-2.0-only
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "analyse/verdict.h"
#include "session.h"

#define TICK_NS		100000000u	/* facts are fetched this often, or earlier when many wait */
#define TICKS_PER_LOOK	10

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int open_signals(sigset_t *blocked, sigset_t *before)
{
	sigemptyset(blocked);
	sigaddset(blocked, SIGINT);
	sigaddset(blocked, SIGTERM);
	sigaddset(blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, blocked, before);
	return signalfd(-1, blocked, SFD_CLOEXEC);
}

/* What came while we ran has been heeded: it is not to end us now. */
static void close_signals(int fd, const sigset_t *before)
{
	struct signalfd_siginfo info;

	while (fd >= 0 && poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0) > 0 && read(fd, &info,
		sizeof(info)) > 0)
		;
	if (fd >= 0)
		close(fd);
	sigprocmask(SIG_SETMASK, before, NULL);
}

static void loop(struct session *s, int signals, uint64_t until)
{
	uint64_t now = clock_ns(), tick = now + TICK_NS;
	unsigned int ticks = 0;

	while (now < until) {
		uint64_t next = tick < until ? tick : until;
		struct pollfd p[] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = session_fd(s), .events = POLLIN },
		};

		poll(p, 2, now < next ? (int)((next - now + 999999) / 1000000) : 0);
		if (p[0].revents)
			return;
		if (p[1].revents)
			session_drain(s);
		now = clock_ns();
		if (now < tick)
			continue;
		tick = now + TICK_NS;
		session_tick(s);
		if (++ticks % TICKS_PER_LOOK == 0)
			session_look_around(s);
	}
}

int watch(struct targets *targets, bool all, uint64_t duration_ns, struct report *r, struct err *e)
{
	struct session_opts o = { .targets = *targets, .all = all };
	struct session_facts facts = { 0 };
	struct session *s = NULL;
	sigset_t blocked, before;
	int err, signals;

	*targets = (struct targets){ 0 };
	probe_want_default(&o.want);
	o.want.ledger = true;
	err = session_open(&o, &s, e);
	if (err)
		return err;
	signals = open_signals(&blocked, &before);
	err = signals < 0 ? err_set(e, errno, EXIT_FAILED, "cannot set up signals: %s",
		strerror(errno)) : session_start(s, e);
	if (!err) {
		loop(s, signals, clock_ns() + duration_ns);
		session_report_total(s, &facts, r);
		verdict_make(r);
	}
	close_signals(signals, &before);
	session_close(s);
	return err;
}
