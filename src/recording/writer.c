// SPDX-License-Identifier: GPL-2.0-only
/* writer.c - records into blocks, blocks into a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "util/file_lock.h"
#include "util/mem.h"
#include "util/num.h"
#include "util/outfile.h"
#include "util/tmpfiles.h"
#include "util/user_file.h"
#include "recording/recording.h"
#include "recording/format.h"

#define ZSTD_LEVEL   1		  /* a third less than zlib's level 1, in a quarter of its time */
#define BLOCK_TARGET (256u << 10) /* what the writer fills */

struct recording_writer {
	int fd;
	bool can_cut;  /* the file holds nothing else */
	bool replaces; /* what the file holds goes with our first block */
	char *name;
	int dir;    /* where the file stands; -1: a stream */
	char *made; /* its name there, if it wasn't there before */
	ZSTD_CCtx *zstd;
	uint8_t *block; /* being filled: BLOCK_TARGET */
	size_t len;
	uint32_t records; /* in it */
	uint8_t *out;	  /* head and stored payload */
	uint32_t sequence, item;
	struct recording_written written;
};

static void writer_free(struct recording_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	if (w->fd >= 0)
		close(w->fd);
	free_all(w->block, w->out, w->name);
	if (w->made && !w->sequence)
		tmpfiles_forget(w->dir, w->made);
	free(w->made);
	if (w->dir >= 0)
		close(w->dir);
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
	err = outfile_put(w->fd, head, sizeof(head));
	if (!err)
		w->written.bytes = sizeof(head);
	return err;
}

static int writer_new(int fd, const char *name, bool replaces, struct recording_writer **out, struct err *e)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int err = recording_check_machine(e);

	w->fd = fd;
	w->dir = -1;
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
	int err = outfile_check_stream(fd, name, e);

	if (!err)
		return writer_new(fd, name, false, out, e);
	close(fd);
	return err;
}

/* ---- files ---- */

/* A file on its way to a writer. */
struct opened {
	int dir;
	const char *name, *path; /* path: for messages */
	int fd;
	bool made;
};

static int cannot_write(const char *path, int code, struct err *e)
{
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s%s", path, strerror(code), user_files_hint(code));
}

static int refuse(const struct opened *o, const struct stat *st, struct err *e)
{
	if (S_ISLNK(st->st_mode))
		return err_set(e, ELOOP, EXIT_FAILED, "will not write through the symbolic link %s", o->path);
	if (S_ISDIR(st->st_mode))
		return cannot_write(o->path, EISDIR, e);
	if (!S_ISREG(st->st_mode))
		return err_set(e, EINVAL, EXIT_FAILED, "will not write a recording to %s: it is no regular file%s",
			       o->path, S_ISBLK(st->st_mode) ? "" : "; write it to '-', and redirect that");
	if (st->st_uid != user_files_uid())
		return err_set(e, EPERM, EXIT_FAILED,
			       "will not write a recording to %s: it belongs to uid %u, who could change it; remove it, "
			       "or choose another name",
			       o->path, st->st_uid);
	return 0;
}

/* With the user's rights: looked at before it is opened, for opening a device or a pipe can do something. */
static int open_existing(struct opened *o, struct err *e)
{
	int found = openat(o->dir, o->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;

	if (found < 0)
		return -errno;
	err = fstat(found, &st) ? cannot_write(o->path, errno, e) : refuse(o, &st, e);
	if (!err) {
		o->fd = user_file_reopen(found, o->dir, o->name, O_RDWR | O_NOFOLLOW | O_NOCTTY);
		err = o->fd < 0 ? cannot_write(o->path, errno, e) : 0;
	}
	close(found);
	return err;
}

/* With the user's rights; -ENOENT alone says nothing in *e: what stood there is gone. */
static int open_or_make(struct opened *o, struct err *e)
{
	tmpfiles_hold();
	o->fd = openat(o->dir, o->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	o->made = o->fd >= 0;
	if (o->made)
		tmpfiles_note(o->dir, o->name);
	tmpfiles_release();
	if (!o->made)
		return errno == EEXIST ? open_existing(o, e) : cannot_write(o->path, errno, e);
	if (fchmod(o->fd, user_files_new_mode()))
		return 0; /* a file system without modes */
	return 0;
}

static int lock(const struct opened *o, struct err *e)
{
	pid_t holder;
	char *who;

	if (!file_lock(o->fd, &holder))
		return 0;
	who = file_lock_holder_name(holder);
	err_set(e, EBUSY, EXIT_FAILED, "cannot write %s: %s holds it", o->path, who);
	free(who);
	return -EBUSY;
}

/* Whether the name still leads to what we locked: another recorder may have removed it, or given it another name. */
static bool still_there(const struct opened *o)
{
	struct stat named, ours;

	return !fstatat(o->dir, o->name, &named, AT_SYMLINK_NOFOLLOW) && !fstat(o->fd, &ours) &&
	       named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

static int check_content(const struct opened *o, struct err *e)
{
	struct stat st;

	if (fstat(o->fd, &st))
		return cannot_write(o->path, errno, e);
	if (!st.st_size || recording_begins(o->fd))
		return 0;
	return err_set(e, EEXIST, EXIT_FAILED, "will not replace %s: it is not a recording made by barriertrace", o->path);
}

#define TRIES 10

/* With the user's rights. Of a file that is taken nothing is removed: it may be the other's. */
static int open_locked(struct opened *o, struct err *e)
{
	int err;

	for (int i = 0; i < TRIES; i++) {
		err = open_or_make(o, e);
		if (!err)
			err = lock(o, e);
		if (!err && still_there(o))
			return check_content(o, e);
		if (o->made)
			tmpfiles_forget(o->dir, o->name);
		o->made = false;
		if (err && err != -ENOENT)
			return err;
		if (o->fd >= 0)
			close(o->fd);
		o->fd = -1;
	}
	return cannot_write(o->path, EBUSY, e);
}

/* To be called with the user's rights: the directory is the user's, who may have put another file there since. */
static void discard(struct opened *o)
{
	if (o->made) {
		unlinkat(o->dir, o->name, 0);
		tmpfiles_forget(o->dir, o->name);
	}
	if (o->fd >= 0)
		close(o->fd);
}

int recording_create_at(int dir, const char *name, const char *path, struct recording_writer **out, struct err *e)
{
	struct opened o = { .dir = fcntl(dir, F_DUPFD_CLOEXEC, 3), .name = name, .path = path, .fd = -1 };
	int err = o.dir < 0 ? cannot_write(path, errno, e) : user_files_begin(e);
	struct err ignored;

	if (!err) {
		err = open_locked(&o, e);
		if (err)
			discard(&o);
		user_files_end();
	}
	if (!err) {
		err = writer_new(o.fd, path, !o.made, out, e);
		o.fd = -1; /* the writer's */
		if (err && !user_files_begin(&ignored)) {
			discard(&o);
			user_files_end();
		}
	}
	if (err) {
		if (o.dir >= 0)
			close(o.dir);
		return err;
	}
	(*out)->dir = o.dir;
	(*out)->made = o.made ? xstrdup(name) : NULL;
	return 0;
}

static int create_file(const char *path, struct recording_writer **out, struct err *e)
{
	struct user_dir dir;
	int err = user_dir_open(path, &dir, e);

	if (err)
		return err;
	err = recording_create_at(dir.fd, dir.name, path, out, e);
	user_dir_close(&dir);
	return err;
}

static int create_stream(int fd, const char *name, struct recording_writer **out, struct err *e)
{
	if (isatty(fd))
		return err_set(e, EINVAL, EXIT_USAGE, "will not write a recording to a terminal");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? cannot_write(name, errno, e) : recording_create_fd(fd, name, out, e);
}

int recording_create(const char *path, struct recording_writer **out, struct err *e)
{
	int handed = user_inherited_fd(path);

	if (!*path)
		return err_set(e, EINVAL, EXIT_USAGE, "a recording needs a file name");
	if (!strcmp(path, "-"))
		return create_stream(STDOUT_FILENO, "standard output", out, e);
	return handed >= 0 ? create_stream(handed, path, out, e) : create_file(path, out, e);
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
		err = outfile_put(w->fd, w->out, BLOCK_HEAD + h.stored);
	if (err)
		return stop(w, -err, e);
	if (!w->sequence++ && w->made)
		tmpfiles_forget(w->dir, w->made);
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

	if (kind < RECORDING_LONG_KINDS || n > RECORDING_LONG_MAX ||
	    (kind == WIRE_HEADER && w->written.headers == RECORDING_HEADERS_MAX))
		return err_set(e, EINVAL, EXIT_FAILED, "a record of kind %u and %zu bytes cannot be recorded", kind, n);
	w->item++;
	w->written.headers += kind == WIRE_HEADER;
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

bool recording_is_private(const struct recording_writer *w)
{
	return outfile_is_private(w->fd);
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
	struct err ignored;

	if (!w)
		return;
	if (w->made && !w->sequence && !user_files_begin(&ignored)) {
		unlinkat(w->dir, w->made, 0);
		user_files_end();
	}
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
