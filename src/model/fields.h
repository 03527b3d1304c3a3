/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fields.h - a struct's fields as a table: their names, types, places, and whether each is known. What is written of a struct and what
 * is read again go by the same rows.
 *
 *	static const struct field disk_fields[] = { FIELD(U32, disk, major), FIELD(TEXT, disk, name), FIELDS_END };
 */
#ifndef BT_MODEL_FIELDS_H
#define BT_MODEL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_STRING, /* char *, owned by the struct; NULL: no key */
	FIELD_TEXT,   /* a char array; what does not fit is cut off */
	FIELD_U64,
	FIELD_U32,
	FIELD_INT,
	FIELD_BOOL,
	FIELD_STRV, /* char **, ended by NULL, owned by the struct; NULL: no key */
	FIELD_U32S, /* an array of uint32_t */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset, size; /* in bytes */
	int known;	     /* FIELD_ALWAYS, FIELD_IF_SET, or more: where a bool stands that says so, and 1 */
	int holds;	     /* what a string holds, for those who ask: the table's own enum */
};

#define FIELD_ALWAYS 0
#define FIELD_IF_SET (-1) /* a number: unless it is 0 */

#define FIELD_ROW(holds_, known_, type_, struct_, field_) \
	{ \
#field_, FIELD_##type_, offsetof(struct struct_, field_), sizeof(((struct struct_ *)0)->field_), \
			known_, holds_ \
	}
#define FIELD(type_, struct_, field_)	  FIELD_ROW(0, FIELD_ALWAYS, type_, struct_, field_)
#define FIELD_SET(type_, struct_, field_) FIELD_ROW(0, FIELD_IF_SET, type_, struct_, field_)
#define FIELD_IF(flag_, type_, struct_, field_) \
	FIELD_ROW(0, offsetof(struct struct_, flag_) + 1, type_, struct_, field_)
#define FIELD_THAT(holds_, type_, struct_, field_) FIELD_ROW(holds_, FIELD_ALWAYS, type_, struct_, field_)
#define FIELDS_END \
	{ \
		NULL, FIELD_STRING, 0, 0, 0, 0 \
	}

/* Is it known? Of strings NULL is not. */
bool field_is_known(const struct field *f, const void *s);
/* A number or a bool. */
uint64_t field_number(const struct field *f, const void *s);
/* A string or a text. */
const char *field_text(const struct field *f, const void *s);
char *const *field_texts(const struct field *f, const void *s);

#endif
