// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/compare/reports.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/num.h"

/* ---- statistics ---- */

static double exact_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

/* Around the exact mean; a bucket's values lie evenly between its ends, and nowhere beyond the extremes. */
double compare_variance(const struct hist *h)
{
	double mean = exact_mean(h), sum = 0;

	if (h->count < 2)
		return 0;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		double lo = (double)hist_lower(i), hi = (double)hist_upper(i), width, off;

		if (!h->bucket[i])
			continue;
		if (lo < (double)h->min)
			lo = (double)h->min;
		if (hi > (double)h->max || i == HIST_BUCKETS - 1) /* the last one is open */
			hi = (double)h->max;
		width = hi >= lo ? hi - lo + 1 : 1;
		off = (lo + hi) / 2 - mean;
		sum += (double)h->bucket[i] * (off * off + (width * width - 1) / 12);
	}
	return sum / (double)(h->count - 1);
}

static double student_density(double x, double f)
{
	double log_norm = lgamma((f + 1) / 2) - lgamma(f / 2) - log(f * M_PI) / 2;

	return exp(log_norm - (f + 1) / 2 * log1p(x * x / f));
}

/* P(0 < T < t), by Simpson's rule. */
static double student_half(double t, double f)
{
	const int steps = 1000;
	double h = t / steps, sum = student_density(0, f) + student_density(t, f);

	for (int i = 1; i < steps; i++)
		sum += student_density(i * h, f) * (i % 2 ? 4 : 2);
	return sum * h / 3;
}

double compare_student(double freedom)
{
	double low = 1.9, high = 13; /* the quantile of the normal distribution; of one degree of freedom */

	if (!(freedom < 1e6))
		return 1.959964;
	if (freedom < 1)
		freedom = 1;
	for (int i = 0; i < 40; i++) {
		double mid = (low + high) / 2;

		if (student_half(mid, freedom) < 0.475)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

struct comparison_interval compare_samples(const struct compare_sample *a, const struct compare_sample *b)
{
	struct comparison_interval r = { .difference = b->mean - a->mean };
	double va, vb, half = 0;

	if (a->n < 2 || b->n < 2)
		return r;
	va = a->variance / a->n;
	vb = b->variance / b->n;
	if (va + vb > 0) {
		r.freedom = (va + vb) * (va + vb) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
		half = compare_student(r.freedom) * sqrt(va + vb);
	}
	r.have = true;
	r.low = r.difference - half;
	r.high = r.difference + half;
	r.told = r.low > 0 || r.high < 0;
	return r;
}

struct comparison_interval compare_means(const struct hist *a, const struct hist *b)
{
	struct compare_sample sa = { (double)a->count, exact_mean(a), compare_variance(a) };
	struct compare_sample sb = { (double)b->count, exact_mean(b), compare_variance(b) };

	return compare_samples(&sa, &sb);
}

/* ---- the ledger ---- */

static void compare_causes(struct comparison *c)
{
	for (enum cause cause = 0; cause < CAUSE_COUNT; cause++) {
		struct comparison_cause row = { .cause = cause };
		size_t at = c->n_causes;

		for (int i = 0; i < SIDES; i++)
			row.per_call[i] = (double)c->run[i]->sync.ledger.ns[cause] / (double)c->run[i]->sync.count;
		if (row.per_call[SIDE_A] <= 0 && row.per_call[SIDE_B] <= 0)
			continue;
		row.difference = row.per_call[SIDE_B] - row.per_call[SIDE_A];
		for (; at && fabs(c->cause[at - 1].difference) < fabs(row.difference); at--)
			c->cause[at] = c->cause[at - 1];
		c->cause[at] = row;
		c->n_causes++;
	}
}

/* ---- devices ---- */

/* Only what is known of both, and differs. Takes both values over. */
static void setting(struct comparison_device *d, const char *name, const char *of, char *a, char *b)
{
	struct comparison_setting *s;

	if (!a || !b || !strcmp(a, b)) {
		free(a);
		free(b);
		return;
	}
	s = grow((void **)&d->setting, &d->n_settings, sizeof(*s));
	*s = (struct comparison_setting){ .name = name, .of = xstrdup(of), .value = { a, b } };
}

static void flag_setting(struct comparison_device *d, const char *name, bool have, bool a, bool b)
{
	if (have)
		setting(d, name, NULL, xstrdup(a ? "yes" : "no"), xstrdup(b ? "yes" : "no"));
}

static char *wbt(const struct report_device *d)
{
	if (!d->have_wbt)
		return NULL;
	return xstrdup(d->wbt_lat_us ? num_duration(d->wbt_lat_us * 1000, 0).s : "off");
}

static bool listed(const char *options, const char *one, size_t n)
{
	while (options && *options) {
		size_t len = strcspn(options, ",");

		if (len == n && !memcmp(options, one, n))
			return true;
		options += len + (options[len] == ',');
	}
	return false;
}

/* The options of `have` that `other` lacks. */
static char *options_beyond(const char *have, const char *other)
{
	struct buf b = { 0 };

	while (have && *have) {
		size_t n = strcspn(have, ",");

		if (n && !listed(other, have, n)) {
			if (b.len)
				buf_char(&b, ',');
			buf_add(&b, have, n);
		}
		have += n + (have[n] == ',');
	}
	return b.data ? b.data : xstrdup("");
}

static const struct report_mount *mount_like(const struct report_device *d, const struct report_mount *m, bool alone)
{
	for (size_t i = 0; i < d->n_mounts; i++)
		if (d->mounts[i].dir && m->dir && !strcmp(d->mounts[i].dir, m->dir))
			return &d->mounts[i];
	return alone ? &d->mounts[0] : NULL;
}

static void compare_mounts(struct comparison_device *d)
{
	const struct report_device *a = d->side[SIDE_A], *b = d->side[SIDE_B];
	bool alone = a->n_mounts == 1 && b->n_mounts == 1;

	for (size_t i = 0; i < a->n_mounts; i++) {
		const struct report_mount *m = &a->mounts[i], *n = mount_like(b, m, alone);

		if (!n) {
			setting(d, "mounted", m->dir, xstrdup("yes"), xstrdup("no"));
			continue;
		}
		setting(d, "file system", m->dir, xstrdup(m->fstype), xstrdup(n->fstype));
		setting(d, "barriers", m->dir, xstrdup(m->barrier), xstrdup(n->barrier));
		if (m->options && n->options)
			setting(d, "mount options", m->dir, options_beyond(m->options, n->options),
				options_beyond(n->options, m->options));
	}
	for (size_t i = 0; i < b->n_mounts; i++)
		if (!mount_like(a, &b->mounts[i], alone))
			setting(d, "mounted", b->mounts[i].dir, xstrdup("no"), xstrdup("yes"));
}

static void compare_settings(struct comparison_device *d)
{
	const struct report_device *a = d->side[SIDE_A], *b = d->side[SIDE_B];

	setting(d, "model", NULL, xstrdup(a->model), xstrdup(b->model));
	if (a->size && b->size && a->size != b->size)
		setting(d, "size", NULL, xasprintf("%s", num_bytes(a->size, 0).s),
			xasprintf("%s", num_bytes(b->size, 0).s));
	setting(d, "write cache", NULL, xstrdup(a->write_cache), xstrdup(b->write_cache));
	flag_setting(d, "FUA", a->have_fua && b->have_fua, a->fua, b->fua);
	setting(d, "scheduler", NULL, xstrdup(a->scheduler), xstrdup(b->scheduler));
	if (a->nr_requests && b->nr_requests)
		setting(d, "nr_requests", NULL, xasprintf("%" PRIu64, a->nr_requests),
			xasprintf("%" PRIu64, b->nr_requests));
	setting(d, "wb throttling", NULL, wbt(a), wbt(b));
	flag_setting(d, "rotational", a->have_rotational && b->have_rotational, a->rotational, b->rotational);
	compare_mounts(d);
}

/* A recording that was cut off has lost its counters: that is not the same as no request. */
static bool was_counted(const struct report *r, const struct report_device *d)
{
	uint64_t n = 0;

	for (int c = 0; c < OP_CLASSES; c++)
		n += d->op[c].count;
	return n || !r->incomplete;
}

static void compare_flushes(const struct comparison *c, struct comparison_device *d)
{
	d->have_flushes = was_counted(c->run[SIDE_A], d->side[SIDE_A]) && was_counted(c->run[SIDE_B], d->side[SIDE_B]);
	d->have_per_call = c->have_calls && d->have_flushes;
	d->have_per_commit = true;
	for (int i = 0; i < SIDES; i++) {
		const struct report_device *dev = d->side[i];
		uint64_t calls = c->run[i]->sync.count;

		d->have_per_commit &= dev->flush.barrier_writes > 0;
		if (calls)
			d->flushes_per_call[i] = (double)dev->op[OP_FLUSH].count / (double)calls;
		if (dev->flush.barrier_writes)
			d->flushes_per_commit[i] = (double)dev->flush.barrier_flushes / (double)dev->flush.barrier_writes;
	}
}

static bool same_name(const struct report_device *a, const struct report_device *b)
{
	return !strcmp(a->name, b->name);
}

static bool same_model(const struct report_device *a, const struct report_device *b)
{
	return a->model && b->model && !strcmp(a->model, b->model) && !a->disk == !b->disk;
}

static void pair(struct comparison *c, const struct report_device *a, const struct report_device *b)
{
	struct comparison_device *d = grow((void **)&c->device, &c->n_devices, sizeof(*d));

	d->side[SIDE_A] = a;
	d->side[SIDE_B] = b;
	if (!a || !b)
		return;
	compare_settings(d);
	compare_flushes(c, d);
}

/* For each device of A which one of B it is: 1 + index, or 0. */
static void match(const struct report *a, const struct report *b, size_t *mate, bool *taken,
		  bool (*same)(const struct report_device *, const struct report_device *))
{
	for (size_t i = 0; i < a->n_devices; i++)
		for (size_t j = 0; j < b->n_devices && !mate[i]; j++)
			if (!taken[j] && same(&a->device[i], &b->device[j])) {
				mate[i] = j + 1;
				taken[j] = true;
			}
}

/* By name; what is left over by model: the same disk can get another name. One alone on each side is compared anyway. */
static void compare_devices(struct comparison *c)
{
	const struct report *a = c->run[SIDE_A], *b = c->run[SIDE_B];
	size_t *mate = xcalloc(a->n_devices + 1, sizeof(*mate));
	bool *taken = xcalloc(b->n_devices + 1, sizeof(*taken));

	match(a, b, mate, taken, same_name);
	match(a, b, mate, taken, same_model);
	if (a->n_devices == 1 && b->n_devices == 1)
		mate[0] = taken[0] = 1;
	for (size_t i = 0; i < a->n_devices; i++)
		pair(c, &a->device[i], mate[i] ? &b->device[mate[i] - 1] : NULL);
	for (size_t j = 0; j < b->n_devices; j++)
		if (!taken[j])
			pair(c, NULL, &b->device[j]);
	free(mate);
	free(taken);
}

/* ---- the sentence ---- */

struct num compare_duration(double ns)
{
	return num_duration((uint64_t)(fabs(ns) + 0.5), 0);
}

struct num compare_ratio(double x)
{
	return num_ratio((uint64_t)(fmin(x, 1e12) * 1e6 + 0.5), 1000000);
}

/* "5.52 to 5.81 ms", "980 µs to 1.02 ms" */
static void range(struct buf *b, double from, double to)
{
	struct num low = compare_duration(from), high = compare_duration(to);
	char *unit = strchr(low.s, ' '), *other = strchr(high.s, ' ');

	if (!strcmp(low.s, high.s)) {
		buf_str(b, low.s);
		return;
	}
	if (unit && other && !strcmp(unit, other))
		*unit = '\0';
	buf_printf(b, "%s to %s", low.s, high.s);
}

/* Those that moved the same way as the whole, until they make up half of it. */
static void because(const struct comparison *c, struct buf *b)
{
	double d = c->mean.difference, told = 0;
	const char *word = d < 0 ? "fell" : "rose";
	const struct comparison_cause *list[3];
	size_t n = 0;

	for (size_t i = 0; i < c->n_causes && n < 3 && told < fabs(d) / 2; i++) {
		if (c->cause[i].difference * d <= 0)
			continue;
		list[n++] = &c->cause[i];
		told += fabs(c->cause[i].difference);
	}
	if (!n)
		return;
	if (list[0]->cause == CAUSE_UNKNOWN) {
		buf_printf(b, "; the ledger does not say why: what it cannot explain %s by %s per call", word,
			   compare_duration(list[0]->difference).s);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%s %s%sby %s",
			   !i	     ? ", because " :
			   i + 1 < n ? ", " :
				       " and ",
			   cause_name(list[i]->cause), i ? "" : word, i ? "" : " ",
			   compare_duration(list[i]->difference).s);
	buf_str(b, " per call");
}

/* "are 4.10 times faster", "take 12.0 % less time" */
static void how_much(const struct comparison *c, struct buf *b)
{
	const struct report_sync *sa = &c->run[SIDE_A]->sync, *sb = &c->run[SIDE_B]->sync;
	double a = exact_mean(&sa->latency), m = exact_mean(&sb->latency);
	double more = m > a ? m : a, less = m > a ? a : m;

	if (less > 0 && more / less >= 1.5)
		buf_printf(b, "B's sync calls are %s times %s", compare_ratio(more / less).s, m < a ? "faster" : "slower");
	else if (a > 0)
		buf_printf(b, "B's sync calls take %s %s time",
			   num_percent((uint64_t)(fabs(m - a) + 0.5), (uint64_t)(a + 0.5), 0).s, m < a ? "less" : "more");
	else
		buf_printf(b, "B's sync calls are %s", m < a ? "faster" : "slower");
	buf_printf(b, " (%s -> %s per call, ", compare_duration(a).s, compare_duration(m).s);
}

static void told(const struct comparison *c, struct buf *b)
{
	const struct comparison_interval *i = &c->mean;

	how_much(c, b);
	buf_str(b, "95 % confidence ");
	if (i->difference < 0)
		range(b, -i->high, -i->low);
	else
		range(b, i->low, i->high);
	buf_printf(b, " %s)", i->difference < 0 ? "less" : "more");
	because(c, b);
	buf_char(b, '.');
}

static void not_told(const struct comparison *c, struct buf *b)
{
	const struct comparison_interval *i = &c->mean;

	buf_printf(b, "No difference that could be told from chance: a sync call took %s in A and %s in B",
		   compare_duration(exact_mean(&c->run[SIDE_A]->sync.latency)).s,
		   compare_duration(exact_mean(&c->run[SIDE_B]->sync.latency)).s);
	if (i->have)
		buf_printf(b, " (95 %% confidence: %s less to %s more).", compare_duration(i->low).s,
			   compare_duration(i->high).s);
	else
		buf_str(b, ", but a run with a single call says nothing about chance.");
}

static const char *without(const struct report *r)
{
	return r->have_sync ? "made none whose time is known" : "was recorded without the ledger";
}

static char *sentence(const struct comparison *c)
{
	bool has[SIDES];
	struct buf b = { 0 };

	for (int i = 0; i < SIDES; i++)
		has[i] = c->run[i]->have_sync && c->run[i]->sync.count && c->run[i]->sync.latency.count;
	if (c->have_calls && c->mean.told)
		told(c, &b);
	else if (c->have_calls)
		not_told(c, &b);
	else if (has[SIDE_A] || has[SIDE_B])
		buf_printf(&b, "The runs' sync calls cannot be compared: %s %s.", has[SIDE_A] ? "B" : "A",
			   without(c->run[has[SIDE_A] ? SIDE_B : SIDE_A]));
	else
		buf_printf(&b, "There are no sync calls to compare: A %s, B %s.", without(c->run[SIDE_A]),
			   without(c->run[SIDE_B]));
	return b.data;
}

/* ---- the whole ---- */

void compare_reports(const struct report *a, const struct report *b, struct comparison *out)
{
	double mean;

	*out = (struct comparison){ .run = { a, b }, .have_calls = true };
	for (int i = 0; i < SIDES; i++) {
		out->have_calls &= out->run[i]->have_sync && out->run[i]->sync.count && out->run[i]->sync.latency.count;
		out->incomplete |= out->run[i]->incomplete;
	}
	if (out->have_calls) {
		out->mean = compare_means(&a->sync.latency, &b->sync.latency);
		mean = exact_mean(&a->sync.latency);
		out->ratio = mean > 0 ? exact_mean(&b->sync.latency) / mean : 0;
		compare_causes(out);
	}
	compare_devices(out);
	out->sentence = sentence(out);
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		struct comparison_device *d = &c->device[i];

		for (size_t s = 0; s < d->n_settings; s++)
			free_all(d->setting[s].of, d->setting[s].value[SIDE_A], d->setting[s].value[SIDE_B]);
		free(d->setting);
	}
	free(c->device);
	free(c->sentence);
	memset(c, 0, sizeof(*c));
}
