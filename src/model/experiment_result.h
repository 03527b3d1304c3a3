/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * experiment_result.h - what an experiment came to: the seam between measuring, comparing (analyse/compare/experiment_runs.c) and rendering.
 *
 * Times are nanoseconds. Everything is owned by the outcome. Variant 0 is the one that the others are compared with.
 */
#ifndef BT_MODEL_EXPERIMENT_RESULT_H
#define BT_MODEL_EXPERIMENT_RESULT_H

#include "model/report.h"

/* What setting a key to its value takes away, as far as the what-if knows one. */
struct outcome_removal {
	const char *what; /* cause or family; static; NULL: none */
	bool at_most;	  /* not all of it need go */
	bool same;	  /* as in variant 0: nothing goes */
};

struct outcome_prediction {
	bool have;
	bool at_most;		       /* this much, or less */
	double faster;		       /* by what factor, more than 1: faster */
	uint64_t wall_ns;	       /* 0: not known, only of a call */
	uint64_t call_now_ns, call_ns; /* a call as it was, and then, on average; 0: nothing changes */
	const char *without;	       /* the what-if that it is taken from; NULL: nothing changes */
	uint64_t base_ns;	       /* the run of variant 0 that it is made from: what that took */
};

struct outcome_cause {
	enum cause cause;
	double per_run[2]; /* ns: variant 0's, this one's */
};

/* Against variant 0. */
struct outcome_change {
	double faster;				 /* by what factor; less than 1: slower */
	bool have_interval;			 /* two runs of each at least */
	bool told;				 /* 1 is outside of it: no chance, as far as 95 % go */
	double low, high;			 /* 95 % confidence */
	bool wide;				 /* so far apart that they say nothing */
	struct outcome_cause cause[CAUSE_COUNT]; /* that either has, by the size of the difference */
	size_t n_causes;
	double sync_difference; /* of the sync time per run */
	bool blamed;		/* a family of causes changed most of what changed */
	enum cause_family family;
	double family_difference; /* of its time per run */
	char *sentence;
};

struct outcome_run {
	uint64_t wall_ns;		/* of the command */
	char *class, *family, *verdict; /* NULL: none */
};

struct outcome_variant {
	char *name;
	char **set; /* "key=value"; NULL: as it is */
	char *risk; /* NULL: none */
	struct outcome_removal removal;
	struct outcome_run *run;
	size_t n_runs, median; /* `median` is the index of the usual one; set by trials_conclude() */
	uint64_t mean_ns;      /* likewise */
	size_t rank; /* likewise: 1 is the fastest; those that cannot be told from the first of a rank share it; 0: one run says nothing */
	struct ledger ledger; /* of all runs */
	uint64_t calls, sync_ns, flushes;
	uint64_t lost_events;
	bool incomplete;
	struct outcome_prediction prediction;
	struct outcome_change change; /* not of variant 0 */
};

struct outcome {
	char *version, *kernel, *arch;
	char *start;  /* of the first run, RFC 3339 */
	char *target; /* "/mnt, ext4 on loop0" */
	char **command;
	bool arguments_hidden; /* command has but its program's name */
	size_t n_runs;	       /* of each variant, as asked for; the warm-up is none of them */
	struct outcome_variant *variant;
	size_t n;
	bool restored;	/* everything is as it was */
	char **notes;	/* NULL-terminated sentences; or NULL */
	char *sentence; /* what it came to */
};

void outcome_free(struct outcome *o); /* zeroes it */

#endif
