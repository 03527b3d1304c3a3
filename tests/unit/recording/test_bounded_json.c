// SPDX-License-Identifier: GPL-2.0-only
/* JSON of somebody else's: what its tree takes is counted, and what takes too much is refused. */
#include <stdlib.h>
#include <string.h>

#include "recording/bounded_json.h"
#include "util/buf.h"
#include "tap.h"

#define SLACK \
	16384 /* bytes: malloc() may give a little more than it was asked for, a page even, and not always as much */

static bool about(uint64_t a, uint64_t b)
{
	return a + SLACK >= b && b + SLACK >= a;
}

/* A budget that has so many bytes left. */
static struct budget budget_of(uint64_t left)
{
	struct budget b = { 0 };

	b.used = budget_left(&b) - left;
	return b;
}

static uint64_t tree_bytes(const char *text, size_t n)
{
	uint64_t bytes = 0;
	bool refused = true;
	json_t *j = bounded_json(text, n, 0, NULL, &bytes, &refused, NULL);

	ok(j && !refused && bytes, "without a budget all is read");
	json_decref(j);
	return bytes;
}

/* So many zeroes in an array. */
static void zeroes(struct buf *b, int n)
{
	buf_char(b, '[');
	for (int i = 0; i < n; i++)
		buf_str(b, i ? ",0" : "0");
	buf_char(b, ']');
}

static void test_small(void)
{
	static const char text[] = "{\"a\": [1, 2]} and what is behind it";
	const size_t n = 13;
	uint64_t tree = tree_bytes(text, n), bytes = 0;
	struct budget b = budget_of(tree + SLACK);
	bool refused = true;
	json_t *j = bounded_json(text, n, 0, &b, &bytes, &refused, NULL);

	ok(json_array_size(json_object_get(j, "a")) == 2 && !refused && about(bytes, tree) &&
		   budget_left(&b) == tree + SLACK - bytes && budget_kept(&b),
	   "a tree that takes what there is");
	json_decref(j);
	budget_give(&b, bytes);
	ok(budget_left(&b) == tree + SLACK, "and gives it back");
	b = budget_of(tree / 2);
	bytes = 77;
	ok(!bounded_json(text, n, 0, &b, &bytes, &refused, NULL) && refused && b.left_out == 1 &&
		   budget_left(&b) == tree / 2 && bytes == 77,
	   "one that takes more is left out");
}

/* As long as its text is being read, there has to be room for a token as long as all of it: four times as much, and 16 KiB. */
static void test_large(void)
{
	struct buf text = { 0 };
	uint64_t tree, token, bytes = 0;
	struct budget b;
	bool refused = true;
	json_t *j;

	zeroes(&text, 10000);
	token = 4 * text.len + 16384;
	tree = tree_bytes(text.data, text.len);
	b = budget_of(tree + token + SLACK);
	j = bounded_json(text.data, text.len, 0, &b, &bytes, &refused, NULL);
	ok(json_array_size(j) == 10000 && !refused && about(bytes, tree) && about(budget_left(&b), token + SLACK),
	   "a large one, in pieces");
	json_decref(j);
	b = budget_of(tree + SLACK);
	ok(!bounded_json(text.data, text.len, 0, &b, &bytes, &refused, NULL) && refused && b.left_out == 1,
	   "without room for its text it is refused");
	b = budget_of(0);
	ok(!bounded_json(text.data, text.len, 0, &b, &bytes, &refused, NULL) && refused && b.left_out == 1,
	   "and without any");
	buf_free(&text);
}

/* Is it read with so much left? */
static bool fits(const struct buf *text, uint64_t left)
{
	struct budget b = budget_of(left);
	uint64_t bytes = 0;
	bool refused;
	json_t *j = bounded_json(text->data, text->len, 0, &b, &bytes, &refused, NULL);
	bool fit = j;

	json_decref(j);
	return fit;
}

/* The last piece of the text is a full one: what it says takes 16 KiB. */
static void test_room_for_token(void)
{
	struct buf text = { 0 };
	uint64_t tree, token;

	zeroes(&text, 10239);
	token = 4 * text.len + 16384;
	tree = tree_bytes(text.data, text.len);
	ok(fits(&text, tree + token) && !fits(&text, tree + token - 24000),
	   "as long as there is more to read, there is room for a token as long as the text");
	buf_free(&text);
}

/* A table of 256 places becomes one of 512, which takes 4 KiB; the old one is freed after that. */
static void test_small_piece(void)
{
	struct buf text = { 0 };
	uint64_t tree;

	zeroes(&text, 257);
	tree = tree_bytes(text.data, text.len);
	ok(fits(&text, tree + 256), "a text of one piece needs room for its tree only");
	buf_free(&text);
}

/* One of 8,192 places becomes one of 16,384, which takes 128 KiB. */
static void test_doubled_table(void)
{
	struct buf text = { 0 };
	uint64_t tree;

	zeroes(&text, 8193);
	tree = tree_bytes(text.data, text.len);
	ok(!fits(&text, tree + 40000), "a large table has to have room beside the one that it replaces");
	ok(fits(&text, tree + 65536 + SLACK), "and is made if there is so much");
	buf_free(&text);
}

static void test_what_is_counted(void)
{
	const uint64_t number = sizeof(json_t) + sizeof(json_int_t), chunk = sizeof(size_t), place = sizeof(void *);
	struct buf text = { 0 };

	zeroes(&text, 10000);
	ok(tree_bytes(text.data, text.len) >= 10000 * (number + chunk + place),
	   "a number takes its bytes, a chunk's head and a place");
	buf_clear(&text);
	for (int i = 0; i < 10000; i++)
		buf_printf(&text, "%c\"a\":0", i ? ',' : '{');
	buf_char(&text, '}');
	ok(about(tree_bytes(text.data, text.len), tree_bytes("{\"a\":0}", 7)), "what is freed again doesn't count");
	buf_free(&text);
}

static void test_strings(void)
{
	struct buf text = { 0 };
	uint64_t bytes;
	bool refused, same = true;
	json_t *j;

	buf_char(&text, '"');
	for (int i = 0; i < 5000; i++)
		buf_char(&text, (char)('a' + i % 26));
	buf_char(&text, '"');
	j = bounded_json(text.data, text.len, JSON_DECODE_ANY, NULL, &bytes, &refused, NULL);
	for (int i = 0; j && i < 5000; i++)
		same = same && json_string_value(j)[i] == 'a' + i % 26;
	ok(j && same && json_string_length(j) == 5000, "each piece of a text comes behind the one before");
	json_decref(j);
	buf_free(&text);
}

static void test_bad(void)
{
	static const char *const texts[] = { "", "{", "[1,]", "{\"a\": 1, \"a\": 2}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct budget b = { 0 };
		json_error_t why = { 0 };
		uint64_t bytes = 77;
		bool refused = true;

		ok(!bounded_json(texts[i], strlen(texts[i]), JSON_REJECT_DUPLICATES, &b, &bytes, &refused, &why) &&
			   !refused && !bytes && !b.used && budget_kept(&b) && *why.text,
		   "no JSON, and no lack of memory: %s", texts[i]);
	}
}

int main(void)
{
	json_malloc_t allocate, allocate_after;
	json_free_t release, release_after;

	json_get_alloc_funcs(&allocate, &release);
	test_small();
	test_large();
	test_room_for_token();
	test_small_piece();
	test_doubled_table();
	test_what_is_counted();
	test_strings();
	test_bad();
	json_get_alloc_funcs(&allocate_after, &release_after);
	ok(allocate == allocate_after && release == release_after, "memory is the library's own again");
	return tap_done();
}
