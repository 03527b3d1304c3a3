// SPDX-License-Identifier: GPL-2.0-only
/* Which head of a block can be none. Its bytes: test_recording.c. */
#include <string.h>

#include "recording/format.h"
#include "recording_forge.h"
#include "tap.h"

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

int main(void)
{
	test_get();
	return tap_done();
}
