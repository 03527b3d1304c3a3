// SPDX-License-Identifier: GPL-2.0-only
/* bench_json.c - benchmarks and barrier cards as JSON, by the rules of report_json.c: what is not known is left out. */
#include "render/json_put.h"
#include "render/render_documents.h"

static void put_rate(json_t *o, const char *key, uint64_t n, uint64_t ns)
{
	if (n && ns)
		put(o, key, json_real((double)n * 1e9 / (double)ns));
}

/* ---- benchmarks ---- */

static void put_times(json_t *o, const char *key, const struct bench_times *t)
{
	json_t *j;

	if (!t->count)
		return;
	j = xmust(json_object());
	put_u64(j, "count", t->count);
	put_u64(j, "sum_ns", t->sum);
	put_u64(j, "min_ns", t->min);
	put_u64(j, "p50_ns", t->p50);
	put_u64(j, "p90_ns", t->p90);
	put_u64(j, "p99_ns", t->p99);
	put_u64(j, "max_ns", t->max);
	put(o, key, j);
}

static json_t *row_json(const struct bench_row *r)
{
	json_t *j = xmust(json_object()), *traced;

	put_str(j, "name", r->name);
	put_str(j, "missing", r->missing);
	if (r->missing)
		return j;
	put_u64(j, "operations", r->ops);
	put_u64(j, "bytes", r->bytes);
	put_u64(j, "syncs", r->syncs);
	put_if(j, "syncs_uncounted", r->uncounted);
	put_u64(j, "wall_ns", r->wall_ns);
	put_rate(j, "per_second", r->ops, r->wall_ns);
	put_times(j, "time", &r->each);
	if (r->traced) {
		traced = xmust(json_object());
		put_u64(traced, "syncs", r->traced->count);
		put_ledger(traced, &r->traced->ledger);
		put_tally(traced, "latency", &r->traced->latency);
		put(j, "traced", traced);
	}
	return j;
}

void render_bench_json(const struct bench *b, struct buf *out)
{
	json_t *doc = json_start(b->report.version, "bench"), *j = xmust(json_object()), *rows = xmust(json_array());

	put_str(j, "workload", b->workload);
	put_str(j, "dir", b->dir);
	put_strv(j, "settings", b->settings);
	put_str(j, "tool", b->tool);
	put_u64(j, "wall_ns", b->wall_ns);
	put_u64(j, "syncs", b->syncs);
	put_if(j, "syncs_uncounted", b->uncounted);
	if (b->unit) {
		put_str(j, "unit", b->unit);
		put_rate(j, "per_second", b->score_ops, b->wall_ns);
	}
	for (size_t i = 0; i < b->n_rows; i++)
		push(rows, row_json(&b->row[i]));
	put(j, "rows", rows);
	put(doc, "bench", j);
	put(doc, "report", report_json(&b->report));
	json_finish(doc, JSON_INDENT(2), out);
}

/* ---- cards ---- */

static json_t *disk_json(const struct card *c)
{
	json_t *j = xmust(json_object());

	put_fields(j, card_disk_fields, c);
	return j;
}

static json_t *verdict_json(const struct card *c)
{
	json_t *j = xmust(json_object());

	put_str(j, "class", card_grade_name(c->grade));
	put_str(j, "medium", card_medium_name(c->medium));
	put_str(j, "sentence", c->sentence);
	put_strv(j, "reasons", c->reasons);
	return j;
}

static json_t *card_row_json(const struct card_row *r)
{
	json_t *j = xmust(json_object());

	put_str(j, "test", card_test_name(r->test));
	put_u64(j, card_test_param(r->test), r->param);
	put_str(j, "missing", r->missing);
	put_u64(j, "written", r->bytes);
	put_u64(j, "wall_ns", r->wall_ns);
	put_hist(j, "call", &r->call);
	put_hist(j, "flush", &r->flush);
	put_u64(j, "unwaited", r->unwaited);
	put_u64(j, "flushless", r->flushless);
	put_ledger(j, &r->ledger);
	return j;
}

void render_card_json(const struct card *c, struct buf *out)
{
	json_t *doc = json_start(c->version, "card"), *fs = xmust(json_object()), *rows = xmust(json_array());

	put_fields(doc, card_run_fields, c);
	put(doc, "disk", disk_json(c));
	put_str(fs, "type", c->fstype);
	put_str(fs, "options", c->options);
	put_filled(doc, "file_system", fs);
	put_u64(doc, "data_bytes", c->data_bytes);
	put_u64(doc, "discards", c->discards);
	put_u64(doc, "lost_events", c->lost);
	put(doc, "verdict", verdict_json(c));
	for (size_t i = 0; i < c->n_rows; i++)
		push(rows, card_row_json(&c->row[i]));
	put(doc, "tests", rows);
	json_finish(doc, JSON_INDENT(2), out);
}

/* ---- two cards ---- */

static void put_difference(json_t *o, const char *key, const struct comparison_interval *d, const struct hist *a,
			   const struct hist *b)
{
	json_t *j;

	if (!a->count || !b->count)
		return;
	j = xmust(json_object());
	put_u64(j, "a_mean_ns", hist_mean(a));
	put_u64(j, "b_mean_ns", hist_mean(b));
	put_ns(j, "difference_ns", d->difference);
	if (d->have) {
		put_ns(j, "low_ns", d->low);
		put_ns(j, "high_ns", d->high);
		put(j, "told", json_boolean(d->told));
	}
	put(o, key, j);
}

static json_t *difference_json(const struct card_difference *d)
{
	const struct card_row *a = d->side[SIDE_A], *b = d->side[SIDE_B];
	json_t *j = xmust(json_object());

	put_str(j, "test", card_test_name(a->test));
	put_u64(j, card_test_param(a->test), a->param);
	put_difference(j, "flush", &d->flush, &a->flush, &b->flush);
	put_difference(j, "call", &d->call, &a->call, &b->call);
	return j;
}

void render_cards_json(const struct card_comparison *c, struct buf *out)
{
	json_t *doc = json_start(NULL, "card comparison"), *rows = xmust(json_array());
	static const char *const sides[SIDES] = { "a", "b" };

	put_str(doc, "sentence", c->sentence);
	for (int i = 0; i < SIDES; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "file", c->file[i]);
		put_str(j, "start", c->card[i]->start);
		put(j, "disk", disk_json(c->card[i]));
		put(j, "verdict", verdict_json(c->card[i]));
		put(doc, sides[i], j);
	}
	put_strv(doc, "different", c->settings);
	for (size_t i = 0; i < c->n_rows; i++)
		push(rows, difference_json(&c->row[i]));
	put(doc, "tests", rows);
	json_finish(doc, JSON_INDENT(2), out);
}
