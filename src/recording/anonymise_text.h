/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * anonymise_text.h - the texts of a recording with others in their place. What somebody could have named is replaced. What stays is
 * recognised by its form (the kernel's names of disks: 24 prefixes, and a number or letters), or is one of five mount options, or was
 * written by the kernel, this program or the maker of a disk. Private to anonymise.c.
 */
#ifndef BT_RECORDING_ANONYMISE_TEXT_H
#define BT_RECORDING_ANONYMISE_TEXT_H

#include <stdbool.h>

#include "recording/run_context_json.h"
#include "recording/stand_ins.h"

#define FROM_DAMAGED  "the recording that this one was made of is not whole: "
#define NOTE_LEFT_OUT "a remark was left out, as it may hold names"

/* Appends what stands for a task's name. `kernel`: it is one of the kernel's, whose first word stays, with the numbers and disks behind it. */
void replace_task(struct stand_ins *s, const char *name, size_t len, bool kernel, struct buf *b);

/* Appends the stand-in of a part of a path. */
void replace_part(struct stand_ins *s, const char *name, size_t len, struct buf *b);

/* What a device calls its model: of loop and dm a name that somebody gave. */
void replace_model(struct stand_ins *s, const char *device, const char *model, struct buf *b);

/* Appends `text` of the frame without its names. `at`: its place in a vector. */
void replace_text(struct stand_ins *s, enum frame_text what, const char *text, size_t at, struct buf *b);

#endif
