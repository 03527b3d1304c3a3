// SPDX-License-Identifier: GPL-2.0-only
#include "feed.h"

void feed_begin(void)
{
}

/* Every byte is there to be read. */
void feed(const struct wire_head *record)
{
	const volatile unsigned char *p = (const void *)record;

	for (unsigned int i = 0; i < record->size; i++)
		(void)p[i];
}

void feed_end(void)
{
}
