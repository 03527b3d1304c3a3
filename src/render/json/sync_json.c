// SPDX-License-Identifier: GPL-2.0-only
/* sync_json.c - the sync calls, what they waited for, what follows from it. */
#include "render/json_put.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static void put_calls(json_t *o, const struct report_sync *s)
{
	json_t *j = xmust(json_object());

	for (unsigned int i = 0; i < ARRAY_LEN(s->calls); i++)
		put_if(j, call_name(i), s->calls[i]);
	put_filled(o, "calls", j);
}

static void put_groups(json_t *o, const char *key, const struct report_group *g, size_t n, bool process)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++) {
		json_t *j = xmust(json_object());

		if (process)
			put_u64(j, "pid", g[i].pid);
		put_str(j, "comm", g[i].comm);
		put_str(j, "path", g[i].path);
		put_str(j, "device", g[i].device);
		put_u64(j, "count", g[i].count);
		put_u64(j, "total_ns", g[i].total_ns);
		put_ledger(j, &g[i].ledger);
		put_tally(j, "latency", &g[i].latency);
		push(a, j);
	}
	put_filled(o, key, a);
}

static void put_slowest(json_t *o, const struct report_sync *s)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < s->n_slowest && i < REPORT_SLOWEST; i++) {
		const struct report_call *c = &s->slowest[i];
		json_t *j = xmust(json_object());

		put_u64(j, "start_ns", c->start_ns);
		put_u64(j, "duration_ns", c->duration_ns);
		put_u64(j, "pid", c->pid);
		put_u64(j, "tid", c->tid);
		put_str(j, "comm", c->comm);
		put_str(j, "call", c->call);
		put_str(j, "path", c->path);
		put_str(j, "device", c->device);
		if (c->unsafe)
			put(j, "unsafe", xmust(json_true()));
		put_ledger(j, &c->ledger);
		push(a, j);
	}
	put_filled(o, "slowest", a);
}

static void put_leaves(json_t *o, const struct report_sync *s)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < s->n_leaves; i++) {
		json_t *j = xmust(json_object());

		put_str(j, "path", s->leaf[i].path);
		put_str(j, "cause", cause_name(s->leaf[i].cause));
		put_u64(j, "ns", s->leaf[i].ns);
		put_tally(j, "each", &s->leaf[i].each);
		push(a, j);
	}
	put_filled(o, "leaves", a);
}

/* {"count": 1958, "total_ns": 6400000000, "by_process": [{"pid": 12, "comm": "postgres", "count": 702, "total_ns": 2450000000}]} */
static json_t *others_json(const struct report_sync *s)
{
	json_t *o = xmust(json_object()), *a = xmust(json_array());

	put_u64(o, "count", s->others);
	put_u64(o, "total_ns", s->others_ns);
	for (size_t i = 0; i < s->n_other; i++) {
		json_t *p = xmust(json_object());

		put_if(p, "pid", s->other[i].pid);
		put_str(p, "comm", s->other[i].comm);
		put_u64(p, "count", s->other[i].count);
		put_u64(p, "total_ns", s->other[i].total_ns);
		push(a, p);
	}
	put(o, "by_process", a);
	return o;
}

/* The calls that are in no figure, because of their disk or because they had no end. */
static void put_left_out(json_t *o, const struct report *r)
{
	if (r->sync.others)
		put(o, "others", others_json(&r->sync));
	put_u64(o, "elsewhere", r->sync.elsewhere);
	put_u64(o, "elsewhere_ns", r->sync.elsewhere_ns);
	put_outstanding(o, r);
	if (!r->under_way) /* or not known: older recordings don't say */
		return;
	put_u64(o, "under_way", r->under_way);
	put_u64(o, "under_way_oldest_ns", r->under_way_ns);
}

/* {"count": 119, "total_ns": 51000000, "by_file": [{"path": "/srv/db", "device": "sda1", "count": 119, "total_ns": 51000000}]} */
static json_t *unsafe_json(const struct report_sync *s)
{
	json_t *o = xmust(json_object()), *a = xmust(json_array());

	put_u64(o, "count", s->unsafe);
	put_u64(o, "total_ns", s->unsafe_ns);
	for (size_t i = 0; i < s->n_files; i++) {
		const struct report_group *g = &s->file[i];
		json_t *f;

		if (!g->unsafe)
			continue;
		f = xmust(json_object());
		put_str(f, "path", g->path);
		put_str(f, "device", g->device);
		put_u64(f, "count", g->unsafe);
		put_u64(f, "total_ns", g->unsafe_ns);
		push(a, f);
	}
	put_filled(o, "by_file", a);
	return o;
}

static json_t *volume_json(const struct volume *v)
{
	json_t *o = xmust(json_object());

	put_u64(o, "count", v->calls);
	put_u64(o, "total_ns", v->total_ns);
	put_u64(o, "writes", v->writes);
	put_u64(o, "bytes", v->bytes);
	put_u64(o, "wait_ns", volume_wait(v));
	return o;
}

static json_t *tail_json(const struct report_tail *t)
{
	json_t *o = xmust(json_object());

	put_real(o, "share", 1.0 / REPORT_TAIL_SHARE);
	put_u64(o, "count", t->count);
	put_u64(o, "total_ns", t->total_ns);
	put_u64(o, "threshold_ns", t->threshold_ns);
	put_u64(o, "median_ns", t->median_ns);
	put_ledger(o, &t->ledger);
	put_if(o, "period", t->period);
	put_if(o, "period_ns", t->period_ns);
	put_str(o, "path", t->path);
	put_str(o, "comm", t->comm);
	put_if(o, "pid", t->pid);
	put_str(o, "sentence", t->sentence);
	return o;
}

/* Calls that are in no ledger, by why. */
static void put_without(json_t *sync, const struct report *r)
{
	const struct {
		const char *reason;
		uint64_t n;
	} why[] = {
		{ "dropped", r->sync.without[NO_LEDGER_DROPPED] + r->unrecorded },
		{ "before", r->sync.without[NO_LEDGER_BEFORE] + r->began_before },
		{ "idle", r->sync.without[NO_LEDGER_IDLE] + r->idle_unended },
		{ "limit", r->sync.without[NO_LEDGER_LIMIT] },
		{ "outstanding", r->under_way },
	};
	json_t *o = xmust(json_object());

	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++)
		put_if(o, why[i].reason, why[i].n);
	put_filled(sync, "without_ledger", o);
}

static json_t *sync_json(const struct report *r)
{
	const struct report_sync *s = &r->sync;
	json_t *j = xmust(json_object());

	put_u64(j, "count", s->count);
	put_u64(j, "total_ns", s->total_ns);
	put_u64(j, "no_ledger", s->no_ledger);
	if (s->no_ledger)
		put_u64(j, "no_ledger_ns", s->no_ledger_ns);
	put_without(j, r);
	put_left_out(j, r);
	put_u64(j, "unflushed", s->unsafe);
	if (s->unsafe)
		put(j, "unsafe", unsafe_json(s));
	if (s->volume.calls)
		put(j, "volume", volume_json(&s->volume));
	if (s->tail.count)
		put(j, "tail", tail_json(&s->tail));
	put_calls(j, s);
	put_hist(j, "latency", &s->latency);
	put_ledger(j, &s->ledger);
	put_u64(j, "flush_own_ns", s->flush_own_ns);
	put_u64(j, "flush_foreign_ns", s->flush_foreign_ns);
	put_u64(j, "busy_in_flight", s->busy_in_flight);
	put_u64(j, "busy_flushes", s->busy_flushes);
	put_groups(j, "by_process", s->process, s->n_processes, true);
	put_groups(j, "by_file", s->file, s->n_files, false);
	put_if(j, "processes_summed", s->gone_processes);
	put_if(j, "files_summed", s->gone_files);
	put_slowest(j, s);
	put_leaves(j, s);
	return j;
}

static json_t *whatif_json(const struct report *r)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < r->n_whatif; i++) {
		const struct report_whatif *w = &r->whatif[i];
		json_t *j = xmust(json_object()), *per_call;

		put_str(j, "remove", w->remove);
		per_call = xmust(json_object());
		put_u64(per_call, "now", w->now_ns);
		put_u64(per_call, "without", w->without_ns);
		put(j, "per_call_ns", per_call);
		if (w->wall_ns)
			put_u64(j, "wall_ns", w->wall_ns);
		put_real(j, "speedup", w->speedup);
		put(j, "bound", json_boolean(w->bound));
		push(a, j);
	}
	return a;
}

static json_t *verdict_json(const struct report_verdict *v)
{
	json_t *j = xmust(json_object());

	put_str(j, "class", v->class);
	put_str(j, "scope", v->scope);
	put_str(j, "family", v->family);
	put_str(j, "second", v->second);
	if (v->confidence > 0)
		put_real(j, "confidence", v->confidence);
	put_real(j, "share", v->share);
	put_str(j, "sentence", v->sentence);
	put_strv(j, "evidence", v->evidence);
	put_strv(j, "advice", v->advice);
	return j;
}

void put_sync(json_t *doc, const struct report *r)
{
	if (r->have_sync)
		put(doc, "sync", sync_json(r));
	put_filled(doc, "whatif", whatif_json(r));
	if (r->have_verdict)
		put(doc, "verdict", verdict_json(&r->verdict));
}
