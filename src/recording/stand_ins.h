/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stand_ins.h - what stands for a name in an anonymised recording: the same for the same name, numbered by first appearance. Not a hash:
 * who guesses a name could check the guess.
 */
#ifndef BT_RECORDING_STAND_INS_H
#define BT_RECORDING_STAND_INS_H

#include <stddef.h>

#include "util/buf.h"

enum name_kind { NAME_TASK, NAME_PATH, NAME_ARGUMENT, NAME_DISK, NAME_OTHER, NAME_KINDS };

struct stand_ins;

struct stand_ins *stand_ins_new(void);
void stand_ins_free(struct stand_ins *s); /* NULL is fine */

/* Appends the stand-in of a name. `prefix` is static; the one of the name's first appearance stays. */
void stand_in_add(struct stand_ins *s, enum name_kind kind, const char *name, size_t len, const char *prefix,
		  struct buf *b);

#endif
