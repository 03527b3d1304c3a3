// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole recordings, by records: what `report`, `diff` and `record --anonymise` do with a file whose checksums are right.
 *
 * An input is a row of records, each after its kind and length. They are written by the writer, and everything comes of
 * them: the report and its outputs, its comparison with itself, and the recording without names, which says the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/compare/reports.h"
#include "feed.h"
#include "fuzz.h"
#include "recording/anonymise.h"
#include "recording/recording.h"
#include "recording_forge.h"
#include "render/render_documents.h"
#include "run/replay.h"
#include "util/mem.h"

#define HEAD	     4u /* kind, length */
#define LONGEST	     4096u
#define MOST_RECORDS 4096u

struct piece {
	const uint8_t *at; /* of its payload */
	uint16_t kind, length;
};

struct pieces {
	struct piece piece[MOST_RECORDS];
	size_t n;
};

static struct pieces all_read, changed; /* large; one thread */

static bool is_long(uint16_t kind)
{
	return kind >= RECORDING_LONG_KINDS;
}

/* What is cut off at the end is as long as what there is. */
static void read_pieces(const uint8_t *p, size_t n, struct pieces *out)
{
	const uint8_t *end = p + n;

	for (out->n = 0; end - p > HEAD && out->n < MOST_RECORDS; out->n++) {
		struct piece *x = &out->piece[out->n];
		size_t left = (size_t)(end - p) - HEAD, length = forge_get(p + 2, 2);

		x->kind = (uint16_t)forge_get(p, 2);
		x->length = (uint16_t)(length < left ? length : left);
		x->at = p + HEAD;
		p += HEAD + x->length;
	}
}

/* ---- a recording ---- */

static void write_piece(struct recording_writer *w, const struct piece *x)
{
	uint64_t words[LONGEST / 8];
	struct wire_head *h = (struct wire_head *)words;
	struct err e;
	size_t length = x->length < LONGEST - sizeof(*h) ? x->length : LONGEST - sizeof(*h);

	if (is_long(x->kind)) {
		fuzz_expect(!recording_add_long(w, x->kind, x->at, x->length, &e), "it is written");
		return;
	}
	memset(words, 0, sizeof(words));
	*h = (struct wire_head){ .kind = x->kind, .size = (uint16_t)(sizeof(*h) + length) };
	memcpy(h + 1, x->at, length);
	fuzz_expect(!recording_add(w, h, &e), "it is written");
}

/* A descriptor at the beginning of what is written to the writer. */
static int new_recording(struct recording_writer **w)
{
	int fd = memfd_create("recording", MFD_CLOEXEC), other = dup(fd);
	struct err e;

	if (fd < 0 || other < 0 || recording_create_fd(fd, "output", w, &e))
		abort();
	return other;
}

static void written(struct recording_writer *w, int fd)
{
	struct err e;

	if (recording_close(w, &e) || lseek(fd, 0, SEEK_SET))
		abort();
}

static int write_pieces(const struct pieces *all)
{
	struct recording_writer *w;
	int fd = new_recording(&w);

	for (size_t i = 0; i < all->n; i++)
		write_piece(w, &all->piece[i]);
	written(w, fd);
	return fd;
}

/* ---- what comes of it ---- */

static bool replayed(int fd, struct report *r, bool *whole)
{
	char *damage = NULL;
	struct err e = { 0 };
	int err;

	*r = (struct report){ 0 };
	if (lseek(fd, 0, SEEK_SET))
		abort();
	err = replay_fd(dup(fd), "input", true, r, &damage, &e);
	fuzz_expect(!err || e.text[0], "what is refused is said");
	*whole = !damage;
	free(damage);
	return !err;
}

static void check_sums(const struct report *r)
{
	const struct report_sync *s = &r->sync;
	uint64_t ns = 0;

	fuzz_expect(ledger_sum(&s->ledger) == s->total_ns, "the ledger adds up");
	for (size_t i = 0; i < s->n_slowest; i++)
		fuzz_expect(ledger_sum(&s->slowest[i].ledger) == s->slowest[i].duration_ns, "a call adds up");
	for (size_t i = 0; i < s->n_leaves; i++)
		ns += s->leaf[i].ns;
	fuzz_expect(ns == s->total_ns, "leaves add up");
}

static void compare(const struct report *r)
{
	const struct render_opts o = { .verbose = true };
	struct comparison c = { 0 };
	struct buf b = { 0 };

	compare_reports(r, r, &c);
	render_compare_text(&c, &o, &b);
	render_compare_json(&c, &b);
	buf_free(&b);
	comparison_free(&c);
}

static void without_names(int fd, const struct report *r, bool whole)
{
	struct recording_writer *w;
	struct recording *in;
	struct anonymised done;
	struct report again;
	int out = new_recording(&w);
	bool whole_again, ok;
	struct err e;

	if (lseek(fd, 0, SEEK_SET) || recording_open_fd(dup(fd), "input", &in, &e))
		abort();
	ok = !anonymise(in, w, &done, &e);
	recording_free(in);
	written(w, out);
	if (ok) {
		fuzz_expect(replayed(out, &again, &whole_again), "it can be read without names");
		if (whole && whole_again && !done.left_out)
			fuzz_expect(again.sync.count == r->sync.count && again.sync.total_ns == r->sync.total_ns,
				    "it says the same without names");
		report_free(&again);
	}
	close(out);
}

static void run(const uint8_t *bytes, size_t n)
{
	uint32_t mix = fuzz_hash(bytes, n);
	struct report r;
	bool read, whole;
	int fd;

	read_pieces(bytes, n, &all_read);
	fd = write_pieces(&all_read);
	read = replayed(fd, &r, &whole);
	if (read) {
		check_sums(&r);
		feed_render(&r, mix);
		if (mix % 4 == 0)
			compare(&r);
		if (mix % 4 == 1)
			without_names(fd, &r, whole);
		report_free(&r);
	}
	close(fd);
}

/* ---- mutation ---- */

static struct piece *some_piece(struct pieces *all, unsigned int *seed)
{
	return &all->piece[fuzz_random(seed, (uint32_t)all->n)];
}

/* A word of one record becomes one of another's, or close to it: times, tasks and requests then belong together. */
static void share_word(uint8_t *to, size_t length, struct pieces *all, unsigned int *seed)
{
	const struct piece *from = some_piece(all, seed);
	size_t size = fuzz_random(seed, 2) ? 8 : 4, at;
	uint64_t v;

	if (length < size || from->length < size)
		return;
	at = fuzz_random(seed, from->length / (uint32_t)size) * size;
	v = forge_get(from->at + at, (int)size) + fuzz_random(seed, 5) - 2;
	forge_put(to + fuzz_random(seed, (uint32_t)(length / size)) * size, v, (int)size);
}

/* In place of the record's bytes; `room` is for no more than what it may become. */
static size_t change(const struct piece *x, uint8_t *room, size_t most, struct pieces *all, unsigned int *seed)
{
	memcpy(room, x->at, x->length);
	if (x->kind == WIRE_HEADER || x->kind == WIRE_END)
		return fuzz_mutate_json(room, x->length, most, fuzz_random(seed, 1u << 24));
	if (is_long(x->kind) || !fuzz_random(seed, 3))
		return fuzz_mutate_bytes(room, x->length, most);
	share_word(room, x->length, all, seed);
	return x->length;
}

static void rearrange(struct pieces *all, unsigned int *seed)
{
	struct piece *a = some_piece(all, seed), *b = some_piece(all, seed), was = *a;

	switch (fuzz_random(seed, 4)) {
	case 0: /* swap */
		*a = *b;
		*b = was;
		break;
	case 1: /* again, at the end */
		if (all->n < MOST_RECORDS)
			all->piece[all->n++] = was;
		break;
	case 2: /* away */
		if (all->n > 1)
			*a = all->piece[--all->n];
		break;
	default: /* as another kind */ a->kind = b->kind;
	}
}

/* Back to an input; records at the end that find no place are left out. */
static size_t join(const struct pieces *all, uint8_t *to, size_t most)
{
	uint8_t *p = to;

	for (size_t i = 0; i < all->n; i++) {
		const struct piece *x = &all->piece[i];

		if ((size_t)(to + most - p) < HEAD + x->length)
			break;
		forge_put(p, x->kind, 2);
		forge_put(p + 2, x->length, 2);
		memcpy(p + HEAD, x->at, x->length);
		p += HEAD + x->length;
	}
	return (size_t)(p - to);
}

static size_t mutate(uint8_t *bytes, size_t n, size_t most, unsigned int seed)
{
	size_t room = most < UINT16_MAX ? most : UINT16_MAX;
	uint8_t *copy, *other;
	struct piece *x;

	read_pieces(bytes, n, &changed);
	if (!changed.n || !fuzz_random(&seed, 16))
		return fuzz_mutate_bytes(bytes, n, most);
	copy = xcalloc(1, most);
	other = xcalloc(1, room);
	if (fuzz_random(&seed, 4)) {
		x = some_piece(&changed, &seed);
		if (x->length <= room) {
			x->length = (uint16_t)change(x, other, room, &changed, &seed);
			x->at = other;
		}
	} else {
		rearrange(&changed, &seed);
	}
	n = join(&changed, copy, most);
	memcpy(bytes, copy, n);
	free(copy);
	free(other);
	return n;
}

/* ---- seeds: of each real run its header and its end, shortened, its counters, and some records of each kind ---- */

#define SOME	   12u
#define SOME_BYTES 6000u /* of counters */

struct seed {
	struct buf b;
	unsigned int came[WIRE_COUNTS + 1];
};

static void add(struct seed *s, uint16_t kind, const void *bytes, size_t n)
{
	uint8_t head[HEAD];

	if (n > UINT16_MAX)
		return;
	forge_put(head, kind, 2);
	forge_put(head + 2, n, 2);
	buf_add(&s->b, head, HEAD);
	buf_add(&s->b, bytes, n);
}

static void gather(void *ctx, const char *file, const struct recording_record *rec)
{
	struct seed *s = ctx;
	char *text;

	if (!rec) {
		fuzz_seed(file, s->b.data, s->b.len);
		buf_free(&s->b);
		*s = (struct seed){ 0 };
		return;
	}
	if (rec->kind > WIRE_COUNTS || s->came[rec->kind]++ >= SOME)
		return;
	if (rec->kind == WIRE_HEADER || rec->kind == WIRE_END) {
		text = fuzz_shortened(rec->data, rec->size);
		add(s, rec->kind, text, strlen(text));
		free(text);
	} else if (rec->head) {
		add(s, rec->kind, rec->head + 1, rec->size - sizeof(*rec->head));
	} else if (rec->size < SOME_BYTES) {
		add(s, rec->kind, rec->data, rec->size);
	}
}

static void seeds(void)
{
	struct seed s = { 0 };

	fuzz_each_golden(gather, &s);
}

const struct fuzz_target fuzz_report = { "report", run, mutate, seeds };
