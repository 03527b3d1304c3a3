/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mountinfo.h - for host/, experiment/ and their tests: the mounts of this process, as /proc/self/mountinfo has them.
 *
 * Texts are the kernel's own, without its octal escapes; they belong to the table.
 */
#ifndef BT_HOST_MOUNTINFO_H
#define BT_HOST_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

struct mount_entry {
	int id;
	unsigned int major, minor;
	char *root, *dir, *fstype, *source;
	char *options;	   /* of the mount and of the file system, one "rw" or "ro" first */
	char *raw_options; /* the same, escapes included: a comma in a value is none of these */
};

struct mount_table {
	struct mount_entry *mounts;
	size_t n;
};

/* Lines that are no mounts are left out; without the file the table is empty. */
void mount_table_read(const char *path, struct mount_table *t);
void mount_table_free(struct mount_table *t);

/* "/a/b" is within the folder /a, and so is "/a". */
bool path_within(const char *path, const char *folder);

/*
 * The value of an option (owned by the caller; "" for one without a value), the last one if it is there more than
 * once, as the kernel takes it; NULL if it isn't there.
 */
char *mount_option(const struct mount_entry *m, const char *name);

#endif
