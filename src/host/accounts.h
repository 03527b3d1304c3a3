/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts.h - private to host/: users and their groups.
 *
 * Of everything that this machine's C library knows; in a static build of /etc/passwd and /etc/group alone: the rest is
 * plug-ins of the C library, and those of another version would be loaded into this program, as root.
 */
#ifndef BT_HOST_ACCOUNTS_H
#define BT_HOST_ACCOUNTS_H

#include <pwd.h>
#include <stdbool.h>
#include <sys/types.h>

#ifdef BT_STATIC
#define ACCOUNTS_ARE_FILES true
#else
#define ACCOUNTS_ARE_FILES false
#endif

/* NULL: there is none. Valid until the next call of either. */
const struct passwd *account_by_name(const char *name);
const struct passwd *account_by_uid(uid_t uid);

/* The groups of a user, `gid` among them, at *groups (owned by the caller); returns how many. */
int account_groups(const char *name, gid_t gid, gid_t **groups);

#endif
