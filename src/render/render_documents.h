/* SPDX-License-Identifier: GPL-2.0-only */
/* render_documents.h - the outputs of documents that are no report, by the rules of render.h. */
#ifndef BT_RENDER_RENDER_DOCUMENTS_H
#define BT_RENDER_RENDER_DOCUMENTS_H

#include "model/bench_score.h"
#include "model/comparison.h"
#include "model/diagnosis.h"
#include "model/experiment_result.h"
#include "model/flush_profile.h"
#include "render/render.h"

/* The score; the run's report goes behind it. */
void render_bench_text(const struct bench *b, const struct render_opts *o, struct buf *out);
void render_bench_json(const struct bench *b, struct buf *out);

void render_card_text(const struct card *c, const struct render_opts *o, struct buf *out);
void render_card_json(const struct card *c, struct buf *out);
void render_cards_text(const struct card_comparison *c, const struct render_opts *o, struct buf *out);
void render_cards_json(const struct card_comparison *c, struct buf *out);

void render_compare_text(const struct comparison *c, const struct render_opts *o, struct buf *out);
void render_compare_json(const struct comparison *c, struct buf *out);

/* With o->quiet: the findings alone. */
void render_diagnosis_text(const struct diagnosis *d, const struct render_opts *o, struct buf *out);
void render_diagnosis_json(const struct diagnosis *d, struct buf *out);

void render_outcome_text(const struct outcome *o, const struct render_opts *opts, struct buf *out);
void render_outcome_json(const struct outcome *o, struct buf *out);

#endif
