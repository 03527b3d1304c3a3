// SPDX-License-Identifier: GPL-2.0-only
/*
 * A static program loads nothing: SQLite's extensions, the only ones here that would ask for it, are never asked for. The linker
 * (--wrap) takes this function for dlopen(), so that it has no reason to say that shared objects are needed.
 */
#ifdef BT_STATIC

#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

#else

typedef int not_empty; /* ISO C wants a declaration in each file */

#endif
