// SPDX-License-Identifier: GPL-2.0-only
/* flush_profiles.c - two barrier cards, test by test. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/plausibility.h"
#include "analyse/compare/reports.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/num.h"

#define BLOCK 4096u

/* ---- what is not the same about the disks ---- */

static void differs(struct card_comparison *c, const char *name, const char *a, const char *b)
{
	if (a && b && strcmp(a, b))
		strv_add(&c->settings, xasprintf("%s: %s and %s", name, *a ? a : "none", *b ? b : "none"));
}

static const char *yes(bool v)
{
	return v ? "yes" : "no";
}

static void settings(struct card_comparison *c, const struct card *a, const struct card *b)
{
	char sizes[SIDES][40];

	differs(c, "model", a->model, b->model);
	differs(c, "firmware", a->firmware, b->firmware);
	differs(c, "kernel", a->kernel, b->kernel);
	differs(c, "cache", a->write_cache, b->write_cache);
	if (a->have_fua && b->have_fua)
		differs(c, "FUA", yes(a->fua), yes(b->fua));
	if (a->have_rotational && b->have_rotational)
		differs(c, "rotating", yes(a->rotational), yes(b->rotational));
	differs(c, "scheduler", a->scheduler, b->scheduler);
	differs(c, "file system", a->fstype, b->fstype);
	differs(c, "mount options", a->options, b->options);
	snprintf(sizes[SIDE_A], sizeof(sizes[SIDE_A]), "%s", num_bytes(a->data_bytes, 0).s);
	snprintf(sizes[SIDE_B], sizeof(sizes[SIDE_B]), "%s", num_bytes(b->data_bytes, 0).s);
	differs(c, "data written to", sizes[SIDE_A], sizes[SIDE_B]);
	differs(c, "barriertrace", a->version, b->version);
}

/* ---- rows ---- */

static void rows(struct card_comparison *c, const struct card *a, const struct card *b)
{
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct card_row *other = card_row_of(b, a->row[i].test, a->row[i].param);
		struct card_difference *d;

		if (!other || !a->row[i].call.count)
			continue;
		d = grow((void **)&c->row, &c->n_rows, sizeof(*d));
		d->side[SIDE_A] = &a->row[i];
		d->side[SIDE_B] = other;
		d->flush = compare_means(&a->row[i].flush, &other->flush);
		d->call = compare_means(&a->row[i].call, &other->call);
	}
}

/* ---- the sentence ---- */

/* "3.2 times slower" */
static void times(struct buf *b, uint64_t from, uint64_t to)
{
	buf_str(b, num_ratio(to > from ? to : from, to > from ? from : to).s);
	buf_str(b, to > from ? " times slower" : " times faster");
}

static char *flush_sentence(const struct card_difference *d)
{
	uint64_t a = hist_mean(&d->side[SIDE_A]->flush), b = hist_mean(&d->side[SIDE_B]->flush);
	struct buf s = { 0 };

	buf_str(&s, "A flush after 4 KiB ");
	if (!d->flush.have) {
		buf_printf(&s, "took %s in B and %s in A on average, but a single flush says nothing about chance.",
			   num_duration(b, 0).s, num_duration(a, 0).s);
	} else if (!d->flush.told) {
		buf_printf(&s, "takes as long in B as in A, as far as can be told: %s and %s on average.",
			   num_duration(b, 0).s, num_duration(a, 0).s);
	} else {
		buf_str(&s, "is ");
		times(&s, a, b);
		buf_printf(&s, " in B: %s instead of %s on average (95 %% sure of %s to %s %s).", num_duration(b, 0).s,
			   num_duration(a, 0).s,
			   num_duration((uint64_t)fmin(fabs(d->flush.low), fabs(d->flush.high)), 0).s,
			   num_duration((uint64_t)fmax(fabs(d->flush.low), fabs(d->flush.high)), 0).s,
			   d->flush.difference > 0 ? "more" : "less");
	}
	return s.data;
}

static char *sentence(const struct card_comparison *c)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct card_difference *d = &c->row[i];

		if (d->side[SIDE_A]->test != CARD_DIRTY || d->side[SIDE_A]->param != BLOCK)
			continue;
		if (d->side[SIDE_A]->flush.count && d->side[SIDE_B]->flush.count)
			return flush_sentence(d);
		if (d->side[SIDE_A]->flush.count)
			return xstrdup("No flush was sent to B, but to A: what their syncs promise is not the same.");
		if (d->side[SIDE_B]->flush.count)
			return xstrdup("No flush was sent to A, but to B: what their syncs promise is not the same.");
		return xstrdup("No flush was sent to either.");
	}
	return xstrdup("These cards have no test in common that tells the cost of a flush.");
}

void believe_compare(const struct card *a, const struct card *b, struct card_comparison *out)
{
	memset(out, 0, sizeof(*out));
	out->card[SIDE_A] = a;
	out->card[SIDE_B] = b;
	settings(out, a, b);
	rows(out, a, b);
	out->sentence = sentence(out);
}
