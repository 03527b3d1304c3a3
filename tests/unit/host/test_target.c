// SPDX-License-Identifier: GPL-2.0-only
/* From words to disks and their facts, in a made-up /sys and /proc. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "util/buf.h"
#include "host/sysfs.h"
#include "host/target.h"
#include "check.h"
#include "fake_machine.h"
#include "golden.h"
#include "util/mem.h"

/* ---- reading results ---- */

/* "dm-90 bta(dm-90 is on bta1, btb)": what a word gives, or its error. */
static char *resolve(const char *word)
{
	struct targets t = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };
	int ret;

	ret = target_resolve(word, &t, &e);
	if (ret)
		buf_printf(&b, "%d %d %s", ret, e.status, e.text);
	for (size_t i = 0; i < t.n; i++) {
		buf_printf(&b, "%s%s", i ? " " : "", t.t[i].name);
		if (t.t[i].via)
			buf_printf(&b, "(%s)", t.t[i].via);
	}
	targets_free(&t);
	return b.data;
}

static void gives(const char *word, const char *want, const char *name)
{
	char *got = resolve(word);

	is_text(got, want, name);
}

static struct targets one(const char *word)
{
	struct targets t = { 0 };
	struct err e = { 0 };

	if (target_resolve(word, &t, &e)) {
		printf("Bail out! %s: %s\n", word, e.text);
		exit(1);
	}
	return t;
}

/* ---- tests ---- */

/* Each word and what it leads to, in the golden file. */
static void test_words(void)
{
	static const char *const words[] = {
		"btb",
		"bta1",
		"dm-90",
		"dm-91",
		"md92",
		"cciss!c9d0",
		"cciss/c9d0",
		"loop91",
		"nvme99n1",
		"nvme98n1",
		"btz",
		"loop92",
		"/dev/btz",
		"bt\nz",
		"no/such",
		"",
		".btb",
		"/dev/null",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char *got = resolve(words[i]);

		buf_printf(&b, "%s: %s\n", words[i][0] ? words[i] : "(empty)", got);
		free(got);
	}
	golden("target_words", "txt", b.data);
	buf_free(&b);
}

/* Root may look everywhere, so root is somebody else for as long as it takes. */
static void test_closed_folder(void)
{
	char *folder = full("closed/x"), *want, *got;
	struct stat st;

	want = xasprintf("-13 3 cannot look at '%s': Permission denied (run as root)", folder);
	*strrchr(folder, '/') = '\0';
	chmod(folder, 0);
	folder[strlen(folder)] = '/';
	if (!geteuid() && seteuid(65534))
		diag("cannot be somebody else");
	if (stat(folder, &st) && errno == EACCES) {
		got = resolve(folder);
		is_str(got, want, "a folder that is closed to us");
		free(got);
	} else {
		ok(true, "a closed folder # SKIP none is closed to us");
	}
	if (!getuid() && seteuid(0))
		diag("cannot be root again");
	*strrchr(folder, '/') = '\0';
	chmod(folder, 0755);
	free(want);
	free(folder);
}

static void test_merge(void)
{
	struct targets t = { 0 };
	struct err e = { 0 };

	target_resolve("btb", &t, &e);
	target_resolve("dm-90", &t, &e);
	target_resolve("btb", &t, &e);
	target_resolve("bta", &t, &e);
	ok(t.n == 3 && !strcmp(t.t[0].name, "btb") && !t.t[0].via, "duplicates are merged, the first stays");
	ok(!strcmp(t.t[2].name, "bta") && t.t[2].via, "whichever of them it is");
	ok(target_resolve("nope", &t, &e) < 0 && t.n == 3, "a failure leaves the list alone");
	targets_free(&t);
	ok(!t.t && !t.n, "freed");
}

/* A node for 253:90, and one that leads nowhere. */
static void test_nodes(void)
{
	char *node = full("dev/mapper/vg-root"), *same = full("dev/dm-90"), *link = full("dev/by-name");
	char *stale = full("dev/stale"), *want;

	if (mknod(node, S_IFBLK | 0600, makedev(253, 90))) {
		ok(true, "device nodes # SKIP cannot make one");
		goto out;
	}
	mknod(same, S_IFBLK | 0600, makedev(253, 90));
	mknod(stale, S_IFBLK | 0600, makedev(259, 999));
	if (chdir(dir) == 0 && !mknod("bta", S_IFBLK | 0600, makedev(8, 160)))
		gives("bta", "bta", "a node in this folder");
	unlink("bta");
	link_to("dev/by-name", "mapper/vg-root");
	want = xasprintf("dm-90(%s is dm-90) bta(%s is dm-90, on bta1, btb) btb(%s is dm-90, on bta1, btb)", link, link,
			 link);
	gives(link, want, "a link to a device node");
	free(want);
	gives(same, "dm-90 bta(dm-90 is on bta1, btb) btb(dm-90 is on bta1, btb)",
	      "a node of the same name needs no words");
	want = xasprintf("-19 2 '%s' is block device 259:999, which this kernel does not have (try lsblk)", stale);
	gives(stale, want, "a node that leads nowhere");
	free(want);
out:
	free(node);
	free(same);
	free(link);
	free(stale);
}

/* A file on an ordinary file system: by the device number of the folder that we are in. */
static void test_files(void)
{
	struct stat st;
	char *dev, *want;

	if (stat(dir, &st) || !major(st.st_dev)) {
		ok(true, "files # SKIP the temporary folder is on no disk");
		return;
	}
	want = xasprintf("-19 2 '%s' is block device %u:%u, which this kernel does not have (try lsblk)", dir,
			 major(st.st_dev), minor(st.st_dev));
	gives(dir, want, "a folder on a disk that sysfs lacks");
	free(want);
	dev = xasprintf("sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	link_to(dev, "../../devices/pci/block/bta/bta1");
	want = xasprintf("bta1(%s is on bta1)", dir);
	gives(dir, want, "a folder on a partition");
	free(want);
	put("btb", "");
	if (chdir(dir) == 0)
		gives("btb", "bta1(btb is on bta1)", "a file here wins over a disk of that name");
	unlink("btb");
	free(dev);
}

/*
 * A path whose device number is anonymous: /proc/self/status stands in for a file on btrfs,
 * overlay, tmpfs.
 */
static void in_mount(char *mount, const char *want, const char *name)
{
	char *line = xasprintf("1 1 253:90 / / rw - ext4 /dev/root rw\n%d 1 0:40 %s\n", mount_id("/proc/self/status"),
			       mount);

	put("proc/self/mountinfo", line);
	gives("/proc/self/status", want, name);
	free(line);
	free(mount);
}

static void test_anonymous(void)
{
	static const struct {
		const char *mount, *want;
	} rows[] = {
		{ "/sub /x rw - btrfs /dev/bta2 rw",
		  "bta2(/proc/self/status is on bta2, btb) btb(/proc/self/status is on bta2, btb)" },
		{ "/ /x rw - bcachefs /dev/bta1:/dev/btb rw",
		  "bta1(/proc/self/status is on bta1, btb) btb(/proc/self/status is on bta1, btb)" },
		{ "/ /x rw - tmpfs none rw", "-19 2 '/proc/self/status' is on tmpfs, which has no disk beneath" },
		{ "/ /x rw - nfs4 server:/dev/bta1 rw", "-19 2 '/proc/self/status' is on nfs4, which has no disk beneath" },
		{ "/ /x rw - btrfs /dev/nowhere rw",
		  "-19 2 '/proc/self/status' is on btrfs from '/dev/nowhere', whose disks cannot be told: name them" },
		{ "/ /x rw - zfs tank/db rw",
		  "-19 2 '/proc/self/status' is on zfs from 'tank/db', whose disks cannot be told: name them" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		in_mount(xstrdup(rows[i].mount), rows[i].want, rows[i].mount);
	put("proc/self/mountinfo", "");
	gives("/proc/self/status",
	      "-2 2 no file or disk '/proc/self/status': name a disk, a mount point or a file (try lsblk)",
	      "a mount that is not listed");
}

static void test_overlay(void)
{
	static const char absent[] = "-2 2 no file or disk '/no/such': name a disk, a mount point or a file (try lsblk)";
	char *upper = full("up:per/x"), *got;
	struct stat st;

	free(upper);
	if (stat(dir, &st) || !major(st.st_dev)) {
		ok(true, "overlay # SKIP the temporary folder is on no disk");
		return;
	}
	in_mount(xasprintf("/ /x rw - overlay overlay rw,lowerdir=/proc/1:/y,upperdir=%s/up\\134:per,workdir=/w", dir),
		 "bta1(/proc/self/status is on bta1)", "overlay: the upper folder's disk");
	in_mount(xasprintf("/ /x ro - overlay overlay ro,lowerdir=%s:%s/sys", dir, dir),
		 "bta1(/proc/self/status is on bta1)", "a read-only overlay: the lower folders' disks, once");
	in_mount(xasprintf("/ /x ro - overlay overlay ro,lowerdir=%s:/no/such", dir), absent,
		 "an overlay of a folder that exists and one that does not");
	put("proc/self/mountinfo", got = xasprintf("%d 1 0:40 / /x rw - overlay overlay rw,upperdir=/proc/self/status\n",
						   mount_id("/proc/self/status")));
	free(got);
	got = resolve("/proc/self/status");
	ok(strstr(got, "Too many levels"), "an overlay on itself ends");
	free(got);
}

/* A machine with two disks, and one with none. */
static void test_few_disks(void)
{
	char *few = full("few");

	put("few/class/block/x1/size", "8\n");
	put("few/class/block/x2/size", "8\n");
	put("few/class/block/x3/size", "0\n");
	sysfs_roots(few, NULL);
	gives("x", "-2 2 no disk called 'x': there are x1, x2 (try lsblk)", "all disks are near where there are few");
	gives("/dev/x2y", "-2 2 no disk called '/dev/x2y': there are x2, x1 (try lsblk)",
	      "nearest by what follows the last slash");
	sysfs_roots("/no/such/place", NULL);
	gives("x", "-2 2 no disk called 'x', and no other here either", "an unknown disk where there is none");
	sysfs_roots(tree_sys, tree_proc);
	free(few);
}

static void test_all(void)
{
	struct targets t = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };

	is_u64((uint64_t)target_all(&t, &e), 0, "all disks");
	for (size_t i = 0; i < t.n; i++)
		buf_printf(&b, "%s ", t.t[i].name);
	is_str(b.data, "bta btb cciss!c9d0 dm-90 dm-91 loop91 md92 nvme98n1 nvme99c3n1 nvme99c3n12 nvme99n1 ",
	       "no partitions, no empty devices, hidden paths too");
	targets_free(&t);
	buf_free(&b);
	sysfs_roots("/no/such/place", NULL);
	ok(target_all(&t, &e) == -ENODEV && e.status == EXIT_FAILED && !t.n, "no disks at all");
}

static void facts_of(const char *word, struct report_device *d)
{
	struct targets t = one(word);

	memset(d, 0, sizeof(*d));
	device_facts(&t.t[0], d);
	targets_free(&t);
}

static void facts_free(struct report_device *d)
{
	for (size_t i = 0; i < d->n_mounts; i++) {
		free(d->mounts[i].dir);
		free(d->mounts[i].fstype);
		free(d->mounts[i].options);
		free(d->mounts[i].barrier);
	}
	free(d->mounts);
	free(d->model);
	free(d->write_cache);
	free(d->scheduler);
	free(d->via);
	free(d->disk);
	strv_free(d->slaves);
}

static struct report_device d; /* its histograms are too large for a stack */

static void facts_scheduler(const char *text, const char *want)
{
	put("sys/devices/pci/block/bta/queue/scheduler", text);
	facts_of("bta", &d);
	is_str(d.scheduler, want, "facts: a scheduler");
	facts_free(&d);
}

/* What is there and says nothing, or not what is expected. */
static void test_odd_facts(void)
{
	facts_scheduler("[none] x\n", "none");
	facts_scheduler("none\n", NULL);
	facts_scheduler("none [cut\n", NULL);
	facts_scheduler("]none[\n", NULL);
	facts_scheduler("a]none [b] [c]\n", "b");
	facts_scheduler("none [mq-deadline] kyber\n", "mq-deadline");
	put("sys/devices/pci/block/btb/device/model", " \n");
	put("sys/devices/pci/block/btb/device/name", "SD16G\n");
	put("sys/devices/pci/block/btb/queue/rotational", "0\n");
	put("sys/devices/pci/block/btb/queue/fua", "2\n");
	put("sys/devices/pci/block/btb/queue/wbt_lat_usec", "0\n");
	facts_of("btb", &d);
	is_str(d.model, "SD16G", "facts: the name of a card, when its model is empty");
	ok(d.have_fua && d.fua && d.have_rotational && !d.rotational && d.have_wbt && !d.wbt_lat_us,
	   "facts: anything but 0 is yes");
	ok(d.nr_requests == 700 && d.size == 8192 * 512 && !d.disk, "facts: requests and size");
	facts_free(&d);
	unlink("sys/devices/pci/block/btb/device/name");
}

/*
 * Twenty devices, each on the next: looked through are the first and 16 beneath; above the last one, it and 16 more.
 */
static void test_deep_stacks(void)
{
	struct buf b = { 0 };
	struct targets t;

	for (int i = 0; i < 20; i++) {
		char *folder = xasprintf("virtual/block/dm-%d", 200 + i), *dev = xasprintf("253:%d", 200 + i);
		char *slave = xasprintf("slaves/dm-%d=", 201 + i), *holder = xasprintf("holders/dm-%d=", 199 + i);

		DEVICE(folder, dev, "size=10\n", i < 19 ? slave : "x=", i ? holder : "x=");
		buf_printf(&b, "%d 1 253:%d / /%d rw - ext2 /dev/x rw\n", 20 + i, 200 + i, i);
		free(folder);
		free(dev);
		free(slave);
		free(holder);
	}
	t = one("dm-200");
	ok(t.n == 17 && !strcmp(t.t[16].name, "dm-216"), "a deep stack has an end");
	targets_free(&t);
	put("proc/self/mountinfo", b.data);
	facts_of("dm-219", &d);
	ok(d.n_mounts == 17 && !strcmp(d.mounts[0].dir, "/3"), "also upwards");
	facts_free(&d);
	DEVICE("pci/block/bte", "8:224", "size=10\n");
	DEVICE("pci/block/bte/bte1", "8:225", "partition=1\n", "holders/dm-219=");
	facts_of("bte", &d);
	ok(d.n_mounts == 15 && !strcmp(d.mounts[0].dir, "/5"), "a disk and its partition are two of the 17");
	facts_free(&d);
	buf_free(&b);
}

static const char mountinfo[] = "20 1 253:91 /etc /mnt/bind rw - ext4 /dev/mapper/top rw\n"
				"21 1 253:91 / /srv/my\\040db rw,noatime - ext4 /dev/mapper/top rw,nobarrier\n"
				"22 1 253:91 / /again rw - ext4 /dev/mapper/top rw\n"
				"23 1 8:161 / /boot rw,relatime - ext4 /dev/bta1 rw\n"
				"24 1 0:40 /@ / rw - btrfs /dev/btb rw,nobarrier,subvol=/@\n"
				"25 1 0:40 /@home /home rw - btrfs /dev/btb rw,nobarrier,subvol=/@home\n"
				"26 1 0:40 /@home/x /bind rw - btrfs /dev/btb rw,nobarrier\n"
				"27 1 104:9 / /xfs rw - xfs /dev/cciss/c9d0 rw,attr2\n"
				"28 1 7:91 / /f2fs rw - f2fs /dev/loop91 rw,fsync_mode=nobarrier\n"
				"29 1 9:92 / /ext3 rw - ext3 /dev/md92 rw,barrier=1\n"
				"30 1 0:50 / /tmp rw - tmpfs tmpfs rw\n";

/* A disk's own facts, and those of the disk that it is on; "-" is not known. */
static void add_facts(struct buf *b, const char *word)
{
	static const char *const disks[] = { "bt", "bta", "bta1", "btb", "dm-90", "md92", "nvme99c3n1" };
	struct targets t = one(word);
	const struct target *p = t.t;

	facts_of(word, &d);
	buf_printf(b, "%s %u:%u on %s %u:%u, %u queues, depth %u%s\n", d.name, d.major, d.minor, p->disk, p->disk_major,
		   p->disk_minor, p->hw_queues, p->depth, p->bio_based ? ", takes bios" : "");
	buf_printf(b, "  model %s, cache %s, scheduler %s, disk %s, via %s, %" PRIu64 " bytes, %" PRIu64 " requests",
		   d.model ? d.model : "-", d.write_cache ? d.write_cache : "-", d.scheduler ? d.scheduler : "-",
		   d.disk ? d.disk : "-", d.via ? d.via : "-", d.size, (uint64_t)d.nr_requests);
	if (d.have_fua)
		buf_printf(b, ", FUA %d", d.fua);
	if (d.have_rotational)
		buf_printf(b, ", rotational %d", d.rotational);
	if (d.have_wbt)
		buf_printf(b, ", throttled at %" PRIu64 " us", (uint64_t)d.wbt_lat_us);
	buf_char(b, '\n');
	for (size_t i = 0; d.slaves && d.slaves[i]; i++)
		buf_printf(b, "  slave %s\n", d.slaves[i]);
	for (size_t i = 0; i < ARRAY_LEN(disks); i++)
		if (target_stands_on(p, disks[i]))
			buf_printf(b, "  stands on %s\n", disks[i]);
	for (size_t i = 0; i < d.n_mounts; i++)
		buf_printf(b, "  %s %s %s %s\n", d.mounts[i].dir, d.mounts[i].fstype, d.mounts[i].options,
			   d.mounts[i].barrier ? d.mounts[i].barrier : "-");
	facts_free(&d);
	targets_free(&t);
}

static void test_facts(void)
{
	static const char *const devices[] = { "bta",  "bta1",	 "bta2",     "btb",	 "dm-90",     "dm-91",
					       "md92", "loop91", "nvme99n1", "nvme98n1", "cciss!c9d0" };
	struct buf b = { 0 };

	put("proc/self/mountinfo", mountinfo);
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		add_facts(&b, devices[i]);
	golden("target_facts", "txt", b.data);
	buf_free(&b);
}

static void stat_is(const char *device, const char *text, bool good, bool have_flush, const char *name)
{
	char *path = xasprintf("sys/class/block/%s/stat", device);
	struct targets t = one(device);
	struct report_kernel k = { .reads = 77 };
	int ret;

	put(path, text);
	ret = kernel_stat_read(t.t, &k);
	ok(good ? !ret && k.have && k.reads == 1 && k.read_bytes == 3 * 512 && k.read_ns == 4000000 && k.writes == 5 &&
			   k.write_bytes == 7 * 512 && k.write_ns == 8000000 :
		  ret == -ENODEV && k.reads == 77,
	   "%s", name);
	ok(!have_flush || (k.discards == 12 && k.discard_bytes == 14 * 512 && k.discard_ns == 15000000), "and discards");
	ok(!good || (k.have_flush == have_flush && k.flushes == (have_flush ? 16 : 0) &&
		     k.flush_ns == (have_flush ? 17000000 : 0)),
	   "and FLUSHes where they are known");
	targets_free(&t);
	free(path);
}

static void test_stat_fields(void)
{
	stat_is("bta", "1 2 3 4 5 6 7\n", false, false, "seven fields are too few");
	stat_is("bta", "1 2 3 4 5 6 7 8\n", true, false, "eight are enough");
	stat_is("bta", "1 2 3 4 5 6 7 8 x 10 11\n", true, false, "what is none ends them");
	stat_is("bta", "x 1 2 3 4 5 6 7 8\n", false, false, "at once, too");
	stat_is("bta", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", true, false, "16 fields: half of the FLUSHes");
	stat_is("bta", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", true, true, "17 fields");
	stat_is("bta", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n", true, true, "some to come");
	stat_is("dm-90", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", true, false, "a device without requests");
	stat_is("bta1", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", true, false, "a partition");
}

static void test_replaced(void)
{
	struct targets t, empty, now = { 0 };
	struct report_kernel k = { .reads = 77 };

	put("sys/devices/pci/block/btb/diskseq", "15\n");
	DEVICE("virtual/block/loop92", "7:92", "size=0\n", "mq/0/nr_tags=128\n", "diskseq=16\n");
	t = one("btb");
	empty = one("loop92");
	is_u64(t.t->diskseq, 15, "a disk has its sequence number");
	is_u64(target_diskseq(empty.t), 0, "an empty drive's number is not that of the disk to come");
	ok(!target_gone(empty.t), "and the disk that comes takes nobody's place");
	ok(!target_gone(t.t) && !kernel_stat_read(t.t, &k), "the same number: the same disk");
	k.reads = 77;
	put("sys/devices/pci/block/btb/diskseq", "17\n");
	ok(target_gone(t.t), "another number: another disk");
	ok(kernel_stat_read(t.t, &k) == -ENODEV && k.reads == 77, "whose counters are not the first one's");
	ok(!target_again(t.t, &now) && now.n == 1 && now.t->diskseq == 17 && !strcmp(now.t->name, "btb"),
	   "the disk that came in its place");
	put("sys/devices/pci/block/btb/size", "0\n");
	targets_free(&now);
	ok(target_again(t.t, &now) == -ENODEV && !now.n, "an empty drive has none");
	put("sys/devices/pci/block/btb/size", "8192\n");
	targets_free(&t);
	targets_free(&empty);
}

/* What is looked for again has the name and the number, and keeps the words that led there. */
static void test_again(void)
{
	struct targets t = one("dm-90"), now = { 0 };
	struct target other = t.t[1];

	ok(!target_again(&t.t[1], &now) && now.n == 1, "a disk that is still there");
	is_str(now.t->name, "bta", "by its name");
	is_str(now.t->via, "dm-90 is on bta1, btb", "and how it was come to");
	snprintf(other.name, sizeof(other.name), "btb");
	ok(target_again(&other, &now) == -ENODEV && now.n == 1, "another name has this number now");
	other = t.t[1];
	other.minor = 999;
	ok(target_again(&other, &now) == -ENODEV && now.n == 1, "nobody has this number");
	targets_free(&now);
	targets_free(&t);
}

static void test_delta(void)
{
	struct report_kernel a = { .have = true,
				   .have_flush = true,
				   .reads = 1,
				   .read_bytes = 2,
				   .read_ns = 3,
				   .writes = 4,
				   .write_bytes = 5,
				   .write_ns = 4294967290000000ULL,
				   .discards = 7,
				   .discard_bytes = 8,
				   .discard_ns = 9,
				   .flushes = 10,
				   .flush_ns = 11 };
	struct report_kernel b = { .have = true,
				   .have_flush = true,
				   .reads = 11,
				   .read_bytes = 22,
				   .read_ns = 33,
				   .writes = 44,
				   .write_bytes = 55,
				   .write_ns = 4000000,
				   .discards = 77,
				   .discard_bytes = 88,
				   .discard_ns = 99,
				   .flushes = 110,
				   .flush_ns = 121 };
	struct report_kernel r;

	kernel_stat_delta(&a, &b, &r);
	ok(r.have && r.reads == 10 && r.read_bytes == 20 && r.read_ns == 30, "delta: reads");
	ok(r.writes == 40 && r.write_bytes == 50, "delta: writes");
	is_u64(r.write_ns, 10000000, "delta: a time that wrapped at 32 bits of milliseconds");
	ok(r.discards == 70 && r.discard_bytes == 80 && r.discard_ns == 90, "delta: discards");
	ok(r.have_flush && r.flushes == 100 && r.flush_ns == 110, "delta: flushes");
	b.have_flush = false;
	kernel_stat_delta(&a, &b, &r);
	ok(r.have && !r.have_flush && !r.flushes, "delta: flushes that only one side knows are not known");
	b.reads = 0;
	kernel_stat_delta(&a, &b, &r);
	ok(!r.have && !r.writes, "delta: counts that went back are another disk's");
	kernel_stat_delta(&a, &a, &r);
	ok(r.have && r.have_flush && !r.reads && !r.write_ns, "delta: the same counts are the same disk's");
	a.have = false;
	kernel_stat_delta(&a, &b, &r);
	ok(!r.have && !r.have_flush, "delta: one side alone is nothing");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tree_make();
	make_machine();
	test_closed_folder();
	test_words();
	test_facts();
	test_merge();
	test_nodes();
	test_files();
	test_anonymous();
	test_overlay();
	test_odd_facts();
	test_stat_fields();
	test_again();
	test_delta();
	test_replaced();
	test_all();
	sysfs_roots(tree_sys, tree_proc);
	test_few_disks();
	test_deep_stacks();
	return tree_done();
}
