// SPDX-License-Identifier: GPL-2.0-only
/*
 * embedded_json.c - the report for machines, inside the page: pure ASCII, without a character that means something to HTML.
 *
 * A report of thousands of files and leaves is cut down to what fits: histograms go first, then lists from their ends.
 * The key "left_out" says so. Devices' histograms go only if they would not fit by themselves.
 */
#include "render/html/html.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/utf8.h"

static void escaped(struct buf *b, const char *json)
{
	uint32_t cp;

	for (; *json; json += utf8_decode(json, &cp)) {
		utf8_decode(json, &cp);
		if (cp == '\n')
			continue;
		if (cp >= 0x10000 && cp != UTF8_BAD)
			buf_printf(b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10), 0xdc00 + ((cp - 0x10000) & 0x3ff));
		else if (cp >= 0x7f || cp == '<' || cp == '>' || cp == '&')
			buf_printf(b, "\\u%04x", cp == UTF8_BAD ? 0xfffd : cp);
		else
			buf_char(b, (char)cp);
	}
}

/* ---- cutting down ---- */

static const char *const lists[] = { "leaves", "by_file", "by_process" };

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static void drop_hists(json_t *list)
{
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
	{
		json_object_del(json_object_get(one, "each"), "buckets");
		json_object_del(json_object_get(one, "latency"), "buckets");
	}
}

static void shorten(json_t *list, size_t most)
{
	while (json_array_size(list) > most)
		json_array_remove(list, json_array_size(list) - 1);
}

static void write_json(struct buf *out, const json_t *doc)
{
	char *s = xmust(json_dumps(doc, JSON_COMPACT));

	buf_clear(out);
	escaped(out, s);
	free(s);
}

static void cut_down(struct buf *out, const char *whole, size_t n, bool devices)
{
	json_t *doc = json_loadb(whole, n, 0, NULL), *sync = json_object_get(doc, "sync");

	if (!doc)
		return;
	json_object_set_new(doc, "left_out",
			    json_string(devices ? "histograms, and ends of long lists under \"sync\": --json has them" :
						  "histograms and ends of long lists under \"sync\": --json has them"));
	for (size_t i = 0; i < N_LISTS; i++)
		drop_hists(json_object_get(sync, lists[i]));
	write_json(out, doc);
	for (size_t most = 4096; most && out->len > HTML_ROOM_JSON; most /= 2) {
		for (size_t i = 0; i < N_LISTS; i++)
			shorten(json_object_get(sync, lists[i]), most);
		write_json(out, doc);
	}
	json_decref(doc);
}

/* At least so many bytes are what devices' histograms take: "[1,1]," for each bucket. */
static size_t devices_room(const struct report *r)
{
	size_t buckets = 0;

	for (size_t i = 0; i < r->n_devices; i++)
		for (int c = 0; c < OP_CLASSES; c++) {
			const struct report_op_tally *op = &r->device[i].op[c];

			buckets += tally_buckets(&op->queue) + tally_buckets(&op->device) + tally_buckets(&op->total);
		}
	return buckets * strlen("[1,1],");
}

void html_json(struct buf *b, const struct report *r)
{
	const struct render_opts opts = { .no_buckets = devices_room(r) > HTML_ROOM_JSON };
	struct buf whole = { 0 }, fit = { 0 };

	render_ndjson(r, &opts, &whole);
	escaped(&fit, whole.data);
	if (fit.len > HTML_ROOM_JSON || opts.no_buckets)
		cut_down(&fit, whole.data, whole.len, opts.no_buckets);
	buf_str(b, "<script type=\"application/json\" id=\"report\">");
	buf_add(b, fit.data, fit.len);
	buf_str(b, "</script>\n");
	buf_free(&whole);
	buf_free(&fit);
}
