/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * experiment_runner.h - the runs of an experiment: each under its variant's settings, in turn, and whatever happens the settings are
 * put back. Joins experiment/ (what is set), run.h (the runs) and analyse/compare/experiment_runs.h (what they came to).
 */
#ifndef BT_EXPERIMENT_EXPERIMENT_RUNNER_H
#define BT_EXPERIMENT_EXPERIMENT_RUNNER_H

#include <stdbool.h>

#include "util/err.h"
#include "util/notice.h"
#include "experiment/variants.h"
#include "experiment/restore_file.h"
#include "model/experiment_result.h"

struct lab_opts {
	const char *target;	       /* what is traced: see target_resolve() */
	const char *dir;	       /* whose file system is synced before each run; NULL: none */
	struct plan *plan;	       /* its places have been found */
	const struct state_disk *disk; /* on which no other experiment may be */
	size_t n_disks;
	char *const *command;
	unsigned int runs;	/* of each variant */
	bool as_root, progress; /* tell how far it is */
	struct notices notices;
};

/*
 * Runs all of it and fills in what was measured; nothing of the outcome's words but variants' names, sets and risks
 * need be there before. *status: the command's, when it failed, or 128+N when signal N ended the experiment; *e has the
 * line about it, and the result is not 0 then. The settings are as before in either case, or it has been said which are
 * not.
 */
int lab_run(const struct lab_opts *o, struct outcome *out, int *status, struct err *e);

/* Puts back what killed experiments left; says what. */
int lab_restore(const struct notices *notices, bool *failed, struct err *e);

#endif
