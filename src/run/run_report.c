// SPDX-License-Identifier: GPL-2.0-only
/* run.c - a run while it runs, its reports and its end. */
#include "run/run_internal.h"

#include <malloc.h>
#include <stdlib.h>

#include "analyse/report_builder.h"
#include "analyse/report_top.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/counters.h"
#include "host/cpu_time.h"
#include "probe/heat_sampler.h"
#include "host/cpu_warmup_meter.h"
#include "host/device_names.h"
#include "probe/ring.h"

#define PACE_MATTERS_NS	 500000 /* a CPU that was left alone for less is hardly slower */
#define PACE_TICK_BYTES	 524288 /* a call sends 300 bytes to 2 KiB */
#define NEEDED_BEFORE_NS 2000000

void session_feed(void *ctx, const struct wire_head *fact)
{
	struct session *s = ctx;

	if (s->opts.recording)
		session_record(s, fact);
	sync_feed(s->sync, fact);
	if (s->sync_step)
		sync_feed(s->sync_step, fact);
}

static struct sync_analysis *new_analysis(struct session *s, bool detail)
{
	struct frame f = {
		.all = s->opts.all,
		.start_ns = s->start_ns,
		.place = s->places.device,
		.n_places = s->places.n,
		.symbol = s->symbols,
		.n_symbols = s->n_symbols,
		.detail = detail,
	};
	struct sync_opts o = frame_sync_opts(&f);

	return sync_new(&o);
}

/* What opening and reading BTF took is used no more. */
static void give_back(struct session *s)
{
	malloc_trim(0);
	s->given_back = true;
}

static void start_analysis(struct session *s)
{
	s->sync = new_analysis(s, s->opts.detail);
	if (s->opts.stream)
		s->sync_step = new_analysis(s, false);
	if (s->opts.recording)
		session_record_start(s);
	give_back(s);
}

int session_fd(const struct session *s)
{
	return s->ring ? ring_fd(s->ring) : -1;
}

/* A request may have ended a little before what it woke, and a CPU's clock may be a little off. */
void session_forget(void *ctx, uint64_t began)
{
	struct session *s = ctx;
	uint64_t oldest = began < s->oldest_ns ? began : s->oldest_ns;

	if (oldest <= NEEDED_BEFORE_NS)
		return;
	sync_forget(s->sync, oldest - NEEDED_BEFORE_NS);
	if (s->sync_step)
		sync_forget(s->sync_step, oldest - NEEDED_BEFORE_NS);
}

/*
 * What calls to come may still ask for: a call that had not begun when the looking began either is seen as begun, or has its record
 * among those that are read then.
 */
static void look_and_drain(struct session *s)
{
	s->oldest_ns = probes_oldest_call(s->probes, clock_ns());
	ring_drain(s->ring);
}

void session_drain(struct session *s)
{
	if (!s->sync)
		start_analysis(s);
	if (s->ring)
		look_and_drain(s);
}

/* Do sync calls leave the CPUs idle, so that without what they wait for these would be quicker? */
static bool pace_matters(const struct session *s)
{
	return s->sync && sync_period(s->sync) > PACE_MATTERS_NS;
}

/* What was read says whether it matters; so much in one tick are calls that come too fast for that. */
static void look_at_pace(struct session *s)
{
	uint64_t written = ring_written(s->ring), more = written - s->ring_written;

	s->ring_written = written;
	if (s->pace && !pace_matters(s)) {
		pace_meter_end(s->pace, NULL);
		s->pace = NULL;
	}
	if (s->pace || !more || more > PACE_TICK_BYTES)
		return;
	session_drain(s);
	if (pace_matters(s))
		s->pace = pace_meter_start();
}

void session_tick(struct session *s)
{
	uint64_t time = clock_ns() - s->start_ns;

	session_look_at_clocks(s);
	session_outstanding_tick(s);

	if (!s->given_back)
		give_back(s);
	heats_look(s->heats, time, false);
	if (s->carry)
		heats_look(s->turn.heats, clock_ns() - s->turn.start_ns, false);
	/* what is recorded is to survive a crash */
	if (s->opts.recording || (s->ring && ring_fills(s->ring)))
		session_drain(s);
	if (s->ring)
		look_at_pace(s);
}

void session_progress(struct session *s, uint64_t *requests, uint64_t *flushes)
{
	const struct wire_maps *m = probes_maps(s->probes);

	*requests = *flushes = 0;
	for (uint32_t v = 0; v < s->views; v++)
		for (uint32_t c = 0; c < WIRE_CLASSES; c++)
			for (uint32_t i = 0; i < m->stripes; i++) {
				uint64_t n = m->cells[((size_t)v * WIRE_CELLS + c) * m->stripes + i].count;

				*(c == WIRE_FLUSH ? flushes : requests) += n;
			}
}

/* ---- the report ---- */

/* With the programs still there, as they were during the run. */
static void measure_pace(struct session *s, struct report *r)
{
	bool matters = pace_matters(s);

	if (matters && !s->pace)
		s->pace = pace_meter_start();
	pace_meter_end(s->pace, matters ? &r->pace : NULL);
	s->pace = NULL;
}

static void make_report(struct session *s, const struct session_facts *facts, bool interval, uint64_t wall_ns,
			struct report *r)
{
	struct view_counts *v;
	struct frame f;

	if (!facts->same_facts)
		session_drain(s);
	if (!interval)
		heats_look(s->heats, clock_ns() - s->start_ns, true);
	/* the kernel's counters before ours: what it has counted and we have not is missing */
	session_make_frame(s, facts, interval ? SPAN_INTERVAL : SPAN_RUN, &f);
	v = session_all_counts(s, interval ? SPAN_INTERVAL : SPAN_RUN);
	f.run.wall_ns = wall_ns;
	f.run.final = !interval;
	if (!interval) {
		f.run.kernel_cpu_ns = s->start_kernel_cpu_ns ? cpu_kernel_ns() - s->start_kernel_cpu_ns : 0;
		measure_pace(s, &f.run);
	}
	if (s->opts.recording && !interval)
		session_record_end(s, facts, &f, v);
	report_build(&f, view_counts_at, v,
		     !s->ring ? NULL :
		     interval ? s->sync_step :
				s->sync,
		     interval ? REPORT_INTERVAL : REPORT_FINAL, r);
	if (interval)
		report_top(&r->sync, s->opts.top ? s->opts.top : REPORT_TOP);
	session_drop_frame(&f);
	free(v);
}

void session_report_interval(struct session *s, const struct session_facts *facts, struct report *r)
{
	uint64_t now = clock_ns(), from = s->step_ns;

	counters_step(s->counters);
	s->step_ns = now;
	make_report(s, facts, true, now - from, r);
	r->interval = true;
	r->interval_start_s = (double)(from - s->start_ns) / 1e9;
}

void session_report_so_far(struct session *s, const struct session_facts *facts, struct report *r)
{
	struct view_counts *v;
	struct frame f;

	session_drain(s);
	session_make_frame(s, facts, SPAN_RUN, &f);
	v = session_all_counts(s, SPAN_RUN);
	f.run.wall_ns = clock_ns() - s->start_ns;
	report_build(&f, view_counts_at, v, s->ring ? s->sync : NULL, REPORT_SO_FAR, r);
	session_drop_frame(&f);
	free(v);
}

void session_report_total(struct session *s, const struct session_facts *facts, struct report *r)
{
	make_report(s, facts, false, clock_ns() - s->start_ns, r);
}

void session_close(struct session *s)
{
	if (!s)
		return;
	pace_meter_end(s->pace, NULL);
	session_outstanding_end(s);
	heats_free(s->heats);
	heats_free(s->turn.heats);
	carry_free(s->carry);
	counters_free(s->counters);
	ring_close(s->ring);
	sync_free(s->sync);
	sync_free(s->sync_step);
	places_free(&s->places);
	free(s->symbols);
	probes_close(s->probes);
	for (size_t i = 0; i < s->n_tracked; i++)
		free(s->tracked[i].t.via);
	free(s->tracked);
	free(s->disk);
	targets_free(&s->opts.targets);
	free(s);
}
