/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_filter.h - whose requests and sync calls count: those of processes, by default of their children too, and those of cgroups.
 * Several are a union.
 */
#ifndef BT_HOST_TASK_FILTER_H
#define BT_HOST_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/process_tree.h"
#include "util/err.h"

#define FILTER_MAX 8 /* of names, and of groups */

struct filter_group {
	char *dir; /* owned */
	uint64_t id;
	bool by_bio; /* what a bio is charged to tells it; else the task that sends it */
};

struct filter {
	pid_t *pid; /* thread groups; owned */
	int *pidfd; /* of each; -1: it has ended; owned */
	size_t n_pids, alive;
	char comm[FILTER_MAX][PROCESS_COMM];
	size_t n_comms;
	bool no_children;
	struct filter_group group[FILTER_MAX];
	size_t n_groups;
	int fd;	    /* readable when one of `pid` has ended, see filter_look(); -1: none is named */
	char *text; /* "pid 42, comm postgres"; NULL: everybody counts; owned */
};

#define FILTER_NONE \
	{ \
		.fd = -1 \
	}

/* `value` is a process or thread number, which has to exist. */
int filter_pid(struct filter *f, const char *value, struct err *e);

/* `value` is the name of processes, of which there has to be one; the kernel cuts names to 15 characters. */
int filter_comm(struct filter *f, const char *value, struct err *e);

/*
 * `value` is a cgroup's directory, or its path below a cgroup root. Requests are told by the sending task's cgroup and, where the
 * hierarchy has the io (v1: blkio) controller, by the one that their bio is charged to: writeback sends what others wrote.
 */
int filter_cgroup(struct filter *f, const char *value, struct err *e);

/* The cgroup of a systemd unit, of a container, see cgroup_find.h. */
int filter_unit(struct filter *f, const char *value, struct err *e);
int filter_container(struct filter *f, const char *value, struct err *e);

/* Is it, among others, by processes? */
bool filter_by_process(const struct filter *f);

struct processes_wanted filter_processes(const struct filter *f);

/* Is a process in one of the groups, or in one below? */
bool filter_in_groups(const struct filter *f, pid_t pid);

/* When fd is readable: true if processes alone are named, by their numbers, and the last of them has ended. */
bool filter_look(struct filter *f);

/* Finds the groups again: whoever restarts a service gives it another one. True if one changed; id 0: it isn't there. */
bool filter_look_for_groups(struct filter *f);

void filter_free(struct filter *f);

#endif
