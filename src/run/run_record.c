// SPDX-License-Identifier: GPL-2.0-only
/* run_record.c - the recording of a run: its facts, and what stands before and behind them in each file. */
#include "model/arguments.h"
#include "recording/run_context_json.h"
#include "run/run_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/buf.h"
#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/counters.h"
#include "probe/heat_sampler.h"
#include "recording/recording.h"
#include "util/log.h"
#include "util/mem.h"

/* The recording says once what went wrong with it; the run goes on. */
static void record_said(int err, const struct err *e)
{
	if (err)
		log_error("%s", e->text);
}

static void record_long(struct session *s, uint16_t kind, const void *bytes, size_t n)
{
	struct err e = { 0 };

	record_said(recording_add_long(rotation_writer(s->opts.recording), kind, bytes, n, &e), &e);
}

void session_record_fact(void *ctx, const struct wire_head *record)
{
	struct session *s = ctx;
	struct err e = { 0 };

	record_said(recording_add(rotation_writer(s->opts.recording), record, &e), &e);
}

static void record_frame(struct session *s, uint16_t kind, const struct frame *f)
{
	struct report_no_arguments hidden = { 0 };
	struct frame shown = *f;
	char *text;
	json_t *j;

	if (rotation_hides_arguments(s->opts.recording)) {
		report_hide_arguments(&f->run, &hidden);
		shown.run = hidden.r;
	}
	j = frame_encode(&shown);
	text = xmust(json_dumps(j, JSON_COMPACT));
	record_long(s, kind, text, strlen(text));
	report_no_arguments_free(&hidden);
	free(text);
	json_decref(j);
}

static void record_counts(struct session *s, const struct view_counts *v)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < s->views; i++) {
		buf_clear(&b);
		recording_counts_encode(i, false, &v[i], &b);
		record_long(s, WIRE_COUNTS, b.data, b.len);
	}
	buf_free(&b);
}

void session_save(struct session *s)
{
	struct err e = { 0 };
	struct view_counts *v;

	if (!s->opts.recording)
		return;
	v = session_all_counts(s, s->carry ? SPAN_FILE : SPAN_RUN);
	record_counts(s, v);
	free(v);
	record_said(recording_flush(rotation_writer(s->opts.recording), &e), &e);
}

/* A recording that is cut off still says what it is of. */
void session_record_start(struct session *s)
{
	struct session_facts facts = { .command = s->opts.command };
	struct err e = { 0 };
	struct frame f;

	session_make_frame(s, &facts, s->carry ? SPAN_FILE : SPAN_RUN, &f);
	record_frame(s, WIRE_HEADER, &f);
	session_drop_frame(&f);
	session_save(s);
	record_said(rotation_begun(s->opts.recording, &e), &e);
}

/* ---- a recording that rotates: each file has its own beginning and end, and sums from the one to the other ---- */

void session_date(char text[32])
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void end_file(struct session *s, const struct session_facts *facts)
{
	uint64_t now = clock_ns();
	struct err e = { 0 };
	struct view_counts *v;
	struct frame f;

	record_said(rotation_ends(s->opts.recording, &e), &e);
	heats_look(s->turn.heats, now - s->turn.start_ns, true);
	session_make_frame(s, facts, SPAN_FILE, &f);
	f.run.wall_ns = now - s->turn.start_ns;
	f.run.final = true;
	counters_step(s->counters);
	v = session_all_counts(s, SPAN_INTERVAL);
	record_counts(s, v);
	record_frame(s, WIRE_END, &f);
	session_drop_frame(&f);
	free(v);
}

/* The kernel's counters after ours: what it has counted from then on we have, too. */
static void begin_turn(struct session *s)
{
	s->turn.start_ns = clock_ns();
	session_date(s->turn.start_text);
	s->turn.run = *probes_maps(s->probes)->run;
	s->turn.skipped = probes_skipped_runs(s->probes);
	s->turn.ends_missed = session_ends_missed(s);
	heats_restart(s->turn.heats);
	for (size_t i = 0; i < s->n_tracked; i++) {
		struct tracked *k = &s->tracked[i];

		if (!k->vanished && kernel_stat_read(&k->t, &k->at_turn))
			k->vanished = true;
	}
}

static void next_file(struct session *s)
{
	struct session_facts facts = { .command = s->opts.command };
	struct err e = { 0 };
	int err;

	end_file(s, &facts);
	err = rotation_turn(s->opts.recording, &e);
	record_said(err, &e);
	if (err)
		return;
	begin_turn(s);
	session_record_start(s);
	carry_begin_file(s->carry);
}

void session_record(struct session *s, const struct wire_head *record)
{
	if (!s->carry) {
		session_record_fact(s, record);
		return;
	}
	if (rotation_due(s->opts.recording))
		next_file(s);
	carry_record(s->carry, record);
}

void session_record_end(struct session *s, const struct session_facts *facts, const struct frame *f,
			const struct view_counts *v)
{
	if (s->carry) {
		end_file(s, facts);
		return;
	}
	record_counts(s, v);
	record_frame(s, WIRE_END, f);
}
