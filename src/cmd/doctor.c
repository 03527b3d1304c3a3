// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace doctor [TARGET]: what the stack is set to, and what of that hurts. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"
#include "cmd/outputs.h"
#include "probe/probe.h"
#include "render/render_documents.h"
#include "run/run.h"

enum { OPT_TRACE, OPT_NO_TOOLS, OPT_NO_PROBES };

/* clang-format off */
static const struct option_def options[] = {
	{ "trace", 't', "SECONDS", OPT_TRACE, "Trace the target for SECONDS (also 500ms, 2m) and weigh the findings by "
	  "what the sync calls of that time waited for.", NULL },
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text to FILE.", NULL },
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the diagnosis as JSON to FILE, or to standard output for '-'.", NULL },
	OUTPUT_MODE_OPTION(NULL)
	OUTPUT_AS_ROOT_OPTION(NULL)
	{ "quiet", 'q', NULL, OUTPUT_QUIET, "The findings alone.", NULL },
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", NULL },
	{ "no-tools", 0, NULL, OPT_NO_TOOLS, "Start no smartctl, hdparm or nvme.", NULL },
	{ "no-probes", 0, NULL, OPT_NO_PROBES, "Don't try which of this tool's probes work (takes some seconds, and "
		"root).", NULL },
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

const struct command_def doctor_def = {
	.name = "doctor",
	.usage = "[OPTION].. [TARGET]",
	.summary = "Look at every setting that changes what an fsync costs, and say what hurts.",
	.about = "Reads, and changes nothing. A TARGET is a disk, a partition, a dm, md or loop device, a mount point "
		 "or a file; looked at are the disks below it and all that stands on them: file systems and their "
		 "options, device-mapper, md and loop devices, partitions, queues, and the drives themselves where "
		 "smartctl, hdparm or nvme is installed. Without a TARGET: every disk.\n\n"
		 "A finding is unsafe (what fsync said was written can be lost), to check (it cannot be told from "
		 "here), slow, or a note. Each setting is shown with its value, where it was read, and what it does to "
		 "an fsync. A drive that sleeps is not woken.",
	.options = options,
	.words = "DISK",
};

struct ctx {
	struct outputs out;
	struct doctor_opts look;
	uint64_t trace_ns;
	bool no_probes;
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;
	int err = outputs_set(&c->out, id, value, e);

	if (err <= 0)
		return err;
	switch (id) {
	case OPT_TRACE:
		if (num_parse_seconds(value, &c->trace_ns) || !c->trace_ns)
			return err_set(e, EINVAL, EXIT_USAGE,
				       "--trace %s: write a time above 0, such as 1, 0.5 or "
				       "500ms",
				       value);
		break;
	case OPT_NO_TOOLS: c->look.no_tools = true; break;
	case OPT_NO_PROBES: c->no_probes = true; break;
	}
	return 0;
}

/* ---- the probes ---- */

/* The plan becomes the diagnosis'. */
static void take_probes(struct diagnosis *d, struct report *r)
{
	d->have_probes = true;
	d->probe = r->probe;
	d->n_probes = r->n_probes;
	r->probe = NULL;
	r->n_probes = 0;
}

static void try_probes(struct diagnosis *d)
{
	struct probe_want want;
	struct probes *p = NULL;
	struct report r = { 0 };
	struct err e = { 0 };
	int err;

	probe_want_default(&want);
	want.notices = command_notices;
	for (int i = 0; i < PROBE_COUNT; i++)
		want.on[i] = true;
	want.ledger = true;
	want.views = want.stripes = want.slots = 1;
	err = probes_open(&want, &p, &e);
	if (!err || err != -EPERM) {
		probes_report(p, &r);
		take_probes(d, &r);
	}
	if (err)
		d->no_probes = xstrdup(e.text);
	probes_close(p);
	report_free(&r);
}

/* ---- the work ---- */

static int trace(const char *word, uint64_t ns, bool quiet, struct diagnosis *d, struct err *e)
{
	struct run_opts o = { .all = !word, .duration_ns = ns, .notices = command_notices };
	struct run_result result = { 0 };
	int err = word ? target_resolve(word, &o.targets, e) : target_all(&o.targets, e);

	run_opts_default(&o);
	if (!quiet && isatty(STDERR_FILENO))
		log_note("tracing for %s ...", num_duration(ns, 0).s);
	if (!err)
		err = run_traced(&o, NULL, &result, e);
	if (!err) {
		doctor_weigh(d, &result.report);
		take_probes(d, &result.report);
	}
	run_result_free(&result);
	return err;
}

static void put(const void *document, const struct render_opts *opts, bool hide, struct buf *b)
{
	(void)hide; /* it names no command */
	if (opts)
		render_diagnosis_text(document, opts, b);
	else
		render_diagnosis_json(document, b);
}

static int diagnose(struct ctx *c, const char *word, int *status, struct err *e)
{
	struct diagnosis d = { 0 };
	int err = doctor_look(word, &c->look, &d, e);

	if (!err)
		err = outputs_open(&c->out, TEXT_STDOUT, e);
	if (!err && c->trace_ns)
		err = trace(word, c->trace_ns, c->out.quiet, &d, e);
	else if (!err && !c->no_probes && (!c->out.quiet || c->out.json_path))
		try_probes(&d);
	if (!err)
		err = outputs_document(&c->out, put, &d, e);
	*status = d.trace.incomplete ? EXIT_INCOMPLETE : EXIT_OK;
	diagnosis_free(&d);
	return err;
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	if (strv_len(words->words) > 1)
		return err_set(e, EINVAL, EXIT_USAGE, "doctor takes one target, or none for every disk");
	return diagnose(ctx, words->words ? words->words[0] : NULL, status, e);
}

int cmd_doctor(char **argv)
{
	struct ctx c = { .out = OUTPUTS_NONE };
	int status = command_do(&doctor_def, argv, set, run, &c);

	outputs_close(&c.out);
	return status;
}
