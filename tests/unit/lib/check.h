/* SPDX-License-Identifier: GPL-2.0-only */
/* check.h - a value is what it should be, or is shown. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* NULL is NULL. */
static void __attribute__((unused)) is_str(const char *got, const char *want, const char *name)
{
	if (!ok(got && want ? !strcmp(got, want) : got == want, "%s", name))
		diag("got '%s', want '%s'", got ? got : "(null)", want ? want : "(null)");
}

/* The same of a text that is freed. */
static void __attribute__((unused)) is_text(char *got, const char *want, const char *name)
{
	is_str(got, want, name);
	free(got);
}

static void __attribute__((unused)) is_int(int64_t got, int64_t want, const char *name)
{
	if (!ok(got == want, "%s", name))
		diag("got %" PRId64 ", want %" PRId64, got, want);
}

static void __attribute__((unused)) is_u64(uint64_t got, uint64_t want, const char *name)
{
	if (!ok(got == want, "%s", name))
		diag("got %" PRIu64 ", want %" PRIu64, got, want);
}

#endif
