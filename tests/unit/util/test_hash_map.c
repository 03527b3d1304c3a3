// SPDX-License-Identifier: GPL-2.0-only
/* Entries are found by the hash of their key as long as they are in, whatever else is; keys that look alike spread. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "util/hash_map.h"

#define MANY 20000u

static struct hash_map m;

/* Of entries under this hash: their number, and whether `entry` is among them. */
static uint32_t under(uint32_t hash, uint32_t entry, bool *in)
{
	uint32_t n = 0;

	*in = false;
	HASH_MAP_EACH (&m, hash, i) {
		*in = *in || i == entry;
		n++;
	}
	return n;
}

static bool is_in(uint32_t hash, uint32_t entry, uint32_t of)
{
	bool in;

	return under(hash, entry, &in) == of && in;
}

static bool none(uint32_t hash)
{
	return hash_map_first(&m, hash) == HASH_NONE;
}

static void finds(void)
{
	ok(none(0) && none(7), "nothing is in an empty one");
	hash_map_add(&m, 3, 7);
	hash_map_add(&m, 1, 7);
	hash_map_add(&m, 2, 7 + 64);
	ok(is_in(7, 3, 2) && is_in(7, 1, 2) && is_in(7 + 64, 2, 1) && none(7 + 128), "entries by their whole hash");
	hash_map_add(&m, 5000, 9);
	ok(is_in(7, 3, 2) && is_in(7, 1, 2) && is_in(7 + 64, 2, 1) && is_in(9, 5000, 1) && none(0),
	   "also once it has grown");
	hash_map_remove(&m, 3);
	ok(is_in(7, 1, 1) && is_in(7 + 64, 2, 1), "one is removed");
	hash_map_add(&m, 100000, 11);
	ok(is_in(7, 1, 1) && is_in(11, 100000, 1), "and doesn't come back when it grows");
	hash_map_add(&m, 3, 12);
	ok(is_in(12, 3, 1) && is_in(7, 1, 1), "it may have another hash then");
	hash_map_clear(&m);
	ok(none(7) && none(9) && none(12), "cleared, nothing is in");
	hash_map_add(&m, 3, 7);
	hash_map_add(&m, 200000, 13);
	ok(is_in(7, 3, 1) && is_in(13, 200000, 1) && none(9) && none(12), "and it begins anew, also when it grows");
	hash_map_free(&m);
	hash_map_clear(&m);
	ok(none(7), "freed, it is an empty one");
}

static uint32_t longest_chain(void)
{
	uint32_t longest = 0;

	for (uint32_t h = 0; h < m.room; h++) {
		uint32_t n = 0;

		for (uint32_t i = m.head[h]; i != HASH_NONE; i = m.link[i].next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static bool name_in(uint32_t i)
{
	char name[32] = { 0 };

	snprintf(name, sizeof(name), "kworker/%u", i);
	return is_in(hash_bytes(name, strlen(name)), i, 1);
}

static void spreads(void)
{
	bool good = true;
	char name[32];

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "kworker/%u", i);
		hash_map_add(&m, i, hash_bytes(name, strlen(name)));
	}
	for (uint32_t i = 0; i < MANY; i++)
		good = good && name_in(i);
	ok(good && longest_chain() < 16, "20,000 names that begin alike");
	hash_map_clear(&m);
	for (uint32_t i = 0; i < MANY; i++)
		hash_map_add(&m, i, hash_words(i / 256, (8ull << 20) + i % 256));
	ok(longest_chain() < 16, "the same file numbers on 256 disks");
	hash_map_clear(&m);
	for (uint32_t i = 0; i < MANY; i++)
		hash_map_add(&m, i, hash_words(0xffff888100000000 + 512ull * (i % 64), 4096ull * i));
	ok(longest_chain() < 16, "few addresses at many times");
	hash_map_free(&m);
}

int main(void)
{
	finds();
	spreads();
	return tap_done();
}
