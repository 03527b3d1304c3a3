// SPDX-License-Identifier: GPL-2.0-only
/*
 * call_log.c - how every call's slices and every request are kept: as numbers of as many bytes as they need (LEB128), times
 * by their distance. A call takes some 70 bytes in place of 300, a request 45 in place of 216.
 */
#include <stdlib.h>

#include "util/mem.h"
#include "model/report.h"

/* Room for one more of `size` bytes; half as much again, so that a long run isn't copied over and over. */
static void *room(void *array, size_t n, size_t *cap, size_t more, size_t size)
{
	if (n + more <= *cap)
		return array;
	*cap = *cap ? *cap + *cap / 2 : 4096;
	return xrealloc(array, *cap * size);
}

/* ---- numbers ---- */

#define NUMBER_MAX 10		     /* bytes */
#define ITEM_MAX   (22 * NUMBER_MAX) /* a request: the most that is written at once, but for a ledger */

static void put(struct report_detail *d, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		d->packed[d->n_packed++] = (uint8_t)(v | 0x80);
	d->packed[d->n_packed++] = (uint8_t)v;
}

static uint64_t get(const uint8_t **at)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
}

/* From one time to another, which is nearly always the later one. */
static void put_distance(struct report_detail *d, uint64_t from, uint64_t to)
{
	uint64_t v = to - from;

	put(d, v >> 63 ? ~v << 1 | 1 : v << 1);
}

static uint64_t get_distance(const uint8_t **at, uint64_t from)
{
	uint64_t v = get(at);

	return from + (v & 1 ? ~(v >> 1) : v >> 1);
}

static uint32_t begin_item(struct report_detail *d, size_t most)
{
	d->packed = room(d->packed, d->n_packed, &d->cap_packed, most, 1);
	return (uint32_t)d->n_packed;
}

/* ---- calls ---- */

static void put_sums(struct report_detail *d, const struct ledger *l)
{
	enum cause order[CAUSE_COUNT];
	size_t n = ledger_causes(l, order);

	put(d, n);
	for (size_t i = 0; i < n; i++) {
		put(d, order[i]);
		put(d, l->ns[order[i]]);
	}
}

void report_detail_add_call(struct report_detail *d, const struct detail_call *c, const struct ledger *sums)
{
	struct detail_call *new;

	d->call = room(d->call, d->n_calls, &d->cap_calls, 1, sizeof(*d->call));
	new = &d->call[d->n_calls++];
	*new = *c;
	new->n_slices = 0;
	new->summed = sums != NULL;
	new->at = begin_item(d, 2 * NUMBER_MAX * CAUSE_COUNT);
	if (sums)
		put_sums(d, sums);
}

void report_detail_add_slice(struct report_detail *d, const struct detail_slice *s)
{
	begin_item(d, ITEM_MAX);
	put(d, s->cause);
	put(d, s->via);
	put(d, s->device);
	put(d, s->ns);
	d->call[d->n_calls - 1].n_slices++;
	d->n_slices++;
}

struct detail_slices detail_slices(const struct report_detail *d, const struct detail_call *c)
{
	return (struct detail_slices){ .at = d->packed ? d->packed + c->at : NULL, .left = c->n_slices };
}

bool detail_next_slice(struct detail_slices *from, struct detail_slice *out)
{
	if (!from->left)
		return false;
	from->left--;
	out->cause = (enum cause)get(&from->at);
	out->via = (uint32_t)get(&from->at);
	out->device = (uint32_t)get(&from->at);
	out->ns = get(&from->at);
	return true;
}

void detail_ledger(const struct report_detail *d, const struct detail_call *c, struct ledger *out)
{
	struct detail_slices from = detail_slices(d, c);
	struct detail_slice s;

	*out = (struct ledger){ 0 };
	while (detail_next_slice(&from, &s))
		out->ns[s.cause] += s.ns;
	if (!c->summed)
		return;
	for (uint64_t n = get(&from.at); n; n--) {
		uint64_t cause = get(&from.at);

		out->ns[cause] = get(&from.at);
	}
}

/* ---- requests ---- */

static void put_step(struct report_detail *d, uint64_t from, const struct detail_step *s)
{
	if (!s->happened)
		return;
	put_distance(d, from, s->begin_ns);
	put_distance(d, s->begin_ns, s->issue_ns);
	put_distance(d, s->issue_ns, s->done_ns);
	put(d, s->in_flight);
}

static void get_step(const uint8_t **at, uint64_t from, struct detail_step *s)
{
	s->happened = true;
	s->begin_ns = get_distance(at, from);
	s->issue_ns = get_distance(at, s->begin_ns);
	s->done_ns = get_distance(at, s->issue_ns);
	s->in_flight = (uint32_t)get(at);
}

enum { SEQUENCE = 1, THROTTLED = 2, PRE = 4, DATA = 8, POST = 16 };

static uint64_t flags_of(const struct detail_request *q)
{
	return (q->sequence ? SEQUENCE : 0) | (q->throttled ? THROTTLED : 0) | (q->pre.happened ? PRE : 0) |
	       (q->data.happened ? DATA : 0) | (q->post.happened ? POST : 0);
}

void report_detail_add_request(struct report_detail *d, const struct detail_request *q)
{
	d->request_at = room(d->request_at, d->n_requests, &d->cap_requests, 1, sizeof(*d->request_at));
	d->request_at[d->n_requests++] = begin_item(d, ITEM_MAX);
	put(d, flags_of(q));
	put(d, q->class);
	put(d, q->begin_ns);
	put_distance(d, q->begin_ns, q->end_ns);
	put(d, q->sector);
	put(d, q->bytes);
	put(d, q->pid);
	put(d, q->tid);
	put(d, q->device);
	put(d, q->disk);
	put_step(d, q->begin_ns, &q->pre);
	put_step(d, q->begin_ns, &q->data);
	put_step(d, q->begin_ns, &q->post);
}

void detail_request(const struct report_detail *d, size_t i, struct detail_request *out)
{
	const uint8_t *at = d->packed + d->request_at[i];
	uint64_t flags = get(&at);

	*out = (struct detail_request){ .sequence = flags & SEQUENCE, .throttled = flags & THROTTLED };
	out->class = (enum op_class)get(&at);
	out->begin_ns = get(&at);
	out->end_ns = get_distance(&at, out->begin_ns);
	out->sector = get(&at);
	out->bytes = (uint32_t)get(&at);
	out->pid = (uint32_t)get(&at);
	out->tid = (uint32_t)get(&at);
	out->device = (uint32_t)get(&at);
	out->disk = (uint32_t)get(&at);
	if (flags & PRE)
		get_step(&at, out->begin_ns, &out->pre);
	if (flags & DATA)
		get_step(&at, out->begin_ns, &out->data);
	if (flags & POST)
		get_step(&at, out->begin_ns, &out->post);
}

/* ---- all ---- */

void report_detail_free(struct report_detail *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_names; i++)
		free(d->name[i]);
	free_all(d->name, d->call, d->request_at, d->packed, d);
}
