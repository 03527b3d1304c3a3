// SPDX-License-Identifier: GPL-2.0-only
#include "recording/bounded_json.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_HEAD sizeof(size_t) /* what malloc() takes beside malloc_usable_size() */

/* jansson's functions have no argument of ours. */
static struct {
	uint64_t used, most;
	bool refused;
} meter;

static void *metered_malloc(size_t size)
{
	void *p = NULL;

	if (!meter.refused && size <= meter.most - meter.used)
		p = malloc(size);
	if (p)
		meter.used += malloc_usable_size(p) + CHUNK_HEAD;
	/* what the allocator adds may go beyond it, once */
	meter.refused = meter.refused || !p || meter.used > meter.most;
	return p;
}

static void metered_free(void *p)
{
	if (p)
		meter.used -= malloc_usable_size(p) + CHUNK_HEAD;
	free(p);
}

json_t *bounded_json(const char *text, size_t n, size_t flags, struct budget *b, uint64_t *bytes, bool *refused,
		     json_error_t *why)
{
	json_malloc_t allocate;
	json_free_t release;
	json_t *j;

	meter.used = 0;
	meter.most = b ? budget_left(b) : UINT64_MAX;
	meter.refused = false;
	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(metered_malloc, metered_free);
	j = json_loadb(text, n, flags, why);
	json_set_alloc_funcs(allocate, release);
	*refused = meter.refused;
	if (meter.refused) {
		json_decref(j);
		if (b)
			b->left_out++;
		return NULL;
	}
	*bytes = j ? meter.used : 0;
	if (b)
		b->used += *bytes;
	return j;
}
