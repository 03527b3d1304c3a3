/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words to the user, on stderr. Data never goes through here. An error or a note is one line of bounded length, free of
 * control characters.
 */
#ifndef BT_LOG_H
#define BT_LOG_H

#include <stdbool.h>

void log_level(bool quiet, bool verbose);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* always, "barriertrace: ..." */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* unless quiet */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* with -v */

#endif
