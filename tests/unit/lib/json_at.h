/* SPDX-License-Identifier: GPL-2.0-only */
/* json_at.h - what stands where in a JSON document. */
#ifndef JSON_AT_H
#define JSON_AT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "tap.h"

/* "sync/by_file/0/path", with '/' because causes have dots; NULL when a step is missing */
static inline json_t *at(json_t *j, const char *path)
{
	char key[64];

	while (j && *path) {
		size_t n = strcspn(path, "/");

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		if (!json_is_array(j))
			j = json_object_get(j, key);
		else
			j = *key <= '9' ? json_array_get(j, strtoul(key, NULL, 10)) : NULL;
		path += n + (path[n] == '/');
	}
	return j;
}

static inline json_int_t number(json_t *j, const char *path)
{
	json_t *v = at(j, path);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

static inline const char *str(json_t *j, const char *path)
{
	const char *s = json_string_value(at(j, path));

	return s ? s : "";
}

/* "no value, no key": nothing null, and no empty object, array or histogram, anywhere */
static inline bool filled(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_null(j) || (json_is_object(j) && !json_object_size(j)) || (json_is_array(j) && !json_array_size(j)))
		return false;
	if (at(j, "buckets") && number(j, "count") <= 0)
		return false;
	json_object_foreach(j, key, v)
	{
		if (!filled(v))
			return false;
	}
	json_array_foreach(j, i, v)
	{
		if (!filled(v))
			return false;
	}
	return true;
}

/* Is each key of the object one of these words? keys: " one two " */
static inline bool has_only(json_t *j, const char *keys)
{
	const char *key;
	json_t *v;

	json_object_foreach(j, key, v)
	{
		char *word = xasprintf(" %s ", key);
		bool known = strstr(keys, word);

		free(word);
		if (!known) {
			diag("unexpected key %s", key);
			return false;
		}
	}
	return true;
}

#endif
