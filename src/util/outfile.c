// SPDX-License-Identifier: GPL-2.0-only
#include "util/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/sudo_owner.h"
#include "util/tmpfiles.h"
#include "util/mem.h"

static int fail(const struct outfile *o, int code, struct err *e)
{
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s", o->path, strerror(code));
}

static int open_in_place(struct outfile *o, struct err *e)
{
	o->fd = open(o->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (o->fd < 0 && errno == ELOOP)
		return err_set(e, ELOOP, EXIT_FAILED, "will not write through the symbolic link %s", o->path);
	return o->fd < 0 ? fail(o, errno, e) : 0;
}

/* As open() would make it, where nothing stands yet. Only the main thread makes files. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Owned by the caller. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xasprintf("%.*s", (int)(slash + 1 - path), path) : xstrdup(".");
}

/*
 * Whether what stood there was put there by its owner, as far as we know, or by root. Where many may write, as in /tmp,
 * anybody may have left a file of his own under that name, to get a hold of what is written next.
 */
static bool was_expected(const char *path, const struct stat *was)
{
	char *dir = directory_of(path);
	struct stat d;
	bool known = !stat(dir, &d);

	free(dir);
	return !was->st_uid || (known && (d.st_uid == was->st_uid || !(d.st_mode & (S_IWGRP | S_IWOTH))));
}

/* Failing that it stays root's: no harm done. */
static void give(const struct outfile *o, const struct stat *was)
{
	if (!was || geteuid() || !was_expected(o->path, was))
		caller_give(o->fd);
	else if (fchown(o->fd, was->st_uid, was->st_gid))
		return;
}

/* `was`: what is to be replaced; NULL: nothing */
static int open_beside(struct outfile *o, const struct stat *was, struct err *e)
{
	int err = 0;

	o->temp = xasprintf("%s.XXXXXX", o->path);
	litter_hold();
	o->fd = mkostemp(o->temp, O_CLOEXEC);
	if (o->fd >= 0)
		litter_note(o->temp);
	litter_release();
	if (o->fd < 0) {
		err = fail(o, errno, e);
		free(o->temp);
		o->temp = NULL;
		return err;
	}
	if (fchmod(o->fd, was ? was->st_mode & 0777 : new_mode()))
		err = fail(o, errno, e);
	give(o, was);
	return err;
}

int outfile_open(struct outfile *o, const char *path, bool stream, struct err *e)
{
	bool there;
	struct stat st;

	*o = (struct outfile){ .fd = -1, .path = path, .stream = stream };
	if (!*path)
		return err_set(e, EINVAL, EXIT_USAGE, "an output file needs a name");
	if (!strcmp(path, "-")) {
		o->path = "standard output";
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return o->fd < 0 ? fail(o, errno, e) : 0;
	}
	there = !lstat(path, &st);
	if (there) {
		if (S_ISDIR(st.st_mode))
			return fail(o, EISDIR, e);
		/* a pipe, a terminal, /dev/null */
		if (!S_ISREG(st.st_mode))
			return open_in_place(o, e);
	}
	return open_beside(o, there ? &st : NULL, e);
}

int outfile_scratch(const struct outfile *o)
{
	char *dir;
	int fd;

	if (!o->temp)
		return 0;
	dir = directory_of(o->temp);
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(dir);
	return fd > 0 ? fd : 0;
}

static int put_in_place(struct outfile *o, struct err *e)
{
	if (!o->temp)
		return 0;
	if (rename(o->temp, o->path))
		return fail(o, errno, e);
	litter_forget(o->temp);
	free(o->temp);
	o->temp = NULL;
	return 0;
}

int outfile_write(struct outfile *o, const struct buf *b, struct err *e)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(o->fd, b->data + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(o, errno, e);
		done += (size_t)n;
	}
	return o->stream ? put_in_place(o, e) : 0;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	int err;

	if (o->fd < 0)
		return 0;
	err = put_in_place(o, e);
	if (err)
		return err;
	if (close(o->fd)) {
		o->fd = -1;
		return fail(o, errno, e);
	}
	o->fd = -1;
	return 0;
}

void outfile_close(struct outfile *o)
{
	if (o->temp) {
		unlink(o->temp);
		litter_forget(o->temp);
		free(o->temp);
		o->temp = NULL;
	}
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}
