// SPDX-License-Identifier: GPL-2.0-only
/* run_context.c - what a report needs beside counters and facts, from the system: see run_context.h. */
#include "host/in_flight.h"
#include "run/run_internal.h"

#include <string.h>
#include <sys/utsname.h>

#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/heat_sampler.h"
#include "util/mem.h"
#include "util/num.h"

static void run_facts(struct session *s, const struct session_facts *facts, enum span span, struct report *r)
{
	const struct wire_run *run = probes_maps(s->probes)->run;
	struct utsname un;

	r->version = xstrdup(BT_VERSION);
	r->start = xstrdup(span == SPAN_FILE ? s->turn.start_text : s->start_text);
	if (!uname(&un)) {
		r->kernel = xstrdup(un.release);
		r->arch = xstrdup(un.machine);
	}
	if (s->opts.want.command) {
		r->processes = run->processes;
		r->threads = run->threads;
		r->command = strv_dup(facts->command);
		r->have_exit_status = facts->have_exit_status;
		r->exit_status = facts->exit_status;
		r->user_ns = facts->user_ns;
		if (facts->have_exit_status)
			session_left_running(s, r);
	}
	r->filter = xstrdup(facts->filter);
	if (facts->note)
		strv_add(&r->notes, xstrdup(facts->note));
	probes_report(s->probes, r);
}

/* What was made smaller can cost events. */
static void note_sizes(const struct session *s, struct report *r)
{
	const struct sizes *z = &s->sizes;

	if (z->smaller_ring)
		strv_add(&r->notes,
			 xasprintf("the ring buffer is %s, to keep within --memory", num_bytes(z->ring_bytes, 0).s));
	if (z->fewer_slots)
		strv_add(&r->notes, xasprintf("of each hardware queue %u tag%s a slot, to keep within --memory",
					      z->depth, z->depth == 1 ? " has" : "s have"));
}

static void run_losses(struct session *s, enum span span, struct report *r)
{
	static const struct turn from_start;
	const struct turn *before = span == SPAN_FILE ? &s->turn : &from_start;
	static const char *const drops[DROP_COUNT] = {
		[DROP_RING_FULL] = "facts about sync calls: the ring buffer was full",
		[DROP_CALLERS_FULL] = "sync calls not followed: too many at once",
		[DROP_HELPERS_FULL] = "tasks that sync calls waited for, not followed: too many",
		[DROP_AIO] = "AIO fsyncs not followed: another one for the same file came before a worker was seen to begin",
		[DROP_HISTORY] = "sleeps of followed tasks: more within one wait than is remembered",
	};
	const struct wire_run *run = probes_maps(s->probes)->run;

	report_add_lost(r, probes_skipped_runs(s->probes) - before->skipped,
			"program runs that the kernel skipped: the same program was interrupted or preempted on that CPU");
	report_add_lost(r, run->bios_full - before->run.bios_full, "bios not timed: too many in flight");
	report_add_lost(r, run->family_full - before->run.family_full, "processes not followed: too many at once");
	for (int i = 0; i < DROP_COUNT; i++)
		if (drops[i]) /* else see calls_without_end() */
			report_add_lost(r, run->drops[i] - before->run.drops[i], drops[i]);
	note_sizes(s, r);
	session_note_clocks(s, r);
	if (s->not_followed)
		strv_add(&r->notes, xasprintf("%u disk%s appeared when there was no room left to trace %s", s->not_followed,
					      num_plural(s->not_followed), s->not_followed == 1 ? "it" : "them"));
	if (!s->ring && s->opts.want.ledger)
		strv_add(&r->notes, xstrdup("sync calls were not traced: this kernel refuses a probe "
					    "(barriertrace probes says which)"));
}

static void kernel_delta(struct tracked *k, enum span span, struct report_device *d)
{
	const struct report_kernel *from[] = {
		[SPAN_RUN] = &k->before,
		[SPAN_INTERVAL] = &k->at_step,
		[SPAN_FILE] = &k->at_turn,
	};
	struct report_kernel now;

	if (k->vanished || kernel_stat_read(&k->t, &now)) {
		k->vanished = true;
		return;
	}
	kernel_stat_delta(from[span], &now, &d->kernel);
	k->last = now;
	if (span == SPAN_INTERVAL)
		k->at_step = now;
}

static bool nothing_done(const struct report_kernel *k)
{
	return k->have && !(k->reads | k->writes | k->discards | k->flushes);
}

/* Has it nothing to do, or does it hang? */
static void look_in_flight(const struct tracked *k, struct report_device *d)
{
	struct in_flight now;

	in_flight_read(k->t.name, &now);
	d->in_flight = now.n;
}

/* What stands in sysfs under the name of a disk that has gone may be of another disk. */
static void look_at_facts(const struct tracked *k, struct report_device *d)
{
	if (!target_gone(&k->t)) {
		device_facts(&k->t, d);
	} else {
		d->via = xstrdup(k->t.via);
		d->disk = strcmp(k->t.name, k->t.disk) ? xstrdup(k->t.disk) : NULL;
	}
	memcpy(d->name, k->name, sizeof(d->name));
}

static void frame_add_device(struct session *s, struct tracked *k, enum span span, struct frame *f)
{
	const struct heats *heats = span == SPAN_FILE ? s->turn.heats : s->heats;
	const struct disk *disk = &s->disk[k->disk];
	struct frame_device *fd = grow((void **)&f->device, &f->n_devices, sizeof(*fd));
	struct report_device *d = &fd->facts;

	d->major = k->t.major;
	d->minor = k->t.minor;
	d->bio_based = k->t.bio_based;
	d->diskseq = k->t.diskseq;
	d->from_ns = k->from_ns > f->start_ns ? k->from_ns - f->start_ns : 0;
	kernel_delta(k, span, d);
	d->vanished = k->vanished;
	if (!s->opts.all && nothing_done(&d->kernel))
		look_in_flight(k, d);
	look_at_facts(k, d);
	for (int c = 0; c < HEAT_CLASSES && span != SPAN_INTERVAL; c++)
		d->heat[c] = heats_copy(heats, (size_t)(k - s->tracked), (enum heat_class)c);
	fd->view = k->view;
	if (k->view != disk->wire.view)
		return;
	fd->n_parts = disk->wire.n_parts;
	memcpy(fd->part_view, disk->wire.part_view, sizeof(fd->part_view));
}

/* In the run so far. Those that are over by the look of it are found by each look, until the kernel side counts them. */
static uint64_t ends_missed(const struct session *s, uint64_t returned)
{
	return probes_maps(s->probes)->run->drops[DROP_END] + returned;
}

uint64_t session_ends_missed(struct session *s)
{
	return ends_missed(s, session_outstanding_report(s, SPAN_RUN, NULL));
}

static void calls_without_end(struct session *s, enum span span, struct report *r)
{
	uint64_t before = span == SPAN_FILE ? s->turn.ends_missed : 0;
	uint64_t missed = ends_missed(s, session_outstanding_report(s, span, r));

	report_add_lost(r, missed > before ? missed - before : 0, "sync calls whose end was not seen");
}

void session_make_frame(struct session *s, const struct session_facts *facts, enum span span, struct frame *f)
{
	*f = (struct frame){
		.views = s->views,
		.all = s->opts.all,
		.only_command = s->opts.only_command,
		.ledger = s->ring,
		.start_ns = span == SPAN_FILE ? s->turn.start_ns : s->start_ns,
		.known_ns = span == SPAN_FILE ? carry_known_ns(s->carry) : 0,
		.place = s->places.device,
		.n_places = s->places.n,
		.symbol = s->symbols,
		.n_symbols = s->n_symbols,
	};
	run_facts(s, facts, span, &f->run);
	run_losses(s, span, &f->run);
	calls_without_end(s, span, &f->run);
	session_note_replaced(s, f->start_ns, &f->run);
	for (size_t i = 0; i < s->n_tracked; i++)
		frame_add_device(s, &s->tracked[i], span, f);
}

void session_drop_frame(struct frame *f)
{
	f->place = NULL;
	f->symbol = NULL;
	frame_free(f);
}

struct view_counts *session_all_counts(struct session *s, enum span span)
{
	static void (*const counts[])(struct counters * c, uint32_t view, struct view_counts * out) = {
		[SPAN_RUN] = counters_total,
		[SPAN_INTERVAL] = counters_interval,
		[SPAN_FILE] = counters_since,
	};
	struct view_counts *v = xcalloc(s->sizes.views, sizeof(*v));

	for (uint32_t i = 0; i < s->views; i++)
		counts[span](s->counters, i, &v[i]);
	return v;
}
