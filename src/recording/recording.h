/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recording.h - a run kept in a file: the records as they crossed the kernel line, in checksummed blocks, and what is
 * needed beside them to make the report again. The format: docs/reference/recording-format.md.
 *
 * What a damaged file still holds comes out; what doesn't is counted. Little-endian machines only.
 */
#ifndef BT_RECORDING_RECORDING_H
#define BT_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"
#include "util/err.h"
#include "model/scope_counts.h"
#include "wire.h"

#define RECORDING_VERSION     3		 /* what is written and read */
#define RECORDING_LONG_KINDS  64	 /* kinds from here on are long: made by user space, split and joined */
#define RECORDING_LONG_MAX    (8u << 20) /* bytes of one long record, joined: of the description of a run above all */
#define RECORDING_HEADERS_MAX 1000u	 /* of a file */

/* ---- writing ---- */

struct recording_writer;

struct recording_written {
	uint64_t records, bytes; /* in the file */
	uint64_t not_kept;	 /* records that came after the writer had stopped, or were lost with it */
	uint32_t headers;	 /* among them */
	bool stopped;
};

/*
 * Written in place, block by block, with the user's rights (util/user_file.h), and locked: one writer at a time. Where a
 * file is already, it has to be the user's own, and a recording or empty; it keeps what it holds until the first block is
 * written. "-" is standard output, but not a terminal. The file is never fsynced: the tool would trace itself.
 */
int recording_create(const char *path, struct recording_writer **out, struct err *e);

/* The same of a file `name` in a directory that is open; `path` is for messages. */
int recording_create_at(int dir, const char *name, const char *path, struct recording_writer **out, struct err *e);

/* The same on a descriptor, which it owns from now on, also when it fails. `name` is for messages. */
int recording_create_fd(int fd, const char *name, struct recording_writer **out, struct err *e);

/*
 * When a write fails (the disk is full), the call that met it says so, and how much was kept; the file ends with its
 * last whole block. From then on every call succeeds and does nothing but count what is not kept. The caller ignores
 * SIGXFSZ and SIGPIPE, or is ended by them.
 */

/* One record from the kernel side, kind below RECORDING_LONG_KINDS. `size` in its head is trusted. */
int recording_add(struct recording_writer *w, const struct wire_head *record, struct err *e);

/* One long record: WIRE_HEADER, WIRE_COUNTS, WIRE_END or a later kind. -EINVAL if it is longer than the limit, or a header too many. */
int recording_add_long(struct recording_writer *w, uint16_t kind, const void *bytes, size_t n, struct err *e);

/* Writes what is gathered as a block: from now on it survives the end of this process. */
int recording_flush(struct recording_writer *w, struct err *e);

/* Only its owner can read the file. */
bool recording_is_private(const struct recording_writer *w);

const struct recording_written *recording_written(const struct recording_writer *w);

/* Bytes that the file will have at most, should it be closed now. */
uint64_t recording_size_bound(const struct recording_writer *w);

/* From now on nothing is kept, as after a write that failed. */
void recording_stop(struct recording_writer *w);

/* The run did not start: frees; as long as no block was written the file is as before, or not there. NULL is fine. */
void recording_drop(struct recording_writer *w);

/* Flushes, closes and frees, also when it fails. NULL is fine. */
int recording_close(struct recording_writer *w, struct err *e);

/* ---- reading ---- */

struct recording;

struct recording_record {
	uint16_t kind;
	const struct wire_head *head; /* from the kernel side: the whole record, 8-byte aligned; NULL for a long one */
	const void *data;	      /* long: its bytes, joined, and a NUL behind them; else NULL */
	size_t size; /* of the record or of `data`; whether it fits the kind is for the user to check */
};

struct recording_damage {
	uint64_t blocks;  /* not intact, or not there */
	uint64_t records; /* lost with them, as far as it is known */
	uint64_t bytes;	  /* passed over */
	bool more;	  /* what was lost at the end says nothing about its records */
	bool no_end;	  /* no WIRE_END: cut off, or the run that made it was */
	int error;	  /* errno of a failed read, or 0 */
	uint64_t headers; /* intact, and beyond RECORDING_HEADERS_MAX: not read */
};

/* Whether the file begins like a recording. Where it is read from stays the same. */
bool recording_begins(int fd);

/* "-" is standard input; nothing is sought. A file that is no recording or of a newer format fails. */
int recording_open(const char *path, struct recording **out, struct err *e);

/* The same on a descriptor, which it owns from now on, also when it fails. */
int recording_open_fd(int fd, const char *name, struct recording **out, struct err *e);

/* The next record: true, or false at the end. Valid until the next call. */
bool recording_next(struct recording *r, struct recording_record *rec);

/* Once recording_next() has said false: whether anything is wrong, and what. */
bool recording_damage(const struct recording *r, struct recording_damage *out);

/* The same in one sentence, owned by the caller; NULL when all is well. */
char *recording_damage_note(const struct recording *r);

void recording_free(struct recording *r); /* NULL is fine */

/* ---- the contents of WIRE_COUNTS ---- */

/* Appends. Exact, whatever the numbers. */
void recording_counts_encode(uint32_t view, bool interval, const struct view_counts *v, struct buf *out);

/* What can be known of it without room for it. */
struct counts_outline {
	uint32_t view;
	bool interval;
};

/* 0, or -EBADMSG with the outputs left alone. */
int recording_counts_outline(const void *bytes, size_t n, struct counts_outline *out);

/* The same, with what is in it. Sums and cells that this version doesn't know are passed over. */
int recording_counts_decode(const void *bytes, size_t n, uint32_t *view, bool *interval, struct view_counts *out);

#endif
