// SPDX-License-Identifier: GPL-2.0-only
#include "doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "exam.h"
#include "mem.h"
#include "stack.h"

int doctor_look(const char *word, const struct doctor_opts *o, struct diagnosis *d, struct err *e)
{
	struct exam x = { .o = o, .d = d };
	struct utsname un;
	int err;

	err = stack_find(word, d, e);
	if (err)
		return err;
	d->version = xstrdup(BT_VERSION);
	d->target = xstrdup(word);
	if (!uname(&un)) {
		d->kernel = xstrdup(un.release);
		d->arch = xstrdup(un.machine);
	}
	for (size_t i = 0; i < d->n_layers; i++) {
		drive_ask(&x, &d->layer[i]);
		settings_read(&x, &d->layer[i]);
	}
	settings_judge(&x);
	diagnosis_sort(d);
	drive_free(&x);
	return 0;
}

/* ---- what a trace adds ---- */

#define LARGE_SHARE 10	/* percent of the sync time: a setting that takes as much is told of */

static uint64_t weight_of(const struct ledger *l, uint32_t causes)
{
	uint64_t ns = 0;

	for (int c = 0; c < CAUSE_COUNT; c++)
		ns += causes & 1u << c ? l->ns[c] : 0;
	return ns;
}

static bool has_finding(const struct diagnosis *d, const char *key)
{
	for (size_t i = 0; i < d->n_findings; i++)
		if (!strcmp(d->finding[i].key, key))
			return true;
	return false;
}

static void add_measured(struct diagnosis *d, enum diag_grade grade, const char *place, const char *key, uint32_t causes, char *what)
{
	struct diag_finding *f = grow((void **)&d->finding, &d->n_findings, sizeof(*f));

	*f = (struct diag_finding){ .grade = grade, .place = xstrdup(place), .key = key, .causes = causes, .what = what };
}

/* Of settings that act on a single large cause, the first of each cause that no finding has: "scheduler is mq-deadline". */
static void add_large(struct diagnosis *d)
{
	uint32_t told = 0;

	for (size_t i = 0; i < d->n_layers; i++) {
		const struct diag_layer *l = &d->layer[i];

		for (size_t k = 0; k < l->n_settings; k++) {
			const struct diag_setting *s = &l->setting[k];
			bool single = s->causes && !(s->causes & (s->causes - 1));

			if (!single || !s->value || told & s->causes || l->kind == DIAG_FS || has_finding(d, s->key) ||
			    weight_of(&d->trace.ledger, s->causes) * 100 < d->trace.total_ns * LARGE_SHARE)
				continue;
			told |= s->causes;
			add_measured(d, DIAG_SLOW, l->name, s->key, s->causes,
				     xasprintf("%s of %s is %s, and sync calls waited there.", s->key, l->name, s->value));
		}
	}
}

void doctor_weigh(struct diagnosis *d, const struct report *r)
{
	struct diag_trace *t = &d->trace;

	t->have = true;
	t->wall_ns = r->wall_ns;
	t->incomplete = r->incomplete;
	t->sentence = xstrdup(r->have_verdict ? r->verdict.sentence : NULL);
	t->calls = r->sync.count;
	t->ledger = r->sync.ledger;
	t->total_ns = ledger_sum(&t->ledger);
	if (r->sync.unflushed && t->calls)
		add_measured(d, DIAG_CHECK, "sync calls", "unflushed", 0,
			     xasprintf("%llu of %llu sync calls returned without any flush, though the disk's cache is volatile.",
				       (unsigned long long)r->sync.unflushed, (unsigned long long)t->calls));
	if (t->total_ns)
		add_large(d);
	for (size_t i = 0; i < d->n_findings; i++) {
		struct diag_finding *f = &d->finding[i];

		f->have_weight = f->causes && t->total_ns;
		f->weight_ns = f->have_weight ? weight_of(&t->ledger, f->causes) : 0;
	}
	diagnosis_sort(d);
}
