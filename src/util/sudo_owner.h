/* SPDX-License-Identifier: GPL-2.0-only */
/* sudo_owner.h - the person who called sudo. */
#ifndef BT_UTIL_SUDO_OWNER_H
#define BT_UTIL_SUDO_OWNER_H

/* Under sudo, a file that we have just made belongs to the person who called. Failing that it stays root's. */
void caller_give(int fd);

#endif
