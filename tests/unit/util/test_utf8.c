// SPDX-License-Identifier: GPL-2.0-only
/* Names are bytes: what is a character, how wide it is, and what a terminal may not see. */
#include <string.h>

#include "util/utf8.h"
#include "tap.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *bytes;
	size_t len;
	uint32_t cp;
} characters[] = {
	{ "a", 1, 'a' },
	{ "\x01", 1, 1 },
	{ "\x7f", 1, 0x7f },
	{ "\x80", 1, UTF8_BAD },
	{ "\xbf", 1, UTF8_BAD },
	{ "\xc0\x80", 1, UTF8_BAD },
	{ "\xc1\xbf", 1, UTF8_BAD },
	{ "\xc2\x80", 2, 0x80 },
	{ "\xdf\xbf", 2, 0x7ff },
	{ "\xc2", 1, UTF8_BAD },
	{ "\xc2\x7f", 1, UTF8_BAD },
	{ "\xc2\xc0", 1, UTF8_BAD },
	{ "\xe0\x9f\xbf", 1, UTF8_BAD },
	{ "\xe0\xa0\x80", 3, 0x800 },
	{ "\xe2\x82\xac", 3, 0x20ac },
	{ "\xe2\x82", 1, UTF8_BAD },
	{ "\xe2\x82\x41", 1, UTF8_BAD },
	{ "\xed\x9f\xbf", 3, 0xd7ff },
	{ "\xed\xa0\x80", 1, UTF8_BAD },
	{ "\xed\xbf\xbf", 1, UTF8_BAD },
	{ "\xee\x80\x80", 3, 0xe000 },
	{ "\xef\xbf\xbf", 3, 0xffff },
	{ "\xf0\x8f\xbf\xbf", 1, UTF8_BAD },
	{ "\xf0\x90\x80\x80", 4, 0x10000 },
	{ "\xf0\x9f\x98\x80", 4, 0x1f600 },
	{ "\xf0\x9f\x98", 1, UTF8_BAD },
	{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	{ "\xf4\x90\x80\x80", 1, UTF8_BAD },
	{ "\xf8\x88\x80\x80\x80", 1, UTF8_BAD },
	{ "\xff", 1, UTF8_BAD },
};

static void test_decode(void)
{
	for (size_t i = 0; i < LEN(characters); i++) {
		uint32_t cp;
		size_t len = utf8_decode(characters[i].bytes, &cp);

		if (!ok(len == characters[i].len && cp == characters[i].cp, "character %zu", i))
			diag("got U+%x of %zu bytes", cp, len);
	}
}

static void test_width(void)
{
	static const struct {
		const char *text;
		size_t n, width;
	} rows[] = {
		{ "", 0, 0 },
		{ "abc", 3, 3 },
		{ "abc", 2, 2 },
		{ "ab", 9, 2 },		  /* its end comes first */
		{ "\xe1\x83\xbf", 3, 1 }, /* U+10FF */
		{ "\xe1\x84\x80", 3, 2 }, /* U+1100, the first wide one */
		{ "\xe1\x85\x9f", 3, 2 },
		{ "\xe1\x85\xa0", 3, 1 },
		{ "\xcb\xbf", 2, 1 }, /* U+02FF */
		{ "\xcc\x80", 2, 0 }, /* U+0300, the first combining one */
		{ "\xcd\xaf", 2, 0 },
		{ "\xcd\xb0", 2, 1 },
		{ "e\xcc\x81\xe6\xbc\xa2\xff", 7, 4 },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		ok(utf8_width(rows[i].text, rows[i].n) == rows[i].width, "text %zu takes %zu columns", i, rows[i].width);
}

static void test_escape(void)
{
	static const struct {
		const char *raw, *unicode, *ascii;
	} rows[] = {
		{ "a ~", "a ~", "a ~" },
		{ "\x1f\x1b[31m\n", "\\x1f\\x1b[31m\\x0a", "\\x1f\\x1b[31m\\x0a" },
		{ "\x7f", "\\x7f", "\\x7f" },
		{ "\xc2\x9f\xc2\xa0", "\\xc2\\x9f\xc2\xa0", "\\xc2\\x9f\\xc2\\xa0" },
		{ "\xc2\xad", "\\xc2\\xad", "\\xc2\\xad" },
		{ "\xe2\x80\x8a", "\xe2\x80\x8a", "\\xe2\\x80\\x8a" },
		{ "\xe2\x80\x8b\xe2\x80\x8f", "\\xe2\\x80\\x8b\\xe2\\x80\\x8f", "\\xe2\\x80\\x8b\\xe2\\x80\\x8f" },
		{ "\xff"
		  "a\xc3",
		  "\\xffa\\xc3", "\\xffa\\xc3" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf u = { 0 }, a = { 0 };

		utf8_escape(&u, rows[i].raw, true);
		utf8_escape(&a, rows[i].raw, false);
		ok(!strcmp(u.data, rows[i].unicode) && !strcmp(a.data, rows[i].ascii), "on a terminal: %s", a.data);
		buf_free(&u);
		buf_free(&a);
	}
}

static void test_repair(void)
{
	struct buf b = { 0 };

	utf8_repair(&b, "a\xff\xc3\xa9\xe2\x82z");
	ok(!strcmp(b.data, "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbdz"), "each byte that is no character is replaced");
	buf_free(&b);
}

int main(void)
{
	test_decode();
	test_width();
	test_escape();
	test_repair();
	return tap_done();
}
