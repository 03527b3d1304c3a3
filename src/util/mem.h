/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation that ends the program (status 1, one line) when memory is out: no caller can go on. */
#ifndef BT_UTIL_MEM_H
#define BT_UTIL_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *xmust(void *p); /* p itself; NULL ends the program */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on the process has at most so much memory of its own (RLIMIT_DATA; a file that is mapped is not counted), unless it has a lower
 * limit. `if_more` is said behind "out of memory" then; static.
 */
void mem_limit(uint64_t bytes, const char *if_more);

/* free() of each pointer. */
#define free_all(...) \
	free_pointers((void *const[]){ __VA_ARGS__ }, sizeof((void *const[]){ __VA_ARGS__ }) / sizeof(void *))
void free_pointers(void *const p[], size_t n);

/* Grows *array (elements of `size` bytes) by one zeroed element and returns it. */
void *grow(void **array, size_t *n, size_t size);

/* NULL-terminated vectors of owned strings. Each strv_add() counts them: for few. */
void strv_add(char ***v, char *owned);
size_t strv_len(char *const *v);
bool strv_has(char *const *v, const char *s);
char **strv_dup(char *const *v);
void strv_free(char **v);

#endif
