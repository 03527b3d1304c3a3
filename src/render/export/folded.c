// SPDX-License-Identifier: GPL-2.0-only
/*
 * folded.c - folded stacks, for any flame graph tool: frames joined by ';', a blank, nanoseconds; sorted.
 *
 *   python3;fsync;a.db;jbd2/sda1-8;flush.post;sda 110152175
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/render.h"
#include "util/utf8.h"

struct stack {
	char *path;
	uint64_t ns;
};

/* What a reader could take for the end of a line, or a terminal for a command. */
static bool control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029;
}

static char *one_line(const char *raw)
{
	struct buf whole = { 0 }, b = { 0 };
	uint32_t cp;
	size_t len;

	utf8_repair(&whole, raw);
	buf_str(&b, "");
	for (const char *s = whole.data; s && *s; s += len) {
		len = utf8_decode(s, &cp);
		if (control(cp))
			buf_char(&b, '_');
		else
			buf_add(&b, s, len);
	}
	buf_free(&whole);
	return b.data;
}

static int stack_order(const void *a, const void *b)
{
	return strcmp(((const struct stack *)a)->path, ((const struct stack *)b)->path);
}

void render_folded(const struct report *r, const struct render_opts *o, struct buf *out)
{
	const struct report_sync *s = &r->sync;
	struct stack *stack = xcalloc(s->n_leaves, sizeof(*stack));

	(void)o;
	for (size_t i = 0; i < s->n_leaves; i++)
		stack[i] = (struct stack){ .path = one_line(s->leaf[i].path), .ns = s->leaf[i].ns };
	qsort(stack, s->n_leaves, sizeof(*stack), stack_order);
	for (size_t i = 0; i < s->n_leaves; i++) {
		if (i + 1 < s->n_leaves && !stack_order(&stack[i], &stack[i + 1]))
			stack[i + 1].ns += stack[i].ns;
		else if (stack[i].ns)
			buf_printf(out, "%s %" PRIu64 "\n", stack[i].path, stack[i].ns);
		free(stack[i].path);
	}
	free(stack);
}
