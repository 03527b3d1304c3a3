/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * golden.h - texts held against those in the golden directory: argv[1], GOLDEN_DIR or tests/unit/golden. GOLDEN_UPDATE=1 writes them
 * anew.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "tap.h"

static const char *golden_dir = "tests/unit/golden";

static inline void golden_begin(int argc, char **argv)
{
	if (argc > 1)
		golden_dir = argv[1];
	else if (getenv("GOLDEN_DIR"))
		golden_dir = getenv("GOLDEN_DIR");
}

/* The caller's; "" if there is no such file. */
static inline char *slurp(const char *path)
{
	FILE *f = fopen(path, "re");
	struct buf b = { 0 };
	char chunk[4096];
	size_t n;

	buf_str(&b, "");
	while (f && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_add(&b, chunk, n);
	if (f)
		fclose(f);
	return b.data;
}

static inline void show_difference(const char *want, const char *got)
{
	const char *w = want, *g = got;
	int line = 1;

	for (; *w && *w == *g; w++, g++)
		line += *w == '\n';
	for (; w > want && w[-1] != '\n'; w--, g--)
		;
	diag("line %d, want: %.*s", line, (int)strcspn(w, "\n"), w);
	diag("line %d,  got: %.*s", line, (int)strcspn(g, "\n"), g);
}

static inline void golden(const char *name, const char *kind, const char *got)
{
	char *path = xasprintf("%s/%s.%s", golden_dir, name, kind), *want;
	const char *update = getenv("GOLDEN_UPDATE");
	FILE *f = update && *update == '1' ? fopen(path, "we") : NULL;

	if (f) {
		fputs(got, f);
		fclose(f);
	}
	want = slurp(path);
	if (!ok(*want && !strcmp(want, got), "%s.%s: exactly the golden one", name, kind))
		show_difference(want, got);
	free(want);
	free(path);
}

#endif
