/* SPDX-License-Identifier: GPL-2.0-only */
/* tmpfiles.h - files that nobody wants if a signal ends this process before they are what they are to be. */
#ifndef BT_UTIL_TMPFILES_H
#define BT_UTIL_TMPFILES_H

/*
 * Around the making of a file and its litter_note(): a signal that ends this process waits until the second. Nothing that may block
 * stands between them.
 */
void litter_hold(void);
void litter_release(void);

/* A file, or a directory if it is empty by then; copied. The latest goes first. Main thread only, as the next. */
void litter_note(const char *path);

/* It is complete, or gone. */
void litter_forget(const char *path);

#endif
