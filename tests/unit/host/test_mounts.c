// SPDX-License-Identifier: GPL-2.0-only
/* What mountinfo says, line by line; and what a mounted file system stands on, in a made-up /sys and /proc. */
#include "host/mountinfo.h"
#include "host/sysfs.h"
#include "util/buf.h"
#include "util/mem.h"
#include "check.h"
#include "fake_machine.h"
#include "open_files.h"

/* ---- lines ---- */

struct line_row {
	const char *line, *want, *name; /* want: "id major:minor root dir fstype source options", "" for no mount */
};

static const struct line_row lines[] = {
	{ "20 1 8:161 /top /mnt rw - ext4 /dev/bta1 rw", "20 8:161 /top|/mnt|ext4|/dev/bta1|rw", "a mount" },
	{ "21 1 0:7 / /m rw,a shared:1 master:2 - ext4 /dev/x rw,b", "21 0:7 /|/m|ext4|/dev/x|rw,a,b", "with tags" },
	{ "22 1 0:7 / /m rw - tmpfs  rw,x", "22 0:7 /|/m|tmpfs||rw,x", "an empty source" },
	{ "22 1 0:7 / /m rw - tmpfs none", "22 0:7 /|/m|tmpfs|none|rw", "no options of the file system" },
	{ "22 1 0:7 / /m rw - tmpfs", "", "no source" },
	{ "22 1 0:7 / /m rw tmpfs none rw", "", "no dash" },
	{ "22 1 0 / /m rw - tmpfs none rw", "", "no device number" },
	{ "x 1 0:7 / /m rw - tmpfs none rw", "", "no number" },
	{ "30 1 8:1 /\\040r /\\040d rw - a\\040t s\\040s rw,o\\040o", "30 8:1 / r|/ d|a t|s s|rw,o o",
	  "blanks in every text" },
	{ "31 1 8:1 / /\\303\\244\\101\\171\\100\\107\\134 rw - t s rw",
	  "31 8:1 /|/\xc3\xa4"
	  "Ay@G\\|t|s|rw",
	  "the first and the last octal digits" },
	{ "32 1 8:1 / /\\404\\/40\\181\\1/1\\108\\10/ rw - t s rw", "32 8:1 /|/\\404\\/40\\181\\1/1\\108\\10/|t|s|rw",
	  "what is next to an octal digit is none" },
	{ "40 1 8:1 / /m ro - t s rw", "40 8:1 /|/m|t|s|ro", "a mount that is read-only" },
	{ "40 1 8:1 / /m rw - t s ro", "40 8:1 /|/m|t|s|ro", "a file system that is" },
	{ "40 1 8:1 / /m ro,a - t s rw,b", "40 8:1 /|/m|t|s|ro,a,b", "ro comes first, further options after it" },
	{ "40 1 8:1 / /m rw,a,b - t s rw,a,b", "40 8:1 /|/m|t|s|rw,a,b", "the same options twice are told once" },
	{ "40 1 8:1 / /m rw,rota,rwx,aa,or - t s r,row", "40 8:1 /|/m|t|s|rw,rota,rwx,aa,or,r,row",
	  "an option that begins with rw or ro is another" },
	{ "40 1 8:1 / /m rw,,a,, - t s ,,b", "40 8:1 /|/m|t|s|rw,a,b", "empty options" },
};

/* What one file of mountinfo gives, the mounts parted by a semicolon. */
static char *table_text(const char *text)
{
	char *path = xasprintf("%s/table", dir);
	struct mount_table t;
	struct buf b = { 0 };

	put("table", text);
	mount_table_read(path, &t);
	buf_str(&b, "");
	for (size_t i = 0; i < t.n; i++) {
		const struct mount_entry *m = &t.mounts[i];

		buf_printf(&b, "%s%d %u:%u %s|%s|%s|%s|%s", i ? ";" : "", m->id, m->major, m->minor, m->root, m->dir,
			   m->fstype, m->source, m->options);
	}
	mount_table_free(&t);
	if (t.n || t.mounts)
		buf_str(&b, " not freed");
	free(path);
	return b.data;
}

static void test_lines(void)
{
	struct mount_table t = { .n = 7 };
	char *got;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		is_text(table_text(lines[i].line), lines[i].want, lines[i].name);
	}
	got = table_text("\n1 1 8:1 / /a rw - t s rw\nx\n\n2 1 8:2 / /b rw - t s rw\n");
	is_str(got, "1 8:1 /|/a|t|s|rw;2 8:2 /|/b|t|s|rw", "lines that are no mounts are left out");
	free(got);
	mount_table_read("/no/such/file", &t);
	ok(!t.n && !t.mounts, "without the file the table is empty");
}

static void test_options(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "a", "2" },	  { "ab", "3" }, { "b", "" },	 { "c", NULL },	    { "d", "" },
		{ "e", "x,y=z" }, { "y", NULL }, { "last", "" }, { "las", NULL },   { "lastly", NULL },
		{ "f", "1=2" },	  { "1", NULL }, { "g", "\\5" }, { "\\054", NULL }, { "rw", "" },
	};
	char *path = xasprintf("%s/table", dir);
	struct mount_table t;

	put("table", "1 1 8:1 / /a rw,a=1,b - t s rw,a=2,ab=3,d=,e=x\\054y=z,f=1=2,g=\\5,last\n");
	mount_table_read(path, &t);
	for (size_t i = 0; t.n && i < ARRAY_LEN(rows); i++) {
		char *got = mount_option(t.mounts, rows[i].name), *name = xasprintf("option %s", rows[i].name);

		is_str(got, rows[i].want, name);
		free(name);
		free(got);
	}
	is_str(t.n ? t.mounts->options : NULL, "rw,a=1,b,a=2,ab=3,d=,e=x,y=z,f=1=2,g=\\5,last",
	       "escapes are undone in all of them");
	is_str(t.n ? t.mounts->raw_options : NULL, "rw,a=1,b,a=2,ab=3,d=,e=x\\054y=z,f=1=2,g=\\5,last",
	       "and kept in the raw ones");
	mount_table_free(&t);
	free(path);
}

/* ---- the file systems that are mounted ---- */

#define LONGEST "x23456789x123456789x123456789x1" /* 31 letters, as long as a kernel name can be */

static void make_devices(void)
{
	make_machine();
	DEVICE("pci/block/" LONGEST, "8:192", "size=100\n");
	DEVICE("virtual/block/ram3", "1:3", "size=100\n"); /* the character device 1:3 is /dev/null */
	put("sys/fs/btrfs/1234-abcd/devices/bta1", "");
	put("sys/fs/btrfs/5678-abcd/devices/cciss!c9d0", "");
}

struct listing {
	struct buf b;
};

/* "8:161 /boot ext4 rw [bta1] nobarrier" */
static void list(void *ctx, const struct mounted *m)
{
	struct listing *l = ctx;

	buf_printf(&l->b, "%s%u:%u %s %s %s [", l->b.len ? "; " : "", m->major, m->minor, m->dir, m->fstype, m->options);
	for (size_t i = 0; m->names && m->names[i]; i++)
		buf_printf(&l->b, "%s%s", i ? " " : "", m->names[i]);
	buf_printf(&l->b, "%s%s", m->names ? "]" : "-]", m->nobarrier ? " nobarrier" : "");
}

static void each_is(const char *mountinfo, const char *want, const char *name)
{
	struct listing l = { 0 };

	put("proc/self/mountinfo", mountinfo);
	buf_str(&l.b, "");
	mounts_each(list, &l);
	is_str(l.b.data, want, name);
	buf_free(&l.b);
}

static void test_repeated(void)
{
	each_is("", "", "none is mounted");
	each_is("1 0 8:161 / /a rw - ext4 /dev/x rw\n2 0 8:161 / /b rw - ext4 /dev/x rw\n", "8:161 /a ext4 rw [bta1]",
		"of equals the first");
	each_is("1 0 8:161 /sub /a rw - ext4 /dev/x rw\n2 0 8:161 / /b rw - ext4 /dev/x rw\n",
		"8:161 /b ext4 rw [bta1]", "a folder of what is mounted as a whole later");
	each_is("1 0 8:161 /s /a rw - ext4 /dev/x rw\n2 0 8:161 /s/t /b rw - ext4 /dev/x rw\n",
		"8:161 /a ext4 rw [bta1]", "a folder below another one");
	each_is("1 0 8:161 /s /a rw - ext4 /dev/x rw\n2 0 8:161 /st /b rw - ext4 /dev/x rw\n",
		"8:161 /a ext4 rw [bta1]; 8:161 /b ext4 rw [bta1]", "one that only begins so is another");
	each_is("1 0 8:161 / /a rw - ext4 /dev/x rw\n2 0 8:160 / /b rw - ext4 /dev/x rw\n3 0 9:161 / /c rw - ext4 /dev/x rw\n",
		"8:161 /a ext4 rw [bta1]; 8:160 /b ext4 rw [bta]; 9:161 /c ext4 rw [-]", "other file systems");
}

static void test_devices(void)
{
	each_is("1 0 0:9 / /a rw - tmpfs none rw\n", "0:9 /a tmpfs rw [-]", "one without a disk");
	each_is("1 0 0:9 / /a rw - btrfs /dev/btb rw\n", "0:9 /a btrfs rw [bta1 bta2 btb]", "all disks of a btrfs");
	each_is("1 0 0:9 / /a rw - btrfs /dev/bta rw\n", "0:9 /a btrfs rw [bta]",
		"the one that is named where sysfs has none");
	each_is("1 0 0:9 / /a rw - btrfs /dev/cciss/c9d0 rw\n", "0:9 /a btrfs rw [cciss!c9d0]", "a name with a slash");
	each_is("1 0 0:9 / /a rw - zfs /dev/btb rw\n", "0:9 /a zfs rw [btb]", "another kind");
	each_is("1 0 0:9 / /a rw - zfs btb rw\n", "0:9 /a zfs rw [-]", "a source that is no device");
	each_is("1 0 0:9 / /a rw - zfs /dev/null rw\n", "0:9 /a zfs rw [-]", "nor is a character device");
	each_is("1 0 0:9 / /a rw - zfs /dev/" LONGEST " rw\n", "0:9 /a zfs rw [" LONGEST "]", "the longest name");
	each_is("1 0 0:9 / /a rw - zfs /dev/" LONGEST "2 rw\n", "0:9 /a zfs rw [-]", "one that is longer");
	each_is("1 0 0:9 / /a rw - bcachefs /dev/btb:/dev/nowhere:/dev/bta1 rw\n", "0:9 /a bcachefs rw [btb bta1]",
		"bcachefs: those that are here");
	each_is("1 0 0:9 / /a rw - bcachefs none rw\n", "0:9 /a bcachefs rw [-]", "bcachefs: none");
	each_is("1 0 8:161 / /a rw - ext4 /dev/btb rw\n", "8:161 /a ext4 rw [bta1]", "a number counts more than a source");
	put("proc/cmdline", "quiet root=/dev/btb\n");
	each_is("1 0 0:9 / / rw - zfs /dev/root rw\n", "0:9 / zfs rw [btb]", "/dev/root: what the kernel was told");
	put("proc/cmdline", "root=/dev/btb root=/dev/" LONGEST "\n");
	each_is("1 0 0:9 / / rw - zfs /dev/root rw\n", "0:9 / zfs rw [btb]", "/dev/root: nothing that is too long");
	put("proc/cmdline", "noroot=/dev/btb root=UUID=1234\n");
	each_is("1 0 0:9 / / rw - zfs /dev/root rw\n", "0:9 / zfs rw [-]", "/dev/root: a UUID is no name");
}

struct barrier_row {
	const char *fstype, *options, *want;
};

/* "-": the file system leaves no choice */
static const struct barrier_row barriers[] = {
	{ "ext4", "rw", "barrier" },
	{ "ext4", "rw,nobarrier", "nobarrier" },
	{ "ext3", "rw,barrier=0", "nobarrier" },
	{ "ext3", "rw,barrier=1", "barrier" },
	{ "btrfs", "rw,nobarrier", "nobarrier" },
	{ "f2fs", "rw,nobarrier", "nobarrier" },
	{ "f2fs", "rw,fsync_mode=nobarrier", "nobarrier" },
	{ "f2fs", "rw,fsync_mode=posix", "barrier" },
	{ "nilfs2", "rw,nobarrier", "nobarrier" },
	{ "xfs", "rw,nobarrier", "-" },
	{ "ext2", "rw,nobarrier", "-" },
};

/* The mounts of a device, "/a ext4 rw barrier". */
static char *mounts_text(const char *name)
{
	static struct report_device d;
	char *const names[] = { (char *)name, NULL };
	struct buf b = { 0 };

	d.mounts = NULL;
	d.n_mounts = 0;
	mounts_of(names, &d);
	buf_str(&b, "");
	for (size_t i = 0; i < d.n_mounts; i++) {
		struct report_mount *m = &d.mounts[i];

		buf_printf(&b, "%s%s %s %s %s", i ? "; " : "", m->dir, m->fstype, m->options,
			   m->barrier ? m->barrier : "-");
		free(m->dir);
		free(m->fstype);
		free(m->options);
		free(m->barrier);
	}
	free(d.mounts);
	return b.data;
}

static void on_is(const char *device, const char *mountinfo, const char *want, const char *name)
{

	put("proc/self/mountinfo", mountinfo);
	is_text(mounts_text(device), want, name);
}

static void test_barriers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(barriers); i++) {
		const struct barrier_row *r = &barriers[i];
		char *line = xasprintf("1 0 8:161 / /a rw - %s /dev/bta1 %s\n", r->fstype, r->options);
		char *want = xasprintf("/a %s %s %s", r->fstype, r->options, r->want);
		char *each = xasprintf("8:161 /a %s %s [bta1]%s", r->fstype, r->options,
				       strcmp(r->want, "nobarrier") ? "" : " nobarrier");

		on_is("bta1", line, want, want);
		each_is(line, each, each);
		free(each);
		free(want);
		free(line);
	}
}

/* ext4's own file says it where its mount options don't. */
static void test_own_file(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "nobarrier\nrw\n", "nobarrier" }, { "rw\nnobarrier\ndata=x\n", "nobarrier" },
		{ "rw\nnobarrier", "nobarrier" },   { "rw\nnobarriers\nbarrier\n", "barrier" },
		{ "rw\nxnobarrier\n", "barrier" },  { "", "barrier" },
	};
	static const char mount[] = "1 0 8:161 / /a rw - ext4 /dev/bta1 rw\n";

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *want = xasprintf("/a ext4 rw %s", rows[i].want);

		put("proc/fs/ext4/bta1/options", rows[i].text);
		on_is("bta1", mount, want, "ext4's own file");
		free(want);
	}
	put("proc/fs/ext4/bta1/options", "nobarrier\n");
	on_is("bta1", "1 0 8:161 / /a rw - f2fs /dev/bta1 rw\n", "/a f2fs rw barrier", "is not asked for others");
	on_is("btb", "1 0 8:176 / /a rw - ext4 /dev/btb rw\n", "/a ext4 rw barrier", "and is one for each device");
	put("proc/fs/ext4/bta1/options", "rw\n");
}

static void test_mounts_of(void)
{
	static const char text[] = "1 0 8:161 / /a rw - ext2 /dev/bta1 rw\n"
				   "2 0 8:176 / /b rw - ext2 /dev/btb rw\n"
				   "3 0 8:161 /c /c rw - ext2 /dev/bta1 rw\n"
				   "4 0 0:9 / /d ro - btrfs /dev/btb rw\n"
				   "5 0 0:10 / /e rw - tmpfs none rw\n";

	on_is("bta1", text, "/a ext2 rw -; /d btrfs ro barrier", "by any of a file system's devices");
	on_is("btb", text, "/b ext2 rw -; /d btrfs ro barrier", "in the order of the kernel");
	on_is("bta", text, "", "a partition's mounts are not its disk's");
}

/* ---- the mount that a path is in ---- */

/* "tmpfs none /x rw 0:40 names=a,b below=c,d", or an error number */
static char *origin_text(const char *path)
{
	struct mount_origin o = { 0 };
	int err = mount_origin(path, &o);
	struct buf b = { 0 };

	if (err) {
		buf_printf(&b, "%d", err);
		return b.data;
	}
	buf_printf(&b, "%s %s %s %s %u:%u", o.fstype, o.source, o.dir, o.options, o.major, o.minor);
	for (size_t i = 0; o.names && o.names[i]; i++)
		buf_printf(&b, "%s%s", i ? "," : " names=", o.names[i]);
	for (size_t i = 0; o.below && o.below[i]; i++)
		buf_printf(&b, "%s%s", i ? "," : " below=", o.below[i]);
	mount_origin_free(&o);
	if (o.fstype || o.names || o.below)
		buf_str(&b, " not freed");
	return b.data;
}

/* `rest` is a line of mountinfo from the third field on, of the mount that /proc/self/status is in. */
static void origin_is(const char *rest, const char *want, const char *name)
{
	static const char path[] = "/proc/self/status";
	char *text = xasprintf("%d 1 8:160 / /before rw - ext4 /dev/bta rw\n%d 1 %s\n%d 1 8:160 / /after rw - ext4 /dev/bta rw\n",
			       mount_id(path) - 1, mount_id(path), rest, mount_id(path));

	put("proc/self/mountinfo", text);
	is_text(origin_text(path), want, name);
	free(text);
}

static void test_origin(void)
{
	origin_is("8:161 / /x rw - ext4 /dev/bta1 ro", "ext4 /dev/bta1 /x ro 8:161 names=bta1", "a mount on a partition");
	origin_is("0:40 / /x rw - btrfs /dev/btb rw", "btrfs /dev/btb /x rw 0:40 names=bta1,bta2,btb", "on a btrfs");
	origin_is("0:40 / /x rw - tmpfs none rw", "tmpfs none /x rw 0:40", "on nothing");
	origin_is("0:40 / /x rw - overlay o rw,lowerdir=/l,upperdir=/u,workdir=/w",
		  "overlay o /x rw,lowerdir=/l,upperdir=/u,workdir=/w 0:40 below=/u", "an overlay's upper folder");
	origin_is("0:40 / /x rw - overlay /dev/bta1 ro,lowerdir=/l1:/l2::/l3:",
		  "overlay /dev/bta1 /x ro,lowerdir=/l1:/l2::/l3: 0:40 below=/l1,/l2,/l3",
		  "its lower ones where it only reads");
	origin_is("0:40 / /x rw - overlay o ro,lowerdir=/a\\134:b:\\134\\134c:/d\\134",
		  "overlay o /x ro,lowerdir=/a\\:b:\\\\c:/d\\ 0:40 below=/a:b,\\c,/d\\",
		  "a backslash guards a colon, and itself");
	origin_is("0:40 / /x rw - overlay o ro,lowerdir=/a\\134:", "overlay o /x ro,lowerdir=/a\\: 0:40 below=/a:",
		  "also at the end");
	origin_is("0:40 / /x rw - overlay o rw", "overlay o /x rw 0:40", "an overlay that says nothing");
	put("proc/self/mountinfo", "0 1 0:40 / /x rw - tmpfs none rw\n");
	is_text(origin_text("/proc/self/status"), "-2", "a mount that is not listed");
	is_text(origin_text("/no/such/path"), "-2", "no such path");
	is_text(origin_text("/proc/self/status/x"), "-20", "no folder: the path's own error");
}

int main(void)
{
	int before = open_files();

	tree_make();
	make_devices();
	test_lines();
	test_options();
	test_repeated();
	test_devices();
	test_barriers();
	test_own_file();
	test_mounts_of();
	test_origin();
	ok(open_files() == before, "no file is left open");
	return tree_done();
}
