/* SPDX-License-Identifier: GPL-2.0-only */
/* situations.h - what is said in many situations, as one golden text: a section for each test that says something. */
#ifndef SITUATIONS_H
#define SITUATIONS_H

#include <stdint.h>

#include "util/buf.h"
#include "util/mem.h"
#include "golden.h"

static struct buf said;

static const char *said_in;
static char **said_before; /* the lines of the situation before, in the same test */

/* The first that a test says begins a section. */
static inline void said_section(void)
{
	if (said_in == tap_now)
		return;
	said_in = tap_now;
	buf_printf(&said, "%s== %s\n", said.len ? "\n" : "", tap_now);
	strv_free(said_before);
	said_before = NULL;
}

#define SAY(...) (said_section(), buf_printf(&said, __VA_ARGS__))

/* What is 0 is not said. */
static inline void also(const char *what, uint64_t n)
{
	if (n)
		SAY("  (%s %llu)\n", what, (unsigned long long)n);
}

static inline bool among(char **lines, const char *line)
{
	for (; lines && *lines; lines++)
		if (!strcmp(*lines, line))
			return true;
	return false;
}

/* Which lines came and went since the situation before. The lines are taken. */
static inline void say_changes(const char *what, char **lines)
{
	SAY("%s:\n", what);
	for (char **s = said_before; s && *s; s++)
		if (!among(lines, *s))
			SAY("  - %s\n", *s);
	for (char **s = lines; s && *s; s++)
		if (!among(said_before, *s))
			SAY("  + %s\n", *s);
	strv_free(said_before);
	said_before = lines;
}

/* Holds it all against the golden text, once; what main() returns. */
static inline int situations_done(const char *name)
{
	golden(name, "txt", said.data);
	buf_free(&said);
	strv_free(said_before);
	return tap_done();
}

#endif
