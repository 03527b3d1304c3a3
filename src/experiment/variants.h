/* SPDX-License-Identifier: GPL-2.0-only */
/* variants.h - what is compared: variants out of the words of --set, the places that they need, and setting one of them. */
#ifndef BT_EXPERIMENT_VARIANTS_H
#define BT_EXPERIMENT_VARIANTS_H

#include "experiment/tunable.h"

struct variant_set {
	const struct key_row *row;
	char *value;
};

struct variant {
	char *name; /* "barrier=0,commit=30", as it was given; "as it is" */
	struct variant_set *set;
	size_t n; /* 0: as it is */
};

struct plan {
	struct variant *variant; /* the first one is what the others are compared with */
	size_t n;
	struct place *place; /* in the order in which they are set */
	size_t n_places;
};

void plan_free(struct plan *p);

/* A word of --set: "KEY=VALUE" or "KEY=VALUE,KEY2=VALUE2". */
int plan_add(struct plan *p, const char *word, struct err *e);

/* One variant alone is compared with what is. */
void plan_complete(struct plan *p);

/* NULL: none needs --unsafe. */
const struct key_row *plan_unsafe(const struct plan *p);

/* Finds the places as they are now, and asks each whether it takes the values. */
int plan_find(struct plan *p, const struct place_target *t, struct err *e);

/* Sets this variant; what it does not name is as it was. */
int plan_apply(const struct plan *p, const struct variant *v, struct err *e);

/* What it costs beyond time, owned by the caller; NULL: nothing. */
char *variant_risk(const struct variant *v);

/* The value that it sets the key to; NULL: none. */
const char *variant_value(const struct variant *v, const struct key_row *row);

/* The order of the runs: round after round, every second one backwards. At run i of a round: which variant. */
size_t plan_turn(const struct plan *p, unsigned int round, size_t i);

#endif
