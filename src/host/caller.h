/* SPDX-License-Identifier: GPL-2.0-only */
/* caller.h - the person who made this process root: by sudo (SUDO_UID), pkexec (PKEXEC_UID) or doas (DOAS_USER). */
#ifndef BT_HOST_CALLER_H
#define BT_HOST_CALLER_H

#include <pwd.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/err.h"
#include "util/user_file.h"

struct caller {
	uid_t uid; /* 0: nobody but root */
	gid_t gid;
	bool gid_known;
	gid_t *groups; /* gid among them */
	int n_groups;
};

/* Of a process whose real uid is root. An error where the environment can't be understood: a guess would be root. */
int caller_find(struct caller *c, struct err *e);
void caller_free(struct caller *c);

/* NULL: that user has none. Of two names with one uid, the one that sudo saw. Valid until accounts are asked again. */
const struct passwd *caller_account(const struct caller *c);

/* With whose rights files are opened that the user names: a file_identity_fn. */
int caller_file_identity(struct file_identity *id, struct err *e);

#endif
