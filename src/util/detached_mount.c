// SPDX-License-Identifier: GPL-2.0-only
#include "util/detached_mount.h"

#include <sys/mount.h>
#include <unistd.h>

int detached_mount(const char *fstype)
{
	int fs = fsopen(fstype, FSOPEN_CLOEXEC), dir = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		dir = fsmount(fs, FSMOUNT_CLOEXEC,
			      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	close(fs);
	return dir;
}
