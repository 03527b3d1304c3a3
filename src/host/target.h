/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.h - from the user's words (a disk, a partition, a mount point, a file) to the disks whose
 * requests are traced, and what there is to know about each of them. Reads sysfs, /proc and
 * mountinfo only; changes nothing.
 */
#ifndef BT_HOST_TARGET_H
#define BT_HOST_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "model/report.h"

/* One thing whose requests are counted: a whole disk or a partition of one. */
struct target {
	char name[32]; /* kernel name: sda, sda1, dm-0 */
	unsigned int major, minor;
	unsigned int disk_major, disk_minor; /* of the whole disk; equal to the above for one */
	char disk[32];			     /* kernel name of the whole disk */
	uint64_t diskseq; /* which disk that is; 0: not known (before Linux 5.15), or an empty drive, which any disk may come into */
	bool bio_based;	    /* has no request queue of its own (dm, md, zram, pmem) */
	uint32_t hw_queues; /* hardware queues; 0 when bio-based */
	/*
	 * Tags in one hardware queue, the driver's or the scheduler's: twice today's, at least 256, so
	 * that neither another nr_requests nor another scheduler outgrows it; 0 when bio-based.
	 */
	uint32_t depth;
	/*
	 * How the user's words led here; NULL when named directly; owned. "/srv/db is on dm-0",
	 * "dm-0 is on sda3", "/srv/db is on md0, on sda, sdb".
	 */
	char *via;
};

struct targets {
	struct target *t;
	size_t n;
};

/*
 * Adds what `word` means: an existing path (device node, mount point, file, folder), else a kernel
 * name. A partition stays a partition. What sends its requests on (dm, md, multipath NVMe) adds
 * itself and, recursively, the whole disks of its members; a loop device's file is not followed.
 * Duplicates are merged, the first one's `via` stays. On failure *out is unchanged and *e says what
 * is wrong, with the near names for an unknown disk.
 */
int target_resolve(const char *word, struct targets *out, struct err *e);

/*
 * Adds every whole block device of this machine that can do I/O, each once (no empty loop devices
 * or drives).
 */
int target_all(struct targets *out, struct err *e);

/*
 * Adds the device that has the target's name and number now, if it can do I/O. -ENODEV when there is none.
 */
int target_again(const struct target *t, struct targets *out);

/* Has the target's whole disk left its place, to another one or to none? A loop device without its file has left it, too. */
bool target_gone(const struct target *t);

/* Which disk is under the name of the target's whole disk now; 0 as in struct target. */
uint64_t target_diskseq(const struct target *t);

void targets_free(struct targets *t);

/* Does the target's disk send its requests on to this whole disk, or to a partition of it (dm, md, multipath NVMe)? */
bool target_stands_on(const struct target *t, const char *disk);

/*
 * Fills the facts of a zeroed report_device (everything but what is measured) from sysfs and
 * mountinfo. A partition has its disk's facts, but its own size and mounts.
 */
void device_facts(const struct target *t, struct report_device *d);

/*
 * The kernel's own counters of a disk or partition. -ENODEV when it has vanished, or another disk has come in its place. A
 * partition has no count of flushes: the kernel keeps it per disk.
 */
int kernel_stat_read(const struct target *t, struct report_kernel *out);

/*
 * out = after - before, field by field. Not known (`have` false) when a count went back: it is
 * another disk.
 */
void kernel_stat_delta(const struct report_kernel *before, const struct report_kernel *after, struct report_kernel *out);

#endif
