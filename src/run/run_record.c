// SPDX-License-Identifier: GPL-2.0-only
/* run_record.c - the recording of a run: its facts, and what stands before and behind them in each file. */
#include "model/arguments.h"
#include "recording/run_context_json.h"
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/buf.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/counters.h"
#include "probe/heat_sampler.h"
#include "recording/recording.h"
#include "util/mem.h"

/* The recording says once what went wrong with it; the run goes on. */
static void record_said(const struct traced_run *run, int err, const struct err *e)
{
	if (err)
		notice(&run->opts.notices, NOTICE_ERROR, "%s", e->text);
}

static void record_long(struct traced_run *run, uint16_t kind, const void *bytes, size_t n)
{
	struct err e = { 0 };

	record_said(run, recording_add_long(rotation_writer(run->opts.recording), kind, bytes, n, &e), &e);
}

void run_record_fact(void *ctx, const struct wire_head *record)
{
	struct traced_run *run = ctx;
	struct err e = { 0 };

	record_said(run, recording_add(rotation_writer(run->opts.recording), record, &e), &e);
}

static void record_frame(struct traced_run *run, uint16_t kind, const struct frame *f)
{
	struct report_no_arguments hidden = { 0 };
	struct frame shown = *f;
	char *text, *left_out;

	if (rotation_hides_arguments(run->opts.recording)) {
		report_hide_arguments(&f->run, &hidden);
		shown.run = hidden.r;
	}
	text = frame_write(&shown, &left_out);
	if (left_out && !run->description_cut)
		notice(&run->opts.notices, NOTICE_ERROR,
		       "the recording does not have %s, as its description of the run would be too long", left_out);
	run->description_cut = run->description_cut || left_out;
	record_long(run, kind, text, strlen(text));
	report_no_arguments_free(&hidden);
	free(left_out);
	free(text);
}

static void record_counts(struct traced_run *run, const struct view_counts *v)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < run->views; i++) {
		buf_clear(&b);
		recording_counts_encode(i, false, &v[i], &b);
		record_long(run, WIRE_COUNTS, b.data, b.len);
	}
	buf_free(&b);
}

void run_save(struct traced_run *run)
{
	struct err e = { 0 };
	struct view_counts *v;

	if (!run->opts.recording)
		return;
	v = run_all_counts(run, run->carry ? SPAN_FILE : SPAN_RUN);
	record_counts(run, v);
	free(v);
	record_said(run, recording_flush(rotation_writer(run->opts.recording), &e), &e);
}

/* A recording that is cut off still says what it is of. */
void run_record_start(struct traced_run *run)
{
	struct err e = { 0 };
	struct frame f;

	run_make_frame(run, run->carry ? SPAN_FILE : SPAN_RUN, &f);
	record_frame(run, WIRE_HEADER, &f);
	run_drop_frame(&f);
	run_save(run);
	record_said(run, rotation_begun(run->opts.recording, &e), &e);
}

void run_record_places(struct traced_run *run)
{
	run->turn.headers_full = recording_written(rotation_writer(run->opts.recording))->headers == RECORDING_HEADERS_MAX;
	if (run->turn.headers_full)
		return;
	record_frame(run, WIRE_HEADER, &(struct frame){ .place = run->places.device, .n_places = run->places.n });
}

/* ---- a recording that rotates: each file has its own beginning and end, and sums from the one to the other ---- */

void run_date(char text[32])
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void end_file(struct traced_run *run)
{
	uint64_t now = clock_ns();
	struct err e = { 0 };
	struct view_counts *v;
	struct frame f;

	record_said(run, rotation_ends(run->opts.recording, &e), &e);
	heats_look(run->turn.heats, now - run->turn.start_ns, true);
	run_make_frame(run, SPAN_FILE, &f);
	f.run.wall_ns = now - run->turn.start_ns;
	f.run.final = true;
	counters_step(run->counters);
	v = run_take_counts(run, SPAN_FILE, SPAN_INTERVAL, &f);
	record_counts(run, v);
	record_frame(run, WIRE_END, &f);
	run_drop_frame(&f);
	free(v);
}

/* The kernel's counters after ours: what it has counted from then on we have, too. */
static void begin_turn(struct traced_run *run)
{
	run->turn.start_ns = clock_ns();
	run_date(run->turn.start_text);
	run->turn.run = *probes_sums(run->probes);
	run->turn.skipped = probes_skipped_runs(run->probes);
	run->turn.ends_missed = run_ends_missed(run);
	run->turn.headers_full = false;
	heats_restart(run->turn.heats);
	for (size_t i = 0; i < run->n_tracked; i++) {
		struct tracked *k = &run->tracked[i];

		if (!k->vanished && kernel_stat_read(&k->t, &k->at_turn))
			k->vanished = true;
		k->turn_edge_flushes = k->vanished ? 0 : k->at_turn.flushes - k->last.flushes;
	}
}

static void next_file(struct traced_run *run)
{
	struct err e = { 0 };
	int err;

	end_file(run);
	err = rotation_turn(run->opts.recording, &e);
	record_said(run, err, &e);
	if (err)
		return;
	begin_turn(run);
	run_record_start(run);
	carry_begin_file(run->carry);
}

void run_record(struct traced_run *run, const struct wire_head *record)
{
	if (!run->carry) {
		run_record_fact(run, record);
		return;
	}
	if (rotation_due(run->opts.recording))
		next_file(run);
	carry_record(run->carry, record);
}

void run_record_end(struct traced_run *run, const struct frame *f, const struct view_counts *v)
{
	if (run->carry) {
		end_file(run);
		return;
	}
	record_counts(run, v);
	record_frame(run, WIRE_END, f);
}
