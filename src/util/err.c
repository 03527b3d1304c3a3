// SPDX-License-Identifier: GPL-2.0-only
#include "util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, enum exit_status status, const char *fmt, ...)
{
	va_list ap;

	e->status = status;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code > 0 ? -code : code;
}

void err_add(struct err *e, const char *fmt, ...)
{
	size_t len = strlen(e->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text + len, sizeof(e->text) - len, fmt, ap);
	va_end(ap);
}
