// SPDX-License-Identifier: GPL-2.0-only
#include "run/run_loop.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

#define SECOND_NS 1000000000u

static int wait_real(struct pollfd *p, nfds_t n, uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS) };

	return ppoll(p, n, ns == UINT64_MAX ? NULL : &ts, NULL);
}

const struct run_time run_time_real = { clock_ns, wait_real };

/* ---- timers ---- */

static struct run_timer timer(uint64_t now, uint64_t every)
{
	return (struct run_timer){ every, every ? clock_after(now, every) : UINT64_MAX };
}

/* None is made up for those that we slept through. */
static bool timer_due(struct run_timer *t, uint64_t now)
{
	if (now < t->next)
		return false;
	t->next = clock_after(t->next, ((now - t->next) / t->every + 1) * t->every);
	return true;
}

void run_loop_start(struct run_loop *l, uint64_t interval_ns, uint64_t duration_ns)
{
	l->start_ns = l->time->now();
	l->duration_ns = duration_ns;
	l->tick = timer(l->start_ns, RUN_TICK_NS);
	l->second = timer(l->start_ns, SECOND_NS);
	l->interval = timer(l->start_ns, interval_ns);
}

static uint64_t end_ns(const struct run_loop *l)
{
	return l->duration_ns && !l->only_command ? clock_after(l->start_ns, l->duration_ns) : UINT64_MAX;
}

static uint64_t ns_to_wait(const struct run_loop *l)
{
	const uint64_t next[] = { l->tick.next, l->second.next, l->interval.next, end_ns(l) };
	size_t n = l->only_command ? 1 : sizeof(next) / sizeof(next[0]);
	uint64_t now = l->time->now(), first = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (next[i] < first)
			first = next[i];
	return first == UINT64_MAX ? first : first > now ? first - now : 0;
}

/* ---- signals ---- */

void run_loop_stop(struct run_loop *l, int sig, bool pass_on)
{
	l->end.now = l->end.signal;
	l->end.signal = sig;
	if (l->cmd->pid && !l->end.have_status && (pass_on || l->end.now))
		kill(l->cmd->pid, sig);
	l->calls->stopping(l->ctx);
}

static void on_signal(struct run_loop *l)
{
	struct signalfd_siginfo info;

	if (read(l->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	/* Ctrl-C reaches the command through the terminal; a signal sent to us alone has to be passed on */
	if (!l->calls->signal(l->ctx, (int)info.ssi_signo))
		run_loop_stop(l, (int)info.ssi_signo, info.ssi_code <= 0);
}

void run_loop_late_signals(struct run_loop *l)
{
	struct pollfd p = { .fd = l->signals, .events = POLLIN };

	while (l->signals >= 0 && poll(&p, 1, 0) > 0)
		on_signal(l);
}

/* ---- the loop ---- */

bool run_loop_over(const struct run_loop *l)
{
	if (l->end.now || l->end.have_status)
		return true;
	if (l->only_command)
		return false;
	return l->end.selected_ended || (l->end.signal && !l->cmd->pid) || l->time->now() >= end_ns(l);
}

static int serve_timers(struct run_loop *l, struct err *e)
{
	uint64_t now = l->time->now();

	if (timer_due(&l->tick, now))
		l->calls->tick(l->ctx);
	if (l->only_command)
		return 0;
	if (timer_due(&l->second, now))
		l->calls->second(l->ctx);
	return timer_due(&l->interval, now) && !run_loop_over(l) ? l->calls->interval(l->ctx, e) : 0;
}

static int turn(struct run_loop *l, struct err *e)
{
	struct pollfd p[2 + RUN_SOURCES] = {
		{ .fd = l->signals, .events = POLLIN },
		{ .fd = l->cmd->pid ? l->cmd->pidfd : -1, .events = POLLIN },
	};

	for (int i = 0; i < RUN_SOURCES; i++)
		p[2 + i] = (struct pollfd){ .fd = l->only_command ? -1 : l->calls->source[i].fd(l->ctx), .events = POLLIN };
	if (l->time->wait(p, 2 + RUN_SOURCES, ns_to_wait(l)) < 0 && errno != EINTR)
		return err_set(e, errno, EXIT_FAILED, "poll: %s", strerror(errno));
	if (p[0].revents)
		on_signal(l);
	if (p[1].revents)
		l->end.have_status = !command_wait(l->cmd, &l->end.status);
	for (int i = 0; i < RUN_SOURCES; i++)
		if (p[2 + i].revents)
			l->calls->source[i].ready(l->ctx);
	return serve_timers(l, e);
}

int run_loop(struct run_loop *l, struct err *e)
{
	int err = 0;

	while (!err && !run_loop_over(l))
		err = turn(l, e);
	l->end.wall_ns = l->time->now() - l->start_ns;
	return err;
}
