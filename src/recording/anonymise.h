/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * anonymise.h - a recording once more, without the names that tell whose it is: paths, arguments, tasks, cgroups, mount points, names of
 * mapped disks. Numbers stay, and so does what analysis goes by: every report is the same but for names.
 */
#ifndef BT_RECORDING_ANONYMISE_H
#define BT_RECORDING_ANONYMISE_H

#include <stdint.h>

#include "recording/recording.h"

struct anonymised {
	uint64_t records;  /* facts written */
	uint64_t left_out; /* records that this version can't read: what they hold may be names */
};

/*
 * Reads `in` to its end. Nothing is written before a header has come, without which no report can be made: -EBADMSG then. What damage
 * there is the caller asks of `in`.
 */
int anonymise(struct recording *in, struct recording_writer *out, struct anonymised *done, struct err *e);

#endif
