// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace [DISK..] [-- COMMAND]: the main job; and record, which is the same with a recording. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
#include "run/run.h"

#define LIVE_INTERVAL_NS 1000000000u
#define RUN_COST	 300 /* reporting the run so far takes at most this part of a core */

struct trace {
	struct trace_opts o;
	bool records; /* asked to by its command word */
	struct traced_run *run;
	struct rotation *recording;
	char *note;
	sigset_t signals;
	uint64_t start_ns;

	/* the live screen */
	struct live *live;	   /* NULL: none */
	struct outfile text_later; /* where the final report goes once the screen is closed */
	uint64_t next_run_ns;	   /* when the run so far may be reported again */
};

/* ---- output ---- */

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
	struct report r;
	uint64_t began;

	if (clock_ns() < t->next_run_ns)
		return;
	run_drain(t->run); /* costs by itself, and what it costs is none of the screen's */
	began = cpu_ns();
	run_report(t->run, RUN_SO_FAR, &r);
	live_show(t->live, NULL, &r);
	t->next_run_ns = clock_ns() + RUN_COST * (cpu_ns() - began);
}

static int report_interval(void *ctx, struct err *e)
{
	struct trace *t = ctx;
	struct report r;
	int err = 0;

	run_report(t->run, RUN_INTERVAL, &r);
	if (!t->live || t->o.out.stream)
		err = write_report(t, &r, e);
	if (t->live) {
		show_run(t);
		live_show(t->live, &r, NULL);
	}
	report_free(&r);
	return err;
}

static int report_whole(struct trace *t, bool *incomplete, struct err *e)
{
	struct report r;
	int err;

	run_report(t->run, RUN_WHOLE, &r);
	r.interval = t->o.out.stream; /* the last of one */
	*incomplete = r.incomplete || (t->o.strict && r.lost_events);
	if (*incomplete && r.lost_events)
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
	if (!t->o.run.interval_ns)
		t->o.run.interval_ns = LIVE_INTERVAL_NS;
	return 0;
}

/* Text goes to standard error beside a command; beside a recording only where it is asked for. */
static int open_outputs(struct trace *t, struct err *e)
{
	int err;

	t->o.out.stream = t->o.run.interval_ns > 0;
	t->o.out.taken[0] = t->o.record.path;
	t->o.out.taken_turns = t->o.record.files;
	err = outputs_open(&t->o.out, t->o.record.path ? TEXT_NOWHERE : t->o.argv ? TEXT_STDERR : TEXT_STDOUT, e);
	return err ? err : choose_live(t, e);
}

static int open_live(struct trace *t, struct err *e)
{
	int err = t->live ? live_open(t->live, &t->signals, e) : 0;

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

	if (t->o.out.quiet || t->o.argv || t->o.run.interval_ns || !isatty(STDERR_FILENO))
		return;
	run_progress(t->run, &requests, &flushes);
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
	else if (command_in_path(word, F_OK))
		err_add(e, "; a command to run stands behind --");
	return err;
}

static int resolve_targets(struct trace *t, char **words, struct err *e)
{
	struct run_opts *o = &t->o.run;
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

/* ---- what the run tells ---- */

static void on_second(void *ctx)
{
	struct trace *t = ctx;

	if (t->live)
		live_trim(t->live);
	progress(t);
}

static bool on_signal(void *ctx, int sig)
{
	struct trace *t = ctx;

	switch (sig) {
	case SIGWINCH: live_resize(t->live); return true;
	case SIGTSTP: live_suspend(t->live); return true;
	case SIGCONT: live_continue(t->live); return true;
	default: return false;
	}
}

static void on_stopping(void *ctx)
{
	struct trace *t = ctx;

	if (t->live && t->o.argv)
		live_stopping(t->live);
}

/* What the command writes where the screen stood still has to get out. */
static void on_waiting(void *ctx)
{
	struct trace *t = ctx;

	if (t->live)
		live_release(t->live);
}

static int keyboard(void *ctx)
{
	struct trace *t = ctx;

	return live_fd(t->live);
}

static void on_keys(void *ctx)
{
	struct trace *t = ctx;

	switch (live_keys(t->live)) {
	case LIVE_QUIT: run_stop(t->run, SIGINT); break;
	case LIVE_GONE: run_stop(t->run, SIGHUP); break;
	default: break;
	}
}

/* ---- the run ---- */

static void choose_signals(struct trace *t)
{
	sigemptyset(&t->signals);
	sigaddset(&t->signals, SIGINT);
	sigaddset(&t->signals, SIGTERM);
	sigaddset(&t->signals, SIGHUP);
	if (t->live) {
		sigaddset(&t->signals, SIGWINCH);
		sigaddset(&t->signals, SIGTSTP);
		sigaddset(&t->signals, SIGCONT);
	}
}

static int open_run(struct trace *t, struct err *e)
{
	const struct run_observer observer = {
		.second = on_second,
		.interval = report_interval,
		.signal = on_signal,
		.stopping = on_stopping,
		.waiting = on_waiting,
		.fd = keyboard,
		.readable = on_keys,
		.ctx = t,
	};
	struct run_opts *o = &t->o.run;
	int err;

	choose_signals(t);
	o->signals = &t->signals;
	o->filter = &t->o.filter;
	o->want.ledger = !t->o.no_ledger;
	o->eager = t->o.eager;
	o->detail = outputs_want_detail(&t->o.out);
	o->recording = t->recording;
	o->note = t->note;
	o->notices = command_notices;
	o->command = t->o.argv;
	o->io.held = t->live ? live_held_fd(t->live) : 0;
	o->as_root = t->o.out.as_root;
	err = run_open(o, &observer, &t->run, e);
	if (err && t->o.argv)
		benchmark_hint(t->o.argv[0], e);
	t->start_ns = clock_ns();
	return err;
}

/*
 * The report stands; a command that outlives -d goes on untraced, and its status is still the run's. One that a second signal let go of
 * has none, and has not succeeded: as a shell says it of what that signal ended.
 */
static int final_status(struct trace *t, bool incomplete)
{
	struct run_end end = run_end(t->run);

	if (t->o.argv && !end.have_status && !end.now) {
		run_wait_command(t->run);
		end = run_end(t->run);
	}
	if (end.have_status)
		return !end.status && incomplete && t->o.strict ? EXIT_INCOMPLETE : end.status;
	if (t->o.argv)
		return 128 + end.signal;
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
		for (size_t j = 0; j < t->o.run.targets.n; j++)
			if (on.t[i].disk_major == t->o.run.targets.t[j].disk_major &&
			    on.t[i].disk_minor == t->o.run.targets.t[j].disk_minor && !t->o.run.all && !t->note)
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

static int watch(struct trace *t, char **words, int *status, struct err *e)
{
	bool incomplete = false;
	int err;

	err = resolve_targets(t, words, e);
	if (!err)
		err = open_outputs(t, e);
	if (!err && t->o.record.path)
		err = open_recording(t, e);
	if (!err)
		err = open_run(t, e);
	if (err)
		return err;
	progress(t);
	err = open_live(t, e);
	if (!err)
		err = run_until_end(t->run, e);
	/* what came since the last interval is an interval too: they add up to the run */
	if (!err && t->o.out.stream && !run_end(t->run).now)
		err = report_interval(t, e);
	close_live(t);
	if (!err)
		err = report_whole(t, &incomplete, e);
	if (!err && t->recording && !close_recording(t))
		incomplete = true;
	*status = final_status(t, incomplete);
	return err;
}

static void clean_up(struct trace *t)
{
	struct err e;

	close_live(t);
	live_free(t->live);
	outfile_close(&t->text_later);
	outputs_close(&t->o.out);
	if (t->run)
		rotation_close(t->recording, &e);
	else
		rotation_drop(t->recording);
	run_close(t->run);
	free(t->note);
	filter_free(&t->o.filter);
	if (!t->run)
		targets_free(&t->o.run.targets);
}

static int set(void *ctx, int id, const char *value, struct err *e)
{
	struct trace *t = ctx;

	return trace_opts_set(&t->o, id, value, e);
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	struct trace *t = ctx;
	int err;

	if (t->o.version) {
		printf("barriertrace %s\n", BT_VERSION);
		return 0;
	}
	if (t->o.anonymise)
		return command_anonymise(&t->o, words, status, e);
	if (t->records && !t->o.record.path)
		return err_set(e, EINVAL, EXIT_USAGE, "record needs -o FILE: where to put the recording");
	log_level(t->o.out.quiet, t->o.out.verbose);
	t->o.argv = words->command;
	err = trace_opts_check(&t->o, e);
	return err ? err : watch(t, words->words, status, e);
}

static int trace_main(const struct command_def *def, char **argv)
{
	struct trace t = {
		.o = TRACE_OPTS_NONE,
		.text_later = OUTFILE_NONE,
		.records = def == &record_def,
	};
	int status;

	run_opts_default(&t.o.run);
	status = command_do(def, argv, set, run, &t);
	clean_up(&t);
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
