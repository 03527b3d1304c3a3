// SPDX-License-Identifier: GPL-2.0-only
/* tunable.c - where a key stands, how it is read, set, and known again. */
#include "experiment/tunable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/mountinfo.h"
#include "host/sysfs.h"
#include "util/mem.h"
#include "experiment/remount.h"

/* ---- files of the kernel ---- */

/* Of an attribute of a disk's queue or of a CPU. */
static char *file_path(const struct place *p)
{
	return xasprintf("%s/%s/%s/%s%s%s", sys_root(), p->row->kind == KEY_CPU ? "devices/system/cpu" : "class/block",
			 p->unit, p->row->attr, p->sub ? "/" : "", p->sub ? p->sub : "");
}

static int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC), err = 0;
	size_t n = strlen(value);

	if (fd < 0)
		return -errno;
	if (write(fd, value, n) != (ssize_t)n)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* "none [mq-deadline] bfq": the one in brackets; without any, all of it */
static char *chosen(char *text)
{
	char *from = text ? strchr(text, '[') : NULL, *to = from ? strchr(from, ']') : NULL;

	if (!to)
		return text;
	*to = '\0';
	memmove(text, from + 1, strlen(from + 1) + 1);
	return text;
}

static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; *at;) {
		size_t n;

		at += strspn(at, " []\n");
		n = strcspn(at, " []\n");
		if (n && n == len && !strncmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

static char *file_read(const struct place *p)
{
	char *path = file_path(p), *text = file_text(path);

	free(path);
	return chosen(text);
}

static int file_write(const struct place *p, const char *value)
{
	char *path = file_path(p);
	int err = write_file(path, value);

	free(path);
	return err;
}

/* Which values there are; NULL: it doesn't tell. */
static char *queue_choice(const struct place *p)
{
	char *path, *text;

	if (p->row->values != VALUE_NAME || p->sub)
		return NULL;
	path = file_path(p);
	text = file_text(path);
	free(path);
	return text;
}

static char *cpu_choice(const struct place *p)
{
	char *path = xasprintf("%s/devices/system/cpu/%s/cpufreq/scaling_available_governors", sys_root(), p->unit);
	char *text = file_text(path);

	free(path);
	return text;
}

/* ---- mounts ---- */

static bool has_line(const char *text, const char *line, size_t len)
{
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strcspn(at, "\n") == len && !strncmp(at, line, len))
			return true;
	return false;
}

/* A line "barrier" or "nobarrier", "commit=5" */
static char *ext4_option(const char *text, const struct key_row *row)
{
	size_t n = strlen(row->attr);

	if (row->values == VALUE_SWITCH)
		return xstrdup(has_line(text, row->attr, n) ? "1" : "0");
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (!strncmp(at, row->attr, n) && at[n] == '=')
			return xasprintf("%.*s", (int)strcspn(at + n + 1, "\n"), at + n + 1);
	return NULL;
}

static char *ext4_read(const struct place *p)
{
	char name[BLOCK_NAME_LEN], *path, *text, *value = NULL;

	if (!block_name(p->major, p->minor, name))
		return NULL;
	path = xasprintf("%s/fs/ext4/%s/options", proc_root(), name);
	text = file_text(path);
	if (text)
		value = ext4_option(text, p->row);
	free(text);
	free(path);
	return value;
}

static int ext4_write(const struct place *p, const char *value)
{
	char *no = xasprintf("no%s", p->row->attr);
	int err;

	if (!strcmp(p->row->attr, "discard"))
		err = remount_option(p->unit, *value == '1' ? p->row->attr : no, NULL);
	else
		err = remount_option(p->unit, p->row->attr, value);
	free(no);
	return err;
}

/* The mount that is seen at this place. False: none. */
static bool seen_mount(const char *dir, struct mount_table *t, const struct mount_entry **out)
{
	char *path = xasprintf("%s/self/mountinfo", proc_root());

	*out = NULL;
	mount_table_read(path, t);
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->mounts[i].dir, dir))
			*out = &t->mounts[i];
	free(path);
	return *out;
}

static char *atime_read(const struct place *p)
{
	const struct mount_entry *m;
	struct mount_table t = { 0 };
	char *no = NULL, *rel = NULL, *value = NULL;

	if (seen_mount(p->unit, &t, &m)) {
		no = mount_option(m, "noatime");
		rel = mount_option(m, "relatime");
		value = xstrdup(no ? "1" : rel ? "0" : "strictatime");
	}
	free(no);
	free(rel);
	mount_table_free(&t);
	return value;
}

static int atime_write(const struct place *p, const char *value)
{
	return remount_atime(p->unit, *value == '1' ? ATIME_NO : *value == '0' ? ATIME_RELATIVE : ATIME_STRICT);
}

static char *no_choice(const struct place *p)
{
	(void)p;
	return NULL;
}

/* ---- is it still the same? ---- */

static uint64_t diskseq_of(const char *disk)
{
	uint64_t seq = 0;

	block_u64(disk, "diskseq", &seq);
	return seq;
}

/* A disk without a medium (an empty loop device) keeps its settings for the next one: they are still ours. */
static enum place_fate disk_fate(const struct place *p, const char *disk)
{
	uint64_t now = diskseq_of(disk), size = 1;
	unsigned int major, minor;

	if (!block_dev(disk, &major, &minor))
		return PLACE_GONE;
	if (p->row->kind == KEY_QUEUE && (major != p->major || minor != p->minor))
		return PLACE_OTHER;
	if (p->diskseq && now && now != p->diskseq && block_u64(disk, "size", &size) && size)
		return PLACE_OTHER;
	return PLACE_THERE;
}

static enum place_fate queue_fate(const struct place *p)
{
	return disk_fate(p, p->unit);
}

static enum place_fate mount_fate(const struct place *p)
{
	char name[BLOCK_NAME_LEN], disk[BLOCK_NAME_LEN];
	const struct mount_entry *m;
	struct mount_table t = { 0 };
	enum place_fate fate = PLACE_GONE;

	if (seen_mount(p->unit, &t, &m))
		fate = m->major == p->major && m->minor == p->minor ? PLACE_THERE : PLACE_OTHER;
	mount_table_free(&t);
	if (fate == PLACE_THERE && block_name(p->major, p->minor, name) && block_disk(name, disk))
		return disk_fate(p, disk) == PLACE_OTHER ? PLACE_OTHER : PLACE_THERE;
	return fate;
}

static enum place_fate cpu_fate(const struct place *p)
{
	char *now = file_read(p);
	enum place_fate fate = now ? PLACE_THERE : PLACE_GONE;

	free(now);
	return fate;
}

/* ---- finding them ---- */

/* Once. What can't be read could not be put back: false. */
static bool add(struct place **places, size_t *n, const struct place *p)
{
	struct place *to;
	char *before;

	for (size_t i = 0; i < *n; i++)
		if ((*places)[i].row == p->row && !strcmp((*places)[i].unit, p->unit) &&
		    !strcmp((*places)[i].sub ? (*places)[i].sub : "", p->sub ? p->sub : ""))
			return true;
	before = place_read(p);
	if (!before)
		return false;
	to = grow((void **)places, n, sizeof(*to));
	*to = *p;
	to->unit = xstrdup(p->unit);
	to->sub = xstrdup(p->sub);
	to->before = before;
	return true;
}

/* The scheduler's own settings go when it goes. */
static void add_iosched(const struct place *p, struct place **places, size_t *n)
{
	char *folder = xasprintf("%s/class/block/%s/queue/iosched", sys_root(), p->unit), **names = folder_list(folder);

	for (size_t i = 0; names && names[i]; i++) {
		struct place one = *p;

		one.row = key_find("iosched", strlen("iosched"));
		one.sub = names[i];
		add(places, n, &one);
	}
	strv_free(names);
	free(folder);
}

static void add_disturbed(const struct place *p, struct place **places, size_t *n)
{
	if (!strcmp(p->row->name, "scheduler"))
		add_iosched(p, places, n);
	for (const struct key_row *row = key_rows; row->name; row++) {
		struct place one = *p;

		one.row = row;
		if (row->with && !strcmp(row->with, p->row->name) && !row->hidden)
			add(places, n, &one);
	}
}

static int queue_find(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n,
		      struct err *e)
{
	if (!t->disks)
		return err_set(e, ENODEV, EXIT_FAILED, "%s: no disk below has a queue of its own", row->name);
	for (size_t i = 0; t->disks[i]; i++) {
		struct place p = { .row = row, .unit = t->disks[i], .diskseq = diskseq_of(t->disks[i]) };

		if (!block_dev(p.unit, &p.major, &p.minor) || !add(places, n, &p))
			return err_set(e, ENOENT, EXIT_FAILED, "%s has no %s here", p.unit, row->name);
		add_disturbed(&p, places, n);
	}
	return 0;
}

static int mount_find(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n,
		      struct err *e)
{
	struct place p = { .row = row, .unit = (char *)t->dir, .major = t->major, .minor = t->minor };
	char name[BLOCK_NAME_LEN], disk[BLOCK_NAME_LEN];

	if (!t->dir)
		return err_set(e, EINVAL, EXIT_USAGE, "%s: %s", row->name, t->no_mount);
	if (row->kind == KEY_EXT4 && strcmp(t->fstype, "ext4") && strcmp(t->fstype, "ext3") && strcmp(t->fstype, "ext2"))
		return err_set(e, EINVAL, EXIT_USAGE, "%s is a key of ext4, and %s is %s", row->name, t->dir, t->fstype);
	if (block_name(p.major, p.minor, name) && block_disk(name, disk))
		p.diskseq = diskseq_of(disk);
	if (!add(places, n, &p))
		return err_set(e, ENOENT, EXIT_FAILED, "%s: cannot tell how it is set on %s", row->name, t->dir);
	return 0;
}

static int cpu_find(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n,
		    struct err *e)
{
	char *folder = xasprintf("%s/devices/system/cpu", sys_root()), **cpus = folder_list(folder);
	size_t before = *n;

	(void)t;
	for (size_t i = 0; cpus && cpus[i]; i++) {
		struct place p = { .row = row, .unit = cpus[i] };

		if (!strncmp(cpus[i], "cpu", 3) && cpus[i][3] >= '0' && cpus[i][3] <= '9')
			add(places, n, &p);
	}
	strv_free(cpus);
	free(folder);
	return *n > before ? 0 : err_set(e, ENOENT, EXIT_FAILED, "%s: the CPUs of this machine have none", row->name);
}

/* ---- the kinds ---- */

/* clang-format off */
static const struct {
	char *(*read)(const struct place *p);
	int (*write)(const struct place *p, const char *value);
	char *(*choice)(const struct place *p);
	enum place_fate (*fate)(const struct place *p);
	int (*find)(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n, struct err *e);
} kinds[KEY_KINDS] = {
	[KEY_QUEUE] = { file_read, file_write, queue_choice, queue_fate, queue_find },
	[KEY_EXT4] = { ext4_read, ext4_write, no_choice, mount_fate, mount_find },
	[KEY_ATIME] = { atime_read, atime_write, no_choice, mount_fate, mount_find },
	[KEY_CPU] = { file_read, file_write, cpu_choice, cpu_fate, cpu_find },
};
/* clang-format on */

char *place_read(const struct place *p)
{
	return kinds[p->row->kind].read(p);
}

enum place_fate place_fate(const struct place *p)
{
	return kinds[p->row->kind].fate(p);
}

int places_find(const struct key_row *row, const struct place_target *t, struct place **places, size_t *n, struct err *e)
{
	return kinds[row->kind].find(row, t, places, n, e);
}

int place_offers(const struct place *p, const char *value, struct err *e)
{
	char *choice = kinds[p->row->kind].choice(p);
	int err = 0;

	if (choice && !listed(choice, value))
		err = err_set(e, EINVAL, EXIT_USAGE, "%s=%s: %s offers %s", p->row->name, value, p->unit, choice);
	free(choice);
	return err;
}

int place_write(const struct place *p, const char *value, struct err *e)
{
	char *now = place_read(p), *name;
	int err = 0;

	if (now && !strcmp(now, value)) {
		free(now);
		return 0;
	}
	free(now);
	name = place_name(p);
	err = kinds[p->row->kind].write(p, value);
	now = place_read(p);
	if (err)
		err_set(e, -err, EXIT_FAILED, "cannot set %s to %s: %s", name, value, strerror(-err));
	else if (!now || strcmp(now, value))
		err = err_set(e, EINVAL, EXIT_FAILED, "%s was set to %s, and the kernel made %s of it", name, value,
			      now ? now : "nothing");
	free(now);
	free(name);
	return err;
}

char *place_name(const struct place *p)
{
	return xasprintf("%s%s%s of %s", p->row->name, p->sub ? "/" : "", p->sub ? p->sub : "", p->unit);
}

void places_free_all(struct place *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].unit);
		free(p[i].sub);
		free(p[i].before);
	}
	free(p);
}
