/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arguments.h - command lines without their arguments, among which a password may be, for places that others can read.
 * Of a copy: nothing of the report changes.
 */
#ifndef BT_MODEL_ARGUMENTS_H
#define BT_MODEL_ARGUMENTS_H

#include <stdbool.h>

#include "model/outstanding.h"
#include "model/report.h"

/* A report's copy; what isn't a command line is borrowed from the report. */
struct report_no_arguments {
	struct report r;
	char *command[2];
	struct report_outstanding *outstanding;
};

void report_hide_arguments(const struct report *r, struct report_no_arguments *out);
void report_no_arguments_free(struct report_no_arguments *out);

/* "/usr/bin/mysql -psecret" to "mysql": the program's name; the caller's. NULL gives NULL. */
char *arguments_program(const char *command_line);

/* argv[0] likewise, into name[0]; false: there are no arguments to hide. name[0] is the caller's. */
bool arguments_hide(char *const *argv, char *name[2]);

#endif
