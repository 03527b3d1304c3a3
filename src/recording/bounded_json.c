// SPDX-License-Identifier: GPL-2.0-only
#include "recording/bounded_json.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_HEAD sizeof(size_t) /* what malloc() takes beside malloc_usable_size() */

/*
 * jansson 2.14 drops a byte of the token that it reads when it is refused the memory for it, and asserts later that it has
 * that byte. So it is refused nothing that a token needs: what is small is never refused, and the text ends where more is
 * used than leaves room for a token as long as the text. What is large (the table of an array or of an object that doubles)
 * is refused when it comes; that ends the document.
 */
#define SMALL \
	4096u /* bytes: a piece of the text, which jansson asks for by 1,024 bytes, can't make a token that takes more */
#define TOKEN_RATIO 4u /* bytes of a token's one: its buffer twice, what it says, a key's copy */
#define TOKEN_BASE  (16u << 10)

/* jansson's functions have no argument of ours. */
static struct {
	uint64_t used, most;
	bool refused;
} meter;

static void *metered_malloc(size_t size)
{
	void *p = NULL;

	if (size <= SMALL || (meter.used < meter.most && size <= meter.most - meter.used))
		p = malloc(size);
	if (p)
		meter.used += malloc_usable_size(p) + CHUNK_HEAD;
	meter.refused = meter.refused || !p;
	return p;
}

static void metered_free(void *p)
{
	if (p)
		meter.used -= malloc_usable_size(p) + CHUNK_HEAD;
	free(p);
}

struct source {
	const char *text;
	size_t left;
	uint64_t most;
	bool begun;
};

static size_t next_piece(void *to, size_t room, void *ctx)
{
	struct source *s = ctx;
	size_t n = s->left < room ? s->left : room;

	meter.refused = meter.refused || (s->begun && n && meter.used > s->most);
	if (meter.refused)
		return 0;
	memcpy(to, s->text, n);
	s->begun = true;
	s->text += n;
	s->left -= n;
	return n;
}

static json_t *load(struct source *s, size_t flags, json_error_t *why)
{
	json_malloc_t allocate;
	json_free_t release;
	json_t *j;

	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(metered_malloc, metered_free);
	j = json_load_callback(next_piece, s, flags, why);
	json_set_alloc_funcs(allocate, release);
	return j;
}

json_t *bounded_json(const char *text, size_t n, size_t flags, struct budget *b, uint64_t *bytes, bool *refused,
		     json_error_t *why)
{
	const uint64_t token = (uint64_t)n * TOKEN_RATIO + TOKEN_BASE;
	struct source s = { .text = text, .left = n };
	json_t *j;

	meter.used = 0;
	meter.most = b ? budget_left(b) : UINT64_MAX;
	meter.refused = false;
	s.most = meter.most > token ? meter.most - token : 0;
	j = load(&s, flags, why);
	*refused = meter.refused = meter.refused || meter.used > meter.most;
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
