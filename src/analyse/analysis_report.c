// SPDX-License-Identifier: GPL-2.0-only
/* analysis_report.c - from what the calls add up to, the report of them. */
#include "analyse/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/report_top.h"
#include "util/buf.h"
#include "util/mem.h"

static void copy_group(struct report_group *to, const struct group *from)
{
	to->count = from->count;
	to->total_ns = from->total_ns;
	to->unsafe = from->unsafe;
	to->unsafe_ns = from->unsafe_ns;
	to->late = from->late;
	to->ledger = from->ledger;
	to->latency = tally_copy(&from->latency);
}

static struct report_group *report_groups(const struct sync_analysis *a, const struct groups *g, bool files, size_t *n)
{
	struct report_group *out = xcalloc(g->n, sizeof(*out));

	*n = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct group *from = g->group[i];
		struct report_group *to = &out[*n];

		if (!from->count)
			continue;
		copy_group(to, from);
		to->rest = i == GROUPS_OTHER;
		if (files) {
			to->path = xstrdup(from->text);
			to->device = devices_name(&a->devices, from->id);
		} else {
			to->comm = xstrdup(from->text);
			to->pid = from->id;
		}
		(*n)++;
	}
	qsort(out, *n, sizeof(*out), report_group_order);
	return out;
}

/* Frames are separated by ';', and some readers take a line each. */
static void frame(struct buf *b, const char *text, size_t max)
{
	if (b->len)
		buf_char(b, ';');
	for (size_t i = 0; i < max && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		buf_char(b, c == ';' || c < ' ' || c == 0x7f ? '_' : (char)c);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *leaf_path(const struct sync_analysis *a, const struct leaf *l)
{
	const struct leaf_owner *owner = &a->leaves.owner[l->owner_cause >> 32];
	const char *via[VIAS_DEPTH];
	size_t n = walk_via(a->walk, (uint32_t)l->dev_via, via);
	struct buf b = { 0 };
	char label[32];

	frame(&b, owner->comm, sizeof(owner->comm));
	frame(&b, owner->call ? call_name(owner->call) : "(other calls)", SIZE_MAX);
	frame(&b, base_name(a->files.group[owner->file]->text), SIZE_MAX);
	for (size_t i = 0; i < n; i++)
		frame(&b, via[i], SIZE_MAX);
	frame(&b, cause_name(leaf_cause(l)), SIZE_MAX);
	if (*devices_label(&a->devices, (uint32_t)(l->dev_via >> 32), label))
		frame(&b, label, SIZE_MAX);
	return b.data;
}

/* Files in different folders may have the same name. Sorted by path; returns how many are left. */
static size_t merge_leaves(struct report_leaf *l, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && !report_leaf_by_path(&l[kept - 1], &l[i])) {
			l[kept - 1].ns += l[i].ns;
			tally_merge(&l[kept - 1].each, &l[i].each);
			tally_free(&l[i].each);
			free(l[i].path);
		} else {
			if (kept != i)
				l[kept] = l[i];
			kept++;
		}
	}
	return kept;
}

static struct report_leaf *report_leaves(const struct sync_analysis *a, size_t *n)
{
	struct report_leaf *out = xcalloc(a->leaves.n, sizeof(*out)), *next = out;

	for (uint32_t i = 0; i < a->leaves.n; i++) {
		const struct leaf *l = &a->leaves.leaf[i];

		*next++ = (struct report_leaf){
			.path = leaf_path(a, l),
			.cause = leaf_cause(l),
			.ns = l->each->sum,
			.each = tally_copy(l->each),
		};
	}
	qsort(out, a->leaves.n, sizeof(*out), report_leaf_by_path);
	*n = merge_leaves(out, a->leaves.n);
	qsort(out, *n, sizeof(*out), report_leaf_by_time);
	return out;
}

static void report_one(const struct sync_analysis *a, const struct slow *s, struct report_call *out)
{
	out->start_ns = s->call.enter > a->opts.start_ns ? s->call.enter - a->opts.start_ns : 0;
	out->duration_ns = s->call.exit - s->call.enter;
	out->pid = s->call.tgid;
	out->tid = s->call.tid;
	out->comm = xstrdup(s->call.comm);
	out->call = xstrdup(call_name(s->call.call));
	out->path = xstrdup(s->path);
	out->device = devices_name(&a->devices, s->call.dev);
	out->unsafe = s->unsafe;
	out->ledger = s->ledger;
}

static struct report_call *report_slowest(const struct sync_analysis *a, size_t *n)
{
	struct report_call *out = xcalloc(a->slowest.n, sizeof(*out));

	for (size_t i = 0; i < a->slowest.n; i++)
		report_one(a, a->slowest.call[i], &out[i]);
	*n = a->slowest.n;
	return out;
}

_Static_assert(sizeof(((struct report_sync *)0)->calls) == CALL_COUNT * sizeof(uint64_t), "calls differ");

static void totals_sum(const struct totals *t, struct call_sums *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < CALL_SAMPLES; i++)
		call_sums_add(out, &t->sample[i]);
}

static void report_totals(const struct totals *t, struct report_sync *out)
{
	struct call_sums sums;

	totals_sum(t, &sums);
	out->count = sums.count;
	out->total_ns = sums.total_ns;
	out->unsafe = sums.unsafe;
	out->unsafe_ns = sums.unsafe_ns;
	out->durable = sums.durable;
	out->volume = sums.volume;
	out->ledger = sums.ledger;
	out->n_samples = sums.count < CALL_SAMPLES ? sums.count : CALL_SAMPLES;
	out->sample = xcalloc(out->n_samples, sizeof(*out->sample));
	memcpy(out->sample, t->sample, out->n_samples * sizeof(*out->sample));
	memcpy(out->calls, t->calls, sizeof(out->calls));
	out->no_ledger = t->no_ledger;
	out->no_ledger_ns = t->no_ledger_ns;
	memcpy(out->without, t->without, sizeof(out->without));
	out->dropped_ns = t->dropped_ns;
	out->latency = t->latency;
	out->flush_own_ns = t->flush_own_ns;
	out->flush_foreign_ns = t->flush_foreign_ns;
	out->busy_in_flight = t->busy_in_flight;
	out->busy_flushes = t->busy_flushes;
	out->elsewhere = t->elsewhere;
	out->elsewhere_ns = t->elsewhere_ns;
}

/* ---- the tail ---- */

/* Exact where all of them are among the slowest calls; else to a bucket. */
static void tail_sums(const struct sync_analysis *a, const struct report_sync *s, uint64_t n, struct tail_sums *out)
{
	if (n > s->n_slowest) {
		tail_slowest(&a->tail, n, out);
		return;
	}
	*out = (struct tail_sums){ .count = n, .least_ns = s->slowest[n - 1].duration_ns };
	for (uint64_t i = 0; i < n; i++) {
		out->total_ns += s->slowest[i].duration_ns;
		ledger_add(&out->ledger, &s->slowest[i].ledger);
	}
}

static bool same_file(const struct report_call *c, const struct report_group *g)
{
	return g->path && !strcmp(c->path, g->path);
}

static bool same_process(const struct report_call *c, const struct report_group *g)
{
	return g->comm && c->pid == g->pid && !strcmp(c->comm, g->comm);
}

/* The group that has at least three fifths of the slowest calls, and not half as much of the others; NULL: there is none. */
static const struct report_group *in_common(const struct report_sync *s, uint64_t n, const struct report_group *g,
					    size_t groups,
					    bool (*same)(const struct report_call *, const struct report_group *))
{
	uint64_t rest = s->count - n;

	for (size_t i = 0; i < groups; i++) {
		uint64_t in = 0, others;

		for (uint64_t k = 0; k < n; k++)
			in += same(&s->slowest[k], &g[i]);
		others = g[i].count > in ? g[i].count - in : 0;
		if (!g[i].rest && !g[i].late && in * 5 >= n * 3 && others * 2 * n <= in * rest)
			return &g[i];
	}
	return NULL;
}

static void report_tail(const struct sync_analysis *a, struct report_sync *out)
{
	uint64_t n = (out->count + REPORT_TAIL_SHARE - 1) / REPORT_TAIL_SHARE,
		 known = n < out->n_slowest ? n : out->n_slowest;
	struct tail_period period = tail_period(&a->tail);
	struct report_tail *t = &out->tail;
	const struct report_group *g;
	struct tail_sums sums;

	if (out->count < REPORT_TAIL_CALLS || !known)
		return;
	tail_sums(a, out, n, &sums);
	*t = (struct report_tail){
		.count = sums.count,
		.total_ns = sums.total_ns,
		.threshold_ns = sums.least_ns,
		.median_ns = hist_quantile(&out->latency, 0.5),
		.ledger = sums.ledger,
		.period = period.calls,
		.period_ns = period.ns,
		.slow_ns = period.slow_ns,
		.quick_ns = period.quick_ns,
	};
	g = in_common(out, known, out->file, out->n_files, same_file);
	t->path = g ? xstrdup(g->path) : NULL;
	g = in_common(out, known, out->process, out->n_processes, same_process);
	t->comm = g ? xstrdup(g->comm) : NULL;
	t->pid = g ? g->pid : 0;
}

static void start_over(struct sync_analysis *a)
{
	memset(&a->totals, 0, sizeof(a->totals));
	memset(&a->others, 0, sizeof(a->others));
	memset(&a->heat, 0, sizeof(a->heat));
	groups_clear(&a->processes);
	groups_clear(&a->files);
	leaves_clear(&a->leaves);
	slowest_clear(&a->slowest);
	tail_clear(&a->tail);
	walk_forget(a->walk);
	a->epoch++;
}

void sync_report(struct sync_analysis *a, struct report_sync *out, bool reset)
{
	memset(out, 0, sizeof(*out));
	report_totals(&a->totals, out);
	others_report(&a->others, out);
	out->process = report_groups(a, &a->processes, false, &out->n_processes);
	out->file = report_groups(a, &a->files, true, &out->n_files);
	out->gone_processes = a->processes.gone;
	out->gone_files = a->files.gone;
	out->leaf = report_leaves(a, &out->n_leaves);
	out->slowest = report_slowest(a, &out->n_slowest);
	report_tail(a, out);
	if (a->heat.columns) {
		out->heat = xcalloc(1, sizeof(*out->heat));
		*out->heat = a->heat;
	}
	if (reset)
		start_over(a);
}

struct report_detail *sync_take_detail(struct sync_analysis *a)
{
	struct report_detail *d = a->detail ? detail_take(a->detail) : NULL;

	detail_free(a->detail);
	a->detail = NULL;
	return d;
}
