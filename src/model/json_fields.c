// SPDX-License-Identifier: GPL-2.0-only
#include "model/json_fields.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- out ---- */

static json_t *string_out(const char *s)
{
	json_t *j = json_string(s);
	char *hex;

	if (j)
		return j;
	hex = xcalloc(2 * strlen(s) + 1, 1);
	for (size_t i = 0; s[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)s[i]);
	j = json_pack("{s:s}", "hex", hex);
	free(hex);
	return xmust(j);
}

static json_t *strv_out(char *const *v)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; v[i]; i++)
		json_array_append_new(a, string_out(v[i]));
	return a;
}

static json_t *u32s_out(const uint32_t *v, size_t n)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_integer(v[i]));
	return a;
}

static json_t *field_out(const struct json_field *f, const void *p)
{
	switch (f->type) {
	case JSON_FIELD_STRING: return *(char *const *)p ? string_out(*(char *const *)p) : NULL;
	case JSON_FIELD_TEXT: return string_out(p);
	case JSON_FIELD_U64: return json_integer((json_int_t) * (const uint64_t *)p);
	case JSON_FIELD_U32: return json_integer(*(const uint32_t *)p);
	case JSON_FIELD_INT: return json_integer(*(const int *)p);
	case JSON_FIELD_BOOL: return json_boolean(*(const bool *)p);
	case JSON_FIELD_STRV: return *(char **const *)p ? strv_out(*(char **const *)p) : NULL;
	case JSON_FIELD_U32S: return u32s_out(p, f->size / sizeof(uint32_t));
	}
	return NULL;
}

json_t *json_fields_out(const struct json_field *f, const void *s)
{
	json_t *o = xmust(json_object());

	for (; f->key; f++) {
		json_t *v = field_out(f, (const char *)s + f->offset);

		if (v)
			json_object_set_new(o, f->key, v);
	}
	return o;
}

json_t *json_fields_out_all(const struct json_field *f, const void *first, size_t n, size_t size)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_fields_out(f, (const char *)first + i * size));
	return a;
}

/* ---- in ---- */

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL when it is no string. Owned by the caller. */
static char *string_in(const json_t *j)
{
	const char *s = json_string_value(j), *hex = json_string_value(json_object_get(j, "hex"));
	char *out;
	size_t n = 0;

	if (s)
		return xstrdup(s);
	if (!hex)
		return NULL;
	out = xcalloc(strlen(hex) / 2 + 1, 1);
	for (; hex[0] && hex[1] && nibble(hex[0]) >= 0 && nibble(hex[1]) >= 0; hex += 2)
		out[n++] = (char)(nibble(hex[0]) << 4 | nibble(hex[1]));
	return out;
}

static void text_in(const json_t *j, char *to, size_t size)
{
	char *s = string_in(j);

	if (s)
		snprintf(to, size, "%s", s);
	free(s);
}

static char **strv_in(const json_t *j)
{
	size_t entries = json_array_size(j), n = 0;
	char **v = entries ? xcalloc(entries + 1, sizeof(*v)) : NULL;

	for (size_t i = 0; i < entries; i++) {
		v[n] = string_in(json_array_get(j, i));
		n += v[n] != NULL;
	}
	if (n)
		return v;
	free(v);
	return NULL;
}

static void u32s_in(const json_t *j, uint32_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint32_t)json_integer_value(json_array_get(j, i));
}

static void field_in(const struct json_field *f, const json_t *j, void *p)
{
	switch (f->type) {
	case JSON_FIELD_STRING: *(char **)p = string_in(j); break;
	case JSON_FIELD_TEXT: text_in(j, p, f->size); break;
	case JSON_FIELD_U64: *(uint64_t *)p = (uint64_t)json_integer_value(j); break;
	case JSON_FIELD_U32: *(uint32_t *)p = (uint32_t)json_integer_value(j); break;
	case JSON_FIELD_INT: *(int *)p = (int)json_integer_value(j); break;
	case JSON_FIELD_BOOL: *(bool *)p = json_is_true(j); break;
	case JSON_FIELD_STRV: *(char ***)p = strv_in(j); break;
	case JSON_FIELD_U32S: u32s_in(j, p, f->size / sizeof(uint32_t)); break;
	}
}

void json_fields_in(const struct json_field *f, const json_t *o, void *s)
{
	for (; f->key; f++) {
		const json_t *v = json_object_get(o, f->key);

		if (v)
			field_in(f, v, (char *)s + f->offset);
	}
}

void json_fields_in_all(const struct json_field *f, const json_t *a, size_t most, void **first, size_t *n, size_t size)
{
	for (size_t i = 0; i < json_array_size(a) && i < most; i++)
		json_fields_in(f, json_array_get(a, i), grow(first, n, size));
}
