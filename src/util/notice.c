// SPDX-License-Identifier: GPL-2.0-only
#include "util/notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void notice(const struct notices *to, enum notice_level level, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	if (!to || !to->tell)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		to->tell(to->ctx, level, text);
	va_end(ap);
	free(text);
}
