/* SPDX-License-Identifier: GPL-2.0-only */
/* task_filter.h - whose requests count: a process or a cgroup. */
#ifndef BT_HOST_TASK_FILTER_H
#define BT_HOST_TASK_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/err.h"

struct filter {
	pid_t pid;	    /* thread group; 0: any */
	int pidfd;	    /* readable when it has ended; -1: none */
	bool ended;	    /* it has */
	uint64_t cgroup_id; /* 0: any */
	bool cgroup_by_bio; /* told by what a bio is charged to; else by the task that sends it */
	char *text;	    /* "pid 42", "cgroup /x"; owned */
};

#define FILTER_NONE \
	{ \
		.pidfd = -1 \
	}

/* `value` is a process or thread number, which has to exist. Not beside a cgroup. */
int filter_pid(struct filter *f, const char *value, struct err *e);

/*
 * `value` is a cgroup's directory, or its path below a cgroup root. Requests are told by the cgroup that their
 * bio is charged to where the hierarchy has the io (v1: blkio) controller, otherwise by the sending task's.
 */
int filter_cgroup(struct filter *f, const char *value, struct err *e);

void filter_free(struct filter *f);

#endif
