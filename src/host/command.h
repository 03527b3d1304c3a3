/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h - the wrapped command: started stopped, released when every probe is attached, with the
 * rights of the person who called, its stdin, stdout, stderr and signals its own.
 */
#ifndef BT_HOST_COMMAND_H
#define BT_HOST_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/err.h"
#include "util/notice.h"

struct command {
	pid_t pid;	  /* 0: none */
	int pidfd;	  /* readable when it has ended; -1: none (also before Linux 5.3) */
	int go;		  /* write end of the start gate; -1: released */
	int failed;	  /* read end: the child's errno when exec failed; -1: read */
	const char *name; /* argv[0], borrowed: for messages */
};

/* What the command has instead of our standard files; 0: ours. Borrowed until the command runs. */
struct command_io {
	int in, out, err;
	int held; /* beside a screen: instead of an output that is our terminal; an input that is one becomes empty */
	const struct notices *notices; /* hears under whose account it runs, where that is no matter of course */
};

/*
 * Forks the command, which then waits at the gate. With `as_root` it keeps our rights; otherwise,
 * when we are root by sudo (SUDO_UID, SUDO_GID, SUDO_USER) or pkexec (PKEXEC_UID), it gets that
 * user's uid, gid, groups, HOME, USER, LOGNAME, SHELL and MAIL; when we are root in person, it
 * keeps what we have. When we are not root by our real uid, rights that come from our own file
 * (capabilities, set-user-ID) are taken away, and `as_root` is refused: never more rights than the
 * caller had. Rights are dropped after the gate and before PATH is searched. Signals are as our
 * caller had them. On failure *c is unchanged.
 */
int command_fork(struct command *c, char *const argv[], bool as_root, const struct command_io *io, struct err *e);

/*
 * Opens the gate and waits for the exec. Fails with status 126 or 127 when the command cannot be
 * run or is not found; it is reaped then. 0 when a signal ended it at the gate: command_wait()
 * tells.
 */
int command_release(struct command *c, struct err *e);

/* Is there a file of this name in one of PATH's folders that we may look into? `mode`: F_OK, or X_OK if it is to be run. */
bool command_in_path(const char *name, int mode);

/* Reaps the ended command: its status, or 128+N when signal N ended it. */
int command_wait(struct command *c, int *status);

/*
 * Ends it if it was never released (the probes failed), leaves it alone if it runs, and closes
 * everything. Safe on a zeroed or ended one.
 */
void command_abandon(struct command *c);

#endif
