// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "host/caller.h"
#include "util/user_file.h"

/*
 * Where the caller has closed one of the first three files, none of ours is to come to stand: what is said would be written into it.
 * To read from or to write to them still fails, and a command gets them closed.
 */
static void hold_closed_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/*
 * Outputs, probes and perf events take many descriptors: as many as our caller may allow. And a file that may not get larger
 * (RLIMIT_FSIZE) is an error to tell, not an end without a word. A command gets both as they were (host/command.c).
 */
static void set_limits(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * Take blocks of 128 KiB and more from the kernel, so that they go back to it when they are freed. By default glibc raises this limit
 * when such a block is freed: later ones then come from the heap, small blocks end up between them, and the heap of a process that
 * runs for weeks grows.
 */
static void return_large_blocks(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

int main(int argc, char **argv)
{
	hold_closed_files();
	set_limits();
	return_large_blocks();
	user_files_by(caller_file_identity);
	return command_main(argc, argv);
}
