// SPDX-License-Identifier: GPL-2.0-only
#include "recording/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/num.h"
#include "util/user_file.h"

#define SIZE_MIN   (1u << 20)
#define SIZE_MAX_  (1ull << 50)
#define FILES_MIN  2u /* with one, each turn would throw away all there is */
#define FILES_MAX  1000u
#define END_ROOM   (64u << 10) /* for the end of a file, beside twice the longest beginning or end so far */
#define RECENT_MAX (1u << 20)

struct rotation {
	struct rotation_opts opts;
	struct recording_writer *writer;
	struct user_dir dir;  /* where all files stand */
	uint64_t edge;	      /* bytes of the longest beginning or end so far */
	uint64_t begun, ends; /* bytes of the present file at the end of its beginning, and where its end begins */
	struct rotation_written before; /* in files that are closed */
	uint32_t older;			/* files FILE.1 .. */
	bool cleared;			/* those of an earlier run are gone */
};

/* ---- what is asked for ---- */

static int bad(const char *value, struct err *e)
{
	return err_set(e, EINVAL, EXIT_USAGE,
		       "--rotate '%s': write SIZE,N, such as 100M,10: files of at most SIZE, from 1M on, "
		       "and at most N of them, %u to %u",
		       value, FILES_MIN, FILES_MAX);
}

int rotation_parse(const char *value, struct rotation_opts *o, struct err *e)
{
	const char *comma = strchr(value, ',');
	uint64_t size, files;
	char *text;
	int err;

	if (!comma)
		return bad(value, e);
	text = xasprintf("%.*s", (int)(comma - value), value);
	err = num_parse_bytes(text, &size);
	free(text);
	if (err || size < SIZE_MIN || size > SIZE_MAX_ || num_parse_range(comma + 1, FILES_MIN, FILES_MAX, &files))
		return bad(value, e);
	o->size = size;
	o->files = (uint32_t)files;
	return 0;
}

/* ---- names ---- */

/* FILE, FILE.1, .. in their directory; and as the user named them, for messages. */
static char *numbered(const char *name, uint32_t i)
{
	return i ? xasprintf("%s.%u", name, i) : xstrdup(name);
}

static int cannot(const struct rotation *r, const char *verb, uint32_t i, int code, const char *rest, struct err *e)
{
	char *path = numbered(r->opts.path, i);

	err_set(e, code, EXIT_FAILED, "cannot %s %s%s: %s%s", verb, path, rest, strerror(code), user_files_hint(code));
	free(path);
	return -code;
}

static int will_not_replace(const struct rotation *r, uint32_t i, int code, const char *why, struct err *e)
{
	char *path = numbered(r->opts.path, i);

	err_set(e, code, EXIT_FAILED, "will not replace %s: it is %s", path, why);
	free(path);
	return -code;
}

/* With the user's rights: whether file i may be removed: 1, 0 when there is none, or an error. */
static int is_ours(const struct rotation *r, uint32_t i, const char *name, struct err *e)
{
	int fd = openat(r->dir.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err = 1;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		return will_not_replace(r, i, ELOOP, "a symbolic link", e);
	if (fd < 0)
		return cannot(r, "read", i, errno, ", which --rotate would replace", e);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = will_not_replace(r, i, EEXIST, "no regular file", e);
	else if (st.st_size && !recording_begins(fd))
		err = will_not_replace(r, i, EEXIST, "not a recording made by barriertrace", e);
	close(fd);
	return err;
}

/* With the user's rights. */
static int earlier_one(const struct rotation *r, uint32_t i, bool removing, struct err *e)
{
	char *name = numbered(r->dir.name, i);
	int there = is_ours(r, i, name, e);

	if (there > 0 && removing && unlinkat(r->dir.fd, name, 0) && errno != ENOENT)
		there = cannot(r, "remove", i, errno, "", e);
	free(name);
	return there < 0 ? there : 0;
}

/* What stands under the other names that will be needed. All are looked at before the first is removed. */
static int earlier(const struct rotation *r, bool removing, struct err *e)
{
	int err = r->opts.files > 1 ? user_files_begin(e) : 0;

	if (err || r->opts.files <= 1)
		return err;
	for (uint32_t i = 1; i < r->opts.files && !err; i++)
		err = earlier_one(r, i, removing, e);
	user_files_end();
	return err;
}

/* FILE itself is opened, and emptied, as it is without rotation, but it has to be one that can be renamed. */
static int check_first(const char *path, struct err *e)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return err_set(e, EINVAL, EXIT_USAGE, "--rotate needs a file: standard output is none");
	if (*path && !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return err_set(e, EINVAL, EXIT_FAILED, "--rotate needs a regular file, and %s is none", path);
	if (user_inherited_fd(path) >= 0)
		return err_set(e, EINVAL, EXIT_USAGE, "--rotate needs a file, and %s is none", path);
	return 0;
}

/* ---- turning ---- */

/* File i gets the next number; the last of a full set goes. With the user's rights. */
static int move_up(const struct rotation *r, uint32_t i, bool last, struct err *e)
{
	char *from = numbered(r->dir.name, i), *to = numbered(r->dir.name, i + 1);
	int err = 0;

	if (last) {
		if (unlinkat(r->dir.fd, from, 0) && errno != ENOENT)
			err = cannot(r, "remove", i, errno, "", e);
	} else if (renameat(r->dir.fd, from, r->dir.fd, to) && (errno != ENOENT || !i)) {
		/* somebody else may have removed an older one */
		err = err_set(e, errno, EXIT_FAILED, "cannot rename %s to %s: %s%s", from, to, strerror(errno),
			      user_files_hint(errno));
	}
	if (err)
		err_add(e, "; the recording stops here");
	free(from);
	free(to);
	return err;
}

/* The oldest goes, the others move up by one. */
static int shift(struct rotation *r, struct err *e)
{
	bool full = r->older == r->opts.files - 1;
	int err = user_files_begin(e);

	if (err)
		return err;
	for (uint32_t i = r->older + 1; i-- > 0 && !err;)
		err = move_up(r, i, full && i == r->older, e);
	user_files_end();
	if (err)
		return err;
	r->before.removed += full;
	r->older += !full;
	return 0;
}

/* What the present file has, while there is one. */
static void add_up(struct rotation *r)
{
	const struct recording_written *w = recording_written(r->writer);

	r->before.records += w->records;
	r->before.stopped = r->before.stopped || w->stopped;
	r->before.files++;
}

static void note_edge(struct rotation *r, uint64_t bytes)
{
	if (bytes > r->edge)
		r->edge = bytes;
}

int rotation_begun(struct rotation *r, struct err *e)
{
	int err = r->cleared ? 0 : earlier(r, true, e);

	r->cleared = true;
	r->begun = recording_size_bound(r->writer);
	note_edge(r, r->begun);
	return err;
}

int rotation_ends(struct rotation *r, struct err *e)
{
	int err = recording_flush(r->writer, e);

	r->ends = recording_written(r->writer)->bytes;
	return err;
}

/* A file is not all beginning and end: with thousands of disks it rather gets larger. */
bool rotation_due(const struct rotation *r)
{
	uint64_t bytes = recording_size_bound(r->writer);

	if (!r->opts.size || recording_written(r->writer)->stopped || bytes < r->begun + r->opts.size / 4)
		return false;
	return bytes + END_ROOM + 2 * r->edge > r->opts.size;
}

int rotation_turn(struct rotation *r, struct err *e)
{
	struct recording_writer *next = NULL;
	int err = recording_flush(r->writer, e);

	if (err || recording_written(r->writer)->stopped)
		return err;
	note_edge(r, recording_written(r->writer)->bytes - r->ends);
	err = shift(r, e);
	if (!err)
		err = recording_create_at(r->dir.fd, r->dir.name, r->opts.path, &next, e);
	if (err) {
		recording_stop(r->writer);
		return err;
	}
	add_up(r);
	err = recording_close(r->writer, e);
	r->writer = next;
	return err;
}

/* ---- all ---- */

/* Several files: nothing is removed before all may be. */
static int open_rotated(struct rotation *r, struct err *e)
{
	int err = check_first(r->opts.path, e);

	if (!err && !*r->opts.path)
		return recording_create(r->opts.path, &r->writer, e);
	if (!err)
		err = user_dir_open(r->opts.path, &r->dir, e);
	if (!err)
		err = earlier(r, false, e);
	return err ? err : recording_create_at(r->dir.fd, r->dir.name, r->opts.path, &r->writer, e);
}

static void rotation_free(struct rotation *r)
{
	user_dir_close(&r->dir);
	free(r);
}

int rotation_open(const struct rotation_opts *o, struct rotation **out, struct err *e)
{
	struct rotation *r = xcalloc(1, sizeof(*r));
	int err;

	r->opts = *o;
	r->dir = (struct user_dir)USER_DIR_NONE;
	err = o->size ? open_rotated(r, e) : recording_create(o->path, &r->writer, e);
	if (err) {
		rotation_free(r);
		return err;
	}
	*out = r;
	return 0;
}

struct recording_writer *rotation_writer(struct rotation *r)
{
	return r->writer;
}

size_t rotation_recent(const struct rotation *r)
{
	return r->opts.size / 8 < RECENT_MAX ? r->opts.size / 8 & ~7ull : RECENT_MAX;
}

bool rotation_hides_arguments(const struct rotation *r)
{
	return !r->opts.show_args && !recording_is_private(r->writer);
}

struct rotation_written rotation_written(const struct rotation *r)
{
	struct rotation_written w = r->before;
	const struct recording_written *now = recording_written(r->writer);

	w.records += now->records;
	w.files++;
	w.stopped = w.stopped || now->stopped;
	return w;
}

void rotation_drop(struct rotation *r)
{
	if (!r)
		return;
	recording_drop(r->writer);
	rotation_free(r);
}

int rotation_close(struct rotation *r, struct err *e)
{
	int err;

	if (!r)
		return 0;
	err = recording_close(r->writer, e);
	rotation_free(r);
	return err;
}
