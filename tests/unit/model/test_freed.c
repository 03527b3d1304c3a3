// SPDX-License-Identifier: GPL-2.0-only
/* What owns much: freed, it is empty. That nothing of it stays behind is the address sanitizer's to say. */
#include <stdlib.h>
#include <string.h>

#include "model/bench_score.h"
#include "model/diagnosis.h"
#include "model/experiment_result.h"
#include "model/flush_profile.h"
#include "model/outstanding.h"
#include "model/run_context.h"
#include "tap.h"
#include "util/mem.h"

static char *text(void)
{
	return xstrdup("x");
}

static char **texts(void)
{
	char **v = NULL;

	strv_add(&v, text());
	strv_add(&v, text());
	return v;
}

static bool is_empty(const void *p, size_t n)
{
	const unsigned char *byte = p;

	for (size_t i = 0; i < n; i++)
		if (byte[i])
			return false;
	return true;
}

static void a_bench(void)
{
	struct bench *b = xcalloc(1, sizeof(*b));

	b->workload = text();
	b->summary = text();
	b->dir = text();
	b->tool = text();
	b->unit = text();
	b->settings = texts();
	b->row = xcalloc(2, sizeof(*b->row));
	b->n_rows = 2;
	for (size_t i = 0; i < 2; i++) {
		b->row[i].name = text();
		b->row[i].missing = text();
	}
	b->report.version = text();
	bench_free(b);
	ok(is_empty(b, sizeof(*b)), "a score");
	free(b);
}

static void an_experiment(void)
{
	struct outcome o = { .n = 2, .variant = xcalloc(2, sizeof(*o.variant)), .n_runs = 2 };

	for (size_t i = 0; i < 2; i++) {
		struct outcome_variant *v = &o.variant[i];

		v->name = text();
		v->set = texts();
		v->risk = text();
		v->run = xcalloc(2, sizeof(*v->run));
		v->n_runs = 2;
		for (size_t k = 0; k < 2; k++)
			v->run[k] = (struct outcome_run){ .class = text(), .family = text(), .verdict = text() };
		v->change.sentence = text();
	}
	o.version = text();
	o.kernel = text();
	o.arch = text();
	o.start = text();
	o.target = text();
	o.command = texts();
	o.notes = texts();
	o.sentence = text();
	outcome_free(&o);
	ok(is_empty(&o, sizeof(o)), "an experiment");
}

static void a_frame(void)
{
	struct frame f = { .n_devices = 2, .device = xcalloc(2, sizeof(*f.device)), .n_places = 1, .n_symbols = 1 };

	f.run.version = text();
	f.device[0].facts.model = text();
	f.device[1].facts.model = text();
	f.place = xcalloc(1, sizeof(*f.place));
	f.symbol = xcalloc(1, sizeof(*f.symbol));
	frame_free(&f);
	ok(is_empty(&f, sizeof(f)), "what a report is made of");
}

static void a_diagnosis(void)
{
	struct diagnosis d = { .layer = xcalloc(2, sizeof(*d.layer)), .n_layers = 2, .n_findings = 2, .n_probes = 1 };

	for (size_t i = 0; i < 2; i++) {
		struct diag_layer *l = &d.layer[i];

		l->name = text();
		l->fstype = text();
		l->options = text();
		l->below = texts();
		l->setting = xcalloc(2, sizeof(*l->setting));
		l->n_settings = 2;
		for (size_t k = 0; k < 2; k++)
			l->setting[k] = (struct diag_setting){ .value = text(), .where = text(), .unknown = text() };
	}
	d.finding = xcalloc(2, sizeof(*d.finding));
	for (size_t i = 0; i < 2; i++)
		d.finding[i] = (struct diag_finding){ .place = text(), .what = text(), .advice = text() };
	d.probe = xcalloc(1, sizeof(*d.probe));
	d.probe->name = text();
	d.version = text();
	d.kernel = text();
	d.arch = text();
	d.target = text();
	d.no_probes = text();
	d.trace.sentence = text();
	diagnosis_free(&d);
	ok(!d.layer && !d.n_layers && !d.finding && !d.n_findings && !d.probe && !d.n_probes && !d.version, "a diagnosis");
}

static void a_card(void)
{
	struct card c = { .row = xcalloc(2, sizeof(*c.row)), .n_rows = 2, .reasons = texts() };
	struct card_comparison both = { .sentence = text(), .row = xcalloc(2, sizeof(*both.row)), .settings = texts() };

	c.row[0].missing = text();
	c.row[1].missing = text();
	c.version = text();
	c.kernel = text();
	c.arch = text();
	c.start = text();
	c.name = text();
	c.model = text();
	c.firmware = text();
	c.write_cache = text();
	c.scheduler = text();
	c.fstype = text();
	c.options = text();
	c.sentence = text();
	card_free(&c);
	ok(is_empty(&c, sizeof(c)), "a card");
	both.n_rows = 2;
	card_comparison_free(&both);
	ok(is_empty(&both, sizeof(both)), "two cards compared");
}

static void fill_tally(struct tally *t)
{
	tally_add(t, 1);
}

static void fill_device(struct report_device *d)
{
	struct tally *const tallies[] = { &d->naive_write, &d->flush.slot_wait, &d->flush.slot_wait_flush,
					  &d->flush.slot_wait_data, &d->flush.sequence };

	for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
		fill_tally(tallies[i]);
	for (int c = 0; c < OP_CLASSES; c++) {
		fill_tally(&d->op[c].queue);
		fill_tally(&d->op[c].device);
		fill_tally(&d->op[c].total);
	}
	for (int c = 0; c < HEAT_CLASSES; c++)
		d->heat[c] = xcalloc(1, sizeof(*d->heat[c]));
	d->model = text();
	d->write_cache = text();
	d->scheduler = text();
	d->via = text();
	d->disk = text();
	d->slaves = texts();
	d->mounts = xcalloc(2, sizeof(*d->mounts));
	d->n_mounts = 2;
	for (size_t i = 0; i < 2; i++)
		d->mounts[i] = (struct report_mount){ .dir = text(), .fstype = text(), .options = text(), .barrier = text() };
}

static struct report_group *groups(void)
{
	struct report_group *g = xcalloc(2, sizeof(*g));

	for (size_t i = 0; i < 2; i++) {
		g[i].comm = text();
		g[i].path = text();
		g[i].device = text();
		fill_tally(&g[i].latency);
	}
	return g;
}

static void fill_sync(struct report_sync *s)
{
	s->process = groups();
	s->file = groups();
	s->slowest = xcalloc(2, sizeof(*s->slowest));
	s->leaf = xcalloc(2, sizeof(*s->leaf));
	s->n_processes = s->n_files = s->n_slowest = s->n_leaves = 2;
	for (size_t i = 0; i < 2; i++) {
		s->slowest[i] = (struct report_call){ .comm = text(), .call = text(), .path = text(), .device = text() };
		s->leaf[i].path = text();
		fill_tally(&s->leaf[i].each);
	}
	s->sample = xcalloc(1, sizeof(*s->sample));
	s->heat = xcalloc(1, sizeof(*s->heat));
	s->other = xcalloc(1, sizeof(*s->other));
	s->tail.path = text();
	s->tail.comm = text();
	s->tail.sentence = text();
}

/* Two of each row. */
static void fill_rows(struct report *r)
{
	r->device = xcalloc(2, sizeof(*r->device));
	r->probe = xcalloc(2, sizeof(*r->probe));
	r->lost = xcalloc(2, sizeof(*r->lost));
	r->whatif = xcalloc(2, sizeof(*r->whatif));
	r->outstanding = xcalloc(2, sizeof(*r->outstanding));
	r->n_devices = r->n_probes = r->n_lost = r->n_whatif = r->n_outstanding = 2;
	for (size_t i = 0; i < 2; i++) {
		struct report_outstanding *o = &r->outstanding[i];
		char **const texts_of[] = { &o->comm, &o->cmdline, &o->call, &o->path, &o->device,
					    &o->step, &o->where,   &o->via,  &o->op,   &o->disk };

		fill_device(&r->device[i]);
		r->probe[i] = (struct report_probe){ .name = text(), .rung = text(), .could = text(), .reason = text() };
		r->lost[i].reason = text();
		r->whatif[i].remove = text();
		for (size_t k = 0; k < sizeof(texts_of) / sizeof(texts_of[0]); k++)
			*texts_of[k] = text();
	}
}

static void a_report(void)
{
	struct report *r = xcalloc(1, sizeof(*r));

	fill_sync(&r->sync);
	fill_rows(r);
	r->detail = xcalloc(1, sizeof(*r->detail));
	r->detail->name = xcalloc(2, sizeof(*r->detail->name));
	r->detail->name[r->detail->n_names++] = text();
	r->detail->name[r->detail->n_names++] = text();
	report_detail_add_call(r->detail, &(struct detail_call){ 0 }, NULL);
	report_detail_add_request(r->detail, &(struct detail_request){ 0 });
	r->pace.point = xcalloc(1, sizeof(*r->pace.point));
	r->verdict.sentence = text();
	r->verdict.evidence = texts();
	r->verdict.advice = texts();
	r->version = text();
	r->start = text();
	r->command = texts();
	r->kernel = text();
	r->arch = text();
	r->filter = text();
	r->notes = texts();
	report_free(r);
	ok(is_empty(r, sizeof(*r)), "a report");
	free(r);
}

int main(void)
{
	a_report();
	a_bench();
	an_experiment();
	a_frame();
	a_diagnosis();
	a_card();
	return tap_done();
}
