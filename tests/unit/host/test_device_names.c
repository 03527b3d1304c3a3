// SPDX-License-Identifier: GPL-2.0-only
/* Names of what facts hold as numbers: the kernel's functions by their addresses; devices and what is mounted on them. */
#include <stdlib.h>
#include <string.h>

#include "host/device_names.h"
#include "host/sysfs.h"
#include "util/buf.h"
#include "fake_tree.h"
#include "tap.h"
#include "wire.h"

static const char *const wanted[] = { "mutex_lock", "blk_mq_get_tag", "jbd2_log_wait_commit", "down", "last_one", NULL };

static struct kernel_symbol *read_from(const char *text, size_t *n)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	struct kernel_symbol *s;

	if (!f)
		abort();
	s = symbols_of(f, wanted, n);
	fclose(f);
	return s;
}

static bool is(const struct kernel_symbol *s, const char *name, uint64_t start, uint64_t end)
{
	return !strcmp(s->name, name) && s->start == start && s->end == end;
}

static void functions(void)
{
	size_t n;
	struct kernel_symbol *s = read_from("ffffffff81000000 T _stext\n"
					    "ffffffff81000100 T mutex_lock\n"
					    "ffffffff81000100 t __pfx_alias\n"
					    "ffffffff81000140 t mutex_lock_io\n"
					    "ffffffff81000200 t blk_mq_get_tag.isra.0\n"
					    "ffffffff81000280 T down\n"
					    "ffffffff81000300 T down_read\n"
					    "ffffffff81000400 D blk_mq_get_tag\n"
					    "ffffffffc0000000 t jbd2_log_wait_commit\t[jbd2]\n"
					    "ffffffffc0000080 t jbd2_next\t[jbd2]\n"
					    "ffffffffc0001000 t last_one\n",
					    &n);

	ok(n == 5, "%zu functions of the kernel and of modules are found, data is none", n);
	ok(n == 5 && is(&s[0], "mutex_lock", 0xffffffff81000100, 0xffffffff81000140),
	   "one ends where the next address begins, whatever else is called that has its own");
	ok(n == 5 && is(&s[1], "blk_mq_get_tag.isra.0", 0xffffffff81000200, 0xffffffff81000280) &&
		   is(&s[2], "down", 0xffffffff81000280, 0xffffffff81000300),
	   "what a compiler made of one is that one, and one that only begins so isn't");
	ok(n == 5 && is(&s[3], "jbd2_log_wait_commit", 0xffffffffc0000000, 0xffffffffc0000080),
	   "the module is no part of the name");
	ok(n == 5 && is(&s[4], "last_one", 0xffffffffc0001000, 0xffffffffc0001000), "of the last one no end is known");
	free(s);
}

static void nothing(void)
{
	size_t n = 7;
	struct kernel_symbol *s = read_from("0000000000000000 T mutex_lock\n0000000000000000 T down\n", &n);

	ok(!s && !n, "addresses that are hidden are none");
	free(s);
	s = read_from("damaged\n\nffffffff81000100\nffffffff81000100 T\nffffffff81000100 T \n", &n);
	ok(!s && !n, "nor are lines that make no sense");
	free(s);
}

/* ---- devices ---- */

static void make_devices(void)
{
	DEVICE("pci/block/bta", "8:160", "queue/write_cache=write back\n");
	DEVICE("pci/block/bta/bta1", "8:161", "partition=1\n");
	DEVICE("pci/block/btb", "8:176", "queue/write_cache=write through\n");
	DEVICE("virtual/block/dm-1", "253:1", "slaves/bta1=");
	DEVICE("virtual/block/dm-2", "253:2", "slaves/dm-1=", "slaves/btb=");
	DEVICE("virtual/block/hidden", NULL, "hidden=1\n");
	DEVICE("virtual/block/md3", "9:3", "slaves/md3=");
}

/* "253:2 dm-2 /srv ext4 traced cache nobarrier", a line for each */
static void places_are(const uint32_t *traced, size_t n_traced, const char *want, const char *name)
{
	struct places p = { 0 };
	struct buf b = { 0 };

	places_learn(&p, traced, n_traced);
	buf_str(&b, "");
	for (size_t i = 0; i < p.n; i++) {
		const struct device_name *d = &p.device[i];

		buf_printf(&b, "%u:%u %s %s %s%s%s%s\n", WIRE_MAJOR(d->dev), WIRE_MINOR(d->dev), d->name,
			   *d->mount ? d->mount : "-", *d->fstype ? d->fstype : "-", d->traced ? " traced" : "",
			   d->volatile_cache ? " cache" : "", d->nobarrier ? " nobarrier" : "");
	}
	if (!ok(!strcmp(b.data, want), "%s", name))
		diag("got %s", b.data);
	places_free(&p);
	ok(!p.n && !p.device, "freed");
	buf_free(&b);
}

static void places(void)
{
	static const uint32_t one[] = { WIRE_DEV(8, 176) }, two[] = { WIRE_DEV(9, 9), WIRE_DEV(8, 160) };
	static const uint32_t part[] = { WIRE_DEV(8, 161), WIRE_DEV(253, 1) };

	put("proc/self/mountinfo", "");
	places_are(NULL, 0,
		   "8:160 bta - - cache\n8:161 bta1 - - cache\n8:176 btb - -\n253:1 dm-1 - - cache\n253:2 dm-2 - - cache\n9:3 md3 - -\n",
		   "what isn't mounted: by name, with what lies beneath");
	places_are(one, 1,
		   "8:160 bta - - cache\n8:161 bta1 - - cache\n8:176 btb - - traced\n253:1 dm-1 - - cache\n"
		   "253:2 dm-2 - - traced cache\n9:3 md3 - -\n",
		   "who stands on a traced disk");
	places_are(part, 2,
		   "8:160 bta - - cache\n8:161 bta1 - - cache\n8:176 btb - -\n253:1 dm-1 - - traced cache\n"
		   "253:2 dm-2 - - traced cache\n9:3 md3 - -\n",
		   "whole disks are traced, no partitions");
	put("proc/self/mountinfo",
	    "1 0 253:2 / /srv rw - ext4 /dev/mapper/x rw,nobarrier\n2 0 0:40 / /data rw - btrfs /dev/btb rw\n"
	    "3 0 0:50 / /tmp rw - tmpfs none rw\n4 0 8:161 /a /boot rw - ext2 /dev/bta1 rw\n"
	    "5 0 8:161 /b /boot2 rw - ext2 /dev/bta1 rw\n");
	places_are(two, 2,
		   "253:2 dm-2 /srv ext4 traced cache nobarrier\n0:40 btb /data btrfs\n8:161 bta1 /boot ext2 traced cache\n"
		   "8:160 bta - - traced cache\n8:176 btb - -\n253:1 dm-1 - - traced cache\n9:3 md3 - -\n",
		   "what is mounted comes first, in its order, once");
}

static bool stands(const struct places *p, uint32_t dev, const char *name, const char *mount, bool traced)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->device[i].dev == dev)
			return !strcmp(p->device[i].name, name) && !strcmp(p->device[i].mount, mount) &&
			       p->device[i].traced == traced;
	return false;
}

/* What is mounted, unmounted and put in another's place after the first look. */
static void learning(void)
{
	static const uint32_t a[] = { WIRE_DEV(8, 160) }, b[] = { WIRE_DEV(8, 176) }, btrfs = WIRE_DEV(0, 40);
	struct places p = { 0 };
	size_t n;

	put("proc/self/mountinfo", "");
	ok(places_learn(&p, b, 1) && (n = p.n), "at first all is new");
	ok(!places_learn(&p, b, 1) && p.n == n, "nothing has changed");
	put("proc/self/mountinfo", "2 0 0:40 / /data rw - btrfs /dev/btb rw\n3 0 8:161 / /boot rw - ext2 /dev/bta1 rw\n");
	ok(places_learn(&p, b, 1) && p.n == n + 1, "mounted: of two one has a number of its own");
	ok(stands(&p, btrfs, "btb", "/data", true) && stands(&p, WIRE_DEV(8, 161), "bta1", "/boot", false),
	   "both are known");
	put("proc/self/mountinfo", "");
	ok(!places_learn(&p, b, 1) && stands(&p, btrfs, "btb", "/data", true) &&
		   stands(&p, WIRE_DEV(8, 161), "bta1", "/boot", false),
	   "unmounted: where they were is still known");
	put("proc/self/mountinfo", "2 0 0:40 / /other rw - btrfs /dev/bta rw\n");
	ok(places_learn(&p, b, 1) && p.n == n + 1 && stands(&p, btrfs, "bta", "/other", false), "another in its place");
	ok(places_learn(&p, a, 1) && stands(&p, btrfs, "bta", "/other", true) &&
		   stands(&p, WIRE_DEV(8, 161), "bta1", "", true) && stands(&p, b[0], "btb", "", false),
	   "other disks are traced");
	put("proc/self/mountinfo", "2 0 0:40 / /other rw - tmpfs none rw\n3 0 0:41 / /new rw - btrfs /dev/btb rw\n");
	ok(places_learn(&p, a, 1) && p.n == n + 1 && !stands(&p, btrfs, "bta", "/other", true),
	   "its number is now that of no disk");
	ok(stands(&p, WIRE_DEV(0, 41), "btb", "/new", false) && !places_learn(&p, a, 1), "one on another disk");
	put("proc/self/mountinfo", "");
	ok(places_learn(&p, a, 1) && p.n == n && !places_learn(&p, a, 1), "whose number is nobody's when it is gone");
	places_free(&p);
}

int main(void)
{
	functions();
	nothing();
	tree_make();
	make_devices();
	places();
	learning();
	return tree_done();
}
