// SPDX-License-Identifier: GPL-2.0-only
/* readers_fs.c - how a file system's settings are read. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/sysfs.h"
#include "doctor/doctor_internal.h"
#include "util/mem.h"

static char *mountinfo_path(void)
{
	return xasprintf("%s/self/mountinfo", proc_root());
}

bool option_find(const char *options, const char *name, char **value)
{
	size_t n = strlen(name);

	if (value)
		*value = NULL;
	for (const char *p = options; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, name, n) || (p[n] && p[n] != ',' && p[n] != '='))
			continue;
		if (value && p[n] == '=')
			*value = xasprintf("%.*s", (int)strcspn(p + n + 1, ","), p + n + 1);
		return true;
	}
	return false;
}

void read_fstype(const struct query *q, struct reading *r)
{
	r->value = xstrdup(q->l->fstype);
	r->where = mountinfo_path();
}

void read_mount(const struct query *q, struct reading *r)
{
	if (!option_find(q->l->options, q->row->arg, &r->value))
		return;
	if (!r->value)
		r->value = xstrdup("on");
	r->where = mountinfo_path();
}

/* Later kernels show it as fsync=volatile. */
void read_volatile(const struct query *q, struct reading *r)
{
	char *how = NULL;

	if (option_find(q->l->options, q->row->arg, NULL) ||
	    (option_find(q->l->options, "fsync", &how) && how && !strcmp(how, q->row->arg))) {
		r->value = xstrdup("on");
		r->where = mountinfo_path();
	}
	free(how);
}

/* The kernel names what isn't its oldest way: every read updates. */
void read_atime(const struct query *q, struct reading *r)
{
	static const char *const ways[] = { "noatime", "relatime" };

	for (size_t i = 0; i < 2 && !r->value; i++)
		if (option_find(q->l->options, ways[i], NULL))
			r->value = xstrdup(ways[i]);
	if (!r->value)
		r->value = xstrdup(option_find(q->l->options, "ro", NULL) ? "read-only" : "strictatime");
	r->where = mountinfo_path();
}

/* The file's whole line, or NULL; owned by the caller. */
static char *line_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, name, n) && (!p[n] || p[n] == '\n' || p[n] == '='))
			return xasprintf("%.*s", (int)strcspn(p, "\n"), p);
	}
	return NULL;
}

static char *ext4_file(const struct diag_layer *l, char **path)
{
	*path = l->below ? xasprintf("%s/fs/ext4/%s/options", proc_root(), l->below[0]) : NULL;
	return *path ? file_text(*path) : NULL;
}

/* "commit=5", "delalloc" or "nodelalloc" */
void read_ext4(const struct query *q, struct reading *r)
{
	char *path, *text = ext4_file(q->l, &path), *no = xasprintf("no%s", q->row->arg);
	char *yes_line = line_of(text, q->row->arg), *no_line = line_of(text, no);

	if (yes_line && strchr(yes_line, '='))
		r->value = xstrdup(strchr(yes_line, '=') + 1);
	else if (yes_line || no_line)
		r->value = xstrdup(yes_line ? "on" : "off");
	if (r->value)
		r->where = xstrdup(path);
	free(yes_line);
	free(no_line);
	free(no);
	free(text);
	free(path);
}

static bool says_no_barrier(const char *options)
{
	char *value = NULL;
	bool off = option_find(options, "nobarrier", NULL);

	off = off || (option_find(options, "barrier", &value) && value && !strcmp(value, "0"));
	free(value);
	off = off || (option_find(options, "fsync_mode", &value) && value && !strcmp(value, "nobarrier"));
	free(value);
	return off;
}

/* ext4 has it in its own file whatever it is; the others name it only when it is off; XFS has no choice left. */
void read_barrier(const struct query *q, struct reading *r)
{
	if (!strncmp(q->l->fstype, "ext", 3))
		read_ext4(q, r);
	if (r->value)
		return;
	r->value = xstrdup(says_no_barrier(q->l->options) ? "off" : "on");
	r->where = mountinfo_path();
}

void read_ext4_sys(const struct query *q, struct reading *r)
{
	if (!q->l->below)
		return;
	r->where = xasprintf("%s/fs/ext4/%s/%s", sys_root(), q->l->below[0], q->row->arg);
	r->value = file_text(r->where);
	if (r->value && !strcmp(r->value, "<none>"))
		memcpy(r->value, "none", 5);
}

static const struct diag_layer *device_of(const struct exam *x, const struct diag_layer *l)
{
	return l->below ? diag_layer_named(x->d, l->below[0]) : NULL;
}

/* Another file system may be mounted over it. */
static uint64_t kernel_block_size(const char *dir, unsigned int major, unsigned int minor)
{
	struct statvfs fs;
	struct stat st;

	if (stat(dir, &st) || st.st_dev != makedev(major, minor) || statvfs(dir, &fs))
		return 0;
	return fs.f_bsize;
}

static uint64_t block_size(const struct exam *x, const struct diag_layer *l)
{
	const struct diag_layer *device = device_of(x, l);

	if (!device)
		return 0;
	return (x->o->block_size ? x->o->block_size : kernel_block_size)(l->name, device->major, device->minor);
}

void read_block_size(const struct query *q, struct reading *r)
{
	uint64_t size = block_size(q->x, q->l);

	if (!size)
		return;
	r->value = xasprintf("%" PRIu64, size);
	r->where = xasprintf("statvfs of %s", q->l->name);
}

/* ---- the superblock: only where it is in memory anyway, so that no drive is woken ---- */

#define SUPER_AT    1024
#define SUPER_SIZE  1024
#define SUPER_MAGIC 0xef53

/* Fields of struct ext4_super_block, little-endian. */
enum { SUPER_MAGIC_AT = 0x38, SUPER_COMPAT = 0x5c };
#define COMPAT_FAST_COMMIT 0x400

static uint32_t le(const unsigned char *p, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/*
 * A mounted ext4 keeps its superblock's block, but a read that must not wait gets none of a page that was not read as a
 * whole. Where that block is the whole page, a plain read finds all of it there,
 	and asks no drive. 0 or -errno; -EAGAIN: not
 * in memory.
 */
static int super_read(const char *path, bool whole_page, unsigned char super[SUPER_SIZE])
{
	struct iovec io = { .iov_base = super, .iov_len = SUPER_SIZE };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = preadv2(fd, &io, 1, SUPER_AT, RWF_NOWAIT);
	if (n < 0 && errno == EAGAIN && whole_page)
		n = pread(fd, super, SUPER_SIZE, SUPER_AT);
	if (n != SUPER_SIZE)
		err = n < 0 ? -errno : -EAGAIN;
	else if (le(super + SUPER_MAGIC_AT, 2) != SUPER_MAGIC)
		err = -EINVAL;
	close(fd);
	return err;
}

void read_fast_commit(const struct query *q, struct reading *r)
{
	unsigned char super[SUPER_SIZE];
	int err;

	if (!q->l->below)
		return;
	r->where = node_path(q->x, q->l->below[0]);
	err = super_read(r->where, block_size(q->x, q->l) >= (uint64_t)sysconf(_SC_PAGESIZE), super);
	if (!err)
		r->value = xstrdup(le(super + SUPER_COMPAT, 4) & COMPAT_FAST_COMMIT ? "on" : "off");
	else if (err == -EAGAIN)
		r->unknown = xstrdup("the superblock is not in memory, and no drive is woken for it");
	else
		r->unknown = xasprintf("the superblock cannot be read: %s", strerror(-err));
}
