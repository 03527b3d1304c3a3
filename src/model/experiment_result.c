// SPDX-License-Identifier: GPL-2.0-only
#include "model/experiment_result.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static void variant_free(struct outcome_variant *v)
{
	strv_free(v->set);
	for (size_t i = 0; i < v->n_runs; i++)
		free_all(v->run[i].class, v->run[i].family, v->run[i].verdict);
	free_all(v->name, v->risk, v->run, v->change.sentence);
}

void outcome_free(struct outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		variant_free(&o->variant[i]);
	strv_free(o->command);
	strv_free(o->notes);
	free_all(o->variant, o->version, o->kernel, o->arch, o->start, o->target, o->sentence);
	memset(o, 0, sizeof(*o));
}
