// SPDX-License-Identifier: GPL-2.0-only
/* The one loop: what it waits for comes through pipes, and time is ours. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run_loop.h"
#include "tap.h"

#define MS     1000000ull
#define SECOND 1000000000ull

enum { FILTER, FACTS, KEYBOARD };

/* One run: its pipes, and what it was told. */
static struct {
	struct run_loop loop;
	struct command cmd;
	int pipe[RUN_SOURCES][2], signals[2];
	unsigned int ready[RUN_SOURCES], ticks, seconds, intervals, others, stopping, waits;
	uint64_t last_interval;
	bool reads; /* what comes through a pipe is taken out of it */
	uint64_t interval_takes, facts_take;
	int interval_fails, interval_signal;
	int quit; /* by the keyboard: the signal that `q` stands for */
} t;

static uint64_t time_ns;
static bool interrupted; /* the next waiting is */

static uint64_t now(void)
{
	return time_ns;
}

/* Time goes on when nothing else does, and a little when something does. */
static int wait_fake(struct pollfd *p, nfds_t n, uint64_t ns)
{
	int some = poll(p, n, 0);

	t.waits++;
	if (interrupted) {
		interrupted = false;
		errno = EINTR;
		return -1;
	}
	if (!some && ns == UINT64_MAX) /* only a child's end can end this */
		some = poll(p, n, 5000);
	else if (!some)
		time_ns += ns;
	else
		time_ns += 10 * MS;
	return some;
}

static const struct run_time fake = { now, wait_fake };

static int fd_of(int i)
{
	return t.pipe[i][0] ? t.pipe[i][0] : -1;
}

#define FD_OF(name, source) \
	static int name(void *ctx __attribute__((unused))) \
	{ \
		return fd_of(source); \
	}

FD_OF(filter_fd, FILTER)
FD_OF(facts_fd, FACTS)
FD_OF(keyboard_fd, KEYBOARD)

static void take(int i)
{
	char c;

	t.ready[i]++;
	if (t.reads && read(t.pipe[i][0], &c, 1) != 1)
		ok(false, "source %d has something", i);
}

static void filter_ready(void *ctx)
{
	(void)ctx;
	take(FILTER);
	t.loop.end.selected_ended = true;
}

static void facts_ready(void *ctx)
{
	(void)ctx;
	take(FACTS);
	time_ns += t.facts_take;
}

static void key_pressed(void *ctx)
{
	(void)ctx;
	take(KEYBOARD);
	if (t.quit)
		run_loop_stop(&t.loop, t.quit, true);
}

#define COUNTS(name, counter) \
	static void name(void *ctx __attribute__((unused))) \
	{ \
		t.counter++; \
	}

COUNTS(tick, ticks)
COUNTS(second, seconds)
COUNTS(stopping, stopping)

/* As the kernel tells it: of the terminal for all of its processes, or of somebody for us alone. */
static void send(int sig, bool alone)
{
	struct signalfd_siginfo info = { .ssi_signo = (uint32_t)sig, .ssi_code = alone ? SI_USER : SI_KERNEL };

	if (write(t.signals[1], &info, sizeof(info)) != sizeof(info))
		abort();
}

static int interval(void *ctx, struct err *e)
{
	(void)ctx;
	t.intervals++;
	t.last_interval = time_ns;
	time_ns += t.interval_takes;
	if (t.interval_signal)
		send(t.interval_signal, true);
	return t.interval_fails ? err_set(e, t.interval_fails, EXIT_FAILED, "no room") : 0;
}

static bool signal_is_other(void *ctx, int sig)
{
	(void)ctx;
	t.others += sig == SIGWINCH;
	return sig == SIGWINCH;
}

static const struct run_calls calls = {
	.source = { { filter_fd, filter_ready }, { facts_fd, facts_ready }, { keyboard_fd, key_pressed } },
	.tick = tick,
	.second = second,
	.interval = interval,
	.signal = signal_is_other,
	.stopping = stopping,
};

static void new_run(uint64_t interval_ns, uint64_t duration_ns)
{
	memset(&t, 0, sizeof(t));
	t.reads = true;
	t.cmd = (struct command){ .pidfd = -1, .go = -1, .failed = -1 };
	for (int i = 0; i < RUN_SOURCES; i++)
		if (pipe(t.pipe[i]))
			abort();
	if (pipe(t.signals))
		abort();
	t.loop = (struct run_loop){ .calls = &calls, .time = &fake, .cmd = &t.cmd, .signals = t.signals[0] };
	time_ns = 1000 * SECOND;
	run_loop_start(&t.loop, interval_ns, duration_ns);
}

static void end_run(void)
{
	for (int i = 0; i < RUN_SOURCES; i++) {
		close(t.pipe[i][0]);
		close(t.pipe[i][1]);
	}
	close(t.signals[0]);
	close(t.signals[1]);
}

static bool loops(void)
{
	struct err e = { 0 };

	return !run_loop(&t.loop, &e);
}

static void say(int i)
{
	if (write(t.pipe[i][1], "x", 1) != 1)
		abort();
}

/* A command that waits for its end; `first` is what it does with SIGTERM. */
static void start_command(void (*first)(int))
{
	int ready[2];
	char c;

	if (pipe(ready))
		abort();
	t.cmd.pid = fork();
	if (!t.cmd.pid) {
		signal(SIGTERM, first);
		signal(SIGINT, SIG_IGN);
		close(ready[1]);
		close(ready[0]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1)) /* it stands */
		abort();
	close(ready[0]);
	t.cmd.pidfd = (int)syscall(SYS_pidfd_open, t.cmd.pid, 0);
}

static void kill_command(void)
{
	pid_t pid = t.cmd.pid;

	if (!pid)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(t.cmd.pidfd);
}

/* ---- time ---- */

static void duration(void)
{
	new_run(0, 3500 * MS);
	ok(loops() && time_ns == 1003500 * MS && t.loop.end.wall_ns == 3500 * MS,
	   "a duration ends the run to the nanosecond");
	ok(t.ticks == 35 && t.seconds == 3 && !t.intervals, "with %u ticks and %u seconds", t.ticks, t.seconds);
	ok(t.waits == 35, "and no wake-up for nothing");
	ok(!t.loop.end.signal && !t.loop.end.have_status && !t.stopping, "nobody has asked for it");
	end_run();
	new_run(0, UINT64_MAX);
	send(SIGTERM, true);
	ok(loops() && t.loop.end.signal == SIGTERM, "one without end can be ended");
	end_run();
}

static void intervals(void)
{
	new_run(250 * MS, SECOND);
	ok(loops() && t.intervals == 3, "four intervals: the last one ends with the run, and is not told");
	end_run();
	new_run(333 * MS + 333333, 10 * SECOND);
	ok(loops() && t.intervals == 30 && t.last_interval == 1000 * SECOND + 30 * (333 * MS + 333333),
	   "they stand where they belong, whatever they are long");
	end_run();
	new_run(100 * MS, 2 * SECOND);
	t.interval_takes = 350 * MS;
	ok(loops() && t.intervals == 6, "for those that nobody had time for none is made up: %u", t.intervals);
	ok(t.last_interval == 1000 * SECOND + 1850 * MS, "and the next one comes at once");
	end_run();
	new_run(100 * MS, 10 * SECOND);
	t.interval_fails = ENOSPC;
	ok(!loops() && t.intervals == 1 && t.loop.end.wall_ns == 100 * MS, "one that can't be written ends the run");
	end_run();
}

/* Whoever reads our output takes two seconds for what we write each 100 ms. */
static void slow_reader(void)
{
	new_run(100 * MS, 20 * SECOND);
	t.interval_takes = 2 * SECOND;
	ok(loops() && t.intervals == 10 && t.ticks == 10 && t.seconds == 9,
	   "a reader that stands still: %u intervals, %u ticks", t.intervals, t.ticks);
	ok(t.loop.end.wall_ns <= 22 * SECOND, "and the run ends when he is through");
	end_run();
	new_run(100 * MS, 0);
	t.interval_takes = 2 * SECOND;
	t.interval_signal = SIGINT;
	ok(loops() && t.loop.end.signal == SIGINT && t.intervals == 1, "a signal that comes meanwhile is heard next");
	end_run();
}

/* ---- what comes ---- */

static void full_ring(void)
{
	new_run(SECOND, 5 * SECOND);
	t.reads = false;
	say(FACTS);
	ok(loops() && time_ns < 1005 * SECOND + 20 * MS, "a ring that is always full keeps no run from its end");
	ok(t.ticks == 50 && t.seconds == 5 && t.intervals == 4 && t.ready[FACTS] == 500,
	   "nor from its ticks: %u, facts read %u times", t.ticks, t.ready[FACTS]);
	end_run();
	new_run(0, 5 * SECOND);
	t.reads = false;
	t.facts_take = 700 * MS;
	say(FACTS);
	say(KEYBOARD);
	t.quit = SIGINT;
	ok(loops() && t.loop.end.signal == SIGINT && t.ready[FACTS] == 1, "nor from a key");
	end_run();
}

static void keyboard(void)
{
	new_run(0, 0);
	t.quit = SIGINT;
	say(KEYBOARD);
	ok(loops() && t.loop.end.signal == SIGINT && !t.loop.end.now && t.stopping == 1 && t.ready[KEYBOARD] == 1,
	   "a key ends the run");
	end_run();
	new_run(0, SECOND);
	say(KEYBOARD);
	ok(loops() && !t.loop.end.signal && t.ready[KEYBOARD] == 1 && time_ns == 1001 * SECOND, "another one doesn't");
	end_run();
}

static void selected(void)
{
	new_run(0, 0);
	say(FILTER);
	ok(loops() && t.loop.end.selected_ended && !t.loop.end.signal,
	   "the end of the last process that was asked for ends the run");
	end_run();
}

static void no_sources(void)
{
	new_run(0, SECOND);
	for (int i = 0; i < RUN_SOURCES; i++) {
		close(t.pipe[i][0]);
		close(t.pipe[i][1]);
		t.pipe[i][0] = t.pipe[i][1] = 0;
	}
	ok(loops() && t.ticks == 10, "without anything to read from time goes on");
	close(t.signals[0]);
	close(t.signals[1]);
	new_run(0, SECOND);
	interrupted = true;
	ok(loops() && t.ticks == 10 && time_ns == 1001 * SECOND, "waiting that is interrupted goes on");
	end_run();
}

/* ---- signals ---- */

static void signals(void)
{
	new_run(0, 0);
	send(SIGWINCH, false);
	send(SIGTERM, true);
	ok(loops() && t.others == 1 && t.loop.end.signal == SIGTERM && !t.loop.end.now && t.stopping == 1,
	   "one signal ends a run without a command; a window's size doesn't");
	send(SIGHUP, true);
	run_loop_late_signals(&t.loop);
	ok(t.loop.end.signal == SIGHUP && t.loop.end.now, "one that came too late for it counts");
	end_run();
}

static void signals_with_command(void)
{
	new_run(0, 0);
	start_command(SIG_DFL);
	send(SIGTERM, true);
	ok(loops() && t.loop.end.have_status && t.loop.end.status == 128 + SIGTERM && !t.loop.end.now && !t.cmd.pid,
	   "a signal for us alone is passed on, and the command's end waited for");
	end_run();
	new_run(0, 0);
	start_command(SIG_IGN);
	send(SIGTERM, true);
	send(SIGTERM, true);
	ok(loops() && !t.loop.end.have_status && t.loop.end.now && t.stopping == 2,
	   "the second one lets go of a command that won't");
	kill_command();
	end_run();
	new_run(0, 2 * SECOND);
	start_command(SIG_DFL);
	send(SIGTERM, false);
	ok(loops() && !t.loop.end.have_status && t.loop.end.signal == SIGTERM && time_ns == 1002 * SECOND,
	   "one of the terminal isn't: the command has it by itself");
	kill_command();
	end_run();
	new_run(0, 0);
	start_command(SIG_DFL);
	send(SIGTERM, false);
	send(SIGTERM, false);
	ok(loops() && t.loop.end.now && waitpid(t.cmd.pid, NULL, 0) == t.cmd.pid, "but the second one is, whoever sent it");
	close(t.cmd.pidfd);
	end_run();
}

static void command_ends(void)
{
	new_run(100 * MS, 0);
	start_command(SIG_DFL);
	kill(t.cmd.pid, SIGTERM);
	t.loop.tick.next = t.loop.second.next = t.loop.interval.next = UINT64_MAX; /* nothing but its end */
	ok(loops() && t.loop.end.have_status && t.loop.end.status == 128 + SIGTERM && !t.stopping && !t.loop.end.signal,
	   "the command's end ends the run");
	end_run();
}

static void command_outlives(void)
{
	new_run(100 * MS, SECOND);
	start_command(SIG_DFL);
	ok(loops() && !t.loop.end.have_status && time_ns == 1001 * SECOND && t.intervals == 9,
	   "a duration ends a run with a command too");
	t.loop.only_command = true;
	t.loop.end.selected_ended = true;
	send(SIGTERM, true);
	ok(loops() && t.loop.end.have_status && t.loop.end.status == 128 + SIGTERM && !t.loop.end.now,
	   "which is waited for then, signals passed on");
	end_run();
	new_run(100 * MS, SECOND);
	start_command(SIG_DFL);
	ok(loops(), "a run that has been reported");
	t.ticks = t.seconds = t.intervals = 0;
	t.loop.only_command = true;
	time_ns += 10 * SECOND;
	for (int i = 0; i < RUN_SOURCES; i++)
		say(i);
	send(SIGTERM, true);
	ok(loops() && t.loop.end.have_status && t.ticks && !t.seconds && !t.intervals && !t.ready[FILTER] &&
		   !t.ready[FACTS] && !t.ready[KEYBOARD],
	   "has no seconds, intervals or sources any more while its command is waited for, but ticks");
	end_run();
	new_run(0, SECOND);
	start_command(SIG_IGN);
	ok(loops() && run_loop_over(&t.loop), "the run is over");
	t.loop.only_command = true;
	send(SIGINT, false);
	send(SIGINT, false);
	ok(loops() && t.loop.end.now && !t.loop.end.have_status, "until a second signal comes");
	kill_command();
	end_run();
}

int main(void)
{
	duration();
	intervals();
	slow_reader();
	full_ring();
	keyboard();
	selected();
	no_sources();
	signals();
	signals_with_command();
	command_ends();
	command_outlives();
	return tap_done();
}
