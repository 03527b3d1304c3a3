// SPDX-License-Identifier: GPL-2.0-only
/* trace_evidence.c - what a traced run adds to a diagnosis. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"
#include "util/mem.h"
#include "util/num.h"

#define LARGE_SHARE 10 /* percent of the sync time: a setting that takes as much is told of */

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

static void add_measured(struct diagnosis *d, enum diag_grade grade, const char *place, const char *key,
			 uint32_t causes, char *what)
{
	struct diag_finding *f = grow((void **)&d->finding, &d->n_findings, sizeof(*f));

	*f = (struct diag_finding){ .grade = grade, .place = xstrdup(place), .key = key, .causes = causes, .what = what };
}

/* What a cause that took much time says about a setting which does not hurt by itself. */
/* clang-format off */
static const struct large_row {
	const char *key, *idle;	/* with the value `idle` it cannot have been this setting */
	const char *format;	/* of the layer's name and the value */
} large_rows[] = {
	{ "write_cache", "write through", "Sync calls waited for %s to empty its cache (%s)." },
	{ "scheduler", "none", "Sync calls waited in the I/O scheduler of %s, which is %s." },
	{ "wbt_lat_usec", "0", "Sync calls were held back on their way to %s, where writeback is throttled (%s us)." },
	{ "nr_requests", "", "Sync calls waited for a free request of %s, which has %s." },
	{ "max_batch_time", "0", "Sync calls on %s waited for the journal, which may sleep for up to %s us for others "
		"to join." },
};
/* clang-format on */

static void add_large_row(struct diagnosis *d, const struct large_row *row)
{
	for (size_t i = 0; i < d->n_layers; i++) {
		const struct diag_layer *l = &d->layer[i];

		for (size_t k = 0; k < l->n_settings; k++) {
			const struct diag_setting *s = &l->setting[k];

			if (strcmp(s->key, row->key) || !s->value || !strcmp(s->value, row->idle) ||
			    weight_of(&d->trace.ledger, s->causes) * 100 < d->trace.total_ns * LARGE_SHARE)
				continue;
			add_measured(d, DIAG_SLOW, l->name, s->key, s->causes, xasprintf(row->format, l->name, s->value));
		}
	}
}

/* The ledger does not know which disk of several it was: nothing is told then. */
static bool is_one_disk(const struct diagnosis *d)
{
	size_t disks = 0, loops = 0;

	for (size_t i = 0; i < d->n_layers; i++) {
		disks += d->layer[i].kind == DIAG_DISK;
		loops += d->layer[i].kind == DIAG_LOOP;
	}
	return disks == 1 || (!disks && loops == 1);
}

static void add_large(struct diagnosis *d)
{
	for (size_t i = 0; i < sizeof(large_rows) / sizeof(large_rows[0]) && is_one_disk(d); i++)
		if (!has_finding(d, large_rows[i].key))
			add_large_row(d, &large_rows[i]);
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
	if (r->sync.unsafe && t->calls)
		add_measured(d, DIAG_CHECK, "sync calls", "unflushed", 0,
			     xasprintf("%" PRIu64 " of %" PRIu64 " sync call%s returned without any flush, though the "
				       "disk's cache is volatile.",
				       r->sync.unsafe, t->calls, num_plural(t->calls)));
	if (t->total_ns)
		add_large(d);
	for (size_t i = 0; i < d->n_findings; i++) {
		struct diag_finding *f = &d->finding[i];

		f->have_weight = f->causes && t->total_ns;
		f->weight_ns = f->have_weight ? weight_of(&t->ledger, f->causes) : 0;
	}
	diagnosis_sort(d);
}
