// SPDX-License-Identifier: GPL-2.0-only
#include "run/run_loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/clock.h"

#define TICKS_PER_LOOK 10

/* ---- what runs share ---- */

int trial_wakeups(const sigset_t *signals, int *signal_fd, int *tick_fd, struct err *e)
{
	struct itimerspec every = { .it_interval.tv_nsec = TRIAL_TICK_NS, .it_value.tv_nsec = TRIAL_TICK_NS };

	*signal_fd = signalfd(-1, signals, SFD_CLOEXEC);
	*tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (*signal_fd < 0 || *tick_fd < 0 || timerfd_settime(*tick_fd, 0, &every, NULL))
		return err_set(e, errno, EXIT_FAILED, "cannot set up signals: %s", strerror(errno));
	return 0;
}

bool trial_tick(int tick_fd, struct session *s, uint64_t *ticks)
{
	uint64_t n;

	if (read(tick_fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return false;
	session_tick(s);
	*ticks += n;
	if (*ticks < TICKS_PER_LOOK)
		return false;
	*ticks = 0;
	session_look_around(s);
	return true;
}

int trial_start(struct session *s, struct command *cmd, const struct trial_start *how, struct err *e)
{
	int err = how->command ? command_fork_io(cmd, how->command, how->as_root, &how->io, e) : 0;

	if (err)
		return err;
	/* only now: the command keeps the signals as our caller had them */
	sigprocmask(SIG_BLOCK, how->blocked, NULL);
	/* a full disk or a closed pipe is an error to be told, not the end */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (how->command)
		err = session_follow(s, cmd->pid, e);
	if (!err)
		err = session_start(s, e);
	if (!err && how->command)
		err = command_release(cmd, e);
	return err;
}

/* ---- one trial ---- */

struct running {
	const struct trial_opts *o;
	struct trial *t;
	struct session *s;
	struct command cmd;
	int signals, tick;
	uint64_t ticks, start_ns;
	bool now; /* a second signal came */
};

static void on_signal(struct running *r)
{
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	r->now = r->t->signal;
	r->t->signal = (int)info.ssi_signo;
	/* Ctrl-C reaches the command through the terminal; a signal sent to us alone has to be passed on */
	if (r->cmd.pid && (info.ssi_code <= 0 || r->now))
		kill(r->cmd.pid, (int)info.ssi_signo);
}

static void on_tick(struct running *r)
{
	trial_tick(r->tick, r->s, &r->ticks);
	if (r->o->tick)
		r->o->tick(r->o->ctx);
}

static int wait_ms(const struct running *r)
{
	uint64_t now = clock_ns(), until = clock_after(r->start_ns, r->o->duration_ns);

	if (r->o->command)
		return -1;
	return until <= now ? 0 : (int)((until - now) / 1000000 > 60000 ? 60000 : (until - now + 999999) / 1000000);
}

static bool finished(const struct running *r)
{
	if (r->now || r->t->have_status || (r->t->signal && !r->o->command))
		return true;
	return !r->o->command && clock_ns() >= clock_after(r->start_ns, r->o->duration_ns);
}

static int loop(struct running *r, struct err *e)
{
	while (!finished(r)) {
		struct pollfd p[] = {
			{ .fd = r->signals, .events = POLLIN },
			{ .fd = r->tick, .events = POLLIN },
			{ .fd = r->o->command ? r->cmd.pidfd : -1, .events = POLLIN },
			{ .fd = session_fd(r->s), .events = POLLIN },
		};

		if (poll(p, sizeof(p) / sizeof(p[0]), wait_ms(r)) < 0 && errno != EINTR)
			return err_set(e, errno, EXIT_FAILED, "poll: %s", strerror(errno));
		if (p[2].revents)
			r->t->have_status = !command_wait(&r->cmd, &r->t->status);
		if (p[0].revents)
			on_signal(r);
		if (p[1].revents)
			on_tick(r);
		if (p[3].revents)
			session_drain(r->s);
	}
	r->t->wall_ns = clock_ns() - r->start_ns;
	return 0;
}

static int open_session(struct running *r, struct err *e)
{
	const struct trial_opts *o = r->o;
	struct session_opts so = {
		.targets = o->targets,
		.all = o->all,
		.only_command = o->only_command,
		.detail = o->detail,
		.command = o->command,
	};

	if (o->want)
		so.want = *o->want;
	else
		probe_want_default(&so.want);
	so.want.command = o->command != NULL;
	so.want.ledger = !o->no_ledger;
	return session_open(&so, &r->s, e);
}

static void report(struct running *r)
{
	struct session_facts facts = {
		.command = r->o->command,
		.have_exit_status = r->t->have_status,
		.exit_status = r->t->status,
		.user_ns = r->cmd.user_ns,
	};

	session_report_total(r->s, &facts, &r->t->report);
}

static int run(struct running *r, const sigset_t *blocked, struct err *e)
{
	struct trial_start how = { r->o->command, r->o->io, r->o->as_root, blocked };
	int err = open_session(r, e);

	if (!err)
		err = trial_wakeups(blocked, &r->signals, &r->tick, e);
	if (!err)
		err = trial_start(r->s, &r->cmd, &how, e);
	r->start_ns = clock_ns();
	if (!err)
		err = loop(r, e);
	if (!err)
		report(r);
	return err;
}

/* A signal that came while we ran, after the last look, is heeded too: it is not to end us when it is let through. */
static void close_wakeups(struct running *r)
{
	struct pollfd p = { .fd = r->signals, .events = POLLIN };

	while (r->signals >= 0 && poll(&p, 1, 0) > 0)
		on_signal(r);
	if (r->signals >= 0)
		close(r->signals);
	if (r->tick >= 0)
		close(r->tick);
}

int trial_run(struct trial_opts *o, struct trial *t, struct err *e)
{
	struct running r = {
		.o = o,
		.t = t,
		.signals = -1,
		.tick = -1,
		.cmd = { .pidfd = -1, .go = -1, .failed = -1 },
	};
	sigset_t blocked, before;
	int err;

	memset(t, 0, sizeof(*t));
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	if (o->signals)
		blocked = *o->signals;
	sigprocmask(SIG_BLOCK, NULL, &before);
	err = run(&r, &blocked, e);
	command_abandon(&r.cmd);
	close_wakeups(&r);
	sigprocmask(SIG_SETMASK, &before, NULL);
	session_close(r.s);
	o->targets = (struct targets){ 0 };
	if (err)
		trial_free(t);
	return err;
}

void trial_free(struct trial *t)
{
	report_free(&t->report);
	memset(t, 0, sizeof(*t));
}
