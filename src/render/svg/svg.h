/* SPDX-License-Identifier: GPL-2.0-only */
/* svg.h - words, lengths and colours of the flame. Lengths are thousandths of a pixel where they say so. */
#ifndef BT_RENDER_SVG_SVG_H
#define BT_RENDER_SVG_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/render.h"

/* The flame's <svg> element without its script and style sheet, for a page that brings them (assets.h) itself. In flame.c. */
void flame_svg_element(const struct report *r, struct buf *out);

/* Appends n bytes as text of an element or of a quoted attribute. */
void svg_escape(struct buf *b, const char *s, size_t n);
/* Appends raw as text of an element or of a quoted attribute: visible, harmless and allowed in XML. */
void svg_text(struct buf *b, const char *raw);

/* About how wide it is in a common sans-serif face, rather more than less: there is no font to ask. In pixels. */
unsigned int svg_width(const char *utf8, size_t n, unsigned int font_px);

/* As svg_text(), cut to so many pixels with an ellipsis; nothing where not even two characters would remain. */
void svg_fit(struct buf *b, const char *raw, unsigned int px, unsigned int font_px);

/* Appends <text class=... y=...> with as many lines as it takes (a script can lay them out anew); returns how many. */
unsigned int svg_wrap(struct buf *b, const char *class, const char *raw, unsigned int y, unsigned int px,
		      unsigned int font_px, unsigned int line_px);

/* "12.345" */
void svg_milli(struct buf *b, uint64_t milli);

struct svg_color {
	char hex[8]; /* "#d55e00" */
	bool dark;   /* light words can be read on it, dark ones can't */
};

/* A colour "#rrggbb" shaded by latency, pale when short, deep when long: the same in every picture. */
struct svg_color svg_shade(const char *hex, uint64_t latency_ns);
struct svg_color svg_plain(const char *hex);

#endif
