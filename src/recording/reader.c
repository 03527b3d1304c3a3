// SPDX-License-Identifier: GPL-2.0-only
/* reader.c - what a file still holds, record by record; what doesn't come out is counted. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "util/mem.h"
#include "util/num.h"
#include "util/user_file.h"
#include "recording/recording.h"
#include "recording/format.h"

#define LOOK_AGAIN_MAX (64ull << 20) /* bytes of damaged blocks that are searched for other blocks, in all */
#define READ_AHEAD     (64u << 10)
#define AHEAD	       4u /* blocks that a thread reads ahead */
#define THREAD_AFTER   8u /* blocks from which it is worth one */

/* A payload, unpacked. */
struct block {
	uint8_t *bytes;
	size_t len, cap;
};

/*
 * Blocks are read and unpacked by one thread, from a certain length on, and their records taken by another. What is read
 * of the file, down to `skipped`, is the first one's then; `used` blocks have been let go by the second.
 */
struct recording {
	int fd;
	uint8_t *window;
	size_t at, have, cap; /* window[at..have) is still to be looked at */
	bool eof;
	ZSTD_DCtx *zstd;
	struct block block[AHEAD];
	uint64_t next_sequence, next_record;	   /* what an intact block would go on with */
	uint64_t damaged_sequence, damaged_record; /* where the last damaged block with an intact head ends */
	bool skipped;				   /* bytes since the last intact block */
	uint64_t looked_again;
	pthread_t thread;
	pthread_mutex_t lock; /* for the following five */
	pthread_cond_t changed;
	uint64_t made, used;	/* blocks; the present one is block[used % AHEAD] */
	bool done, quit;	/* the thread has come to the end; it shall end */
	bool threaded, holding; /* a thread is running; the present block is being taken */
	size_t at_record;	/* in it */
	uint64_t lost_parts;
	struct buf joined; /* of a long record */
	bool joining, ended;
	uint16_t kind; /* of it */
	uint32_t item, parts;
	struct recording_damage damage;
	uint32_t headers;
};

/* ---- a window on the file, moved forward only ---- */

static const uint8_t *here(const struct recording *r)
{
	return r->window + r->at;
}

static size_t left(const struct recording *r)
{
	return r->have - r->at;
}

static void fill(struct recording *r, size_t want)
{
	ssize_t got;

	if (r->at) {
		memmove(r->window, here(r), left(r));
		r->have -= r->at;
		r->at = 0;
	}
	if (r->cap < want) {
		r->cap = want + READ_AHEAD;
		r->window = xrealloc(r->window, r->cap);
	}
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	got = read(r->fd, r->window + r->have, r->cap - r->have);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (got < 0 && errno == EINTR)
		return;
	if (got < 0)
		r->damage.error = errno;
	if (got <= 0)
		r->eof = true;
	else
		r->have += (size_t)got;
}

/* Whether there are so many bytes here. At most two heads and a block are asked for. */
static bool need(struct recording *r, size_t n)
{
	while (left(r) < n && !r->eof)
		fill(r, n);
	return left(r) >= n;
}

static void pass_over(struct recording *r, size_t n)
{
	r->at += n;
	r->damage.bytes += n;
	r->skipped = true;
}

/* On to the next place that begins like a block, or to the end. */
static void resync(struct recording *r)
{
	pass_over(r, 1);
	for (;;) {
		const uint8_t *found = memmem(here(r), left(r), BLOCK_MAGIC, COMMON_SIZE);
		size_t keep = left(r) < COMMON_SIZE - 1 ? left(r) : COMMON_SIZE - 1;

		if (found) {
			pass_over(r, (size_t)(found - here(r)));
			return;
		}
		pass_over(r, left(r) - keep);
		if (!need(r, keep + 1)) {
			pass_over(r, keep);
			return;
		}
	}
}

/* ---- blocks ---- */

static uint8_t *room_for(struct recording *r, size_t length)
{
	struct block *b = &r->block[r->made % AHEAD];

	if (b->cap < length) {
		b->bytes = xrealloc(b->bytes, length);
		b->cap = length;
	}
	b->len = length;
	return b->bytes;
}

/* One frame of today's zstd, and nothing but that. */
static bool decompress(struct recording *r, const uint8_t *stored, const struct block_head *h, uint8_t *to)
{
	return h->stored > 4 && get32(stored) == ZSTD_MAGICNUMBER &&
	       ZSTD_findFrameCompressedSize(stored, h->stored) == h->stored &&
	       ZSTD_decompressDCtx(r->zstd, to, h->length, stored, h->stored) == h->length;
}

/* The records tile the payload and are as many as the head says. */
static bool records_fit(const uint8_t *payload, const struct block_head *h)
{
	uint32_t records = 0;
	size_t at = 0;

	while (at < h->length) {
		const struct wire_head *head = (const void *)(payload + at);
		size_t least = head->kind < RECORDING_LONG_KINDS ? sizeof(*head) : sizeof(struct long_part);

		if (head->size < least || align8(head->size) > h->length - at)
			return false;
		at += align8(head->size);
		records++;
	}
	return records == h->records;
}

static bool unpack(struct recording *r, const struct block_head *h)
{
	const uint8_t *stored = here(r) + BLOCK_HEAD;
	uint8_t *to;

	if (recording_crc(stored, h->stored) != h->crc)
		return false;
	to = room_for(r, h->length);
	if (h->stored == h->length)
		memcpy(to, stored, h->length);
	else if (!decompress(r, stored, h, to))
		return false;
	return records_fit(to, h);
}

/* Between the last intact block and this point all is lost. */
static void count_lost(struct recording *r, uint64_t sequence, uint64_t record)
{
	if (sequence > r->next_sequence)
		r->damage.blocks += sequence - r->next_sequence;
	if (record > r->next_record)
		r->damage.records += record - r->next_record;
}

/*
 * A block is damaged whose head is intact. When the next one stands where it should, there is nothing to look for.
 * Otherwise bytes were lost or added, and the next one may begin within what the head calls this one's: worth a search,
 * though not so often that a file made to that end could keep us busy.
 */
static bool worth_a_search(struct recording *r, const struct block_head *h)
{
	size_t whole = BLOCK_HEAD + h->stored;
	struct block_head next;

	if (need(r, whole + BLOCK_HEAD) ? block_head_get(here(r) + whole, &next) : left(r) == whole)
		return false;
	r->looked_again += BLOCK_HEAD + h->length;
	return r->looked_again <= LOOK_AGAIN_MAX;
}

/* At the head of a block: takes it, or passes over it. */
static bool take_block(struct recording *r, const struct block_head *h)
{
	bool whole = need(r, BLOCK_HEAD + h->stored);
	bool intact = whole && unpack(r, h);
	bool again = h->sequence < r->next_sequence; /* it, or a later one, came already */

	if (intact && !again) {
		count_lost(r, h->sequence, h->first);
		r->next_sequence = h->sequence + 1ull;
		r->next_record = h->first + h->records;
		r->skipped = false;
		r->at += BLOCK_HEAD + h->stored;
		return true;
	}
	if (!again && h->sequence >= r->damaged_sequence) {
		r->damaged_sequence = h->sequence + 1ull;
		r->damaged_record = h->first + h->records;
	}
	if (intact || (whole && !worth_a_search(r, h)))
		pass_over(r, BLOCK_HEAD + h->stored);
	else
		resync(r);
	return false;
}

static void abandon_long(struct recording *r)
{
	if (r->joining)
		r->lost_parts += r->parts;
	r->joining = false;
}

/* The end of the file, perhaps not for the first time. */
static void end_of_file(struct recording *r)
{
	if (left(r))
		pass_over(r, left(r));
	abandon_long(r);
	if (!r->skipped || r->ended)
		return;
	if (r->damaged_sequence > r->next_sequence) {
		count_lost(r, r->damaged_sequence, r->damaged_record);
	} else {
		r->damage.blocks++;
		r->damage.more = true;
	}
	r->skipped = false;
}

/* Into block[made % AHEAD]. */
static bool read_block(struct recording *r)
{
	struct block_head h;

	while (need(r, BLOCK_HEAD)) {
		if (!block_head_get(here(r), &h))
			resync(r);
		else if (take_block(r, &h))
			return true;
	}
	return false;
}

/* ---- ahead, in a thread ---- */

static bool wait_for_room(struct recording *r)
{
	bool go_on;

	pthread_mutex_lock(&r->lock);
	while (r->made - r->used == AHEAD && !r->quit)
		pthread_cond_wait(&r->changed, &r->lock);
	go_on = !r->quit;
	pthread_mutex_unlock(&r->lock);
	return go_on;
}

static void *read_ahead(void *arg)
{
	struct recording *r = arg;
	bool more = true;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (more && wait_for_room(r)) {
		more = read_block(r);
		pthread_mutex_lock(&r->lock);
		r->made += more;
		r->done = !more;
		pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

static bool next_from_thread(struct recording *r)
{
	bool there;

	pthread_mutex_lock(&r->lock);
	r->used += r->holding;
	pthread_cond_signal(&r->changed);
	while (r->made == r->used && !r->done)
		pthread_cond_wait(&r->changed, &r->lock);
	there = r->made > r->used;
	pthread_mutex_unlock(&r->lock);
	if (!there) {
		pthread_join(r->thread, NULL);
		r->threaded = false;
	}
	return there;
}

/* It may wait for somebody to write into a pipe. */
static void end_thread(struct recording *r)
{
	if (!r->threaded)
		return;
	pthread_mutex_lock(&r->lock);
	r->quit = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_cancel(r->thread);
	pthread_join(r->thread, NULL);
}

static bool next_from_file(struct recording *r)
{
	r->used += r->holding;
	if (!read_block(r))
		return false;
	if (++r->made == THREAD_AFTER)
		r->threaded = !pthread_create(&r->thread, NULL, read_ahead, r);
	return true;
}

static bool next_block(struct recording *r)
{
	r->holding = r->threaded ? next_from_thread(r) : next_from_file(r);
	r->at_record = 0;
	if (!r->holding)
		end_of_file(r);
	return r->holding;
}

/* ---- records ---- */

/* Puts the pieces of a long record together; true with the last one. */
static bool join(struct recording *r, const struct wire_head *head, struct recording_record *rec)
{
	const struct long_part *p = (const void *)head;
	size_t n = head->size - sizeof(*p);

	if (!p->number) {
		abandon_long(r);
		r->joining = true;
		r->kind = head->kind;
		r->item = p->item;
		r->parts = 0;
		buf_clear(&r->joined);
	}
	if (!r->joining || r->kind != head->kind || r->item != p->item || r->parts != p->number ||
	    r->joined.len + n > RECORDING_LONG_MAX) {
		abandon_long(r);
		r->lost_parts++;
		return false;
	}
	r->parts++;
	buf_add(&r->joined, p + 1, n);
	if (p->flags & PART_MORE)
		return false;
	r->joining = false;
	if (head->kind == WIRE_HEADER && ++r->headers > RECORDING_HEADERS_MAX) {
		r->damage.headers++;
		return false;
	}
	r->ended = r->ended || head->kind == WIRE_END;
	*rec = (struct recording_record){ .kind = head->kind, .data = r->joined.data, .size = r->joined.len };
	return true;
}

bool recording_next(struct recording *r, struct recording_record *rec)
{
	for (;;) {
		const struct block *b = &r->block[r->used % AHEAD];
		const struct wire_head *head;

		if (!r->holding || r->at_record == b->len) {
			if (!next_block(r))
				return false;
			b = &r->block[r->used % AHEAD];
		}
		head = (const void *)(b->bytes + r->at_record);
		r->at_record += align8(head->size);
		if (head->kind < RECORDING_LONG_KINDS) {
			*rec = (struct recording_record){ .kind = head->kind, .head = head, .size = head->size };
			return true;
		}
		if (join(r, head, rec))
			return true;
	}
}

bool recording_damage(const struct recording *r, struct recording_damage *out)
{
	*out = r->damage;
	out->records += r->lost_parts;
	out->no_end = !r->ended;
	return out->blocks || out->records || out->bytes || out->no_end || out->error || out->headers;
}

char *recording_damage_note(const struct recording *r)
{
	struct recording_damage d;
	struct buf b = { 0 };

	if (!recording_damage(r, &d))
		return NULL;
	buf_str(&b, d.no_end ? "the recording ends too early: it was cut off, or the run that made it was" :
			       "the recording is damaged");
	if (d.error)
		buf_printf(&b, "; reading it failed: %s", strerror(d.error));
	if (d.blocks || d.records)
		buf_printf(&b, "; lost: %s block%s with %s%s record%s", num_count(d.blocks).s, num_plural(d.blocks),
			   d.more ? "at least " : "", num_count(d.records).s, num_plural(d.records));
	if (d.bytes)
		buf_printf(&b, "; %s passed over", num_bytes(d.bytes, 0).s);
	if (d.headers)
		buf_printf(&b, "; %s header%s beyond %s left out", num_count(d.headers).s, num_plural(d.headers),
			   num_count(RECORDING_HEADERS_MAX).s);
	return b.data;
}

/* ---- open ---- */

/* What stands at the beginning. A damaged head is no reason to give up, as long as it can be told that it is one. */
static int check_file(struct recording *r, const char *name, struct err *e)
{
	bool enough = need(r, FILE_HEAD), whole = need(r, FILE_HEAD + BLOCK_HEAD);
	struct block_head h;
	bool ours, intact, in_place;
	size_t head;

	if (r->damage.error)
		return err_set(e, r->damage.error, EXIT_FAILED, "cannot read %s: %s", name, strerror(r->damage.error));
	if (!left(r))
		return err_set(e, ENODATA, EXIT_FAILED, "%s is empty: it holds no recording", name);
	ours = !memcmp(here(r), FILE_MAGIC, left(r) < MAGIC_SIZE ? left(r) : MAGIC_SIZE);
	if (!enough && ours)
		return err_set(e, ENODATA, EXIT_FAILED, "%s ends within its first %d bytes: it holds nothing", name,
			       FILE_HEAD);
	intact = enough && ours && get32(here(r) + 12) == recording_crc(here(r), 12);
	if (intact && get32(here(r) + 8) != RECORDING_VERSION)
		return err_set(e, EPROTONOSUPPORT, EXIT_FAILED,
			       "%s has recording format %u, and this barriertrace (%s) reads format %d: use %s one",
			       name, get32(here(r) + 8), BT_VERSION, RECORDING_VERSION,
			       get32(here(r) + 8) > RECORDING_VERSION ? "a newer" : "the older");
	in_place = whole && block_head_get(here(r) + FILE_HEAD, &h);
	if (!ours && !in_place)
		return err_set(e, EBADMSG, EXIT_FAILED, "%s is not a recording made by barriertrace", name);
	/* a head that got shorter or longer: the first block is looked for behind what is sure to be of the head */
	head = intact || in_place ? FILE_HEAD : MAGIC_SIZE;
	if (!intact)
		r->damage.bytes += head;
	r->at += head;
	return 0;
}

bool recording_begins(int fd)
{
	char magic[MAGIC_SIZE];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, FILE_MAGIC, MAGIC_SIZE);
}

int recording_open(const char *path, struct recording **out, struct err *e)
{
	int fd = user_file_read(path, e);

	return fd < 0 ? fd : recording_open_fd(fd, strcmp(path, "-") ? path : "standard input", out, e);
}

int recording_open_fd(int fd, const char *name, struct recording **out, struct err *e)
{
	struct recording *r = xcalloc(1, sizeof(*r));
	int err = recording_check_machine(e);

	r->fd = fd;
	r->zstd = xmust(ZSTD_createDCtx());
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (!err)
		err = check_file(r, name, e);
	if (err) {
		recording_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	end_thread(r);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	ZSTD_freeDCtx(r->zstd);
	close(r->fd);
	free(r->window);
	for (size_t i = 0; i < AHEAD; i++)
		free(r->block[i].bytes);
	buf_free(&r->joined);
	free(r);
}
