/* SPDX-License-Identifier: GPL-2.0-only */
/* options_doc.h - what a table of options says of itself: help, man page, completion. */
#ifndef BT_CMD_OPTIONS_DOC_H
#define BT_CMD_OPTIONS_DOC_H

#include "cmd/options.h"
#include "util/buf.h"

/* The help of one command, 80 columns wide. */
void options_help(const char *program, const struct command_def *def, struct buf *b);

/*
 * The OPTIONS section of the man page, in roff's man macros. With several commands each has its
 * part.
 */
void options_man(const struct command_def *const *defs, struct buf *b);

/* A completion script for bash. `defs` ends with NULL. */
void options_completion_bash(const char *program, const struct command_def *const *defs, struct buf *b);

#endif
