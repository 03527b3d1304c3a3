// SPDX-License-Identifier: GPL-2.0-only
#include "host/process_tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "host/task_proc.h"
#include "util/mem.h"

struct process {
	pid_t pid, parent;
	bool member;
};

/* `pid` is a folder's name. */
static bool read_stat(const char *proc, const char *pid, struct task_stat *s)
{
	char *text = file_textf("%s/%s/stat", proc, pid);
	bool good = task_stat_parse(text, s);

	free(text);
	return good;
}

/* A first thread that ended before the others is a zombie as well. */
static bool has_ended(const struct task_stat *s)
{
	return s->state == 'X' || (s->state == 'Z' && s->threads <= 1);
}

bool process_gone(const char *proc, pid_t pid)
{
	struct task_stat s;
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	return !read_stat(proc, number, &s) || has_ended(&s);
}

static bool is_wanted(const struct processes_wanted *want, pid_t pid, const char *comm)
{
	for (size_t i = 0; i < want->n_pids; i++)
		if (want->pid[i] == pid)
			return true;
	for (size_t i = 0; i < want->n_comms; i++)
		if (!strcmp(want->comm[i], comm))
			return true;
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct process *read_processes(const char *proc, const struct processes_wanted *want, size_t *n)
{
	struct process *all = NULL;
	DIR *dir = opendir(proc);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		struct task_stat s;
		struct process *p;

		if (d->d_name[0] < '1' || d->d_name[0] > '9' || !read_stat(proc, d->d_name, &s) || has_ended(&s))
			continue;
		p = grow((void **)&all, n, sizeof(*all));
		p->pid = (pid_t)strtol(d->d_name, NULL, 10);
		p->parent = s.parent;
		p->member = is_wanted(want, p->pid, s.comm);
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(all, *n, sizeof(*all), by_pid);
	return all;
}

/* Whose parent is a member is one. True if there was such a one. */
static bool add_children(struct process *all, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct process key = { .pid = all[i].parent }, *parent;

		if (all[i].member)
			continue;
		parent = bsearch(&key, all, n, sizeof(*all), by_pid);
		if (parent && parent->member)
			any = all[i].member = true;
	}
	return any;
}

pid_t *processes_find(const char *proc, const struct processes_wanted *want, size_t *n)
{
	size_t n_all = 0;
	struct process *all = read_processes(proc, want, &n_all);
	pid_t *found = xcalloc(n_all + 1, sizeof(*found));

	while (!want->no_children && add_children(all, n_all))
		;
	*n = 0;
	for (size_t i = 0; i < n_all; i++)
		if (all[i].member)
			found[(*n)++] = all[i].pid;
	free(all);
	return found;
}
