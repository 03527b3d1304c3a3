// SPDX-License-Identifier: GPL-2.0-only
#include "analyse/ledger/call_recorder.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash_map.h"
#include "util/mem.h"

#define CALLS_MAX    (1u << 20) /* 48 MiB; the ledgers of those without slices, some 30 MiB */
#define SLICES_MAX   (1u << 21) /* some 12 MiB */
#define REQUESTS_MAX (1u << 19) /* some 25 MiB */

struct detail {
	struct report_detail *kept;
	uint64_t start_ns;
	struct hash_map shared; /* names */
	bool no_slices;		/* the last call has none */
};

/* ---- names ---- */

uint32_t detail_own_name(struct detail *d, const char *text)
{
	struct report_detail *k = d->kept;

	*(char **)grow((void **)&k->name, &k->n_names, sizeof(*k->name)) = xstrdup(text);
	return (uint32_t)k->n_names - 1;
}

uint32_t detail_name(struct detail *d, const char *text)
{
	uint32_t hash;

	if (!text || !*text)
		return 0;
	hash = hash_bytes(text, strlen(text));
	HASH_MAP_EACH (&d->shared, hash, i)
		if (!strcmp(d->kept->name[i], text))
			return i;
	hash_map_add(&d->shared, (uint32_t)d->kept->n_names, hash);
	return detail_own_name(d, text);
}

void detail_rename(struct detail *d, uint32_t name, const char *to)
{
	free(d->kept->name[name]);
	d->kept->name[name] = xstrdup(to);
}

/* ---- calls ---- */

static uint64_t since_start(const struct detail *d, uint64_t time)
{
	return time > d->start_ns ? time - d->start_ns : 0;
}

void detail_add_call(struct detail *d, const struct wire_sync *s, uint32_t path, uint32_t device, const struct ledger *l)
{
	struct report_detail *k = d->kept;
	struct detail_call c = {
		.start_ns = since_start(d, s->enter),
		.duration_ns = s->exit - s->enter,
		.pid = s->tgid,
		.tid = s->tid,
		.path = path,
		.device = device,
		.flushed = s->flushes > 0,
	};

	d->no_slices = k->n_calls >= CALLS_MAX || k->n_slices >= SLICES_MAX;
	k->slices_left_out += d->no_slices;
	if (k->n_calls >= CALLS_MAX) {
		k->calls_left_out++;
		return;
	}
	c.comm = detail_name(d, s->comm);
	c.call = detail_name(d, call_name(s->call));
	report_detail_add_call(k, &c, d->no_slices ? l : NULL);
}

void detail_add_slice(struct detail *d, const struct walk_slice *s, uint32_t via, uint32_t device)
{
	const struct detail_slice new = { .ns = s->ns, .via = via, .device = device, .cause = s->cause };

	if (!d->no_slices)
		report_detail_add_slice(d->kept, &new);
}

/* ---- requests ---- */

static struct detail_step step(const struct detail *d, const struct wire_step *s)
{
	if (!s->issue && !s->done)
		return (struct detail_step){ 0 };
	return (struct detail_step){
		.happened = true,
		.begin_ns = since_start(d, s->begin ? s->begin :
					   s->issue ? s->issue :
						      s->done),
		.issue_ns = since_start(d, s->issue ? s->issue : s->done),
		.done_ns = since_start(d, s->done),
		.in_flight = s->in_flight,
	};
}

void detail_add_request(struct detail *d, const struct wire_request *r, uint32_t device, uint32_t disk)
{
	const struct detail_request new = {
		.begin_ns = since_start(d, walk_request_began(r)),
		.end_ns = since_start(d, r->done),
		.sector = r->sector,
		.bytes = r->bytes,
		.pid = r->tgid,
		.tid = r->tid,
		.device = device,
		.disk = disk,
		.class = (enum op_class)r->class,
		.sequence = r->flags & REQUEST_SEQUENCE,
		.throttled = r->flags & REQUEST_THROTTLED,
		.pre = step(d, &r->pre),
		.data = step(d, &r->data),
		.post = step(d, &r->post),
	};

	if (d->kept->n_requests < REQUESTS_MAX)
		report_detail_add_request(d->kept, &new);
	else
		d->kept->requests_left_out++;
}

/* ---- all ---- */

struct detail *detail_new(uint64_t start_ns)
{
	struct detail *d = xcalloc(1, sizeof(*d));

	d->start_ns = start_ns;
	d->kept = xcalloc(1, sizeof(*d->kept));
	detail_own_name(d, "");
	return d;
}

struct report_detail *detail_take(struct detail *d)
{
	struct report_detail *k = d->kept;

	d->kept = NULL;
	return k;
}

void detail_free(struct detail *d)
{
	if (!d)
		return;
	report_detail_free(d->kept);
	hash_map_free(&d->shared);
	free(d);
}
