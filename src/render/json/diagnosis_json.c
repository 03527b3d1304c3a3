// SPDX-License-Identifier: GPL-2.0-only
/* diagnosis_json.c - a diagnosis as JSON, by the rules of report_json.c: what is not known is left out. */
#include "render/json_put.h"
#include "render/render_documents.h"

static json_t *setting_json(const struct diag_setting *s)
{
	json_t *j = xmust(json_object());

	put_str(j, "key", s->key);
	put_str(j, "value", s->value);
	put_str(j, "unit", s->value ? s->unit : NULL);
	put_str(j, "unknown", s->unknown);
	put_str(j, "where", s->where);
	put_str(j, "effect", s->effect);
	return j;
}

static json_t *layer_json(const struct diag_layer *l)
{
	json_t *j = xmust(json_object()), *settings = xmust(json_array());
	char number[32];

	put_str(j, "kind", diag_kind_name(l->kind));
	put_str(j, "name", l->name);
	put_str(j, "fstype", l->fstype);
	put_str(j, "options", l->options);
	if (l->major) {
		snprintf(number, sizeof(number), "%u:%u", l->major, l->minor);
		put_str(j, "device", number);
	}
	put_strv(j, "below", l->below);
	for (size_t i = 0; i < l->n_settings; i++)
		push(settings, setting_json(&l->setting[i]));
	put_filled(j, "settings", settings);
	return j;
}

static json_t *finding_json(const struct diagnosis *d, const struct diag_finding *f)
{
	json_t *j = xmust(json_object()), *weight;

	put_str(j, "grade", diag_grade_name(f->grade));
	put_str(j, "place", f->place);
	put_str(j, "key", f->key);
	put_str(j, "what", f->what);
	put_str(j, "advice", f->advice);
	if (f->have_weight) {
		weight = xmust(json_object());
		put_u64(weight, "ns", f->weight_ns);
		put(weight, "share", json_real((double)f->weight_ns / (double)d->trace.total_ns));
		put(j, "measured", weight);
	}
	return j;
}

static json_t *trace_json(const struct diag_trace *t)
{
	json_t *j = xmust(json_object());

	put_u64(j, "wall_ns", t->wall_ns);
	put_u64(j, "calls", t->calls);
	put_u64(j, "total_ns", t->total_ns);
	put_ledger(j, &t->ledger);
	put_str(j, "sentence", t->sentence);
	put(j, "incomplete", json_boolean(t->incomplete));
	return j;
}

void render_diagnosis_json(const struct diagnosis *d, struct buf *out)
{
	json_t *doc = json_start(NULL, "doctor"), *findings = xmust(json_array()), *layers = xmust(json_array());

	put_str(doc, "version", d->version);
	put_str(doc, "kernel", d->kernel);
	put_str(doc, "arch", d->arch);
	put_str(doc, "target", d->target);
	for (size_t i = 0; i < d->n_findings; i++)
		push(findings, finding_json(d, &d->finding[i]));
	put(doc, "findings", findings);
	for (size_t i = 0; i < d->n_layers; i++)
		push(layers, layer_json(&d->layer[i]));
	put(doc, "layers", layers);
	put_probes(doc, d->probe, d->n_probes);
	put_str(doc, "no_probes", d->no_probes);
	if (d->trace.have)
		put(doc, "trace", trace_json(&d->trace));
	json_finish(doc, JSON_INDENT(2), out);
}
