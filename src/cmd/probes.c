// SPDX-License-Identifier: GPL-2.0-only
/* barriertrace probes: what this kernel lets us see, and why not the rest. */
#include <errno.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/outputs.h"
#include "util/log.h"
#include "probe/probe.h"
#include "render/render.h"

enum { OPT_HELP, OPT_BTF, OPT_RUNG, OPT_VERBOSE };

/* clang-format off */
static const struct option_def options[] = {
	{ "btf", 0, "FILE", OPT_BTF, "Take the kernel's type information from FILE.", NULL },
	{ "rung", 0, "NAME=RUNG", OPT_RUNG, "Attach a probe or a family of probes only this way, or fail.", NULL },
	OUTPUT_AS_ROOT_OPTION(NULL)
	{ "verbose", 'v', NULL, OPT_VERBOSE, "Show what libbpf says.", NULL },
	{ "help", 'h', NULL, OPT_HELP, "Show this help.", NULL },
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

struct ctx {
	struct probe_want want;
	bool help;
};

static int set(void *arg, int id, const char *value, struct err *e)
{
	struct ctx *c = arg;

	switch (id) {
	case OPT_HELP: c->help = true; return 0;
	case OPT_BTF: c->want.btf_path = value; return 0;
	case OPT_RUNG: return probe_want_force(&c->want, value, e);
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

static int run(struct ctx *c)
{
	struct probes *p = NULL;
	struct report r = { 0 };
	struct err e = { 0 };
	int err;

	for (int i = 0; i < PROBE_COUNT; i++)
		c->want.on[i] = true;
	c->want.ledger = c->want.try_all = true;
	c->want.views = c->want.stripes = c->want.slots = 1;
	err = probes_open(&c->want, &p, &e);
	if (!err)
		err = probes_attach(p, &e);
	probes_report(p, &r);
	probes_close(p);
	if (err != -EPERM && r.n_probes)
		print_plan(&r);
	report_free(&r);
	return err ? command_failed(&e) : 0;
}

int cmd_probes(char **argv)
{
	struct ctx c = { 0 };
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status;

	probe_want_default(&c.want);
	c.want.notices = command_notices;
	if (options_parse(&probes_def, argv, set, &c, &words, &e))
		return command_failed(&e);
	if (c.help) {
		status = command_help(&probes_def);
	} else if (words.words) {
		log_error("probes takes no disk: '%s'", words.words[0]);
		status = EXIT_USAGE;
	} else {
		status = run(&c);
	}
	options_result_free(&words);
	return status;
}
