// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings made of the fuzzer's bytes, read to the end.
 *
 * The first byte says what the rest is: a whole file; the payload of a block whose checksums are right, so that what
 * lies behind them is reached; recipes for records that look like a kernel's, so that they make it into ledgers; or what
 * is stored of a compressed block.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "recording/recording.h"
#include "feed.h"
#include "fuzz.h"
#include "recording_forge.h"

enum { WHOLE_FILE, PAYLOAD, RECIPES, STREAM, WAYS };

union record {
	struct wire_head head;
	struct wire_sync sync;
	struct wire_sleep sleep;
	struct wire_request request;
	struct wire_follow follow;
	struct wire_bio bio;
	struct wire_work work;
	struct wire_file file;
	uint64_t words[sizeof(struct wire_file) / 8];
};

/* ---- reading ---- */

/* Counts that can be decoded are the same after another turn. */
static void check_counts(const struct recording_record *rec)
{
	static struct view_counts first, second;
	struct buf b = { 0 };
	uint32_t view;
	bool interval;

	if (recording_counts_decode(rec->data, rec->size, &view, &interval, &first))
		return;
	recording_counts_encode(view, interval, &first, &b);
	if (recording_counts_decode(b.data, b.len, &view, &interval, &second) || memcmp(&first, &second, sizeof(first)))
		abort();
	buf_free(&b);
}

static size_t read_to_the_end(int fd)
{
	struct recording_damage d;
	struct recording_record rec;
	struct recording *r;
	struct err e;
	size_t came = 0;
	char *note;

	if (recording_open_fd(fd, "input", &r, &e))
		return 0;
	feed_begin();
	for (; recording_next(r, &rec); came++) {
		if (rec.head)
			feed(rec.head);
		else if (((const char *)rec.data)[rec.size])
			abort(); /* no NUL */
		else if (rec.kind == WIRE_COUNTS)
			check_counts(&rec);
	}
	feed_end();
	note = recording_damage_note(r);
	if (recording_damage(r, &d) != !!note)
		abort();
	free(note);
	recording_free(r);
	return came;
}

/* ---- a block of these bytes ---- */

static void read_payload(const uint8_t *bytes, size_t n)
{
	size_t length = n & ~(size_t)7, whole = FORGE_FILE + FORGE_BLOCK + length;
	struct forge_block b = { .length = (uint32_t)length, .stored = (uint32_t)length };
	uint8_t *file = malloc(whole), *payload = file + FORGE_FILE + FORGE_BLOCK;

	if (!file)
		abort();
	memcpy(payload, bytes, length);
	for (size_t at = 0; at + 8 <= length; b.records++) {
		size_t size = forge_get(payload + at + 2, 2);

		at += size < 8 ? 8 : (size + 7) & ~(size_t)7;
	}
	b.crc = (uint32_t)crc32(0, payload, (uInt)length);
	forge_file(file, 2);
	forge_block(file + FORGE_FILE, &b);
	read_to_the_end(forge_fd(file, whole));
	free(file);
}

/* ---- a compressed block of these bytes: version, length / 8, stream ---- */

static void read_stream(const uint8_t *bytes, size_t n)
{
	size_t stored = n < 2 ? 0 : n - 2, whole = FORGE_FILE + FORGE_BLOCK + stored;
	struct forge_block b = { .stored = (uint32_t)stored, .records = 1 };
	uint8_t *file;

	if (!stored)
		return;
	file = malloc(whole);
	if (!file)
		abort();
	b.length = (uint32_t)stored + (8 - stored % 8) + 8u * bytes[1];
	memcpy(file + FORGE_FILE + FORGE_BLOCK, bytes + 2, stored);
	b.crc = (uint32_t)crc32(0, bytes + 2, (uInt)stored);
	forge_file(file, 2);
	forge_block(file + FORGE_FILE, &b);
	read_to_the_end(forge_fd(file, whole));
	free(file);
}

/* ---- records after recipes ---- */

struct recipes {
	const uint8_t *p, *end;
	uint64_t now;
};

static uint32_t byte(struct recipes *c)
{
	return c->p < c->end ? *c->p++ : 0;
}

/* Mostly near the present, and mostly not before it; sometimes not known. */
static uint64_t some_time(struct recipes *c)
{
	uint32_t b = byte(c);

	if (b == 255)
		return 0;
	if (b >= 240)
		return c->now - (b - 240) * 100;
	c->now += b * 10;
	return c->now;
}

static void cook_sync(struct recipes *c, struct wire_sync *s)
{
	uint32_t sleeps = byte(c);

	s->head.size = sizeof(*s);
	s->enter = some_time(c) - byte(c) * 50;
	s->exit = some_time(c);
	s->ino = byte(c) % 4;
	s->dev = byte(c) % 3 ? WIRE_DEV(7, 0) : WIRE_DEV(8, 1);
	s->tid = s->tgid = byte(c) % 6;
	s->worker = byte(c) % 3 ? 0 : byte(c) % 6;
	s->call = (uint16_t)(byte(c) % (CALL_COUNT + 1));
	s->sleeps = sleeps % 4;
	s->switches = (uint16_t)(sleeps < 200 ? sleeps % 4 : sleeps);
	memcpy(s->comm, "python3", 8);
	if (sleeps >= 200)
		memset(s->comm + 3, (int)byte(c), 2);
}

static void cook_sleep(struct recipes *c, struct wire_sleep *s)
{
	s->head.size = sizeof(*s);
	s->off = some_time(c);
	s->rq = byte(c) % 4;
	s->done = some_time(c);
	s->wake = some_time(c);
	s->on = some_time(c);
	s->tid = byte(c) % 6;
	s->waker = byte(c) % 6;
	s->seq = byte(c);
	s->how = (uint8_t)(byte(c) % 6);
	s->stack_len = (uint8_t)byte(c);
	s->waker_kind = (uint8_t)(byte(c) % 5);
	s->idle = byte(c) % 4 == 1;
	s->stack[0] = 0x1000 + byte(c) * 32;
}

static void cook_step(struct recipes *c, struct wire_step *s)
{
	s->begin = some_time(c);
	s->issuer_wake = some_time(c);
	s->issuer_on = some_time(c);
	s->issue = some_time(c);
	s->done = some_time(c);
	s->issuer = byte(c) % 6;
}

static void cook_request(struct recipes *c, struct wire_request *q)
{
	uint32_t steps = byte(c);

	q->head.size = sizeof(*q);
	q->rq = byte(c) % 4;
	q->alloc = some_time(c);
	if (steps & 1)
		cook_step(c, &q->pre);
	if (steps & 2)
		cook_step(c, &q->data);
	if (steps & 4)
		cook_step(c, &q->post);
	q->done = some_time(c);
	q->flags = (uint16_t)(steps >> 4);
	q->dev = q->disk = steps & 8 ? WIRE_DEV(7, 0) : WIRE_DEV(8, 1);
	q->tid = q->tgid = byte(c) % 6;
	q->class = (uint16_t)(byte(c) % (WIRE_CLASSES + 1));
}

static void cook_follow(struct recipes *c, struct wire_follow *f)
{
	f->head.size = sizeof(*f);
	f->since = some_time(c);
	f->tid = byte(c) % 6;
	f->tgid = byte(c) % 6;
	f->kind = byte(c) % 5;
	memcpy(f->comm, "jbd2/loop0-8", 13);
}

static void cook_bio(struct recipes *c, struct wire_bio *b)
{
	b->head.size = sizeof(*b);
	b->queued = some_time(c);
	b->done = some_time(c);
	b->flushed = some_time(c);
	b->tid = byte(c) % 6;
	b->seq = byte(c) % 6;
	b->class = byte(c) % (WIRE_CLASSES + 1);
}

static void cook_work(struct recipes *c, struct wire_work *w)
{
	w->head.size = sizeof(*w);
	w->queued = some_time(c);
	w->begun = some_time(c);
	w->rq = byte(c) % 4 | (uint64_t)(byte(c) % 4) << 32;
	w->done = byte(c) % 2 ? 1 : some_time(c);
	w->tid = byte(c) % 6;
	w->no = byte(c) % 4;
	w->seq = byte(c) % 6;
	w->by = byte(c) % 6;
	w->how = (uint8_t)(byte(c) % 6);
}

static void cook_file(struct recipes *c, struct wire_file *f)
{
	f->head.size = sizeof(*f);
	f->ino = byte(c) % 4;
	f->dev = WIRE_DEV(7, 0);
	f->n = (uint16_t)byte(c);
	f->whole = (uint16_t)(byte(c) % 2);
	memset(f->name[0], (int)byte(c), byte(c) % (WIRE_NAME + 1));
	memcpy(f->name[1], "db", 3);
}

/* One record; sometimes a byte of it is spoilt afterwards. */
static void cook(struct recipes *c, union record *r)
{
	uint32_t what = byte(c);

	memset(r, 0, sizeof(*r));
	r->head.kind = (uint16_t)(WIRE_SYNC + what % 7);
	switch (r->head.kind) {
	case WIRE_SYNC: cook_sync(c, &r->sync); break;
	case WIRE_SLEEP: cook_sleep(c, &r->sleep); break;
	case WIRE_REQUEST: cook_request(c, &r->request); break;
	case WIRE_FOLLOW: cook_follow(c, &r->follow); break;
	case WIRE_BIO: cook_bio(c, &r->bio); break;
	case WIRE_WORK: cook_work(c, &r->work); break;
	default: cook_file(c, &r->file); break;
	}
	if (what >= 250) {
		uint32_t word = sizeof(struct wire_head) / 8 + byte(c) % 26;

		r->words[word] ^= (uint64_t)byte(c) << byte(c) % 64;
	} else if (what >= 240) {
		r->head.size = (uint16_t)(8 + byte(c) + byte(c));
	}
}

/* Through the writer; all of them come back. */
static void read_recipes(const uint8_t *bytes, size_t n)
{
	struct recipes c = { .p = bytes, .end = bytes + n, .now = 1000 };
	int fd = memfd_create("recording", MFD_CLOEXEC), other = dup(fd);
	struct recording_writer *w;
	union record r;
	size_t records = 0;
	struct err e;

	if (recording_create_fd(fd, "output", &w, &e))
		abort();
	for (; c.p < c.end; records++) {
		cook(&c, &r);
		if (r.head.size > sizeof(r))
			r.head.size = sizeof(r);
		if (recording_add(w, &r.head, &e))
			abort();
		if (byte(&c) == 255 && recording_flush(w, &e))
			abort();
	}
	if (recording_close(w, &e) || lseek(other, 0, SEEK_SET) || read_to_the_end(other) != records)
		abort();
}

static void run(const uint8_t *bytes, size_t n)
{
	if (!n)
		return;
	switch (bytes[0] % WAYS) {
	case WHOLE_FILE: read_to_the_end(forge_fd(bytes + 1, n - 1)); break;
	case PAYLOAD: read_payload(bytes + 1, n - 1); break;
	case STREAM: read_stream(bytes + 1, n - 1); break;
	default: read_recipes(bytes + 1, n - 1); break;
	}
}

/* ---- seeds ---- */

/* A descriptor for the writer; what stands there becomes the seed. */
static void seed_written(const char *name, int fd)
{
	uint8_t bytes[16384] = { WHOLE_FILE };
	ssize_t n = pread(fd, bytes + 1, sizeof(bytes) - 1, 0);

	if (n <= 0)
		abort();
	fuzz_seed(name, bytes, 1 + (size_t)n);
	close(fd);
}

static void seed_file(void)
{
	static struct view_counts v = { .sums.waiters = 300, .cell[6] = { .count = 2, .total = { .count = 2, .sum = 70 } } };
	struct recipes c = { .p = (const uint8_t *)"\1\2\3\4\5\6\7", .now = 1000 };
	struct recording_writer *w;
	struct buf counts = { 0 };
	int fd = memfd_create("seed", MFD_CLOEXEC);
	union record r;
	struct err e;

	c.end = c.p + 7;
	v.cell[6].total.bucket[35] = 2;
	recording_counts_encode(1, true, &v, &counts);
	recording_create_fd(dup(fd), "seed", &w, &e);
	recording_add_long(w, WIRE_HEADER, "{\"kernel\": \"6.18\"}", 18, &e);
	recording_flush(w, &e);
	for (int i = 0; i < 3; i++) {
		cook(&c, &r);
		recording_add(w, &r.head, &e);
	}
	recording_flush(w, &e);
	recording_add_long(w, WIRE_COUNTS, counts.data, counts.len, &e);
	recording_add_long(w, WIRE_END, "{}", 2, &e);
	recording_close(w, &e);
	buf_free(&counts);
	seed_written("file", fd);
}

/* The head of a payload's record or piece, and its bytes. */
static void seed_record(struct buf *b, uint16_t kind, const uint8_t *rest, uint16_t n)
{
	uint8_t bytes[512] = { 0 };
	size_t size = (8u + n + 7u) & ~7u;

	forge_put(bytes, kind, 2);
	forge_put(bytes + 2, 8u + n, 2);
	memcpy(bytes + 8, rest, n);
	buf_add(b, bytes, size);
}

static void seed_payload(void)
{
	static const uint8_t zero[200];
	static const uint8_t counts[] = "\0\0\0\0\0\0\0\0"
					"\1\1\1\7\1\6\2\100"
					"\2\7\3\4\1\3\2"
					"\0\0\0\0\0"
					"\0\0\0\0\0";
	struct buf b = { 0 };

	buf_char(&b, PAYLOAD);
	seed_record(&b, WIRE_HEADER, (const uint8_t *)"\0\0\0\0\0\0\1\0{\"a", 11);
	seed_record(&b, WIRE_HEADER, (const uint8_t *)"\0\0\0\0\1\0\0\0\": 1}", 13);
	seed_record(&b, WIRE_SYNC, zero, 72);
	seed_record(&b, WIRE_REQUEST, zero, 200);
	seed_record(&b, WIRE_COUNTS, counts, sizeof(counts) - 1);
	fuzz_seed("payload", b.data, b.len);
	buf_free(&b);
}

static void seed_recipes(void)
{
	uint8_t bytes[601] = { RECIPES };
	uint32_t x = 1;

	for (size_t i = 1; i < sizeof(bytes); i++) {
		x = x * 1103515245 + 12345;
		bytes[i] = (uint8_t)(x >> 16) % 240;
	}
	fuzz_seed("recipes", bytes, sizeof(bytes));
}

/* One record of 400 bytes, as each version packs it. */
static void seed_stream(const char *name, uint8_t version)
{
	static const uint8_t payload[400] = { 9, 0, 144, 1 };
	uint8_t bytes[503] = { STREAM, (uint8_t)(version - 1) };
	uLongf n = 500;

	if (version == 1)
		compress(bytes + 3, &n, payload, sizeof(payload));
	else
		n = ZSTD_compress(bytes + 3, n, payload, sizeof(payload), 1);
	bytes[2] = (uint8_t)((sizeof(payload) - n - (8 - n % 8)) / 8);
	fuzz_seed(name, bytes, 3 + n);
}

static void seeds(void)
{
	seed_file();
	seed_payload();
	seed_recipes();
	seed_stream("deflated", 1);
	seed_stream("zstd", 2);
}

const struct fuzz_target fuzz_recording = { "recording", run, NULL, seeds };
