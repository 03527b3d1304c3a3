// SPDX-License-Identifier: GPL-2.0-only
#include "host/target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/edit_distance.h"
#include "host/sysfs.h"

#define STACK_MAX 16 /* devices on devices, overlays on overlays: deeper ones are mistakes */
#define NEAR_MAX  6  /* names that a hint lists */

void targets_free(struct targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->t[i].via);
	free(t->t);
	*t = (struct targets){ 0 };
}

/* A loop device without a file, a drive without a disk and an unset zram have no size. */
static bool can_do_io(const char *name)
{
	uint64_t sectors;

	/* a hidden disk, a path of a multipath one, may show no size and works all the same */
	if (block_has(name, "hidden") && block_u64(name, "hidden", &sectors) && sectors)
		return true;
	return block_u64(name, "size", &sectors) && sectors;
}

/* An empty drive's number is that of the disk that was in it: the one that comes has another. */
static uint64_t sequence_of(const char *disk)
{
	uint64_t seq = 0;

	if (can_do_io(disk))
		block_u64(disk, "diskseq", &seq);
	return seq;
}

/*
 * Takes `via`. What is already there stays as it is. False when the kernel has no such device (any
 * more).
 */
static bool add_name(struct targets *out, const char *name, char *via)
{
	struct target t = { .via = via }, *new;

	if (!block_dev(name, &t.major, &t.minor) || !block_disk(name, t.disk) ||
	    !block_dev(t.disk, &t.disk_major, &t.disk_minor)) {
		free(via);
		return false;
	}
	for (size_t i = 0; i < out->n; i++) {
		if (out->t[i].major == t.major && out->t[i].minor == t.minor) {
			free(via);
			return true;
		}
	}
	snprintf(t.name, sizeof(t.name), "%s", name);
	block_queue(t.disk, &t.bio_based, &t.hw_queues, &t.depth);
	t.diskseq = sequence_of(t.disk);
	new = grow((void **)&out->t, &out->n, sizeof(*new));
	*new = t;
	return true;
}

static char *joined(char *const *names)
{
	struct buf b = { 0 };

	for (size_t i = 0; names[i]; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", names[i]);
	return b.data;
}

/*
 * Adds the disks that `disk` sends its requests on to. `led` says how we came to it, or is NULL:
 * "dm-0 is on sda3", "/srv/db is on md0, on sda, sdb".
 */
static void add_slaves(struct targets *out, const char *disk, const char *led, unsigned int depth)
{
	char **slaves, *list, *via, below[BLOCK_NAME_LEN];

	slaves = depth < STACK_MAX ? block_slaves(disk) : NULL;
	if (!slaves)
		return;
	list = joined(slaves);
	via = led ? xasprintf("%s, on %s", led, list) : xasprintf("%s is on %s", disk, list);
	for (size_t i = 0; slaves[i]; i++) {
		if (!block_disk(slaves[i], below))
			continue;
		add_name(out, below, xstrdup(via));
		add_slaves(out, below, via, depth + 1);
	}
	free(via);
	free(list);
	strv_free(slaves);
}

bool target_stands_on(const struct target *t, const char *disk)
{
	char **slaves = block_slaves(t->disk), below[BLOCK_NAME_LEN];
	bool found = false;

	for (size_t i = 0; slaves && slaves[i] && !found; i++)
		found = block_disk(slaves[i], below) && !strcmp(below, disk);
	strv_free(slaves);
	return found;
}

static bool add_stack(struct targets *out, const char *name, const char *led)
{
	char disk[BLOCK_NAME_LEN];

	if (!add_name(out, name, xstrdup(led)) || !block_disk(name, disk))
		return false;
	add_slaves(out, disk, led, 0);
	return true;
}

/*
 * "vda, loop0": the names nearest to the word first. Empty when this machine has no block devices.
 */
static char *near_names(const char *word)
{
	char **all = block_all();
	struct buf b = { 0 };

	buf_str(&b, "");
	for (size_t listed = 0; all && listed < NEAR_MAX; listed++) {
		char *best = NULL;
		size_t at = SIZE_MAX, least = SIZE_MAX;

		for (size_t i = 0; all[i]; i++) {
			size_t far = *all[i] && can_do_io(all[i]) ? near_distance(word, strlen(word), all[i]) : SIZE_MAX;

			if (far < least) {
				least = far;
				best = all[i];
				at = i;
			}
		}
		if (at == SIZE_MAX)
			break;
		buf_printf(&b, "%s%s", listed ? ", " : "", best);
		*all[at] = '\0'; /* listed */
	}
	strv_free(all);
	return b.data;
}

/* The user's word as it may stand in a one-line message. */
struct shown {
	char s[201];
};

static struct shown shown(const char *word)
{
	struct shown w;

	if (snprintf(w.s, sizeof(w.s), "%s", word) >= (int)sizeof(w.s))
		strcpy(w.s + sizeof(w.s) - sizeof("..."), "...");
	for (char *p = w.s; *p; p++)
		*p = iscntrl((unsigned char)*p) ? '?' : *p;
	return w;
}

static int no_such_disk(const char *word, struct err *e)
{
	const char *base = strrchr(word, '/');
	char *near = near_names(base ? base + 1 : word);
	int ret;

	if (*near)
		ret = err_set(e, ENOENT, EXIT_USAGE, "no disk called '%s': there are %s (try lsblk)", shown(word).s, near);
	else
		ret = err_set(e, ENOENT, EXIT_USAGE, "no disk called '%s', and no other here either", shown(word).s);
	free(near);
	return ret;
}

static int no_such_path(const char *word, int code, struct err *e)
{
	if (code == EACCES || code == EPERM)
		return err_set(e, code, EXIT_NOT_PERMITTED, "cannot look at '%s': %s (run as root)", shown(word).s,
			       strerror(code));
	if (code == ENOENT)
		return err_set(e, code, EXIT_USAGE,
			       "no file or disk '%s': name a disk, a mount point or a file (try lsblk)", shown(word).s);
	return err_set(e, code, EXIT_USAGE, "cannot look at '%s': %s", shown(word).s, strerror(code));
}

static int no_sysfs_entry(const char *word, dev_t dev, struct err *e)
{
	return err_set(e, ENODEV, EXIT_USAGE, "'%s' is block device %u:%u, which this kernel does not have (try lsblk)",
		       shown(word).s, major(dev), minor(dev));
}

/* `path` is a device node or lies on a device. */
static int add_dev(const char *path, dev_t dev, bool is_node, struct targets *out, struct err *e)
{
	const char *base = strrchr(path, '/');
	char name[BLOCK_NAME_LEN], *led;
	int ret = 0;

	if (!block_name(major(dev), minor(dev), name))
		return no_sysfs_entry(path, dev, e);
	/* /dev/sda and sda are the same word; /dev/mapper/x and /srv/db lead somewhere */
	if (is_node && !strcmp(base ? base + 1 : path, name))
		led = NULL;
	else
		led = xasprintf("%s is %s%s", path, is_node ? "" : "on ", name);
	if (!add_stack(out, name, led))
		ret = no_sysfs_entry(path, dev, e);
	free(led);
	return ret;
}

static int add_path(const char *word, const char *path, unsigned int depth, struct targets *out, struct err *e);

static int no_disk_beneath(const char *word, const struct mount_origin *o, struct err *e)
{
	const char *source = o->source ? o->source : "";

	if (!strncmp(source, "/dev/", 5) || !strcmp(o->fstype, "btrfs") || !strcmp(o->fstype, "zfs"))
		return err_set(e, ENODEV, EXIT_USAGE, "'%s' is on %s from '%s', whose disks cannot be told: name them",
			       shown(word).s, o->fstype, shown(source).s);
	return err_set(e, ENODEV, EXIT_USAGE, "'%s' is on %s, which has no disk beneath", shown(word).s, o->fstype);
}

/* A file system with an anonymous device number: btrfs, overlay, or one without a disk. */
static int add_mount(const char *word, const char *path, unsigned int depth, struct targets *out, struct err *e)
{
	struct mount_origin o = { 0 };
	char *list, *led;
	int ret;

	ret = mount_origin(path, &o);
	if (ret)
		return no_such_path(word, -ret, e);
	for (size_t i = 0; o.below && o.below[i] && !ret; i++)
		ret = add_path(word, o.below[i], depth + 1, out, e);
	if (o.names) {
		list = joined(o.names);
		led = xasprintf("%s is on %s", word, list);
		for (size_t i = 0; o.names[i]; i++)
			add_stack(out, o.names[i], led);
		free(led);
		free(list);
	}
	if (!ret && !out->n)
		ret = no_disk_beneath(word, &o, e);
	mount_origin_free(&o);
	return ret;
}

/* `word` is what the user said, `path` where it led. */
static int add_path(const char *word, const char *path, unsigned int depth, struct targets *out, struct err *e)
{
	struct stat st;

	if (depth > STACK_MAX)
		return no_such_path(word, ELOOP, e);
	if (stat(path, &st))
		return no_such_path(path, errno, e);
	if (S_ISBLK(st.st_mode))
		return add_dev(path, st.st_rdev, true, out, e);
	if (S_ISCHR(st.st_mode))
		return err_set(e, ENOTBLK, EXIT_USAGE, "'%s' is a character device, not a disk (try lsblk)", shown(word).s);
	if (major(st.st_dev))
		return add_dev(word, st.st_dev, false, out, e);
	return add_mount(word, path, depth, out, e);
}

/*
 * A word that is no path: a kernel name, also with the slash that the kernel writes as an
 * exclamation mark.
 */
static int add_kernel_name(const char *word, int code, struct targets *out, struct err *e)
{
	char *name = xstrdup(word);
	bool found;

	for (char *p = name; *p; p++)
		*p = *p == '/' ? '!' : *p;
	found = (code == ENOENT || code == ENOTDIR) && add_stack(out, name, NULL);
	free(name);
	if (found)
		return 0;
	if (code == ENOENT && (!strchr(word, '/') || !strncmp(word, "/dev/", 5)))
		return no_such_disk(word, e);
	return no_such_path(word, code, e);
}

static void merge(struct targets *out, struct targets *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct target *t = &found->t[i], *new;
		bool there = false;

		for (size_t k = 0; k < out->n; k++)
			there = there || (out->t[k].major == t->major && out->t[k].minor == t->minor);
		if (there)
			continue;
		new = grow((void **)&out->t, &out->n, sizeof(*new));
		*new = *t;
		t->via = NULL;
	}
	targets_free(found);
}

int target_resolve(const char *word, struct targets *out, struct err *e)
{
	struct targets found = { 0 };
	struct stat st;
	int ret;

	if (!*word)
		return err_set(e, EINVAL, EXIT_USAGE, "the name of a disk is empty (try lsblk)");
	if (stat(word, &st))
		ret = add_kernel_name(word, errno, &found, e);
	else
		ret = add_path(word, word, 0, &found, e);
	if (ret)
		targets_free(&found);
	else
		merge(out, &found);
	return ret;
}

int target_all(struct targets *out, struct err *e)
{
	struct targets found = { 0 };
	char **all = block_all();

	for (size_t i = 0; all && all[i]; i++) {
		if (!block_has(all[i], "partition") && can_do_io(all[i]))
			add_name(&found, all[i], NULL);
	}
	strv_free(all);
	if (!found.n)
		return err_set(e, ENODEV, EXIT_FAILED, "no disk to trace: %s/class/block has none with a size", sys_root());
	merge(out, &found);
	return 0;
}

int target_again(const struct target *t, struct targets *out)
{
	char name[BLOCK_NAME_LEN];

	if (!block_name(t->major, t->minor, name) || strcmp(name, t->name) || !can_do_io(name) ||
	    !add_name(out, name, xstrdup(t->via)))
		return -ENODEV;
	return 0;
}

bool target_gone(const struct target *t)
{
	unsigned int major, minor;
	uint64_t seq;

	if (!block_dev(t->disk, &major, &minor) || major != t->disk_major || minor != t->disk_minor)
		return true;
	return t->diskseq && block_u64(t->disk, "diskseq", &seq) && seq != t->diskseq;
}

uint64_t target_diskseq(const struct target *t)
{
	return sequence_of(t->disk);
}

static bool fact_u64(const char *disk, const char *attribute, bool *value)
{
	uint64_t v = 0;

	if (!block_u64(disk, attribute, &v))
		return false;
	*value = v != 0;
	return true;
}

/* "none [mq-deadline] bfq" */
static char *scheduler_text(const char *disk)
{
	char *text = block_text(disk, "queue/scheduler"), *name = NULL;
	char *from = text ? strchr(text, '[') : NULL, *to = from ? strchr(from, ']') : NULL;

	if (to) {
		*to = '\0';
		name = xstrdup(from + 1);
	}
	free(text);
	return name;
}

/*
 * Drives say their model, eMMC and SD cards a name, dm its name, md its level, loop its file;
 * virtio says nothing.
 */
static char *model_text(const char *disk)
{
	static const char *const attributes[] = {
		"device/model", "device/name", "dm/name", "md/level", "loop/backing_file",
	};
	char *text = NULL;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		text = block_text(disk, attributes[i]);
		if (text && *text)
			break;
		free(text);
		text = NULL;
	}
	return text;
}

/* The device, its partitions, and what is stacked on any of them. */
static void add_upwards(char ***names, const char *name, unsigned int depth)
{
	char **inside;

	if (depth > STACK_MAX || strv_has(*names, name))
		return;
	strv_add(names, xstrdup(name));
	inside = block_list(name, "holders");
	for (size_t i = 0; inside && inside[i]; i++)
		add_upwards(names, inside[i], depth + 1);
	strv_free(inside);
	inside = block_list(name, "");
	for (size_t i = 0; inside && inside[i]; i++) {
		char *attribute = xasprintf("%s/partition", inside[i]);

		if (block_has(name, attribute))
			add_upwards(names, inside[i], depth + 1);
		free(attribute);
	}
	strv_free(inside);
}

void device_facts(const struct target *t, struct report_device *d)
{
	const char *disk = t->disk;
	uint64_t sectors = 0;
	char **names = NULL;

	snprintf(d->name, sizeof(d->name), "%s", t->name);
	d->major = t->major;
	d->minor = t->minor;
	d->bio_based = t->bio_based;
	d->via = xstrdup(t->via);
	d->disk = strcmp(t->name, disk) ? xstrdup(disk) : NULL;
	d->model = model_text(disk);
	d->write_cache = block_text(disk, "queue/write_cache");
	d->scheduler = t->bio_based ? NULL : scheduler_text(disk);
	d->have_fua = fact_u64(disk, "queue/fua", &d->fua);
	d->have_rotational = fact_u64(disk, "queue/rotational", &d->rotational);
	d->have_wbt = block_u64(disk, "queue/wbt_lat_usec", &d->wbt_lat_us);
	if (!t->bio_based)
		block_u64(disk, "queue/nr_requests", &d->nr_requests);
	if (block_u64(t->name, "size", &sectors))
		d->size = sectors * 512;
	d->slaves = block_slaves(disk);
	add_upwards(&names, t->name, 0);
	mounts_of(names, d);
	strv_free(names);
}

#define NS_PER_MS 1000000ULL

int kernel_stat_read(const struct target *t, struct report_kernel *out)
{
	uint64_t f[STAT_FIELDS];
	size_t n = block_stat(t->name, f);

	/* the number after the counters: if it is still this disk's, so are they */
	if (n <= STAT_WRITE_MS || target_gone(t))
		return -ENODEV;
	*out = (struct report_kernel){
		.have = true,
		/* booked on whole disks only, and not on those without requests: 0 there means "not known" */
		.have_flush = n > STAT_FLUSH_MS && !strcmp(t->name, t->disk) && !t->bio_based,
		.reads = f[STAT_READS],
		.read_bytes = f[STAT_READ_SECTORS] * 512,
		.read_ns = f[STAT_READ_MS] * NS_PER_MS,
		.writes = f[STAT_WRITES],
		.write_bytes = f[STAT_WRITE_SECTORS] * 512,
		.write_ns = f[STAT_WRITE_MS] * NS_PER_MS,
		.discards = f[STAT_DISCARDS],
		.discard_bytes = f[STAT_DISCARD_SECTORS] * 512,
		.discard_ns = f[STAT_DISCARD_MS] * NS_PER_MS,
	};
	if (out->have_flush) {
		out->flushes = f[STAT_FLUSHES];
		out->flush_ns = f[STAT_FLUSH_MS] * NS_PER_MS;
	}
	return 0;
}

/*
 * The kernel prints its times as 32 bits of milliseconds, so a busy disk's wrap after 49 days of
 * I/O time.
 */
static uint64_t time_delta(uint64_t before, uint64_t after)
{
	if (after < before)
		after += (1ULL << 32) * NS_PER_MS;
	return after - before;
}

void kernel_stat_delta(const struct report_kernel *before, const struct report_kernel *after, struct report_kernel *out)
{
	/* counts that went back are of another disk, which took the name meanwhile */
	bool same = after->reads >= before->reads && after->writes >= before->writes &&
		    after->discards >= before->discards && after->flushes >= before->flushes;
	struct report_kernel d = { 0 };

	d.have = before->have && after->have && same;
	d.have_flush = d.have && before->have_flush && after->have_flush;
	if (d.have) {
		d.reads = after->reads - before->reads;
		d.read_bytes = after->read_bytes - before->read_bytes;
		d.read_ns = time_delta(before->read_ns, after->read_ns);
		d.writes = after->writes - before->writes;
		d.write_bytes = after->write_bytes - before->write_bytes;
		d.write_ns = time_delta(before->write_ns, after->write_ns);
		d.discards = after->discards - before->discards;
		d.discard_bytes = after->discard_bytes - before->discard_bytes;
		d.discard_ns = time_delta(before->discard_ns, after->discard_ns);
	}
	if (d.have_flush) {
		d.flushes = after->flushes - before->flushes;
		d.flush_ns = time_delta(before->flush_ns, after->flush_ns);
	}
	*out = d;
}
