/* SPDX-License-Identifier: GPL-2.0-only */
/* anonymise_text.h - the texts of a recording with their names replaced, by what each text holds. Private to anonymise.c. */
#ifndef BT_RECORDING_ANONYMISE_TEXT_H
#define BT_RECORDING_ANONYMISE_TEXT_H

#include <stdbool.h>

#include "recording/run_context_json.h"
#include "recording/stand_ins.h"

#define FROM_DAMAGED  "the recording that this one was made of is not whole: "
#define NOTE_LEFT_OUT "a remark was left out, as it may hold names"

/* Appends the stand-in of a task's name. `kernel`: it is known to be one of the kernel's. */
void replace_task(struct stand_ins *s, const char *name, size_t len, bool kernel, struct buf *b);

/* Appends the stand-in of a part of a path. Endings that are common stay. `prefix`: "d" of a directory, "f" of a file. */
void replace_component(struct stand_ins *s, const char *name, size_t len, const char *prefix, struct buf *b);

/* What a device calls its model: of loop and dm a name that somebody gave. */
void replace_model(struct stand_ins *s, const char *device, const char *model, struct buf *b);

/* Appends `text` of the frame without its names. `at`: its place in a vector. */
void replace_text(struct stand_ins *s, enum frame_text what, const char *text, size_t at, struct buf *b);

#endif
