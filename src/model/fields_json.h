/* SPDX-License-Identifier: GPL-2.0-only */
/* fields_json.h - a struct as a JSON object, and back, by the table of its fields. */
#ifndef BT_MODEL_FIELDS_JSON_H
#define BT_MODEL_FIELDS_JSON_H

#include <jansson.h>

#include "model/fields.h"

/* What is known; a string that is not UTF-8 becomes {"hex": "..."}. The results are the caller's. */
json_t *fields_to_json(const struct field *f, const void *s);
json_t *fields_to_json_array(const struct field *f, const void *first, size_t n, size_t size);

/*
 * From a file that anybody may have written. A key that is missing leaves its field as it is. False: a number or a text is missing, or a
 * value is of another type, or does not fit: then the field has what comes nearest.
 */
bool fields_from_json(const struct field *f, const json_t *o, void *s);
/* Adds what the array has to one that grow() made. */
bool fields_from_json_array(const struct field *f, const json_t *a, void **first, size_t *n, size_t size);

#endif
