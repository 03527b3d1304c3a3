/* SPDX-License-Identifier: GPL-2.0-only */
/* run_context_json.h - a run's context as it stands in a recording. */
#ifndef BT_RECORDING_RUN_CONTEXT_JSON_H
#define BT_RECORDING_RUN_CONTEXT_JSON_H

#include <jansson.h>

#include "model/run_context.h"
#include "util/err.h"

/*
 * What a string of the frame holds, for those that replace names. It stands beside each member in the tables, and a member that says
 * nothing is private.
 */
enum frame_text {
	TEXT_PRIVATE,
	TEXT_OPEN, /* no name, or one that the kernel or this program gave */
	TEXT_TASK,
	TEXT_COMMAND, /* a vector: the program, its arguments */
	TEXT_CMDLINE, /* the same in one string, parted by spaces */
	TEXT_PATH,
	TEXT_DISK,
	TEXT_VIA, /* "/srv/db is on dm-0, on sda" */
	TEXT_NOTE,
	TEXT_RELEASE, /* of the kernel */
	TEXT_OPTIONS, /* of a mount */
	TEXT_FSTYPE,
};

/* What stands for a string, owned by the caller. `at`: its place in a vector. */
typedef char *frame_text_fn(void *ctx, enum frame_text what, const char *text, size_t at);

/* Puts what `replace` makes of it in the place of each string. */
void frame_replace_texts(struct frame *f, frame_text_fn *replace, void *ctx);

/* As JSON, for recordings; strings that are not UTF-8 survive. The result is the caller's. */
json_t *frame_encode(const struct frame *f);

/* The same as text that fits into a long record. *left_out: what it lacks for that, or NULL. Both are the caller's. */
char *frame_write(const struct frame *f, char **left_out);

/* -EBADMSG and *e when it isn't a frame, or has more of something than any run; *out is unchanged then. What is missing is not known. */
int frame_decode(const json_t *j, struct frame *out, struct err *e);

/* The same from a record's bytes. */
int frame_read(const void *text, size_t n, struct frame *out, struct err *e);

#endif
