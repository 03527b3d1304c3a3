// SPDX-License-Identifier: GPL-2.0-only
#include "host/in_flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/debugfs.h"
#include "host/sysfs.h"
#include "util/clock.h"
#include "util/mem.h"

/* ---- texts ---- */

static enum op_row kind_of(const char *op, size_t len)
{
	static const struct {
		const char *op;
		enum op_row kind;
	} kinds[] = {
		{ "READ", ROW_READ },
		{ "WRITE", ROW_WRITE },
		{ "FLUSH", ROW_FLUSH },
		{ "DISCARD", ROW_DISCARD },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len == strlen(kinds[i].op) && !strncmp(op, kinds[i].op, len))
			return kinds[i].kind;
	return ROW_OTHER;
}

/* "00000000064050fc {.op=WRITE, .cmd_flags=SYNC, .rq_flags=IO_STAT, .state=in_flight, .tag=45, .internal_tag=-1}" */
static bool busy_line(const char *line, size_t len, struct requests_in_flight *n)
{
	const char *op = memmem(line, len, "{.op=", 5), *state = memmem(line, len, ".state=", 7);

	if (!op || !state)
		return false;
	op += 5;
	if (!strncmp(state + 7, "in_flight", 9))
		n->n[kind_of(op, strcspn(op, ",}\n"))]++;
	return true;
}

bool in_flight_busy(const char *text, struct requests_in_flight *n)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		if (len && !busy_line(text, len, n))
			return false;
		text += len;
		text += *text == '\n';
	}
	return text;
}

bool in_flight_sysfs(const char *text, struct requests_in_flight *n)
{
	unsigned long long reads, writes;

	if (!text || sscanf(text, "%llu %llu", &reads, &writes) != 2)
		return false;
	n->n[ROW_READ] = reads;
	n->n[ROW_WRITE] = writes;
	return true;
}

/* ---- files ---- */

static bool read_busy(const char *disk, struct requests_in_flight *out)
{
	char *block = xasprintf("block/%s", disk), *folder = debugfs_path(block), **names = folder_list(folder);
	struct requests_in_flight n = { 0 };
	bool good = false, bad = false;

	for (size_t i = 0; names && names[i]; i++) {
		char *text;

		if (strncmp(names[i], "hctx", 4))
			continue;
		text = file_textf("%s/%s/busy", folder, names[i]);
		good = in_flight_busy(text, &n);
		bad |= !good;
		free(text);
	}
	strv_free(names);
	free(folder);
	free(block);
	if (good && !bad)
		*out = n;
	return good && !bad;
}

/* Without queue/iostats the kernel counts FLUSHes alone. */
static void read_done(const char *disk, struct in_flight_done *out)
{
	uint64_t f[STAT_FIELDS], all = 0;
	size_t n = block_stat(disk, f);

	block_u64(disk, "queue/iostats", &all);
	out->n[ROW_READ] = f[STAT_READS];
	out->n[ROW_WRITE] = f[STAT_WRITES];
	out->n[ROW_FLUSH] = f[STAT_FLUSHES];
	out->have[ROW_READ] = all && n > STAT_READS;
	out->have[ROW_WRITE] = all && n > STAT_WRITES;
	out->have[ROW_FLUSH] = n > STAT_FLUSHES;
}

void in_flight_read(const char *disk, struct in_flight *out)
{
	char *text;

	*out = (struct in_flight){ .from_ns = clock_ns() };
	read_done(disk, &out->before);
	out->n.have = out->n.by_kind = read_busy(disk, &out->n);
	if (!out->n.have) {
		text = block_text(disk, "inflight");
		out->n.have = in_flight_sysfs(text, &out->n);
		free(text);
	}
	read_done(disk, &out->after);
	out->to_ns = clock_ns();
}

/* None was completed from before the first look until after the second: those of the first are among those of the second. */
uint64_t in_flight_since(const struct in_flight *then, const struct in_flight *now, enum op_row kind)
{
	if (!then->n.n[kind] || !now->n.n[kind] || !then->before.have[kind] || !now->after.have[kind] ||
	    then->before.n[kind] != now->after.n[kind] || now->from_ns < then->to_ns)
		return 0;
	return now->from_ns - then->to_ns;
}
