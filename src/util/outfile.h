/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outfile.h - where an output goes. A file is written beside its place and renamed into it when complete, so that
 * nothing half-written stands there and no symlink is followed; a stream is put there with its first part, and then
 * grows. What stood there before stays until then, and its permissions are the new one's too. Of root's runs the new one
 * gets its owner and group, too, unless it stood where anybody may leave a file.
 */
#ifndef BT_UTIL_OUTFILE_H
#define BT_UTIL_OUTFILE_H

#include <stdbool.h>

#include "util/buf.h"
#include "util/err.h"

struct outfile {
	int fd;		  /* -1: not open */
	const char *path; /* borrowed */
	char *temp;	  /* to be renamed to path; NULL: it is there */
	bool stream;
};

#define OUTFILE_NONE \
	{ \
		.fd = -1 \
	}

/* "-" is standard output. Fails early when the place cannot be written to. `path` has to outlive the outfile. */
int outfile_open(struct outfile *o, const char *path, bool stream, struct err *e);

int outfile_write(struct outfile *o, const struct buf *b, struct err *e);

/* An empty file without a name on the same file system, the caller's to close; 0: there is none to be had. */
int outfile_scratch(const struct outfile *o);

/* Puts a complete file in its place. */
int outfile_commit(struct outfile *o, struct err *e);

/* Closes; what was not committed is removed. Safe when not open. */
void outfile_close(struct outfile *o);

#endif
