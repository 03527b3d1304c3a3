/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tmpfiles.h - temporary files to unlink if a signal kills us, or memory runs out. Each is noted with the directory that it stands in, by
 * descriptor: whoever moves directories about can't make us remove a file elsewhere.
 */
#ifndef BT_UTIL_TMPFILES_H
#define BT_UTIL_TMPFILES_H

/* Around the making of such a file and its noting: signals wait meanwhile. */
void tmpfiles_hold(void);
void tmpfiles_release(void);

/* `dir` stays open until tmpfiles_forget(). A directory is removed if it is empty. */
void tmpfiles_note(int dir, const char *name);
void tmpfiles_forget(int dir, const char *name);

/* Removes all that are noted, on the way out. Safe in a handler, and takes no memory; a child of the process that noted them removes none. */
void tmpfiles_remove(void);

#endif
