// SPDX-License-Identifier: GPL-2.0-only
/*
 * unseen.c - makes a sync call whose end a running tool misses, and stays in another call; or goes on; or ends.
 *
 * usage: unseen TOOL FILE [again|end]
 *
 * No test can make the kernel skip the program at a call's exit. What comes of it can be made: the state of the task, in the map of
 * the tool that is process TOOL, says that it is still in the call. Prints a line and sleeps until it is killed; with `again` it
 * writes to a pipe and syncs once more, with `end` it ends.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "task_state.h"

/* Is that descriptor of the tool the map of tasks? */
static int is_tasks(const char *tool, const char *fd)
{
	unsigned int size = 0, n = 0;
	char path[300], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", tool, fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!sscanf(line, "value_size: %u", &size))
			sscanf(line, "max_entries: %u", &n);
	if (f)
		fclose(f);
	return size == sizeof(struct task_state) && n == WIRE_TASKS;
}

static struct task_state *map_tasks(const char *tool)
{
	int process = (int)syscall(SYS_pidfd_open, atoi(tool), 0), fd = -1;
	struct dirent *entry;
	char path[64];
	void *tasks;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", tool);
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir)))
		if (is_tasks(tool, entry->d_name))
			fd = (int)syscall(SYS_pidfd_getfd, process, atoi(entry->d_name), 0);
	tasks = mmap(NULL, sizeof(struct task_state) * WIRE_TASKS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return tasks == MAP_FAILED ? NULL : tasks;
}

static int go_on(int file)
{
	int ends[2];

	return pipe(ends) || write(ends[1], "x", 1) != 1 || write(file, "x", 1) != 1 || fsync(file);
}

int main(int argc, char **argv)
{
	int file = argc >= 3 ? open(argv[2], O_RDWR | O_CREAT, 0644) : -1;
	struct task_state *t = file < 0 ? NULL : map_tasks(argv[1]), *end = t + WIRE_TASKS;

	if (!t || write(file, "x", 1) != 1 || fsync(file))
		return 1;
	while (t < end && t->tgid != (__bt_u32)getpid())
		t++;
	if (t == end)
		return 1;
	puts("unseen");
	fflush(stdout);
	t->caller = 1;
	return argc == 3 ? pause() : strcmp(argv[3], "end") ? go_on(file) : 0;
}
