// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mem.h"
#include "sysfs.h"

static struct libmnt_table *mount_table(void)
{
	char *path = xasprintf("%s/self/mountinfo", proc_root());
	struct libmnt_table *table = mnt_new_table_from_file(path);

	free(path);
	return table;
}

/*
 * The id of the mount that a path is in, as the first field of mountinfo has it. st_dev would not
 * do: a btrfs subvolume and a file in an overlay have numbers that stand in no mountinfo.
 */
static int mount_id(const char *path)
{
	char *info, *text, *line;
	int fd, id = -ENOENT;

	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	info = xasprintf("/proc/self/fdinfo/%d", fd);
	text = file_text(info);
	line = text ? strstr(text, "mnt_id:") : NULL;
	if (line)
		id = atoi(line + strlen("mnt_id:"));
	free(text);
	free(info);
	close(fd);
	return id;
}

/*
 * The kernel name for a device as mountinfo names it: /dev/sda1, /dev/mapper/x, also when this /dev
 * lacks it.
 */
static bool source_name(const char *source, char name[BLOCK_NAME_LEN])
{
	unsigned int major, minor;
	struct stat st;

	if (strncmp(source, "/dev/", 5))
		return false;
	if (stat(source, &st) == 0 && S_ISBLK(st.st_mode))
		return block_name(major(st.st_rdev), minor(st.st_rdev), name);
	if (strlen(source + 5) >= BLOCK_NAME_LEN)
		return false;
	strcpy(name, source + 5);
	for (char *p = name; *p; p++)
		*p = *p == '/' ? '!' : *p;
	return block_dev(name, &major, &minor);
}

static bool strv_has(char *const *v, const char *s)
{
	for (size_t i = 0; v && v[i]; i++) {
		if (!strcmp(v[i], s))
			return true;
	}
	return false;
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
static char **fs_names(struct libmnt_fs *fs)
{
	const char *source = mnt_fs_get_source(fs), *type = mnt_fs_get_fstype(fs);
	dev_t dev = mnt_fs_get_devno(fs);
	char name[BLOCK_NAME_LEN];
	char **names = NULL;

	if (major(dev)) {
		if (block_name(major(dev), minor(dev), name))
			strv_add(&names, xstrdup(name));
		return names;
	}
	if (!source || !type)
		return NULL;
	if (!strcmp(type, "bcachefs"))
		return joined_names(source);
	if (!source_name(source, name))
		return NULL;
	if (!strcmp(type, "btrfs"))
		names = btrfs_names(name);
	if (!names)
		strv_add(&names, xstrdup(name));
	return names;
}

/*
 * Folders of an overlay option, where `:` parts them and a backslash guards one that is part of a
 * name.
 */
static void add_folders(char ***v, const char *text, size_t len)
{
	char *one = xcalloc(len + 1, 1);
	size_t n = 0;

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
 * 
 */
static char **overlay_folders(struct libmnt_fs *fs)
{
	static const char *const options[] = { "upperdir", "lowerdir" };
	char **folders = NULL, *value;
	size_t len;

	for (size_t i = 0; i < 2 && !folders; i++) {
		if (mnt_fs_get_option(fs, options[i], &value, &len) == 0 && value)
			add_folders(&folders, value, len);
	}
	return folders;
}

static struct libmnt_fs *mount_by_id(struct libmnt_table *table, int id)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL, *found = NULL;

	while (iter && !found && mnt_table_next_fs(table, iter, &fs) == 0)
		found = mnt_fs_get_id(fs) == id ? fs : NULL;
	mnt_free_iter(iter);
	return found;
}

int mount_origin(const char *path, struct mount_origin *out)
{
	struct libmnt_table *table;
	struct libmnt_fs *fs;
	int id, ret = -ENOENT;

	id = mount_id(path);
	if (id < 0)
		return id;
	table = mount_table();
	if (!table)
		return -ENOENT;
	fs = mount_by_id(table, id);
	if (fs) {
		const char *type = mnt_fs_get_fstype(fs);

		*out = (struct mount_origin){
			.fstype = xstrdup(type ? type : "an unknown file system"),
			.source = xstrdup(mnt_fs_get_source(fs)),
		};
		if (!strcmp(out->fstype, "overlay"))
			out->below = overlay_folders(fs);
		else
			out->names = fs_names(fs);
		ret = 0;
	}
	mnt_unref_table(table);
	return ret;
}

void mount_origin_free(struct mount_origin *o)
{
	free(o->fstype);
	free(o->source);
	strv_free(o->names);
	strv_free(o->below);
	*o = (struct mount_origin){ 0 };
}

static bool has_option(struct libmnt_fs *fs, const char *name, const char *value)
{
	char *text = NULL;
	size_t len = 0;

	if (mnt_fs_get_option(fs, name, &text, &len))
		return false;
	return !value || (text && len == strlen(value) && !strncmp(text, value, len));
}

/* ext4 shows `barrier` in its options only when it is off, and in its own file always. */
static char *ext4_options(struct libmnt_fs *fs)
{
	dev_t dev = mnt_fs_get_devno(fs);
	char name[BLOCK_NAME_LEN], *path, *text;

	if (!block_name(major(dev), minor(dev), name))
		return NULL;
	path = xasprintf("%s/fs/ext4/%s/options", proc_root(), name);
	text = file_text(path);
	free(path);
	return text;
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
	static const char *const types[] = { "ext3",   "ext4", "btrfs",	 "f2fs",
					     "nilfs2", "gfs2", "hfsplus" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!strcmp(type, types[i]))
			return true;
	}
	return false;
}

static char *barrier_text(struct libmnt_fs *fs, const char *type)
{
	bool off;

	if (!has_barrier_choice(type))
		return NULL;
	off = has_option(fs, "nobarrier", NULL) || has_option(fs, "barrier", "0") ||
	      has_option(fs, "fsync_mode", "nobarrier");
	if (!strncmp(type, "ext", 3)) {
		char *text = ext4_options(fs);

		if (text && has_line(text, "nobarrier"))
			off = true;
		free(text);
	}
	return xstrdup(off ? "nobarrier" : "barrier");
}

/* Is `root` the folder `top` of the same file system, or below it? */
static bool within(const char *root, const char *top)
{
	size_t n = strlen(top);

	if (!strcmp(top, "/"))
		return true;
	return !strncmp(root, top, n) && (!root[n] || root[n] == '/');
}

/*
 * A container host has hundreds of bind mounts, which say the same thing again: a mount is told
 * only when no other one of the same file system shows the same files or more. Of equals the first
 * is told.
 */
static bool is_repeated(struct libmnt_table *table, struct libmnt_fs *fs)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	const char *root = mnt_fs_get_root(fs), *top;
	struct libmnt_fs *other = NULL;
	bool repeated = false, before = true;

	while (iter && root && !repeated && mnt_table_next_fs(table, iter, &other) == 0) {
		if (other == fs) {
			before = false;
			continue;
		}
		top = mnt_fs_get_root(other);
		if (mnt_fs_get_devno(other) == mnt_fs_get_devno(fs) && top && within(root, top))
			repeated = before || strcmp(root, top) != 0;
	}
	mnt_free_iter(iter);
	return repeated;
}

static bool is_on(struct libmnt_fs *fs, char *const *names)
{
	char **own = fs_names(fs);
	bool on = false;

	for (size_t i = 0; own && own[i]; i++)
		on = on || strv_has(names, own[i]);
	strv_free(own);
	return on;
}

void mounts_of(char *const *names, struct report_device *d)
{
	struct libmnt_table *table = mount_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;

	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *type = mnt_fs_get_fstype(fs), *dir = mnt_fs_get_target(fs);
		struct report_mount *m;

		if (!type || !dir || !is_on(fs, names) || is_repeated(table, fs))
			continue;
		m = grow((void **)&d->mounts, &d->n_mounts, sizeof(*m));
		m->dir = xstrdup(dir);
		m->fstype = xstrdup(type);
		m->options = xstrdup(mnt_fs_get_options(fs));
		m->barrier = barrier_text(fs, type);
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
}

void mounts_each(void (*each)(void *ctx, const struct mounted *m), void *ctx)
{
	struct libmnt_table *table = mount_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;

	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *type = mnt_fs_get_fstype(fs), *dir = mnt_fs_get_target(fs);
		dev_t dev = mnt_fs_get_devno(fs);
		char **names;

		if (!type || !dir || is_repeated(table, fs))
			continue;
		names = fs_names(fs);
		each(ctx, &(struct mounted){ major(dev), minor(dev), dir, type, names });
		strv_free(names);
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
}
