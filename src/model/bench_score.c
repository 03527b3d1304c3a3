// SPDX-License-Identifier: GPL-2.0-only
#include "model/bench_score.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void bench_free(struct bench *b)
{
	free_all(b->workload, b->summary, b->dir, b->tool, b->unit);
	for (size_t i = 0; i < b->n_rows; i++) {
		free(b->row[i].name);
		free(b->row[i].missing);
	}
	free(b->row);
	strv_free(b->settings);
	report_free(&b->report);
	memset(b, 0, sizeof(*b));
}
