// SPDX-License-Identifier: GPL-2.0-only
#include "util/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/tmpfiles.h"

#define TRIES 100 /* for a name that isn't taken */

static int fail(const struct outfile *o, int code, struct err *e)
{
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s%s", o->path, strerror(code), user_files_hint(code));
}

/* ---- what stands there ---- */

static const char *kind(mode_t mode)
{
	return S_ISBLK(mode)  ? "a block device" :
	       S_ISCHR(mode)  ? "a character device" :
	       S_ISFIFO(mode) ? "a named pipe" :
				"a socket";
}

static int refuse(const struct outfile *o, mode_t mode, struct err *e)
{
	if (S_ISDIR(mode))
		return fail(o, EISDIR, e);
	if (S_ISLNK(mode))
		return err_set(e, ELOOP, EXIT_FAILED, "will not write through the symbolic link %s", o->path);
	return err_set(e, EINVAL, EXIT_FAILED, "will not write to %s: it is %s%s", o->path, kind(mode),
		       S_ISBLK(mode) ? "" : "; write to '-', and redirect that");
}

int outfile_check_stream(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISBLK(st.st_mode))
		return 0;
	return err_set(e, EINVAL, EXIT_FAILED, "will not write to %s: it is a block device", name);
}

bool outfile_is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (S_ISREG(st.st_mode) ? !(st.st_mode & 077) : isatty(fd));
}

/*
 * Its owner keeps a file that root replaces, if nobody else could have left it there to get a hold of what is written next.
 */
static bool keeps_owner(int dir, const struct stat *was)
{
	struct stat d;

	return !user_files_uid() && was->st_uid && was->st_nlink == 1 && !fstat(dir, &d) &&
	       (d.st_uid == was->st_uid || !d.st_uid) && !(d.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * `was`: what is to be replaced; NULL: nothing. Where the file system has no owners or modes of its own (vfat, root squashed
 * by NFS), its mount decides.
 */
static void set_mode(const struct outfile *o, const struct stat *was)
{
	bool keeps = was && was->st_uid == user_files_uid() && was->st_nlink == 1;

	if (was && keeps_owner(o->dir.fd, was))
		keeps = !fchown(o->fd, was->st_uid, was->st_gid);
	if (fchmod(o->fd, keeps && !user_files_mode_given() ? was->st_mode & 0777 : user_files_new_mode()))
		return;
}

/* ---- names ---- */

static char *random_name(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (uint64_t)getpid() << 32 ^ (uintptr_t)&n;
	return xasprintf(".barriertrace-%016llx", (unsigned long long)n);
}

/* A file beside its place, where the file system has none without a name. */
static int open_beside(struct outfile *o)
{
	int code = 0;

	for (int i = 0; i < TRIES && o->fd < 0 && (!i || code == EEXIST); i++) {
		free(o->temp);
		o->temp = random_name();
		tmpfiles_hold();
		o->fd = openat(o->dir.fd, o->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		code = errno;
		if (o->fd >= 0)
			tmpfiles_note(o->dir.fd, o->temp);
		tmpfiles_release();
	}
	if (o->fd >= 0)
		return 0;
	free(o->temp);
	o->temp = NULL;
	return -code;
}

static char *own_path(const struct outfile *o)
{
	return xasprintf("/proc/self/fd/%d", o->fd);
}

/* Without /proc it could not get its name. */
static bool can_be_linked(const struct outfile *o)
{
	char *path = own_path(o);
	bool can = !access(path, F_OK);

	free(path);
	return can;
}

static int open_new(struct outfile *o)
{
	o->fd = openat(o->dir.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	o->unnamed = o->fd >= 0 && can_be_linked(o);
	if (o->unnamed)
		return 0;
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	return open_beside(o);
}

/* In a sticky directory such as /tmp: the rename would fail, when the run is over. */
static bool cannot_be_replaced(int dir, const struct stat *was)
{
	uid_t uid = user_files_uid();
	struct stat d;

	return uid && was->st_uid != uid && !fstat(dir, &d) && (d.st_mode & S_ISVTX) && d.st_uid != uid;
}

/* With the user's rights. `mode`: of what stands there and can't be replaced */
static int open_file(struct outfile *o, mode_t *mode)
{
	struct stat st;
	bool there = !fstatat(o->dir.fd, o->dir.name, &st, AT_SYMLINK_NOFOLLOW);
	int err;

	*mode = there && !S_ISREG(st.st_mode) ? st.st_mode : 0;
	if (*mode)
		return -EINVAL;
	if (there && cannot_be_replaced(o->dir.fd, &st))
		return -EPERM;
	err = there || errno == ENOENT ? open_new(o) : -errno;
	if (!err)
		set_mode(o, there ? &st : NULL);
	return err;
}

static int open_regular(struct outfile *o, struct err *e)
{
	mode_t other;
	int err = user_files_begin(e);

	if (err)
		return err;
	err = open_file(o, &other);
	user_files_end();
	if (!err)
		return 0;
	return other ? refuse(o, other, e) : fail(o, -err, e);
}

static int open_stream(struct outfile *o, int fd, const char *name, struct err *e)
{
	int err;

	o->path = name;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (o->fd < 0)
		return fail(o, errno, e);
	err = outfile_check_stream(o->fd, name, e);
	if (err)
		outfile_close(o);
	return err;
}

int outfile_open(struct outfile *o, const char *path, bool stream, struct err *e)
{
	int handed = user_inherited_fd(path), err;

	*o = (struct outfile){ .fd = -1, .path = path, .dir = USER_DIR_NONE, .stream = stream };
	if (!*path)
		return err_set(e, EINVAL, EXIT_USAGE, "an output file needs a name");
	if (!strcmp(path, "-"))
		return open_stream(o, STDOUT_FILENO, "standard output", e);
	if (handed >= 0)
		return open_stream(o, handed, path, e);
	err = user_dir_open(path, &o->dir, e);
	return err ? err : open_regular(o, e);
}

int outfile_open_at(struct outfile *o, int dir, const char *name, const char *shown, struct err *e)
{
	*o = (struct outfile){ .fd = -1, .path = shown, .dir = { fcntl(dir, F_DUPFD_CLOEXEC, 3), name } };
	return o->dir.fd < 0 ? fail(o, errno, e) : open_regular(o, e);
}

int outfile_scratch(const struct outfile *o)
{
	struct err ignored;
	int fd;

	if ((!o->temp && !o->unnamed) || user_files_begin(&ignored))
		return 0;
	fd = openat(o->dir.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	user_files_end();
	return fd > 0 ? fd : 0;
}

/* ---- in place ---- */

static int link_as(const struct outfile *o, const char *name)
{
	char *path = own_path(o);
	int err = linkat(AT_FDCWD, path, o->dir.fd, name, AT_SYMLINK_FOLLOW) ? -errno : 0;

	free(path);
	return err;
}

static int rename_to_place(const struct outfile *o, const char *name)
{
	return renameat(o->dir.fd, name, o->dir.fd, o->dir.name) ? -errno : 0;
}

/* Unlink `name`, which we created, if the rename fails. */
static int rename_or_unlink(const struct outfile *o, const char *name)
{
	int err = rename_to_place(o, name);

	if (err)
		unlinkat(o->dir.fd, name, 0);
	return err;
}

/* linkat() fails if the name exists; only a rename replaces. */
static int name_it(const struct outfile *o)
{
	int err = link_as(o, o->dir.name);

	for (int i = 0; i < TRIES && err == -EEXIST; i++) {
		char *name = random_name();

		err = link_as(o, name);
		if (!err)
			err = rename_or_unlink(o, name);
		free(name);
	}
	return err;
}

/* With the user's rights. */
static int replace(struct outfile *o)
{
	int err;

	if (!o->unnamed)
		return rename_to_place(o, o->temp);
	tmpfiles_hold();
	err = name_it(o);
	tmpfiles_release();
	return err;
}

static int put_in_place(struct outfile *o, struct err *e)
{
	int err;

	if (!o->temp && !o->unnamed)
		return 0;
	err = user_files_begin(e);
	if (err)
		return err;
	err = replace(o);
	user_files_end();
	if (err)
		return fail(o, -err, e);
	if (o->temp)
		tmpfiles_forget(o->dir.fd, o->temp);
	free(o->temp);
	o->temp = NULL;
	o->unnamed = false;
	return 0;
}

int outfile_put(int fd, const void *bytes, size_t n)
{
	for (const char *p = bytes, *end = p + n; p < end;) {
		ssize_t done = write(fd, p, (size_t)(end - p));

		if (done < 0 && errno != EINTR)
			return -errno;
		p += done > 0 ? done : 0;
	}
	return 0;
}

int outfile_write(struct outfile *o, const struct buf *b, struct err *e)
{
	int err = b->len ? outfile_put(o->fd, b->data, b->len) : 0;

	if (err)
		return fail(o, -err, e);
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
	user_dir_close(&o->dir);
	return 0;
}

static void remove_temp(struct outfile *o)
{
	struct err ignored;

	if (!user_files_begin(&ignored)) {
		unlinkat(o->dir.fd, o->temp, 0);
		user_files_end();
		tmpfiles_forget(o->dir.fd, o->temp);
	}
	free(o->temp);
	o->temp = NULL;
}

void outfile_close(struct outfile *o)
{
	if (o->temp)
		remove_temp(o);
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	user_dir_close(&o->dir);
}
