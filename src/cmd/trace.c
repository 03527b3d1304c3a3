// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace [DISK..] [-- COMMAND]: the main job; and record, which is the same with a recording. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "host/command.h"
#include "cmd/anonymise.h"
#include "cmd/install_hints.h"
#include "cmd/cmd.h"
#include "cmd/live_screen.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"
#include "cmd/trace_options.h"
#include "run/run_loop.h"

#define LIVE_INTERVAL_NS 1000000000u
#define RUN_COST	 300 /* reporting the run so far takes at most this part of a core */

struct trace {
	struct trace_opts o;

	/* what runs */
	struct session *s;
	struct command cmd;
	struct rotation *recording;
	bool started;
	char *note;
	int signals, tick; /* file descriptors */
	uint64_t ticks;	   /* since the last look around */
	sigset_t blocked;
	bool stopping;	 /* a first signal came */
	bool now;	 /* a second one: end without waiting */
	int stop_signal; /* the last of them */
	uint64_t start_ns, next_interval_ns;
	bool have_status;
	bool selected_ended; /* all processes that -p names, and their children */
	int status;
	bool same_facts; /* the last interval has been reported: the total is of the same sync calls */

	/* the live screen */
	struct live *live;	   /* NULL: none */
	struct outfile text_later; /* where the final report goes once the screen is closed */
	uint64_t next_run_ns;	   /* when the run so far may be reported again */
};

/* ---- output ---- */

static struct session_facts run_facts(const struct trace *t)
{
	return (struct session_facts){
		.command = t->o.argv,
		.have_exit_status = t->have_status,
		.exit_status = t->status,
		.user_ns = t->cmd.user_ns,
		.filter = t->o.filter.text,
		.note = t->note,
		.same_facts = t->same_facts,
	};
}

static int write_report(struct trace *t, struct report *r, struct err *e)
{
	log_progress_end();
	return outputs_write(&t->o.out, r, e);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The run so far costs the more the more names it has: the screen then gets it less often. */
static void show_run(struct trace *t)
{
	struct session_facts facts = run_facts(t);
	struct report r;
	uint64_t began;

	if (clock_ns() < t->next_run_ns)
		return;
	session_drain(t->s); /* costs by itself, and what it costs is none of the screen's */
	began = cpu_ns();
	session_report_so_far(t->s, &facts, &r);
	live_show(t->live, NULL, &r);
	t->next_run_ns = clock_ns() + RUN_COST * (cpu_ns() - began);
}

static int report_interval(struct trace *t, struct err *e)
{
	struct session_facts facts = run_facts(t);
	struct report r;
	int err = 0;

	session_report_interval(t->s, &facts, &r);
	if (!t->live || t->o.out.stream)
		err = write_report(t, &r, e);
	if (t->live) {
		show_run(t);
		live_show(t->live, &r, NULL);
	}
	report_free(&r);
	return err;
}

static int report_final(struct trace *t, bool *incomplete, struct err *e)
{
	struct session_facts facts;
	struct report r;
	int err;

	if (t->selected_ended && !t->note)
		t->note = t->o.filter.n_pids > 1 ? xasprintf("%s ended during the run", t->o.filter.text) :
						   xasprintf("process %d ended during the run", t->o.filter.pid[0]);
	facts = run_facts(t);
	session_report_total(t->s, &facts, &r);
	r.interval = t->o.out.stream; /* the last of one */
	*incomplete = r.incomplete;
	if (r.lost_events)
		log_error("%" PRIu64 " event%s lost: the report is incomplete", r.lost_events,
			  r.lost_events == 1 ? " was" : "s were");
	err = write_report(t, &r, e);
	if (!err)
		err = outputs_commit(&t->o.out, e);
	report_free(&r);
	return err;
}

/* ---- the live screen ---- */

/* Not when somebody wants text, or something else, where the screen would be. */
static bool want_live(const struct trace *t)
{
	if (t->o.plain || t->o.record.path || t->o.out.text_path || (!t->o.out.stream && (t->o.argv || t->o.out.quiet)))
		return false;
	for (int i = 0; i < RENDER_N_FILES; i++)
		if (t->o.out.file_path[i] && !strcmp(t->o.out.file_path[i], "-"))
			return false;
	return (!t->o.out.json_path || strcmp(t->o.out.json_path, "-")) && live_possible();
}

/* The text waits for the final report. */
static int choose_live(struct trace *t, struct err *e)
{
	int err;

	if (!want_live(t))
		return 0;
	err = live_new(t->o.out.ascii, &t->live, e);
	if (err)
		return err;
	t->text_later = t->o.out.text;
	t->o.out.text = (struct outfile)OUTFILE_NONE;
	t->o.out.on_screen = false;
	if (!t->o.interval_ns)
		t->o.interval_ns = LIVE_INTERVAL_NS;
	return 0;
}

/* Text goes to standard error beside a command; beside a recording only where it is asked for. */
static int open_outputs(struct trace *t, struct err *e)
{
	int err;

	t->o.out.stream = t->o.interval_ns > 0;
	t->o.out.taken[0] = t->o.record.path;
	t->o.out.taken_turns = t->o.record.files;
	err = outputs_open(&t->o.out, t->o.record.path ? TEXT_NOWHERE : t->o.argv ? TEXT_STDERR : TEXT_STDOUT, e);
	return err ? err : choose_live(t, e);
}

static int open_live(struct trace *t, struct err *e)
{
	int err = t->live ? live_open(t->live, &t->blocked, e) : 0;

	if (t->live && !err)
		show_run(t);
	return err;
}

static void close_live(struct trace *t)
{
	if (!t->live)
		return;
	live_close(t->live);
	outfile_close(&t->o.out.text);
	t->o.out.text = t->text_later;
	t->text_later = (struct outfile)OUTFILE_NONE;
}

static void progress(struct trace *t)
{
	uint64_t requests, flushes;

	if (t->o.out.quiet || t->o.argv || t->o.interval_ns || !isatty(STDERR_FILENO))
		return;
	session_progress(t->s, &requests, &flushes);
	log_progress("tracing, %s: %s request%s, %s flush%s; Ctrl-C ends it with the report",
		     num_duration((clock_ns() - t->start_ns) / 1000000000u * 1000000000u, 0).s, num_count(requests).s,
		     num_plural(requests), num_count(flushes).s, flushes == 1 ? "" : "es");
}

/* ---- the run ---- */

/* What no disk is called may have been meant as a command: of ours, or one to run. */
static int hint_at_command(const struct trace *t, const char *word, int err, struct err *e)
{
	const char *near = command_near(word);

	if (err != -ENOENT || t->o.argv || strchr(word, '/'))
		return err;
	if (near)
		err_add(e, "; or did you mean barriertrace %s?", near);
	else if (command_in_path(word))
		err_add(e, "; a command to run stands behind --");
	return err;
}

static int resolve_targets(struct trace *t, char **words, struct err *e)
{
	struct session_opts *o = &t->o.session;
	int err = 0;

	for (size_t i = 0; words && words[i] && !err; i++) {
		err = target_resolve(words[i], &o->targets, e);
		if (err && !i)
			err = hint_at_command(t, words[i], err, e);
	}
	if (err || o->targets.n)
		return err;
	o->all = true;
	o->only_command = t->o.argv;
	err = target_all(&o->targets, e);
	if (!err && !o->targets.n)
		err = err_set(e, ENODEV, EXIT_FAILED, "this machine has no disk to trace");
	return err;
}

static int open_signals(struct trace *t, struct err *e)
{
	sigemptyset(&t->blocked);
	sigaddset(&t->blocked, SIGINT);
	sigaddset(&t->blocked, SIGTERM);
	sigaddset(&t->blocked, SIGHUP);
	if (t->live) {
		sigaddset(&t->blocked, SIGWINCH);
		sigaddset(&t->blocked, SIGTSTP);
		sigaddset(&t->blocked, SIGCONT);
	}
	return trial_wakeups(&t->blocked, &t->signals, &t->tick, e);
}

static int start(struct trace *t, struct err *e)
{
	struct trial_start how = { t->o.argv, { .held = t->live ? live_held_fd(t->live) : 0 }, t->o.as_root, &t->blocked };
	struct probe_want *want = &t->o.session.want;
	int err;

	t->o.session.filter = &t->o.filter;
	want->command = t->o.argv != NULL;
	want->ledger = !t->o.no_ledger;
	t->o.session.stream = t->o.interval_ns > 0;
	t->o.session.detail = outputs_want_detail(&t->o.out);
	t->o.session.command = t->o.argv;
	err = session_open(&t->o.session, &t->s, e);
	if (!err)
		err = trial_start(t->s, &t->cmd, &how, e);
	if (err && t->o.argv)
		benchmark_hint(t->o.argv[0], e);
	t->started = !err;
	t->start_ns = clock_ns();
	t->next_interval_ns = clock_after(t->start_ns, t->o.interval_ns);
	return err;
}

/* The first time ends the run with its report, once the command has ended too; the second ends it at once. */
static void stop(struct trace *t, int sig, bool pass_on)
{
	t->now = t->stopping;
	t->stopping = true;
	t->stop_signal = sig;
	if (t->o.argv && !t->have_status && (pass_on || t->now))
		kill(t->cmd.pid, sig);
	if (t->live && t->o.argv)
		live_stopping(t->live);
}

static void on_signal(struct trace *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH: live_resize(t->live); break;
	case SIGTSTP: live_suspend(t->live); break;
	case SIGCONT: live_continue(t->live); break;
	default:
		/* Ctrl-C reaches the command through the terminal; a signal sent to us alone has to be passed on */
		stop(t, (int)info.ssi_signo, info.ssi_code <= 0);
	}
}

static void on_keys(struct trace *t)
{
	switch (live_keys(t->live)) {
	case LIVE_QUIT: stop(t, SIGINT, true); break;
	case LIVE_GONE: stop(t, SIGHUP, true); break;
	default: break;
	}
}

/* Processes that were asked for by number end the run: the last of them, and of their children. */
static void look_for_selected(struct trace *t)
{
	t->selected_ended = filter_look(&t->o.filter) && !session_anybody_left(t->s);
}

static void on_tick(struct trace *t)
{
	look_for_selected(t);
	if (!trial_tick(t->tick, t->s, &t->ticks))
		return;
	session_save(t->s);
	if (t->live)
		live_trim(t->live);
	progress(t);
}

static int wait_ms(const struct trace *t)
{
	uint64_t now = clock_ns(), until = UINT64_MAX;

	if (t->o.duration_ns)
		until = clock_after(t->start_ns, t->o.duration_ns);
	if (t->o.interval_ns && t->next_interval_ns < until)
		until = t->next_interval_ns;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 :
			      (int)((until - now + 999999) / 1000000 > 60000 ? 60000 : (until - now + 999999) / 1000000);
}

static bool finished(const struct trace *t)
{
	if (t->now || t->have_status || t->selected_ended)
		return true;
	if (t->stopping && !t->o.argv)
		return true;
	return t->o.duration_ns && clock_ns() >= clock_after(t->start_ns, t->o.duration_ns);
}

static int loop(struct trace *t, struct err *e)
{
	int err = 0;

	while (!err && !finished(t)) {
		struct pollfd p[] = {
			{ .fd = t->signals, .events = POLLIN },
			{ .fd = t->tick, .events = POLLIN },
			{ .fd = t->o.argv ? t->cmd.pidfd : -1, .events = POLLIN },
			{ .fd = t->o.filter.fd, .events = POLLIN },
			{ .fd = session_fd(t->s), .events = POLLIN },
			{ .fd = live_fd(t->live), .events = POLLIN },
		};
		int n = poll(p, sizeof(p) / sizeof(p[0]), wait_ms(t));

		if (n < 0 && errno != EINTR)
			return err_set(e, errno, EXIT_FAILED, "poll: %s", strerror(errno));
		if (p[0].revents)
			on_signal(t);
		if (p[1].revents)
			on_tick(t);
		if (p[2].revents && !command_wait(&t->cmd, &t->status))
			t->have_status = true;
		if (p[3].revents)
			look_for_selected(t);
		if (p[4].revents)
			session_drain(t->s);
		if (p[5].revents)
			on_keys(t);
		/* the last one is reported behind the loop */
		if (t->o.interval_ns && clock_ns() >= t->next_interval_ns && !finished(t)) {
			/* none is made up for those that we slept through */
			while (t->next_interval_ns <= clock_ns())
				t->next_interval_ns = clock_after(t->next_interval_ns, t->o.interval_ns);
			err = report_interval(t, e);
		}
	}
	return err;
}

/* Signals are passed on as during the run. What the command writes where the screen stood still has to get out. */
static void wait_for_command(struct trace *t)
{
	struct pollfd p[] = {
		{ .fd = t->cmd.pidfd, .events = POLLIN },
		{ .fd = t->signals, .events = POLLIN },
	};

	while (!t->now && !t->have_status) {
		if (poll(p, 2, t->live ? 200 : -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			t->have_status = !command_wait(&t->cmd, &t->status);
		if (p[1].revents)
			on_signal(t);
		if (t->live)
			live_release(t->live);
	}
}

/*
 * The report stands; a command that outlives -d goes on untraced, and its status is still the run's. One that a second signal let go of
 * has none, and has not succeeded: as a shell says it of what that signal ended.
 */
static int final_status(struct trace *t, bool incomplete)
{
	if (t->o.argv && !t->have_status && !t->now) {
		session_close(t->s);
		t->s = NULL;
		wait_for_command(t);
	}
	if (t->have_status)
		return !t->status && incomplete && t->o.strict ? EXIT_INCOMPLETE : t->status;
	if (t->o.argv)
		return 128 + t->stop_signal;
	return incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

/* Watching a disk by writing to it would change what is seen. */
static void note_own_place(struct trace *t)
{
	struct targets on = { 0 };
	struct err e;

	if (target_resolve(t->o.record.path, &on, &e))
		return;
	for (size_t i = 0; i < on.n && !t->note; i++)
		for (size_t j = 0; j < t->o.session.targets.n; j++)
			if (on.t[i].disk_major == t->o.session.targets.t[j].disk_major &&
			    on.t[i].disk_minor == t->o.session.targets.t[j].disk_minor && !t->o.session.all && !t->note)
				t->note = xasprintf("the recording %s lies on %s, which is traced: its own writes are "
						    "among those that are shown",
						    t->o.record.path, on.t[i].disk);
	targets_free(&on);
}

static int open_recording(struct trace *t, struct err *e)
{
	int err;

	t->o.record.show_args = t->o.out.show_args;
	err = rotation_open(&t->o.record, &t->recording, e);

	t->o.session.recording = t->recording;
	if (!err)
		note_own_place(t);
	return err;
}

static void say_recorded(const struct trace *t, const struct rotation_written *w)
{
	if (w->files == 1)
		log_note("%s fact%s recorded; see %s with: barriertrace report %s", num_count(w->records).s,
			 num_plural(w->records), w->records == 1 ? "it" : "them", t->o.record.path);
	else
		log_note("%s facts recorded in %s files, %s removed since; see the last with: barriertrace report %s",
			 num_count(w->records).s, num_count(w->files).s, w->removed ? num_count(w->removed).s : "none",
			 t->o.record.path);
}

/* Whether the recording is whole. If it isn't, that has been said, and the run still has its own status. */
static bool close_recording(struct trace *t)
{
	struct rotation_written w;
	struct err e = { 0 };
	bool whole;

	if (recording_flush(rotation_writer(t->recording), &e))
		log_error("%s", e.text);
	w = rotation_written(t->recording);
	whole = !w.stopped;
	if (rotation_close(t->recording, &e)) {
		log_error("%s", e.text);
		whole = false;
	}
	t->recording = NULL;
	if (whole)
		say_recorded(t, &w);
	return whole;
}

static int run(struct trace *t, char **words, struct err *e, int *status)
{
	bool incomplete = false;
	int err;

	err = resolve_targets(t, words, e);
	if (!err)
		err = open_outputs(t, e);
	if (!err && t->o.record.path)
		err = open_recording(t, e);
	if (!err)
		err = open_signals(t, e);
	if (!err)
		err = start(t, e);
	if (err)
		return err;
	if (!t->o.out.quiet && !t->o.argv && !t->o.interval_ns && isatty(STDERR_FILENO))
		progress(t);
	err = open_live(t, e);
	if (!err)
		err = loop(t, e);
	/* what came since the last interval is an interval too: they add up to the run */
	if (!err && t->o.out.stream && !t->now) {
		err = report_interval(t, e);
		t->same_facts = true;
	}
	close_live(t);
	if (!err)
		err = report_final(t, &incomplete, e);
	if (!err && t->recording && !close_recording(t))
		incomplete = true;
	*status = final_status(t, incomplete);
	return err;
}

static void clean_up(struct trace *t)
{
	struct err e;

	command_abandon(&t->cmd);
	close_live(t);
	live_free(t->live);
	outfile_close(&t->text_later);
	session_close(t->s);
	outputs_close(&t->o.out);
	if (t->started)
		rotation_close(t->recording, &e);
	else
		rotation_drop(t->recording);
	free(t->note);
	filter_free(&t->o.filter);
	if (t->signals >= 0)
		close(t->signals);
	if (t->tick >= 0)
		close(t->tick);
	if (!t->s)
		targets_free(&t->o.session.targets);
}

static int trace_main(const struct command_def *def, char **argv)
{
	struct trace t = {
		.o = TRACE_OPTS_NONE,
		.text_later = OUTFILE_NONE,
		.signals = -1,
		.tick = -1,
		.cmd = { .pidfd = -1, .go = -1, .failed = -1 },
	};
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status = EXIT_FAILED;

	probe_want_default(&t.o.session.want);
	if (options_parse(def, argv, trace_opts_set, &t.o, &words, &e)) {
		status = command_failed(&e);
	} else if (t.o.help) {
		status = command_help(def);
	} else if (t.o.version) {
		printf("barriertrace %s\n", BT_VERSION);
		status = EXIT_OK;
	} else if (t.o.anonymise) {
		status = command_anonymise(&t.o, &words);
	} else if (def == &record_def && !t.o.record.path) {
		log_error("record needs -o FILE: where to put the recording");
		status = EXIT_USAGE;
	} else {
		log_level(t.o.out.quiet, t.o.out.verbose);
		t.o.argv = words.command;
		if (trace_opts_check(&t.o, &e) || run(&t, words.words, &e, &status))
			status = command_failed(&e);
	}
	clean_up(&t);
	options_result_free(&words);
	return status;
}

int cmd_trace(char **argv)
{
	return trace_main(&trace_def, argv);
}

int cmd_record(char **argv)
{
	return trace_main(&record_def, argv);
}
