/* SPDX-License-Identifier: GPL-2.0-only */
/* debugfs.h - files of debugfs, mounted or not. */
#ifndef BT_HOST_DEBUGFS_H
#define BT_HOST_DEBUGFS_H

/*
 * Returns where "block/sda" of debugfs is: below /sys/kernel/debug, else in a mount that only this process sees and keeps until it ends.
 * The kernel may refuse both: then nothing is there. The string is the caller's.
 */
char *debugfs_path(const char *path);

#endif
