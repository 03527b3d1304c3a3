/* SPDX-License-Identifier: GPL-2.0-only */
/* render_diagnosis.h - the outputs of a diagnosis, by the rules of render.h. */
#ifndef BT_RENDER_RENDER_DIAGNOSIS_H
#define BT_RENDER_RENDER_DIAGNOSIS_H

#include "model/diagnosis.h"
#include "render/render.h"

/* With o->quiet: the findings alone. */
void render_diagnosis_text(const struct diagnosis *d, const struct render_opts *o, struct buf *out);
void render_diagnosis_json(const struct diagnosis *d, struct buf *out);

#endif
