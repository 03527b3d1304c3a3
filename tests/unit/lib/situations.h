/* SPDX-License-Identifier: GPL-2.0-only */
/* situations.h - what is said in many situations, as one golden text: a section for each test. */
#ifndef SITUATIONS_H
#define SITUATIONS_H

#include "util/buf.h"
#include "golden.h"

static struct buf said;

#define SAY(...) buf_printf(&said, __VA_ARGS__)

/* Runs test_NAME, in a section of its own. */
#define RUN(name) (SAY("%s== %s\n", said.len ? "\n" : "", #name), test_##name())

/* Holds it all against the golden text, once; what main() returns. */
static inline int situations_done(const char *name)
{
	golden(name, "txt", said.data);
	buf_free(&said);
	return tap_done();
}

#endif
