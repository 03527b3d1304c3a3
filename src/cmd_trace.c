// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace [DISK..] [-- COMMAND]: the main job. */
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

#include "analyse/verdict.h"
#include "clock.h"
#include "collect/command.h"
#include "collect/filter.h"
#include "commands.h"
#include "live.h"
#include "log.h"
#include "mem.h"
#include "num.h"
#include "output.h"
#include "session.h"
#include "trial.h"

enum {
	OPT_PID, OPT_CGROUP, OPT_INTERVAL, OPT_DURATION, OPT_RECORDING, OPT_AS_ROOT, OPT_ROTATE, OPT_BTF, OPT_RUNG, OPT_STRICT,
	OPT_NO_LEDGER, OPT_PLAIN, OPT_MEMORY, OPT_VERSION, OPT_HELP
};

#define G_WHAT "What to trace"
#define G_RUN "How long, how often"
#define G_OUT "Output"
#define G_KERNEL "Kernel side"

#define WHAT_OPTIONS \
	{ "pid", 'p', "PID", OPT_PID, "Count only requests that this process sends itself (not what the journal or " \
	  "writeback do for it); ends when it ends.", G_WHAT }, \
	{ "cgroup", 0, "PATH", OPT_CGROUP, "Count only requests of this cgroup and those below it.", G_WHAT }, \
	{ "as-root", 0, NULL, OPT_AS_ROOT, "Run COMMAND as root instead of as the user who called sudo.", G_WHAT }, \
	{ "no-ledger", 0, NULL, OPT_NO_LEDGER, "Block requests only: do not trace sync calls (costs less still).", G_WHAT },

#define DURATION_OPTION \
	{ "duration", 'd', "SECONDS", OPT_DURATION, "Trace for SECONDS (also 500ms, 2m); a COMMAND then goes on, and " \
	  "its status counts. Without it: until Ctrl-C, or until COMMAND ends.", G_RUN },

#define OTHER_OPTIONS \
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the report as JSON to FILE, or to standard output for '-'. With -i: one " \
	  "object per line.", G_OUT }, \
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", G_OUT }, \
	{ "quiet", 'q', NULL, OUTPUT_QUIET, "Tables only: no histograms, no notes, no progress.", G_OUT }, \
	{ "verbose", 'v', NULL, OUTPUT_VERBOSE, "Every histogram, every mount, the probes.", G_OUT }, \
	{ "strict", 0, NULL, OPT_STRICT, "Exit with status 5 when events were lost, even if COMMAND succeeded.", G_OUT }, \
	{ "btf", 0, "FILE", OPT_BTF, "Take the kernel's type information from FILE.", G_KERNEL }, \
	{ "rung", 0, "NAME=RUNG", OPT_RUNG, "Attach a probe or a family of probes only this way (tp_btf, raw_tp, " \
	  "fentry, kprobe), or not run at all; barriertrace probes lists both.", \
	  G_KERNEL }, \
	{ "memory", 0, "SIZE", OPT_MEMORY, "Let the kernel side take at most SIZE (512M): copies of counters, the ring " \
	  "buffer and request slots get smaller until it fits; -v shows what each takes.", G_KERNEL }, \
	{ "version", 0, NULL, OPT_VERSION, "Show the version.", NULL }, \
	{ "help", 'h', NULL, OPT_HELP, "Show this help.", NULL },

static const struct option_def options[] = {
	WHAT_OPTIONS
	{ "interval", 'i', "SECONDS", OPT_INTERVAL, "Report every SECONDS, and the whole run at the end. On a "
	  "terminal: how often the live screen gets new figures; beside a COMMAND, -i is what asks for the screen.",
	  G_RUN },
	DURATION_OPTION
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text report to FILE.", G_OUT },
	{ "plain", 0, NULL, OPT_PLAIN, "Plain text instead of the live screen.", G_OUT },
	OUTPUT_OPTIONS
	OTHER_OPTIONS
	{ 0 },
};

static const struct option_def record_options[] = {
	{ "output", 'o', "FILE", OPT_RECORDING, "Write the recording to FILE.", G_OUT },
	{ "rotate", 0, "SIZE,N", OPT_ROTATE, "Go on in a new FILE before it is larger than SIZE (such as 100M), and keep N: "
	  "FILE.1 is the one before, and so on. Each is a recording of its own time. Those of an earlier run are "
	  "removed at the start.", G_OUT },
	{ "text", 0, "FILE", OUTPUT_TEXT, "Write the text report too, to FILE or, for '-', to standard output.", G_OUT },
	WHAT_OPTIONS
	DURATION_OPTION
	OUTPUT_OPTIONS
	OTHER_OPTIONS
	{ 0 },
};

const struct command_def trace_def = {
	.name = "",
	.usage = "[OPTION].. [TARGET].. [-- COMMAND [ARGUMENT]..]",
	.summary = "Tell a slow controller flush from everything else that makes an fsync slow.",
	.about = "Traces the block requests of disks, with the flushes of the cache decoded, and prints how long "
		 "they waited in the queue and how long the device took. Changes nothing on the system.\n\n"
		 "A TARGET is a disk (sda, /dev/nvme0n1), a partition, a dm or md device, a mount point or a file. "
		 "Without one: every disk that sees I/O or, with a COMMAND, the disks that it reached.\n\n"
		 "COMMAND is started when every probe is attached. Its input, output and exit status are its own; the report "
		 "goes to standard error or to -o FILE.\n\n"
		 "On a terminal a live screen shows the run (? lists its keys, q ends it with the report). With a COMMAND "
		 "only if -i asks for it: what COMMAND writes to the terminal is then held back until the screen closes, "
		 "and its input from the terminal is empty.\n\n"
		 "Other commands: barriertrace doctor (which settings hurt), experiment (what changing one does), bench "
		 "(benchmarks, and the barrier card of a disk), probes (what this kernel lets us see), record and report (keep a "
		 "run, and show it later), diff (compare two); each has its --help.",
	.options = options,
	.wraps = true,
	.words = "DISK",
};

const struct command_def record_def = {
	.name = "record",
	.usage = "-o FILE [OPTION].. [TARGET].. [-- COMMAND [ARGUMENT]..]",
	.summary = "Trace as barriertrace does, and keep the facts in a file.",
	.about = "Any report can be made from the recording later, on any machine, without rights: "
		 "barriertrace report FILE. Put it on a disk that isn't traced.",
	.options = record_options,
	.wraps = true,
	.words = "DISK",
};

#define LIVE_INTERVAL_NS 1000000000u
#define RUN_COST	300	/* reporting the run so far takes at most this part of a core */

struct trace {
	/* what the user wants */
	struct session_opts session;
	struct filter filter;
	uint64_t interval_ns, duration_ns;
	struct outputs out;
	struct rotation_opts record;	/* path NULL: no recording */
	bool as_root, strict, no_ledger, plain, help, version;
	char *const *argv;		/* the command; NULL: none */

	/* what runs */
	struct session *s;
	struct command cmd;
	struct rotation *recording;
	bool started;
	char *note;
	int signals, tick;		/* file descriptors */
	uint64_t ticks;			/* since the last look around */
	sigset_t blocked;
	bool in_place;			/* a progress line stands on the terminal */
	bool stopping;			/* a first signal came */
	bool now;			/* a second one: end without waiting */
	uint64_t start_ns, next_interval_ns;
	bool have_status;
	int status;
	bool same_facts;		/* the last interval has been reported: the total is of the same sync calls */

	/* the live screen */
	struct live *live;		/* NULL: none */
	struct outfile text_later;	/* where the final report goes once the screen is closed */
	uint64_t next_run_ns;		/* when the run so far may be reported again */
};

/* ---- options ---- */

static int set_seconds(const char *name, const char *value, uint64_t *ns, struct err *e)
{
	if (num_parse_seconds(value, ns) || !*ns)
		return err_set(e, EINVAL, EXIT_USAGE, "--%s %s: write a time above 0, such as 1, 0.5 or 500ms", name,
			       value);
	return 0;
}

static int set_memory(const char *value, uint64_t *bytes, struct err *e)
{
	if (num_parse_bytes(value, bytes) || !*bytes)
		return err_set(e, EINVAL, EXIT_USAGE, "--memory '%s': write a size above 0, such as 64M", value);
	return 0;
}

static int set_flag(struct trace *t, int id)
{
	switch (id) {
	case OPT_AS_ROOT:	t->as_root = true; break;
	case OPT_STRICT:	t->strict = true; break;
	case OPT_NO_LEDGER:	t->no_ledger = true; break;
	case OPT_PLAIN:		t->plain = true; break;
	case OPT_VERSION:	t->version = true; break;
	case OPT_HELP:		t->help = true; break;
	}
	return 0;
}

static int set(void *ctx, int id, const char *value, struct err *e)
{
	struct trace *t = ctx;

	if (outputs_set(&t->out, id, value))
		return 0;
	switch (id) {
	case OPT_PID:		return filter_pid(&t->filter, value, e);
	case OPT_CGROUP:	return filter_cgroup(&t->filter, value, e);
	case OPT_INTERVAL:	return set_seconds("interval", value, &t->interval_ns, e);
	case OPT_DURATION:	return set_seconds("duration", value, &t->duration_ns, e);
	case OPT_RECORDING:	t->record.path = value; return 0;
	case OPT_ROTATE:	return rotation_parse(value, &t->record, e);
	case OPT_BTF:		t->session.want.btf_path = value; return 0;
	case OPT_MEMORY:	return set_memory(value, &t->session.memory, e);
	case OPT_RUNG:		return probe_want_force(&t->session.want, value, e);
	default:		return set_flag(t, id);
	}
}

/* ---- output ---- */

static void clear_progress(struct trace *t)
{
	if (t->in_place)
		fputs("\r\033[K", stderr);
	t->in_place = false;
}

static struct session_facts run_facts(const struct trace *t)
{
	return (struct session_facts){
		.command = t->argv,
		.have_exit_status = t->have_status,
		.exit_status = t->status,
		.user_ns = t->cmd.user_ns,
		.filter = t->filter.text,
		.note = t->note,
		.same_facts = t->same_facts,
	};
}

static int write_report(struct trace *t, struct report *r, struct err *e)
{
	verdict_make(r);
	clear_progress(t);
	return outputs_write(&t->out, r, e);
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
	session_drain(t->s);	/* costs by itself, and what it costs is none of the screen's */
	began = cpu_ns();
	session_report_so_far(t->s, &facts, &r);
	verdict_make(&r);
	live_show(t->live, NULL, &r);
	t->next_run_ns = clock_ns() + RUN_COST * (cpu_ns() - began);
}

static int report_interval(struct trace *t, struct err *e)
{
	struct session_facts facts = run_facts(t);
	struct report r;
	int err = 0;

	session_report_interval(t->s, &facts, &r);
	if (!t->live || t->out.stream)
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

	if (t->filter.ended && !t->note)
		t->note = xasprintf("process %d ended during the run", t->filter.pid);
	facts = run_facts(t);
	session_report_total(t->s, &facts, &r);
	r.interval = t->out.stream;	/* the last of one */
	*incomplete = r.incomplete;
	if (r.lost_events)
		log_error("%" PRIu64 " event%s lost: the report is incomplete", r.lost_events, r.lost_events == 1 ? " was" : "s were");
	err = write_report(t, &r, e);
	if (!err)
		err = outputs_commit(&t->out, e);
	report_free(&r);
	return err;
}

/* ---- the live screen ---- */

/* Not when somebody wants text, or something else, where the screen would be. */
static bool want_live(const struct trace *t)
{
	if (t->plain || t->record.path || t->out.text_path || (!t->out.stream && (t->argv || t->out.quiet)))
		return false;
	for (int i = 0; i < RENDER_N_FILES; i++)
		if (t->out.file_path[i] && !strcmp(t->out.file_path[i], "-"))
			return false;
	return (!t->out.json_path || strcmp(t->out.json_path, "-")) && live_possible();
}

/* The text waits for the final report. */
static int choose_live(struct trace *t, struct err *e)
{
	int err;

	if (!want_live(t))
		return 0;
	err = live_new(t->out.ascii, &t->live, e);
	if (err)
		return err;
	t->text_later = t->out.text;
	t->out.text = (struct outfile)OUTFILE_NONE;
	t->out.on_screen = false;
	if (!t->interval_ns)
		t->interval_ns = LIVE_INTERVAL_NS;
	return 0;
}

/* Text goes to standard error beside a command; beside a recording only where it is asked for. */
static int open_outputs(struct trace *t, struct err *e)
{
	int err;

	t->out.stream = t->interval_ns > 0;
	t->out.taken[0] = t->record.path;
	err = outputs_open(&t->out, t->record.path ? TEXT_NOWHERE : t->argv ? TEXT_STDERR : TEXT_STDOUT, e);
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
	outfile_close(&t->out.text);
	t->out.text = t->text_later;
	t->text_later = (struct outfile)OUTFILE_NONE;
}

static void progress(struct trace *t)
{
	uint64_t requests, flushes;

	if (t->out.quiet || t->argv || t->interval_ns || !isatty(STDERR_FILENO))
		return;
	session_progress(t->s, &requests, &flushes);
	fprintf(stderr, "\r\033[Ktracing, %s: %s requests, %s flushes; Ctrl-C ends it with the report",
		num_duration((clock_ns() - t->start_ns) / 1000000000u * 1000000000u, 0).s, num_count(requests).s,
		num_count(flushes).s);
	fflush(stderr);
	t->in_place = true;
}

/* ---- the run ---- */

static int resolve_targets(struct trace *t, char **words, struct err *e)
{
	struct session_opts *o = &t->session;
	int err = 0;

	for (size_t i = 0; words && words[i] && !err; i++)
		err = target_resolve(words[i], &o->targets, e);
	if (err || o->targets.n)
		return err;
	o->all = true;
	o->only_command = t->argv;
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
	struct trial_start how = { t->argv, { .held = t->live ? live_held_fd(t->live) : 0 }, t->as_root, &t->blocked };
	struct probe_want *want = &t->session.want;
	int err;

	want->filter_tgid = (uint32_t)t->filter.pid;
	want->filter_cgroup = t->filter.cgroup_kind;
	want->cgroup_id = t->filter.cgroup_id;
	want->command = t->argv != NULL;
	want->ledger = !t->no_ledger;
	t->session.stream = t->interval_ns > 0;
	t->session.detail = outputs_want_detail(&t->out);
	t->session.command = t->argv;
	err = session_open(&t->session, &t->s, e);
	if (!err)
		err = trial_start(t->s, &t->cmd, &how, e);
	t->started = !err;
	t->start_ns = clock_ns();
	t->next_interval_ns = clock_after(t->start_ns, t->interval_ns);
	return err;
}

/* The first time ends the run with its report, once the command has ended too; the second ends it at once. */
static void stop(struct trace *t, int sig, bool pass_on)
{
	t->now = t->stopping;
	t->stopping = true;
	if (t->argv && !t->have_status && (pass_on || t->now))
		kill(t->cmd.pid, sig);
	if (t->live && t->argv)
		live_stopping(t->live);
}

static void on_signal(struct trace *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:	live_resize(t->live); break;
	case SIGTSTP:	live_suspend(t->live); break;
	case SIGCONT:	live_continue(t->live); break;
	default:
		/* Ctrl-C reaches the command through the terminal; a signal sent to us alone has to be passed on */
		stop(t, (int)info.ssi_signo, info.ssi_code <= 0);
	}
}

static void on_keys(struct trace *t)
{
	switch (live_keys(t->live)) {
	case LIVE_QUIT:	stop(t, SIGINT, true); break;
	case LIVE_GONE:	stop(t, SIGHUP, true); break;
	default:	break;
	}
}

static void on_tick(struct trace *t)
{
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

	if (t->duration_ns)
		until = clock_after(t->start_ns, t->duration_ns);
	if (t->interval_ns && t->next_interval_ns < until)
		until = t->next_interval_ns;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now + 999999) / 1000000 > 60000 ? 60000 : (until - now + 999999) / 1000000);
}

static bool finished(const struct trace *t)
{
	if (t->now || t->have_status || t->filter.ended)
		return true;
	if (t->stopping && !t->argv)
		return true;
	return t->duration_ns && clock_ns() >= clock_after(t->start_ns, t->duration_ns);
}

static int loop(struct trace *t, struct err *e)
{
	int err = 0;

	while (!err && !finished(t)) {
		struct pollfd p[] = {
			{ .fd = t->signals, .events = POLLIN },
			{ .fd = t->tick, .events = POLLIN },
			{ .fd = t->argv ? t->cmd.pidfd : -1, .events = POLLIN },
			{ .fd = t->filter.pidfd, .events = POLLIN },
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
			t->filter.ended = true;
		if (p[4].revents)
			session_drain(t->s);
		if (p[5].revents)
			on_keys(t);
		/* the last one is reported behind the loop */
		if (t->interval_ns && clock_ns() >= t->next_interval_ns && !finished(t)) {
			/* none is made up for those that we slept through */
			while (t->next_interval_ns <= clock_ns())
				t->next_interval_ns = clock_after(t->next_interval_ns, t->interval_ns);
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

/* The report stands; a command that outlives -d goes on untraced, and its status is still the run's. */
static int final_status(struct trace *t, bool incomplete)
{
	if (t->argv && !t->have_status && !t->now) {
		session_close(t->s);
		t->s = NULL;
		wait_for_command(t);
	}
	if (t->have_status)
		return !t->status && incomplete && t->strict ? EXIT_INCOMPLETE : t->status;
	return incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

/* Watching a disk by writing to it would change what is seen. */
static void note_own_place(struct trace *t)
{
	struct targets on = { 0 };
	struct err e;

	if (target_resolve(t->record.path, &on, &e))
		return;
	for (size_t i = 0; i < on.n && !t->note; i++)
		for (size_t j = 0; j < t->session.targets.n; j++)
			if (on.t[i].disk_major == t->session.targets.t[j].disk_major &&
			    on.t[i].disk_minor == t->session.targets.t[j].disk_minor && !t->session.all && !t->note)
				t->note = xasprintf("the recording %s lies on %s, which is traced: its own writes are "
						    "among those that are shown", t->record.path, on.t[i].disk);
	targets_free(&on);
}

static int open_recording(struct trace *t, struct err *e)
{
	int err = rotation_open(&t->record, &t->recording, e);

	t->session.recording = t->recording;
	if (!err)
		note_own_place(t);
	return err;
}

static void say_recorded(const struct trace *t, const struct rotation_written *w)
{
	if (w->files == 1)
		log_note("%s facts recorded; see them with: barriertrace report %s", num_count(w->records).s, t->record.path);
	else
		log_note("%s facts recorded in %s files, %s removed since; see the last with: barriertrace report %s",
			 num_count(w->records).s, num_count(w->files).s, w->removed ? num_count(w->removed).s : "none",
			 t->record.path);
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
	if (!err && t->record.path)
		err = open_recording(t, e);
	if (!err)
		err = open_signals(t, e);
	if (!err)
		err = start(t, e);
	if (err)
		return err;
	if (!t->out.quiet && !t->argv && !t->interval_ns && isatty(STDERR_FILENO))
		progress(t);
	err = open_live(t, e);
	if (!err)
		err = loop(t, e);
	/* what came since the last interval is an interval too: they add up to the run */
	if (!err && t->out.stream && !t->now) {
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
	outputs_close(&t->out);
	if (t->started)
		rotation_close(t->recording, &e);
	else
		rotation_drop(t->recording);
	free(t->note);
	filter_free(&t->filter);
	if (t->signals >= 0)
		close(t->signals);
	if (t->tick >= 0)
		close(t->tick);
	if (!t->s)
		targets_free(&t->session.targets);
}

static int trace_main(const struct command_def *def, char **argv)
{
	struct trace t = {
		.out = OUTPUTS_NONE, .text_later = OUTFILE_NONE, .signals = -1, .tick = -1,
		.filter = FILTER_NONE, .cmd = { .pidfd = -1, .go = -1, .failed = -1 },
	};
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status = EXIT_FAILED;

	probe_want_default(&t.session.want);
	if (options_parse(def, argv, set, &t, &words, &e)) {
		status = command_failed(&e);
	} else if (t.help) {
		status = command_help(def);
	} else if (t.version) {
		printf("barriertrace %s\n", BT_VERSION);
		status = EXIT_OK;
	} else if (def == &record_def && !t.record.path) {
		log_error("record needs -o FILE: where to put the recording");
		status = EXIT_USAGE;
	} else {
		log_level(t.out.quiet, t.out.verbose);
		t.argv = words.command;
		if (run(&t, words.words, &e, &status))
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
