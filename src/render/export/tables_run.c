// SPDX-License-Identifier: GPL-2.0-only
/* tables_run.c - the run, its devices, and what they did. */
#include <stdlib.h>

#include "util/buf.h"
#include "model/report_fields.h"
#include "render/export/tables.h"

/* Words with a blank between them; none when there are none. */
static void words(struct rows *to, char *const *v)
{
	struct buf b = { 0 };

	for (size_t i = 0; v && v[i]; i++) {
		if (i)
			buf_char(&b, ' ');
		buf_str(&b, v[i]);
	}
	to->text(to, b.data);
	buf_free(&b);
}

/* A cell for each field; none for what is not known. */
static void row_fields(struct rows *to, const struct field *f, const void *s)
{
	for (; f->key; f++) {
		if (f->type == FIELD_STRV)
			words(to, field_texts(f, s));
		else if (f->type == FIELD_STRING || f->type == FIELD_TEXT)
			to->text(to, field_text(f, s));
		else
			row_known(to, field_is_known(f, s), field_number(f, s));
	}
}

/* ---- the run ---- */

/* clang-format off */
const char *const run_columns[] = {
	"version TEXT", "schema INTEGER", "start TEXT", "wall_ns INTEGER", "command TEXT", "exit_status INTEGER",
	"processes INTEGER", "threads INTEGER", "kernel TEXT", "arch TEXT", "filter TEXT", "lost_events INTEGER",
	"incomplete INTEGER", "sync_calls INTEGER", "sync_ns INTEGER", "no_ledger INTEGER", "unflushed INTEGER",
	"flush_own_ns INTEGER", "flush_foreign_ns INTEGER", "busy_in_flight INTEGER", "busy_flushes INTEGER",
	"calls_left_out INTEGER", "slices_left_out INTEGER", "requests_left_out INTEGER",
	"elsewhere INTEGER", "elsewhere_ns INTEGER", "under_way INTEGER", "under_way_oldest_ns INTEGER", NULL
};
/* clang-format on */

static void run_facts(const struct report *r, struct rows *to)
{
	to->text(to, r->version);
	to->integer(to, ROWS_SCHEMA);
	to->text(to, r->start);
	row_known(to, r->wall_ns, r->wall_ns);
	words(to, r->command);
	row_known(to, r->have_exit_status, (uint64_t)r->exit_status);
	row_known(to, r->command, r->processes);
	row_known(to, r->command, r->threads);
	to->text(to, r->kernel);
	to->text(to, r->arch);
	to->text(to, r->filter);
	to->integer(to, r->lost_events);
	to->integer(to, r->incomplete);
}

void fill_run(const struct report *r, struct rows *to)
{
	const struct report_sync *s = &r->sync;
	const struct report_detail *d = r->detail;
	const uint64_t sync[] = {
		s->count,	 s->total_ns,	      s->no_ledger,	 s->unsafe,
		s->flush_own_ns, s->flush_foreign_ns, s->busy_in_flight, s->busy_flushes,
	};

	run_facts(r, to);
	for (size_t i = 0; i < sizeof(sync) / sizeof(sync[0]); i++)
		row_known(to, r->have_sync, sync[i]);
	row_known(to, d, d ? d->calls_left_out : 0);
	row_known(to, d, d ? d->slices_left_out : 0);
	row_known(to, d, d ? d->requests_left_out : 0);
	row_known(to, r->have_sync, s->elsewhere);
	row_known(to, r->have_sync, s->elsewhere_ns);
	row_known(to, r->under_way, r->under_way);
	row_known(to, r->under_way, r->under_way_ns);
	to->end(to);
}

/* ---- devices ---- */

/* clang-format off */
const char *const device_columns[] = {
	"name TEXT", "major INTEGER", "minor INTEGER", "disk TEXT", "via TEXT", "model TEXT", "size INTEGER",
	"write_cache TEXT", "fua INTEGER", "scheduler TEXT", "nr_requests INTEGER", "wbt_lat_us INTEGER",
	"rotational INTEGER", "bio_based INTEGER", "vanished INTEGER", "slaves TEXT", "flush_pre INTEGER",
	"flush_post INTEGER", "flush_only INTEGER", "flush_mixed INTEGER", "flush_unknown INTEGER",
	"flush_waiters INTEGER", "flush_in_flight INTEGER", "barrier_writes INTEGER", "barrier_flushes INTEGER",
	"native_fua INTEGER", "kernel_reads INTEGER", "kernel_read_bytes INTEGER", "kernel_read_ns INTEGER",
	"kernel_writes INTEGER", "kernel_write_bytes INTEGER", "kernel_write_ns INTEGER", "kernel_discards INTEGER",
	"kernel_discard_bytes INTEGER", "kernel_discard_ns INTEGER", "kernel_flushes INTEGER",
	"kernel_flush_ns INTEGER", "requeues INTEGER", "merges INTEGER", "errors INTEGER", "unpaired INTEGER",
	"by_command INTEGER", "diskseq INTEGER", "from_ns INTEGER", NULL
};
/* clang-format on */

void fill_device(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct report_device *d = &r->device[i];

		row_fields(to, report_device_name_fields, d);
		row_fields(to, report_device_facts_fields, d);
		row_fields(to, report_flush_role_fields, &d->flush);
		row_fields(to, report_flush_barrier_fields, &d->flush);
		to->integer(to, d->flush.native_fua);
		row_fields(to, report_kernel_fields, &d->kernel);
		row_known(to, !d->bio_based, d->requeues);
		row_known(to, !d->bio_based, d->merges);
		to->integer(to, d->errors);
		to->integer(to, d->unpaired);
		row_known(to, r->command, d->by_command);
		row_fields(to, report_device_since_fields, d);
		to->end(to);
	}
}

/* clang-format off */
const char *const mount_columns[] = {
	"device TEXT", "dir TEXT", "fstype TEXT", "options TEXT", "barrier TEXT", NULL
};
/* clang-format on */

void fill_mount(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct report_device *d = &r->device[i];

		for (size_t m = 0; m < d->n_mounts; m++) {
			to->text(to, d->name);
			row_fields(to, report_mount_fields, &d->mounts[m]);
			to->end(to);
		}
	}
}

/* ---- operations ---- */

#define PHASE_COLUMNS(p) p "_count INTEGER", p "_sum_ns INTEGER", HIST_COLUMNS(p "_")

const char *const operation_columns[] = { "device TEXT",	  "op TEXT",
					  "count INTEGER",	  "bytes INTEGER",
					  PHASE_COLUMNS("queue"), PHASE_COLUMNS("device"),
					  PHASE_COLUMNS("total"), NULL };

static void operation(const char *device, enum op_row row, const struct report_op *op, struct rows *to)
{
	const struct hist *phase[] = { &op->queue, &op->device, &op->total };

	to->text(to, device);
	to->text(to, op_row_name(row));
	to->integer(to, op->count);
	to->integer(to, op->bytes);
	for (int i = 0; i < 3; i++) {
		to->integer(to, phase[i]->count);
		row_known(to, phase[i]->count, phase[i]->sum);
		row_hist(to, phase[i]);
	}
	to->end(to);
}

void fill_operation(const struct report *r, struct rows *to)
{
	struct report_op op;

	for (size_t i = 0; i < r->n_devices; i++) {
		for (enum op_row row = 0; row < OP_ROWS; row++) {
			report_device_row(&r->device[i], row, &op);
			if (op.count)
				operation(r->device[i].name, row, &op, to);
		}
	}
}

/* ---- histograms ---- */

/* clang-format off */
const char *const histogram_columns[] = {
	"device TEXT", "op TEXT", "phase TEXT", "lower_ns INTEGER", "upper_ns INTEGER", "count INTEGER", NULL
};
/* clang-format on */

struct which {
	const char *device, *op, *phase;
};

static void buckets(struct which w, const struct hist *h, struct rows *to)
{
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t upper = hist_upper(i);

		if (!h->bucket[i])
			continue;
		if (i == HIST_BUCKETS - 1 && h->max > upper) /* it has no end of its own */
			upper = h->max;
		to->text(to, w.device);
		to->text(to, w.op);
		to->text(to, w.phase);
		to->integer(to, hist_lower(i));
		to->integer(to, upper);
		to->integer(to, h->bucket[i]);
		to->end(to);
	}
}

static void tally_rows(struct which w, const struct tally *t, struct rows *to)
{
	struct hist h;

	tally_hist(t, &h);
	buckets(w, &h, to);
}

static void device_buckets(const struct report_device *d, struct rows *to)
{
	struct report_op op;

	for (enum op_row row = 0; row < OP_ROWS; row++) {
		const char *name = op_row_name(row);

		report_device_row(d, row, &op);
		buckets((struct which){ d->name, name, "queue" }, &op.queue, to);
		buckets((struct which){ d->name, name, "device" }, &op.device, to);
		buckets((struct which){ d->name, name, "total" }, &op.total, to);
	}
	tally_rows((struct which){ d->name, NULL, "slot_wait" }, &d->flush.slot_wait, to);
	tally_rows((struct which){ d->name, NULL, "slot_wait_flush" }, &d->flush.slot_wait_flush, to);
	tally_rows((struct which){ d->name, NULL, "slot_wait_data" }, &d->flush.slot_wait_data, to);
	tally_rows((struct which){ d->name, NULL, "sequence" }, &d->flush.sequence, to);
	tally_rows((struct which){ d->name, NULL, "naive_write" }, &d->naive_write, to);
}

void fill_histogram(const struct report *r, struct rows *to)
{
	for (size_t i = 0; i < r->n_devices; i++)
		device_buckets(&r->device[i], to);
	if (r->have_sync)
		buckets((struct which){ NULL, NULL, "sync" }, &r->sync.latency, to);
}
