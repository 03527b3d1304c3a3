/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sysfs.h - what /sys and /proc say about block devices and about mounts. A device is known by its kernel name here (sda, dm-0,
 * cciss!c0d0), the name of its folder in /sys/class/block. Strings that are returned are owned by the caller; NULL means "not
 * there".
 */
#ifndef BT_HOST_SYSFS_H
#define BT_HOST_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/report.h"

#define BLOCK_NAME_LEN 32 /* the kernel's DISK_NAME_LEN */

/*
 * Reads a copy of /sys and of /proc instead, for the tests. NULL: the real one. The strings are
 * borrowed.
 */
void sysfs_roots(const char *sys, const char *proc);

/* The folders that are read now, without a slash at the end. */
const char *sys_root(void);
const char *proc_root(void);

/* A whole file, without the white space around it; of a path that is made. */
char *file_text(const char *path);
char *file_textf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The names in a folder, in natural order, as a NULL-terminated vector; NULL when there are none. */
char **folder_list(const char *path);

/* Of the attribute /sys/class/block/NAME/ATTRIBUTE. */
char *block_text(const char *name, const char *attribute);
bool block_u64(const char *name, const char *attribute, uint64_t *value);
bool block_has(const char *name, const char *attribute);

/*
 * Documentation/block/stat.rst; 12 to 15 since Linux 4.18, 16 and 17 since 5.5:
 *    41973     7144  2217794     5488    16800     7133  1455888     6025        0     4592 11919
 * ...
 */
/* clang-format off */
enum {
	STAT_READS, STAT_READ_MERGES, STAT_READ_SECTORS, STAT_READ_MS,
	STAT_WRITES, STAT_WRITE_MERGES, STAT_WRITE_SECTORS, STAT_WRITE_MS,
	STAT_IN_FLIGHT, STAT_BUSY_MS, STAT_QUEUE_MS,
	STAT_DISCARDS, STAT_DISCARD_MERGES, STAT_DISCARD_SECTORS, STAT_DISCARD_MS,
	STAT_FLUSHES, STAT_FLUSH_MS,
	STAT_FIELDS
};
/* clang-format on */

/* The counters of a disk or partition; returns how many the kernel has. Without the file none, and all are 0. */
size_t block_stat(const char *name, uint64_t field[STAT_FIELDS]);

/* The names in /sys/class/block/NAME/FOLDER. */
char **block_list(const char *name, const char *folder);

/* Every block device, partitions and hidden disks included. */
char **block_all(void);

/* Kernel name <-> device number; false when the kernel has no such device. */
bool block_dev(const char *name, unsigned int *major, unsigned int *minor);
bool block_name(unsigned int major, unsigned int minor, char name[BLOCK_NAME_LEN]);

/* The whole disk of a partition; the name itself for a disk. */
bool block_disk(const char *name, char disk[BLOCK_NAME_LEN]);

/*
 * What a disk sends its requests on to: dm and md members, the paths of a multipath NVMe disk. NULL
 * when there are none.
 */
char **block_slaves(const char *disk);

/* Request queue of a disk: see struct target. */
void block_queue(const char *disk, bool *bio_based, uint32_t *hw_queues, uint32_t *depth);

/* What a mounted file system without a device number of its own (btrfs, overlay, tmpfs) stands on. */
struct mount_origin {
	char *fstype, *source, *dir, *options;
	unsigned int major, minor;
	char **names; /* kernel names of the block devices */
	char **below; /* folders of other file systems that take the writes (overlay) */
};

/* Looks up the mount that `path` is in. -errno when there is no such path or no such mount. */
int mount_origin(const char *path, struct mount_origin *out);
void mount_origin_free(struct mount_origin *o);

/*
 * Appends the mounts of the devices with these kernel names. Bind mounts of the same files are left
 * out.
 */
void mounts_of(char *const *names, struct report_device *d);

/* One mounted file system, for as long as the call lasts. */
struct mounted {
	unsigned int major, minor; /* its device number; anonymous ones (btrfs) included */
	const char *dir, *fstype;
	const char *options; /* as the kernel shows them, comma-separated */
	char *const *names;  /* kernel names of its block devices; NULL: none */
	bool nobarrier;	     /* no FLUSH is sent: an option, or ext4's own state */
};

/* Calls `each` for every mounted file system, one mount of each. */
void mounts_each(void (*each)(void *ctx, const struct mounted *m), void *ctx);

/* A descriptor that says whether anything was mounted or unmounted since the last call (man 5 proc: mountinfo); -1: can't be told. */
int mounts_watch(void);
bool mounts_changed(int fd);

#endif
