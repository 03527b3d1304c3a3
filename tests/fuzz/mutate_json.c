// SPDX-License-Identifier: GPL-2.0-only
/* Another JSON text than this one, by one value: what changes bytes alone spends its time on commas. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* A place of a value: in an object by its key, in an array by its index. */
struct place {
	json_t *in, *value; /* borrowed */
	const char *key;
	size_t index;
};

struct search {
	unsigned int *seed;
	uint32_t seen;
	struct place found;
};

static void consider(struct search *s, const struct place *p)
{
	if (!fuzz_random(s->seed, ++s->seen))
		s->found = *p;
}

static void walk(struct search *s, json_t *in)
{
	struct place p = { .in = in };

	if (json_is_object(in)) {
		json_object_foreach(in, p.key, p.value)
		{
			consider(s, &p);
			walk(s, p.value);
		}
		return;
	}
	json_array_foreach(in, p.index, p.value)
	{
		consider(s, &p);
		walk(s, p.value);
	}
}

/* Each value is as likely as any other. */
static struct place some_place(json_t *root, unsigned int *seed)
{
	struct search s = { .seed = seed };

	walk(&s, root);
	return s.found;
}

static json_t *some_number(unsigned int *seed)
{
	static const json_int_t edge[] = { 0,	      1,	 -1,	    63,	       64,
					   4095,      4096,	 INT_MAX,   INT_MIN,   UINT_MAX,
					   1ll << 32, 1ll << 53, LLONG_MAX, LLONG_MIN, 999999999 };
	json_int_t v = edge[fuzz_random(seed, sizeof(edge) / sizeof(edge[0]))];

	switch (fuzz_random(seed, 4)) {
	case 0: return json_integer((json_int_t)fuzz_random(seed, 1u << 20));
	case 1: return json_real((double)v / 3);
	default: return json_integer(v);
	}
}

static json_t *some_string(unsigned int *seed)
{
	static const char *const hostile[] = { "",     "../../x",   "\x1b[31m", "<b>&\"'",
					       "%s%n", "a b\tc\nd", "\xc3\xa9", "0" };
	char text[4097];
	size_t n = 1ul << fuzz_random(seed, 13);

	if (fuzz_random(seed, 2))
		return json_string(hostile[fuzz_random(seed, sizeof(hostile) / sizeof(hostile[0]))]);
	memset(text, 'a' + (int)fuzz_random(seed, 26), n);
	return json_stringn(text, n);
}

/* One level below another, as often as a reader may follow it or not. */
static json_t *nested(json_t *v, unsigned int *seed)
{
	uint32_t levels = 1u << fuzz_random(seed, 12);

	v = json_deep_copy(v);
	for (uint32_t i = 0; i < levels; i++)
		v = fuzz_random(seed, 2) ? json_pack("[o]", v) : json_pack("{s:o}", "a", v);
	return v;
}

static json_t *another(json_t *root, json_t *v, unsigned int *seed)
{
	switch (fuzz_random(seed, 8)) {
	case 0: return json_null();
	case 1: return json_boolean(fuzz_random(seed, 2));
	case 2: return fuzz_random(seed, 2) ? json_array() : json_object();
	case 3: return nested(v, seed);
	case 4: return json_deep_copy(some_place(root, seed).value);
	case 5: return some_string(seed);
	default: return some_number(seed);
	}
}

static void put(const struct place *p, json_t *v)
{
	if (p->key)
		json_object_set_new_nocheck(p->in, p->key, v);
	else
		json_array_set_new(p->in, p->index, v);
}

static void take_out(const struct place *p)
{
	if (p->key)
		json_object_del(p->in, p->key);
	else
		json_array_remove(p->in, p->index);
}

/* Several times what stands there, in a list. */
static void repeat(const struct place *p, unsigned int *seed)
{
	uint32_t times = 1u << fuzz_random(seed, 8);

	if (p->key)
		return;
	for (uint32_t i = 0; i < times; i++)
		json_array_append_new(p->in, json_deep_copy(p->value));
}

static void change(json_t *root, unsigned int *seed)
{
	struct place p = some_place(root, seed);

	if (!p.in)
		return;
	switch (fuzz_random(seed, 8)) {
	case 0: take_out(&p); break;
	case 1: repeat(&p, seed); break;
	default: put(&p, another(root, p.value, seed)); break;
	}
}

size_t fuzz_mutate_json(uint8_t *text, size_t n, size_t most, unsigned int seed)
{
	json_t *root = fuzz_random(&seed, 8) ? json_loadb((const char *)text, n, 0, NULL) : NULL;
	uint32_t times = 1 + fuzz_random(&seed, 3);
	size_t length;
	char *after;

	if (!root)
		return fuzz_mutate_bytes(text, n, most);
	while (times--)
		change(root, &seed);
	after = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	length = after ? strlen(after) : 0;
	if (!length || length > most) {
		free(after);
		return fuzz_mutate_bytes(text, n, most);
	}
	memcpy(text, after, length);
	free(after);
	return length;
}
