// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workload.h"
#include "cmd/options_doc.h"
#include "util/edit_distance.h"
#include "util/log.h"
#include "util/mem.h"

#define NEAR_ENOUGH 3 /* edits from which a hint would only puzzle */

/* clang-format off */
static const struct command_row rows[] = {
	{ &trace_def, cmd_trace },	/* without a command word */
	{ &record_def, cmd_record },
	{ &report_def, cmd_report },
	{ &diff_def, cmd_diff },
	{ &doctor_def, cmd_doctor },
	{ &experiment_def, cmd_experiment },
	{ &bench_def, cmd_bench },
	{ &probes_def, cmd_probes },
};
/* clang-format on */

const char *command_near(const char *word)
{
	const char *best = NULL;
	size_t least = NEAR_ENOUGH;

	for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t far = near_distance(word, strlen(word), rows[i].def->name);

		if (far < least) {
			least = far;
			best = rows[i].def->name;
		}
	}
	return best;
}

static void show_help(const struct command_def *def)
{
	struct buf b = { 0 };

	options_help("barriertrace", def, &b);
	fputs(b.data, stdout);
	buf_free(&b);
}

int command_do(const struct command_def *def, char **argv, int (*set)(void *ctx, int id, const char *value, struct err *e),
	       int (*run)(void *ctx, const struct options_result *words, int *status, struct err *e), void *ctx)
{
	struct options_result words = { 0 };
	struct err e = { 0 };
	int status = EXIT_OK, err = options_parse(def, argv, set, ctx, &words, &e);

	if (!err && words.help)
		show_help(def);
	else if (!err)
		err = run(ctx, &words, &status, &e);
	if (err) {
		log_error("%s", e.text);
		status = e.status;
	}
	options_result_free(&words);
	return status;
}

static void tell(void *ctx, enum notice_level level, const char *text)
{
	(void)ctx;
	switch (level) {
	case NOTICE_DETAIL: log_verbose("%s", text); break;
	case NOTICE_NORMAL: log_note("%s", text); break;
	case NOTICE_ERROR: log_error("%s", text); break;
	case NOTICE_PROGRESS:
		if (*text)
			log_progress("%s", text);
		else
			log_progress_end();
	}
}

const struct notices command_notices = { .tell = tell };

/* For the man page and the completion: made from the same tables as the help, at build time. */
static int print_generated(const char *what)
{
	const struct command_def *defs[sizeof(rows) / sizeof(rows[0]) + 1] = { 0 };
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		defs[i] = rows[i].def;
	if (!strcmp(what, "man"))
		options_man(defs, &b);
	else
		options_completion_bash("barriertrace", defs, &b);
	fwrite(b.data, 1, b.len, stdout);
	buf_free(&b);
	return 0;
}

/* Reports have files of their own: this is of help, lists and the like, which a full disk may have swallowed. */
static int once_printed(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log_error("cannot write standard output: %s", strerror(errno));
	return status ? status : EXIT_FAILED;
}

int command_main(int argc, char **argv)
{
	json_set_alloc_funcs(xmalloc, free);
	if (argc == 3 && !strcmp(argv[1], "--generate"))
		return once_printed(print_generated(argv[2]));
	if (argc == 2 && !strcmp(argv[1], WORKLOAD_ENTRY))
		return workload_main();
	for (size_t i = 1; argc > 1 && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(argv[1], rows[i].def->name))
			return once_printed(rows[i].run(argv + 2));
	return once_printed(rows[0].run(argv + 1));
}
