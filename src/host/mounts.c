// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/mem.h"
#include "host/mountinfo.h"
#include "host/sysfs.h"

static void read_mounts(struct mount_table *t)
{
	char *path = xasprintf("%s/self/mountinfo", proc_root());

	mount_table_read(path, t);
	free(path);
}

/*
 * The id of the mount that a path is in, as the first field of mountinfo has it. st_dev would not
 * do: a btrfs subvolume and a file in an overlay have numbers that stand in no mountinfo.
 */
static int mount_id(const char *path)
{
	char *text, *line;
	int fd, id = -ENOENT;

	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text = file_textf("/proc/self/fdinfo/%d", fd);
	line = text ? strstr(text, "mnt_id:") : NULL;
	if (line)
		id = atoi(line + strlen("mnt_id:"));
	free(text);
	close(fd);
	return id;
}

/* A root that the kernel mounted itself is /dev/root, which no /dev has: the kernel's command line says what it is. */
static void root_source(char source[BLOCK_NAME_LEN])
{
	char *text = file_textf("%s/cmdline", proc_root()), *save = NULL;

	for (char *w = text ? strtok_r(text, " \n", &save) : NULL; w; w = strtok_r(NULL, " \n", &save)) {
		if (!strncmp(w, "root=/dev/", 10) && strlen(w + 5) < BLOCK_NAME_LEN)
			strcpy(source, w + 5);
	}
	free(text);
}

/*
 * The kernel name for a device as mountinfo names it: /dev/sda1, /dev/mapper/x, also when this /dev
 * lacks it.
 */
static bool source_name(const char *source, char name[BLOCK_NAME_LEN])
{
	char root[BLOCK_NAME_LEN] = "/dev/root";
	unsigned int major, minor;
	struct stat st;

	if (strncmp(source, "/dev/", 5))
		return false;
	if (stat(source, &st) == 0 && S_ISBLK(st.st_mode))
		return block_name(major(st.st_rdev), minor(st.st_rdev), name);
	if (!strcmp(source, root)) {
		root_source(root);
		source = root;
	}
	if (strlen(source + 5) >= BLOCK_NAME_LEN)
		return false;
	strcpy(name, source + 5);
	for (char *p = name; *p; p++)
		*p = *p == '/' ? '!' : *p;
	return block_dev(name, &major, &minor);
}

/* mountinfo names one device of a btrfs; /sys/fs/btrfs/UUID/devices has them all. */
static char **btrfs_names(const char *one)
{
	char *path = xasprintf("%s/fs/btrfs", sys_root());
	char **file_systems = folder_list(path), **found = NULL;

	free(path);
	for (size_t i = 0; file_systems && file_systems[i] && !found; i++) {
		path = xasprintf("%s/fs/btrfs/%s/devices", sys_root(), file_systems[i]);
		found = folder_list(path);
		free(path);
		if (!strv_has(found, one)) {
			strv_free(found);
			found = NULL;
		}
	}
	strv_free(file_systems);
	return found;
}

/* bcachefs names all of its devices in one word: /dev/sda:/dev/sdb */
static char **joined_names(const char *source)
{
	char *copy = xstrdup(source), *save = NULL, **names = NULL;
	char name[BLOCK_NAME_LEN];

	for (char *one = strtok_r(copy, ":", &save); one; one = strtok_r(NULL, ":", &save)) {
		if (source_name(one, name))
			strv_add(&names, xstrdup(name));
	}
	free(copy);
	return names;
}

/* The block devices of a file system, by its number or, when that is anonymous, by its source. */
static char **fs_names(const struct mount_entry *m)
{
	char name[BLOCK_NAME_LEN];
	char **names = NULL;

	if (m->major) {
		if (block_name(m->major, m->minor, name))
			strv_add(&names, xstrdup(name));
		return names;
	}
	if (!strcmp(m->fstype, "bcachefs"))
		return joined_names(m->source);
	if (!source_name(m->source, name))
		return NULL;
	if (!strcmp(m->fstype, "btrfs"))
		names = btrfs_names(name);
	if (!names)
		strv_add(&names, xstrdup(name));
	return names;
}

/*
 * Folders of an overlay option, where `:` parts them and a backslash guards one that is part of a
 * name.
 */
static void add_folders(char ***v, const char *text)
{
	size_t len = strlen(text), n = 0;
	char *one = xcalloc(len + 1, 1);

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] == '\\' && i + 1 < len) {
			one[n++] = text[++i];
		} else if (i < len && text[i] != ':') {
			one[n++] = text[i];
		} else {
			one[n] = '\0';
			if (n)
				strv_add(v, xstrdup(one));
			n = 0;
		}
	}
	free(one);
}

/*
 * Writes and syncs go to the upper folder; without one the overlay only reads, from the lower ones.
 */
static char **overlay_folders(const struct mount_entry *m)
{
	static const char *const options[] = { "upperdir", "lowerdir" };
	char **folders = NULL, *value;

	for (size_t i = 0; i < 2 && !folders; i++) {
		value = mount_option(m, options[i]);
		if (value)
			add_folders(&folders, value);
		free(value);
	}
	return folders;
}

static void origin_of(const struct mount_entry *m, struct mount_origin *out)
{
	*out = (struct mount_origin){
		.fstype = xstrdup(m->fstype),
		.source = xstrdup(m->source),
		.dir = xstrdup(m->dir),
		.options = xstrdup(m->options),
		.major = m->major,
		.minor = m->minor,
	};
	if (!strcmp(m->fstype, "overlay"))
		out->below = overlay_folders(m);
	else
		out->names = fs_names(m);
}

int mount_origin(const char *path, struct mount_origin *out)
{
	int id = mount_id(path), ret = -ENOENT;
	struct mount_table t;

	if (id < 0)
		return id;
	read_mounts(&t);
	for (size_t i = 0; i < t.n && ret; i++) {
		if (t.mounts[i].id == id) {
			origin_of(&t.mounts[i], out);
			ret = 0;
		}
	}
	mount_table_free(&t);
	return ret;
}

void mount_origin_free(struct mount_origin *o)
{
	free_all(o->fstype, o->source, o->dir, o->options);
	strv_free(o->names);
	strv_free(o->below);
	*o = (struct mount_origin){ 0 };
}

static bool has_option(const struct mount_entry *m, const char *name, const char *value)
{
	char *text = mount_option(m, name);
	bool has = text && (!value || !strcmp(text, value));

	free(text);
	return has;
}

/* ext4 shows `barrier` in its options only when it is off, and in its own file always. */
static char *ext4_options(const struct mount_entry *m)
{
	char name[BLOCK_NAME_LEN];

	return block_name(m->major, m->minor, name) ? file_textf("%s/fs/ext4/%s/options", proc_root(), name) : NULL;
}

static bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, line, n) && (!p[n] || p[n] == '\n'))
			return true;
	}
	return false;
}

/* The file systems that leave the choice; XFS took it away (always on). */
static bool has_barrier_choice(const char *type)
{
	static const char *const types[] = { "ext3", "ext4", "btrfs", "f2fs", "nilfs2", "gfs2", "hfsplus" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!strcmp(type, types[i]))
			return true;
	}
	return false;
}

static char *barrier_text(const struct mount_entry *m)
{
	bool off;

	if (!has_barrier_choice(m->fstype))
		return NULL;
	off = has_option(m, "nobarrier", NULL) || has_option(m, "barrier", "0") ||
	      has_option(m, "fsync_mode", "nobarrier");
	if (!strncmp(m->fstype, "ext", 3)) {
		char *text = ext4_options(m);

		if (text && has_line(text, "nobarrier"))
			off = true;
		free(text);
	}
	return xstrdup(off ? "nobarrier" : "barrier");
}

/*
 * A container host has hundreds of bind mounts, which say the same thing again: a mount is told
 * only when no other one of the same file system shows the same files or more. Of equals the first
 * is told.
 */
static bool is_repeated(const struct mount_table *t, const struct mount_entry *m)
{
	for (const struct mount_entry *o = t->mounts; o < t->mounts + t->n; o++) {
		if (o != m && o->major == m->major && o->minor == m->minor && path_within(m->root, o->root) &&
		    (o < m || strcmp(m->root, o->root)))
			return true;
	}
	return false;
}

static bool is_on(const struct mount_entry *m, char *const *names)
{
	char **own = fs_names(m);
	bool on = false;

	for (size_t i = 0; own && own[i]; i++)
		on = on || strv_has(names, own[i]);
	strv_free(own);
	return on;
}

void mounts_of(char *const *names, struct report_device *d)
{
	struct mount_table t;

	read_mounts(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct mount_entry *m = &t.mounts[i];
		struct report_mount *r;

		if (!is_on(m, names) || is_repeated(&t, m))
			continue;
		r = grow((void **)&d->mounts, &d->n_mounts, sizeof(*r));
		r->dir = xstrdup(m->dir);
		r->fstype = xstrdup(m->fstype);
		r->options = xstrdup(m->options);
		r->barrier = barrier_text(m);
	}
	mount_table_free(&t);
}

void mounts_each(void (*each)(void *ctx, const struct mounted *m), void *ctx)
{
	struct mount_table t;
	char **names, *barrier;

	read_mounts(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct mount_entry *m = &t.mounts[i];

		if (is_repeated(&t, m))
			continue;
		names = fs_names(m);
		barrier = names ? barrier_text(m) : NULL;
		each(ctx, &(struct mounted){ m->major, m->minor, m->dir, m->fstype, m->options, names,
					     barrier && !strcmp(barrier, "nobarrier") });
		free(barrier);
		strv_free(names);
	}
	mount_table_free(&t);
}

int mounts_watch(void)
{
	char *path = xasprintf("%s/self/mountinfo", proc_root());
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

bool mounts_changed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };

	return poll(&p, 1, 0) > 0 && p.revents & POLLPRI;
}
