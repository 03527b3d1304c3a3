/* SPDX-License-Identifier: GPL-2.0-only */
/* UTF-8 without a locale: names of files and commands are raw bytes and may be hostile. */
#ifndef BT_UTIL_UTF8_H
#define BT_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

#define UTF8_BAD UINT32_MAX

/*
 * Decodes the character at s (NUL-terminated, not at its end) and returns its length in bytes. A
 * byte that starts no valid character (overlong, surrogate, cut off) has length 1 and *cp UTF8_BAD.
 */
size_t utf8_decode(const char *s, uint32_t *cp);

/* Columns that the first n bytes of s take on a terminal. */
size_t utf8_width(const char *s, size_t n);

/*
 * Appends raw so that it cannot act on a terminal: control characters, invalid bytes, and what
 * reorders or breaks lines become \xNN, byte by byte; without `unicode`, all beyond ASCII too.
 */
void utf8_escape(struct buf *b, const char *raw, bool unicode);

/* Appends raw as valid UTF-8: each invalid byte becomes U+FFFD. */
void utf8_repair(struct buf *b, const char *raw);

#endif
