// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_quiet, is_verbose;

void log_level(bool quiet, bool verbose)
{
	is_quiet = quiet;
	is_verbose = verbose;
}

static void say(const char *prefix, const char *fmt, va_list ap)
{
	size_t len = strlen(fmt);

	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	if (!len || fmt[len - 1] != '\n')
		fputc('\n', stderr);
}

#define SAY(when, prefix) do { \
	va_list ap; \
	if (!(when)) \
		return; \
	va_start(ap, fmt); \
	say(prefix, fmt, ap); \
	va_end(ap); \
} while (0)

void log_error(const char *fmt, ...)
{
	SAY(true, "barriertrace: ");
}

void log_note(const char *fmt, ...)
{
	SAY(!is_quiet, "barriertrace: ");
}

void log_verbose(const char *fmt, ...)
{
	SAY(is_verbose, "barriertrace: ");
}
