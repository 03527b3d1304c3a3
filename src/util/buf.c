// SPDX-License-Identifier: GPL-2.0-only
#include "util/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define DRAIN_BYTES (256u << 10)

void buf_drain(struct buf *b)
{
	if (b->drain && b->len)
		b->drain(b->ctx, b);
	if (b->drain)
		buf_clear(b);
}

static void reserve(struct buf *b, size_t more)
{
	size_t need;

	if (b->len >= DRAIN_BYTES)
		buf_drain(b);
	need = b->len + more + 1;
	if (need <= b->cap)
		return;
	b->cap = need < 256 ? 256 : need + need / 2;
	b->data = xrealloc(b->data, b->cap);
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	reserve(b, n);
	if (n)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_fill(struct buf *b, char c, size_t n)
{
	reserve(b, n);
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		reserve(b, (size_t)n);
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
