/* SPDX-License-Identifier: GPL-2.0-only */
/* command_line.h - a command as one line, in which no argument can be taken for several. */
#ifndef BT_RENDER_COMMAND_LINE_H
#define BT_RENDER_COMMAND_LINE_H

#include <stdbool.h>

#include "util/buf.h"

/* Adds what `argv` (NULL is fine) holds: quoted where needed, control characters and broken UTF-8 as \xNN (see utf8_escape()). */
void command_line_add(struct buf *b, char *const *argv, bool unicode);

#endif
