// SPDX-License-Identifier: GPL-2.0-only
#include "host/journal_threads.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "util/mem.h"

static char *comm_of(const char *pid)
{
	return file_textf("%s/%s/comm", proc_root(), pid);
}

static void look_at(const char *pid, struct journal_thread **found, size_t *n)
{
	uint32_t tid = (uint32_t)strtoul(pid, NULL, 10);
	char *comm = tid ? comm_of(pid) : NULL;

	if (comm && !strncmp(comm, "jbd2/", 5)) {
		struct journal_thread *j = grow((void **)found, n, sizeof(**found));

		j->tid = tid;
		snprintf(j->name, sizeof(j->name), "%s", comm);
	}
	free(comm);
}

/* "3 4 5": the numbers of all kernel threads, the children of kthreadd; NULL where the kernel tells none (CONFIG_PROC_CHILDREN). */
static char *kernel_threads(void)
{
	char *comm = comm_of("2");
	bool there = comm && !strcmp(comm, "kthreadd");

	free(comm);
	return there ? file_textf("%s/2/task/2/children", proc_root()) : NULL;
}

struct journal_thread *journal_threads(size_t *n)
{
	struct journal_thread *found = NULL;
	char *few = kernel_threads(), *save = NULL, **all;

	*n = 0;
	for (char *pid = few ? strtok_r(few, " \n", &save) : NULL; pid; pid = strtok_r(NULL, " \n", &save))
		look_at(pid, &found, n);
	if (few) {
		free(few);
		return found;
	}
	all = folder_list(proc_root());
	for (size_t i = 0; all && all[i]; i++)
		look_at(all[i], &found, n);
	strv_free(all);
	return found;
}
