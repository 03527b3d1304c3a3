/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outfile.h - where an output goes. A file is written without a name, or beside its place where the file system can't do
 * that, and put in its place when complete, so that nothing half-written stands there and no symlink is followed; a stream
 * is put there with its first part, and then grows. What stood there before stays until then. All of it with the user's
 * rights (user_file.h), through one descriptor of the directory.
 */
#ifndef BT_UTIL_OUTFILE_H
#define BT_UTIL_OUTFILE_H

#include <stdbool.h>

#include "util/buf.h"
#include "util/err.h"
#include "util/user_file.h"

struct outfile {
	int fd;		  /* -1: not open */
	const char *path; /* borrowed: for messages */
	struct user_dir dir;
	char *temp;   /* its name while it has one that isn't its own; NULL: none */
	bool unnamed; /* it has no name yet */
	bool stream;
};

#define OUTFILE_NONE \
	{ \
		.fd = -1, .dir = USER_DIR_NONE \
	}

/*
 * "-" is standard output, /dev/stdout and its like are descriptors of our caller's; anything else that is no regular file is
 * refused. Fails early when the place cannot be written to. `path` has to outlive the outfile.
 */
int outfile_open(struct outfile *o, const char *path, bool stream, struct err *e);

/* In a directory that is open: its file `name`. `shown` is for messages; both have to outlive the outfile. */
int outfile_open_at(struct outfile *o, int dir, const char *name, const char *shown, struct err *e);

/* All of them: 0, or -errno. */
int outfile_put(int fd, const void *bytes, size_t n);

int outfile_write(struct outfile *o, const struct buf *b, struct err *e);

/* An empty file without a name on the same file system, the caller's to close; 0: there is none to be had. */
int outfile_scratch(const struct outfile *o);

/* Puts a complete file in its place. */
int outfile_commit(struct outfile *o, struct err *e);

/* Closes; what was not committed is removed. Safe when not open. */
void outfile_close(struct outfile *o);

/* Only its owner can read what is written there: a file of mode 0600, or a terminal. */
bool outfile_is_private(int fd);

/* Whether what stands at a file's place, or comes to stand there, may be written: 0, or an error that says why not. */
int outfile_check_stream(int fd, const char *name, struct err *e);

#endif
