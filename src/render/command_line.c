// SPDX-License-Identifier: GPL-2.0-only
#include "render/command_line.h"

#include <string.h>

#include "util/utf8.h"

static const char *quote_of(const char *arg)
{
	if (*arg && !strpbrk(arg, " \t\n\"\\$&|;<>()*?"))
		return "";
	return strchr(arg, '\'') ? "\"" : "'";
}

void command_line_add(struct buf *b, char *const *argv, bool unicode)
{
	for (size_t i = 0; argv && argv[i]; i++) {
		if (i)
			buf_char(b, ' ');
		buf_str(b, quote_of(argv[i]));
		utf8_escape(b, argv[i], unicode);
		buf_str(b, quote_of(argv[i]));
	}
}
