// SPDX-License-Identifier: GPL-2.0-only
#include "recording/known_names.h"

#include <ctype.h>
#include <string.h>

#define COMM_MAX 15 /* a task's name is cut there */

/* ---- words ---- */

/* The kernel's threads and work queues, by the first word of their names. */
static const char *const thread_heads[] = {
	"ata",	    "bcache",	 "bdi",	      "btrfs",	   "ceph",	 "cifsd",      "cifsiod",     "cpuhp",
	"dm",	    "dmcrypt",	 "drbd",      "ext",	   "f2fs",	 "flush",      "gfs2",	      "iou",
	"irq",	    "jbd",	 "jfsCommit", "jfsIO",	   "jfsSync",	 "kauditd",    "kblockd",     "kcopyd",
	"kcryptd",  "kcompactd", "kdevtmpfs", "kdmflush",  "khugepaged", "khungtaskd", "kintegrityd", "kjournald",
	"kmirrord", "ksmbd",	 "ksoftirqd", "kswapd",	   "kthreadd",	 "kthrotld",   "kworker",     "lockd",
	"loop",	    "md",	 "migration", "nbd",	   "nfsd",	 "nfsiod",     "nvme",	      "oom",
	"rbd",	    "rcu",	 "rcuc",      "rcuop",	   "rcuog",	 "rpciod",     "scsi",	      "swapper",
	"txg",	    "vhost",	 "watchdogd", "writeback", "xfs",	 "xfsaild",    "xfsalloc",    "zram",
};

static const char *const thread_words[] = {
	"R",	   "allocator", "bh",	       "blockgc",    "buf",	"bufio",   "cache",	"cil",
	"ckpt",	   "cleaner",	"conv",	       "conversion", "crypt",	"default", "delalloc",	"delayed",
	"delete",  "dio",	"discard",     "dm",	     "eh",	"endio",   "eofblocks", "events",
	"fixup",   "flush",	"free",	       "freespace",  "gc",	"gp",	   "highpri",	"inodegc",
	"io",	   "kthread",	"log",	       "long",	     "md",	"meta",	   "mirrord",	"misc",
	"par",	   "percpu",	"preempt",     "qgroup",     "quiesce", "raid",	   "read",	"reaper",
	"reclaim", "recover",	"rescan",      "reset",	     "reshape", "resync",  "rmw",	"rsv",
	"sched",   "scrub",	"sff",	       "sqp",	     "submit",	"sync",	   "tasks",	"thin",
	"tmf",	   "trace",	"transaction", "unbound",    "worker",	"wq",	   "write",	"writeback",
	"wrk",
};

static const char *const fstypes[] = {
	"9p",	 "aufs",     "bcachefs", "btrfs",    "ceph",	"cifs",	  "ecryptfs",  "erofs",	   "exfat",   "ext2",
	"ext3",	 "ext4",     "f2fs",	 "fuse",     "fuseblk", "gfs2",	  "glusterfs", "hfs",	   "hfsplus", "iso9660",
	"jfs",	 "lustre",   "minix",	 "nfs",	     "nfs4",	"nilfs2", "ntfs",      "ntfs3",	   "ocfs2",   "overlay",
	"ramfs", "reiserfs", "smb3",	 "squashfs", "tmpfs",	"udf",	  "vfat",      "virtiofs", "xfs",     "zfs",
};

/* Of options of mounts, and their values. */
static const char *const option_words[] = {
	"acl",	       "active",	"alloc",      "async",	    "atgc",
	"atime",       "attr2",		"auto",	      "autodefrag", "background",
	"barrier",     "block",		"cache",      "checkpoint", "checksum",
	"commit",      "compress",	"continue",   "da",	    "data",
	"datacow",     "datasum",	"dax",	      "defaults",   "delalloc",
	"dev",	       "diratime",	"dirsync",    "disable",    "discard",
	"enable",      "errors",	"exec",	      "extent",	    "fastboot",
	"flush",       "flushoncommit", "force",      "fsync",	    "gc",
	"grpid",       "inline",	"inode64",    "ioprio",	    "journal",
	"large",       "largeio",	"lazytime",   "logbsize",   "logbufs",
	"lz4",	       "lzo",		"max",	      "merge",	    "mode",
	"noacl",       "noalign",	"noatime",    "noauto",	    "nobarrier",
	"nocheck",     "nodatacow",	"nodatasum",  "nodelalloc", "nodev",
	"nodiratime",  "nodiscard",	"noexec",     "nolazytime", "none",
	"noquota",     "norecovery",	"norelatime", "nossd",	    "nosuid",
	"nouser",      "off",		"on",	      "ordered",    "panic",
	"posix",       "quota",		"relatime",   "remount",    "ro",
	"rw",	       "size",		"space",      "ssd",	    "strict",
	"strictatime", "stripe",	"subvolid",   "suid",	    "sunit",
	"swalloc",     "swidth",	"sync",	      "user",	    "v1",
	"v2",	       "wback",		"write",      "writeback",  "xattr",
	"zlib",	       "zstd",
};

static const char *const release_words[] = {
	"ARCH",	   "PREEMPT",	"SMP",	    "WSL",     "aarch",	  "alpine",   "amd",	    "amzn",	"android",
	"arch",	   "arm",	"armmp",    "armv",    "aws",	  "azure",    "bpo",	    "cachyos",	"cloud",
	"common",  "cos",	"deb",	    "default", "desktop", "el",	      "fc",	    "gcp",	"generic",
	"gentoo",  "gke",	"hardened", "ibm",     "kvm",	  "linuxkit", "lowlatency", "lp",	"lts",
	"manjaro", "microsoft", "mvl",	    "openela", "oracle",  "pae",      "ppc",	    "pve",	"raspi",
	"rc",	   "realtime",	"riscv",    "rpi",     "rt",	  "server",   "smp",	    "standard", "tegra",
	"uek",	   "v",		"virt",	    "virtual", "x",	  "zen",
};

static const char *const suffixes[] = {
	"-journal", "-shm",	"-wal", ".conf", ".dat", ".data",  ".db",   ".ibd",   ".idx",	  ".img",
	".index",   ".journal", ".ldb", ".lock", ".log", ".qcow2", ".raw",  ".scope", ".service", ".slice",
	".snap",    ".sqlite",	".sst", ".swp",	 ".tmp", ".txt",   ".vmdk", ".wal",
};

#define HAS(table, word, len) has(table, sizeof(table) / sizeof((table)[0]), word, len)

static bool has(const char *const *table, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i]) == len && !memcmp(table[i], word, len))
			return true;
	return false;
}

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)s[n]))
		n++;
	return n;
}

static size_t without_number(const char *s, size_t len)
{
	while (len && isdigit((unsigned char)s[len - 1]))
		len--;
	return len;
}

static size_t word_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isalnum((unsigned char)s[n]))
		n++;
	return n;
}

/* ---- disks ---- */

static bool starts_with(const char *s, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && !memcmp(s, prefix, strlen(prefix));
}

/* What follows the first number: p1, n1p2, c0n1, boot0 */
static bool is_disk_number(const char *s, size_t len)
{
	static const char *const joints[] = { "n", "p", "c", "s", "boot" };
	size_t n = digits(s, len), i;

	while (n && n < len) {
		for (i = 0; i < sizeof(joints) / sizeof(joints[0]) && !starts_with(s + n, len - n, joints[i]); i++)
			;
		if (i == sizeof(joints) / sizeof(joints[0]))
			return false;
		s += n + strlen(joints[i]);
		len -= n + strlen(joints[i]);
		n = digits(s, len);
	}
	return n > 0;
}

/* sda1, vdb: letters and a partition */
static bool is_lettered(const char *s, size_t len)
{
	size_t n = without_number(s, len);

	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]))
			return false;
	return n > 0 && n <= 3;
}

bool known_disk(const char *name, size_t len)
{
	static const char *const lettered[] = { "sd", "hd", "vd", "xvd", "dasd" };
	static const char *const numbered[] = { "nvme", "loop", "md",	  "md_d",   "dm-",     "ram",	"zram",
						"nbd",	"rbd",	"drbd",	  "bcache", "pmem",    "ublkb", "zd",
						"sr",	"fd",	"mmcblk", "nullb",  "mtdblock" };

	for (size_t i = 0; i < sizeof(lettered) / sizeof(lettered[0]); i++)
		if (starts_with(name, len, lettered[i]) &&
		    is_lettered(name + strlen(lettered[i]), len - strlen(lettered[i])))
			return true;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++)
		if (starts_with(name, len, numbered[i]) &&
		    is_disk_number(name + strlen(numbered[i]), len - strlen(numbered[i])))
			return true;
	return false;
}

/* ---- the kernel's threads ---- */

/* 253; of workers u8, 1H */
static bool is_number(const char *s, size_t len)
{
	if (len && *s == 'u') {
		s++;
		len--;
	}
	if (len && s[len - 1] == 'H')
		len--;
	return len && digits(s, len) == len;
}

static bool is_head(const char *s, size_t len)
{
	return HAS(thread_heads, s, len) || HAS(thread_heads, s, without_number(s, len));
}

static bool is_beginning(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(thread_words) / sizeof(thread_words[0]); i++)
		if (!strncmp(thread_words[i], s, len))
			return true;
	return false;
}

static bool is_thread_word(const char *s, size_t len, bool cut)
{
	return is_number(s, len) || is_head(s, len) || known_disk(s, len) || HAS(thread_words, s, len) ||
	       HAS(thread_words, s, without_number(s, len)) || (cut && is_beginning(s, len));
}

/* Words parted by what kernel names are parted by. `cut`: the last may be the beginning of one. */
static bool are_thread_words(const char *s, size_t len, bool cut)
{
	while (len) {
		size_t n = word_len(s, len);

		if (n && !is_thread_word(s, n, cut && n == len))
			return false;
		if (n < len && !strchr("/-:+_", s[n]))
			return false;
		s += n < len ? n + 1 : n;
		len -= n < len ? n + 1 : n;
	}
	return true;
}

bool known_thread(const char *name, size_t len)
{
	return is_head(name, word_len(name, len)) && are_thread_words(name, len, len == COMM_MAX);
}

/* ---- the rest ---- */

bool known_fstype(const char *name, size_t len)
{
	return HAS(fstypes, name, len);
}

/* 5, 32k */
static bool is_size(const char *s, size_t len)
{
	size_t n = digits(s, len);

	return n && (n == len || (n + 1 == len && strchr("kKmMgG", s[n])));
}

bool known_option(const char *s, size_t len)
{
	while (len) {
		size_t n = word_len(s, len);

		if (n && !is_size(s, n) && !HAS(option_words, s, n))
			return false;
		if (n < len && !strchr("=_-:", s[n]))
			return false;
		s += n < len ? n + 1 : n;
		len -= n < len ? n + 1 : n;
	}
	return true;
}

bool known_release_word(const char *word, size_t len)
{
	size_t n = without_number(word, len);

	return !n || HAS(release_words, word, n) || HAS(release_words, word, len);
}

size_t known_suffix(const char *name, size_t len)
{
	size_t stem = len, before;

	do {
		before = stem;
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
			size_t n = strlen(suffixes[i]);

			if (stem > n && !memcmp(name + stem - n, suffixes[i], n)) {
				stem -= n;
				break;
			}
		}
	} while (stem < before && len - stem < 16);
	return len - stem;
}
