/* SPDX-License-Identifier: GPL-2.0-only */
/* trace_options.h - what the user wants of a tracing run: the tables of its options stand in trace_options.c. */
#ifndef BT_CMD_TRACE_OPTIONS_H
#define BT_CMD_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/task_filter.h"
#include "recording/rotation.h"
#include "util/err.h"
#include "cmd/outputs.h"
#include "run/run.h"

struct trace_opts {
	struct run_opts run;
	struct filter filter;
	struct outputs out;
	struct rotation_opts record; /* path NULL: no recording */
	bool anonymise;		     /* a recording, instead of making one */
	unsigned int run_options;    /* given, of those that say something of a run */
	bool strict, no_ledger, eager, plain, version;
	char *const *argv; /* the command; NULL: none */
};

#define TRACE_OPTS_NONE \
	{ \
		.out = OUTPUTS_NONE, .filter = FILTER_NONE \
	}

/* For options_parse(), of trace_def and record_def; ctx: a struct trace_opts. */
int trace_opts_set(void *ctx, int id, const char *value, struct err *e);

/* What does not go together, when all of them are set. */
int trace_opts_check(const struct trace_opts *o, struct err *e);

#endif
