// SPDX-License-Identifier: GPL-2.0-only
#include "util/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/num.h"

#define LINKS_MOST 40 /* on one path: the kernel's MAXSYMLINKS */

/* CAP_FS_SET of the kernel: what setfsuid(2) takes from root, and what a file's capabilities may have given to others */
#define BIT(cap) (1u << (cap))
#define FS_CAPS \
	(BIT(CAP_CHOWN) | BIT(CAP_MKNOD) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) | \
	 BIT(CAP_FSETID) | BIT(CAP_LINUX_IMMUTABLE))

static struct {
	file_identity_fn *find;
	bool known;
	struct file_identity id;
	mode_t mode;
	bool mode_given;
} by = { .mode = 0600 };

/* What this thread was, while it has the user's rights. */
static __thread struct {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int n_groups;
	struct __user_cap_data_struct caps[2];
} was;

void user_files_by(file_identity_fn *find)
{
	by.find = find;
	by.known = false;
}

int user_files_by_root(struct err *e)
{
	if (getuid())
		return err_set(e, EPERM, EXIT_NOT_PERMITTED, "--as-root is for root: run it with sudo, or leave it out");
	by.id = (struct file_identity){ 0 };
	by.known = true;
	return 0;
}

void user_files_mode(mode_t mode)
{
	by.mode = mode;
	by.mode_given = true;
}

mode_t user_files_new_mode(void)
{
	return by.mode;
}

bool user_files_mode_given(void)
{
	return by.mode_given;
}

uid_t user_files_uid(void)
{
	return by.known && by.id.switched ? by.id.uid : geteuid();
}

const char *user_files_hint(int code)
{
	static char text[96];

	if (!by.id.switched || getuid() || (code != EACCES && code != EPERM))
		return "";
	snprintf(text, sizeof(text), " for uid %u, who called; --as-root opens files as root", by.id.uid);
	return text;
}

static int find_identity(struct err *e)
{
	int err = by.known || !by.find ? 0 : by.find(&by.id, e);

	by.known = !err;
	return err;
}

/* ---- this thread's rights: raw system calls, for libc's change every thread ---- */

static int caps(long call, struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return (int)syscall(call, &head, data);
}

static int note_rights(void)
{
	int n = getgroups(0, NULL);

	was.groups = xcalloc((size_t)(n > 0 ? n : 1), sizeof(*was.groups));
	was.n_groups = n > 0 ? getgroups(n, was.groups) : 0;
	if (n < 0 || was.n_groups < 0 || caps(SYS_capget, was.caps)) {
		int err = -errno;

		free(was.groups);
		was.groups = NULL;
		return err;
	}
	was.uid = (uid_t)setfsuid((uid_t)-1);
	was.gid = (gid_t)setfsgid((gid_t)-1);
	return 0;
}

static bool same_groups(void)
{
	return (size_t)was.n_groups == by.id.n_groups &&
	       !memcmp(was.groups, by.id.groups, by.id.n_groups * sizeof(*by.id.groups));
}

static int take_rights(void)
{
	struct __user_cap_data_struct now[2];

	if (!same_groups() && syscall(SYS_setgroups, by.id.n_groups, by.id.groups))
		return -errno;
	setfsgid(by.id.gid);
	setfsuid(by.id.uid);
	if ((uid_t)setfsuid((uid_t)-1) != by.id.uid || (gid_t)setfsgid((gid_t)-1) != by.id.gid)
		return -EPERM;
	if (caps(SYS_capget, now))
		return -errno;
	now[0].effective &= ~FS_CAPS;
	return caps(SYS_capset, now) ? -errno : 0;
}

/* With anybody's rights but the right ones there is no going on. */
static void restore_rights(void)
{
	bool ok = !caps(SYS_capset, was.caps) && (same_groups() || !syscall(SYS_setgroups, was.n_groups, was.groups));

	setfsuid(was.uid);
	setfsgid(was.gid);
	ok = ok && (uid_t)setfsuid((uid_t)-1) == was.uid && (gid_t)setfsgid((gid_t)-1) == was.gid;
	/* back to root, the kernel gives what it took */
	if (!ok || caps(SYS_capset, was.caps))
		abort();
	free(was.groups);
	was.groups = NULL;
}

int user_files_begin(struct err *e)
{
	int err = find_identity(e);

	if (err || !by.id.switched)
		return err;
	err = note_rights();
	if (!err) {
		err = take_rights();
		if (err)
			restore_rights();
	}
	return err ? err_set(e, -err, EXIT_FAILED, "cannot take the rights of uid %u, who called: %s", by.id.uid,
			     strerror(-err)) :
		     0;
}

void user_files_end(void)
{
	int code = errno;

	if (by.id.switched)
		restore_rights();
	errno = code;
}

/* ---- directories ---- */

/* Only root, or a directory's owner if that is root, can have put a link there. */
static bool is_roots_link(int dir, const struct stat *link)
{
	struct stat d;

	if (fstat(dir, &d) || d.st_uid)
		return false;
	return !(d.st_mode & (S_IWGRP | S_IWOTH)) || ((d.st_mode & S_ISVTX) && !link->st_uid);
}

static int walk_as_root(int at, char *path, int *links);

/* One part of a path below `at`: its directory, or -errno. -EMLINK, which opening can't give: a link of somebody else's. */
static int step(int at, const char *name, int *links)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = -ENOTDIR;
	char to[PATH_MAX] = "";
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (S_ISLNK(st.st_mode) && readlinkat(fd, "", to, sizeof(to) - 1) < 0))
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		return fd;
	else if (S_ISLNK(st.st_mode))
		err = !is_roots_link(at, &st) ? -EMLINK : ++*links > LINKS_MOST ? -ELOOP : walk_as_root(at, to, links);
	close(fd);
	return err;
}

/* As openat() with O_PATH does, but for others' links. Cuts the path up. */
static int walk_as_root(int at, char *path, int *links)
{
	int fd = openat(at, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	const char *name;

	if (fd < 0)
		return -errno;
	while (fd >= 0 && (name = strsep(&path, "/"))) {
		next = step(fd, *name ? name : ".", links);
		close(fd);
		fd = next;
	}
	return fd;
}

static int cannot_write(const char *path, int code, struct err *e)
{
	if (code == EMLINK)
		return err_set(e, ELOOP, EXIT_FAILED,
			       "cannot write %s as root: somebody else could have put the symbolic link on the way", path);
	return err_set(e, code, EXIT_FAILED, "cannot write %s: %s%s", path, strerror(code), user_files_hint(code));
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int user_dir_open(const char *path, struct user_dir *d, struct err *e)
{
	const char *name = last_of(path);

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return cannot_write(path, EISDIR, e);
	return user_dir_open_itself(path, d, e);
}

int user_dir_open_itself(const char *path, struct user_dir *d, struct err *e)
{
	const char *name = last_of(path);
	int err, fd, links = 0;
	char *dir;

	if (strlen(path) >= PATH_MAX)
		return cannot_write(path, ENAMETOOLONG, e);
	err = user_files_begin(e);
	if (err)
		return err;
	dir = name > path ? xasprintf("%.*s", (int)(name - path), path) : xstrdup(".");
	if (user_files_uid()) {
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	} else {
		fd = walk_as_root(AT_FDCWD, dir, &links);
		err = fd < 0 ? fd : 0;
	}
	user_files_end();
	free(dir);
	if (err)
		return cannot_write(path, -err, e);
	*d = (struct user_dir){ .fd = fd, .name = name };
	return 0;
}

void user_dir_close(struct user_dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* ---- streams and inputs ---- */

static const struct {
	const char *name;
	int fd;
} standard[] = { { "/dev/stdin", STDIN_FILENO }, { "/dev/stdout", STDOUT_FILENO }, { "/dev/stderr", STDERR_FILENO } };

static int number_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;

	for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		if (!strcmp(path, standard[i].name))
			return standard[i].fd;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len) && !num_parse_range(path + len, 0, INT_MAX, &n))
			return (int)n;
	}
	return -1;
}

/* Each of ours is closed on exec: one that isn't came through it. */
int user_inherited_fd(const char *path)
{
	int fd = number_of(path), flags = fd < 0 ? -1 : fcntl(fd, F_GETFD);

	return flags < 0 || (flags & FD_CLOEXEC) ? -1 : fd;
}

static int cannot_read(const char *path, int code, struct err *e)
{
	return err_set(e, code, EXIT_FAILED, "cannot read %s: %s%s", path, strerror(code), user_files_hint(code));
}

int user_file_reopen(int found, int dir, const char *path, int flags)
{
	char again[32];
	struct stat a, b;
	int fd;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* without /proc by its name, which may have become another's meanwhile */
	fd = openat(dir, path, flags | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (!fstat(found, &a) && !fstat(fd, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

static int open_regular(const char *path)
{
	int found = open(path, O_PATH | O_CLOEXEC), fd = -1, code;
	struct stat st;

	if (found < 0)
		return -1;
	errno = fstat(found, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? 0 : EMLINK;
	if (!errno)
		fd = user_file_reopen(found, AT_FDCWD, path, O_RDONLY | O_NOCTTY);
	code = errno;
	close(found);
	errno = code;
	return fd;
}

int user_file_read(const char *path, struct err *e)
{
	bool standard_input = !strcmp(path, "-");
	int handed = standard_input ? STDIN_FILENO : user_inherited_fd(path), fd, err;

	if (handed >= 0) {
		fd = fcntl(handed, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? cannot_read(standard_input ? "standard input" : path, errno, e) : fd;
	}
	err = user_files_begin(e);
	if (err)
		return err;
	fd = open_regular(path);
	user_files_end();
	if (fd < 0 && errno == EMLINK)
		return err_set(e, EINVAL, EXIT_FAILED,
			       "cannot read %s: it is no regular file; '-' reads standard input", path);
	return fd < 0 ? cannot_read(path, errno, e) : fd;
}
