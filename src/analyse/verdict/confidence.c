// SPDX-License-Identifier: GPL-2.0-only
/*
 * confidence.c - how sure a class is. Two things can make it another one: that other calls might as well have come (the bootstrap: draw as
 * many calls from those that came, again and again, and see how often the class is the same), and that a figure is near a threshold.
 */
#include <string.h>

#include "analyse/verdict/facts.h"

#define DRAWS 1000
/* Below, what came might as well have given another class. */
#define SURE 0.9
/* The same load, run again, gives figures that are off by about so much. */
#define NEAR 0.1

/* ---- other calls ---- */

/* Marsaglia's xorshift, from the same seed each time: the same report gives the same bytes. */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void draw(const struct report_sync *s, uint64_t *seed, struct call_sums *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < s->n_samples; i++)
		call_sums_add(out, &s->sample[next_random(seed) % s->n_samples]);
}

struct votes {
	struct {
		const char *class;
		unsigned int n;
	} of[32]; /* more than there are classes */
};

static void vote(struct votes *v, const char *class)
{
	size_t i = 0;

	while (v->of[i].class && strcmp(v->of[i].class, class))
		i++;
	v->of[i].class = class;
	v->of[i].n++;
}

static unsigned int votes_for(const struct votes *v, const char *class)
{
	for (size_t i = 0; v->of[i].class; i++)
		if (!strcmp(v->of[i].class, class))
			return v->of[i].n;
	return 0;
}

/* That there is too little is nothing that could be said instead. */
static bool is_other(const char *other, const char *class)
{
	return other && strcmp(other, class) && strcmp(other, "too-little-data");
}

/* The class with most votes but for one; NULL: there is none. */
static const char *next_after(const struct votes *v, const char *class)
{
	const char *next = NULL;
	unsigned int most = 0;

	for (size_t i = 0; v->of[i].class; i++)
		if (is_other(v->of[i].class, class) && v->of[i].n > most) {
			next = v->of[i].class;
			most = v->of[i].n;
		}
	return next;
}

static void draw_classes(const struct facts *f, struct votes *v)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct call_sums calls;
	struct report_sync s;
	struct facts drawn;
	const char *class;

	memset(v, 0, sizeof(*v));
	for (int i = 0; i < DRAWS; i++) {
		draw(f->s, &seed, &calls);
		facts_with_calls(f, &calls, &s, &drawn);
		class = verdict_class(&drawn);
		if (class)
			vote(v, class);
	}
}

/* ---- other figures ---- */

static uint64_t scaled(uint64_t n, double times)
{
	return (uint64_t)((double)n * times + 0.5);
}

/* What is held against a threshold. */
enum figure { FIRST_GROUP, SYNC_TIME, UNSAFE_CALLS, QUEUE_DEPTH, FLUSH_TIME, FIGURES };

/* The class if a figure were `times` what it is. */
static const char *class_when(const struct facts *f, enum figure figure, double times)
{
	struct report_sync s = *f->s;
	struct facts near = *f;

	near.s = &s;
	switch (figure) {
	case FIRST_GROUP: near.ns[f->first] = scaled(f->ns[f->first], times); break;
	case SYNC_TIME: s.total_ns = scaled(s.total_ns, times); break;
	case UNSAFE_CALLS: s.unsafe = scaled(s.unsafe, times); break;
	case QUEUE_DEPTH: near.ahead *= times; break;
	default: near.flush_mean = scaled(f->flush_mean, times);
	}
	if (figure == QUEUE_DEPTH || figure == FLUSH_TIME)
		facts_of_queue(&near);
	return verdict_class(&near);
}

/* The first other class that a figure is near to; NULL: there is none. */
static const char *near_class(const struct facts *f, const char *class)
{
	for (int figure = 0; figure < FIGURES; figure++)
		for (int sign = -1; sign <= 1; sign += 2) {
			const char *other = class_when(f, (enum figure)figure, 1 + sign * NEAR);

			if (is_other(other, class))
				return other;
		}
	return NULL;
}

void verdict_confidence(struct facts *f, struct report_verdict *v)
{
	struct votes votes;

	if (strcmp(v->scope, "asked") || !f->s->count || !strcmp(v->class, "too-little-data"))
		return;
	if (f->unsafe == UNSAFE_NOBARRIER) { /* one call has shown it: no other takes that back */
		v->confidence = 1;
		return;
	}
	v->second = near_class(f, v->class);
	if (f->s->n_samples) {
		draw_classes(f, &votes);
		v->confidence = (double)votes_for(&votes, v->class) / DRAWS;
		if (v->confidence < SURE && next_after(&votes, v->class))
			v->second = next_after(&votes, v->class);
	}
	f->near = v->second;
}
