// SPDX-License-Identifier: GPL-2.0-only
#include "experiment/remount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442 /* the same number everywhere */
#endif

#ifndef MOUNT_ATTR__ATIME
#define MOUNT_ATTR__ATIME 0x70
#endif

/* struct mount_attr, which older headers don't have */
struct attributes {
	__u64 set, clear, propagation, userns_fd;
};

static int configure(int fs, const char *option, const char *value)
{
	int command = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

	if (syscall(SYS_fsconfig, fs, command, option, value, 0))
		return -errno;
	return syscall(SYS_fsconfig, fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) ? -errno : 0;
}

int remount_option(const char *dir, const char *option, const char *value)
{
	int fs = (int)syscall(SYS_fspick, AT_FDCWD, dir, FSPICK_CLOEXEC | FSPICK_NO_AUTOMOUNT), err;

	if (fs < 0)
		return -errno;
	err = configure(fs, option, value);
	close(fs);
	return err;
}

int remount_atime(const char *dir, enum atime how)
{
	/* clang-format off */
	static const __u64 attributes[] = {
		[ATIME_NO] = MOUNT_ATTR_NOATIME, [ATIME_RELATIVE] = MOUNT_ATTR_RELATIME,
		[ATIME_STRICT] = MOUNT_ATTR_STRICTATIME,
	};
	/* clang-format on */
	struct attributes a = { .set = attributes[how], .clear = MOUNT_ATTR__ATIME };

	return syscall(SYS_mount_setattr, AT_FDCWD, dir, 0, &a, sizeof(a)) ? -errno : 0;
}
