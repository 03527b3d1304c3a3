// SPDX-License-Identifier: GPL-2.0-only
#include "host/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/mem.h"

static const char *sys_folder = "/sys", *proc_folder = "/proc";

void sysfs_roots(const char *sys, const char *proc)
{
	sys_folder = sys ? sys : "/sys";
	proc_folder = proc ? proc : "/proc";
}

const char *sys_root(void)
{
	return sys_folder;
}

const char *proc_root(void)
{
	return proc_folder;
}

static void trim(char *s)
{
	size_t n = strlen(s), lead = 0;

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	while (isspace((unsigned char)s[lead]))
		lead++;
	memmove(s, s + lead, n - lead + 1);
}

char *file_text(const char *path)
{
	struct buf text = { 0 };
	char part[4096];
	bool bad;
	size_t n;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return NULL;
	buf_str(&text, "");
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(&text, part, n);
	/* some attributes exist and answer EINVAL (wbt_lat_usec without wbt) */
	bad = ferror(f);
	fclose(f);
	if (bad) {
		buf_free(&text);
		return NULL;
	}
	trim(text.data);
	return text.data;
}

char *file_textf(const char *fmt, ...)
{
	char *path, *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&path, fmt, ap) < 0)
		path = NULL;
	va_end(ap);
	text = file_text(xmust(path));
	free(path);
	return text;
}

char *block_text(const char *name, const char *attribute)
{
	return file_textf("%s/class/block/%s/%s", sys_folder, name, attribute);
}

bool block_u64(const char *name, const char *attribute, uint64_t *value)
{
	char *text = block_text(name, attribute), *end;
	bool good = false;

	if (text && isdigit((unsigned char)*text)) {
		uint64_t v = strtoull(text, &end, 10);

		good = !*end;
		if (good)
			*value = v;
	}
	free(text);
	return good;
}

size_t block_stat(const char *name, uint64_t field[STAT_FIELDS])
{
	char *text = block_text(name, "stat");
	size_t n = 0;

	memset(field, 0, STAT_FIELDS * sizeof(*field));
	for (char *p = text, *end; p && n < STAT_FIELDS; p = end, n++) {
		uint64_t v = strtoull(p, &end, 10);

		if (end == p)
			break;
		field[n] = v;
	}
	free(text);
	return n;
}

bool block_has(const char *name, const char *attribute)
{
	char *path = xasprintf("%s/class/block/%s/%s", sys_folder, name, attribute);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static int natural(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **folder_list(const char *path)
{
	char **names = NULL;
	struct dirent *entry;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return NULL;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			strv_add(&names, xstrdup(entry->d_name));
	}
	closedir(dir);
	if (names)
		qsort(names, strv_len(names), sizeof(*names), natural);
	return names;
}

char **block_list(const char *name, const char *folder)
{
	char *path = xasprintf("%s/class/block/%s/%s", sys_folder, name, folder);
	char **names = folder_list(path);

	free(path);
	return names;
}

char **block_all(void)
{
	char *path = xasprintf("%s/class/block", sys_folder);
	char **names = folder_list(path);

	free(path);
	return names;
}

static bool copy_name(char out[BLOCK_NAME_LEN], const char *name)
{
	size_t n = strlen(name);

	if (!n || n >= BLOCK_NAME_LEN)
		return false;
	memcpy(out, name, n + 1);
	return true;
}

/*
 * Hidden disks (the paths below a multipath NVMe disk) have no `dev` attribute and no link in
 * /sys/dev/block, but their requests carry a device number, which /proc/diskstats shows: 259 3
 * nvme0c0n1 1022 0 8176 ... Finds the line by name when *name is not empty, by number otherwise,
 * and fills the other one. On 5.10 it shows 0 0 for each of them: not to be told apart, so not found.
 */
static bool diskstats_find(char name[BLOCK_NAME_LEN], unsigned int *major, unsigned int *minor)
{
	char *text = file_textf("%s/diskstats", proc_folder), *save = NULL;
	bool found = false;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !found; line = strtok_r(NULL, "\n", &save)) {
		char word[BLOCK_NAME_LEN];
		unsigned int a, b;

		if (sscanf(line, "%u %u %31s", &a, &b, word) != 3)
			continue;
		found = (a || b) && (*name ? !strcmp(name, word) : a == *major && b == *minor);
		if (found) {
			*major = a;
			*minor = b;
			copy_name(name, word);
		}
	}
	free(text);
	return found;
}

bool block_dev(const char *name, unsigned int *major, unsigned int *minor)
{
	char copy[BLOCK_NAME_LEN], *text;
	unsigned int a, b;
	bool good;

	if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") || !copy_name(copy, name))
		return false;
	if (!block_has(name, ""))
		return false;
	text = block_text(name, "dev");
	if (text)
		good = sscanf(text, "%u:%u", &a, &b) == 2;
	else
		good = diskstats_find(copy, &a, &b);
	free(text);
	if (good) {
		*major = a;
		*minor = b;
	}
	return good;
}

/* The last part of where a link points, `up` folders higher. */
static bool link_name(const char *path, unsigned int up, char name[BLOCK_NAME_LEN])
{
	char target[4096], *slash;
	ssize_t n;

	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	while (up--) {
		slash = strrchr(target, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	slash = strrchr(target, '/');
	return copy_name(name, slash ? slash + 1 : target);
}

bool block_name(unsigned int major, unsigned int minor, char name[BLOCK_NAME_LEN])
{
	char *path = xasprintf("%s/dev/block/%u:%u", sys_folder, major, minor);
	char found[BLOCK_NAME_LEN] = "";
	bool good;

	good = link_name(path, 0, found);
	free(path);
	if (!good) {
		*found = '\0';
		/* only a disk that the kernel hides may be missing there and be listed here */
		good = diskstats_find(found, &major, &minor) && block_has(found, "");
	}
	if (good)
		copy_name(name, found);
	return good;
}

/* A partition's folder lies in its disk's: ../../devices/pci0000:00/.../block/sda/sda1 */
bool block_disk(const char *name, char disk[BLOCK_NAME_LEN])
{
	char *path;
	bool good;

	if (!block_has(name, ""))
		return false;
	if (!block_has(name, "partition"))
		return copy_name(disk, name);
	path = xasprintf("%s/class/block/%s", sys_folder, name);
	good = link_name(path, 1, disk);
	free(path);
	return good;
}

/*
 * A multipath NVMe disk nvmeSnN has no `slaves`: the requests run on hidden disks, one for each
 * controller C that leads to it, named nvmeScCnN.
 */
static char **nvme_paths(const char *disk)
{
	unsigned int subsystem, namespace;
	char **all, **paths = NULL;
	int end = 0;

	if (sscanf(disk, "nvme%un%u%n", &subsystem, &namespace, &end) != 2 || disk[end])
		return NULL;
	all = block_all();
	for (size_t i = 0; all && all[i]; i++) {
		unsigned int s, c, n, major, minor;

		end = 0;
		if (sscanf(all[i], "nvme%uc%un%u%n", &s, &c, &n, &end) == 3 && !all[i][end] && s == subsystem &&
		    n == namespace && block_dev(all[i], &major, &minor))
			strv_add(&paths, xstrdup(all[i]));
	}
	strv_free(all);
	return paths;
}

char **block_slaves(const char *disk)
{
	char **slaves = block_list(disk, "slaves");

	return slaves ? slaves : nvme_paths(disk);
}

/*
 * A request is numbered by the driver's tags (nr_tags) or by the scheduler's (nr_requests). Room is
 * kept for nr_requests growing twofold while we look, and for a scheduler that is chosen meanwhile:
 * it starts with at most 256 requests (twice the kernel's default of 128).
 */
static uint32_t tags_with_reserve(const char *disk, char *const *queues)
{
	uint64_t most = 0, requests = 0;
	uint32_t limit = 1U << 20; /* far above what any driver asks for: 10,240 */

	for (size_t i = 0; queues && queues[i]; i++) {
		char *folder = xasprintf("mq/%s/nr_tags", queues[i]);
		uint64_t tags = 0, reserved = 0;

		block_u64(disk, folder, &tags);
		free(folder);
		folder = xasprintf("mq/%s/nr_reserved_tags", queues[i]);
		block_u64(disk, folder, &reserved);
		free(folder);
		if (tags + reserved > most)
			most = tags + reserved;
	}
	if (block_u64(disk, "queue/nr_requests", &requests) && requests > most)
		most = requests;
	most = most > limit / 2 ? limit : most * 2;
	return (uint32_t)(most < 256 ? 256 : most);
}

/* blk-mq makes the folder `mq`; a driver that takes bios has none. */
void block_queue(const char *disk, bool *bio_based, uint32_t *hw_queues, uint32_t *depth)
{
	char **queues = block_list(disk, "mq");

	*bio_based = !queues;
	*hw_queues = (uint32_t)strv_len(queues);
	*depth = queues ? tags_with_reserve(disk, queues) : 0;
	strv_free(queues);
}
