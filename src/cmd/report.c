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
	OUTPUT_READ_MEMORY_OPTION(NULL)
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

static int show(struct outputs *o, const char *path, int *status, struct err *e)
{
	struct report r = { 0 };
	char *damage = NULL;
	int err;

	outputs_limit_memory(o);
	err = replay(path, outputs_want_detail(o), &r, &damage, e);
	o->taken[0] = strcmp(path, "-") ? path : NULL;
	if (!err)
		err = outputs_open(o, TEXT_STDOUT, e);
	if (!err)
		err = outputs_write(o, &r, e);
	if (!err)
		err = outputs_commit(o, e);
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
	struct outputs o = OUTPUTS_NONE;
	int status = command_do(&report_def, argv, outputs_set, run, &o);

	outputs_close(&o);
	return status;
}
