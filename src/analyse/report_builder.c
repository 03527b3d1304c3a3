// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/report_builder.h"

#include "analyse/loss_bound.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/block_counts.h"
#include "analyse/verdict/verdict.h"
#include "analyse/whatif/whatif.h"
#include "util/mem.h"
#include "util/num.h"

#define SLOWEST_CALLS 200 /* to pick from in a page; most outputs show REPORT_SLOWEST */

struct sync_opts frame_sync_opts(const struct frame *f)
{
	return (struct sync_opts){
		.start_ns = f->start_ns,
		.known_ns = f->known_ns,
		.symbols = f->symbol,
		.n_symbols = f->n_symbols,
		.devices = f->place,
		.n_devices = f->n_places,
		.only_traced = !f->all,
		.slowest = SLOWEST_CALLS,
		.detail = f->detail,
	};
}

/* ---- devices ---- */

static void add_view(struct report_device *d, const struct view_counts *v, bool own)
{
	if (v)
		block_add_view(d, v, own);
}

static void add_device(struct frame_device *fd, view_counts_fn *view, void *ctx, bool interval, struct report *r)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	*d = fd->facts;
	memset(&fd->facts, 0, sizeof(fd->facts));
	add_view(d, view(ctx, fd->view), true);
	for (uint32_t i = 0; i < fd->n_parts; i++)
		add_view(d, view(ctx, fd->part_view[i]), false);
	block_finish(d);
	/* an interval's edges are not the same instant for the kernel's counters and ours */
	if (!r->filter && !interval)
		report_add_lost(r, block_missed(d), LOSS_OF_REQUESTS,
				"requests that the kernel counted and this trace missed");
}

/* Named disks are always shown; of all disks, those that did something. */
static bool worth_showing(const struct frame *f, const struct report_device *d, bool any_by_command)
{
	if (f->only_command && any_by_command)
		return d->by_command > 0;
	return !f->all || report_device_requests(d) > 0;
}

static void drop_idle_devices(const struct frame *f, struct report *r)
{
	bool any = false;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_devices; i++)
		any |= r->device[i].by_command > 0;
	for (size_t i = 0; i < r->n_devices; i++) {
		if (!worth_showing(f, &r->device[i], any)) {
			report_device_free(&r->device[i]);
			continue;
		}
		if (kept != i)
			memcpy(&r->device[kept], &r->device[i], sizeof(r->device[0]));
		kept++;
	}
	r->n_devices = kept;
}

/* ---- the whole ---- */

static void note_overflow(const struct frame *f, view_counts_fn *view, void *ctx, struct report *r)
{
	uint64_t overflow = 0;

	for (uint32_t i = 0; i < f->views; i++) {
		const struct view_counts *v = view(ctx, i);

		overflow += v ? v->sums.overflow : 0;
	}
	if (overflow)
		strv_add(&r->notes, xasprintf("%" PRIu64 " request%s with a tag beyond what was reserved (nr_requests raised "
					      "meanwhile?): timed by the request's own clock, or not at all",
					      overflow, num_plural(overflow)));
}

static void note_gone(uint64_t n, const char *one, const char *rest, struct report *r)
{
	if (n)
		strv_add(&r->notes, xasprintf("%s %s%s that had not been seen for a minute gave way to later ones: what they came to is under %s, and one that "
					      "came back is counted from then on",
					      num_count(n).s, one,
					      strcmp(one, "process") ? num_plural(n) :
					      n == 1		     ? "" :
								       "es",
					      rest));
}

static void add_losses(const struct sync_analysis *sync, struct report *out)
{
	uint64_t missed = sync_missed_switches(sync), dropped;

	report_add_lost(out, sync_damaged(sync), LOSS_OF_ANYTHING, "facts about sync calls that made no sense");
	dropped = lost_of(out, LOSS_OF_LEDGERS); /* is missing in these, too; that of the block layer is not here yet */
	report_add_lost(out, missed > dropped ? missed - dropped : 0, LOSS_OF_LEDGERS,
			"switches of tasks in sync calls that the kernel counted and this trace missed");
	out->sync.lost += lost_of(out, LOSS_OF_ANYTHING) + out->unrecorded;
}

static void add_sync(struct sync_analysis *sync, enum report_scope scope, struct report *out)
{
	out->have_sync = true;
	sync_report(sync, &out->sync, scope == REPORT_INTERVAL);
	add_losses(sync, out);
	if (scope == REPORT_FINAL) {
		whatif_make(out, sync_whatif(sync));
		out->detail = sync_take_detail(sync);
	}
	if (scope != REPORT_INTERVAL) {
		note_gone(out->sync.gone_files, "file", REPORT_OTHER_FILES, out);
		note_gone(out->sync.gone_processes, "process", REPORT_OTHER_PROCESSES, out);
	}
}

/* An interval's sums are its own, what was lost is the run's so far. */
static void bound_losses(enum report_scope scope, struct report *out)
{
	if (scope == REPORT_INTERVAL)
		out->incomplete |= out->lost_events > 0;
	else
		loss_bound(out);
}

void report_build(struct frame *f, view_counts_fn *view, void *ctx, struct sync_analysis *sync, enum report_scope scope,
		  struct report *out)
{
	*out = f->run;
	memset(&f->run, 0, sizeof(f->run));
	for (size_t i = 0; i < f->n_devices; i++)
		add_device(&f->device[i], view, ctx, scope == REPORT_INTERVAL, out);
	drop_idle_devices(f, out);
	note_overflow(f, view, ctx, out);
	if (sync)
		add_sync(sync, scope, out);
	bound_losses(scope, out);
	/* that no call is left doesn't mean that there was none */
	if (sync && (!f->damaged || out->sync.count))
		verdict_make(out);
}
