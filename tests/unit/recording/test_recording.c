// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings: what is written comes back; of a damaged one all that is intact comes back, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "recording/recording.h"
#include "util/mem.h"
#include "open_files.h"
#include "recording_forge.h"
#include "rnd.h"
#include "tap.h"

static char dir[] = "/tmp/test_recording.XXXXXX";
static struct err e;
static void is_u64(uint64_t got, uint64_t want, const char *name)
{
	if (!ok(got == want, "%s", name))
		diag("got %" PRIu64 ", want %" PRIu64, got, want);
}

static void is_error(int got, int code, enum exit_status status, const char *words, const char *name)
{
	bool good = got == -code && e.status == status && strstr(e.text, words);

	if (!ok(good, "%s", name))
		diag("got %d, status %d: %s", got, e.status, e.text);
}

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* ---- what was written, and what came out: each record as kind, size and bytes ---- */

struct list {
	struct recording_record *r; /* data is owned, head is not used */
	size_t n;
};

static void list_add(struct list *l, uint16_t kind, const void *bytes, size_t n)
{
	struct recording_record *r = grow((void **)&l->r, &l->n, sizeof(*r));

	r->kind = kind;
	r->size = n;
	r->data = memcpy(xcalloc(1, n), bytes, n);
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free((void *)l->r[i].data);
	free(l->r);
	*l = (struct list){ 0 };
}

static bool same(const struct recording_record *a, const struct recording_record *b)
{
	return a->kind == b->kind && a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static bool lists_same(const struct list *a, const struct list *b)
{
	bool good = a->n == b->n;

	for (size_t i = 0; good && i < a->n; i++)
		good = same(&a->r[i], &b->r[i]);
	return good;
}

/* Whether `part` is `whole` with some left out. */
static bool in_order_of(const struct list *part, const struct list *whole)
{
	size_t at = 0;

	for (size_t i = 0; i < part->n; i++, at++) {
		while (at < whole->n && !same(&part->r[i], &whole->r[at]))
			at++;
		if (at == whole->n)
			return false;
	}
	return true;
}

/* Reads all there is; takes fd. 0, or the error of opening. */
static int read_all(int fd, struct list *l, struct recording_damage *d)
{
	struct recording_record rec;
	struct recording *r;
	int err = recording_open_fd(fd, "it", &r, &e);

	*d = (struct recording_damage){ 0 };
	if (err)
		return err;
	while (recording_next(r, &rec))
		list_add(l, rec.kind, rec.head ? (const void *)rec.head : rec.data, rec.size);
	recording_damage(r, d);
	free(recording_damage_note(r));
	recording_free(r);
	return 0;
}

static int read_path(const char *path, struct list *l, struct recording_damage *d)
{
	return read_all(open(path, O_RDONLY | O_CLOEXEC), l, d);
}

static bool no_damage(const struct recording_damage *d)
{
	return !d->blocks && !d->records && !d->bytes && !d->more && !d->no_end && !d->error;
}

/* ---- making recordings ---- */

static void fill_record(struct wire_head *h)
{
	static const uint16_t sizes[] = {
		sizeof(struct wire_sync),   sizeof(struct wire_sleep), sizeof(struct wire_request),
		sizeof(struct wire_follow), sizeof(struct wire_file),
	};
	uint64_t kind = rnd() % 5;

	h->kind = (uint16_t)(WIRE_SYNC + kind);
	h->size = sizes[kind];
	h->cpu = (uint32_t)rnd() % 8;
	for (size_t i = sizeof(*h); i < h->size; i++)
		((uint8_t *)h)[i] = rnd() % 4 ? 0 : (uint8_t)rnd();
}

static int add_random(struct recording_writer *w, struct list *l)
{
	union {
		struct wire_head head;
		struct wire_file largest;
	} u;

	fill_record(&u.head);
	list_add(l, u.head.kind, &u, u.head.size);
	return recording_add(w, &u.head, &e);
}

static int add_long(struct recording_writer *w, struct list *l, uint16_t kind, const void *bytes, size_t n)
{
	list_add(l, kind, bytes, n);
	return recording_add_long(w, kind, bytes, n, &e);
}

static int add_json(struct recording_writer *w, struct list *l, uint16_t kind, const char *json)
{
	return add_long(w, l, kind, json, strlen(json));
}

/* A small recording of a few blocks, whole in memory. */
struct sample {
	struct list all;
	uint8_t *bytes;
	size_t n;
	size_t blocks;
	size_t end[16];	  /* where each block ends */
	size_t until[16]; /* records that have come out by then */
};

static void slurp(const char *path, uint8_t **bytes, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };

	fstat(fd, &st);
	*bytes = xcalloc(1, (size_t)st.st_size);
	*n = (size_t)read(fd, *bytes, (size_t)st.st_size);
	close(fd);
}

static void end_block(struct sample *s, struct recording_writer *w)
{
	recording_flush(w, &e);
	s->end[s->blocks] = recording_written(w)->bytes;
	s->until[s->blocks++] = s->all.n;
}

static void make_sample(struct sample *s)
{
	char *path = in_dir("sample");
	struct recording_writer *w;

	*s = (struct sample){ 0 };
	recording_create(path, &w, &e);
	add_json(w, &s->all, WIRE_HEADER, "{\"kernel\": \"6.18\", \"arch\": \"x86_64\"}");
	end_block(s, w);
	for (int block = 0; block < 5; block++) {
		for (int i = 0; i <= block; i++)
			add_random(w, &s->all);
		end_block(s, w);
	}
	add_json(w, &s->all, WIRE_END, "{\"exit\": 0}");
	end_block(s, w);
	recording_close(w, &e);
	slurp(path, &s->bytes, &s->n);
	free(path);
}

static void free_sample(struct sample *s)
{
	list_free(&s->all);
	free(s->bytes);
}

/* ---- there and back ---- */

static void test_round_trip(void)
{
	char *path = in_dir("round"), *big = xcalloc(1, 1000001);
	struct list in = { 0 }, out = { 0 };
	struct recording_writer *w;
	struct recording_damage d;
	struct stat st;
	bool good = true;

	for (size_t i = 0; i < 1000000; i++)
		big[i] = (char)('a' + rnd() % 26);
	umask(0);
	ok(!recording_create(path, &w, &e), "a recording is created");
	ok(!stat(path, &st) && (st.st_mode & 0777) == 0600, "it is its owner's alone");
	good = good && !add_json(w, &in, WIRE_HEADER, big);
	for (int i = 0; i < 20000; i++) {
		good = good && !add_random(w, &in);
		if (i % 5000 == 0)
			good = good && !add_long(w, &in, WIRE_COUNTS, big, (size_t)(rnd() % 200000));
	}
	good = good && !add_long(w, &in, 999, big, 65512) && !add_long(w, &in, 999, big, 65513);
	good = good && !add_long(w, &in, WIRE_END, "", 0);
	ok(good, "records of every kind, a long header, an empty end");
	ok(!recording_close(w, &e), "it is closed");
	ok(!read_path(path, &out, &d) && lists_same(&in, &out), "all of it comes back, byte for byte, in order");
	ok(no_damage(&d), "no damage is seen");
	ok(!stat(path, &st) && st.st_size > 100000 && st.st_size < 3000000, "it is smaller than what is in it");
	list_free(&in);
	list_free(&out);
	free(path);
	free(big);
}

static void test_sizes(void)
{
	struct wire_file space = { .head = { .kind = 63, .size = sizeof(space) } };
	struct list in = { 0 }, out = { 0 };
	struct recording_writer *w;
	struct recording_damage d;
	struct recording_record rec;
	struct recording *r;
	char *path = in_dir("sizes");
	bool aligned = true, padded = true;

	memset(&space.ino, 0xff, sizeof(space) - sizeof(space.head));
	recording_create(path, &w, &e);
	list_add(&in, 63, &space, sizeof(space));
	recording_add(w, &space.head, &e);
	recording_flush(w, &e);
	for (uint16_t size = 8; size < 30; size++) {
		space.head.size = size;
		space.ino++;
		list_add(&in, 63, &space, size);
		recording_add(w, &space.head, &e);
	}
	space.head.size = 7;
	is_error(recording_add(w, &space.head, &e), EINVAL, EXIT_FAILED, "kind 63 and size 7",
		 "a record shorter than its head is refused");
	space.head = (struct wire_head){ .kind = WIRE_COUNTS, .size = 24 };
	is_error(recording_add(w, &space.head, &e), EINVAL, EXIT_FAILED, "kind 67", "a long kind, too");
	space.head.kind = RECORDING_LONG_KINDS;
	is_error(recording_add(w, &space.head, &e), EINVAL, EXIT_FAILED, "kind 64", "the first of them as well");
	is_error(recording_add_long(w, WIRE_SYNC, "", 0, &e), EINVAL, EXIT_FAILED, "kind 1",
		 "and a kernel kind that is added as a long one");
	is_error(recording_add_long(w, WIRE_END, "", RECORDING_LONG_MAX + 1, &e), EINVAL, EXIT_FAILED, "8388609",
		 "and one beyond the limit");
	add_json(w, &in, WIRE_END, "{}");
	recording_close(w, &e);
	ok(!read_path(path, &out, &d) && lists_same(&in, &out) && no_damage(&d), "unknown kinds of any size come back");
	recording_open(path, &r, &e);
	while (recording_next(r, &rec)) {
		aligned = aligned && (!rec.head || (uintptr_t)rec.head % 8 == 0);
		for (size_t i = rec.size; rec.head && i % 8; i++)
			padded = padded && !((const char *)rec.head)[i];
	}
	ok(aligned && padded, "records lie on multiples of 8, with zeroes between");
	ok(!recording_next(r, &rec) && !recording_next(r, &rec) && !recording_damage(r, &d), "the end stays the end");
	recording_free(r);
	list_free(&in);
	list_free(&out);
	free(path);
}

/* The bytes, against the document. */
static void test_layout(void)
{
	struct wire_follow f = { .head = { .kind = WIRE_FOLLOW, .size = sizeof(f), .cpu = 3 }, .tid = 0x01020304 };
	struct recording_writer *w;
	uint8_t *bytes, payload[48 + 24] = { 0 }, head[16], block[FORGE_BLOCK];
	struct forge_block b = { .length = 72, .records = 2 };
	char *path = in_dir("layout");
	uint8_t unpacked[72];
	size_t n;

	recording_create(path, &w, &e);
	recording_add(w, &f.head, &e);
	recording_add_long(w, WIRE_END, "{}", 2, &e);
	recording_close(w, &e);
	slurp(path, &bytes, &n);
	memcpy(payload, &f, 48);
	forge_put(payload + 48, WIRE_END, 2);
	forge_put(payload + 50, 18, 2);
	memcpy(payload + 64, "{}", 2);
	b.stored = (uint32_t)(n - FORGE_FILE - FORGE_BLOCK);
	b.crc = (uint32_t)crc32(0, bytes + FORGE_FILE + FORGE_BLOCK, b.stored);
	forge_file(head, 3);
	forge_block(block, &b);
	ok(n > 56 && !memcmp(bytes, head, 16), "the file begins with magic, version and checksum");
	ok(n > 56 && !memcmp(bytes + 16, block, FORGE_BLOCK), "then comes the head of a block");
	ok(b.stored < 72 && ZSTD_decompress(unpacked, 72, bytes + 56, b.stored) == 72 && !memcmp(unpacked, payload, 72),
	   "then its payload as a zstd frame: the records as they are, padded to 8");
	free(bytes);
	free(path);
}

/* ---- truncation ---- */

static void test_truncation(void)
{
	bool opened = true, intact = true, noted = true, refused = true, lost = true;
	struct sample s;

	make_sample(&s);
	for (size_t cut = 0; cut < s.n; cut++) {
		struct list out = { 0 };
		struct recording_damage d;
		int err = read_all(forge_fd(s.bytes, cut), &out, &d);
		size_t blocks = 0, want, starts;

		if (cut < FORGE_FILE) {
			refused = refused && err == -ENODATA && e.status == EXIT_FAILED;
			continue;
		}
		while (blocks < s.blocks && s.end[blocks] <= cut)
			blocks++;
		want = blocks ? s.until[blocks - 1] : 0;
		starts = blocks ? s.end[blocks - 1] : FORGE_FILE;
		opened = opened && !err;
		intact = intact && out.n == want && in_order_of(&out, &s.all);
		noted = noted && d.no_end && d.bytes == cut - starts && d.blocks == (cut > starts);
		if (cut >= starts + FORGE_BLOCK)
			lost = lost && d.records == s.until[blocks] - want && !d.more;
		else
			lost = lost && !d.records && d.more == (cut > starts);
		list_free(&out);
	}
	diag("%zu truncation points, %zu blocks", s.n, s.blocks);
	ok(refused, "cut within its first 16 bytes, a file is refused");
	ok(opened, "cut anywhere else, it can be read");
	ok(intact, "all records of the blocks before the cut come out, and no others");
	ok(noted, "the missing end, the damaged block and its bytes are counted");
	ok(lost, "the lost records are counted where the block's head is there, and said to be more where it isn't");
	free_sample(&s);
}

/* ---- mutations ---- */

struct edit {
	size_t at, gone; /* this many bytes are taken out there, */
	uint8_t put[64]; /* and these put in */
	size_t n;
};

static struct edit random_edit(const uint8_t *bytes, size_t n)
{
	struct edit m = { .at = rnd() % n };
	uint64_t how = rnd() % 5;
	size_t room = n - m.at;

	if (how < 3) /* not an insertion */
		m.gone = how ? 1 + rnd() % (room < 64 ? room : 64) : 1;
	if (how != 2) /* not a deletion */
		m.n = how < 2 ? m.gone : 1 + rnd() % 64;
	for (size_t i = 0; i < m.n; i++)
		m.put[i] = (uint8_t)rnd();
	if (how == 0)
		m.put[0] = bytes[m.at] ^ (uint8_t)(1 << rnd() % 8);
	if (how == 4) /* a run of the file itself comes twice */
		for (size_t i = 0, from = rnd() % n; i < m.n; i++)
			m.put[i] = bytes[(from + i) % n];
	return m;
}

static uint8_t *apply(const uint8_t *bytes, size_t *n, const struct edit *m)
{
	uint8_t *out = xcalloc(1, *n + m->n);

	memcpy(out, bytes, m->at);
	memcpy(out + m->at, m->put, m->n);
	memcpy(out + m->at + m->n, bytes + m->at + m->gone, *n - m->at - m->gone);
	*n = *n + m->n - m->gone;
	return out;
}

/* Of a block that is whole the records have come out, each in its place. */
static bool untouched_came(const struct sample *s, const struct edit *m, const struct list *out, size_t *touched)
{
	struct list want = { 0 };
	bool good;

	*touched = 0;
	for (size_t b = 0; b < s->blocks; b++) {
		size_t start = b ? s->end[b - 1] : FORGE_FILE, first = b ? s->until[b - 1] : 0;
		bool hit = m->gone ? m->at < s->end[b] && m->at + m->gone > start : m->at > start && m->at < s->end[b];

		*touched += hit;
		for (size_t i = first; !hit && i < s->until[b]; i++)
			list_add(&want, s->all.r[i].kind, s->all.r[i].data, s->all.r[i].size);
	}
	good = in_order_of(&want, out);
	list_free(&want);
	return good;
}

static void test_one_mutation(const struct sample *s)
{
	bool subset = true, complete = true, counted = true, opened = true;
	unsigned int hits = 0;

	for (int i = 0; i < 5000; i++) {
		struct edit m = random_edit(s->bytes, s->n);
		size_t n = s->n, touched = 0;
		uint8_t *bytes = apply(s->bytes, &n, &m);
		struct list out = { 0 };
		struct recording_damage d;
		int err = read_all(forge_fd(bytes, n), &out, &d);
		bool same_file = n == s->n && !memcmp(bytes, s->bytes, n);

		/* with the file's head gone and the first block not where it should be, it could be anything */
		opened = opened && (!err || m.at < FORGE_FILE + FORGE_BLOCK);
		if (!err) {
			subset = subset && in_order_of(&out, &s->all);
			complete = complete && untouched_came(s, &m, &out, &touched);
			counted = counted && no_damage(&d) == same_file && d.blocks <= touched;
			hits += touched > 0;
		}
		list_free(&out);
		free(bytes);
	}
	diag("%u of 5000 mutations hit a block", hits);
	ok(opened, "5,000 times one mutation: the file is still known for a recording");
	ok(subset, "nothing comes out that was not put in, and in the same order");
	ok(complete, "every block that was not touched comes out whole");
	ok(counted, "the damage is seen, and no more blocks counted than were hit");
}

/* Every byte of every block, one at a time: exactly that block is lost, and exactly its records are counted. */
static void test_every_byte(const struct sample *s)
{
	bool exact = true;

	for (size_t b = 0; b < s->blocks; b++) {
		size_t start = b ? s->end[b - 1] : FORGE_FILE, first = b ? s->until[b - 1] : 0;

		for (size_t at = start; at < s->end[b]; at++) {
			struct list out = { 0 };
			struct recording_damage d;
			bool last_head = b == s->blocks - 1 && at < start + FORGE_BLOCK;

			s->bytes[at] ^= 0x10;
			exact = exact && !read_all(forge_fd(s->bytes, s->n), &out, &d) &&
				out.n == s->all.n - (s->until[b] - first) && in_order_of(&out, &s->all) &&
				d.blocks == 1 && d.bytes == s->end[b] - start && d.more == last_head &&
				d.records == (last_head ? 0 : s->until[b] - first) && d.no_end == (b == s->blocks - 1);
			s->bytes[at] ^= 0x10;
			list_free(&out);
		}
	}
	ok(exact, "any one byte of a block changed: that block is lost, its records and bytes are counted, no others");
}

static void test_damage(void)
{
	struct recording_damage d;
	struct list out = { 0 };
	struct sample s;
	uint8_t *twice;

	make_sample(&s);
	test_every_byte(&s);
	test_one_mutation(&s);

	twice = xcalloc(2, s.n);
	memcpy(twice, s.bytes, s.n);
	memcpy(twice + s.n, s.bytes, s.n);
	ok(!read_all(forge_fd(twice, 2 * s.n), &out, &d) && lists_same(&out, &s.all),
	   "of two recordings in one file, blocks that came already don't come again");
	ok(d.bytes == s.n && !d.blocks && !d.records && !d.no_end, "what they take is passed over");
	list_free(&out);

	memset(twice, 0, 16);
	ok(!read_all(forge_fd(twice, s.n), &out, &d) && lists_same(&out, &s.all) && d.bytes == 16 && !d.blocks,
	   "with nothing but the file's head wiped out, all comes out");
	list_free(&out);
	free(twice);
	free_sample(&s);
}

/* Byte by byte, each in a read of its own: nothing depends on where reads end. */
static void test_drops(void)
{
	struct list whole = { 0 }, drops = { 0 };
	struct recording_damage d, same;
	struct sample s;
	int ends[2];
	pid_t child;

	make_sample(&s);
	s.bytes[s.end[1] + 5] ^= 1;
	s.bytes[s.end[3] + 100] ^= 1;
	if (read_all(forge_fd(s.bytes, s.n), &whole, &d) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		abort();
	child = fork();
	if (!child) {
		for (size_t i = 0; i < s.n && send(ends[1], s.bytes + i, 1, 0) == 1;)
			i++;
		_exit(0);
	}
	close(ends[1]);
	ok(!read_all(ends[0], &drops, &same) && lists_same(&whole, &drops) && d.blocks == 2 && same.blocks == 2 &&
		   d.records == same.records && d.bytes == same.bytes && d.no_end == same.no_end,
	   "read byte by byte, a damaged recording yields the same");
	waitpid(child, NULL, 0);
	list_free(&whole);
	list_free(&drops);
	free_sample(&s);
}

/* ---- long ones, which a thread reads ahead ---- */

static void write_to(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done <= 0)
			_exit(0);
		bytes += done;
		n -= (size_t)done;
	}
}

/* Into a pipe, which stays open: the reader would wait for more. */
static pid_t write_and_wait(int ends[2], const uint8_t *bytes, size_t n)
{
	pid_t child;

	if (pipe(ends))
		abort();
	child = fork();
	if (!child) {
		close(ends[0]);
		write_to(ends[1], bytes, n);
		pause();
		_exit(0);
	}
	close(ends[1]);
	return child;
}

static size_t block_at(const uint8_t *bytes, size_t number)
{
	size_t at = FORGE_FILE;

	while (number--)
		at += FORGE_BLOCK + forge_get(bytes + at + 12, 4);
	return at;
}

static void test_long(void)
{
	char *path = in_dir("long");
	struct list in = { 0 }, out = { 0 };
	struct recording_writer *w;
	struct recording_record rec;
	struct recording_damage d;
	struct recording *r;
	size_t n, records, came = 0;
	uint8_t *bytes;
	int ends[2];
	pid_t child;

	recording_create(path, &w, &e);
	for (int i = 0; i < 20000; i++)
		add_random(w, &in);
	add_json(w, &in, WIRE_END, "{}");
	recording_close(w, &e);
	slurp(path, &bytes, &n);
	records = forge_get(bytes + block_at(bytes, 12) + 16, 4);
	bytes[block_at(bytes, 12) + 100] ^= 1;
	ok(!read_all(forge_fd(bytes, n), &out, &d) && d.blocks == 1 && d.records == records &&
		   out.n == in.n - records && in_order_of(&out, &in),
	   "of a long one with a damaged block all else comes out");
	child = write_and_wait(ends, bytes, n - 100);
	ok(!recording_open_fd(ends[0], "pipe", &r, &e), "a long one comes through a pipe");
	while (came < in.n * 3 / 4 && recording_next(r, &rec))
		came++;
	recording_free(r);
	ok(came == in.n * 3 / 4, "who has enough of it can stop, and need not wait for the rest");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	list_free(&in);
	list_free(&out);
	free(bytes);
	free(path);
}

/* ---- forged: right checksums, wrong everything else ---- */

/* How many records come out of a file of one block with this head and payload. */
static size_t forged(struct forge_block b, const void *payload, size_t n, struct recording_damage *d)
{
	uint8_t *bytes = xcalloc(1, FORGE_FILE + FORGE_BLOCK + n);
	struct list out = { 0 };
	size_t came;

	forge_file(bytes, 3);
	b.crc = (uint32_t)crc32(0, payload, (uInt)n);
	forge_block(bytes + FORGE_FILE, &b);
	memcpy(bytes + FORGE_FILE + FORGE_BLOCK, payload, n);
	if (read_all(forge_fd(bytes, FORGE_FILE + FORGE_BLOCK + n), &out, d))
		abort();
	came = out.n;
	list_free(&out);
	free(bytes);
	return came;
}

static void test_lengths(void)
{
	static const uint32_t huge[] = { 0, 1u << 20, (1u << 20) + 8, 1u << 31, UINT32_MAX, UINT32_MAX - 7 };
	uint8_t payload[16] = { 0 };
	struct recording_damage d;
	bool none = true, seen = true;

	payload[0] = 9;
	payload[2] = payload[10] = 8;
	payload[8] = 9;
	is_u64(forged((struct forge_block){ 16, 16, 2, 0, 0, 0, 0 }, payload, 16, &d), 2, "a forged block is read");
	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 6; j++)
			for (size_t k = 0; k < 6; k++) {
				struct forge_block b = { huge[i], huge[j], huge[k], huge[j], ~0ull - i, 0, 0 };

				none = none && !forged(b, payload, 16, &d);
				seen = seen && d.bytes == FORGE_BLOCK + 16 && d.blocks;
			}
	ok(none && seen, "huge lengths are damage");
	for (uint32_t size = 0; size <= UINT16_MAX; size += size < 64 ? 1 : 4093) {
		forge_put(payload + 10, size, 2);
		none = none &&
		       (size == 8) == (forged((struct forge_block){ 16, 16, 2, 0, 0, 0, 0 }, payload, 16, &d) == 2);
	}
	ok(none, "so are records that don't tile their block");
	forge_put(payload + 10, 8, 2);
	none = !forged((struct forge_block){ 16, 16, 1, 0, 0, 0, 0 }, payload, 16, &d) &&
	       !forged((struct forge_block){ 16, 16, 3, 0, 0, 0, 0 }, payload, 16, &d);
	payload[8] = WIRE_END;
	none = none && !forged((struct forge_block){ 16, 16, 2, 0, 0, 0, 0 }, payload, 16, &d);
	ok(none, "a wrong number of them, and pieces shorter than their head");
}

/* A payload that compresses, and what is stored of it: the same stream, and spoilt. */
static void test_stream(const uint8_t *stored, uint32_t n)
{
	struct forge_block b = { .length = 400, .stored = n, .records = 1 };
	struct recording_damage d;

	is_u64(forged(b, stored, n, &d), 1, "a forged stream is read");
	b.length = 392;
	is_u64(forged(b, stored, n, &d), 0, "one that is longer than the block says isn't");
	b.length = 408;
	is_u64(forged(b, stored, n, &d), 0, "nor a shorter one");
	b.length = 400;
	b.stored = n + 1;
	is_u64(forged(b, stored, n + 1, &d), 0, "nor one with a byte behind it");
	b.stored = n - 1;
	is_u64(forged(b, stored, n - 1, &d), 0, "nor one with a byte less");
	b.stored = n;
	b.version = 2;
	is_u64(forged(b, stored, n, &d), 0, "nor as one of the version before");
	b.version = 4;
	is_u64(forged(b, stored, n, &d), 0, "nor as one of a version that isn't known");
}

static void test_streams(void)
{
	static const uint8_t payload[400] = { 9, 0, 144, 1 };
	struct forge_block b;
	uint8_t stored[500] = { 0 };
	struct recording_damage d;
	size_t frame = ZSTD_compress(stored, sizeof(stored), payload, 400, 1);

	test_stream(stored, (uint32_t)frame);
	/* two frames that come to the right length, and one that can be skipped before the frame */
	frame = ZSTD_compress(stored, sizeof(stored), payload, 200, 1);
	frame += ZSTD_compress(stored + frame, sizeof(stored) - frame, payload + 200, 200, 1);
	b = (struct forge_block){ .length = 400, .stored = (uint32_t)frame, .records = 1 };
	is_u64(forged(b, stored, frame, &d), 0, "two zstd frames are not one");
	forge_put(stored, 0x184d2a50, 4);
	forge_put(stored + 4, 0, 4);
	frame = 8 + ZSTD_compress(stored + 8, sizeof(stored) - 8, payload, 400, 1);
	b.stored = (uint32_t)frame;
	is_u64(forged(b, stored, frame, &d), 0, "nor is one with a frame to be skipped before it");
}

struct piece {
	uint16_t kind;
	uint32_t item;
	uint16_t number, flags;
};

/* Pieces of a long record, each with one letter, in a block. What comes out, joined by blanks. */
static char *joined(const struct piece *p, size_t n, struct recording_damage *d)
{
	uint8_t bytes[FORGE_FILE + FORGE_BLOCK + 24 * 8] = { 0 }, *at = bytes + FORGE_FILE + FORGE_BLOCK;
	struct forge_block b = { (uint32_t)n * 24, (uint32_t)n * 24, (uint32_t)n, 0, 0, 0, 0 };
	struct list out = { 0 };
	struct buf text = { 0 };

	for (size_t i = 0; i < n; i++, at += 24) {
		forge_put(at, p[i].kind, 2);
		forge_put(at + 2, 17, 2);
		forge_put(at + 8, p[i].item, 4);
		forge_put(at + 12, p[i].number, 2);
		forge_put(at + 14, p[i].flags, 2);
		at[16] = (uint8_t)('a' + i);
	}
	b.crc = (uint32_t)crc32(0, bytes + FORGE_FILE + FORGE_BLOCK, b.length);
	forge_file(bytes, 3);
	forge_block(bytes + FORGE_FILE, &b);
	if (read_all(forge_fd(bytes, FORGE_FILE + FORGE_BLOCK + b.length), &out, d))
		abort();
	for (size_t i = 0; i < out.n; i++)
		buf_printf(&text, "%s%.*s", i ? " " : "", (int)out.r[i].size, (const char *)out.r[i].data);
	list_free(&out);
	return text.data;
}

static void is_joined(const struct piece *p, size_t n, const char *want, uint64_t lost, const char *name)
{
	struct recording_damage d;
	char *got = joined(p, n, &d);

	if (!ok(!strcmp(got ? got : "", want) && d.records == lost, "%s", name))
		diag("got '%s' and %" PRIu64 " lost", got, d.records);
	free(got);
}

static void test_joining(void)
{
	const uint16_t h = WIRE_HEADER, c = WIRE_COUNTS;

	is_joined((struct piece[]){ { h, 0, 0, 1 }, { h, 0, 1, 1 }, { h, 0, 2, 0 }, { c, 1, 0, 0 } }, 4, "abc d", 0,
		  "pieces are joined");
	is_joined((struct piece[]){ { h, 0, 1, 0 }, { c, 1, 0, 0 } }, 2, "b", 1, "a piece without a beginning is lost");
	is_joined((struct piece[]){ { h, 0, 0, 1 }, { h, 0, 2, 0 }, { c, 1, 0, 0 } }, 3, "c", 2, "one with a gap, too");
	is_joined((struct piece[]){ { h, 0, 0, 0 }, { h, 0, 1, 0 } }, 2, "a", 1,
		  "so is one that goes on with what has ended");
	is_joined((struct piece[]){ { h, 0, 0, 1 }, { h, 1, 1, 0 } }, 2, "", 2, "one that goes on with another");
	is_joined((struct piece[]){ { h, 0, 0, 1 }, { c, 0, 1, 0 } }, 2, "", 2, "or with another kind");
	is_joined((struct piece[]){ { h, 0, 0, 1 }, { h, 1, 0, 0 } }, 2, "b", 1, "or with another's beginning");
	is_joined((struct piece[]){ { h, 0, 0, 1 }, { h, 0, 1, 1 } }, 2, "", 2, "one without an end");
	is_joined((struct piece[]){ { h, 0, 0, 0xfffe }, { c, 1, 0, 0 } }, 2, "a b", 0, "unknown flags are passed over");
}

/* Heads within heads, every one right and every payload wrong: the work must not grow with the square. */
static void test_nested(void)
{
	size_t n = 4u << 20;
	uint8_t *bytes = xcalloc(1, n);
	struct recording_damage d;
	struct list out = { 0 };
	struct rusage before, after;
	double seconds;

	forge_file(bytes, 3);
	for (size_t at = 16, i = 0; at + FORGE_BLOCK <= n; at += FORGE_BLOCK, i++) {
		struct forge_block b = { (1u << 20), (1u << 20), 1, (uint32_t)i, i, 12345, 0 };

		forge_block(bytes + at, &b);
	}
	getrusage(RUSAGE_SELF, &before);
	ok(!read_all(forge_fd(bytes, n), &out, &d) && !out.n, "100,000 forged heads within each other's blocks");
	getrusage(RUSAGE_SELF, &after);
	seconds = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
		  (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
	if (!ok(seconds < 10, "are soon done with"))
		diag("%.1f s", seconds);
	free(bytes);
}

/* ---- what is no recording ---- */

static void refused(const char *bytes, size_t n, int code, const char *words, const char *name)
{
	struct recording_damage d;
	struct list out = { 0 };

	is_error(read_all(forge_fd(bytes, n), &out, &d), code, EXIT_FAILED, words, name);
}

static void test_foreign(void)
{
	uint8_t newer[16], old[16];
	struct recording *r = NULL;
	char *path = in_dir("missing"), text[4096];

	refused("", 0, ENODATA, "it is empty", "an empty file");
	refused("\x89"
		"BTR",
		4, ENODATA, "ends within its first 16 bytes", "a file that ends in its head");
	refused("x", 1, EBADMSG, "is not a recording made by barriertrace", "a file of one byte");
	refused("{\"schema\": 1}\n", 14, EBADMSG, "is not a recording", "JSON");
	refused("\x7f"
		"ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0>",
		19, EBADMSG, "is not a recording", "a program");
	memset(text, 'x', sizeof(text));
	refused(text, sizeof(text), EBADMSG, "is not a recording", "a text");
	memset(text, 0, sizeof(text));
	refused(text, sizeof(text), EBADMSG, "is not a recording", "zeroes");
	forge_file(newer, 4);
	refused((char *)newer, 16, EPROTONOSUPPORT, "format 4, and this barriertrace", "a newer format");
	refused((char *)newer, 16, EPROTONOSUPPORT, "reads format 3: use a newer one", "and what would read it");
	forge_file(old, 2);
	refused((char *)old, 16, EPROTONOSUPPORT, "reads format 3: use the older one",
		"the format before, which may hold the kernel's addresses");
	forge_file(old, 0);
	refused((char *)old, 16, EPROTONOSUPPORT, "format 0", "a format that never was");
	is_error(recording_open(path, &r, &e), ENOENT, EXIT_FAILED, "cannot read /tmp/", "a file that isn't there");
	is_error(recording_open(dir, &r, &e), EISDIR, EXIT_FAILED, "Is a directory", "a directory");
	ok(!r, "nothing is given out");
	free(path);
}

int main(void)
{
	static const char *const made[] = {
		"round",
		"sizes",
		"layout",
		"sample",
	};
	int before = open_files();

	if (!mkdtemp(dir))
		return 1;
	test_round_trip();
	test_sizes();
	test_layout();
	test_truncation();
	test_damage();
	test_drops();
	test_long();
	test_lengths();
	test_streams();
	test_joining();
	test_nested();
	test_foreign();
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		char *path = in_dir(made[i]);

		unlink(path);
		free(path);
	}
	rmdir(dir);
	ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
