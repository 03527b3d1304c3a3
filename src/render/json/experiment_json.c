// SPDX-License-Identifier: GPL-2.0-only
/* experiment_json.c - an experiment as JSON, by the rules of report_json.c: what is not known is left out. */
#include "render/json_put.h"
#include "render/render_documents.h"

static json_t *run_json(const struct outcome_run *r)
{
	json_t *j = xmust(json_object()), *verdict = xmust(json_object());

	put_u64(j, "wall_ns", r->wall_ns);
	put_str(verdict, "class", r->class);
	put_str(verdict, "family", r->family);
	put_str(verdict, "sentence", r->verdict);
	put_filled(j, "verdict", verdict);
	return j;
}

static json_t *prediction_json(const struct outcome_prediction *p)
{
	json_t *j = xmust(json_object());

	put_real(j, "faster", p->faster);
	put_if(j, "wall_ns", p->wall_ns);
	put_u64(j, "base_ns", p->base_ns);
	if (p->call_now_ns)
		put(j, "per_call_ns",
		    xmust(json_pack("{s:I, s:I}", "now", (json_int_t)p->call_now_ns, "without", (json_int_t)p->call_ns)));
	put(j, "at_most", json_boolean(p->at_most));
	put_str(j, "without", p->without);
	return j;
}

static json_t *causes_json(const struct outcome_change *c)
{
	json_t *causes = xmust(json_array());

	for (size_t i = 0; i < c->n_causes; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "cause", cause_name(c->cause[i].cause));
		put_u64(j, "before_ns", (uint64_t)(c->cause[i].per_run[0] + 0.5));
		put_u64(j, "after_ns", (uint64_t)(c->cause[i].per_run[1] + 0.5));
		push(causes, j);
	}
	return causes;
}

static json_t *change_json(const struct outcome_change *c)
{
	json_t *j = xmust(json_object()), *why = xmust(json_object());

	put_real(j, "faster", c->faster);
	if (c->have_interval) {
		put_real(j, "low", c->low);
		put_real(j, "high", c->high);
		put(j, "told", json_boolean(c->told));
	}
	if (c->blamed) {
		put_str(why, "family", family_name(c->family));
		put(why, "difference_ns", json_integer((json_int_t)c->family_difference));
	}
	put(why, "sync_difference_ns", json_integer((json_int_t)c->sync_difference));
	put_filled(why, "causes", causes_json(c));
	put(j, "why", why);
	put_str(j, "sentence", c->sentence);
	return j;
}

static json_t *variant_json(const struct outcome_variant *v, bool first)
{
	json_t *j = xmust(json_object()), *runs = xmust(json_array());

	put_str(j, "name", v->name);
	put_strv(j, "set", v->set);
	put_str(j, "risk", v->risk);
	for (size_t i = 0; i < v->n_runs; i++)
		push(runs, run_json(&v->run[i]));
	put_filled(j, "runs", runs);
	put_u64(j, "mean_ns", v->mean_ns);
	put_u64(j, "median_run", v->median);
	put_if(j, "rank", v->rank);
	put_u64(j, "calls", v->calls);
	put_u64(j, "sync_ns", v->sync_ns);
	put_u64(j, "flushes", v->flushes);
	put_ledger(j, &v->ledger);
	put_u64(j, "lost_events", v->lost_events);
	put(j, "incomplete", json_boolean(v->incomplete));
	if (v->prediction.have)
		put(j, "predicted", prediction_json(&v->prediction));
	if (!first)
		put(j, "measured", change_json(&v->change));
	return j;
}

void render_outcome_json(const struct outcome *o, struct buf *out)
{
	json_t *doc = json_start(NULL, "experiment"), *variants = xmust(json_array());

	put_str(json_object_get(doc, "barriertrace"), "version", o->version);
	put_str(doc, "kernel", o->kernel);
	put_str(doc, "arch", o->arch);
	put_str(doc, "start", o->start);
	put_str(doc, "target", o->target);
	put_command(doc, o->command, o->arguments_hidden);
	put_u64(doc, "runs", o->n_runs);
	put_str(doc, "sentence", o->sentence);
	for (size_t i = 0; i < o->n; i++)
		push(variants, variant_json(&o->variant[i], !i));
	put(doc, "variants", variants);
	put(doc, "restored", json_boolean(o->restored));
	put_strv(doc, "notes", o->notes);
	json_finish(doc, JSON_INDENT(2), out);
}
