// SPDX-License-Identifier: GPL-2.0-only
#include "model/experiment_result.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static void variant_free(struct outcome_variant *v)
{
	free(v->name);
	strv_free(v->set);
	free(v->risk);
	for (size_t i = 0; i < v->n_runs; i++) {
		free(v->run[i].class);
		free(v->run[i].family);
		free(v->run[i].verdict);
	}
	free(v->run);
	free(v->change.sentence);
}

void outcome_free(struct outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		variant_free(&o->variant[i]);
	free(o->variant);
	free(o->version);
	free(o->kernel);
	free(o->arch);
	free(o->start);
	free(o->target);
	strv_free(o->command);
	strv_free(o->notes);
	free(o->sentence);
	memset(o, 0, sizeof(*o));
}
