/* SPDX-License-Identifier: GPL-2.0-only */
/* run_context_json.h - a run's context as it stands in a recording. */
#ifndef BT_RECORDING_RUN_CONTEXT_JSON_H
#define BT_RECORDING_RUN_CONTEXT_JSON_H

#include <jansson.h>

#include "model/run_context.h"
#include "util/err.h"

/* As JSON, for recordings; strings that are not UTF-8 survive. The result is the caller's. */
json_t *frame_encode(const struct frame *f);

/* -EBADMSG and *e when it isn't a frame; *out is unchanged then. What is missing is not known. */
int frame_decode(const json_t *j, struct frame *out, struct err *e);

#endif
