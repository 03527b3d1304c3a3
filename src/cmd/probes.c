// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace probes: what this kernel lets us see, and why not the rest. */
#include <errno.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/outputs.h"
#include "util/log.h"
#include "probe/probe.h"
#include "render/render.h"

enum { OPT_RUNG, OPT_VERBOSE };

/* clang-format off */
static const struct option_def options[] = {
	{ "rung", 0, "NAME=RUNG", OPT_RUNG, "Attach a probe or a family of probes only this way, or fail.", NULL },
	OUTPUT_AS_ROOT_OPTION(NULL)
	{ "verbose", 'v', NULL, OPT_VERBOSE, "Show what libbpf says.", NULL },
	OPTIONS_HELP_ROW
	{ 0 },
};
/* clang-format on */

const struct command_def probes_def = {
	.name = "probes",
	.usage = "[OPTION]..",
	.summary = "List the probes: the rung each one takes on this kernel, or why it can't be had.",
	.about = "Tries every probe on the running kernel and prints, for each, its rung (the way it is "
		 "attached), its state, the rungs that it could take, and the reason of every refusal. Exit status 4 when a required one is missing.",
	.options = options,
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct probe_want *want = arg;

	switch (id) {
	case OPT_RUNG: return probe_want_force(want, value, e);
	case OUTPUT_AS_ROOT: return user_files_by_root(e);
	default: log_level(false, true); return 0;
	}
}

static void print_plan(const struct report *r)
{
	printf("%-18s %-8s %-9s %-14s %s\n", "PROBE", "RUNG", "STATE", "COULD", "REASON");
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct report_probe *p = &r->probe[i];

		printf("%-18s %-8s %-9s %-14s %s\n", p->name, p->rung ? p->rung : "-", probe_state_name(p->state),
		       p->could ? p->could : "-", p->reason ? p->reason : "");
	}
}

static int try_all(struct probe_want *want, struct err *e)
{
	struct probes *p = NULL;
	struct report r = { 0 };
	int err;

	for (int i = 0; i < PROBE_COUNT; i++)
		want->on[i] = true;
	want->ledger = want->try_all = true;
	want->views = want->stripes = want->slots = 1;
	err = probes_open(want, &p, e);
	if (!err)
		err = probes_attach(p, e);
	probes_report(p, &r);
	probes_close(p);
	if (err != -EPERM && r.n_probes)
		print_plan(&r);
	report_free(&r);
	return err;
}

static int run(void *ctx, const struct options_result *words, int *status, struct err *e)
{
	(void)status;
	if (words->words)
		return err_set(e, EINVAL, EXIT_USAGE, "probes takes no disk: '%s'", words->words[0]);
	return try_all(ctx, e);
}

int cmd_probes(char **argv)
{
	struct probe_want want;

	probe_want_default(&want);
	want.notices = command_notices;
	return command_do(&probes_def, argv, set, run, &want);
}
