// SPDX-License-Identifier: GPL-2.0-only
#include "util/utf8.h"

#include <string.h>

struct range {
	uint32_t first, last;
};

/* East Asian wide and emoji: two columns. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },	  { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

/* Combining marks and variation selectors: no column of their own. */
static const struct range zero[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x1ab0, 0x1aff },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

/* Controls, and what reorders, hides or breaks a line: never shown raw. */
static const struct range unsafe[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	  { 0xad, 0xad },	  { 0x61c, 0x61c },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e },	  { 0x2060, 0x206f },	  { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0xe0000, 0xe007f }, { UTF8_BAD, UTF8_BAD },
};

#define IN(table, cp) in_ranges(table, sizeof(table) / sizeof((table)[0]), cp)

static bool in_ranges(const struct range *r, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n; i++) {
		if (cp >= r[i].first && cp <= r[i].last)
			return true;
	}
	return false;
}

size_t utf8_decode(const char *s, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = (unsigned char)s[0];
	size_t len = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
	uint32_t v;

	*cp = UTF8_BAD;
	if (!len)
		return 1;
	v = len == 1 ? c : c & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80) /* also stops at the NUL */
			return 1;
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 1;
	*cp = v;
	return len;
}

size_t utf8_width(const char *s, size_t n)
{
	const char *end = s + n;
	size_t width = 0;
	uint32_t cp;

	while (s < end && *s) {
		s += utf8_decode(s, &cp);
		width += IN(zero, cp) ? 0 : IN(wide, cp) ? 2 : 1;
	}
	return width;
}

void utf8_escape(struct buf *b, const char *raw, bool unicode)
{
	uint32_t cp;
	size_t len;

	for (; *raw; raw += len) {
		len = utf8_decode(raw, &cp);
		if (!IN(unsafe, cp) && (unicode || cp < 0x80)) {
			buf_add(b, raw, len);
			continue;
		}
		for (size_t i = 0; i < len; i++)
			buf_printf(b, "\\x%02x", (unsigned char)raw[i]);
	}
}

void utf8_repair(struct buf *b, const char *raw)
{
	uint32_t cp;
	size_t len;

	for (; *raw; raw += len) {
		len = utf8_decode(raw, &cp);
		if (cp == UTF8_BAD)
			buf_str(b, "\xef\xbf\xbd");
		else
			buf_add(b, raw, len);
	}
}
