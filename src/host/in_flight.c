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

#define STAT_READS   0
#define STAT_WRITES  4
#define STAT_FLUSHES 15

/* Without queue/iostats the kernel counts FLUSHes alone. */
static void read_done(const char *disk, struct in_flight_done *out)
{
	char *text = block_text(disk, "stat"), *at = text, *end;
	uint64_t all = 0;

	block_u64(disk, "queue/iostats", &all);

	for (int i = 0; at; i++, at = end) {
		uint64_t v = strtoull(at, &end, 10);
		enum op_row kind = i == STAT_READS ? ROW_READ : i == STAT_WRITES ? ROW_WRITE : ROW_FLUSH;

		if (end == at)
			break;
		if (i != STAT_READS && i != STAT_WRITES && i != STAT_FLUSHES)
			continue;
		out->n[kind] = v;
		out->have[kind] = all || kind == ROW_FLUSH;
	}
	free(text);
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
