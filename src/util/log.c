// SPDX-License-Identifier: GPL-2.0-only
#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_quiet, is_verbose;
static bool in_place; /* a line of progress stands there */

static void end_in_place(void)
{
	if (in_place)
		fputs("\r\033[K", stderr);
	in_place = false;
}

void log_level(bool quiet, bool verbose)
{
	is_quiet = quiet;
	is_verbose = verbose;
}

#define LINE_MAX_BYTES 480 /* of a message to the user; what he typed may be in it, and be long */

/* One line, whatever is in it: a name may hold a newline or an escape sequence. */
static void say_line(const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	end_in_place();
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
		end_in_place();
		fputs("barriertrace: ", stderr);
		vfprintf(stderr, fmt, ap);
		fputc('\n', stderr);
	}
	va_end(ap);
}

void log_progress(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	struct winsize ws = { 0 };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* a line that is broken could not be taken back; some terminals go on to the next one in the last column */
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col && ws.ws_col <= sizeof(line))
		line[ws.ws_col - 1] = '\0';
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	in_place = true;
}

void log_progress_end(void)
{
	end_in_place();
}
