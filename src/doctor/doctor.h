/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor.h - from the user's word to a diagnosis: the layers of the stack, every setting that changes what a barrier
 * costs, and what hurts. Reads and changes nothing.
 */
#ifndef BT_DOCTOR_DOCTOR_H
#define BT_DOCTOR_DOCTOR_H

#include "model/diagnosis.h"
#include "util/err.h"

/* Zeroed: the real machine. */
struct doctor_opts {
	bool no_tools;			 /* start no smartctl, nvme, hdparm */
	const char *dev;		 /* folder of the device nodes; NULL: /dev */
	const char *const *tool_folders; /* ends with NULL; NULL: /usr/sbin and its like */
	/* The table of a dm device as dmsetup prints it, without keys; owned by the caller. NULL: the kernel's. */
	char *(*dm_table)(unsigned int major, unsigned int minor);
	/* The block size of the file system mounted here from this device; 0: not known. NULL: the kernel's. */
	uint64_t (*block_size)(const char *dir, unsigned int major, unsigned int minor);
};

/*
 * Fills a zeroed diagnosis but for the probes and the trace. `word` as for target_resolve(); NULL: every disk. On
 * failure *e says what is wrong with the word.
 */
int doctor_look(const char *word, const struct doctor_opts *o, struct diagnosis *d, struct err *e);

/* Adds what a traced run measured: the weight of each finding, and findings of its own. */
void doctor_weigh(struct diagnosis *d, const struct report *r);

#endif
