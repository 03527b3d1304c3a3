// SPDX-License-Identifier: GPL-2.0-only
/* What is taken from a file that was made by hand: where blocks are looked for, what is said to be lost, and when reading fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recording/recording.h"
#include "util/mem.h"
#include "open_files.h"
#include "recording_forge.h"
#include "tap.h"

#define NEST_STORED 64u /* of a block with another in it */

static struct err e;
static struct buf file; /* to be read */

/* ---- reads that fail ---- */

static bool interrupted;
static size_t readable = SIZE_MAX; /* bytes; then reading fails */

/* In the place of libc's. */
ssize_t read(int fd, void *to, size_t n)
{
	ssize_t got;

	if (interrupted || !readable) {
		errno = interrupted ? EINTR : EIO;
		interrupted = false;
		return -1;
	}
	got = syscall(SYS_read, fd, to, n < readable ? n : readable);
	if (readable < SIZE_MAX && got > 0)
		readable -= (size_t)got;
	return got;
}

/* ---- files ---- */

static void begin(void)
{
	uint8_t head[FORGE_FILE];

	forge_file(head, 3);
	buf_clear(&file);
	buf_add(&file, head, sizeof(head));
}

static void put_block(struct buf *to, uint32_t sequence, uint64_t first, const void *payload, uint32_t n, uint32_t records)
{
	struct forge_block b = { n, n, records, sequence, first, (uint32_t)crc32(0, payload, n), 0 };
	uint8_t head[FORGE_BLOCK];

	forge_block(head, &b);
	buf_add(to, head, sizeof(head));
	buf_add(to, payload, n);
}

/* A block of one record, which is known by the block's number. */
static void put_one(struct buf *to, uint32_t number, uint64_t first)
{
	uint8_t record[8] = { 9, 0, 8 };

	forge_put(record + 4, number, 4);
	put_block(to, number, first, record, sizeof(record), 1);
}

static void put_piece(uint32_t number, uint16_t kind, uint16_t piece)
{
	uint8_t bytes[16] = { (uint8_t)kind, 0, sizeof(bytes) };

	forge_put(bytes + 12, piece, 2);
	put_block(&file, number, number, bytes, sizeof(bytes), 1);
}

static void put_end(uint32_t number)
{
	put_piece(number, WIRE_END, 0);
}

/* Into `payload` a record that holds the whole block `inner`. */
static void nest(uint8_t payload[NEST_STORED], uint32_t number, uint32_t inner)
{
	struct buf block = { 0 };

	memset(payload, 0, NEST_STORED);
	payload[0] = 9;
	payload[2] = NEST_STORED;
	forge_put(payload + 4, number, 4);
	put_one(&block, inner, inner);
	memcpy(payload + 8, block.data, block.len);
	buf_free(&block);
}

static void put_nest(uint32_t number, uint32_t inner)
{
	uint8_t payload[NEST_STORED];

	nest(payload, number, inner);
	put_block(&file, number, number, payload, NEST_STORED, 1);
}

/* The block that was put last has a wrong checksum from now on; what it holds stays. */
static void spoil(void)
{
	file.data[file.len - 1] ^= 1;
}

/* ---- what comes of them ---- */

static struct recording *open_it(void)
{
	struct recording *r;

	if (recording_open_fd(forge_fd(file.data, file.len), "it", &r, &e))
		abort();
	return r;
}

/* The numbers of records, "end" for an end, "+N" for another long one of N bytes. */
static void list(struct recording *r, struct buf *to)
{
	struct recording_record rec;

	buf_str(to, "");
	while (recording_next(r, &rec)) {
		buf_str(to, to->len ? " " : "");
		if (rec.head)
			buf_printf(to, "%u", rec.head->cpu);
		else if (rec.kind == WIRE_END)
			buf_str(to, "end");
		else
			buf_printf(to, "+%zu", rec.size);
	}
}

static void is_read(const char *want, uint64_t blocks, uint64_t records, uint64_t bytes, const char *name)
{
	struct recording *r = open_it();
	struct recording_damage d, again;
	struct buf got = { 0 };

	list(r, &got);
	recording_damage(r, &d);
	list(r, &got);
	recording_damage(r, &again);
	if (!ok(!strcmp(got.data, want) && d.blocks == blocks && d.records == records && d.bytes == bytes, "%s", name))
		diag("'%s'; lost: %llu blocks, %llu records, %llu bytes", got.data, (unsigned long long)d.blocks,
		     (unsigned long long)d.records, (unsigned long long)d.bytes);
	ok(again.blocks == blocks && again.records == records && again.bytes == bytes && again.more == d.more,
	   "  and the same when its end comes again");
	buf_free(&got);
	recording_free(r);
}

static void test_junk(void)
{
	begin();
	put_one(&file, 0, 0);
	buf_char(&file, 'x');
	put_one(&file, 1, 1);
	put_end(2);
	is_read("0 1 end", 0, 0, 1, "a byte between blocks is passed over");
	for (unsigned int n = 1; n <= 8; n++) {
		begin();
		put_end(0);
		buf_fill(&file, 'x', n);
		is_read("end", 0, 0, n, "so is what comes behind the end");
	}
	begin();
	put_one(&file, 0, 0);
	buf_str(&file, "four");
	is_read("0", 1, 0, 4, "where there is no end it was a block");
}

/* Within a damaged block others are looked for if the next one isn't where it should be. */
static void test_nested(void)
{
	begin();
	put_one(&file, 0, 0);
	put_nest(1, 7);
	spoil();
	put_one(&file, 2, 2);
	put_end(3);
	is_read("0 2 end", 1, 1, FORGE_BLOCK + NEST_STORED, "between others a damaged block is passed over as a whole");
	begin();
	put_one(&file, 0, 0);
	put_nest(1, 7);
	spoil();
	is_read("0", 1, 1, FORGE_BLOCK + NEST_STORED, "the last one, too");
	begin();
	put_one(&file, 0, 0);
	put_nest(1, 2);
	spoil();
	buf_char(&file, 'x');
	put_one(&file, 3, 3);
	put_end(4);
	is_read("0 2 3 end", 1, 1, FORGE_BLOCK + NEST_STORED + 1 - (FORGE_BLOCK + 8),
		"where bytes are missing or too many a block may stand within it");
	begin();
	put_one(&file, 0, 0);
	put_nest(1, 7);
	put_nest(1, 7);
	put_end(2);
	is_read("0 1 end", 0, 0, FORGE_BLOCK + NEST_STORED, "one that came already is passed over as a whole");
}

/* A damaged block that claims to be this long, and another one in it. What follows isn't in its place. */
static void put_claim(uint32_t number, uint32_t length, uint32_t inner)
{
	struct forge_block b = { length, NEST_STORED, 1, number, number, 12345, 0 };
	uint8_t payload[NEST_STORED] = { 0 }, head[FORGE_BLOCK];

	if (inner)
		nest(payload, number, inner);
	forge_block(head, &b);
	buf_add(&file, head, sizeof(head));
	buf_add(&file, payload, sizeof(payload));
	buf_char(&file, 'x');
}

/* 63 that claim 1 MiB, and a last one: of 64 MiB, heads included, that is what is left. */
static void test_most_searches(void)
{
	const uint32_t rest = (64u << 20) - 63 * (FORGE_BLOCK + (1u << 20)) - FORGE_BLOCK;

	for (uint32_t more = 0; more <= 8; more += 8) {
		begin();
		put_one(&file, 0, 0);
		for (uint32_t i = 1; i <= 63; i++)
			put_claim(i, 1u << 20, 0);
		put_claim(64, rest + more, 65);
		put_one(&file, 66, 66);
		put_end(67);
		if (more)
			is_read("0 66 end", 65, 65, 64 * (FORGE_BLOCK + NEST_STORED + 1), "beyond 64 MiB no more");
		else
			is_read("0 65 66 end", 64, 64, 64 * (FORGE_BLOCK + NEST_STORED + 1) - FORGE_BLOCK - 8,
				"64 MiB of damaged blocks are searched");
	}
}

static void test_lost(void)
{
	begin();
	put_one(&file, 0, 0);
	put_one(&file, 1, 1);
	spoil();
	put_one(&file, 2, 2);
	spoil();
	is_read("0", 2, 2, 96, "two damaged blocks at the end");
	begin();
	put_one(&file, 0, 0);
	put_one(&file, 2, 2);
	spoil();
	put_one(&file, 1, 1);
	spoil();
	is_read("0", 2, 2, 96, "in whatever order they stand");
	begin();
	put_one(&file, 0, 0);
	put_one(&file, 3, 7);
	put_end(4);
	is_read("0 3 end", 2, 6, 0, "blocks that are not there, with their records");
	begin();
	put_one(&file, 0, 0);
	put_one(&file, 2, 0);
	is_read("0 2", 1, 0, 0, "a number of records that goes back is not believed");
	begin();
	put_one(&file, 0, 0);
	put_block(&file, 1, 1, (const uint8_t[]){ WIRE_HEADER, 0, 8, 0, 0, 0, 0, 0 }, 8, 1);
	put_end(2);
	is_read("0 end", 1, 1, 48, "the first long kind has pieces, which are longer than their head");
}

/* The head of the file. */
static void test_head(void)
{
	begin();
	put_one(&file, 0, 0);
	put_end(1);
	file.data[12] ^= 1;
	is_read("0 end", 0, 0, 16, "a wrong checksum of the file's head");
	begin();
	file.len -= 3;
	put_one(&file, 0, 0);
	put_end(1);
	is_read("0 end", 0, 0, 13, "a head that has lost some bytes");
	begin();
	buf_str(&file, "more");
	put_one(&file, 0, 0);
	put_end(1);
	is_read("0 end", 0, 0, 4, "or got some behind it");
}

/* Pieces of 65,512 bytes, 16 in a block, and the rest in one more. */
static void put_long(uint32_t rest)
{
	const uint32_t whole = 65528;
	uint8_t *payload = xcalloc(16, whole);
	uint32_t piece = 0;

	for (uint32_t block = 0; block <= 8; block++) {
		uint32_t n = block < 8 ? 16 : 1, size = block < 8 ? whole : 16 + rest;

		for (uint32_t i = 0; i < n; i++, piece++) {
			forge_put(payload + i * size, WIRE_HEADER, 2);
			forge_put(payload + i * size + 2, size, 2);
			forge_put(payload + i * size + 12, piece, 2);
			forge_put(payload + i * size + 14, piece < 128, 2);
		}
		put_block(&file, block, block * 16, payload, (n * size + 7) / 8 * 8, n);
	}
	free(payload);
}

static void test_longest(void)
{
	const uint32_t rest = RECORDING_LONG_MAX - 128 * 65512;

	begin();
	put_long(rest);
	is_read("+8388608", 0, 0, 0, "a long record at the limit");
	begin();
	put_long(rest + 1);
	is_read("", 0, 129, 0, "one with a byte more is lost");
}

/* ---- by a thread ---- */

static void put_many(uint32_t n)
{
	begin();
	for (uint32_t i = 0; i < n; i++)
		put_one(&file, i, i);
	put_end(n);
}

static void test_ahead(void)
{
	struct buf want = { 0 };
	struct recording_record rec;
	struct recording *r;
	bool good = true;

	put_many(40);
	for (uint32_t i = 0; i < 40; i++)
		buf_printf(&want, "%u ", i);
	buf_str(&want, "end");
	is_read(want.data, 0, 0, 0, "forty blocks in their order");
	buf_free(&want);
	r = open_it();
	for (uint32_t i = 0; i < 20; i++)
		good = good && recording_next(r, &rec) && rec.head && rec.head->cpu == i;
	usleep(50000); /* the thread has read all it may by then, and waits */
	recording_free(r);
	ok(good, "who has enough can stop while the next ones wait");
}

/* ---- reading ---- */

static void test_interrupted(void)
{
	begin();
	put_one(&file, 0, 0);
	put_end(1);
	interrupted = true;
	is_read("0 end", 0, 0, 0, "a read that a signal interrupts is done again");
}

static void test_fails(void)
{
	struct recording *r = NULL;
	struct recording_record rec;
	struct recording_damage d;
	int err;

	begin();
	put_one(&file, 0, 0);
	put_end(1);
	readable = FORGE_FILE + FORGE_BLOCK + 8;
	r = open_it();
	ok(recording_next(r, &rec) && rec.head && recording_damage(r, &d) && !d.error,
	   "what is there comes before more is read");
	ok(!recording_next(r, &rec) && recording_damage(r, &d) && d.error == EIO && !d.blocks && d.no_end,
	   "then reading fails");
	recording_free(r);
	readable = 0;
	err = recording_open_fd(forge_fd(file.data, file.len), "it", &r, &e);
	ok(err == -EIO && e.status == EXIT_FAILED && !strcmp(e.text, "cannot read it: Input/output error"),
	   "or at once: %s", e.text);
	readable = SIZE_MAX;
}

/* ---- what is said ---- */

static void is_noted(const char *want)
{
	struct recording *r = open_it();
	struct recording_damage d;
	struct buf got = { 0 };
	char *note;
	bool good;

	list(r, &got);
	note = recording_damage_note(r);
	good = note && !strcmp(note, want);
	if (!ok(recording_damage(r, &d) && good, "said: %s", want))
		diag("got '%s'", note ? note : "");
	free(note);
	buf_free(&got);
	recording_free(r);
}

static void test_notes(void)
{
	begin();
	put_one(&file, 0, 0);
	put_block(&file, 2, 1, (const uint8_t[]){ WIRE_END, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 16, 1);
	is_noted("the recording is damaged; lost: 1 block with 0 records");
	begin();
	put_piece(0, WIRE_HEADER, 1);
	put_end(1);
	is_noted("the recording is damaged; lost: 0 blocks with 1 record");
	begin();
	for (uint32_t i = 0; i < 1002; i++)
		put_piece(i, WIRE_HEADER, 0);
	put_end(1002);
	is_noted("the recording is damaged; 2 headers beyond 1,000 left out");
	begin();
	put_one(&file, 0, 0);
	put_end(1);
	buf_char(&file, 'x');
	is_noted("the recording is damaged; 1 B passed over");
	file.len--;
	readable = file.len;
	is_noted("the recording is damaged; reading it failed: Input/output error");
	readable = SIZE_MAX;
}

static void test_empty_input(void)
{
	int in = dup(STDIN_FILENO), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct recording *r;

	dup2(nothing, STDIN_FILENO);
	ok(recording_open("-", &r, &e) == -ENODATA && !strcmp(e.text, "standard input is empty: it holds no recording"),
	   "%s", e.text);
	restore_input(in);
	close(nothing);
}

static void begins(const void *bytes, size_t n, bool want, const char *name)
{
	int fd = forge_fd(bytes, n);

	lseek(fd, 3, SEEK_SET);
	ok(recording_begins(fd) == want && lseek(fd, 0, SEEK_CUR) == 3, "%s", name);
	close(fd);
}

static void test_begins(void)
{
	begin();
	begins(file.data, 16, true, "a file with a head");
	begins(file.data, 8, true, "one with its beginning only");
	begins(file.data, 7, false, "not with less");
	begins("neither this nor that", 21, false, "nor a text");
}

int main(void)
{
	int before = open_files();

	test_junk();
	test_nested();
	test_most_searches();
	test_lost();
	test_head();
	test_longest();
	test_ahead();
	test_interrupted();
	test_fails();
	test_notes();
	test_empty_input();
	test_begins();
	buf_free(&file);
	ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
