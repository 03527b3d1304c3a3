/* SPDX-License-Identifier: GPL-2.0-only */
/* open_files.h - count descriptors, for no sanitizer finds those that are left open; close standard input. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

#include <dirent.h>
#include <unistd.h>

static inline int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Close standard input, so that the next file opened gets descriptor 0. Returns a copy of it for restore_input(). */
static inline int close_input(void)
{
	int in = dup(STDIN_FILENO);

	close(STDIN_FILENO);
	return in;
}

static inline void restore_input(int in)
{
	dup2(in, STDIN_FILENO);
	close(in);
}

#endif
