/* SPDX-License-Identifier: GPL-2.0-only */
/* detached_mount.h - a file system of the kernel's own, where it is not mounted. */
#ifndef BT_UTIL_DETACHED_MOUNT_H
#define BT_UTIL_DETACHED_MOUNT_H

/*
 * Mounts "tracefs" or "debugfs" read-only in no place: nobody else sees it, and it goes with its descriptor, which is returned. < 0: the
 * kernel refuses, or is older than 5.2.
 */
int detached_mount(const char *fstype);

#endif
