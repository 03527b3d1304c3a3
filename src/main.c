// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "util/log.h"
#include "util/edit_distance.h"
#include "util/user_file.h"
#include "bench/workload.h"
#include "host/caller.h"

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

int command_failed(const struct err *e)
{
	log_error("%s", e->text);
	return e->status;
}

int command_help(const struct command_def *def)
{
	struct buf b = { 0 };

	options_help("barriertrace", def, &b);
	fputs(b.data, stdout);
	buf_free(&b);
	return EXIT_OK;
}

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

/*
 * Where the caller has closed one of the first three files, none of ours is to come to stand: what is said would be written into it.
 * To read from or to write to them still fails, and a command gets them closed.
 */
static void hold_closed_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/*
 * Outputs, probes and perf events take many descriptors: as many as our caller may allow. And a file that may not get larger
 * (RLIMIT_FSIZE) is an error to tell, not an end without a word. A command gets both as they were (host/command.c).
 */
static void set_limits(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	signal(SIGXFSZ, SIG_IGN);
}

/* Reports have files of their own: this is of help, lists and the like, which a full disk may have swallowed. */
static int once_printed(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log_error("cannot write standard output: %s", strerror(errno));
	return status ? status : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	hold_closed_files();
	set_limits();
	user_files_by(caller_file_identity);
	if (argc == 3 && !strcmp(argv[1], "--generate"))
		return once_printed(print_generated(argv[2]));
	if (argc == 2 && !strcmp(argv[1], WORKLOAD_ENTRY))
		return workload_main();
	for (size_t i = 1; argc > 1 && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(argv[1], rows[i].def->name))
			return once_printed(rows[i].run(argv + 2));
	return once_printed(rows[0].run(argv + 1));
}
