/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_file.h - files that the user names, opened with the user's rights. Under sudo that is the person who called: no
 * output and no input reaches further than that person's own rights, whatever links lie on the way.
 */
#ifndef BT_UTIL_USER_FILE_H
#define BT_UTIL_USER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/err.h"

struct file_identity {
	bool switched; /* not what this process is */
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* lasts as long as the process */
	size_t n_groups;
};

/* How to find out who that is: asked once, when the first file is opened. Without it: this process. */
typedef int file_identity_fn(struct file_identity *id, struct err *e);
void user_files_by(file_identity_fn *find);

/* As root after all (--as-root). An error when this process is not root. */
int user_files_by_root(struct err *e);

/* The mode of new files, 0600 unless this changes it; and whether it did. */
void user_files_mode(mode_t mode);
mode_t user_files_new_mode(void);
bool user_files_mode_given(void);

/*
 * From one to the other, this thread's file system calls have the user's rights: file system uid, gid, groups, and no
 * capability that overrides permissions. user_files_end() keeps errno.
 */
int user_files_begin(struct err *e);
void user_files_end(void);

/* Whose files are the user's own. */
uid_t user_files_uid(void);

/* What to say behind strerror(code): the way out, where rights that root has are missing; else "". */
const char *user_files_hint(int code);

/*
 * A file's name in a directory that is open. As root, a link that somebody else could have put on the way is refused.
 * `path` has to outlive it.
 */
struct user_dir {
	int fd;
	const char *name; /* of the file: part of path */
};

#define USER_DIR_NONE \
	{ \
		.fd = -1 \
	}

int user_dir_open(const char *path, struct user_dir *d, struct err *e);
int user_dir_open_itself(const char *path, struct user_dir *d, struct err *e); /* the last part may be "." */
void user_dir_close(struct user_dir *d);				       /* safe when not open */

/*
 * /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N: a descriptor that our caller opened, not one of ours; -1: no such name,
 * or no such descriptor.
 */
int user_inherited_fd(const char *path);

/*
 * Opens what O_PATH found at `path` below `dir`, with these flags: a descriptor, or -1. To look first at what is then opened,
 * for opening a device or a pipe can do something.
 */
int user_file_reopen(int found, int dir, const char *path, int flags);

/* A regular file, a descriptor as above, or "-" for standard input, to read: its descriptor, or an error. */
int user_file_read(const char *path, struct err *e);

#endif
