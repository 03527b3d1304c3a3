// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_quiet, is_verbose;

void log_level(bool quiet, bool verbose)
{
	is_quiet = quiet;
	is_verbose = verbose;
}

#define LINE_MAX_BYTES 480	/* of a message to the user; what he typed may be in it, and be long */

/* One line, whatever is in it: a name may hold a newline or an escape sequence. */
static void say_line(const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	fprintf(stderr, "barriertrace: %s%s\n", line, n >= (int)sizeof(line) ? "..." : "");
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap);
	va_end(ap);
}

void log_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!is_quiet)
		say_line(fmt, ap);
	va_end(ap);
}

/* Not for people's eyes alone: the verifier's log has many lines. */
void log_verbose(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (is_verbose) {
		fputs("barriertrace: ", stderr);
		vfprintf(stderr, fmt, ap);
		fputc('\n', stderr);
	}
	va_end(ap);
}
