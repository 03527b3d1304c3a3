// SPDX-License-Identifier: GPL-2.0-only
/* run.c - a run's life: its command, its signals, and what is done when. */
#include "run/run_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/mem.h"

void run_opts_default(struct run_opts *o)
{
	probe_want_default(&o->want);
	o->want.ledger = true;
}

/* ---- what the loop calls ---- */

static int facts_fd(void *ctx)
{
	struct traced_run *run = ctx;

	return run->let_go ? -1 : run_facts_fd(run);
}

static void facts_wait(void *ctx)
{
	run_drain(ctx);
}

static int filter_fd(void *ctx)
{
	struct traced_run *run = ctx;

	return run->let_go || !run->opts.filter ? -1 : run->opts.filter->fd;
}

/* Processes that were asked for by number end the run: the last of them, and of their children. */
static void look_for_selected(void *ctx)
{
	struct traced_run *run = ctx;

	if (run->opts.filter)
		run->loop.end.selected_ended = filter_look(run->opts.filter) && !run_anybody_left(run);
}

static int observer_fd(void *ctx)
{
	struct traced_run *run = ctx;

	return run->let_go || !run->observer.fd ? -1 : run->observer.fd(run->observer.ctx);
}

static void observer_readable(void *ctx)
{
	struct traced_run *run = ctx;

	run->observer.readable(run->observer.ctx);
}

static void tell(const struct traced_run *run, void (*what)(void *ctx))
{
	if (what)
		what(run->observer.ctx);
}

static void on_tick(void *ctx)
{
	struct traced_run *run = ctx;

	if (run->let_go) {
		tell(run, run->observer.waiting);
		return;
	}
	look_for_selected(run);
	run_tick(run);
	tell(run, run->observer.tick);
}

static void on_second(void *ctx)
{
	struct traced_run *run = ctx;

	run_rescan(run);
	run_attached_second(run);
	run_save(run);
	tell(run, run->observer.second);
}

static int on_interval(void *ctx, struct err *e)
{
	struct traced_run *run = ctx;

	return run->observer.interval ? run->observer.interval(run->observer.ctx, e) : 0;
}

static bool on_signal(void *ctx, int sig)
{
	struct traced_run *run = ctx;

	return run->observer.signal && run->observer.signal(run->observer.ctx, sig);
}

static void on_stopping(void *ctx)
{
	struct traced_run *run = ctx;

	tell(run, run->observer.stopping);
}

static const struct run_calls calls = {
	.source = {
		{ filter_fd, look_for_selected },
		{ facts_fd, facts_wait },
		{ observer_fd, observer_readable },
	},
	.tick = on_tick,
	.second = on_second,
	.interval = on_interval,
	.signal = on_signal,
	.stopping = on_stopping,
};

/* ---- its beginning ---- */

static void choose_signals(struct traced_run *run)
{
	sigemptyset(&run->taken);
	sigaddset(&run->taken, SIGINT);
	sigaddset(&run->taken, SIGTERM);
	sigaddset(&run->taken, SIGHUP);
	if (run->opts.signals)
		run->taken = *run->opts.signals;
	run->opts.signals = NULL;
	sigprocmask(SIG_BLOCK, NULL, &run->mask_before);
}

static int take_signals(struct traced_run *run, struct err *e)
{
	run->loop.signals = signalfd(-1, &run->taken, SFD_CLOEXEC);
	if (run->loop.signals < 0)
		return err_set(e, errno, EXIT_FAILED, "cannot set up signals: %s", strerror(errno));
	return 0;
}

/* The command is forked before signals are blocked: it keeps them as our caller had them. */
static int start(struct traced_run *run, struct err *e)
{
	char *const *argv = run->opts.command;
	int err = argv ? command_fork(&run->cmd, argv, run->opts.as_root, &run->opts.io, e) : 0;

	if (err)
		return err;
	sigprocmask(SIG_BLOCK, &run->taken, NULL);
	/* a full disk or a closed pipe is an error to be told, not the end */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argv)
		err = run_follow(run, run->cmd.pid, e);
	if (!err)
		err = run_attach(run, e);
	if (!err && argv)
		err = command_release(&run->cmd, e);
	return err;
}

int run_open(struct run_opts *opts, const struct run_observer *observer, struct traced_run **out, struct err *e)
{
	struct traced_run *run = xcalloc(1, sizeof(*run));
	int err;

	*out = NULL;
	run->opts = *opts;
	run->opts.io.notices = &run->opts.notices;
	memset(&opts->targets, 0, sizeof(opts->targets));
	if (observer)
		run->observer = *observer;
	run->mounts = -1;
	run->cmd = (struct command){ .pidfd = -1, .go = -1, .failed = -1 };
	run->loop = (struct run_loop){ .calls = &calls, .ctx = run, .time = &run_time_real, .cmd = &run->cmd, .signals = -1 };
	choose_signals(run);
	err = run_prepare(run, e);
	if (!err)
		err = take_signals(run, e);
	if (!err)
		err = start(run, e);
	if (err) {
		run_close(run);
		return err;
	}
	run_loop_start(&run->loop, run->opts.interval_ns, run->opts.duration_ns);
	*out = run;
	return 0;
}

/* ---- its end ---- */

int run_until_end(struct traced_run *run, struct err *e)
{
	return run_loop(&run->loop, e);
}

void run_stop(struct traced_run *run, int sig)
{
	run_loop_stop(&run->loop, sig, true);
}

struct run_end run_end(const struct traced_run *run)
{
	return run->loop.end;
}

void run_wait_command(struct traced_run *run)
{
	struct err e;

	run_let_go(run);
	run->loop.only_command = true;
	if (run->cmd.pid)
		run_loop(&run->loop, &e);
}

void run_close(struct traced_run *run)
{
	if (!run)
		return;
	command_abandon(&run->cmd);
	run_let_go(run);
	run_loop_late_signals(&run->loop);
	if (run->loop.signals >= 0)
		close(run->loop.signals);
	sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
	free(run);
}

int run_traced(struct run_opts *opts, const struct run_observer *observer, struct run_result *result, struct err *e)
{
	struct traced_run *run;
	int err = run_open(opts, observer, &run, e);

	memset(result, 0, sizeof(*result));
	if (!err)
		err = run_until_end(run, e);
	if (!err) {
		run_report(run, RUN_WHOLE, &result->report);
		run_loop_late_signals(&run->loop);
		result->end = run->loop.end;
	}
	run_close(run);
	return err;
}

void run_result_free(struct run_result *result)
{
	report_free(&result->report);
	memset(result, 0, sizeof(*result));
}
