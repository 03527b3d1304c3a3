// SPDX-License-Identifier: GPL-2.0-only
/* run_report.c - the facts of a run while it runs, and its reports. */
#include "run/run_internal.h"

#include <malloc.h>
#include <stdlib.h>

#include "analyse/report_builder.h"
#include "analyse/report_top.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/addresses.h"
#include "probe/counters.h"
#include "probe/heat_sampler.h"
#include "host/device_names.h"
#include "probe/ring.h"

#define NEEDED_BEFORE_NS 2000000

void run_feed(void *ctx, const struct wire_head *fact)
{
	struct traced_run *run = ctx;

	if (fact->kind == WIRE_BELL)
		return;
	fact = addresses_replace(run->addresses, fact);
	run_places_of(run, fact);
	if (run->opts.recording)
		run_record(run, fact);
	sync_feed(run->sync, fact);
	if (run->sync_step)
		sync_feed(run->sync_step, fact);
}

static struct sync_analysis *new_analysis(struct traced_run *run, bool interval)
{
	struct frame f = {
		.all = run->opts.all,
		.start_ns = run->start_ns,
		.place = run->places.device,
		.n_places = run->places.n,
		.symbol = run->symbols,
		.n_symbols = run->n_symbols,
		.detail = run->opts.detail && !interval,
	};
	struct sync_opts o = frame_sync_opts(&f);

	o.interval = interval;
	return sync_new(&o);
}

/* What opening and reading BTF took is used no more. */
static void give_back(struct traced_run *run)
{
	malloc_trim(0);
	run->given_back = true;
}

static void start_analysis(struct traced_run *run)
{
	run->sync = new_analysis(run, false);
	if (run->opts.interval_ns)
		run->sync_step = new_analysis(run, true);
	if (run->opts.recording)
		run_record_start(run);
	give_back(run);
}

int run_facts_fd(const struct traced_run *run)
{
	return run->ring ? ring_fd(run->ring) : -1;
}

/* A request may have ended a little before what it woke, and a CPU's clock may be a little off. */
void run_forget(void *ctx, uint64_t began)
{
	struct traced_run *run = ctx;
	uint64_t oldest = began < run->oldest_ns ? began : run->oldest_ns;

	if (oldest <= NEEDED_BEFORE_NS)
		return;
	sync_forget(run->sync, oldest - NEEDED_BEFORE_NS);
	if (run->sync_step)
		sync_forget(run->sync_step, oldest - NEEDED_BEFORE_NS);
}

/*
 * What calls to come may still ask for: a call that had not begun when the looking began either is seen as begun, or has its record
 * among those that are read then.
 */
static void look_and_drain(struct traced_run *run)
{
	const struct calls_wanted of_run = { .until = clock_ns(), .counts = run_is_of_run, .ctx = run };

	run->oldest_ns = probes_oldest_call(run->probes, &of_run);
	ring_drain(run->ring);
}

void run_drain(struct traced_run *run)
{
	if (!run->sync)
		start_analysis(run);
	if (run->ring)
		look_and_drain(run);
	run_attached_wake(run);
}

void run_tick(struct traced_run *run)
{
	uint64_t time = clock_ns() - run->start_ns;

	probes_sweep_tasks(run->probes);
	run_attached_tick(run);
	run_outstanding_tick(run);

	if (!run->given_back)
		give_back(run);
	heats_look(run->heats, time, false);
	if (run->carry)
		heats_look(run->turn.heats, clock_ns() - run->turn.start_ns, false);
	/* what is recorded is to survive a crash */
	if (run->opts.recording || (run->ring && ring_fills(run->ring)))
		run_drain(run);
}

void run_progress(const struct traced_run *run, uint64_t *requests, uint64_t *flushes)
{
	probes_progress(run->probes, run->views, requests, flushes);
}

/* ---- the report ---- */

static void make_report(struct traced_run *run, enum report_scope scope, uint64_t wall_ns, struct report *r)
{
	bool interval = scope == REPORT_INTERVAL, final = scope == REPORT_FINAL;
	enum span span = interval ? SPAN_INTERVAL : SPAN_RUN;
	struct view_counts *v;
	struct frame f;

	if (!run->last_interval)
		run_drain(run);
	if (final)
		heats_look(run->heats, clock_ns() - run->start_ns, true);
	run_make_frame(run, span, &f);
	/* the kernel's counters before ours: what it has counted and we have not is missing */
	v = run_take_counts(run, span, span, &f);
	f.run.wall_ns = wall_ns;
	f.run.final = final;
	if (run->opts.recording && final)
		run_record_end(run, &f, v);
	report_build(&f, view_counts_at, v, !run->ring ? NULL : interval ? run->sync_step : run->sync, scope, r);
	if (interval)
		report_top(&r->sync, run->opts.top ? run->opts.top : REPORT_TOP);
	run_drop_frame(&f);
	free(v);
}

static void report_interval(struct traced_run *run, struct report *r)
{
	uint64_t now = clock_ns(), from = run->step_ns;

	counters_step(run->counters);
	run->step_ns = now;
	make_report(run, REPORT_INTERVAL, now - from, r);
	r->interval = true;
	r->interval_start_s = (double)(from - run->start_ns) / 1e9;
	run->last_interval = run_loop_over(&run->loop);
}

void run_report(struct traced_run *run, enum run_report which, struct report *r)
{
	if (which == RUN_INTERVAL)
		report_interval(run, r);
	else
		make_report(run, which == RUN_SO_FAR ? REPORT_SO_FAR : REPORT_FINAL, clock_ns() - run->start_ns, r);
}

/* ---- the end ---- */

static void free_disks(struct traced_run *run)
{
	for (size_t i = 0; i < run->n_tracked; i++)
		free(run->tracked[i].t.via);
	free(run->tracked);
	free(run->disk);
	targets_free(&run->opts.targets);
}

void run_let_go(struct traced_run *run)
{
	if (run->let_go)
		return;
	run->let_go = true;
	run_outstanding_end(run);
	heats_free(run->heats);
	heats_free(run->turn.heats);
	carry_free(run->carry);
	counters_free(run->counters);
	ring_close(run->ring);
	sync_free(run->sync);
	sync_free(run->sync_step);
	run_places_end(run);
	free(run->symbols);
	addresses_free(run->addresses);
	probes_close(run->probes);
	free_disks(run);
}
