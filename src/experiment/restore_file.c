// SPDX-License-Identifier: GPL-2.0-only
#include "experiment/restore_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/fields_json.h"
#include "util/mem.h"

#define VERSION	   1
#define LARGEST	   (1u << 20)
#define PREFIX	   "experiment."
#define NEW_PREFIX ".new."

void state_free(struct state *s)
{
	places_free_all(s->place, s->n);
	free(s->disk);
	*s = (struct state){ 0 };
}

/* ---- the text ---- */

static const struct field head_fields[] = { FIELD(INT, state, pid), FIELDS_END };
static const struct field disk_fields[] = {
	FIELD(U32, state_disk, major),
	FIELD(U32, state_disk, minor),
	FIELD(TEXT, state_disk, name),
	FIELDS_END,
};
static const struct field place_fields[] = {
	FIELD(STRING, place, unit),
	FIELD(STRING, place, sub),
	FIELD(STRING, place, before),
	FIELD(U32, place, major),
	FIELD(U32, place, minor),
	FIELD(U64, place, diskseq),
	FIELDS_END,
};

static void set(json_t *o, const char *key, json_t *v)
{
	if (json_object_set_new(o, key, xmust(v)))
		xmust(NULL);
}

void state_encode(const struct state *s, struct buf *out)
{
	json_t *doc = fields_to_json(head_fields, s);
	json_t *places = fields_to_json_array(place_fields, s->place, s->n, sizeof(*s->place));
	char *text;

	for (size_t i = 0; i < s->n; i++)
		set(json_array_get(places, i), "key", json_string(s->place[i].row->name));
	set(doc, "version", json_integer(VERSION));
	set(doc, "disks", fields_to_json_array(disk_fields, s->disk, s->n_disks, sizeof(*s->disk)));
	set(doc, "settings", places);
	text = xmust(json_dumps(doc, JSON_INDENT(1)));
	buf_str(out, text);
	buf_char(out, '\n');
	free(text);
	json_decref(doc);
}

/* A name of the kernel's, one folder or file: nothing that leads elsewhere. */
static bool is_plain(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") && strcmp(s, "..") && strlen(s) < 200;
}

/* Root writes where this says: it has to be a place that an experiment could have set. */
static bool is_possible(const struct place *p)
{
	if (!p->row || !p->unit || !p->before)
		return false;
	if (p->row->kind == KEY_EXT4 || p->row->kind == KEY_ATIME)
		return p->unit[0] == '/' && !p->sub;
	if (p->row->kind == KEY_CPU && strncmp(p->unit, "cpu", 3))
		return false;
	return is_plain(p->unit) && (p->row->hidden ? p->sub && is_plain(p->sub) : !p->sub);
}

static bool read_places(const json_t *places, struct state *s)
{
	bool good = json_is_array(places);

	for (size_t i = 0; good && i < json_array_size(places); i++) {
		const json_t *o = json_array_get(places, i), *key = json_object_get(o, "key");
		struct place *p = grow((void **)&s->place, &s->n, sizeof(*p));

		good = fields_from_json(place_fields, o, p);
		if (json_is_string(key))
			p->row = key_find(json_string_value(key), json_string_length(key));
		good = good && is_possible(p);
	}
	return good;
}

static bool read_disks(const json_t *disks, struct state *s)
{
	bool good = fields_from_json_array(disk_fields, disks, (void **)&s->disk, &s->n_disks, sizeof(*s->disk));

	for (size_t i = 0; good && i < s->n_disks; i++)
		good = is_plain(s->disk[i].name);
	return good;
}

int state_decode(const char *text, size_t len, struct state *out, struct err *e)
{
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct state s = { 0 };
	bool good = fields_from_json(head_fields, doc, &s) && s.pid > 0 &&
		    json_integer_value(json_object_get(doc, "version")) == VERSION &&
		    read_disks(json_object_get(doc, "disks"), &s) && read_places(json_object_get(doc, "settings"), &s);

	json_decref(doc);
	if (!good) {
		state_free(&s);
		return err_set(e, EBADMSG, EXIT_FAILED, "it is damaged, or of another version");
	}
	*out = s;
	return 0;
}

/* ---- the folder ---- */

static int open_folder(const char *path, bool make, struct err *e)
{
	struct stat st;
	int fd;

	if (make && mkdir(path, 0700) && errno != EEXIST)
		return err_set(e, errno, EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, EXIT_FAILED, "cannot use %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		return err_set(e, EPERM, EXIT_FAILED, "will not use %s: others could write to it", path);
	}
	return fd;
}

/* Opened only if it is a file that nobody else can have made or changed. */
static int open_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022 || st.st_size > LARGEST) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int read_state(int fd, struct state *out, struct err *e)
{
	struct buf b = { 0 };
	char part[4096];
	off_t at = 0;
	ssize_t n;
	int err;

	while ((n = pread(fd, part, sizeof(part), at)) > 0 && at <= LARGEST) {
		buf_add(&b, part, (size_t)n);
		at += n;
	}
	err = state_decode(b.data ? b.data : "", b.len, out, e);
	buf_free(&b);
	return err;
}

static bool is_held(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

/* The names that begin like this; owned by the caller. */
static char **names_like(int folder, const char *prefix)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char **names = NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			strv_add(&names, xstrdup(entry->d_name));
	if (d)
		closedir(d);
	return names;
}

/* ---- claiming ---- */

static bool has_cpus(const struct state *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->place[i].row->kind == KEY_CPU)
			return true;
	return false;
}

/* What both would set: a disk's name, "the CPUs", or NULL. */
static const char *shared(const struct state *a, const struct state *b)
{
	for (size_t i = 0; i < a->n_disks; i++)
		for (size_t j = 0; j < b->n_disks; j++)
			if (a->disk[i].major == b->disk[j].major && a->disk[i].minor == b->disk[j].minor)
				return a->disk[i].name;
	return has_cpus(a) && has_cpus(b) ? "the CPUs" : NULL;
}

static int check_other(int folder, const char *name, const struct state *ours, struct err *e)
{
	int fd = open_file(folder, name), err = 0;
	struct state other = { 0 };
	const char *both;

	if (fd < 0)
		return fd == -ENOENT ? 0 : err_set(e, EPERM, EXIT_FAILED, "will not trust the state file %s", name);
	if (read_state(fd, &other, e)) {
		close(fd);
		return err_set(e, EBADMSG, EXIT_FAILED,
			       "the state of an earlier experiment, %s, is damaged: see that its settings "
			       "are what they should be, and remove it",
			       name);
	}
	both = shared(ours, &other);
	if (both && is_held(fd))
		err = err_set(e, EBUSY, EXIT_FAILED,
			      "another experiment (process %d) is changing settings of %s: wait for its "
			      "end",
			      other.pid, both);
	else if (both)
		err = err_set(e, EBUSY, EXIT_FAILED,
			      "an experiment (process %d) was killed and left settings of %s changed; put "
			      "them back with: barriertrace experiment --restore",
			      other.pid, both);
	state_free(&other);
	close(fd);
	return err;
}

static int check_others(int folder, const struct state *ours, struct err *e)
{
	char **names = names_like(folder, PREFIX);
	int err = 0;

	for (size_t i = 0; names && names[i] && !err; i++)
		err = check_other(folder, names[i], ours, e);
	strv_free(names);
	return err;
}

static int write_all(int fd, const struct buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) ? -errno : 0;
}

/* Locked before it gets its name: nobody sees it without its lock. */
static int write_file(int folder, const struct state *s, struct state_claim *claim, struct err *e)
{
	struct buf b = { 0 };
	char temp[40];
	int fd, err;

	snprintf(temp, sizeof(temp), NEW_PREFIX "%d", s->pid);
	snprintf(claim->name, sizeof(claim->name), PREFIX "%d", s->pid);
	unlinkat(folder, temp, 0);
	fd = openat(folder, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, errno, EXIT_FAILED, "cannot note what has to be put back: %s", strerror(errno));
	state_encode(s, &b);
	err = write_all(fd, &b);
	buf_free(&b);
	if (!err && (flock(fd, LOCK_EX | LOCK_NB) || renameat(folder, temp, folder, claim->name) || fsync(folder)))
		err = -errno;
	if (err) {
		unlinkat(folder, temp, 0);
		close(fd);
		return err_set(e, -err, EXIT_FAILED, "cannot note what has to be put back: %s", strerror(-err));
	}
	claim->fd = fd;
	return 0;
}

int state_claim(const char *path, const struct state *s, struct state_claim *claim, struct err *e)
{
	int folder = open_folder(path, true, e), err;

	if (folder < 0)
		return folder;
	/* two that begin at once must not both find nobody there */
	err = flock(folder, LOCK_EX) ? err_set(e, errno, EXIT_FAILED, "cannot lock %s: %s", path, strerror(errno)) : 0;
	if (!err)
		err = check_others(folder, s, e);
	if (!err)
		err = write_file(folder, s, claim, e);
	flock(folder, LOCK_UN);
	if (err)
		close(folder);
	else
		claim->folder = folder;
	return err;
}

void state_leave(struct state_claim *claim)
{
	if (claim->fd >= 0)
		close(claim->fd);
	if (claim->folder >= 0)
		close(claim->folder);
	claim->fd = claim->folder = -1;
}

void state_release(struct state_claim *claim)
{
	if (claim->folder >= 0 && !unlinkat(claim->folder, claim->name, 0))
		fsync(claim->folder);
	state_leave(claim);
}

/* ---- putting back ---- */

static enum put_back put_back(const struct place *p, struct err *e)
{
	enum place_fate fate = place_fate(p);
	char *now;
	bool same;

	if (fate != PLACE_THERE)
		return fate == PLACE_GONE ? PUT_GONE : PUT_OTHER;
	now = place_read(p);
	same = now && !strcmp(now, p->before);
	free(now);
	if (same)
		return PUT_SAME;
	return place_write(p, p->before, e) ? PUT_FAILED : PUT_BACK;
}

unsigned int state_put_back(const struct state *s, put_back_fn *told, void *ctx)
{
	unsigned int failed = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct err e = { 0 };
		enum put_back how = put_back(&s->place[i], &e);

		failed += how == PUT_FAILED;
		told(ctx, how, &s->place[i], how == PUT_FAILED ? e.text : s->place[i].before);
	}
	return failed;
}

static unsigned int restore_file(int folder, const char *name, put_back_fn *told, void *ctx)
{
	int fd = open_file(folder, name);
	struct state s = { 0 };
	struct err e = { 0 };
	unsigned int failed;

	if (fd < 0 || is_held(fd)) {
		told(ctx, fd < 0 ? PUT_DAMAGED : PUT_BUSY, NULL, name);
		if (fd >= 0)
			close(fd);
		return fd < 0;
	}
	if (read_state(fd, &s, &e)) {
		told(ctx, PUT_DAMAGED, NULL, name);
		failed = 1;
	} else {
		failed = state_put_back(&s, told, ctx);
	}
	if (!failed)
		unlinkat(folder, name, 0);
	state_free(&s);
	close(fd);
	return failed;
}

/* Of one that was killed before its file had its name: nothing had been changed. */
static void remove_unfinished(int folder)
{
	char **names = names_like(folder, NEW_PREFIX);

	for (size_t i = 0; names && names[i]; i++)
		unlinkat(folder, names[i], 0);
	strv_free(names);
}

int state_restore_all(const char *path, put_back_fn *told, void *ctx, unsigned int *found, struct err *e)
{
	int folder = open_folder(path, false, e);
	unsigned int failed = 0;
	char **names;

	*found = 0;
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	if (flock(folder, LOCK_EX)) {
		close(folder);
		return err_set(e, errno, EXIT_FAILED, "cannot lock %s: %s", path, strerror(errno));
	}
	remove_unfinished(folder);
	names = names_like(folder, PREFIX);
	for (size_t i = 0; names && names[i]; i++)
		failed += restore_file(folder, names[i], told, ctx);
	*found = (unsigned int)strv_len(names);
	strv_free(names);
	close(folder);
	return (int)failed;
}
