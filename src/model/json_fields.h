/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json_fields.h - a struct as a JSON object, by a table of its fields that is read in both directions: what is written and what is
 * read can't differ.
 *
 *	static const struct json_field disk_fields[] = { JSON_FIELD(U32, disk, major), JSON_FIELD(TEXT, disk, name), JSON_FIELDS_END };
 */
#ifndef BT_MODEL_JSON_FIELDS_H
#define BT_MODEL_JSON_FIELDS_H

#include <jansson.h>
#include <stddef.h>

enum json_field_type {
	JSON_FIELD_STRING, /* char *, owned by the struct; NULL: no key */
	JSON_FIELD_TEXT,   /* a char array; what does not fit is cut off */
	JSON_FIELD_U64,
	JSON_FIELD_U32,
	JSON_FIELD_INT,
	JSON_FIELD_BOOL,
	JSON_FIELD_STRV, /* char **, ended by NULL, owned by the struct; NULL: no key */
	JSON_FIELD_U32S, /* an array of uint32_t */
};

struct json_field {
	const char *key;
	enum json_field_type type;
	size_t offset, size; /* in bytes */
	int holds;	     /* what a string holds, for those who ask: the table's own enum */
};

#define JSON_FIELD_THAT(holds_, type_, struct_, field_) \
	{ \
#field_, JSON_FIELD_##type_, offsetof(struct struct_, field_), sizeof(((struct struct_ *)0)->field_), holds_ \
	}
#define JSON_FIELD(type_, struct_, field_) JSON_FIELD_THAT(0, type_, struct_, field_)
#define JSON_FIELDS_END \
	{ \
		NULL, JSON_FIELD_STRING, 0, 0, 0 \
	}

/* The results are the caller's. Strings that are not UTF-8 become {"hex": "..."}. */
json_t *json_fields_out(const struct json_field *f, const void *s);
json_t *json_fields_out_all(const struct json_field *f, const void *first, size_t n, size_t size);

/* What is missing, or of another type, is left as it is: from a file that anybody may have written. */
void json_fields_in(const struct json_field *f, const json_t *o, void *s);
/* Adds what the array has, `most` at most, to one that grow() made. */
void json_fields_in_all(const struct json_field *f, const json_t *a, size_t most, void **first, size_t *n, size_t size);

#endif
