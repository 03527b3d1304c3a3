// SPDX-License-Identifier: GPL-2.0-only
#include "experiment/variants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/edit_distance.h"

#define NEAR_ENOUGH 3 /* edits from which a hint would only puzzle */

static void variant_free(struct variant *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->set[i].value);
	free(v->set);
	free(v->name);
}

void plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		variant_free(&p->variant[i]);
	free(p->variant);
	places_free_all(p->place, p->n_places);
	*p = (struct plan){ 0 };
}

/* ---- words ---- */

static int unknown_key(const char *name, size_t len, struct err *e)
{
	const struct key_row *near = NULL;
	size_t least = NEAR_ENOUGH;
	struct buf b = { 0 };
	int err;

	for (const struct key_row *row = key_rows; row->name; row++) {
		size_t far = row->hidden ? SIZE_MAX : near_distance(name, len, row->name);

		if (far < least) {
			least = far;
			near = row;
		}
		if (!row->hidden)
			buf_printf(&b, "%s%s", b.len ? ", " : "", row->name);
	}
	if (near)
		err = err_set(e, EINVAL, EXIT_USAGE, "no key '%.*s': did you mean %s?", (int)len, name, near->name);
	else
		err = err_set(e, EINVAL, EXIT_USAGE, "no key '%.*s'; there are %s", (int)(len < 40 ? len : 40), name,
			      b.data);
	buf_free(&b);
	return err;
}

static int add_set(struct variant *v, const char *word, size_t len, struct err *e)
{
	const char *is = memchr(word, '=', len);
	const struct key_row *row;
	struct variant_set *s;
	char *text, *value;

	if (!is || is == word)
		return err_set(e, EINVAL, EXIT_USAGE, "--set %.*s: write KEY=VALUE", (int)len, word);
	row = key_find(word, (size_t)(is - word));
	if (!row || row->hidden)
		return unknown_key(word, (size_t)(is - word), e);
	if (variant_value(v, row))
		return err_set(e, EINVAL, EXIT_USAGE, "--set %s: %s stands there twice", v->name, row->name);
	text = xasprintf("%.*s", (int)(word + len - is - 1), is + 1);
	value = key_value(row, text, e);
	free(text);
	if (!value)
		return -EINVAL;
	s = grow((void **)&v->set, &v->n, sizeof(*s));
	*s = (struct variant_set){ row, value };
	return 0;
}

int plan_add(struct plan *p, const char *word, struct err *e)
{
	struct variant v = { .name = xstrdup(word) };
	int err = 0;

	for (const char *at = word; !err; at++) {
		size_t n = strcspn(at, ",");

		err = add_set(&v, at, n, e);
		at += n;
		if (!*at)
			break;
	}
	if (err)
		variant_free(&v);
	else
		*(struct variant *)grow((void **)&p->variant, &p->n, sizeof(v)) = v;
	return err;
}

void plan_complete(struct plan *p)
{
	struct variant only;

	if (p->n != 1)
		return;
	only = p->variant[0];
	p->variant[0] = (struct variant){ .name = xstrdup("as it is") };
	*(struct variant *)grow((void **)&p->variant, &p->n, sizeof(only)) = only;
}

/* ---- asking ---- */

const char *variant_value(const struct variant *v, const struct key_row *row)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->set[i].row == row)
			return v->set[i].value;
	return NULL;
}

static bool uses(const struct plan *p, const struct key_row *row)
{
	for (size_t i = 0; i < p->n; i++)
		if (variant_value(&p->variant[i], row))
			return true;
	return false;
}

const struct key_row *plan_unsafe(const struct plan *p)
{
	for (const struct key_row *row = key_rows; row->name; row++)
		if (row->unsafe && uses(p, row))
			return row;
	return NULL;
}

char *variant_risk(const struct variant *v)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		const struct key_row *row = v->set[i].row;

		if (row->risk && !strcmp(v->set[i].value, row->risk_at))
			buf_printf(&b, "%s%s", b.len ? "; " : "", row->risk);
	}
	return b.data;
}

size_t plan_turn(const struct plan *p, unsigned int round, size_t i)
{
	return round % 2 ? p->n - 1 - i : i;
}

/* ---- places ---- */

static int check_offers(const struct plan *p, struct err *e)
{
	int err = 0;

	for (size_t v = 0; v < p->n; v++)
		for (size_t i = 0; i < p->n_places && !err; i++) {
			const char *value = variant_value(&p->variant[v], p->place[i].row);

			if (value)
				err = place_offers(&p->place[i], value, e);
		}
	return err;
}

int plan_find(struct plan *p, const struct place_target *t, struct err *e)
{
	int err = 0;

	for (const struct key_row *row = key_rows; row->name && !err; row++)
		if (uses(p, row))
			err = places_find(row, t, &p->place, &p->n_places, e);
	return err ? err : check_offers(p, e);
}

/* Is what it goes with another one in this variant than before, so that the kernel chooses? */
static bool is_left(const struct plan *p, const struct variant *v, const struct place *of)
{
	const struct key_row *row = of->row->left ? key_find(of->row->with, strlen(of->row->with)) : NULL;
	const char *value = row ? variant_value(v, row) : NULL;

	for (size_t i = 0; value && i < p->n_places; i++)
		if (p->place[i].row == row && !strcmp(p->place[i].unit, of->unit))
			return strcmp(p->place[i].before, value);
	return false;
}

int plan_apply(const struct plan *p, const struct variant *v, struct err *e)
{
	int err = 0;

	for (size_t i = 0; i < p->n_places && !err; i++) {
		const struct place *place = &p->place[i];
		const char *value = variant_value(v, place->row);

		if (!value && is_left(p, v, place))
			continue;
		if (place_fate(place) != PLACE_THERE) {
			char *name = place_name(place);

			err = err_set(e, ENODEV, EXIT_FAILED, "%s is gone", name);
			free(name);
		} else {
			err = place_write(place, value ? value : place->before, e);
		}
	}
	return err;
}
