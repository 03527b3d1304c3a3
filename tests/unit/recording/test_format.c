// SPDX-License-Identifier: GPL-2.0-only
/* The head of a block, byte for byte, and which one can be none. */
#include <string.h>

#include "recording/format.h"
#include "recording_forge.h"
#include "tap.h"

static void test_put(void)
{
	const struct block_head h = { 0x10203, 0x10100, 0x405, 0xa0b0c0d0, 0x1112131415161718, 0xe1e2e3e4 };
	const struct forge_block b = { .length = 0x10203,
				       .stored = 0x10100,
				       .records = 0x405,
				       .sequence = 0xa0b0c0d0,
				       .first = 0x1112131415161718,
				       .crc = 0xe1e2e3e4 };
	uint8_t got[FORGE_BLOCK], want[FORGE_BLOCK];

	block_head_put(got, &h);
	forge_block(want, &b);
	ok(!memcmp(got, want, FORGE_BLOCK), "each number of a head has its place");
}

static bool is_head(struct forge_block b)
{
	struct block_head h = { 0 };
	uint8_t bytes[FORGE_BLOCK];

	forge_block(bytes, &b);
	return block_head_get(bytes, &h) && h.length == b.length && h.stored == b.stored && h.records == b.records &&
	       h.sequence == b.sequence && h.first == b.first && h.crc == b.crc;
}

static void test_get(void)
{
	static const struct {
		uint32_t length, stored, records;
		bool good;
	} rows[] = {
		{ 8, 8, 1, true },
		{ 8, 1, 1, true },
		{ 0, 0, 1, false },
		{ 0, 1, 1, false },
		{ 8, 0, 1, false },
		{ 8, 9, 1, false },
		{ 8, 8, 0, false },
		{ 8, 8, 2, false },
		{ 16, 16, 2, true },
		{ 16, 16, 3, false },
		{ 12, 12, 1, false },
		{ 9, 8, 1, false },
		{ 1048576, 1048576, 1, true },
		{ 1048576, 1, 131072, true },
		{ 1048584, 8, 1, false },
		{ 4, 4, 1, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct forge_block b = {
			rows[i].length, rows[i].stored, rows[i].records, 0xfffffffe, 1ull << 63 | 5, 7, 0
		};

		ok(is_head(b) == rows[i].good, "%u bytes, %u stored, %u records: %s head", b.length, b.stored,
		   b.records, rows[i].good ? "a" : "no");
	}
}

/* Each byte counts, those of the magic and of the version even where the checksum is right. */
static void test_bytes(void)
{
	uint8_t bytes[FORGE_BLOCK], spoilt[FORGE_BLOCK];
	struct forge_block b = { .length = 8, .stored = 8, .records = 1 };
	struct block_head h;
	bool none = true;

	forge_block(bytes, &b);
	for (size_t i = 0; i < FORGE_BLOCK; i++) {
		memcpy(spoilt, bytes, FORGE_BLOCK);
		spoilt[i] ^= 0x40;
		none = none && !block_head_get(spoilt, &h);
		forge_put(spoilt + 36, crc32(0, spoilt, 36), 4);
		none = none && (i >= 8 || !block_head_get(spoilt, &h));
	}
	ok(none && block_head_get(bytes, &h), "a head with a byte changed is none");
}

int main(void)
{
	test_put();
	test_get();
	test_bytes();
	return tap_done();
}
