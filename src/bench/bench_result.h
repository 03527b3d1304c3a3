/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_result.h - what a workload said about itself and what the tracer saw of it, put together. */
#ifndef BT_BENCH_BENCH_RESULT_H
#define BT_BENCH_BENCH_RESULT_H

#include "model/bench_score.h"
#include "model/flush_profile.h"
#include "bench/workload.h"

/* *r becomes the bench's; *out is overwritten. */
void results_bench(const struct workload *w, const struct scores *t, struct report *r, struct bench *out);

/* Of the workload "barrier", from a report with detail; believe() included. *out is overwritten. */
void results_card(const struct scores *t, const struct report *r, struct card *out);

#endif
