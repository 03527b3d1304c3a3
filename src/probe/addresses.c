// SPDX-License-Identifier: GPL-2.0-only
#include "probe/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "util/mem.h"

/* A function; its number is its index + 1. Symbols with the same address share one. */
struct range {
	uint64_t start, end;
};

struct addresses {
	struct range *range; /* by start */
	size_t n;
	uint64_t key[2];
	union {
		struct wire_head head;
		struct wire_sleep sleep;
		struct wire_request request;
		struct wire_work work;
	} fact;
};

/* ---- functions ---- */

static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* 0: in no function that means anything. */
static uint64_t number_of(const struct addresses *a, uint64_t address)
{
	size_t lo = 0, hi = a->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->range[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && (address < a->range[lo - 1].end || address == a->range[lo - 1].start) ? lo : 0;
}

static void sort_ranges(struct addresses *a, const struct kernel_symbol *symbols, size_t n)
{
	a->range = xcalloc(n, sizeof(*a->range));
	for (size_t i = 0; i < n; i++)
		a->range[i] = (struct range){ symbols[i].start, symbols[i].end };
	qsort(a->range, n, sizeof(*a->range), range_order);
	for (size_t i = 0; i < n; i++) {
		struct range *last = a->n ? &a->range[a->n - 1] : NULL;

		if (!last || last->start != a->range[i].start)
			a->range[a->n++] = a->range[i];
		else if (last->end < a->range[i].end)
			last->end = a->range[i].end;
	}
}

int addresses_new(struct kernel_symbol *symbols, size_t n, struct addresses **out, struct err *e)
{
	struct addresses *a = xcalloc(1, sizeof(*a));

	if (getrandom(a->key, sizeof(a->key), 0) != sizeof(a->key)) {
		free(a);
		return err_set(e, errno, EXIT_FAILED, "cannot get random numbers: %s", strerror(errno));
	}
	sort_ranges(a, symbols, n);
	for (size_t i = 0; i < n; i++) {
		bool empty = symbols[i].end <= symbols[i].start;

		symbols[i].start = number_of(a, symbols[i].start);
		symbols[i].end = symbols[i].start + !empty;
	}
	*out = a;
	return 0;
}

void addresses_free(struct addresses *a)
{
	if (!a)
		return;
	free(a->range);
	free(a);
}

/* ---- requests ---- */

static void sip_round(uint64_t v[4])
{
#define ROTATED(x, by) ((x) << (by) | (x) >> (64 - (by)))
	v[0] += v[1];
	v[2] += v[3];
	v[1] = ROTATED(v[1], 13) ^ v[0];
	v[3] = ROTATED(v[3], 16) ^ v[2];
	v[0] = ROTATED(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = ROTATED(v[3], 21) ^ v[0];
	v[1] = ROTATED(v[1], 17) ^ v[2];
	v[2] = ROTATED(v[2], 32);
#undef ROTATED
}

/*
 * SipHash-2-4 of one word: from a hash that the key alone keeps, no address can be told. The upper half of the address space is
 * the kernel's: without the top bit none looks as if it were one.
 */
static uint64_t hash(const struct addresses *a, uint64_t address)
{
	uint64_t v[4] = { a->key[0] ^ 0x736f6d6570736575, a->key[1] ^ 0x646f72616e646f6d,
			  a->key[0] ^ 0x6c7967656e657261, a->key[1] ^ 0x7465646279746573 };
	const uint64_t words[] = { address, 8ull << 56 };

	for (int i = 0; i < 2; i++) {
		v[3] ^= words[i];
		sip_round(v);
		sip_round(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return (v[0] ^ v[1] ^ v[2] ^ v[3]) >> 1;
}

/* What wire_sleep and wire_work say of who ended or queued them. */
static uint64_t key_of(const struct addresses *a, uint8_t how, uint64_t rq, uint64_t done)
{
	if (how == HOW_REQUEST)
		return hash(a, rq);
	return how == HOW_TASK && done == 1 ? rq : 0;
}

/* ---- facts ---- */

static void replace_in_sleep(const struct addresses *a, struct wire_sleep *s)
{
	s->rq = key_of(a, s->how, s->rq, s->done);
	for (unsigned int i = 0; i < WIRE_STACK; i++)
		s->stack[i] = i < s->stack_len ? number_of(a, s->stack[i]) : 0;
}

static void replace_in_work(const struct addresses *a, struct wire_work *w)
{
	w->rq = key_of(a, w->how, w->rq, w->done);
	w->function = number_of(a, w->function);
}

const struct wire_head *addresses_replace(struct addresses *a, const struct wire_head *fact)
{
	size_t size = fact->size < sizeof(a->fact) ? fact->size : sizeof(a->fact);

	if (fact->kind != WIRE_SLEEP && fact->kind != WIRE_REQUEST && fact->kind != WIRE_WORK)
		return fact;
	memset(&a->fact, 0, sizeof(a->fact));
	memcpy(&a->fact, fact, size);
	a->fact.head.size = (uint16_t)size;
	switch (fact->kind) {
	case WIRE_SLEEP: replace_in_sleep(a, &a->fact.sleep); break;
	case WIRE_REQUEST: a->fact.request.rq = hash(a, a->fact.request.rq); break;
	default: replace_in_work(a, &a->fact.work);
	}
	return &a->fact.head;
}
