/* SPDX-License-Identifier: GPL-2.0-only */
/* layout.h - is a text laid out as it should be? */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <string.h>

#include "tap.h"
#include "util/utf8.h"

static inline bool fits(const char *s, size_t width)
{
	while (*s) {
		size_t n = strcspn(s, "\n");

		if (utf8_width(s, n) > width) {
			diag("too wide for %zu: %.*s", width, (int)n, s);
			return false;
		}
		s += n + (s[n] == '\n');
	}
	return true;
}

/* No empty line at the beginning, no blanks at the end of a line, no double gaps. */
static inline bool tidy(const char *s)
{
	return *s != '\n' && !strstr(s, " \n") && !strstr(s, "\n\n\n");
}

/* ... and no empty line at the end. */
static inline bool ends_tidily(const char *s)
{
	size_t n = strlen(s);

	return n > 1 && s[n - 1] == '\n' && s[n - 2] != '\n';
}

/* Is a number parted from its unit? Of ASCII */
static inline bool unit_starts_line(const char *s)
{
	static const char *const units[] = { "%", "us", "ms", "s", "KiB", "MiB", "GiB" };

	while ((s = strchr(s, '\n'))) {
		s += strspn(s, "\n ");
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			size_t n = strcspn(s, " ,;.:\n");

			if (n == strlen(units[i]) && !strncmp(s, units[i], n)) {
				diag("apart: %.60s", s);
				return true;
			}
		}
	}
	return false;
}

static inline bool is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x7f || ((unsigned char)*s < ' ' && *s != '\n'))
			return false;
	return true;
}

#endif
