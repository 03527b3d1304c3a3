/* SPDX-License-Identifier: GPL-2.0-only */
/* render_compare.h - the outputs of two runs side by side, by the rules of render.h. */
#ifndef BT_RENDER_COMPARE_H
#define BT_RENDER_COMPARE_H

#include "comparison.h"
#include "render.h"

void render_compare_text(const struct comparison *c, const struct render_opts *o, struct buf *out);
void render_compare_json(const struct comparison *c, struct buf *out);

#endif
