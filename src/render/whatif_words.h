/* SPDX-License-Identifier: GPL-2.0-only */
/* whatif_words.h - the order and the words of the what-if, as text and page have them. */
#ifndef BT_RENDER_WHATIF_WORDS_H
#define BT_RENDER_WHATIF_WORDS_H

#include "model/report.h"
#include "util/buf.h"

/* All of them, most gain first, those of the run before those of calls; the first *lines are worth one each. The caller's to free. */
const struct report_whatif **whatif_by_gain(const struct report *r, size_t *lines);

/* "up to 7.7x faster", "at most 4.4x as much work a second"; `times` is the sign. Nothing where the factor is not known. */
void whatif_gain(const struct report_whatif *w, const char *times, struct buf *b);

/* "no gain (<= 1.01x)", of those that share a line. */
void whatif_no_gain(const struct report_whatif *const *w, size_t n, const char *at_most, const char *times, struct buf *b);

/* "84 % of the sync time is flush, but sync calls are 6 % of the run"; nothing where no verdict seems to say otherwise. */
void whatif_contrast(const struct report *r, struct buf *b);

#endif
