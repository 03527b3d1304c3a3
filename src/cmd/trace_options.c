// SPDX-License-Identifier: GPL-2.0-only
/* trace_options.c - the options of barriertrace itself and of its record. */
#include "cmd/trace_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "host/command.h"
#include "host/target.h"
#include "util/num.h"

/* clang-format off */
enum {
	OPT_PID, OPT_COMM, OPT_NO_CHILDREN, OPT_CGROUP, OPT_UNIT, OPT_CONTAINER, OPT_INTERVAL, OPT_TOP, OPT_DURATION, OPT_RECORDING, OPT_ROTATE, OPT_RUNG, OPT_STRICT,
	OPT_NO_LEDGER, OPT_EAGER, OPT_PLAIN, OPT_MEMORY, OPT_ANONYMISE, OPT_VERSION
};
/* clang-format on */

#define G_WHAT	 "What to trace"
#define G_RUN	 "How long, how often"
#define G_OUT	 "Output"
#define G_KERNEL "Kernel side"

/* clang-format off */
#define WHAT_OPTIONS \
	{ "pid", 'p', "PID", OPT_PID, "Count only the sync calls of this process and of its children, and requests that they send " \
	  "themselves (not what the journal or writeback do for them); ends when the last of them ends. May be given several times, " \
	  "as may the next: what any of them selects counts.", G_WHAT }, \
	{ "comm", 0, "NAME", OPT_COMM, "Likewise, of all processes of this name, also those that begin later.", G_WHAT }, \
	{ "no-children", 0, NULL, OPT_NO_CHILDREN, "With -p and --comm: leave out the children.", G_WHAT }, \
	{ "cgroup", 0, "PATH", OPT_CGROUP, "Count only requests and sync calls of this cgroup and those below it.", G_WHAT }, \
	{ "unit", 0, "NAME", OPT_UNIT, "Likewise, of this systemd unit.", G_WHAT }, \
	{ "container", 0, "ID", OPT_CONTAINER, "Likewise, of this container (Docker, Podman, Kubernetes, LXC): its ID, or how that " \
	  "begins.", G_WHAT }, \
	{ "as-root", 0, NULL, OUTPUT_AS_ROOT, "Run COMMAND, and open files, as root instead of as the user who " \
	  "called sudo.", G_WHAT }, \
	{ "no-ledger", 0, NULL, OPT_NO_LEDGER, "Block requests only: do not trace sync calls (costs less still).", G_WHAT },

#define DURATION_OPTION \
	{ "duration", 'd', "SECONDS", OPT_DURATION, "Trace for SECONDS (also 500ms, 2m); a COMMAND then goes on, and " \
	  "its status counts. Without it: until Ctrl-C, or until COMMAND ends.", G_RUN },

/* `json`: what else is to be said of it */
#define REPORT_OPTIONS(json) \
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the report as JSON to FILE, or to standard output for '-'." json, G_OUT }, \
	OUTPUT_MODE_OPTION(G_OUT) \
	OUTPUT_SHOW_ARGS_OPTION(G_OUT) \
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", G_OUT }, \
	{ "quiet", 'q', NULL, OUTPUT_QUIET, "No histograms, no list of the slowest calls, no progress, no remarks " \
	  "beside the report.", G_OUT }, \
	{ "verbose", 'v', NULL, OUTPUT_VERBOSE, "Every histogram, every mount, the probes, and what libbpf says of a refused " \
	  "one.", G_OUT }, \
	{ "strict", 0, NULL, OPT_STRICT, "Exit with status 5 when any event was lost, even if COMMAND succeeded.", G_OUT },

#define OTHER_OPTIONS \
	{ "rung", 0, "NAME=RUNG", OPT_RUNG, "Attach a probe or a family of probes only this way (tp_btf, raw_tp, " \
	  "tp, fentry, kprobe), or not run at all; barriertrace probes lists both.", \
	  G_KERNEL }, \
	{ "eager", 0, NULL, OPT_EAGER, "Keep everything attached. By default, when a disk or the machine is watched, ledgers are " \
	  "off after 10 s without a sync call, as they are most of the cost; the next call, which has none, brings them back. Where the " \
	  "kernel has fentry, from Linux 6.5 on, the tracepoint of all system calls is off after 10 s without a write that syncs " \
	  "(O_DSYNC), until the next.", \
	  G_KERNEL }, \
	{ "memory", 0, "SIZE", OPT_MEMORY, "Let the kernel side take at most SIZE (512M): copies of counters, the ring " \
	  "buffer and request slots get smaller until it fits; -v shows what each takes.", G_KERNEL }, \
	{ "version", 0, NULL, OPT_VERSION, "Show the version.", NULL }, \
	OPTIONS_HELP_ROW

static const struct option_def options[] = {
	WHAT_OPTIONS
	{ "interval", 'i', "SECONDS", OPT_INTERVAL, "Report every SECONDS, and the whole run at the end. On a "
	  "terminal: how often the live screen gets new figures; beside a COMMAND, -i is what asks for the screen.",
	  G_RUN },
	{ "top", 0, "N", OPT_TOP, "Name the N processes, files and stacks with the most time in each interval (100); the rest is summed. "
	  "The report of the whole run names all that there is room for.", G_RUN },
	DURATION_OPTION
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text report to FILE.", G_OUT },
	{ "plain", 0, NULL, OPT_PLAIN, "Plain text instead of the live screen.", G_OUT },
	REPORT_OPTIONS(" With -i: one object per line.")
	OUTPUT_OPTIONS
	OTHER_OPTIONS
	{ 0 },
};

static const struct option_def record_options[] = {
	{ "output", 'o', "FILE", OPT_RECORDING, "Write the recording to FILE.", G_OUT },
	{ "rotate", 0, "SIZE,N", OPT_ROTATE, "Go on in a new FILE before it is larger than SIZE (such as 100M), and keep N: "
	  "FILE.1 is the one before, and so on. Each is a recording of its own time. Those of an earlier run are "
	  "removed at the start.", G_OUT },
	{ "anonymise", 0, NULL, OPT_ANONYMISE, "Trace nothing: copy the recording IN to OUT with other names in place of paths, arguments, "
	  "processes, cgroups, mount points and mapped disks. Every report is the same but for them. '-' is standard input or output.",
	  G_OUT },
	{ "read-memory", 0, "SIZE", OUTPUT_READ_MEMORY, "With --anonymise: take at most SIZE of memory (default: 1G).", G_OUT },
	{ "text", 0, "FILE", OUTPUT_TEXT, "Write the text report too, to FILE or, for '-', to standard output.", G_OUT },
	REPORT_OPTIONS("")
	OUTPUT_OPTIONS
	WHAT_OPTIONS
	DURATION_OPTION
	OTHER_OPTIONS
	{ 0 },
};
/* clang-format on */

/* "pgbench -c1": the option is another program's. */
static int misread(char *const *words, int err, struct err *e)
{
	for (size_t i = 0; words && words[i]; i++) {
		struct targets on = { 0 };
		struct err ignored;
		bool disk = !target_resolve(words[i], &on, &ignored);

		targets_free(&on);
		if (!disk && !strchr(words[i], '/') && command_in_path(words[i], F_OK))
			return err_set(e, EINVAL, EXIT_USAGE,
				       "'%s' is a command: put -- before it (barriertrace -- %s ..)", words[i], words[i]);
	}
	return err;
}

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
	.misread = misread,
	.words = "DISK",
};

const struct command_def record_def = {
	.name = "record",
	.usage = "-o FILE [OPTION].. [TARGET].. [-- COMMAND [ARGUMENT]..]",
	.summary = "Trace as barriertrace does, and keep the facts in a file.",
	.about = "Any report can be made from the recording later, on any machine, without rights: "
		 "barriertrace report FILE. Put it on a disk that isn't traced.\n\n"
		 "Before you send a recording to somebody: barriertrace record --anonymise IN OUT.",
	.options = record_options,
	.wraps = true,
	.misread = misread,
	.words = "DISK",
};

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

static int set_top(const char *value, size_t *top, struct err *e)
{
	uint64_t n;

	if (num_parse_range(value, 1, 2048, &n))
		return err_set(e, EINVAL, EXIT_USAGE, "--top '%s': how many names: a number from 1 to 2048", value);
	*top = n;
	return 0;
}

static int set_flag(struct trace_opts *o, int id)
{
	switch (id) {
	case OPT_ANONYMISE: o->anonymise = true; break;
	case OPT_STRICT: o->strict = true; break;
	case OPT_NO_LEDGER: o->no_ledger = true; break;
	case OPT_EAGER: o->eager = true; break;
	case OPT_PLAIN: o->plain = true; break;
	case OPT_VERSION: o->version = true; break;
	case OPT_NO_CHILDREN: o->filter.no_children = true; break;
	}
	return 0;
}

int trace_opts_set(void *ctx, int id, const char *value, struct err *e)
{
	struct trace_opts *o = ctx;
	int err = outputs_set(&o->out, id, value, e);

	o->run_options += id != OPT_ANONYMISE && id != OPT_RECORDING && id != OUTPUT_READ_MEMORY &&
			  id != OUTPUT_AS_ROOT && id != OUTPUT_MODE;
	if (err <= 0)
		return err;
	switch (id) {
	case OPT_PID: return filter_pid(&o->filter, value, e);
	case OPT_COMM: return filter_comm(&o->filter, value, e);
	case OPT_CGROUP: return filter_cgroup(&o->filter, value, e);
	case OPT_UNIT: return filter_unit(&o->filter, value, e);
	case OPT_CONTAINER: return filter_container(&o->filter, value, e);
	case OPT_INTERVAL: return set_seconds("interval", value, &o->run.interval_ns, e);
	case OPT_TOP: return set_top(value, &o->run.top, e);
	case OPT_DURATION: return set_seconds("duration", value, &o->run.duration_ns, e);
	case OPT_RECORDING: o->record.path = value; return 0;
	case OPT_ROTATE: return rotation_parse(value, &o->record, e);
	case OPT_MEMORY: return set_memory(value, &o->run.memory, e);
	case OPT_RUNG: return probe_want_force(&o->run.want, value, e);
	default: return set_flag(o, id);
	}
}

int trace_opts_check(const struct trace_opts *o, struct err *e)
{
	if (o->filter.text && o->argv)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "'%s' selects what runs already, and a command behind -- is watched itself: "
			       "leave one of them out",
			       o->filter.text);
	if (o->out.read_memory)
		return err_set(e, EINVAL, EXIT_USAGE,
			       "--read-memory goes with --anonymise: it is about recordings that are read");
	if (o->run.top && !o->run.interval_ns)
		return err_set(e, EINVAL, EXIT_USAGE, "--top goes with --interval: it is about what each of them names");
	if (o->filter.no_children && !filter_by_process(&o->filter))
		return err_set(e, EINVAL, EXIT_USAGE, "--no-children goes with --pid or --comm: of whom?");
	return 0;
}
