/* SPDX-License-Identifier: GPL-2.0-only */
/* process_tree.h - the processes that numbers and names select, and their children, from /proc. */
#ifndef BT_HOST_PROCESS_TREE_H
#define BT_HOST_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_COMM 16 /* TASK_COMM_LEN: names are cut to 15 characters */

struct processes_wanted {
	const pid_t *pid;
	size_t n_pids;
	const char (*comm)[PROCESS_COMM]; /* of a process's first thread */
	size_t n_comms;
	bool no_children;
};

/*
 * Those below `proc` ("/proc") that are wanted and have a thread that lives, in ascending order; the caller's to free. Children are
 * found by their parent, so not those whose parent had ended before.
 */
pid_t *processes_find(const char *proc, const struct processes_wanted *want, size_t *n);

/* Has it ended, if only its parent doesn't know yet? */
bool process_gone(const char *proc, pid_t pid);

#endif
