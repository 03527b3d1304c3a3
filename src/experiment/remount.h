/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remount.h - changes one option of a mounted file system and leaves every other as it is. mount(2) could not: its
 * flags are all set anew by each remount, and what isn't named is gone. 0 or -errno; -ENOSYS: the kernel is too old.
 */
#ifndef BT_EXPERIMENT_REMOUNT_H
#define BT_EXPERIMENT_REMOUNT_H

/* `dir` is a mount point; value NULL: an option without one. Of the file system, so of all its mounts. */
int remount_option(const char *dir, const char *option, const char *value);

enum atime { ATIME_NO, ATIME_RELATIVE, ATIME_STRICT };

/* Of this mount alone. Linux 5.12 */
int remount_atime(const char *dir, enum atime how);

#endif
