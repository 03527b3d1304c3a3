/* SPDX-License-Identifier: GPL-2.0-only */
/* cmd.h - one row per command: which is picked, and help and the man page list them. What stages tell is said here. */
#ifndef BT_CMD_CMD_H
#define BT_CMD_CMD_H

#include "cmd/options.h"
#include "util/notice.h"

struct command_row {
	const struct command_def *def;
	int (*run)(char **argv); /* argv without program and command name; the exit status */
};

extern const struct command_def trace_def, record_def, report_def, diff_def, doctor_def, experiment_def, bench_def,
	probes_def;

int cmd_trace(char **argv);	 /* barriertrace [DISK..] [-- COMMAND] */
int cmd_record(char **argv);	 /* barriertrace record -o FILE [DISK..] [-- COMMAND] */
int cmd_report(char **argv);	 /* barriertrace report FILE */
int cmd_diff(char **argv);	 /* barriertrace diff A B */
int cmd_doctor(char **argv);	 /* barriertrace doctor [TARGET] */
int cmd_experiment(char **argv); /* barriertrace experiment [TARGET] --set KEY=VALUE.. -- COMMAND */
int cmd_bench(char **argv);	 /* barriertrace bench [WORKLOAD] [DIR] */
int cmd_probes(char **argv);	 /* barriertrace probes */

/* All that main() does; the exit status. */
int command_main(int argc, char **argv);

/* For the stages: notices go where the log goes, as quiet or as verbose as it is. */
extern const struct notices command_notices;

/*
 * What all commands do alike: reads argv by `def`, shows the help where that is asked for, else runs, speaks the error. The exit
 * status: what `run` puts into *status, which is EXIT_OK before, or that of the error that `set` or `run` returns in *e.
 */
int command_do(const struct command_def *def, char **argv, int (*set)(void *ctx, int id, const char *value, struct err *e),
	       int (*run)(void *ctx, const struct options_result *words, int *status, struct err *e), void *ctx);

/* The command whose name was probably meant, or NULL. */
const char *command_near(const char *word);

#endif
