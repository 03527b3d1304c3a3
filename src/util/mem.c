// SPDX-License-Identifier: GPL-2.0-only
#include "util/mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "util/tmpfiles.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* The shadows that sanitizers keep of memory are larger than any limit. GCC knows __has_feature from 14 on, and its own names before. */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) || \
	defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static const char *way_out = "";

void mem_limit(uint64_t bytes, const char *if_more)
{
	struct rlimit r;

	if (SANITIZED || getrlimit(RLIMIT_DATA, &r) || r.rlim_cur <= bytes)
		return;
	r.rlim_cur = bytes;
	if (!setrlimit(RLIMIT_DATA, &r))
		way_out = if_more;
}

void *xmust(void *p)
{
	if (!p) {
		fprintf(stderr, "barriertrace: out of memory%s\n", way_out);
		tmpfiles_remove();
		exit(1);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return xmust(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return xmust(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return xmust(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return s ? xmust(strdup(s)) : NULL;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return xmust(s);
}

void free_pointers(void *const p[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(p[i]);
}

void *grow(void **array, size_t *n, size_t size)
{
	char *base;

	/* capacity doubles: it is the next power of two, so it need not be stored */
	if ((*n & (*n - 1)) == 0)
		*array = xrealloc(*array, (*n ? *n * 2 : 1) * size);
	base = (char *)*array + *n * size;
	memset(base, 0, size);
	(*n)++;
	return base;
}

size_t strv_len(char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

void strv_add(char ***v, char *owned)
{
	size_t n = strv_len(*v);

	*v = xrealloc(*v, (n + 2) * sizeof(**v));
	(*v)[n] = owned;
	(*v)[n + 1] = NULL;
}

bool strv_has(char *const *v, const char *s)
{
	for (; v && *v; v++)
		if (!strcmp(*v, s))
			return true;
	return false;
}

char **strv_dup(char *const *v)
{
	size_t n = strv_len(v);
	char **out = n ? xcalloc(n + 1, sizeof(*out)) : NULL;

	for (size_t i = 0; i < n; i++)
		out[i] = xstrdup(v[i]);
	return out;
}

void strv_free(char **v)
{
	for (size_t i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}
