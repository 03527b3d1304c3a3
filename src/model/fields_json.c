// SPDX-License-Identifier: GPL-2.0-only
#include "model/fields_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* ---- to JSON ---- */

static void push(json_t *array, json_t *v)
{
	if (json_array_append_new(array, xmust(v)))
		xmust(NULL);
}

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
	return j;
}

static json_t *strv_out(char *const *v)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; v[i]; i++)
		push(a, string_out(v[i]));
	return a;
}

static json_t *u32s_out(const uint32_t *v, size_t n)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		push(a, json_integer(v[i]));
	return a;
}

static json_t *field_out(const struct field *f, const void *s)
{
	switch (f->type) {
	case FIELD_STRING:
	case FIELD_TEXT: return string_out(field_text(f, s));
	case FIELD_BOOL: return json_boolean(field_number(f, s));
	case FIELD_STRV: return strv_out(field_texts(f, s));
	case FIELD_U32S: return u32s_out((const void *)((const char *)s + f->offset), f->size / sizeof(uint32_t));
	default: return json_integer((json_int_t)field_number(f, s));
	}
}

json_t *fields_to_json(const struct field *f, const void *s)
{
	json_t *o = xmust(json_object());

	for (; f->key; f++)
		if (field_is_known(f, s) && json_object_set_new(o, f->key, xmust(field_out(f, s))))
			xmust(NULL);
	return o;
}

json_t *fields_to_json_array(const struct field *f, const void *first, size_t n, size_t size)
{
	json_t *a = xmust(json_array());

	for (size_t i = 0; i < n; i++)
		push(a, fields_to_json(f, (const char *)first + i * size));
	return a;
}

/* ---- from JSON ---- */

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL when it is no string, *good: a whole one. Owned by the caller. */
static char *string_in(const json_t *j, bool *good)
{
	const char *s = json_string_value(j), *hex = json_string_value(json_object_get(j, "hex"));
	char *out;
	size_t n = 0;

	*good &= s || hex;
	if (s || !hex)
		return xstrdup(s);
	out = xcalloc(strlen(hex) / 2 + 1, 1);
	for (; hex[0] && hex[1] && nibble(hex[0]) >= 0 && nibble(hex[1]) >= 0; hex += 2)
		out[n++] = (char)(nibble(hex[0]) << 4 | nibble(hex[1]));
	*good &= !*hex && strlen(out) == n;
	return out;
}

static bool text_in(const json_t *j, char *to, size_t size)
{
	bool good = true;
	char *s = string_in(j, &good);

	if (s)
		good &= (size_t)snprintf(to, size, "%s", s) < size;
	free(s);
	return good;
}

static char **strv_in(const json_t *j, bool *good)
{
	size_t entries = json_array_size(j), n = 0;
	char **v = entries ? xcalloc(entries + 1, sizeof(*v)) : NULL;

	*good &= json_is_array(j);
	for (size_t i = 0; i < entries; i++) {
		v[n] = string_in(json_array_get(j, i), good);
		n += v[n] != NULL;
	}
	if (n)
		return v;
	free(v);
	return NULL;
}

static bool number_in(const json_t *j, json_int_t most, json_int_t *to)
{
	*to = json_integer_value(j);
	return json_is_integer(j) && *to >= 0 && *to <= most;
}

static bool u32s_in(const json_t *j, uint32_t *to, size_t n)
{
	bool good = json_is_array(j) && json_array_size(j) <= n;
	json_int_t v;

	for (size_t i = 0; i < n; i++) {
		good &= i >= json_array_size(j) || number_in(json_array_get(j, i), UINT32_MAX, &v);
		to[i] = (uint32_t)json_integer_value(json_array_get(j, i));
	}
	return good;
}

static bool field_in(const struct field *f, const json_t *j, void *p)
{
	bool good = true;
	json_int_t v;

	switch (f->type) {
	case FIELD_STRING: *(char **)p = string_in(j, &good); break;
	case FIELD_TEXT: good = text_in(j, p, f->size); break;
	case FIELD_U64: good = number_in(j, INT64_MAX, &v), *(uint64_t *)p = (uint64_t)v; break;
	case FIELD_U32: good = number_in(j, UINT32_MAX, &v), *(uint32_t *)p = (uint32_t)v; break;
	case FIELD_INT: good = number_in(j, INT32_MAX, &v), *(int *)p = (int)v; break;
	case FIELD_BOOL: good = json_is_boolean(j), *(bool *)p = json_is_true(j); break;
	case FIELD_STRV: *(char ***)p = strv_in(j, &good); break;
	case FIELD_U32S: good = u32s_in(j, p, f->size / sizeof(uint32_t)); break;
	}
	return good;
}

bool fields_from_json(const struct field *f, const json_t *o, void *s)
{
	bool good = json_is_object(o);

	for (; f->key; f++) {
		const json_t *v = json_object_get(o, f->key);
		bool may_miss = f->type == FIELD_STRING || f->type == FIELD_STRV || f->known != FIELD_ALWAYS;
		bool fits = v ? field_in(f, v, (char *)s + f->offset) : may_miss;

		if (f->known > 0)
			*((bool *)s + f->known - 1) = v && fits;
		good &= fits;
	}
	return good;
}

bool fields_from_json_array(const struct field *f, const json_t *a, void **first, size_t *n, size_t size)
{
	bool good = json_is_array(a);

	for (size_t i = 0; i < json_array_size(a); i++)
		good &= fields_from_json(f, json_array_get(a, i), grow(first, n, size));
	return good;
}
