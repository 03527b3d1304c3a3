// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace [DISK..] [-- COMMAND]: the main job. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "collect/command.h"
#include "collect/filter.h"
#include "commands.h"
#include "log.h"
#include "mem.h"
#include "num.h"
#include "outfile.h"
#include "render/render.h"
#include "session.h"

enum {
	OPT_PID, OPT_CGROUP, OPT_INTERVAL, OPT_DURATION, OPT_OUTPUT, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_AS_ROOT,
	OPT_BTF, OPT_RUNG, OPT_STRICT, OPT_ASCII, OPT_VERSION, OPT_HELP
};

#define G_WHAT "What to trace"
#define G_RUN "How long, how often"
#define G_OUT "Output"
#define G_KERNEL "Kernel side"

static const struct option_def options[] = {
	{ "pid", 'p', "PID", OPT_PID, "Count only requests that this process sends itself (not what the journal or "
	  "writeback do for it); ends when it ends.", G_WHAT },
	{ "cgroup", 0, "PATH", OPT_CGROUP, "Count only requests of this cgroup and those below it.", G_WHAT },
	{ "as-root", 0, NULL, OPT_AS_ROOT, "Run COMMAND as root instead of as the user who called sudo.", G_WHAT },
	{ "interval", 'i', "SECONDS", OPT_INTERVAL, "Report every SECONDS, and the whole run at the end. On a "
	  "terminal the report is redrawn in place.", G_RUN },
	{ "duration", 'd', "SECONDS", OPT_DURATION, "Stop after SECONDS (also 500ms, 2m). Without it: until Ctrl-C, "
	  "or until COMMAND ends.", G_RUN },
	{ "output", 'o', "FILE", OPT_OUTPUT, "Write the text report to FILE.", G_OUT },
	{ "json", 0, "FILE", OPT_JSON, "Write the report as JSON to FILE, or to standard output for '-'. With -i: one "
	  "object per line.", G_OUT },
	{ "ascii", 0, NULL, OPT_ASCII, "Draw with plain ASCII.", G_OUT },
	{ "quiet", 'q', NULL, OPT_QUIET, "Tables only: no histograms, no notes, no progress.", G_OUT },
	{ "verbose", 'v', NULL, OPT_VERBOSE, "Every histogram, every mount, the probes.", G_OUT },
	{ "strict", 0, NULL, OPT_STRICT, "Exit with status 5 when events were lost, even if COMMAND succeeded.", G_OUT },
	{ "btf", 0, "FILE", OPT_BTF, "Take the kernel's type information from FILE.", G_KERNEL },
	{ "rung", 0, "NAME=RUNG", OPT_RUNG, "Attach a probe or a family of probes only this way (tp_btf, raw_tp).",
	  G_KERNEL },
	{ "version", 0, NULL, OPT_VERSION, "Show the version.", NULL },
	{ "help", 'h', NULL, OPT_HELP, "Show this help.", NULL },
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
		 "goes to standard error or to -o FILE.",
	.options = options,
	.wraps = true,
	.words = "DISK",
};

struct trace {
	/* what the user wants */
	struct session_opts session;
	struct filter filter;
	uint64_t interval_ns, duration_ns;
	const char *output_path, *json_path;
	bool quiet, verbose, as_root, strict, ascii, help, version;
	char *const *argv;		/* the command; NULL: none */

	/* what runs */
	struct session *s;
	struct command cmd;
	struct outfile text_out, json_out;
	int signals, tick;		/* file descriptors */
	sigset_t blocked;
	bool on_screen;			/* intervals are redrawn in place on standard output */
	bool in_place;			/* a progress line stands on the terminal */
	bool stopping;			/* a first signal came */
	bool now;			/* a second one: end without waiting */
	uint64_t start_ns, next_interval_ns;
	bool have_status;
	int status;
};

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- options ---- */

static int set_seconds(const char *name, const char *value, uint64_t *ns, struct err *e)
{
	if (num_parse_seconds(value, ns) || !*ns)
		return err_set(e, EINVAL, EXIT_USAGE, "--%s %s: write a time above 0, such as 1, 0.5 or 500ms", name,
			       value);
	return 0;
}

static int set_flag(struct trace *t, int id)
{
	switch (id) {
	case OPT_QUIET:		t->quiet = true; break;
	case OPT_VERBOSE:	t->verbose = true; break;
	case OPT_AS_ROOT:	t->as_root = true; break;
	case OPT_STRICT:	t->strict = true; break;
	case OPT_ASCII:		t->ascii = true; break;
	case OPT_VERSION:	t->version = true; break;
	case OPT_HELP:		t->help = true; break;
	}
	return 0;
}

static int set(void *ctx, int id, const char *value, struct err *e)
{
	struct trace *t = ctx;

	switch (id) {
	case OPT_PID:		return filter_pid(&t->filter, value, e);
	case OPT_CGROUP:	return filter_cgroup(&t->filter, value, e);
	case OPT_INTERVAL:	return set_seconds("interval", value, &t->interval_ns, e);
	case OPT_DURATION:	return set_seconds("duration", value, &t->duration_ns, e);
	case OPT_OUTPUT:	t->output_path = value; return 0;
	case OPT_JSON:		t->json_path = value; return 0;
	case OPT_BTF:		t->session.want.btf_path = value; return 0;
	case OPT_RUNG:		return probe_want_force(&t->session.want, value, e);
	default:		return set_flag(t, id);
	}
}

/* ---- output ---- */

static bool utf8_locale(void)
{
	const char *vars[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *v = getenv(vars[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

static struct render_opts text_opts(const struct trace *t)
{
	int fd = t->text_out.fd;
	struct winsize ws;
	bool tty = isatty(fd);
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return (struct render_opts){
		.color = tty && !(no_color && *no_color) && term && strcmp(term, "dumb"),
		.unicode = !t->ascii && utf8_locale(),
		.width = tty && !ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col >= 60 ? ws.ws_col : 80,
		.quiet = t->quiet,
		.verbose = t->verbose,
	};
}

static void clear_progress(struct trace *t)
{
	if (t->in_place)
		fputs("\r\033[K", stderr);
	t->in_place = false;
}

static int write_text(struct trace *t, const struct report *r, struct err *e)
{
	struct render_opts o = text_opts(t);
	struct buf b = { 0 };
	int err;

	if (t->text_out.fd < 0)
		return 0;
	if (t->on_screen)
		buf_str(&b, "\033[H\033[J");
	if (o.width > 120)
		o.width = 120;
	render_text(r, &o, &b);
	err = outfile_write(&t->text_out, &b, e);
	buf_free(&b);
	return err;
}

static int write_json(struct trace *t, const struct report *r, struct err *e)
{
	const struct render_opts o = { 0 };
	struct buf b = { 0 };
	int err;

	if (t->json_out.fd < 0)
		return 0;
	if (t->interval_ns)
		render_ndjson(r, &o, &b);
	else
		render_json(r, &o, &b);
	err = outfile_write(&t->json_out, &b, e);
	buf_free(&b);
	return err;
}

static void command_facts(const struct trace *t, struct report *r)
{
	r->filter = xstrdup(t->filter.text);
	if (!t->argv)
		return;
	r->command = strv_dup(t->argv);
	r->have_exit_status = t->have_status;
	r->exit_status = t->status;
}

static int write_report(struct trace *t, struct report *r, struct err *e)
{
	int err;

	command_facts(t, r);
	clear_progress(t);
	err = write_json(t, r, e);
	return err ? err : write_text(t, r, e);
}

static int report_interval(struct trace *t, struct err *e)
{
	struct report r;
	int err;

	session_report_interval(t->s, &r);
	err = write_report(t, &r, e);
	report_free(&r);
	return err;
}

static int report_final(struct trace *t, bool *incomplete, struct err *e)
{
	struct report r;
	int err;

	session_report_total(t->s, &r);
	r.interval = t->interval_ns > 0;	/* the last of a stream */
	if (t->filter.ended)
		strv_add(&r.notes, xasprintf("process %d ended during the run", t->filter.pid));
	*incomplete = r.incomplete;
	if (r.lost_events)
		log_error("%" PRIu64 " events were lost: the report is incomplete", r.lost_events);
	err = write_report(t, &r, e);
	if (!err)
		err = outfile_commit(&t->text_out, e);
	if (!err)
		err = outfile_commit(&t->json_out, e);
	report_free(&r);
	return err;
}

/* Where the text goes: -o, else standard error beside a command, else standard output unless JSON takes it. */
static int open_outputs(struct trace *t, struct err *e)
{
	bool stream = t->interval_ns > 0, json_stdout = t->json_path && !strcmp(t->json_path, "-");
	int err = 0;

	if (t->json_path)
		err = outfile_open(&t->json_out, t->json_path, stream, e);
	if (err)
		return err;
	if (t->output_path)
		return outfile_open(&t->text_out, t->output_path, stream, e);
	if (t->argv)
		t->text_out = (struct outfile){ .fd = dup(STDERR_FILENO), .path = "standard error" };
	else if (!json_stdout)
		return outfile_open(&t->text_out, "-", stream, e);
	t->on_screen = false;
	return 0;
}

static void progress(struct trace *t)
{
	uint64_t requests, flushes;

	if (t->quiet || t->argv || t->interval_ns || !isatty(STDERR_FILENO))
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
	struct itimerspec every = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };

	sigemptyset(&t->blocked);
	sigaddset(&t->blocked, SIGINT);
	sigaddset(&t->blocked, SIGTERM);
	sigaddset(&t->blocked, SIGHUP);
	t->signals = signalfd(-1, &t->blocked, SFD_CLOEXEC);
	t->tick = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (t->signals < 0 || t->tick < 0 || timerfd_settime(t->tick, 0, &every, NULL))
		return err_set(e, errno, EXIT_FAILED, "cannot set up signals: %s", strerror(errno));
	return 0;
}

static int start(struct trace *t, struct err *e)
{
	struct probe_want *want = &t->session.want;
	int err;

	want->filter_tgid = (uint32_t)t->filter.pid;
	want->filter_cgroup = t->filter.cgroup_kind;
	want->cgroup_id = t->filter.cgroup_id;
	want->command = t->argv != NULL;
	err = session_open(&t->session, &t->s, e);
	if (!err && t->argv)
		err = command_fork(&t->cmd, t->argv, t->as_root, e);
	if (err)
		return err;
	/* only now: the command keeps the signals as our caller had them */
	sigprocmask(SIG_BLOCK, &t->blocked, NULL);
	if (t->argv)
		err = session_follow(t->s, t->cmd.pid, e);
	if (!err)
		err = session_start(t->s, e);
	if (!err && t->argv)
		err = command_release(&t->cmd, e);
	t->start_ns = clock_ns();
	t->next_interval_ns = t->start_ns + t->interval_ns;
	return err;
}

/* The first signal ends the run with its report, once the command has ended too; the second ends it at once. */
static void on_signal(struct trace *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	t->now = t->stopping;
	t->stopping = true;
	/* Ctrl-C reaches the command through the terminal; a signal sent to us alone has to be passed on */
	if (t->argv && !t->have_status && (info.ssi_code <= 0 || t->now))
		kill(t->cmd.pid, (int)info.ssi_signo);
}

static void on_tick(struct trace *t)
{
	uint64_t ticks;

	if (read(t->tick, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
		return;
	session_look_around(t->s);
	progress(t);
}

static int wait_ms(const struct trace *t)
{
	uint64_t now = clock_ns(), until = UINT64_MAX;

	if (t->duration_ns)
		until = t->start_ns + t->duration_ns;
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
	return t->duration_ns && clock_ns() >= t->start_ns + t->duration_ns;
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
		};
		int n = poll(p, 4, wait_ms(t));

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
		if (t->interval_ns && clock_ns() >= t->next_interval_ns) {
			t->next_interval_ns += t->interval_ns;
			err = report_interval(t, e);
		}
	}
	return err;
}

/* The report stands; a command that outlives -d goes on, and its status is still the run's. */
static int final_status(struct trace *t, bool incomplete)
{
	if (t->argv && !t->have_status && !t->now && !command_wait(&t->cmd, &t->status))
		t->have_status = true;
	if (t->have_status)
		return !t->status && incomplete && t->strict ? EXIT_INCOMPLETE : t->status;
	return incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

static int run(struct trace *t, char **words, struct err *e, int *status)
{
	bool incomplete = false;
	int err;

	err = resolve_targets(t, words, e);
	if (!err)
		err = open_outputs(t, e);
	if (!err)
		err = open_signals(t, e);
	if (!err)
		err = start(t, e);
	if (err)
		return err;
	t->on_screen = t->interval_ns && !t->output_path && t->text_out.fd >= 0 && isatty(t->text_out.fd);
	if (!t->quiet && !t->argv && !t->interval_ns && isatty(STDERR_FILENO))
		progress(t);
	err = loop(t, e);
	if (!err)
		err = report_final(t, &incomplete, e);
	*status = final_status(t, incomplete);
	return err;
}

static void clean_up(struct trace *t)
{
	command_abandon(&t->cmd);
	session_close(t->s);
	outfile_close(&t->text_out);
	outfile_close(&t->json_out);
	filter_free(&t->filter);
	if (t->signals >= 0)
		close(t->signals);
	if (t->tick >= 0)
		close(t->tick);
	if (!t->s)
		targets_free(&t->session.targets);
}

static int say_help(void)
{
	struct buf b = { 0 };

	options_help("barriertrace", &trace_def, &b);
	fputs(b.data, stdout);
	buf_free(&b);
	return EXIT_OK;
}

int cmd_trace(char **argv)
{
	struct trace t = {
		.text_out = OUTFILE_NONE, .json_out = OUTFILE_NONE, .signals = -1, .tick = -1,
		.filter = FILTER_NONE, .cmd = { .pidfd = -1, .go = -1, .failed = -1 },
	};
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status = EXIT_FAILED;

	probe_want_default(&t.session.want);
	if (options_parse(&trace_def, argv, set, &t, &words, &e)) {
		status = command_failed(&e);
	} else if (t.help) {
		status = say_help();
	} else if (t.version) {
		printf("barriertrace %s\n", BT_VERSION);
		status = EXIT_OK;
	} else {
		log_level(t.quiet, t.verbose);
		t.argv = words.command;
		if (run(&t, words.words, &e, &status))
			status = command_failed(&e);
	}
	clean_up(&t);
	options_result_free(&words);
	return status;
}
