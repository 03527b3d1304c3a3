// SPDX-License-Identifier: GPL-2.0-only
/* writer.c - records into blocks, blocks into a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "util/sudo_owner.h"
#include "util/tmpfiles.h"
#include "util/mem.h"
#include "util/num.h"
#include "recording/recording.h"
#include "recording/format.h"

#define ZSTD_LEVEL   1		  /* a third less than zlib's level 1, in a quarter of its time */
#define BLOCK_TARGET (256u << 10) /* what the writer fills */

struct recording_writer {
	int fd;
	bool can_cut;	   /* the file holds nothing else */
	bool replaces;	   /* what the file holds goes with our first block */
	char *name, *made; /* made: the file wasn't there before */
	ZSTD_CCtx *zstd;
	uint8_t *block; /* being filled: BLOCK_TARGET */
	size_t len;
	uint32_t records; /* in it */
	uint8_t *out;	  /* head and stored payload */
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
	int flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, fd;

	litter_hold();
	fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	*made = fd >= 0;
	if (*made)
		litter_note(path);
	litter_release();
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
	if (w->made && !w->sequence)
		litter_forget(w->made);
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
	put32(head + 12, recording_crc(head, 12));
	err = write_all(w->fd, head, sizeof(head));
	if (!err)
		w->written.bytes = sizeof(head);
	return err;
}

static int writer_new(int fd, const char *name, bool replaces, struct recording_writer **out, struct err *e)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int err = recording_check_machine(e);

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
	err = writer_new(fd, path, !made && !fstat(fd, &st) && S_ISREG(st.st_mode), out, e);
	if (err && made) {
		unlink(path);
		litter_forget(path);
	} else if (made) {
		(*out)->made = xstrdup(path);
	}
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
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s; the recording stops here, it has %s record%s%s (%s)",
		       w->name, strerror(code), num_count(w->written.records).s, num_plural(w->written.records), rest,
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
		.version = RECORDING_VERSION,
		.length = (uint32_t)w->len,
		.records = w->records,
		.sequence = w->sequence,
		.first = w->written.records,
	};
	int err;

	if (!w->records)
		return 0;
	h.stored = store(w);
	h.crc = recording_crc(w->out + BLOCK_HEAD, h.stored);
	block_head_put(w->out, &h);
	err = w->replaces ? begin_file(w) : 0;
	if (!err)
		err = write_all(w->fd, w->out, BLOCK_HEAD + h.stored);
	if (err)
		return stop(w, -err, e);
	if (!w->sequence++ && w->made)
		litter_forget(w->made);
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
	struct long_part part = { .head.kind = kind, .item = w->item };
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
