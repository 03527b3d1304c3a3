// SPDX-License-Identifier: GPL-2.0-only
#include "recording/rotation_context.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/fact_size.h"
#include "recording/format.h"
#include "util/hash_map.h"
#include "util/mem.h"

#define TASKS 16384u /* as many as the analysis remembers */
#define FILES 32768u

/* ---- facts that come once, by key; the one that was not asked for since the last turn makes room ---- */

struct known {
	uint64_t id, dev; /* the key */
	bool used;
	uint32_t file;		  /* the last one that it was written into */
	struct wire_head *record; /* owned; names of a file are packed: see pack() */
};

struct table {
	struct known *entry;
	struct hash_map map;
	uint32_t n, max, hand;
};

/* Sleeps, requests and bios, one behind the other, each at a multiple of 8. */
struct recent {
	uint8_t *bytes;
	size_t size, begin, len;
	uint64_t gone_ns; /* of what was dropped, the latest end */
};

struct carry {
	struct table tasks, files;
	struct recent recent;
	uint32_t file; /* number of the present one, from 1 */
	carry_fn *write;
	void *ctx;
};

static void table_new(struct table *t, uint32_t max)
{
	t->max = max;
	t->entry = xcalloc(max, sizeof(*t->entry));
}

static void table_free(struct table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->entry[i].record);
	free(t->entry);
	hash_map_free(&t->map);
}

static struct known *find(const struct table *t, uint64_t id, uint64_t dev)
{
	HASH_MAP_EACH (&t->map, hash_words(id, dev), i)
		if (t->entry[i].id == id && t->entry[i].dev == dev)
			return &t->entry[i];
	return NULL;
}

static uint32_t blank(struct table *t)
{
	uint32_t i;

	if (t->n < t->max)
		return t->n++;
	for (; t->entry[t->hand].used; t->hand = (t->hand + 1) % t->max)
		t->entry[t->hand].used = false;
	i = t->hand;
	t->hand = (i + 1) % t->max;
	hash_map_remove(&t->map, i);
	free(t->entry[i].record);
	return i;
}

/* Takes the record. */
static void put(struct table *t, uint64_t id, uint64_t dev, struct wire_head *record, uint32_t file)
{
	struct known *k = find(t, id, dev);

	if (!k) {
		uint32_t i = blank(t);

		k = &t->entry[i];
		*k = (struct known){ .id = id, .dev = dev };
		hash_map_add(&t->map, i, hash_words(id, dev));
	} else {
		free(k->record);
	}
	k->record = record;
	k->file = file;
}

/* ---- names of files: kept without the empty room behind each ---- */

static size_t name_room(const char *name)
{
	return strnlen(name, WIRE_NAME - 1) + 1;
}

static struct wire_head *pack(const struct wire_file *f)
{
	size_t n = f->n < WIRE_NAMES ? f->n : WIRE_NAMES, size = offsetof(struct wire_file, name);
	struct wire_head *out;
	char *p;

	for (size_t i = 0; i < n; i++)
		size += name_room(f->name[i]);
	out = xcalloc(1, size);
	memcpy(out, f, offsetof(struct wire_file, name));
	p = (char *)out + offsetof(struct wire_file, name);
	for (size_t i = 0; i < n; i++) {
		size = name_room(f->name[i]);
		memcpy(p, f->name[i], size - 1);
		p += size;
	}
	return out;
}

static void unpack(const struct wire_head *packed, struct wire_file *f)
{
	const char *p = (const char *)packed + offsetof(struct wire_file, name);

	memset(f, 0, sizeof(*f));
	memcpy(f, packed, offsetof(struct wire_file, name));
	f->head.size = sizeof(*f);
	for (size_t i = 0; i < f->n && i < WIRE_NAMES; i++) {
		memcpy(f->name[i], p, strlen(p));
		p += strlen(p) + 1;
	}
}

/* ---- what a record names ---- */

static void want_task(struct carry *c, uint32_t tid)
{
	struct known *k = tid ? find(&c->tasks, tid, 0) : NULL;

	if (!k)
		return;
	k->used = true;
	if (k->file != c->file)
		c->write(c->ctx, k->record);
	k->file = c->file;
}

static void want_file(struct carry *c, uint32_t dev, uint64_t ino)
{
	struct known *k = ino ? find(&c->files, ino, dev) : NULL;
	struct wire_file f;

	if (!k)
		return;
	k->used = true;
	if (k->file != c->file) {
		unpack(k->record, &f);
		c->write(c->ctx, &f.head);
	}
	k->file = c->file;
}

static void want_sync(struct carry *c, const struct wire_sync *s)
{
	want_task(c, s->tid);
	want_task(c, s->worker);
	want_file(c, s->dev, s->ino);
}

static void want_sleep(struct carry *c, const struct wire_sleep *s)
{
	want_task(c, s->tid);
	want_task(c, s->waker);
}

static void want_request(struct carry *c, const struct wire_request *r)
{
	want_task(c, r->tid);
	want_task(c, r->pre.issuer);
	want_task(c, r->data.issuer);
	want_task(c, r->post.issuer);
}

static void want_work(struct carry *c, const struct wire_work *w)
{
	want_task(c, w->tid);
	want_task(c, w->by);
}

static struct wire_head *copy(const struct wire_head *record, size_t size)
{
	struct wire_head *out = memcpy(xcalloc(1, size), record, size);

	out->size = (uint16_t)size;
	return out;
}

/* ---- the latest sleeps, requests, bios of disks without requests, and works ---- */

static uint64_t end_of(const struct wire_head *record)
{
	switch (record->kind) {
	case WIRE_SLEEP: return ((const struct wire_sleep *)record)->on;
	case WIRE_BIO: return ((const struct wire_bio *)record)->done;
	case WIRE_WORK: return ((const struct wire_work *)record)->begun;
	default: return ((const struct wire_request *)record)->done;
	}
}

static const struct wire_head *oldest(const struct recent *r)
{
	return (const struct wire_head *)(r->bytes + r->begin);
}

static void note_gone(struct recent *r, const struct wire_head *record)
{
	uint64_t end = end_of(record);

	if (end > r->gone_ns)
		r->gone_ns = end;
}

static void drop_oldest(struct recent *r)
{
	size_t size = align8(oldest(r)->size);

	note_gone(r, oldest(r));
	r->begin += size;
	r->len -= size;
}

/* The room is twice what is kept, so that it is seldom moved. */
static void keep(struct recent *r, const struct wire_head *record)
{
	size_t size = align8(record->size);

	while (r->len && r->len + size > r->size)
		drop_oldest(r);
	if (size > r->size) {
		note_gone(r, record);
		return;
	}
	if (r->begin + r->len + size > 2 * r->size) {
		memmove(r->bytes, r->bytes + r->begin, r->len);
		r->begin = 0;
	}
	memset(r->bytes + r->begin + r->len + size - 8, 0, 8);
	memcpy(r->bytes + r->begin + r->len, record, record->size);
	r->len += size;
}

/* ---- the way through ---- */

static void note_and_want(struct carry *c, const struct wire_head *record)
{
	const struct wire_follow *f = (const void *)record;
	const struct wire_file *name = (const void *)record;

	switch (record->kind) {
	case WIRE_FOLLOW: put(&c->tasks, f->tid, 0, copy(record, sizeof(*f)), c->file); break;
	case WIRE_FILE: put(&c->files, name->ino, name->dev, pack(name), c->file); break;
	case WIRE_SLEEP: want_sleep(c, (const void *)record); break;
	case WIRE_REQUEST: want_request(c, (const void *)record); break;
	case WIRE_BIO: want_task(c, ((const struct wire_bio *)record)->tid); break;
	case WIRE_WORK: want_work(c, (const void *)record); break;
	default: want_sync(c, (const void *)record);
	}
}

static bool is_recent(uint16_t kind)
{
	return kind == WIRE_SLEEP || kind == WIRE_REQUEST || kind == WIRE_BIO || kind == WIRE_WORK;
}

void carry_record(struct carry *c, const struct wire_head *record)
{
	if (record->size >= fact_size(record->kind).least) {
		note_and_want(c, record);
		if (is_recent(record->kind))
			keep(&c->recent, record);
	}
	c->write(c->ctx, record);
}

uint64_t carry_known_ns(const struct carry *c)
{
	return c->recent.gone_ns;
}

void carry_begin_file(struct carry *c)
{
	const struct recent *r = &c->recent;
	const struct wire_head *record;

	c->file++;
	for (size_t at = r->begin; at < r->begin + r->len; at += align8(record->size)) {
		record = (const struct wire_head *)(r->bytes + at);
		note_and_want(c, record);
		c->write(c->ctx, record);
	}
}

struct carry *carry_new(size_t recent, carry_fn *write, void *ctx)
{
	struct carry *c = xcalloc(1, sizeof(*c));

	table_new(&c->tasks, TASKS);
	table_new(&c->files, FILES);
	c->recent.size = recent;
	c->recent.bytes = xcalloc(2, recent);
	c->file = 1;
	c->write = write;
	c->ctx = ctx;
	return c;
}

void carry_free(struct carry *c)
{
	if (!c)
		return;
	table_free(&c->tasks);
	table_free(&c->files);
	free(c->recent.bytes);
	free(c);
}
