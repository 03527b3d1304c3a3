// SPDX-License-Identifier: GPL-2.0-only
/* Where debugfs is: below /sys, or in a mount of our own, which is asked for once. The functions below stand in for the machine's. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/debugfs.h"
#include "host/sysfs.h"
#include "util/detached_mount.h"
#include "tap.h"

static bool is_mounted;
static int own; /* the descriptor of our own mount; -1: the kernel refuses */
static int asked;

int access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	return is_mounted ? 0 : -1;
}

int detached_mount(const char *fstype)
{
	asked += !strcmp(fstype, "debugfs");
	return own;
}

static bool is(const char *want)
{
	char *got = debugfs_path("block/sda");
	bool same = !strcmp(got, want);

	if (!same)
		diag("got '%s', want '%s'", got, want);
	free(got);
	return same;
}

/* In a process of its own: who has asked doesn't ask again. */
static bool when_refused(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		own = -1;
		_exit(!is("/sys/kernel/debug/block/sda") || !is("/sys/kernel/debug/block/sda") || asked != 1);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

int main(void)
{
	sysfs_roots("/made/up", NULL);
	ok(is("/made/up/kernel/debug/block/sda") && !asked, "a made-up /sys has what it has");
	sysfs_roots(NULL, NULL);
	is_mounted = true;
	ok(is("/sys/kernel/debug/block/sda") && !asked, "where it is mounted");
	is_mounted = false;
	ok(when_refused(), "a mount that is refused is asked for once");
	own = 0;
	ok(is("/proc/self/fd/0/block/sda") && asked == 1, "our own mount, by its descriptor");
	own = 9;
	ok(is("/proc/self/fd/0/block/sda") && asked == 1, "which is kept");
	return tap_done();
}
