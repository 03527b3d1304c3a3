// SPDX-License-Identifier: GPL-2.0-only
#include "render/svg/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

/* ---- words ---- */

/* Unlike all other noncharacters these two are not allowed in XML. */
static size_t noncharacter(const char *s)
{
	return !strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3) ? 3 : 0;
}

void svg_escape(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (s[i]) {
		case '&': buf_str(b, "&amp;"); break;
		case '<': buf_str(b, "&lt;"); break;
		case '>': buf_str(b, "&gt;"); break;
		case '"': buf_str(b, "&quot;"); break;
		case '\'': buf_str(b, "&#39;"); break;
		default: buf_char(b, s[i]);
		}
	}
}

/* Valid, without control characters, fit for XML, but not escaped yet. Never NULL. */
static char *visible(const char *raw)
{
	struct buf safe = { 0 }, out = { 0 };

	utf8_escape(&safe, raw, true);
	buf_str(&out, "");
	for (const char *s = safe.data; s && *s;) {
		size_t n = noncharacter(s);

		if (n) {
			buf_str(&out, "\xef\xbf\xbd");
			s += n;
		} else {
			buf_char(&out, *s++);
		}
	}
	buf_free(&safe);
	return out.data;
}

void svg_text(struct buf *b, const char *raw)
{
	char *s = visible(raw);

	svg_escape(b, s, strlen(s));
	free(s);
}

/* Hundredths of the font's size. */
static unsigned int char_width(unsigned char c)
{
	if (c < 0x80 && strchr("ijl.,:;|'!I ", c))
		return 34;
	if (c < 0x80 && strchr("frt/\\()[]-", c))
		return 42;
	if (c < 0x80 && strchr("mwMW@%", c))
		return 99;
	if (c == '_' || c == 's' || c == 'c')
		return 56;
	if (c < 0x80 && strchr("+=<>~#&", c))
		return 84;
	return c >= 'A' && c <= 'Z' ? 73 : 64;
}

unsigned int svg_width(const char *utf8, size_t n, unsigned int font_px)
{
	const char *end = utf8 + n;
	unsigned int sum = 0;
	uint32_t cp;

	while (utf8 < end && *utf8) {
		size_t len = utf8_decode(utf8, &cp);

		sum += len == 1 ? char_width((unsigned char)*utf8) : 64 * (unsigned int)utf8_width(utf8, len);
		if (cp == 0x2026 || utf8_width(utf8, len) > 1) /* the ellipsis, and what is as wide as it is high */
			sum += 40;
		utf8 += len;
	}
	return (sum * font_px + 99) / 100;
}

/* How many bytes of whole characters fit. */
static size_t fitting(const char *s, unsigned int px, unsigned int font_px)
{
	size_t at = 0, len;
	uint32_t cp;

	for (; s[at]; at += len) {
		len = utf8_decode(s + at, &cp);
		if (svg_width(s, at + len, font_px) > px)
			break;
	}
	return at;
}

void svg_fit(struct buf *b, const char *raw, unsigned int px, unsigned int font_px)
{
	char *s = visible(raw);
	size_t n = fitting(s, px, font_px);

	if (s[n]) {
		unsigned int dots = font_px + 1;

		n = px > dots ? fitting(s, px - dots, font_px) : 0;
		if (n >= 2) {
			svg_escape(b, s, n);
			buf_str(b, "…");
		}
	} else {
		svg_escape(b, s, n);
	}
	free(s);
}

/* Bytes of s that make a line: whole words if there are several, else what fits of one. */
static size_t line_len(const char *s, unsigned int px, unsigned int font_px)
{
	size_t n = fitting(s, px, font_px), word = n;

	if (!s[n])
		return n;
	while (word && s[word] != ' ')
		word--;
	if (word)
		return word;
	return n ? n : 1;
}

unsigned int svg_wrap(struct buf *b, const char *class, const char *raw, unsigned int y, unsigned int px,
		      unsigned int font_px, unsigned int line_px)
{
	char *text = visible(raw), *s = text;
	unsigned int lines = 0;

	buf_printf(b, "<text class=\"%s\" y=\"%u\">", class, y);
	while (*s) {
		size_t n = line_len(s, px, font_px);

		buf_printf(b, "<tspan x=\"10\" dy=\"%u\">", lines++ ? line_px : 0);
		svg_escape(b, s, n);
		s += n;
		buf_str(b, *s == ' ' ? " </tspan>" : "</tspan>");
		s += *s == ' ';
	}
	buf_str(b, "</text>\n");
	free(text);
	return lines;
}

void svg_milli(struct buf *b, uint64_t milli)
{
	buf_printf(b, "%" PRIu64, milli / 1000);
	if (milli % 1000)
		buf_printf(b, ".%03u", (unsigned int)(milli % 1000));
}

/* ---- colours ---- */

/* Pale at SHORTEST and below, the plain colour half-way, deep at LONGEST and above; between them by powers of two. */
#define SHORTEST 6u  /* heat_row(): 8 µs */
#define LONGEST	 40u /* 1 s */
#define PALE	 85u /* % of white */
#define DEEP	 72u /* % of black */

static void rgb_of(const char *hex, unsigned int rgb[3])
{
	unsigned long v = strtoul(hex + 1, NULL, 16);

	for (int i = 0; i < 3; i++)
		rgb[i] = (v >> (16 - 8 * i)) & 0xff;
}

/* Whether white has more contrast (as WCAG defines it, with a gamma of 2) than black. */
static bool is_dark(const unsigned int rgb[3])
{
	unsigned int luminance = (2126 * rgb[0] * rgb[0] + 7152 * rgb[1] * rgb[1] + 722 * rgb[2] * rgb[2]) / (255 * 255);

	return luminance < 1791;
}

static struct svg_color color_of(const unsigned int rgb[3])
{
	struct svg_color c = { .dark = is_dark(rgb) };

	snprintf(c.hex, sizeof(c.hex), "#%02x%02x%02x", rgb[0] & 0xff, rgb[1] & 0xff, rgb[2] & 0xff);
	return c;
}

struct svg_color svg_plain(const char *hex)
{
	unsigned int rgb[3];

	rgb_of(hex, rgb);
	return color_of(rgb);
}

struct svg_color svg_shade(const char *hex, uint64_t latency_ns)
{
	unsigned int rgb[3], row = heat_row(latency_ns), half = (LONGEST - SHORTEST) / 2;

	row = row < SHORTEST ? 0 : row > LONGEST ? LONGEST - SHORTEST : row - SHORTEST;
	rgb_of(hex, rgb);
	for (int i = 0; i < 3; i++) {
		if (row < half)
			rgb[i] += (255 - rgb[i]) * PALE * (half - row) / (half * 100);
		else
			rgb[i] -= rgb[i] * DEEP * (row - half) / (half * 100);
	}
	return color_of(rgb);
}
