// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace report FILE: any output, from a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/log.h"
#include "util/mem.h"
#include "cmd/outputs.h"
#include "run/replay.h"

enum { OPT_READ_MEMORY };

#define G_OUT "Output"

/* clang-format off */
static const struct option_def options[] = {
	{ "output", 'o', "FILE", OUTPUT_TEXT, "Write the text report to FILE.", G_OUT },
	{ "json", 0, "FILE", OUTPUT_JSON, "Write the report as JSON to FILE, or to standard output for '-'.", G_OUT },
	OUTPUT_MODE_OPTION(G_OUT)
	OUTPUT_SHOW_ARGS_OPTION(G_OUT)
	OUTPUT_AS_ROOT_OPTION(G_OUT)
	{ "ascii", 0, NULL, OUTPUT_ASCII, "Draw with plain ASCII.", G_OUT },
	{ "quiet", 'q', NULL, OUTPUT_QUIET, "No histograms, no list of the slowest calls.", G_OUT },
	{ "verbose", 'v', NULL, OUTPUT_VERBOSE, "Every histogram, every mount, the probes.", G_OUT },
	OUTPUT_OPTIONS
	READ_MEMORY_OPTION(OPT_READ_MEMORY, NULL)
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

const struct command_def report_def = {
	.name = "report",
	.usage = "[OPTION].. FILE",
	.summary = "Show a recording that barriertrace record made.",
	.about = "The report is the one of the live run. Needs no rights and no tracing. A damaged or cut-off recording shows "
		 "what is left of it, says so, and gives status 5.",
	.options = options,
	.words = "FILE",
};

struct ctx {
	struct outputs out;
	uint64_t read_memory; /* 0: as usual */
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;
	int err = outputs_set(&c->out, id, value, e);

	if (err > 0 && id == OPT_READ_MEMORY)
		err = read_memory_set(value, &c->read_memory, e);
	return err < 0 ? err : 0;
}

static int show(struct ctx *c, const char *path, int *status, struct err *e)
{
	struct report r = { 0 };
	char *damage = NULL;
	int err;

	read_memory_limit(c->read_memory);
	err = replay(path, outputs_want_detail(&c->out), &r, &damage, e);
	c->out.taken[0] = strcmp(path, "-") ? path : NULL;
	if (!err)
		err = outputs_open(&c->out, TEXT_STDOUT, e);
	if (!err)
		err = outputs_write(&c->out, &r, e);
	if (!err)
		err = outputs_commit(&c->out, e);
	if (!err && damage)
		log_error("%s: %s", path, damage);
	*status = r.incomplete ? EXIT_INCOMPLETE : EXIT_OK;
	free(damage);
	report_free(&r);
	return err;
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	if (strv_len(words->words) != 1)
		return err_set(e, EINVAL, EXIT_USAGE, "report takes one recording: barriertrace report FILE");
	return show(ctx, words->words[0], status, e);
}

int cmd_report(char **argv)
{
	struct ctx c = { .out = OUTPUTS_NONE };
	int status = command_do(&report_def, argv, set, run, &c);

	outputs_close(&c.out);
	return status;
}
