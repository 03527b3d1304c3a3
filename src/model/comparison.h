/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comparison.h - two runs side by side: the seam between comparing (analyse/compare/reports.c) and rendering.
 *
 * Index 0 is A, index 1 is B; a difference is B less A, a ratio B by A. Strings are raw, as in a report: a renderer
 * escapes them.
 */
#ifndef BT_MODEL_COMPARISON_H
#define BT_MODEL_COMPARISON_H

#include "model/report.h"

enum { SIDE_A, SIDE_B, SIDES };

/* The difference of two means and its 95 % confidence interval. Where from and how far to trust it: analyse/compare/reports.h */
struct comparison_interval {
	bool have;		      /* both sides have two values at least; otherwise only `difference` */
	bool told;		      /* 0 is outside: no chance, as far as 95 % go */
	double difference, low, high; /* ns */
	double freedom;		      /* degrees; 0 when neither side varies */
};

struct comparison_cause {
	enum cause cause;
	double per_call[SIDES]; /* ns */
	double difference;
};

/* Something about a device that is known of both and not the same. */
struct comparison_setting {
	const char *name;   /* static */
	char *of;	    /* a mount point, or NULL */
	char *value[SIDES]; /* "" for none */
};

struct comparison_device {
	const struct report_device *side[SIDES];	   /* NULL: only the other run has it */
	bool have_flushes, have_per_call, have_per_commit; /* of both sides */
	double flushes_per_call[SIDES], flushes_per_commit[SIDES];
	struct comparison_setting *setting;
	size_t n_settings;
};

struct comparison {
	const struct report *run[SIDES]; /* borrowed */
	const char *name[SIDES];	 /* of the files, borrowed; the caller's to fill in */
	char *sentence;			 /* what changed */
	bool have_calls;		 /* both runs have sync calls: `mean`, `ratio` and causes are there */
	struct comparison_interval mean; /* of the time per call */
	double ratio;			 /* of the means; 0: A's is 0 */
	struct comparison_cause cause[CAUSE_COUNT]; /* that either has, by the size of the difference */
	size_t n_causes;
	struct comparison_device *device;
	size_t n_devices;
	bool incomplete; /* a run is */
};

/* Frees what the comparison owns and zeroes it; the reports stay. */
void comparison_free(struct comparison *c);

#endif
