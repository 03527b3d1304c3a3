/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing byte buffer. Zero-initialised is empty and valid. Out of memory ends the program.
 * With a drain it stays small: what has come together is handed over now and then, and the rest by buf_drain().
 */
#ifndef BT_UTIL_BUF_H
#define BT_UTIL_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf;

/* Takes the bytes in it; the buffer is emptied afterwards. */
typedef void buf_drain_fn(void *ctx, const struct buf *b);

struct buf {
	char *data; /* NUL-terminated when not NULL; owned */
	size_t len, cap;
	buf_drain_fn *drain; /* NULL: none */
	void *ctx;
};

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *b); /* keeps the memory */
void buf_drain(struct buf *b); /* nothing without a drain */
void buf_free(struct buf *b);  /* zeroes it */

#endif
