/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words to the user, on stderr. Data never goes through here. An error or a note is one line of bounded length, free of
 * control characters.
 */
#ifndef BT_UTIL_LOG_H
#define BT_UTIL_LOG_H

#include <stdbool.h>

void log_level(bool quiet, bool verbose);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* always, "barriertrace: ..." */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* unless quiet */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v */

/* A line on the terminal that the next one, or any word, replaces: cut to its width. The caller has seen that it is one. */
void log_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_progress_end(void); /* nothing stands there any more */

#endif
