/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diagnosis.h - what a stack of disks and file systems is set to, and what of that hurts: the seam between
 * looking (src/doctor) and rendering.
 *
 * Strings are raw, as in a report: a renderer escapes them. NULL means "not known" or "none". Everything that isn't
 * said to be static is owned by the diagnosis and freed by diagnosis_free(). Times are nanoseconds.
 */
#ifndef BT_MODEL_DIAGNOSIS_H
#define BT_MODEL_DIAGNOSIS_H

#include "model/report.h"

/* Layers, from the top of a stack to its bottom; the machine beside them. */
enum diag_kind { DIAG_FS, DIAG_LOOP, DIAG_DM, DIAG_MD, DIAG_PARTITION, DIAG_DISK, DIAG_MACHINE, DIAG_KINDS };

/* Worst first. */
enum diag_grade {
	DIAG_UNSAFE, /* what fsync said was written can be lost in a power cut */
	DIAG_CHECK,  /* may be unsafe: it cannot be told from here */
	DIAG_SLOW,   /* costs time */
	DIAG_NOTE,   /* worth knowing */
	DIAG_GRADES
};

struct diag_setting {
	const char *key;    /* "write_cache"; static */
	const char *unit;   /* "us"; static; NULL: none */
	const char *effect; /* what it does to an fsync: one sentence; static */
	uint32_t causes;    /* bits (1 << enum cause) that it acts on; 0: no single one */
	char *value;	    /* as the kernel or the tool has it; NULL: not known */
	char *where;	    /* the path or the command that it was read from */
	char *unknown;	    /* why the value isn't known */
};

struct diag_layer {
	enum diag_kind kind;
	char *name;		   /* kernel name; a file system's mount point; "machine" */
	char *fstype, *options;	   /* of a file system */
	unsigned int major, minor; /* of a block device */
	char **below;		   /* names of the layers that it stands on; NULL: none */
	struct diag_setting *setting;
	size_t n_settings;
};

struct diag_finding {
	enum diag_grade grade;
	char *place;	 /* the layer's name */
	const char *key; /* the setting's; static */
	char *what;	 /* one or two sentences */
	char *advice;	 /* NULL: nothing to be done */
	uint32_t causes;
	bool have_weight;   /* the trace saw sync calls, and the finding is about causes of theirs */
	uint64_t weight_ns; /* of their time, what these causes took */
};

/* What --trace saw. */
struct diag_trace {
	bool have;
	uint64_t wall_ns;
	uint64_t calls, total_ns; /* sync calls with a ledger */
	struct ledger ledger;
	char *sentence;	 /* the verdict */
	bool incomplete; /* events were lost */
};

struct diagnosis {
	char *version, *kernel, *arch;
	char *target;		  /* the user's word; NULL: every disk */
	struct diag_layer *layer; /* what stands on others comes before them; the machine is last */
	size_t n_layers;
	struct diag_finding *finding; /* worst first, then by weight */
	size_t n_findings;
	bool have_probes;
	char *no_probes; /* why they could not be tried */
	struct report_probe *probe;
	size_t n_probes;
	struct diag_trace trace;
};

const char *diag_kind_name(enum diag_kind k);	/* "file system" */
const char *diag_grade_name(enum diag_grade g); /* "unsafe" */

/* The value of a setting; NULL when the layer has no such setting or it isn't known. */
const char *diag_value(const struct diag_layer *l, const char *key);

bool diag_is(const struct diag_layer *l, const char *key, const char *value); /* known, and this */

/* NULL when there is none of this name. */
const struct diag_layer *diag_layer_named(const struct diagnosis *d, const char *name);

/* Puts the findings in their order; equal ones stay as they are. */
void diagnosis_sort(struct diagnosis *d);

void diagnosis_free(struct diagnosis *d);

#endif
