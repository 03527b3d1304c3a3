// SPDX-License-Identifier: GPL-2.0-only
#include "util/file_lock.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "util/mem.h"

/* Has that process this file open? The device of /proc/locks is the file system's, which stat(2) doesn't tell of all. */
static bool has_open(pid_t pid, const struct stat *st)
{
	char *folder = xasprintf("/proc/%d/fd", pid);
	DIR *d = opendir(folder);
	struct dirent *entry;
	bool found = false;
	struct stat one;

	while (d && !found && (entry = readdir(d)))
		found = !fstatat(dirfd(d), entry->d_name, &one, 0) && one.st_dev == st->st_dev && one.st_ino == st->st_ino;
	if (d)
		closedir(d);
	free(folder);
	return found;
}

/* "1: FLOCK  ADVISORY  WRITE 1204 fe:01:131 0 EOF" */
static pid_t find_holder(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned int major, minor;
	unsigned long ino;
	pid_t found = 0;
	char line[256];
	int pid;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%lu", &pid, &major, &minor, &ino) != 4 || pid <= 0 ||
		    ino != st->st_ino)
			continue;
		if (makedev(major, minor) == st->st_dev || has_open(pid, st))
			found = pid;
	}
	if (f)
		fclose(f);
	return found;
}

int file_lock(int fd, pid_t *holder)
{
	struct stat st;

	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	*holder = fstat(fd, &st) ? 0 : find_holder(&st);
	return -EWOULDBLOCK;
}

char *file_lock_holder_name(pid_t pid)
{
	char *path = xasprintf("/proc/%d/comm", pid), comm[32] = "";
	FILE *f = pid > 0 ? fopen(path, "re") : NULL;
	bool read = f && fgets(comm, sizeof(comm), f);

	free(path);
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = 0;
	if (pid <= 0)
		return xstrdup("another process");
	return read ? xasprintf("%s (pid %d)", comm, pid) : xasprintf("process %d", pid);
}
