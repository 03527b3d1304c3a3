// SPDX-License-Identifier: GPL-2.0-only
/* On to every output: text that can be harmful to nobody, JSON that can be read, and figures that add up. */
#include "feed.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"

/* one input in so many */
#define QUICK_EVERY 4
#define SLOW_EVERY  32 /* a multiple of it */

typedef void check_fn(const struct report *r, const struct buf *b);

/* UTF-8, and of the control characters only those that end lines or cells. */
static void check_text(const struct report *r, const struct buf *b)
{
	json_t *text = json_stringn(b->len ? b->data : "", b->len);

	(void)r;
	if (!text)
		abort();
	json_decref(text);
	for (size_t i = 0; i < b->len; i++)
		if ((unsigned char)b->data[i] < ' ' && !strchr("\n\r\t", b->data[i]))
			abort();
}

static json_t *parsed(const struct buf *b)
{
	json_t *j = json_loadb(b->len ? b->data : "", b->len, JSON_REJECT_DUPLICATES, NULL);

	if (!j)
		abort();
	return j;
}

static void check_json(const struct report *r, const struct buf *b)
{
	check_text(r, b);
	json_decref(parsed(b));
}

/* Lines of a stack and nanoseconds. */
static void check_folded(const struct report *r, const struct buf *b)
{
	uint64_t ns = 0;

	check_text(r, b);
	for (const char *p = b->data, *end; b->len && p < b->data + b->len; p = end + 1) {
		end = strchr(p, '\n');
		if (!end)
			abort();
		while (memchr(p, ' ', (size_t)(end - p)))
			p = (const char *)memchr(p, ' ', (size_t)(end - p)) + 1;
		ns += strtoull(p, NULL, 10);
	}
	if (ns != r->sync.total_ns)
		abort();
}

/* What is between marks is escaped: a name ends no mark and begins none. */
static void check_markup(const struct report *r, const struct buf *b)
{
	check_text(r, b);
	if (!b->len || strstr(b->data, "<model>") || b->data[b->len - 1] != '\n')
		abort();
}

static void check_db(const struct report *r, const struct buf *b)
{
	(void)r;
	if (b->len < 512 || memcmp(b->data, "SQLite format 3", 16))
		abort();
}

struct output {
	render_fn *render;
	check_fn *check;
};

/* clang-format off */
static const struct output quick[] = {
	{ render_text, check_text }, { render_json, check_json }, { render_ndjson, check_json },
	{ render_folded, check_folded },
};
/* clang-format on */

static const struct output slow[] = { { render_flame, check_markup },
				      { render_html, check_markup },
				      { render_perfetto, check_json },
				      { render_db, check_db } };

static void make(const struct output *o, size_t table, const struct report *r)
{
	const struct render_opts opts = { .unicode = true, .verbose = true, .table = table };
	struct buf b = { 0 };

	o->render(r, &opts, &b);
	o->check(r, &b);
	buf_free(&b);
}

void feed_render(const struct report *r, uint32_t mix)
{
	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]) && mix % QUICK_EVERY == 1; i++)
		make(&quick[i], 0, r);
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]) && mix % SLOW_EVERY == 1; i++)
		make(&slow[i], 0, r);
	for (size_t i = 0; i < RENDER_N_CSV && mix % SLOW_EVERY == 1; i++)
		make(&(struct output){ render_csv, check_text }, i, r);
}
