// SPDX-License-Identifier: GPL-2.0-only
#include "model/fields.h"

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
