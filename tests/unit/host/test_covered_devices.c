// SPDX-License-Identifier: GPL-2.0-only
/* Which disks and partitions nobody uses but file systems that tell of each sync call. */
#include <stdlib.h>
#include <string.h>

#include "host/covered_devices.h"
#include "host/sysfs.h"
#include "util/buf.h"
#include "fake_tree.h"
#include "tap.h"
#include "wire.h"

static void make_devices(void)
{
	DEVICE("pci/block/bta", "8:160", NULL);
	DEVICE("pci/block/bta/bta1", "8:161", "partition=1\n");
	DEVICE("pci/block/bta/bta2", "8:162", "partition=2\n", "holders/dm-1=");
	DEVICE("pci/block/bta/bta3", "8:163", "partition=3\n", "holders/dm-1=", "holders/dm-2=");
	DEVICE("pci/block/btb", "8:176", NULL);
	DEVICE("pci/block/btc", "8:192", "holders/btc=");
	DEVICE("virtual/block/dm-1", "253:1", NULL);
	DEVICE("virtual/block/dm-2", "253:2", NULL);
}

static bool is_ext4(const void *ctx, const char *fstype)
{
	return !strcmp(fstype, ctx);
}

static void covered_are(const char *mountinfo, const char *want, const char *name)
{
	struct covered_devices c;
	struct buf b = { 0 };

	put("proc/self/mountinfo", mountinfo);
	covered_devices_read(is_ext4, "ext4", &c);
	buf_str(&b, "");
	for (size_t i = 0; i < c.n; i++)
		buf_printf(&b, "%u:%u ", WIRE_MAJOR(c.dev[i]), WIRE_MINOR(c.dev[i]));
	if (!ok(!strcmp(b.data, want), "%s", name))
		diag("got %s", b.data);
	covered_devices_free(&c);
	ok(!c.n && !c.dev, "freed");
	buf_free(&b);
}

/* f0 is held by f1, that by f2, .. f9, which alone is mounted. */
static void deep_stack(void)
{
	for (int i = 0; i < 10; i++) {
		char *folder = xasprintf("virtual/block/f%d", i), *number = xasprintf("300:%d", i),
		     *by = xasprintf("holders/f%d=", i + 1);

		DEVICE(folder, number, i < 9 ? by : "x=");
		free(folder);
		free(number);
		free(by);
	}
	covered_are("1 0 300:9 / / rw - ext4 /dev/x rw\n", "300:1 300:2 300:3 300:4 300:5 300:6 300:7 300:8 300:9 ",
		    "eight devices above one are looked at");
}

int main(void)
{
	tree_make();
	make_devices();
	covered_are("", "", "what isn't mounted can be written to by anybody");
	covered_are("1 0 8:161 / / rw - ext4 /dev/bta1 rw\n", "8:161 ", "a partition that is mounted, and not its disk");
	covered_are("1 0 8:160 / / rw - ext4 /dev/bta rw\n", "8:160 ", "a disk that is mounted as a whole");
	covered_are("1 0 8:161 / / rw - vfat /dev/bta1 rw\n2 0 8:176 / /b rw - ext4 /dev/btb rw\n", "8:176 ",
		    "a file system of another type tells nothing");
	covered_are("1 0 253:1 / / rw - ext4 /dev/mapper/x rw\n", "8:162 253:1 ",
		    "beneath dm, if all that stands on it is mounted");
	covered_are("1 0 253:1 / / rw - ext4 /dev/mapper/x rw\n2 0 253:2 / /y rw - ext4 /dev/mapper/y rw\n",
		    "8:162 8:163 253:1 253:2 ", "both that stand on a partition are");
	covered_are("1 0 253:1 / / rw - ext4 /dev/mapper/x rw\n2 0 253:2 / /y rw - vfat /dev/mapper/y rw\n",
		    "8:162 253:1 ", "one of the two is not");
	covered_are("1 0 0:40 / / rw - ext4 /dev/btb rw\n", "8:176 ", "a file system with a number of its own");
	covered_are("1 0 0:40 / / rw - ext4 /dev/btb rw\n2 0 0:41 / /a rw - vfat /dev/btb rw\n", "",
		    "all that stand on a device have to tell");
	deep_stack();
	return tree_done();
}
