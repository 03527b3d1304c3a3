// SPDX-License-Identifier: GPL-2.0-only
#include "host/debugfs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "util/detached_mount.h"
#include "util/mem.h"

/* A process gets into a mount that is in no place by its own descriptor. NULL: the kernel refuses, which is asked once. */
static const char *own_mount(void)
{
	static char folder[32];
	static bool tried;
	int fd = tried ? -1 : detached_mount("debugfs");

	tried = true;
	if (fd >= 0)
		snprintf(folder, sizeof(folder), "/proc/self/fd/%d", fd);
	return *folder ? folder : NULL;
}

/* A made-up /sys has what it has. */
char *debugfs_path(const char *path)
{
	char *whole = xasprintf("%s/kernel/debug/%s", sys_root(), path);
	const char *own = strcmp(sys_root(), "/sys") || !access(whole, F_OK) ? NULL : own_mount();

	if (own) {
		free(whole);
		whole = xasprintf("%s/%s", own, path);
	}
	return whole;
}
