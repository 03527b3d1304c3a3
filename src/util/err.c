// SPDX-License-Identifier: GPL-2.0-only
#include "util/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, int code, enum exit_status status, const char *fmt, ...)
{
	va_list ap;

	e->status = status;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code > 0 ? -code : code;
}
