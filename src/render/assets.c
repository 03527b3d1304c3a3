// SPDX-License-Identifier: GPL-2.0-only
#include "render/assets.h"

/* The assembler reads the files: no generator, no escaping. */
/* clang-format off */
#define ASSET(name, file)					\
	__asm__(".pushsection .rodata\n"			\
		".global " #name "\n" #name ":\n"		\
		".incbin \"src/render/assets/" file "\"\n"	\
		".byte 0\n.popsection\n")
/* clang-format on */

ASSET(asset_flame_js, "flame.js");
ASSET(asset_flame_css, "flame.css");
ASSET(asset_page_js, "page.js");
ASSET(asset_page_css, "page.css");
