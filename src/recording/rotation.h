/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rotation.h - a recording in several files, for runs of days: FILE is being written, FILE.1 is the one before it, and so
 * on; the oldest is removed. Each is a recording by itself.
 */
#ifndef BT_RECORDING_ROTATION_H
#define BT_RECORDING_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "recording/recording.h"

struct rotation_opts {
	const char *path; /* borrowed */
	uint64_t size;	  /* bytes that no file exceeds; 0: one file, never turned */
	uint32_t files;	  /* kept at most, FILE included */
	bool show_args;	  /* keep commands' arguments where others can read the file */
};

struct rotation;

/* "100M,10" into size and files. */
int rotation_parse(const char *value, struct rotation_opts *o, struct err *e);

/*
 * Creates the first file. Under the names that it will need there may be recordings of an earlier run, which are removed
 * when the first beginning has been written; anything else there is left alone, and an error.
 */
int rotation_open(const struct rotation_opts *o, struct rotation **out, struct err *e);

/* Where records go at present. Changes with rotation_turn(). */
struct recording_writer *rotation_writer(struct rotation *r);

/* The beginning of the present file has been written; and: what comes now is its end. Both are measured. */
int rotation_begun(struct rotation *r, struct err *e);
int rotation_ends(struct rotation *r, struct err *e);

/* Whether the present file should end now, so that its end still fits. */
bool rotation_due(const struct rotation *r);

/*
 * Closes the present file, whose end has been written, and begins the next. When that fails, the recording has stopped, as
 * it has when a disk is full: what comes then is counted as not kept.
 */
int rotation_turn(struct rotation *r, struct err *e);

/* How many facts to keep for the beginning of the next file: bytes. */
size_t rotation_recent(const struct rotation *r);

/* Whether commands' arguments don't belong into the present file. */
bool rotation_hides_arguments(const struct rotation *r);

/* Over all files, removed ones included. */
struct rotation_written {
	uint64_t records;
	uint32_t files, removed;
	bool stopped;
};
struct rotation_written rotation_written(const struct rotation *r);

/* The run did not start: all files are as they were. NULL is fine. */
void rotation_drop(struct rotation *r);

/* Flushes and closes, also when it fails. NULL is fine. */
int rotation_close(struct rotation *r, struct err *e);

#endif
