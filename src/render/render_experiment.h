/* SPDX-License-Identifier: GPL-2.0-only */
/* render_experiment.h - the outputs of an experiment, by the rules of render.h. */
#ifndef BT_RENDER_RENDER_EXPERIMENT_H
#define BT_RENDER_RENDER_EXPERIMENT_H

#include "model/experiment_result.h"
#include "render/render.h"

void render_outcome_text(const struct outcome *o, const struct render_opts *opts, struct buf *out);
void render_outcome_json(const struct outcome *o, struct buf *out);

#endif
