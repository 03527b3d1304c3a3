/* SPDX-License-Identifier: GPL-2.0-only */
/* render_comparison.h - the outputs of two runs side by side, by the rules of render.h. */
#ifndef BT_RENDER_RENDER_COMPARISON_H
#define BT_RENDER_RENDER_COMPARISON_H

#include "model/comparison.h"
#include "render/render.h"

void render_compare_text(const struct comparison *c, const struct render_opts *o, struct buf *out);
void render_compare_json(const struct comparison *c, struct buf *out);

#endif
