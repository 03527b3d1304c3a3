// SPDX-License-Identifier: GPL-2.0-only
/* tunable_table.c - the table of what an experiment may set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/num.h"
#include "experiment/tunable.h"

/* clang-format off */
const struct key_row key_rows[] = {
	{ .name = "scheduler", .kind = KEY_QUEUE, .attr = "queue/scheduler", .values = VALUE_NAME,
	  .gone = "none", .without = "I/O scheduler", .at_most = true,
	  .what = "the I/O scheduler (none, mq-deadline, bfq, kyber)" },
	{ .name = "iosched", .kind = KEY_QUEUE, .attr = "queue/iosched", .values = VALUE_NAME, .with = "scheduler", .left = true,
	  .hidden = true, .what = "the I/O scheduler's own settings" },
	{ .name = "nr_requests", .kind = KEY_QUEUE, .attr = "queue/nr_requests", .values = VALUE_NUMBER, .min = 1,
	  .max = 65536, .with = "scheduler", .left = true, .what = "how many requests a queue holds" },
	{ .name = "wbt_lat_usec", .kind = KEY_QUEUE, .attr = "queue/wbt_lat_usec", .values = VALUE_NUMBER,
	  .max = 60000000, .gone = "0", .without = "throttle", .with = "scheduler", .left = true,
	  .what = "the latency that writeback throttling aims at, us; 0: off" },
	{ .name = "rq_affinity", .kind = KEY_QUEUE, .attr = "queue/rq_affinity", .values = VALUE_NUMBER, .max = 2,
	  .what = "which CPU completes a request: 0 any, 1 of the group, 2 the very one that sent it" },
	{ .name = "write_cache", .kind = KEY_QUEUE, .attr = "queue/write_cache", .values = VALUE_CACHE,
	  .gone = "write through", .without = "flush", .unsafe = true, .risk_at = "write through",
	  .risk = "no flush is sent: a power cut loses what the drive's cache held, fsynced or not, and can destroy the file "
		  "system",
	  .what = "what the kernel believes of the drive's cache: back, or through, which sends no flushes; takes --unsafe" },
	{ .name = "read_ahead_kb", .kind = KEY_QUEUE, .attr = "queue/read_ahead_kb", .values = VALUE_NUMBER,
	  .max = 1048576, .with = "write_cache", .what = "how far is read ahead, KiB" },
	{ .name = "barrier", .kind = KEY_EXT4, .attr = "barrier", .values = VALUE_SWITCH, .gone = "0", .without = "flush",
	  .risk_at = "0",
	  .risk = "a commit sends no flush: a power cut can lose what fsync said was written, and destroy the file system",
	  .what = "ext4: flush the drive's cache at a commit (1, 0)" },
	{ .name = "commit", .kind = KEY_EXT4, .attr = "commit", .values = VALUE_NUMBER, .min = 1, .max = 86400,
	  .what = "ext4: seconds between commits that nobody asked for" },
	{ .name = "max_batch_time", .kind = KEY_EXT4, .attr = "max_batch_time", .values = VALUE_NUMBER, .max = 10000000,
	  .what = "ext4: the longest that a commit waits for others to join, us" },
	{ .name = "discard", .kind = KEY_EXT4, .attr = "discard", .values = VALUE_SWITCH,
	  .what = "ext4: discard freed blocks after each commit (1, 0)" },
	{ .name = "noatime", .kind = KEY_ATIME, .attr = "noatime", .values = VALUE_SWITCH,
	  .what = "1: reading leaves the access time of files alone; 0: relatime (of a mount; Linux 5.12)" },
	{ .name = "governor", .kind = KEY_CPU, .attr = "cpufreq/scaling_governor", .values = VALUE_NAME,
	  .what = "the frequency governor of every CPU (performance, powersave, ..)" },
	{ 0 },
};
/* clang-format on */

const struct key_row *key_find(const char *name, size_t len)
{
	for (const struct key_row *row = key_rows; row->name; row++)
		if (strlen(row->name) == len && !strncmp(row->name, name, len))
			return row;
	return NULL;
}

static char *no_value(const struct key_row *row, const char *text, const char *want, struct err *e)
{
	err_set(e, EINVAL, EXIT_USAGE, "%s=%s: %s", row->name, text, want);
	return NULL;
}

static char *number(const struct key_row *row, const char *text, struct err *e)
{
	char want[100];
	uint64_t v;

	if (!num_parse_range(text, row->min, row->max, &v))
		return xasprintf("%llu", (unsigned long long)v);
	snprintf(want, sizeof(want), "write a number from %llu to %llu", (unsigned long long)row->min,
		 (unsigned long long)row->max);
	return no_value(row, text, want, e);
}

/* A name goes into a file of the kernel's: nothing but what such names are made of. */
static char *name(const struct key_row *row, const char *text, struct err *e)
{
	if (*text && strlen(text) < 32 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(text))
		return xstrdup(text);
	return no_value(row, text, "write a name", e);
}

static char *cache(const struct key_row *row, const char *text, struct err *e)
{
	if (!strcmp(text, "back") || !strcmp(text, "write back"))
		return xstrdup("write back");
	if (!strcmp(text, "through") || !strcmp(text, "write through"))
		return xstrdup("write through");
	return no_value(row, text, "write back or through", e);
}

char *key_value(const struct key_row *row, const char *text, struct err *e)
{
	switch (row->values) {
	case VALUE_NUMBER: return number(row, text, e);
	case VALUE_NAME: return name(row, text, e);
	case VALUE_CACHE: return cache(row, text, e);
	case VALUE_SWITCH: break;
	}
	if (!strcmp(text, "0") || !strcmp(text, "1"))
		return xstrdup(text);
	return no_value(row, text, "write 0 or 1", e);
}
