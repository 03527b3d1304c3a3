// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: bombs KIND N FILE
 *        bombs -m RESULT COMMAND [ARGUMENT]..
 *        bombs
 *
 * Writes a recording of which one part says N times the same little thing, and prints how long it is, unpacked. The blocks are
 * intact and compress well: what a reader takes for them, it takes for what they mean.
 *
 * With -m: runs a command, and writes into RESULT its exit status (128 and the signal), the memory that it took at most (KiB) and its CPU
 * time (ms). Without arguments: the kinds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording/format.h"
#include "recording/recording.h"
#include "util/mem.h"

#define PART_OF_LONG (RECORDING_LONG_MAX - 4096)
#define T0	     1000000000ull

static struct recording_writer *out;
static struct err e;

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "bombs: %s\n", e.text);
	exit(1);
}

static void add_long(uint16_t kind, const struct buf *b)
{
	check(recording_add_long(out, kind, b->data, b->len, &e));
}

static void add(void *record, uint16_t kind, size_t size)
{
	struct wire_head *h = record;

	h->kind = kind;
	h->size = (uint16_t)size;
	check(recording_add(out, h, &e));
}

/* ---- descriptions of a run ---- */

#define DISK "{\"name\":\"d%1$llu\",\"major\":8,\"minor\":%1$llu,\"views\":{\"view\":%1$llu}}"

/* As many as fit; `%1$llu` is the number of each. */
static void repeat(struct buf *b, const char *each, unsigned long long n)
{
	for (unsigned long long i = 0; i < n && b->len < PART_OF_LONG; i++) {
		if (i)
			buf_char(b, ',');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		buf_printf(b, each, i);
#pragma GCC diagnostic pop
	}
}

static void describe(uint16_t kind, const char *before, const char *each, unsigned long long n, const char *after)
{
	struct buf b = { 0 };

	buf_str(&b, before);
	repeat(&b, each, n);
	buf_str(&b, after);
	add_long(kind, &b);
	buf_free(&b);
}

static const char plain[] =
	"{\"run\":{\"version\":\"0\",\"wall_ns\":1000000000},\"views\":4096,\"ledger\":true,\"start_ns\":1000000000,"
	"\"devices\":[{\"name\":\"sda\",\"major\":8,\"write_cache\":\"write back\",\"views\":{\"view\":0}}],"
	"\"places\":[{\"dev\":8388608,\"name\":\"sda\",\"traced\":true}]}";

static void plain_frame(uint16_t kind)
{
	describe(kind, plain, "", 0, "");
}

/* What stands in a description, `each` between what goes before and after it. */
static const struct description {
	const char *kind, *before, *each, *after;
} descriptions[] = {
#define ARRAY(name, each) \
	{ \
		name, "{\"run\":{},\"views\":4096,\"" name "\":[", each, "]}" \
	}
#define OF_RUN(name, each) \
	{ \
		name, "{\"run\":{\"" name "\":[", each, "]},\"views\":4096}" \
	}
#define OF_DISK(name, each) \
	{ \
		name, "{\"run\":{},\"views\":4096,\"devices\":[{\"name\":\"sda\",\"" name "\":[", each, "]}]}" \
	}
	ARRAY("devices", "{}"),
	ARRAY("places", "{}"),
	ARRAY("symbols", "{}"),
	ARRAY("probes", "{\"name\":\"\"}"),
	ARRAY("lost", "{\"reason\":\"%llu\"}"),
	ARRAY("outstanding", "{\"comm\":\"\",\"call\":\"\",\"step\":\"\"}"),
	OF_RUN("notes", "\"\""),
	OF_RUN("command", "\"\""),
	OF_DISK("mounts", "{}"),
	OF_DISK("slaves", "\"\""),
	ARRAY("unknown-arrays", "[]"),
	ARRAY("unknown-objects", "{}"),
	ARRAY("unknown-numbers", "0"),
	ARRAY("unknown-keys", "{\"%llu\":0}"),
	{ "string", "{\"run\":{\"notes\":[\"", "abcdefghijklmnop", "\"]},\"views\":1}" },
	{ "heat", "{\"run\":{},\"views\":4096,\"devices\":[",
	  "{\"views\":{\"view\":%llu},\"heat\":{\"read\":{\"column_ns\":1},\"write\":{\"column_ns\":1},\"flush\":{\"column_ns\":1}}}",
	  "]}" },
	{ "disks", "{\"run\":{},\"views\":4096,\"devices\":[", DISK, "]}" },
};

static const struct description *description_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]); i++)
		if (!strcmp(descriptions[i].kind, kind))
			return &descriptions[i];
	return NULL;
}

/* Both of them: what the beginning takes is still there when the end is read. */
static void write_description(const struct description *d, unsigned long long n)
{
	describe(WIRE_HEADER, d->before, d->each, n, d->after);
	describe(WIRE_END, d->before, d->each, n, d->after);
}

static void write_nesting(unsigned long long n)
{
	struct buf b = { 0 };

	buf_str(&b, "{\"run\":{},\"x\":");
	for (unsigned long long i = 0; i < n && b.len < PART_OF_LONG; i++)
		buf_char(&b, '[');
	add_long(WIRE_HEADER, &b);
	buf_free(&b);
}

/* Descriptions that can't be used, one after the other. */
static void write_ends(unsigned long long n)
{
	plain_frame(WIRE_HEADER);
	for (unsigned long long i = 0; i < n; i++)
		describe(WIRE_END, "{\"places\":[", "{}", 1000, "]}");
}

/* As if things were mounted all the time. */
static void write_headers(unsigned long long n)
{
	plain_frame(WIRE_HEADER);
	for (unsigned long long i = 0; i < n; i++)
		describe(WIRE_HEADER, "{\"run\":{},\"places\":[", "{}", 1000, "]}");
	plain_frame(WIRE_END);
}

/* ---- counters ---- */

static void add_counts(uint32_t view, const struct view_counts *v)
{
	struct buf b = { 0 };

	recording_counts_encode(view, false, v, &b);
	add_long(WIRE_COUNTS, &b);
	buf_free(&b);
}

/* So many views; each with `step` from one bucket in use to the next. */
static void write_views(unsigned long long n, unsigned int step)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));

	for (unsigned int c = 0; c < WIRE_CELLS; c++) {
		struct hist *h[] = { &v->cell[c].queue, &v->cell[c].device, &v->cell[c].total };

		v->cell[c].count = 1;
		for (unsigned int i = 0; i < 3 * HIST_BUCKETS; i += step) {
			h[i % 3]->bucket[i / 3] = 1;
			h[i % 3]->max = h[i % 3]->count = HIST_BUCKETS;
		}
	}
	describe(WIRE_HEADER, "{\"run\":{},\"views\":4096,\"devices\":[", DISK, n, "]}");
	for (unsigned long long i = 0; i < n; i++)
		add_counts((uint32_t)i, v);
	describe(WIRE_END, "{\"run\":{},\"views\":4096,\"devices\":[", DISK, n, "]}");
	free(v);
}

/* One view, the last that there can be. */
static void write_counts(unsigned long long n)
{
	struct view_counts *v = xcalloc(1, sizeof(*v));

	plain_frame(WIRE_HEADER);
	for (unsigned long long i = 0; i < n; i++)
		add_counts(4095, v);
	plain_frame(WIRE_END);
	free(v);
}

static void write_dense(unsigned long long n)
{
	write_views(n, 1);
}

static void write_sparse(unsigned long long n)
{
	write_views(n, HIST_BUCKETS / 6);
}

/* ---- facts ---- */

static void one_file(unsigned long long i)
{
	struct wire_file f = { .ino = 1 + i, .dev = WIRE_DEV(8, 0), .n = WIRE_NAMES, .whole = 1 };

	for (int n = 0; n < WIRE_NAMES; n++)
		snprintf(f.name[n], WIRE_NAME, "%llu%020d", i, n);
	add(&f, WIRE_FILE, sizeof(f));
}

/* Of another process and file each: a line in each table, and a leaf. */
static void one_call(unsigned long long i)
{
	struct wire_sync s = { .enter = T0 + i * 1000,
			       .exit = T0 + i * 1000 + 500,
			       .ino = 1 + i,
			       .dev = WIRE_DEV(8, 0),
			       .tid = 1000 + (uint32_t)i,
			       .tgid = 1000 + (uint32_t)i,
			       .call = CALL_FSYNC };

	snprintf(s.comm, sizeof(s.comm), "%llu", i);
	add(&s, WIRE_SYNC, sizeof(s));
}

static void one_follow(unsigned long long i)
{
	struct wire_follow f = { .since = 1, .tid = 1 + (uint32_t)i, .tgid = 1 + (uint32_t)i, .kind = TASK_USER };

	add(&f, WIRE_FOLLOW, sizeof(f));
}

static void one_sleep(unsigned long long i)
{
	struct wire_sleep s = { .off = T0 + i,
				.wake = T0 + i + 1,
				.on = T0 + i + 2,
				.tid = 1 + (uint32_t)(i % 65536),
				.seq = (uint32_t)(i / 65536) };

	add(&s, WIRE_SLEEP, WIRE_SLEEP_SHORT);
}

static void one_request(unsigned long long i)
{
	struct wire_request r = { .alloc = T0 + i, .done = T0 + i + 2, .rq = i, .class = WIRE_WRITE_SYNC };

	r.dev = r.disk = WIRE_DEV(8, 0);
	r.data.issue = T0 + i + 1;
	r.data.done = T0 + i + 2;
	r.tid = r.tgid = (uint32_t)i;
	add(&r, WIRE_REQUEST, sizeof(r));
}

static void one_bio(unsigned long long i)
{
	struct wire_bio b = { .queued = T0 + i, .done = T0 + i + 1, .tid = 1 + (uint32_t)i, .disk = WIRE_DEV(8, 0) };

	b.class = WIRE_WRITE_SYNC;
	add(&b, WIRE_BIO, sizeof(b));
}

static const struct {
	const char *kind;
	void (*one)(unsigned long long i);
} facts[] = {
	{ "files", one_file },	 { "calls", one_call },	      { "tasks", one_follow },
	{ "sleeps", one_sleep }, { "requests", one_request }, { "bios", one_bio },
};

static bool write_facts(const char *kind, unsigned long long n)
{
	for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++) {
		if (strcmp(facts[k].kind, kind))
			continue;
		plain_frame(WIRE_HEADER);
		for (unsigned long long i = 0; i < n; i++)
			facts[k].one(i);
		plain_frame(WIRE_END);
		return true;
	}
	return false;
}

/* ---- all ---- */

static const struct {
	const char *kind;
	void (*write)(unsigned long long n);
} others[] = {
	{ "nesting", write_nesting }, { "ends", write_ends },	{ "headers", write_headers },
	{ "counts", write_counts },   { "dense", write_dense }, { "sparse", write_sparse },
};

static bool write_other(const char *kind, unsigned long long n)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].kind, kind))
			continue;
		others[i].write(n);
		return true;
	}
	return false;
}

static int list(void)
{
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]); i++)
		puts(descriptions[i].kind);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		puts(facts[i].kind);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		puts(others[i].kind);
	return 0;
}

/* ---- what a reader takes ---- */

static uint64_t unpacked(const char *path)
{
	uint8_t head[BLOCK_HEAD];
	struct block_head h;
	uint64_t length = 0;
	FILE *f = fopen(path, "r");

	fseek(f, FILE_HEAD, SEEK_SET);
	while (fread(head, sizeof(head), 1, f) == 1 && block_head_get(head, &h)) {
		length += h.length;
		fseek(f, h.stored, SEEK_CUR);
	}
	fclose(f);
	return length;
}

static long ms(struct timeval t)
{
	return t.tv_sec * 1000 + t.tv_usec / 1000;
}

static int measure(const char *result, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid = fork();
	FILE *f;

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 1;
	f = fopen(result, "w");
	if (!f)
		return 1;
	fprintf(f, "%d %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), used.ru_maxrss,
		ms(used.ru_utime) + ms(used.ru_stime));
	return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long long n;

	if (argc == 1)
		return list();
	if (argc > 3 && !strcmp(argv[1], "-m"))
		return measure(argv[2], argv + 3);
	if (argc != 4)
		return 2;
	n = strtoull(argv[2], NULL, 10);
	check(recording_create(argv[3], &out, &e));
	if (description_of(argv[1]))
		write_description(description_of(argv[1]), n);
	else if (!write_facts(argv[1], n) && !write_other(argv[1], n))
		return 2;
	check(recording_close(out, &e));
	printf("%llu\n", (unsigned long long)unpacked(argv[3]));
	return 0;
}
