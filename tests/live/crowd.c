// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd.c - many processes.
 *
 * usage: crowd enders DIR N          each writes 4 KiB past the page cache and ends, 16 at once, beside one that syncs all the time
 *        crowd wakers N MS SECONDS   all at once; each wakes the first process every MS
 *        crowd naps N END            one wakes the first process once the fifo `go` is opened to write, sleeps N times, wakes it again;
 *                                    END: and ends
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef O_DIRECT
#define O_DIRECT __O_DIRECT
#endif

#define BLOCK 4096

static int write_block(const char *dir, int i)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%d", dir, i % 64);
	fd = open(path, O_WRONLY | O_CREAT | O_DIRECT, 0644);
	return fd < 0 || pwrite(fd, block, BLOCK, (off_t)(i / 64) * BLOCK) != BLOCK;
}

static void sync_all_the_time(const char *dir)
{
	static char block[BLOCK];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/synced", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	for (int i = 0; !(i % 500 ? 0 : ftruncate(fd, 0)); i++)
		if (pwrite(fd, block, BLOCK, (off_t)(i % 500) * 2 * BLOCK) != BLOCK || fdatasync(fd))
			break;
	_exit(1);
}

static int enders(const char *dir, int n)
{
	int status, failed = 0;
	pid_t syncs = fork();

	if (!syncs)
		sync_all_the_time(dir);
	for (int i = 0; i < n; i++) {
		if (i >= 16)
			failed += wait(&status) < 0 || status;
		if (!fork())
			_exit(write_block(dir, i));
	}
	for (int i = n < 16 ? n : 16; i > 0; i--)
		failed += wait(&status) < 0 || status;
	kill(syncs, SIGKILL);
	return failed != 0;
}

static void wake(int fd, int ms, int seconds)
{
	prctl(PR_SET_NAME, "waker");
	for (int i = 0; i < seconds * 1000 / ms; i++) {
		usleep((useconds_t)ms * 1000);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static int wakers(int n, int ms, int seconds)
{
	int fd[2];
	char c;

	if (pipe(fd))
		return 1;
	for (int i = 0; i < n; i++)
		if (!fork())
			wake(fd[1], ms, seconds);
	close(fd[1]);
	while (read(fd[0], &c, 1) > 0)
		;
	return 0;
}

static int naps(int n, bool end)
{
	int fd[2];
	char c;

	if (pipe(fd))
		return 1;
	if (!fork()) {
		prctl(PR_SET_NAME, "napper");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (close(open("go", O_RDONLY)))
			_exit(1);
		for (int wake = 0; wake < 2 && write(fd[1], "x", 1) == 1; wake++)
			for (int i = 0; i < n && !wake; i++)
				usleep(2000);
		if (!end)
			pause();
		_exit(0);
	}
	while (read(fd[0], &c, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "enders"))
		return enders(argv[2], atoi(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "wakers"))
		return wakers(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "naps"))
		return naps(atoi(argv[2]), atoi(argv[3]));
	return 2;
}
