// SPDX-License-Identifier: GPL-2.0-only
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "caller.h"
#include "mem.h"
#include "num.h"

/* The layout is public: docs/recording-format.md. */
#define FILE_MAGIC	"\x89" "BTREC\r\n"
#define FILE_HEAD	16		/* magic 8, version 4, CRC 4 */
#define BLOCK_MAGIC	"\xf5" "BTBLK"	/* and then the version, should the file's head be damaged: '1' or '2', '\n' */
#define BLOCK_HEAD	40
#define MAGIC_SIZE	8
#define COMMON_SIZE	6		/* of a block's magic: what all versions have in common */
#define ZSTD_LEVEL	1		/* a third less than zlib's level 1, in a quarter of its time */
#define BLOCK_TARGET	(256u << 10)	/* what the writer fills */
#define BLOCK_MAX	(1u << 20)	/* what a reader accepts, before and after inflating */
#define LOOK_AGAIN_MAX	(64ull << 20)	/* bytes of damaged blocks that are searched for other blocks, in all */
#define READ_AHEAD	(64u << 10)
#define AHEAD		4u		/* blocks that a thread reads ahead */
#define THREAD_AFTER	8u		/* blocks from which it is worth one */
#define VARINT_MAX	10

/* A piece of a long record. */
struct part {
	struct wire_head head;
	uint32_t item;		/* counts the long records of the file */
	uint16_t number;	/* of this piece, from 0 */
	uint16_t flags;
};
WIRE_ASSERT_SIZE(struct part, 16);

#define PART_MORE	1	/* not the last piece */
#define PART_BYTES	(65528u - sizeof(struct part))	/* the largest u16 that is a multiple of 8, less the head */

struct block_head {
	uint32_t version;	/* of the format: 1 is deflated, 2 is a zstd frame */
	uint32_t length;	/* of the payload */
	uint32_t stored;	/* of the payload in the file: compressed if shorter than length */
	uint32_t records;
	uint32_t sequence;	/* of the block, from 0 */
	uint64_t first;		/* records in the blocks before */
	uint32_t crc;		/* of the payload as it is stored */
};

static size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static uint32_t crc_of(const void *p, size_t n)
{
	return (uint32_t)crc32_z(0, p, n);
}

static void put_head(uint8_t *p, const struct block_head *h)
{
	memcpy(p, BLOCK_MAGIC, COMMON_SIZE);
	p[6] = (uint8_t)('0' + h->version);
	p[7] = '\n';
	put32(p + 8, h->length);
	put32(p + 12, h->stored);
	put32(p + 16, h->records);
	put32(p + 20, h->sequence);
	put64(p + 24, h->first);
	put32(p + 32, h->crc);
	put32(p + 36, crc_of(p, 36));
}

/* Whether the head of a block stands here, with lengths that can be. */
static bool get_head(const uint8_t *p, struct block_head *h)
{
	if (memcmp(p, BLOCK_MAGIC, COMMON_SIZE) || p[6] < '1' || p[6] > '0' + RECORDING_VERSION || p[7] != '\n' ||
	    get32(p + 36) != crc_of(p, 36))
		return false;
	h->version = p[6] - '0';
	h->length = get32(p + 8);
	h->stored = get32(p + 12);
	h->records = get32(p + 16);
	h->sequence = get32(p + 20);
	h->first = get64(p + 24);
	h->crc = get32(p + 32);
	return h->length && h->length <= BLOCK_MAX && h->length % 8 == 0 && h->stored && h->stored <= h->length &&
	       h->records && h->records <= h->length / sizeof(struct wire_head);
}

/* The records are stored as they lie in memory. */
static int check_machine(struct err *e)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return 0;
	return err_set(e, ENOTSUP, EXIT_FAILED, "recordings can be written and read on little-endian machines only");
}

/* ---- writing ---- */

struct recording_writer {
	int fd;
	bool can_cut;		/* the file holds nothing else */
	bool replaces;		/* what the file holds goes with our first block */
	char *name, *made;	/* made: the file wasn't there before */
	ZSTD_CCtx *zstd;
	uint8_t *block;		/* being filled: BLOCK_TARGET */
	size_t len;
	uint32_t records;	/* in it */
	uint8_t *out;		/* head and stored payload */
	uint32_t sequence, item;
	struct recording_written written;
};

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int open_for_writing(const char *path, bool *made, struct err *e)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0600);

	*made = fd >= 0;
	if (fd >= 0) {
		caller_give(fd);
		return fd;
	}
	if (errno == EEXIST)
		fd = open(path, flags);
	if (fd < 0 && errno == ELOOP)
		return err_set(e, ELOOP, EXIT_FAILED, "will not write through the symbolic link %s", path);
	return fd < 0 ? err_set(e, errno, EXIT_FAILED, "cannot write %s: %s", path, strerror(errno)) : fd;
}

static void writer_free(struct recording_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	if (w->fd >= 0)
		close(w->fd);
	free(w->block);
	free(w->out);
	free(w->name);
	free(w->made);
	free(w);
}

static int begin_file(struct recording_writer *w)
{
	uint8_t head[FILE_HEAD];
	struct stat st;
	int err;

	if ((w->replaces && ftruncate(w->fd, 0)) || fstat(w->fd, &st))
		return -errno;
	w->replaces = false;
	w->can_cut = S_ISREG(st.st_mode) && !st.st_size && lseek(w->fd, 0, SEEK_CUR) == 0;
	memcpy(head, FILE_MAGIC, MAGIC_SIZE);
	put32(head + 8, RECORDING_VERSION);
	put32(head + 12, crc_of(head, 12));
	err = write_all(w->fd, head, sizeof(head));
	if (!err)
		w->written.bytes = sizeof(head);
	return err;
}

static int writer_new(int fd, const char *name, bool replaces, struct recording_writer **out, struct err *e)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int err = check_machine(e);

	w->fd = fd;
	w->name = xstrdup(name);
	w->replaces = replaces;
	w->block = xcalloc(1, BLOCK_TARGET);
	w->out = xcalloc(1, BLOCK_HEAD + BLOCK_TARGET);
	w->zstd = xmust(ZSTD_createCCtx());
	if (!err && !replaces) {
		err = begin_file(w);
		if (err)
			err_set(e, -err, EXIT_FAILED, "cannot write %s: %s", name, strerror(-err));
	}
	if (err) {
		writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

int recording_create_fd(int fd, const char *name, struct recording_writer **out, struct err *e)
{
	return writer_new(fd, name, false, out, e);
}

static int create_file(const char *path, struct recording_writer **out, struct err *e)
{
	bool made;
	int fd = open_for_writing(path, &made, e), err;
	struct stat st;

	if (fd < 0)
		return fd;
	err = writer_new(fd, path, !made && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size, out, e);
	if (err && made)
		unlink(path);
	else if (made)
		(*out)->made = xstrdup(path);
	return err;
}

int recording_create(const char *path, struct recording_writer **out, struct err *e)
{
	int fd;

	if (!*path)
		return err_set(e, EINVAL, EXIT_USAGE, "a recording needs a file name");
	if (strcmp(path, "-"))
		return create_file(path, out, e);
	if (isatty(STDOUT_FILENO))
		return err_set(e, EINVAL, EXIT_USAGE, "will not write a recording to a terminal");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, errno, EXIT_FAILED, "cannot write standard output: %s", strerror(errno));
	return recording_create_fd(fd, "standard output", out, e);
}

void recording_stop(struct recording_writer *w)
{
	w->written.stopped = true;
	w->written.not_kept += w->records;
	w->len = w->records = 0;
}

/* Half a block is of no use to anybody: the file ends with the last whole one. */
static int stop(struct recording_writer *w, int code, struct err *e)
{
	const char *rest = "";

	recording_stop(w);
	if (!w->can_cut || ftruncate(w->fd, (off_t)w->written.bytes))
		rest = " and perhaps half a block";
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s; the recording stops here, it has %s records%s (%s)",
		       w->name, strerror(code), num_count(w->written.records).s, rest,
		       num_bytes(w->written.bytes, 0).s);
}

/* Puts the payload behind the place of the head: compressed, or, where that doesn't save anything, as it is. */
static uint32_t store(struct recording_writer *w)
{
	size_t n = ZSTD_compressCCtx(w->zstd, w->out + BLOCK_HEAD, w->len - 1, w->block, w->len, ZSTD_LEVEL);

	if (!ZSTD_isError(n))
		return (uint32_t)n;
	memcpy(w->out + BLOCK_HEAD, w->block, w->len);
	return (uint32_t)w->len;
}

int recording_flush(struct recording_writer *w, struct err *e)
{
	struct block_head h = {
		.version = RECORDING_VERSION, .length = (uint32_t)w->len, .records = w->records, .sequence = w->sequence,
		.first = w->written.records,
	};
	int err;

	if (!w->records)
		return 0;
	h.stored = store(w);
	h.crc = crc_of(w->out + BLOCK_HEAD, h.stored);
	put_head(w->out, &h);
	err = w->replaces ? begin_file(w) : 0;
	if (!err)
		err = write_all(w->fd, w->out, BLOCK_HEAD + h.stored);
	if (err)
		return stop(w, -err, e);
	w->sequence++;
	w->written.records += w->records;
	w->written.bytes += BLOCK_HEAD + h.stored;
	w->len = w->records = 0;
	return 0;
}

/* Room for one record, zeroed where it will be padded; NULL when the writer has stopped. */
static uint8_t *room(struct recording_writer *w, size_t size, int *err, struct err *e)
{
	uint8_t *p;

	*err = 0;
	if (!w->written.stopped && w->len + align8(size) > BLOCK_TARGET)
		*err = recording_flush(w, e);
	if (w->written.stopped) {
		w->written.not_kept++;
		return NULL;
	}
	p = w->block + w->len;
	w->len += align8(size);
	w->records++;
	memset(w->block + w->len - 8, 0, 8);
	return p;
}

int recording_add(struct recording_writer *w, const struct wire_head *record, struct err *e)
{
	uint8_t *p;
	int err;

	if (record->size < sizeof(*record) || record->kind >= RECORDING_LONG_KINDS)
		return err_set(e, EINVAL, EXIT_FAILED, "a record of kind %u and size %u cannot be recorded",
			       record->kind, record->size);
	p = room(w, record->size, &err, e);
	if (p)
		memcpy(p, record, record->size);
	return err;
}

int recording_add_long(struct recording_writer *w, uint16_t kind, const void *bytes, size_t n, struct err *e)
{
	struct part part = { .head.kind = kind, .item = w->item };
	size_t at = 0, now;
	uint8_t *p;
	int err;

	if (kind < RECORDING_LONG_KINDS || n > RECORDING_LONG_MAX)
		return err_set(e, EINVAL, EXIT_FAILED, "a record of kind %u and %zu bytes cannot be recorded", kind, n);
	w->item++;
	do {
		now = n - at < PART_BYTES ? n - at : PART_BYTES;
		part.head.size = (uint16_t)(sizeof(part) + now);
		part.flags = at + now < n ? PART_MORE : 0;
		p = room(w, part.head.size, &err, e);
		if (!p)
			return err;
		memcpy(p, &part, sizeof(part));
		if (now)
			memcpy(p + sizeof(part), (const uint8_t *)bytes + at, now);
		at += now;
		part.number++;
	} while (at < n);
	return 0;
}

const struct recording_written *recording_written(const struct recording_writer *w)
{
	return &w->written;
}

uint64_t recording_size_bound(const struct recording_writer *w)
{
	return w->written.bytes + (w->replaces ? FILE_HEAD : 0) + (w->len ? BLOCK_HEAD + w->len : 0);
}

void recording_drop(struct recording_writer *w)
{
	if (!w)
		return;
	if (w->made && !w->sequence)
		unlink(w->made);
	writer_free(w);
}

int recording_close(struct recording_writer *w, struct err *e)
{
	int err;

	if (!w)
		return 0;
	err = recording_flush(w, e);
	if (!err && w->replaces && !w->written.stopped) {
		err = begin_file(w);
		if (err)
			stop(w, -err, e);
	}
	if (close(w->fd) && !err && !w->written.stopped)
		err = err_set(e, errno, EXIT_FAILED, "cannot write %s: %s", w->name, strerror(errno));
	w->fd = -1;
	writer_free(w);
	return err;
}

/* ---- reading: a window on the file, moved forward only ---- */

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
	size_t at, have, cap;		/* window[at..have) is still to be looked at */
	bool eof;
	z_stream z;			/* for blocks of version 1 */
	ZSTD_DCtx *zstd;
	struct block block[AHEAD];
	uint64_t next_sequence, next_record;	/* what an intact block would go on with */
	uint64_t damaged_sequence, damaged_record;	/* where the last damaged block with an intact head ends */
	bool skipped;			/* bytes since the last intact block */
	uint64_t looked_again;
	pthread_t thread;
	pthread_mutex_t lock;		/* for the following five */
	pthread_cond_t changed;
	uint64_t made, used;		/* blocks; the present one is block[used % AHEAD] */
	bool done, quit;		/* the thread has come to the end; it shall end */
	bool threaded, holding;		/* a thread is running; the present block is being taken */
	size_t at_record;		/* in it */
	uint64_t lost_parts;
	struct buf joined;		/* of a long record */
	bool joining, ended;
	uint16_t kind;			/* of it */
	uint32_t item, parts;
	struct recording_damage damage;
};

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

/* ---- reading: blocks ---- */

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

static bool inflate_block(struct recording *r, const uint8_t *stored, const struct block_head *h, uint8_t *to)
{
	if (inflateReset(&r->z) != Z_OK)
		return false;
	r->z.next_in = (uint8_t *)stored;
	r->z.avail_in = h->stored;
	r->z.next_out = to;
	r->z.avail_out = h->length;
	return inflate(&r->z, Z_FINISH) == Z_STREAM_END && !r->z.avail_out && !r->z.avail_in;
}

/* One frame of today's zstd, and nothing but that. */
static bool unzstd_block(struct recording *r, const uint8_t *stored, const struct block_head *h, uint8_t *to)
{
	return h->stored > 4 && get32(stored) == ZSTD_MAGICNUMBER &&
	       ZSTD_findFrameCompressedSize(stored, h->stored) == h->stored &&
	       ZSTD_decompressDCtx(r->zstd, to, h->length, stored, h->stored) == h->length;
}

static bool decompress(struct recording *r, const uint8_t *stored, const struct block_head *h, uint8_t *to)
{
	return h->version == 1 ? inflate_block(r, stored, h, to) : unzstd_block(r, stored, h, to);
}

/* The records tile the payload and are as many as the head says. */
static bool records_fit(const uint8_t *payload, const struct block_head *h)
{
	uint32_t records = 0;
	size_t at = 0;

	while (at < h->length) {
		const struct wire_head *head = (const void *)(payload + at);
		size_t least = head->kind < RECORDING_LONG_KINDS ? sizeof(*head) : sizeof(struct part);

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

	if (crc_of(stored, h->stored) != h->crc)
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

	if (need(r, whole + BLOCK_HEAD) ? get_head(here(r) + whole, &next) : left(r) == whole)
		return false;
	r->looked_again += BLOCK_HEAD + h->length;
	return r->looked_again <= LOOK_AGAIN_MAX;
}

/* At the head of a block: takes it, or passes over it. */
static bool take_block(struct recording *r, const struct block_head *h)
{
	bool whole = need(r, BLOCK_HEAD + h->stored);
	bool intact = whole && unpack(r, h);
	bool again = h->sequence < r->next_sequence;	/* it, or a later one, came already */

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
		if (!get_head(here(r), &h))
			resync(r);
		else if (take_block(r, &h))
			return true;
	}
	return false;
}

/* ---- reading: ahead, in a thread ---- */

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

/* ---- reading: records ---- */

/* Puts the pieces of a long record together; true with the last one. */
static bool join(struct recording *r, const struct wire_head *head, struct recording_record *rec)
{
	const struct part *p = (const void *)head;
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
	return out->blocks || out->records || out->bytes || out->no_end || out->error;
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
		buf_printf(&b, "; lost: %s block%s with %s%s records", num_count(d.blocks).s, d.blocks == 1 ? "" : "s",
			   d.more ? "at least " : "", num_count(d.records).s);
	if (d.bytes)
		buf_printf(&b, "; %s passed over", num_bytes(d.bytes, 0).s);
	return b.data;
}

/* ---- reading: open ---- */

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
		return err_set(e, ENODATA, EXIT_FAILED, "%s ends within its first %d bytes: it holds nothing",
			       name, FILE_HEAD);
	intact = enough && ours && get32(here(r) + 12) == crc_of(here(r), 12);
	if (intact && (!get32(here(r) + 8) || get32(here(r) + 8) > RECORDING_VERSION))
		return err_set(e, EPROTONOSUPPORT, EXIT_FAILED,
			       "%s has recording format %u, and this barriertrace (%s) reads formats 1 to %d: "
			       "use a newer one", name, get32(here(r) + 8), BT_VERSION, RECORDING_VERSION);
	in_place = whole && get_head(here(r) + FILE_HEAD, &h);
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
	bool standard = !strcmp(path, "-");
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	const char *name = standard ? "standard input" : path;

	if (fd < 0)
		return err_set(e, errno, EXIT_FAILED, "cannot read %s: %s", name, strerror(errno));
	return recording_open_fd(fd, name, out, e);
}

int recording_open_fd(int fd, const char *name, struct recording **out, struct err *e)
{
	struct recording *r = xcalloc(1, sizeof(*r));
	int err = check_machine(e);

	r->fd = fd;
	r->zstd = xmust(ZSTD_createDCtx());
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (!err && inflateInit(&r->z) != Z_OK)
		err = err_set(e, ENOMEM, EXIT_FAILED, "cannot read %s: zlib cannot be set up", name);
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
	inflateEnd(&r->z);	/* refuses one that never began */
	ZSTD_freeDCtx(r->zstd);
	close(r->fd);
	free(r->window);
	for (size_t i = 0; i < AHEAD; i++)
		free(r->block[i].bytes);
	buf_free(&r->joined);
	free(r);
}

/* ---- the contents of WIRE_COUNTS: numbers of seven bits a byte, lowest first, the top bit set but in the last ---- */

#define COUNTS_INTERVAL	1
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

/* WIRE_COUNTS_32: hist_geometry.h with HIST_SUB_BITS 5. */
#define COARSE_SUB	(HIST_SUB / 2)
#define COARSE_BUCKETS	((HIST_TOP_BITS - HIST_SUB_BITS + 2) * COARSE_SUB)

struct numbers {
	const uint8_t *p, *end;
	bool coarse;		/* the buckets are those of WIRE_COUNTS_32 */
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

/*
 * A bucket of WIRE_COUNTS_32: two of ours from twice COARSE_SUB on, below it both have one for each value. What is in it is halved, unless
 * minimum or maximum say where it lies; the last one, which has no end, stays together.
 */
static void put_coarse(struct hist *h, unsigned int index, uint64_t value)
{
	unsigned int first = index < HIST_SUB ? index : 2 * index - HIST_SUB;

	if (index < HIST_SUB || h->max < hist_lower(first + 1)) {
		h->bucket[first] = value;
	} else if (index == COARSE_BUCKETS - 1 || h->min > hist_upper(first)) {
		h->bucket[first + 1] = value;
	} else {
		h->bucket[first] = value - value / 2;
		h->bucket[first + 1] = value / 2;
	}
}

/* Into nowhere when `h` is NULL. */
static void get_hist(struct numbers *n, struct hist *h)
{
	unsigned int buckets = n->coarse ? COARSE_BUCKETS : HIST_BUCKETS;
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

		if (step >= buckets || (i && !step) || index + step >= buckets) {
			n->bad = true;
			return;
		}
		index += step;
		if (h && n->coarse)
			put_coarse(h, (unsigned int)index, value);
		else if (h)
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

int recording_counts_decode(uint16_t kind, const void *bytes, size_t size, uint32_t *view, bool *interval,
			    struct view_counts *out)
{
	struct numbers n = {
		.p = bytes, .end = (const uint8_t *)bytes + size, .coarse = kind == WIRE_COUNTS_32,
	};
	uint64_t id = get_number(&n), flags = get_number(&n);
	struct numbers contents = n;

	get_view(&n, NULL);
	if (n.bad || n.p != n.end || id > UINT32_MAX)
		return -EBADMSG;
	*view = (uint32_t)id;
	*interval = flags & COUNTS_INTERVAL;
	memset(out, 0, sizeof(*out));
	get_view(&contents, out);
	return 0;
}
