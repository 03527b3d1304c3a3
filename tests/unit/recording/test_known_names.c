// SPDX-License-Identifier: GPL-2.0-only
/* Which names tell nothing about a machine's owner, and which may. */
#include <string.h>

#include "recording/known_names.h"
#include "tap.h"

typedef bool known_fn(const char *name, size_t len);

/* Words parted by blanks; "" is one of its own. */
static void all(known_fn *known, bool want, const char *what, const char *words)
{
	char name[64];

	for (const char *at = words; *at;) {
		size_t n = strcspn(at, " ");

		snprintf(name, sizeof(name), "%.*sx", (int)n, at); /* and one byte more, which is not part of it */
		ok(known(name, n) == want, "%s %s: %.*s", want ? "known" : "not known", what, (int)n, name);
		at += n + (at[n] == ' ');
	}
}

static void test_disks(void)
{
	all(known_disk, true, "disk",
	    "sda sda1 sdb12 sdz sdaa sdabc sdabc15 hda vdb1 xvda1 dasda dasdb1 nvme0n1 nvme10n2p3 nvme0c1n1 loop0 loop12p1 md0 md127 "
	    "md127p1 md_d0 md_d0p1 dm-0 dm-12 ram0 zram1 nbd0 nbd0p1 rbd0 drbd1 bcache0 pmem0 pmem0s1 ublkb1 zd16 sr0 fd0 mmcblk0 "
	    "mmcblk0p1 mmcblk0boot0 nullb0 mtdblock3");
	all(known_disk, false, "disk",
	    "sd sd1 sdabcd sdabcd1 sdA sda1b sda- sd{ sd` hd dasd s d nvme nvme0n nvme0x1 nvme0n1p nvmen1 loop loopx loop0x loop0boo0 "
	    "md md_home md_1 md_d dm-x dm- dm0 m 0 1 home");
	ok(!known_disk("", 0) && !known_disk("sda", 2) && known_disk("sda1", 3) && !known_disk("loop1", 4) &&
		   !known_disk("mmcblk0boot0", 10),
	   "not more than its length is looked at");
}

static void test_threads(void)
{
	all(known_thread, true, "thread",
	    "jbd2/sda1-8 jbd2/dm-0-8 kworker kworker/u8:3 kworker/1:1H kworker/u8:2H kworker/u8:2-writeback kworker/u8: "
	    "kworker/u8:2+flush-253:0 kworker/R-write ksoftirqd/0 cpuhp/1 rcu_par_gp scsi_eh_0 scsi_tmf_1 xfs-conv/sda1 xfsaild/dm-0 "
	    "md127_raid1 btrfs-transacti ext4-rsv-conver kworker/u8:2-wr dmcrypt_write/2 kdmflush/253:0 iou-wrk-4711 loop0 nvme-wq");
	all(known_thread, false, "thread",
	    "postgres jbd2/home-8 jbd2/sda1-8x kworkers kworker.u8 kworker/u kworker/H kworker/uH kworker/8u kworker/u8:2-joe "
	    "kworker/uu8 kworker/8HH kworker/8h ext4-rsv-conve ext4-conve-rsv- irq/9-acpi md_home_raid1 /u8 2 raid1 -kworker");
	ok(!known_thread("", 0) && known_thread("loop0/joe", 5) && known_thread("kworker/12", 9) &&
		   !known_thread("kworker u8", 10),
	   "not more than its length is looked at");
}

static void test_options(void)
{
	all(known_option, true, "option",
	    "rw noatime data=ordered stripe=32 logbsize=32k compress=zstd:3 errors=remount-ro size=5M size=5K size=5m size=5g size=5G "
	    "subvolid=256 data= =data 5 space_cache=v2");
	all(known_option, false, "option",
	    "joe noatimes noatim data=joe joe=data data.ordered size=5x size=5kk size=k5 k username=joe 5k5 compress=zstd:joe data/rw");
	ok(known_option("", 0) && known_option("rwjoe", 2), "not more than its length is looked at");
}

static void test_other_words(void)
{
	all(known_fstype, true, "file system", "ext4 xfs btrfs fuse 9p zfs nfs4");
	all(known_fstype, false, "file system", "ext ext44 ext5 fuse.joe joefs xf");
	ok(!known_fstype("", 0), "no file system has no name");
	all(known_release_word, true, "word of a release", "6 18 rc1 amd64 x86 el9 generic v2 ARCH zen");
	all(known_release_word, false, "word of a release", "joe joe1 1a generics generi a64");
	ok(known_release_word("", 0), "between two dots nothing need stand");
}

static void test_suffixes(void)
{
	static const struct {
		const char *name;
		size_t want;
	} rows[] = {
		{ "", 0 },
		{ "x", 0 },
		{ "x.joe", 0 },
		{ "x.db", 3 },
		{ ".db", 0 },
		{ "db", 0 },
		{ "x.DB", 0 },
		{ "x.db.joe", 0 },
		{ "x.joe.db", 3 },
		{ "x.db-wal", 7 },
		{ ".db-wal", 4 },
		{ "x.sqlite-journal", 15 },
		{ "x.conf", 5 },
		{ "x.wal", 4 },
		{ "x.db.db.db.db.db", 15 },
		/* no more is taken off behind 16 bytes or more */
		{ "x.db.db.db.db.db.db", 18 },
		{ "x.db.db.db.db.db.db.db", 18 },
		{ "x.db.journal.journal", 16 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(known_suffix(rows[i].name, strlen(rows[i].name)) == rows[i].want,
		   "of '%s' %zu bytes are a known ending", rows[i].name, rows[i].want);
	ok(!known_suffix("x.db", 3), "not more than its length is looked at");
}

int main(void)
{
	test_disks();
	test_threads();
	test_options();
	test_other_words();
	test_suffixes();
	return tap_done();
}
