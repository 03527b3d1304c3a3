/* SPDX-License-Identifier: GPL-2.0-only */
/* flame.h - the flame-style histogram, as a file of its own and as a part of the page. */
#ifndef BT_RENDER_SVG_FLAME_H
#define BT_RENDER_SVG_FLAME_H

#include "render/render.h"

/* The <svg> element without its script and style sheet, for a page that brings them (assets.h) itself. */
void flame_svg_element(const struct report *r, struct buf *out);

#endif
