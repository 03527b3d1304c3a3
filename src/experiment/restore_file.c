// SPDX-License-Identifier: GPL-2.0-only
#include "experiment/restore_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/mem.h"
#include "util/num.h"

#define FIRST_LINE "barriertrace experiment 1\n"
#define LARGEST	   (1u << 20)
#define FIELDS	   6
#define PREFIX	   "experiment."
#define NEW_PREFIX ".new."

void state_free(struct state *s)
{
	places_free_all(s->place, s->n);
	free(s->disk);
	*s = (struct state){ 0 };
}

/* ---- the text ---- */

/* Everything that could end a field, a line or a reader's patience is %xx. */
static void add_field(struct buf *b, const char *s)
{
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c >= 127 || c == '%' || c == '|')
			buf_printf(b, "%%%02x", c);
		else
			buf_char(b, (char)c);
	}
}

static void add_place(struct buf *b, const struct place *p)
{
	buf_printf(b, "place %s|%u:%u|%" PRIu64 "|", p->row->name, p->major, p->minor, p->diskseq);
	add_field(b, p->unit);
	buf_char(b, '|');
	add_field(b, p->sub);
	buf_char(b, '|');
	add_field(b, p->before);
	buf_char(b, '\n');
}

void state_encode(const struct state *s, struct buf *out)
{
	size_t from = out->len;

	buf_str(out, FIRST_LINE);
	buf_printf(out, "pid %d\n", s->pid);
	for (size_t i = 0; i < s->n_disks; i++) {
		buf_printf(out, "disk %u:%u ", s->disk[i].major, s->disk[i].minor);
		add_field(out, s->disk[i].name);
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < s->n; i++)
		add_place(out, &s->place[i]);
	buf_printf(out, "end %08lx\n", crc32(0, (const Bytef *)out->data + from, (uInt)(out->len - from)));
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; false: no escape of ours. */
static bool unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		if (hex(s[1]) < 0 || hex(s[2]) < 0 || !(hex(s[1]) << 4 | hex(s[2])))
			return false;
		*to++ = (char)(hex(s[1]) << 4 | hex(s[2]));
		s += 2;
	}
	*to = '\0';
	return true;
}

static bool read_dev(const char *text, unsigned int *major, unsigned int *minor)
{
	int n = 0;

	return text[0] >= '0' && text[0] <= '9' && sscanf(text, "%8u:%8u%n", major, minor, &n) == 2 && !text[n];
}

/* A name of the kernel's, one folder or file: nothing that leads elsewhere. */
static bool is_plain(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") && strcmp(s, "..") && strlen(s) < 200;
}

/* Root writes where this says: it has to be a place that an experiment could have set. */
static bool is_possible(const struct place *p)
{
	if (p->row->kind == KEY_EXT4 || p->row->kind == KEY_ATIME)
		return p->unit[0] == '/' && !p->sub;
	if (p->row->kind == KEY_CPU && strncmp(p->unit, "cpu", 3))
		return false;
	return is_plain(p->unit) && (p->row->hidden ? p->sub && is_plain(p->sub) : !p->sub);
}

static bool read_place(char *line, struct state *s)
{
	char *field[FIELDS];
	struct place p = { 0 };
	size_t n = 0;

	for (char *at = line; at && n < FIELDS; n++) {
		field[n] = strsep(&at, "|");
		if (!unescape(field[n]) || (n == FIELDS - 1 && at))
			return false;
	}
	if (n < FIELDS || !read_dev(field[1], &p.major, &p.minor) || num_parse_u64(field[2], &p.diskseq))
		return false;
	p.row = key_find(field[0], strlen(field[0]));
	p.unit = field[3];
	p.sub = *field[4] ? field[4] : NULL;
	p.before = field[5];
	if (!p.row || !is_possible(&p))
		return false;
	p.unit = xstrdup(p.unit);
	p.sub = xstrdup(p.sub);
	p.before = xstrdup(p.before);
	*(struct place *)grow((void **)&s->place, &s->n, sizeof(p)) = p;
	return true;
}

static bool read_disk(char *line, struct state *s)
{
	char *name = strchr(line, ' ');
	struct state_disk d = { 0 };

	if (!name)
		return false;
	*name++ = '\0';
	if (!read_dev(line, &d.major, &d.minor) || !unescape(name) || !is_plain(name) || strlen(name) >= sizeof(d.name))
		return false;
	strcpy(d.name, name);
	*(struct state_disk *)grow((void **)&s->disk, &s->n_disks, sizeof(d)) = d;
	return true;
}

static bool read_line(char *line, struct state *s)
{
	uint64_t pid;

	if (!strncmp(line, "place ", 6))
		return read_place(line + 6, s);
	if (!strncmp(line, "disk ", 5))
		return read_disk(line + 5, s);
	if (strncmp(line, "pid ", 4) || num_parse_range(line + 4, 1, INT32_MAX, &pid))
		return false;
	s->pid = (int)pid;
	return true;
}

/* Where the line "end" begins, if it is the last one and its sum is right; 0: not so. */
static size_t checked(const char *text, size_t len)
{
	const size_t last = strlen("end 12345678\n");
	char want[32];

	if (len < strlen(FIRST_LINE) + last || memchr(text, '\0', len) || strncmp(text, FIRST_LINE, strlen(FIRST_LINE)))
		return 0;
	snprintf(want, sizeof(want), "end %08lx\n", crc32(0, (const Bytef *)text, (uInt)(len - last)));
	return memcmp(text + len - last, want, last) ? 0 : len - last;
}

int state_decode(const char *text, size_t len, struct state *out, struct err *e)
{
	size_t end = checked(text, len);
	struct state s = { 0 };
	char *copy = xcalloc(len + 1, 1), *at = copy;
	bool good = end;

	memcpy(copy, text, end);
	at += good ? strlen(FIRST_LINE) : 0;
	while (good && *at) {
		char *line = strsep(&at, "\n");

		good = at && read_line(line, &s);
	}
	free(copy);
	if (!good || !s.pid) {
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
