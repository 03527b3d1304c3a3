/* SPDX-License-Identifier: GPL-2.0-only */
/* render_bench.h - the outputs of benchmarks and barrier cards, by the rules of render.h. */
#ifndef BT_RENDER_RENDER_BENCH_H
#define BT_RENDER_RENDER_BENCH_H

#include "model/bench_score.h"
#include "model/flush_profile.h"
#include "render/render.h"

/* The score; the run's report goes behind it. */
void render_bench_text(const struct bench *b, const struct render_opts *o, struct buf *out);
void render_bench_json(const struct bench *b, struct buf *out);

void render_card_text(const struct card *c, const struct render_opts *o, struct buf *out);
void render_card_json(const struct card *c, struct buf *out);

void render_cards_text(const struct card_comparison *c, const struct render_opts *o, struct buf *out);
void render_cards_json(const struct card_comparison *c, struct buf *out);

#endif
