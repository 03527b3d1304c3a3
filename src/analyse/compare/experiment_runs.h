/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * experiment_runs.h - from the reports of an experiment's runs to what it came to.
 *
 * How much faster is the ratio of the geometric means of the runs' times; its 95 % confidence interval is Welch's
 * (reports.h) of the logarithms, taken back. It takes the runs for independent, and their logarithms for about normal.
 */
#ifndef BT_ANALYSE_COMPARE_EXPERIMENT_RUNS_H
#define BT_ANALYSE_COMPARE_EXPERIMENT_RUNS_H

#include "model/experiment_result.h"

/* Adds a run of a variant. `wall_ns` is the command's own time. */
void trials_add(struct outcome_variant *v, const struct report *r, uint64_t wall_ns);

/*
 * What a run of variant 0 tells of the others, before they have run. May be asked of several: the quickest counts, since
 * what else the machine does only adds to a run, and would be taken for what stays without the flushes.
 */
void trials_predict(struct outcome *o, const struct report *r);

/* Compares all of them with variant 0, and finds the words. */
void trials_conclude(struct outcome *o);

#endif
