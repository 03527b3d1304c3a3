// SPDX-License-Identifier: GPL-2.0-only
/* counts_codec.c - the contents of WIRE_COUNTS: numbers of seven bits a byte, lowest first, the top bit set but in the last. */
#include <errno.h>
#include <string.h>

#include "recording/recording.h"

#define VARINT_MAX	10
#define COUNTS_INTERVAL 1
#define SUMS		(sizeof(struct wire_view) / sizeof(uint64_t))

static void put_number(struct buf *out, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	buf_add(out, bytes, n);
}

static void put_hist(struct buf *out, const struct hist *h)
{
	unsigned int used = 0, last = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		used += h->bucket[i] != 0;
	put_number(out, h->count);
	put_number(out, h->sum);
	put_number(out, h->min);
	put_number(out, h->max);
	put_number(out, used);
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		put_number(out, i - last);
		put_number(out, h->bucket[i]);
		last = i;
	}
}

static bool cell_is_zero(const struct cell_counts *c)
{
	static const struct cell_counts zero;

	return !memcmp(c, &zero, sizeof(zero));
}

void recording_counts_encode(uint32_t view, bool interval, const struct view_counts *v, struct buf *out)
{
	const uint64_t *sums = (const uint64_t *)&v->sums;
	unsigned int used = 0;

	put_number(out, view);
	put_number(out, interval ? COUNTS_INTERVAL : 0);
	put_number(out, SUMS);
	for (size_t i = 0; i < SUMS; i++)
		put_number(out, sums[i]);
	for (unsigned int i = 0; i < WIRE_CELLS; i++)
		used += !cell_is_zero(&v->cell[i]);
	put_number(out, used);
	for (unsigned int i = 0; i < WIRE_CELLS; i++) {
		const struct cell_counts *c = &v->cell[i];

		if (cell_is_zero(c))
			continue;
		put_number(out, i);
		put_number(out, c->count);
		put_number(out, c->bytes);
		put_hist(out, &c->queue);
		put_hist(out, &c->device);
		put_hist(out, &c->total);
	}
}

struct numbers {
	const uint8_t *p, *end;
	bool bad;
};

/* 0, and bad from then on, when there is none or it is more than 64 bits. */
static uint64_t get_number(struct numbers *n)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64 && n->p < n->end && !n->bad; shift += 7) {
		uint8_t byte = *n->p++;

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	n->bad = true;
	return 0;
}

/* Into nowhere when `h` is NULL. */
static void get_hist(struct numbers *n, struct hist *h)
{
	uint64_t count = get_number(n), sum = get_number(n), min = get_number(n), max = get_number(n);
	uint64_t used = get_number(n), index = 0;

	if (h) {
		h->count = count;
		h->sum = sum;
		h->min = min;
		h->max = max;
	}
	for (uint64_t i = 0; i < used && !n->bad; i++) {
		uint64_t step = get_number(n), value = get_number(n);

		if (step >= HIST_BUCKETS || (i && !step) || index + step >= HIST_BUCKETS) {
			n->bad = true;
			return;
		}
		index += step;
		if (h)
			h->bucket[index] = value;
	}
}

static void get_cell(struct numbers *n, struct cell_counts *c)
{
	uint64_t count = get_number(n), bytes = get_number(n);

	if (c) {
		c->count = count;
		c->bytes = bytes;
	}
	get_hist(n, c ? &c->queue : NULL);
	get_hist(n, c ? &c->device : NULL);
	get_hist(n, c ? &c->total : NULL);
}

/* The same walk to check (`out` is NULL) and to fill. */
static void get_view(struct numbers *n, struct view_counts *out)
{
	uint64_t count = get_number(n);

	for (uint64_t i = 0; i < count && !n->bad; i++) {
		uint64_t v = get_number(n);

		if (out && i < SUMS)
			((uint64_t *)&out->sums)[i] = v;
	}
	count = get_number(n);
	for (uint64_t i = 0, least = 0; i < count && !n->bad; i++) {
		uint64_t index = get_number(n);

		n->bad = n->bad || index < least || index == UINT64_MAX;
		least = index + 1;
		get_cell(n, out && index < WIRE_CELLS ? &out->cell[index] : NULL);
	}
}

static struct numbers numbers_of(const void *bytes, size_t size)
{
	return (struct numbers){
		.p = bytes,
		.end = (const uint8_t *)bytes + size,
	};
}

int recording_counts_outline(const void *bytes, size_t size, struct counts_outline *out)
{
	struct numbers n = numbers_of(bytes, size);
	uint64_t id = get_number(&n), flags = get_number(&n);

	get_view(&n, NULL);
	if (n.bad || n.p != n.end || id > UINT32_MAX)
		return -EBADMSG;
	*out = (struct counts_outline){
		.view = (uint32_t)id,
		.interval = flags & COUNTS_INTERVAL,
	};
	return 0;
}

int recording_counts_decode(const void *bytes, size_t size, uint32_t *view, bool *interval, struct view_counts *out)
{
	struct counts_outline outline;
	struct numbers n = numbers_of(bytes, size);
	int err = recording_counts_outline(bytes, size, &outline);

	if (err)
		return err;
	*view = outline.view;
	*interval = outline.interval;
	memset(out, 0, sizeof(*out));
	get_number(&n);
	get_number(&n);
	get_view(&n, out);
	return 0;
}
