// SPDX-License-Identifier: GPL-2.0-only
/* run_context.c - what a report needs beside counters and facts, from the system: see run_context.h. */
#include "host/in_flight.h"
#include "run/run_internal.h"

#include <string.h>
#include <sys/utsname.h>

#include "util/clock.h"
#include "recording/rotation_context.h"
#include "probe/heat_sampler.h"
#include "recording/recording.h"
#include "util/mem.h"
#include "util/num.h"

static void take_command(struct traced_run *run, struct report *r)
{
	const struct run_end *end = &run->loop.end;

	r->command = strv_dup(run->opts.command);
	r->have_exit_status = end->have_status;
	r->exit_status = end->status;
	r->stopped = end->signal;
	if (end->have_status)
		run_left_running(run, r);
}

static void add_notes(const struct traced_run *run, enum span span, struct report *r)
{
	const struct filter *f = run->opts.filter;

	if (run->opts.note)
		strv_add(&r->notes, xstrdup(run->opts.note));
	if (run->loop.end.selected_ended && span != SPAN_INTERVAL)
		strv_add(&r->notes, f->n_pids > 1 ? xasprintf("%s ended during the run", f->text) :
						    xasprintf("process %d ended during the run", f->pid[0]));
}

static void take_facts(struct traced_run *run, enum span span, struct report *r)
{
	const struct wire_run *sums = probes_sums(run->probes);
	struct utsname un;

	r->version = xstrdup(BT_VERSION);
	r->start = xstrdup(span == SPAN_FILE ? run->turn.start_text : run->start_text);
	if (!uname(&un)) {
		r->kernel = xstrdup(un.release);
		r->arch = xstrdup(un.machine);
	}
	if (run->opts.want.command) {
		r->processes = sums->processes;
		r->threads = sums->threads;
		take_command(run, r);
	}
	r->filter = run->opts.filter ? xstrdup(run->opts.filter->text) : NULL;
	add_notes(run, span, r);
	probes_report(run->probes, r);
}

/* What was made smaller can cost events. */
static void note_sizes(const struct traced_run *run, struct report *r)
{
	const struct sizes *z = &run->sizes;

	if (z->smaller_ring)
		strv_add(&r->notes,
			 xasprintf("the ring buffer is %s, to keep within --memory", num_bytes(z->ring_bytes, 0).s));
	if (z->fewer_slots)
		strv_add(&r->notes, xasprintf("of each hardware queue %u tag%s a slot, to keep within --memory",
					      z->depth, z->depth == 1 ? " has" : "s have"));
}

static void take_losses(struct traced_run *run, enum span span, struct report *r)
{
	static const struct turn from_start;
	const struct turn *before = span == SPAN_FILE ? &run->turn : &from_start;
	static const struct {
		enum loss_reach reach;
		const char *reason;
	} drops[DROP_COUNT] = {
		[DROP_RING_FULL] = { LOSS_OF_LEDGERS, "facts about sync calls: the ring buffer was full" },
		[DROP_CALLERS_FULL] = { LOSS_OF_ANYTHING, "sync calls not followed: too many at once" },
		[DROP_HELPERS_FULL] = { LOSS_OF_LEDGERS, "tasks that sync calls waited for, not followed: too many" },
		[DROP_CALL] = { LOSS_OF_LEDGERS, "sync calls: the ring buffer was full" },
		[DROP_BEGIN] = { LOSS_OF_LEDGERS, "sync calls whose begin was not seen" },
		[DROP_SWITCH] = { LOSS_OF_LEDGERS, "switches of followed tasks that no program was shown" },
		/* of DROP_END see calls_without_record() */
	};
	const struct wire_run *sums = probes_sums(run->probes);

	report_add_lost(r, probes_skipped_runs(run->probes) - before->skipped, LOSS_OF_LEDGERS,
			"program runs that the kernel skipped: the same program was interrupted or preempted on that CPU");
	report_add_lost(r, sums->bios_full - before->run.bios_full, LOSS_OF_REQUESTS, "bios not timed: too many in flight");
	report_add_lost(r, sums->family_full - before->run.family_full, LOSS_OF_ANYTHING,
			"processes not followed: too many at once");
	for (int i = 0; i < DROP_COUNT; i++)
		if (drops[i].reason)
			report_add_lost(r, sums->drops[i] - before->run.drops[i], drops[i].reach, drops[i].reason);
	note_sizes(run, r);
	run_attached_note(run, span, r);
	if (run->turn.headers_full)
		strv_add(&r->notes, xasprintf("what was mounted after %u other changes has no name in the recording",
					      RECORDING_HEADERS_MAX - 1));
	if (run->not_followed)
		strv_add(&r->notes, xasprintf("%u disk%s appeared when there was no room left to trace %s", run->not_followed,
					      num_plural(run->not_followed), run->not_followed == 1 ? "it" : "them"));
	if (!run->ring && run->opts.want.ledger)
		strv_add(&r->notes, xstrdup("sync calls were not traced: this kernel refuses a probe "
					    "(barriertrace probes says which)"));
}

static void read_kernel(struct tracked *k, enum span span, struct report_device *d)
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

static void frame_add_device(struct traced_run *run, struct tracked *k, enum span span, struct frame *f)
{
	const struct heats *heats = span == SPAN_FILE ? run->turn.heats : run->heats;
	const struct disk *disk = &run->disk[k->disk];
	struct frame_device *fd = grow((void **)&f->device, &f->n_devices, sizeof(*fd));
	struct report_device *d = &fd->facts;

	d->major = k->t.major;
	d->minor = k->t.minor;
	d->bio_based = k->t.bio_based;
	d->diskseq = k->t.diskseq;
	d->from_ns = k->from_ns > f->start_ns ? k->from_ns - f->start_ns : 0;
	read_kernel(k, span, d);
	d->vanished = k->vanished;
	if (!run->opts.all && nothing_done(&d->kernel))
		look_in_flight(k, d);
	look_at_facts(k, d);
	for (int c = 0; c < HEAT_CLASSES && span != SPAN_INTERVAL; c++)
		d->heat[c] = heats_copy(heats, (size_t)(k - run->tracked), (enum heat_class)c);
	fd->view = k->view;
	if (k->view != disk->wire.view)
		return;
	fd->n_parts = disk->wire.n_parts;
	memcpy(fd->part_view, disk->wire.part_view, sizeof(fd->part_view));
}

/* Those that are over by the look of it are found by each look, until the kernel side counts them. */
uint64_t run_ends_missed(struct traced_run *run)
{
	return probes_sums(run->probes)->drops[DROP_END] + run_outstanding_report(run, SPAN_RUN, NULL).returned;
}

static void calls_without_record(struct traced_run *run, enum span span, struct report *r)
{
	static const struct turn from_start;
	const struct turn *before = span == SPAN_FILE ? &run->turn : &from_start;
	struct calls_under_way seen = run_outstanding_report(run, span, r);
	const struct wire_run *sums = probes_sums(run->probes);
	uint64_t missed = sums->drops[DROP_END] + seen.returned;

	missed = missed > before->ends_missed ? missed - before->ends_missed : 0;
	report_add_lost(r, missed, LOSS_OF_LEDGERS, "sync calls whose end was not seen");
	r->unrecorded = missed;
	for (int i = 0; i < DROP_COUNT; i++)
		r->unrecorded += i == DROP_CALL || i == DROP_BEGIN ? sums->drops[i] - before->run.drops[i] : 0;
	r->unrecorded_ns = sums->unrecorded_ns - before->run.unrecorded_ns + seen.returned_ns;
}

void run_make_frame(struct traced_run *run, enum span span, struct frame *f)
{
	*f = (struct frame){
		.views = run->views,
		.all = run->opts.all,
		.only_command = run->opts.only_command,
		.ledger = run->ring,
		.start_ns = span == SPAN_FILE ? run->turn.start_ns : run->start_ns,
		.known_ns = span == SPAN_FILE ? carry_known_ns(run->carry) : 0,
		.place = run->places.device,
		.n_places = run->places.n,
		.symbol = run->symbols,
		.n_symbols = run->n_symbols,
	};
	take_facts(run, span, &f->run);
	take_losses(run, span, &f->run);
	calls_without_record(run, span, &f->run);
	run_note_replaced(run, f->start_ns, &f->run);
	for (size_t i = 0; i < run->n_tracked; i++)
		frame_add_device(run, &run->tracked[i], span, f);
}

void run_drop_frame(struct frame *f)
{
	f->place = NULL;
	f->symbol = NULL;
	frame_free(f);
}

/* What the kernel counted while ours were read, at the end and, of the span, at the start: ours may or may not have it. */
static void add_edges(struct tracked *k, enum span span, struct report_device *d)
{
	struct report_kernel now;

	if (k->vanished || kernel_stat_read(&k->t, &now))
		return;
	d->kernel.edge_flushes = now.flushes - k->last.flushes +
				 (span == SPAN_FILE ? k->turn_edge_flushes : k->edge_flushes);
}

struct view_counts *run_take_counts(struct traced_run *run, enum span span, enum span counts, struct frame *f)
{
	struct view_counts *v;

	for (size_t i = 0; i < run->n_tracked; i++)
		read_kernel(&run->tracked[i], span, &f->device[i].facts);
	v = run_all_counts(run, counts);
	for (size_t i = 0; i < run->n_tracked; i++) {
		struct tracked *k = &run->tracked[i];

		add_edges(k, span, &f->device[i].facts);
		if (span == SPAN_INTERVAL)
			k->at_step = k->last;
	}
	return v;
}

struct view_counts *run_all_counts(struct traced_run *run, enum span span)
{
	static void (*const counts[])(struct counters * c, uint32_t view, struct view_counts * out) = {
		[SPAN_RUN] = counters_total,
		[SPAN_INTERVAL] = counters_interval,
		[SPAN_FILE] = counters_since,
	};
	struct view_counts *v = xcalloc(run->sizes.views, sizeof(*v));

	for (uint32_t i = 0; i < run->views; i++)
		counts[span](run->counters, i, &v[i]);
	return v;
}
