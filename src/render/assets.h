/* SPDX-License-Identifier: GPL-2.0-only */
/* assets.h - scripts and style sheets of the pictures, built into the program; NUL-terminated. From src/render/assets/. */
#ifndef BT_RENDER_ASSETS_H
#define BT_RENDER_ASSETS_H

extern const char asset_flame_js[], asset_flame_css[], asset_page_js[], asset_page_css[];

#endif
