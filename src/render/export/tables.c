// SPDX-License-Identifier: GPL-2.0-only
/* tables.c - which tables there are. */
#include "render/export/tables.h"
#include "util/utf8.h"

#define TABLE(name, file, key) \
	{ \
#name, file, name##_columns, key, fill_##name \
	}

const struct table tables[RENDER_N_CSV + 1] = {
	TABLE(run, "run.csv", NULL),
	TABLE(device, "devices.csv", NULL),
	TABLE(mount, "mounts.csv", NULL),
	TABLE(operation, "operations.csv", NULL),
	TABLE(histogram, "histograms.csv", NULL),
	TABLE(cause, "causes.csv", NULL),
	TABLE(sync_call, "calls.csv", NULL),
	TABLE(ledger, "ledger.csv", "call_id, cause"),
	TABLE(slice, "slices.csv", "call_id, seq"),
	TABLE(request, "requests.csv", NULL),
	TABLE(step, "steps.csv", "request_id, step"),
	TABLE(leaf, "leaves.csv", NULL),
	TABLE(process, "processes.csv", NULL),
	TABLE(process_ledger, "process_ledger.csv", "process_id, cause"),
	TABLE(file, "files.csv", NULL),
	TABLE(file_ledger, "file_ledger.csv", "file_id, cause"),
	TABLE(verdict, "verdict.csv", NULL),
	TABLE(remark, "remarks.csv", NULL),
	TABLE(whatif, "whatif.csv", NULL),
	{ 0 },
};

/* Nearly all texts are plain ASCII, and there can be millions of them. */
static bool is_plain(const char *s)
{
	while (*s >= ' ' && *s <= '~')
		s++;
	return !*s;
}

const char *row_safe(struct buf *room, const char *raw)
{
	if (is_plain(raw))
		return raw;
	buf_clear(room);
	utf8_escape(room, raw, true);
	return room->data;
}
