// SPDX-License-Identifier: GPL-2.0-only
#include "model/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static const void *place(const struct field *f, const void *s)
{
	return (const char *)s + f->offset;
}

uint64_t field_number(const struct field *f, const void *s)
{
	const void *p = place(f, s);

	switch (f->type) {
	case FIELD_U64: return *(const uint64_t *)p;
	case FIELD_U32: return *(const uint32_t *)p;
	case FIELD_INT: return (uint64_t) * (const int *)p;
	case FIELD_BOOL: return *(const bool *)p;
	default: return 0;
	}
}

const char *field_text(const struct field *f, const void *s)
{
	return f->type == FIELD_TEXT ? place(f, s) : *(char *const *)place(f, s);
}

char *const *field_texts(const struct field *f, const void *s)
{
	return *(char *const *const *)place(f, s);
}

bool field_is_known(const struct field *f, const void *s)
{
	if (f->type == FIELD_STRING || f->type == FIELD_STRV)
		return *(void *const *)place(f, s);
	if (f->known == FIELD_IF_SET)
		return field_number(f, s);
	return f->known == FIELD_ALWAYS || *((const bool *)s + f->known - 1);
}

/* ---- to JSON ---- */

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

static json_t *field_out(const struct field *f, const void *p)
{
	switch (f->type) {
	case FIELD_STRING: return string_out(*(char *const *)p);
	case FIELD_TEXT: return string_out(p);
	case FIELD_U64: return json_integer((json_int_t) * (const uint64_t *)p);
	case FIELD_U32: return json_integer(*(const uint32_t *)p);
	case FIELD_INT: return json_integer(*(const int *)p);
	case FIELD_BOOL: return json_boolean(*(const bool *)p);
	case FIELD_STRV: return strv_out(*(char **const *)p);
	case FIELD_U32S: return u32s_out(p, f->size / sizeof(uint32_t));
	}
	return NULL;
}

json_t *fields_to_json(const struct field *f, const void *s)
{
	json_t *o = xmust(json_object());

	for (; f->key; f++)
		if (field_is_known(f, s))
			json_object_set_new(o, f->key, field_out(f, place(f, s)));
	return o;
}

json_t *fields_to_json_array(const struct field *f, const void *first, size_t n, size_t size)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, fields_to_json(f, (const char *)first + i * size));
	return a;
}

/* ---- from JSON ---- */

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

static void field_in(const struct field *f, const json_t *j, void *p)
{
	switch (f->type) {
	case FIELD_STRING: *(char **)p = string_in(j); break;
	case FIELD_TEXT: text_in(j, p, f->size); break;
	case FIELD_U64: *(uint64_t *)p = (uint64_t)json_integer_value(j); break;
	case FIELD_U32: *(uint32_t *)p = (uint32_t)json_integer_value(j); break;
	case FIELD_INT: *(int *)p = (int)json_integer_value(j); break;
	case FIELD_BOOL: *(bool *)p = json_is_true(j); break;
	case FIELD_STRV: *(char ***)p = strv_in(j); break;
	case FIELD_U32S: u32s_in(j, p, f->size / sizeof(uint32_t)); break;
	}
}

void fields_from_json(const struct field *f, const json_t *o, void *s)
{
	for (; f->key; f++) {
		const json_t *v = json_object_get(o, f->key);

		if (f->known > 0)
			*((bool *)s + f->known - 1) = f->type == FIELD_BOOL ? json_is_boolean(v) : json_is_integer(v);
		if (v)
			field_in(f, v, (char *)s + f->offset);
	}
}

void fields_from_json_array(const struct field *f, const json_t *a, size_t most, void **first, size_t *n, size_t size)
{
	for (size_t i = 0; i < json_array_size(a) && i < most; i++)
		fields_from_json(f, json_array_get(a, i), grow(first, n, size));
}
