// SPDX-License-Identifier: GPL-2.0-only
#include "model/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* clang-format off */
static const char *const kind_names[DIAG_KINDS] = {
	[DIAG_FS] = "file system",
	[DIAG_LOOP] = "loop",
	[DIAG_DM] = "dm",
	[DIAG_MD] = "md",
	[DIAG_PARTITION] = "partition",
	[DIAG_DISK] = "disk",
	[DIAG_MACHINE] = "machine",
};
/* clang-format on */

static const char *const grade_names[DIAG_GRADES] = {
	[DIAG_UNSAFE] = "unsafe",
	[DIAG_CHECK] = "check",
	[DIAG_SLOW] = "slow",
	[DIAG_NOTE] = "note",
};

const char *diag_kind_name(enum diag_kind k)
{
	return kind_names[k];
}

const char *diag_grade_name(enum diag_grade g)
{
	return grade_names[g];
}

const char *diag_value(const struct diag_layer *l, const char *key)
{
	for (size_t i = 0; i < l->n_settings; i++)
		if (!strcmp(l->setting[i].key, key))
			return l->setting[i].value;
	return NULL;
}

bool diag_is(const struct diag_layer *l, const char *key, const char *value)
{
	const char *v = diag_value(l, key);

	return v && !strcmp(v, value);
}

const struct diag_layer *diag_layer_named(const struct diagnosis *d, const char *name)
{
	for (size_t i = 0; i < d->n_layers; i++)
		if (!strcmp(d->layer[i].name, name))
			return &d->layer[i];
	return NULL;
}

static bool is_before(const struct diag_finding *a, const struct diag_finding *b)
{
	if (a->grade != b->grade)
		return a->grade < b->grade;
	return a->weight_ns > b->weight_ns;
}

void diagnosis_sort(struct diagnosis *d)
{
	for (size_t i = 1; i < d->n_findings; i++) {
		struct diag_finding f = d->finding[i];
		size_t at = i;

		for (; at && is_before(&f, &d->finding[at - 1]); at--)
			d->finding[at] = d->finding[at - 1];
		d->finding[at] = f;
	}
}

static void layer_free(struct diag_layer *l)
{
	for (size_t i = 0; i < l->n_settings; i++)
		free_all(l->setting[i].value, l->setting[i].where, l->setting[i].unknown);
	free_all(l->setting, l->name, l->fstype, l->options);
	strv_free(l->below);
}

void diagnosis_free(struct diagnosis *d)
{
	for (size_t i = 0; i < d->n_layers; i++)
		layer_free(&d->layer[i]);
	for (size_t i = 0; i < d->n_findings; i++)
		free_all(d->finding[i].place, d->finding[i].what, d->finding[i].advice);
	report_probes_free(d->probe, d->n_probes);
	free_all(d->layer, d->finding, d->version, d->kernel, d->arch, d->target, d->no_probes, d->trace.sentence);
	*d = (struct diagnosis){ 0 };
}
