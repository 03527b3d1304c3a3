/* SPDX-License-Identifier: GPL-2.0-only */
/* joined.h - rows of short names, compared as one text. */
#ifndef JOINED_H
#define JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/buf.h"

/* Are they `want`, where ';' stands between them? */
static inline bool joined_are(const char *const *name, size_t n, const char *want)
{
	struct buf all = { 0 };
	bool same;

	buf_str(&all, "");
	for (size_t i = 0; i < n; i++) {
		buf_str(&all, i ? ";" : "");
		buf_str(&all, name[i]);
	}
	same = !strcmp(all.data, want);
	buf_free(&all);
	return same;
}

#endif
