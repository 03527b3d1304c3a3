// SPDX-License-Identifier: GPL-2.0-only
/* To the ledgers: they add up to the nanosecond, whatever the records say. */
#include "feed.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/sync.h"

static const struct sync_symbol symbols[] = {
	{ "io_schedule", 0x1000, 0x2000 },
	{ "jbd2_log_wait_commit", 0x2000, 0x3000 },
};

static const struct sync_device devices[] = {
	{ .dev = WIRE_DEV(7, 0), .name = "loop0", .mount = "/srv", .fstype = "ext4", .traced = true,
	  .volatile_cache = true },
	{ .dev = WIRE_DEV(8, 1), .name = "sda1" },
};

static struct sync_analysis *analysis;

void feed_begin(void)
{
	const struct sync_opts opts = {
		.start_ns = 1000, .symbols = symbols, .n_symbols = 2, .devices = devices, .n_devices = 2, .slowest = 10,
	};

	analysis = sync_new(&opts);
}

/* From memory of just its size, so that a byte too far is seen. */
void feed(const struct wire_head *record)
{
	void *exact = malloc(record->size);

	if (!exact)
		abort();
	memcpy(exact, record, record->size);
	sync_feed(analysis, exact);
	free(exact);
}

static void check_groups(const struct report_group *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ledger_sum(&g[i].ledger) != g[i].total_ns)
			abort();
}

void feed_end(void)
{
	struct report r = { .have_sync = true };

	sync_report(analysis, &r.sync, true);
	if (ledger_sum(&r.sync.ledger) != r.sync.total_ns)
		abort();
	for (size_t i = 0; i < r.sync.n_slowest; i++)
		if (ledger_sum(&r.sync.slowest[i].ledger) != r.sync.slowest[i].duration_ns)
			abort();
	check_groups(r.sync.process, r.sync.n_processes);
	check_groups(r.sync.file, r.sync.n_files);
	report_free(&r);
	sync_free(analysis);
}
