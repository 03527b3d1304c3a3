// SPDX-License-Identifier: GPL-2.0-only
/* To the ledgers: they add up to the nanosecond, whatever the records say. And on to the outputs: feed_render.c. */
#include "feed.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/analysis.h"
#include "analyse/verdict/verdict.h"
#include "analyse/whatif/whatif.h"
#include "util/mem.h"

static const struct kernel_symbol symbols[] = {
	{ "io_schedule", 0x1000, 0x2000 },
	{ "jbd2_log_wait_commit", 0x2000, 0x3000 },
};

/* clang-format off */
static const struct device_name devices[] = {
	{ .dev = WIRE_DEV(7, 0), .name = "loop0", .mount = "/srv", .fstype = "ext4", .traced = true,
	  .volatile_cache = true },
	{ .dev = WIRE_DEV(8, 1), .name = "sda1" },
};
/* clang-format on */

static struct sync_analysis *analysis;
static uint32_t mix; /* of the records: the same for the same input */

void feed_begin(void)
{
	const struct sync_opts opts = {
		.start_ns = 1000,
		.symbols = symbols,
		.n_symbols = 2,
		.devices = devices,
		.n_devices = 2,
		.slowest = 200,
		.detail = true,
	};

	analysis = sync_new(&opts);
	mix = 0;
}

/* From memory of just its size, so that a byte too far is seen. */
void feed(const struct wire_head *record)
{
	void *exact = malloc(record->size);

	if (!exact)
		abort();
	memcpy(exact, record, record->size);
	mix = mix * 31 + ((const unsigned char *)exact)[record->size - 1] +
	      ((const unsigned char *)exact)[record->size / 2];
	sync_feed(analysis, exact);
	free(exact);
}

static void check_groups(const struct report_group *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ledger_sum(&g[i].ledger) != g[i].total_ns)
			abort();
}

static void check_sync(const struct report_sync *s)
{
	if (ledger_sum(&s->ledger) != s->total_ns)
		abort();
	for (size_t i = 0; i < s->n_slowest; i++)
		if (ledger_sum(&s->slowest[i].ledger) != s->slowest[i].duration_ns)
			abort();
	check_groups(s->process, s->n_processes);
	check_groups(s->file, s->n_files);
}

/* Slices add up to their call. */
static void check_detail(const struct report_detail *d)
{
	for (size_t i = 0; i < d->n_calls; i++) {
		const struct detail_call *c = &d->call[i];
		struct detail_slices all = detail_slices(d, c);
		struct detail_slice s;
		struct ledger l;
		uint64_t ns = 0;

		while (detail_next_slice(&all, &s))
			ns += s.ns;
		detail_ledger(d, c, &l);
		if ((!c->summed && ns != c->duration_ns) || ledger_sum(&l) != c->duration_ns)
			abort();
	}
}

/* A disk, so that outputs have something to say of one: its heat is that of the calls. */
static void add_device(struct report *r)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	memcpy(d->name, "loop0", 6);
	d->model = xstrdup("<model> & \"\x1b[31m\"");
	d->kernel.have = true;
	for (int c = 0; r->sync.heat && c < HEAT_CLASSES; c += 3) {
		d->heat[c] = xcalloc(1, sizeof(*d->heat[c]));
		*d->heat[c] = *r->sync.heat;
	}
}

void feed_end(void)
{
	struct report r = { .have_sync = true, .final = true, .have_exit_status = true, .wall_ns = 1000000 };

	strv_add(&r.command, xstrdup("x"));
	sync_report(analysis, &r.sync, false);
	whatif_make(&r, sync_whatif(analysis));
	r.detail = sync_take_detail(analysis);
	check_sync(&r.sync);
	check_detail(r.detail);
	add_device(&r);
	verdict_make(&r);
	feed_render(&r, mix);
	report_free(&r);
	sync_free(analysis);
}
