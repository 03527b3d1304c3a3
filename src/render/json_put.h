/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json_put.h - what the files of the JSON output share. Private to them.
 *
 * put*() take over the value that they are given, and leave out a key that has none.
 */
#ifndef BT_RENDER_JSON_PUT_H
#define BT_RENDER_JSON_PUT_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "model/fields.h"
#include "util/mem.h"
#include "render/render.h"
#include "util/utf8.h"

/* A document, with its head; a report's has no `what`. In report_json.c. */
json_t *json_start(const char *version, const char *what);
/* Writes the document, a line end behind it, and frees it. In report_json.c. */
void json_finish(json_t *doc, size_t flags, struct buf *out);

static inline void put(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, xmust(v)))
		xmust(NULL);
}

static inline void push(json_t *array, json_t *v)
{
	if (json_array_append_new(array, xmust(v)))
		xmust(NULL);
}

/* Leaves an empty object or array out. */
static inline void put_filled(json_t *o, const char *key, json_t *v)
{
	if (json_object_size(v) || json_array_size(v))
		put(o, key, v);
	else
		json_decref(v);
}

/* The nearest that JSON's readers take. */
static inline json_t *integer(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static inline void put_u64(json_t *o, const char *key, uint64_t v)
{
	put(o, key, integer(v));
}

/* JSON has no NaN and no infinity: such a number is not known. */
static inline void put_real(json_t *o, const char *key, double v)
{
	if (isfinite(v))
		put(o, key, json_real(v));
}

/* Times in whole nanoseconds, negative ones too. */
static inline void put_ns(json_t *o, const char *key, double v)
{
	if (isfinite(v) && fabs(v) < 9e18)
		put(o, key, json_integer((json_int_t)llround(v)));
}

/* Leaves 0 out. */
static inline void put_if(json_t *o, const char *key, uint64_t v)
{
	if (v)
		put_u64(o, key, v);
}

static inline json_t *string(const char *raw)
{
	struct buf b = { 0 };
	json_t *s;

	utf8_repair(&b, raw);
	s = json_string(b.data ? b.data : "");
	buf_free(&b);
	return s;
}

static inline void put_str(json_t *o, const char *key, const char *raw)
{
	if (raw)
		put(o, key, string(raw));
}

static inline void put_strv(json_t *o, const char *key, char *const *v)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; v && v[i]; i++)
		push(a, string(v[i]));
	put_filled(o, key, a);
}

/* What is known of a struct, in the order of its fields. */
static inline void put_fields(json_t *o, const struct field *f, const void *s)
{
	for (; f->key; f++) {
		if (!field_is_known(f, s))
			continue;
		switch (f->type) {
		case FIELD_STRING:
		case FIELD_TEXT: put_str(o, f->key, field_text(f, s)); break;
		case FIELD_STRV: put_strv(o, f->key, field_texts(f, s)); break;
		case FIELD_BOOL: put(o, f->key, json_boolean(field_number(f, s))); break;
		default: put_u64(o, f->key, field_number(f, s));
		}
	}
}

static inline json_t *hist_buckets(const struct hist *h)
{
	json_t *buckets = xmust(json_array());

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t upper = hist_upper(i);
		json_t *pair;

		if (!h->bucket[i])
			continue;
		if (i == HIST_BUCKETS - 1 && h->max > upper) /* it has no end of its own */
			upper = h->max;
		pair = xmust(json_array());
		push(pair, integer(upper));
		push(pair, integer(h->bucket[i]));
		push(buckets, pair);
	}
	return buckets;
}

static inline void put_hist(json_t *o, const char *key, const struct hist *h)
{
	json_t *j;

	if (!h->count)
		return;
	j = xmust(json_object());
	put_u64(j, "count", h->count);
	put_u64(j, "sum_ns", h->sum);
	put_u64(j, "min_ns", h->min);
	put_u64(j, "max_ns", h->max);
	put_u64(j, "p50_ns", hist_quantile(h, 0.50));
	put_u64(j, "p90_ns", hist_quantile(h, 0.90));
	put_u64(j, "p99_ns", hist_quantile(h, 0.99));
	put_u64(j, "p999_ns", hist_quantile(h, 0.999));
	put(j, "buckets", hist_buckets(h));
	put(o, key, j);
}

static inline void put_tally(json_t *o, const char *key, const struct tally *t)
{
	struct hist h;

	if (!t->count)
		return;
	tally_hist(t, &h);
	put_hist(o, key, &h);
}

/* The whole document of a report, for those that have it as a part; what was run; the probes. In report_json.c. */
json_t *report_json(const struct report *r);
void put_command(json_t *o, char *const *command, bool arguments_hidden);
void put_probes(json_t *o, const struct report_probe *p, size_t n);

static inline void put_ledger(json_t *o, const struct ledger *l)
{
	json_t *j = xmust(json_object());

	for (int c = 0; c < CAUSE_COUNT; c++)
		put_if(j, cause_name(c), l->ns[c]);
	put_filled(o, "ledger", j);
}

/* sync_json.c: the keys "sync", "whatif" and "verdict" of the document */
void put_sync(json_t *doc, const struct report *r);

/* outstanding_json.c */
struct report;
struct requests_in_flight;
void put_outstanding(json_t *o, const struct report *r);
void put_in_flight(json_t *o, const struct requests_in_flight *n);

#endif
