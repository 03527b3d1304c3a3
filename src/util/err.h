/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors travel as 0 or -errno, with an optional sentence for the user beside. A stage fills the
 * sentence, a command speaks it. Exit statuses are public (docs, report-schema).
 */
#ifndef BT_UTIL_ERR_H
#define BT_UTIL_ERR_H

enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_PERMITTED = 3,
	EXIT_KERNEL_CANNOT = 4,
	EXIT_INCOMPLETE = 5,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
};

struct err {
	enum exit_status status;
	char text[512]; /* one line, no newline: what is wrong and what to do about it */
};

/* Fills *e and returns -code, so that a failing function can end with `return err_set(...)`. */
int err_set(struct err *e, int code, enum exit_status status, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Adds to the sentence, as far as there is room. */
void err_add(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
