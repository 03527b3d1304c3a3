// SPDX-License-Identifier: GPL-2.0-only
/* comparison_json.c - two runs side by side as JSON, by the rules of report_json.c: what is not known is left out. */
#include "render/json_put.h"
#include "render/render_documents.h"

static const char *const sides[SIDES] = { "a", "b" };

static json_t *run_json(const struct comparison *c, int side)
{
	const struct report *r = c->run[side];
	json_t *j = xmust(json_object());

	put_str(j, "recording", c->name[side]);
	put_str(j, "version", r->version);
	put_str(j, "start", r->start);
	put_if(j, "wall_ns", r->wall_ns);
	put_command(j, r->command, r->arguments_hidden);
	if (r->have_exit_status)
		put(j, "exit_status", json_integer(r->exit_status));
	put_str(j, "filter", r->filter);
	put_str(j, "kernel", r->kernel);
	put_str(j, "arch", r->arch);
	put_u64(j, "lost_events", r->lost_events);
	put(j, "incomplete", json_boolean(r->incomplete));
	put_strv(j, "notes", r->notes);
	return j;
}

static json_t *quantiles_json(const struct hist *h)
{
	json_t *j = xmust(json_object());

	put_u64(j, "count", h->count);
	if (h->count) {
		put_u64(j, "mean_ns", hist_mean(h));
		put_u64(j, "p50_ns", hist_quantile(h, 0.5));
		put_u64(j, "p90_ns", hist_quantile(h, 0.9));
		put_u64(j, "p99_ns", hist_quantile(h, 0.99));
		put_u64(j, "max_ns", h->max);
	}
	return j;
}

static json_t *mean_json(const struct comparison *c)
{
	const struct comparison_interval *i = &c->mean;
	json_t *j = xmust(json_object());

	put_ns(j, "difference_ns", i->difference);
	if (i->have) {
		put(j, "confidence", json_real(0.95));
		put_ns(j, "low_ns", i->low);
		put_ns(j, "high_ns", i->high);
		if (i->freedom > 0)
			put_real(j, "degrees_of_freedom", i->freedom);
		put(j, "told_from_chance", json_boolean(i->told));
	}
	if (c->ratio > 0)
		put_real(j, "ratio", c->ratio);
	return j;
}

static json_t *sync_json(const struct comparison *c)
{
	json_t *j = xmust(json_object());

	for (int i = 0; i < SIDES; i++) {
		const struct report_sync *s = &c->run[i]->sync;
		json_t *q;

		if (!c->run[i]->have_sync)
			continue;
		q = quantiles_json(&s->latency);
		put_u64(q, "count", s->count);
		put_u64(q, "total_ns", s->total_ns);
		put_u64(q, "no_ledger", s->no_ledger);
		put_u64(q, "unflushed", s->unsafe);
		put(j, sides[i], q);
	}
	if (c->have_calls)
		put(j, "mean", mean_json(c));
	return j;
}

static json_t *causes_json(const struct comparison *c)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < c->n_causes; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "cause", cause_name(c->cause[i].cause));
		put_str(j, "family", family_name(cause_family(c->cause[i].cause)));
		put_ns(j, "a_ns", c->cause[i].per_call[SIDE_A]);
		put_ns(j, "b_ns", c->cause[i].per_call[SIDE_B]);
		put_ns(j, "difference_ns", c->cause[i].difference);
		push(a, j);
	}
	return a;
}

/* ---- devices ---- */

static json_t *settings_json(const struct comparison_device *d)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < d->n_settings; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "name", d->setting[i].name);
		put_str(j, "mount", d->setting[i].of);
		put_str(j, "a", d->setting[i].value[SIDE_A]);
		put_str(j, "b", d->setting[i].value[SIDE_B]);
		push(a, j);
	}
	return a;
}

static void put_pair(json_t *o, const char *key, const double v[SIDES])
{
	json_t *j = xmust(json_object());

	for (int i = 0; i < SIDES; i++)
		put_real(j, sides[i], v[i]);
	put(o, key, j);
}

static json_t *tally_quantiles_json(const struct tally *t)
{
	struct hist h;

	tally_hist(t, &h);
	return quantiles_json(&h);
}

static json_t *ops_json(const struct comparison_device *d)
{
	json_t *a = xmust(json_array());

	for (enum op_class class = 0; class < OP_CLASSES; class ++) {
		const struct report_op_tally *op[SIDES] = { &d->side[SIDE_A]->op[class], &d->side[SIDE_B]->op[class] };
		json_t *j;

		if (!op[SIDE_A]->count || !op[SIDE_B]->count)
			continue;
		j = xmust(json_object());
		put_str(j, "op", op_row_name(op_class_row(class)));
		put_str(j, "part", op_class_kind(class));
		for (int i = 0; i < SIDES; i++) {
			json_t *side = xmust(json_object());

			put_u64(side, "count", op[i]->count);
			if (op[i]->device.count)
				put(side, "device", tally_quantiles_json(&op[i]->device));
			if (op[i]->total.count)
				put(side, "total", tally_quantiles_json(&op[i]->total));
			put(j, sides[i], side);
		}
		push(a, j);
	}
	return a;
}

static json_t *device_json(const struct comparison_device *d)
{
	json_t *j = xmust(json_object()), *names = xmust(json_object()), *flushes = xmust(json_object());

	for (int i = 0; i < SIDES; i++) {
		if (!d->side[i])
			continue;
		put_str(names, sides[i], d->side[i]->name);
		if (d->have_flushes)
			put_u64(flushes, sides[i], d->side[i]->op[OP_FLUSH].count);
	}
	put(j, "name", names);
	put_filled(j, "flushes", flushes);
	if (!d->side[SIDE_A] || !d->side[SIDE_B])
		return j;
	put_filled(j, "settings", settings_json(d));
	if (d->have_per_call)
		put_pair(j, "flushes_per_call", d->flushes_per_call);
	if (d->have_per_commit)
		put_pair(j, "flushes_per_commit", d->flushes_per_commit);
	put_filled(j, "ops", ops_json(d));
	return j;
}

/* ---- the whole ---- */

void render_compare_json(const struct comparison *c, struct buf *out)
{
	json_t *doc = json_start(NULL, "diff"), *devices = xmust(json_array());

	put_str(doc, "sentence", c->sentence);
	for (int i = 0; i < SIDES; i++)
		put(doc, sides[i], run_json(c, i));
	put(doc, "incomplete", json_boolean(c->incomplete));
	put_filled(doc, "sync", sync_json(c));
	put_filled(doc, "causes", causes_json(c));
	for (size_t i = 0; i < c->n_devices; i++)
		push(devices, device_json(&c->device[i]));
	put_filled(doc, "devices", devices);
	json_finish(doc, JSON_INDENT(2), out);
}
