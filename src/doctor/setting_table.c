// SPDX-License-Identifier: GPL-2.0-only
/* setting_table.c - the table: what is looked at, where it stands, and what it does to an fsync. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "doctor/doctor_internal.h"
#include "util/mem.h"

#define K(kind)	 (1u << DIAG_##kind)
#define C(cause) (1u << CAUSE_##cause)
#define QUEUE	 (K(DISK) | K(LOOP) | K(DM) | K(MD))
#define FLUSHES	 (C(FLUSH_WAIT) | C(FLUSH_PRE) | C(FLUSH_POST) | C(FLUSH_ONLY))
#define EXT	 " ext4 ext3 ext2 "

/* clang-format off */
static const struct setting_row setting_rows[] = {
	/* file systems: mountinfo */
	{ "type", K(FS), NULL, read_fstype, NULL, NULL, 0,
	  "Decides what an fsync writes: a journal, a log tree, or the file's blocks alone.", NULL },
	{ "barrier", K(FS), EXT " btrfs f2fs nilfs2 gfs2 hfsplus xfs ", read_barrier, "barrier", NULL, FLUSHES,
	  "On: a commit flushes the drive's cache. Off: it does not, and a power cut can lose what was written.",
	  judge_barrier },
	{ "atime", K(FS), NULL, read_atime, NULL, NULL, C(JOURNAL),
	  "Reading can dirty the inode, which a later commit has to write too.", judge_by_value },
	{ "sync", K(FS), NULL, read_mount, "sync", NULL, 0, "Every write waits for the drive, as if it were followed "
	  "by an fsync.",
	  judge_by_value },
	{ "dirsync", K(FS), NULL, read_mount, "dirsync", NULL, 0, "Every change of a directory waits for the drive.",
	  judge_by_value },
	{ "lazytime", K(FS), NULL, read_mount, "lazytime", NULL, 0, "Time stamps alone are not written: fewer commits.",
	  NULL },
	{ "volatile", K(FS), " overlay ", read_volatile, "volatile", NULL, 0, "An fsync does nothing at all.",
	  judge_by_value },

	/* ext4: its own file shows the defaults too */
	{ "data", K(FS), EXT, read_ext4, "data", NULL, C(DEVICE_WRITE),
	  "ordered: a commit first writes out other files' new data; journal: data is written twice.", judge_by_value },
	{ "journal", K(FS), EXT, read_ext4_sys, "journal_task", NULL, C(JOURNAL),
	  "The thread that commits (its pid). Without a journal an fsync writes the blocks in place and flushes once.",
	  judge_journal },
	{ "fast_commit", K(FS), EXT, read_fast_commit, NULL, NULL, C(JOURNAL) | C(DEVICE_WRITE),
	  "On: most fsyncs write a short log record instead of a whole commit.", NULL },
	{ "block_size", K(FS), EXT " xfs f2fs ", read_block_size, NULL, "B", C(DEVICE_READ),
	  "The least that a commit writes; below the drive's physical sector it must read first.", judge_block_size },
	{ "commit", K(FS), EXT, read_ext4, "commit", "s", 0, "How long changes may wait when nobody calls fsync.",
	  judge_by_value },
	{ "max_batch_time", K(FS), EXT, read_ext4, "max_batch_time", "us", C(JOURNAL),
	  "The longest that a commit sleeps on purpose, for other callers to join.", NULL },
	{ "min_batch_time", K(FS), EXT, read_ext4, "min_batch_time", "us", C(JOURNAL),
	  "The shortest that a commit sleeps on purpose, when others are about.", NULL },
	{ "journal_ioprio", K(FS), EXT, read_ext4, "journal_ioprio", NULL, C(IOQ),
	  "Priority of the journal's requests in the I/O scheduler, 0 first (3 unless set).", NULL },
	{ "journal_async_commit", K(FS), EXT, read_ext4, "journal_async_commit", NULL, C(FLUSH_PRE),
	  "The commit record does not wait for the blocks before it.", NULL },
	{ "delalloc", K(FS), EXT, read_ext4, "delalloc", NULL, C(JOURNAL),
	  "On: blocks are allocated when data is written out, so an fsync may allocate for the whole file.",
	  judge_delalloc },
	{ "auto_da_alloc", K(FS), EXT, read_ext4, "auto_da_alloc", NULL, 0,
	  "On: a rename over a file writes the new one out, as an fsync before it would.", judge_by_value },
	{ "discard", K(FS), EXT, read_ext4, "discard", NULL, C(DEVICE_DISCARD),
	  "On: each commit is followed by discards, which many drives do slowly and alone.", judge_discard },
	{ "errors", K(FS), EXT, read_ext4, "errors", NULL, 0, "What a failed write of metadata leads to.", NULL },

	/* other file systems */
	{ "discard", K(FS), " xfs btrfs f2fs bcachefs nilfs2 vfat exfat ", read_mount, "discard", NULL,
	  C(DEVICE_DISCARD),
	  "Freed blocks are discarded after a commit; many drives do that slowly and alone.", judge_discard },
	{ "commit", K(FS), " btrfs ", read_mount, "commit", "s", 0, "How long changes may wait when nobody calls "
	  "fsync.", judge_by_value },
	{ "notreelog", K(FS), " btrfs ", read_mount, "notreelog", NULL, C(JOURNAL) | C(DEVICE_WRITE),
	  "Every fsync commits the whole transaction.", judge_by_value },
	{ "flushoncommit", K(FS), " btrfs ", read_mount, "flushoncommit", NULL, C(DEVICE_WRITE),
	  "A commit writes out all files' data first.", judge_by_value },
	{ "fsync_mode", K(FS), " f2fs ", read_mount, "fsync_mode", NULL, FLUSHES,
	  "posix: as little as the standard asks; strict: more; nobarrier: no flush.", NULL },
	{ "wsync", K(FS), " xfs ", read_mount, "wsync", NULL, C(DEVICE_WRITE), "Changes of names wait for the log.",
	  judge_by_value },
	{ "logdev", K(FS), " xfs ", read_mount, "logdev", NULL, C(DEVICE_WRITE),
	  "The log, which every fsync writes, is on another device.", judge_by_value },
	{ "logbufs", K(FS), " xfs ", read_mount, "logbufs", NULL, C(LOCK), "Log buffers: with few, callers wait for "
	  "one.", NULL },
	{ "logbsize", K(FS), " xfs ", read_mount, "logbsize", NULL, C(LOCK), "Size of a log buffer: with small ones, "
	  "more log writes.", NULL },

	/* stacks */
	{ "backing_file", K(LOOP), NULL, read_attr, "loop/backing_file", NULL, 0,
	  "A flush becomes an fsync of this file, with all that its file system adds.", NULL },
	{ "dio", K(LOOP), NULL, read_attr, "loop/dio", NULL, C(DEVICE_WRITE) | FLUSHES,
	  "1: writes go straight to the file's disk. 0: into the page cache, and a flush writes them all.",
	  judge_by_value },
	{ "dm_name", K(DM), NULL, read_attr, "dm/name", NULL, 0, "Its name: /dev/mapper has it.", NULL },
	{ "dm_uuid", K(DM), NULL, read_attr, "dm/uuid", NULL, 0, "Begins with who made it: LVM, CRYPT, mpath.", NULL },
	{ "dm_targets", K(DM), NULL, read_dm_targets, NULL, NULL, C(FLUSH_WAIT) | C(FLUSH_ONLY),
	  "A flush goes to every device of every target.", judge_dm_targets },
	{ "dm_options", K(DM), NULL, read_dm_options, NULL, NULL, C(COMPLETION) | C(RUNQ) | C(UNKNOWN),
	  "Without no_write_workqueue dm-crypt hands each write from one worker to the next.", judge_by_value },
	{ "suspended", K(DM) | SETTING_READ_ONLY, NULL, read_attr, "dm/suspended", NULL, 0,
	  "1: every request waits.", judge_by_value },
	{ "md_level", K(MD), NULL, read_attr, "md/level", NULL, 0,
	  "A flush goes to every member and ends with the slowest; levels 4 to 6 may read before they write.", NULL },
	{ "md_disks", K(MD), NULL, read_attr, "md/raid_disks", NULL, 0, "A flush waits for as many.", NULL },
	{ "md_degraded", K(MD) | SETTING_READ_ONLY, NULL, read_attr, "md/degraded", NULL, 0,
	  "Members that are missing.", judge_by_value },
	{ "md_sync_action", K(MD), NULL, read_attr, "md/sync_action", NULL, C(DEVICE_WRITE) | FLUSHES,
	  "A resync or check shares the drives with every fsync.", judge_by_value },
	{ "md_consistency", K(MD), NULL, read_attr, "md/consistency_policy", NULL, C(DEVICE_WRITE),
	  "bitmap, journal and ppl each add writes before the data's.", judge_by_value },
	{ "md_bitmap", K(MD), NULL, read_attr, "md/bitmap/location", NULL, C(DEVICE_WRITE) | FLUSHES,
	  "The first write into a clean region waits for a flushed write of the bitmap.", judge_by_value },
	{ "md_bitmap_chunk", K(MD), NULL, read_attr, "md/bitmap/chunksize", "B", 0, "Size of a region: smaller ones, "
	  "more bitmap writes.",
	  NULL },
	{ "md_chunk", K(MD), NULL, read_attr, "md/chunk_size", "B", 0, "A write across it goes to several members.",
	  NULL },

	/* partitions */
	{ "start", K(PARTITION), NULL, read_attr, "start", "sectors", C(DEVICE_READ) | C(DEVICE_WRITE),
	  "Off the drive's physical sectors, each write makes it read two of them first.", judge_start },
	{ "alignment_offset", K(PARTITION) | QUEUE, NULL, read_attr, "alignment_offset", "B",
	  C(DEVICE_READ) | C(DEVICE_WRITE),
	  "Not 0: it begins this far from a boundary of the device's blocks.", judge_by_value },

	/* the cache, as the kernel sees it */
	{ "size", K(PARTITION) | QUEUE, NULL, read_attr, "size", "sectors", 0, "Of 512 bytes each.", NULL },
	{ "read_only", K(PARTITION) | QUEUE | SETTING_READ_ONLY, NULL, read_attr, "ro", NULL, 0, "1: nothing can be written.",
	  judge_read_only },
	{ "write_cache", QUEUE, NULL, read_attr, "queue/write_cache", NULL, FLUSHES,
	  "write back: an fsync ends with a flush of the drive's cache. write through: no flush is ever sent.",
	  judge_write_cache },
	{ "fua", QUEUE, NULL, read_attr, "queue/fua", NULL, C(FLUSH_POST),
	  "0: a commit record is followed by a second flush. 1: it is one write that goes through the cache.",
	  judge_fua },
	{ "scsi_cache_type", K(DISK), NULL, read_attr, "device/scsi_disk/*/cache_type", NULL, FLUSHES,
	  "The cache as the drive's caching mode page tells it.", judge_by_value },
	{ "scsi_fua", K(DISK), NULL, read_attr, "device/scsi_disk/*/FUA", NULL, C(FLUSH_POST),
	  "Whether the drive takes FUA writes.", NULL },
	{ "virtio_cache_type", K(DISK), NULL, read_attr, "cache_type", NULL, FLUSHES, "The host's cache as it told the "
	  "guest.", NULL },
	{ "virtio_flush", K(DISK), NULL, read_virtio_bit, "9", NULL, FLUSHES, "1: the host takes flushes. 0: it cannot "
	  "be asked for one.",
	  NULL },
	{ "flushes", QUEUE, NULL, read_stat, "16", NULL, FLUSHES, "Flushes done since boot, as the kernel counts them.",
	  NULL },
	{ "flush_ms", QUEUE, NULL, read_stat, "17", "ms", FLUSHES, "Their time: divided by their number, what a flush "
	  "costs.",
	  judge_flush_ms },

	/* the queue */
	{ "scheduler", QUEUE, NULL, read_scheduler, NULL, NULL, C(IOQ),
	  "Writes wait in it for their turn; a flush goes past it.", judge_scheduler },
	{ "wbt_lat_usec", QUEUE, NULL, read_mq_attr, "queue/wbt_lat_usec", "us", C(THROTTLE),
	  "Not 0: writeback, an fsync's included, sleeps while reads take longer than this.", judge_by_value },
	{ "nr_requests", QUEUE, NULL, read_mq_attr, "queue/nr_requests", NULL, C(TAG),
	  "Requests in the queue at once: the next one waits for a tag.", judge_nr_requests },
	{ "queue_depth", K(DISK), NULL, read_attr, "device/queue_depth", NULL, C(TAG) | C(IOQ),
	  "Commands that the drive takes at once.", judge_by_value },
	{ "rq_affinity", QUEUE, NULL, read_mq_attr, "queue/rq_affinity", NULL, C(COMPLETION),
	  "Which CPU ends a request: 1 one near the caller, 2 the caller's own, 0 whichever the interrupt came to.",
	  judge_by_value },
	{ "nomerges", QUEUE, NULL, read_mq_attr, "queue/nomerges", NULL, C(DEVICE_WRITE),
	  "0: neighbouring writes become one request.",
	  judge_by_value },
	{ "max_sectors_kb", QUEUE, NULL, read_attr, "queue/max_sectors_kb", "KiB", C(DEVICE_WRITE),
	  "Larger writes are cut into several.",
	  NULL },
	{ "read_ahead_kb", QUEUE, NULL, read_attr, "queue/read_ahead_kb", "KiB", C(DEVICE_READ),
	  "Read-ahead of others stands in the drive's queue before a flush.", NULL },
	{ "iostats", QUEUE | SETTING_READ_ONLY, NULL, read_attr, "queue/iostats", NULL, 0, "0: the kernel counts neither requests nor "
	  "flushes.",
	  judge_by_value },
	{ "stable_writes", QUEUE, NULL, read_attr, "queue/stable_writes", NULL, C(LOCK), "1: writing to a page waits "
	  "while it is written out.",
	  NULL },

	/* the device's geometry */
	{ "rotational", QUEUE, NULL, read_attr, "queue/rotational", NULL, 0, "1: each commit may cost a turn of the "
	  "disk, or says so.", NULL },
	{ "logical_block_size", QUEUE, NULL, read_attr, "queue/logical_block_size", "B", 0,
	  "The least that a write can be.", NULL },
	{ "physical_block_size", QUEUE, NULL, read_attr, "queue/physical_block_size", "B", C(DEVICE_READ),
	  "A smaller or misaligned write makes the drive read first.", NULL },
	{ "minimum_io_size", QUEUE, NULL, read_attr, "queue/minimum_io_size", "B", 0, "Writes below it cost as much.",
	  NULL },
	{ "optimal_io_size", QUEUE, NULL, read_attr, "queue/optimal_io_size", "B", 0, "The stripe of an array: a whole "
	  "one needs no read.",
	  NULL },
	{ "discard_granularity", QUEUE, NULL, read_attr, "queue/discard_granularity", "B", C(DEVICE_DISCARD),
	  "0: it takes no discards.",
	  NULL },
	{ "discard_max_bytes", QUEUE, NULL, read_attr, "queue/discard_max_bytes", "B", C(DEVICE_DISCARD),
	  "A long discard is one command, and a flush may wait behind it.", NULL },
	{ "zoned", QUEUE, NULL, read_attr, "queue/zoned", NULL, 0, "host-managed drives are written in order, zone by "
	  "zone.", NULL },

	/* the drive */
	{ "transport", K(DISK), NULL, read_transport, NULL, NULL, 0, "The way to the drive: a USB bridge may not pass "
	  "flushes on.", NULL },
	{ "model", K(DISK), NULL, read_attr, "device/model", NULL, 0, "Drives differ in what a flush costs, and "
	  "whether they obey.", NULL },
	{ "drive_model", K(DISK), NULL, read_drive, NULL, NULL, 0, "The drive by its own word, not the enclosure's.",
	  NULL },
	{ "firmware", K(DISK), NULL, read_drive, NULL, NULL, 0, "A new firmware can change what a flush costs.", NULL },
	{ "drive_cache", K(DISK), NULL, read_drive, NULL, NULL, FLUSHES, "Whether the drive itself says that its write "
	  "cache is on.",
	  judge_drive_cache },
	{ "wear", K(DISK) | SETTING_READ_ONLY, NULL, read_drive, NULL, "%", C(DEVICE_WRITE),
	  "Of the rated life used up: worn flash writes slower.", judge_by_value },
	{ "health", K(DISK) | SETTING_READ_ONLY, NULL, read_drive, NULL, NULL, 0, "The drive's own verdict on itself.", judge_by_value },
	{ "link_power", K(DISK), NULL, read_scsi_host, "link_power_management_policy", NULL, C(DEVICE_WRITE) | FLUSHES,
	  "A link that sleeps has to wake up before a write or flush.", judge_lpm },
	{ "cgroup_io_max", QUEUE, NULL, read_cgroup, "io.max", NULL, C(THROTTLE),
	  "A cgroup's requests wait once it has had its share.", judge_by_value },
	{ "cgroup_io_latency", QUEUE, NULL, read_cgroup, "io.latency", NULL, C(THROTTLE),
	  "Other cgroups are held back until this one's target is met.", judge_by_value },
	{ "cgroup_io_cost", QUEUE, NULL, read_cgroup, "io.cost.qos", NULL, C(THROTTLE),
	  "Journal writes are booked as debt, and the delay comes later.", judge_by_value },
	{ "cgroup_write_bps", QUEUE, NULL, read_cgroup, "blkio.throttle.write_bps_device", "B/s",
	  C(THROTTLE),
	  "A cgroup's writes wait once it has had its share.", judge_by_value },
	{ "cgroup_write_iops", QUEUE, NULL, read_cgroup, "blkio.throttle.write_iops_device", "IO/s",
	  C(THROTTLE),
	  "A cgroup's writes wait once it has had its share.", judge_by_value },

	/* the machine */
	{ "governor", K(MACHINE), NULL, read_governor, NULL, NULL, C(CPU) | C(RUNQ) | C(COMPLETION),
	  "A CPU that is clocked down takes longer over each of an fsync's many wake-ups.", judge_governor },
	{ "dirty_ratio", K(MACHINE), NULL, read_proc, "sys/vm/dirty_ratio", "%", C(DEVICE_WRITE),
	  "Of memory: more dirty pages than this stop every writer.", judge_dirty },
	{ "dirty_bytes", K(MACHINE), NULL, read_proc, "sys/vm/dirty_bytes", "B", C(DEVICE_WRITE),
	  "The same in bytes; 0: dirty_ratio counts.",
	  NULL },
	{ "dirty_background_ratio", K(MACHINE), NULL, read_proc, "sys/vm/dirty_background_ratio", "%", C(DEVICE_WRITE),
	  "Of memory: above it writeback starts, which fsyncs meet in the drive.", NULL },
	{ "dirty_background_bytes", K(MACHINE), NULL, read_proc, "sys/vm/dirty_background_bytes", "B", C(DEVICE_WRITE),
	  "The same in bytes; 0: dirty_background_ratio counts.", NULL },
	{ "dirty_expire_centisecs", K(MACHINE), NULL, read_proc, "sys/vm/dirty_expire_centisecs", "cs", C(DEVICE_WRITE),
	  "Dirty pages older than this are written out; an fsync has to write younger ones itself.", NULL },
	{ "dirty_writeback_centisecs", K(MACHINE), NULL, read_proc, "sys/vm/dirty_writeback_centisecs", "cs",
	  C(DEVICE_WRITE),
	  "How often writeback looks for such pages; 0: never.", NULL },
	{ "laptop_mode", K(MACHINE), NULL, read_proc, "sys/vm/laptop_mode", NULL, C(DEVICE_WRITE),
	  "Not 0: writeback waits until a read wakes the disk, then writes all.", judge_by_value },
	{ "io_pressure", K(MACHINE), NULL, read_proc, "pressure/io", NULL, 0, "Share of time in which tasks waited for "
	  "I/O.", NULL },
	{ "btf", K(MACHINE), NULL, read_sys_size, "kernel/btf/vmlinux", "B", 0, "The kernel's types: tracing needs "
	  "them.", judge_by_value },
	{ "lockdown", K(MACHINE), NULL, read_sys, "kernel/security/lockdown", NULL, 0, "confidentiality refuses "
	  "tracing.", judge_by_value },
	{ "bpf_stats_enabled", K(MACHINE), NULL, read_proc, "sys/kernel/bpf_stats_enabled", NULL, C(CPU),
	  "1: every BPF program takes the time of itself, which costs more than ours.", judge_by_value },
	{ "kptr_restrict", K(MACHINE), NULL, read_proc, "sys/kernel/kptr_restrict", NULL, 0,
	  "2: symbols are hidden, also from root: some sleeps get no name.", NULL },
	{ 0 },
};
/* clang-format on */

static bool applies(const struct setting_row *row, const struct diag_layer *l)
{
	char *word;
	bool found;

	if (!(row->kinds & 1u << l->kind))
		return false;
	if (!row->fs)
		return true;
	word = xasprintf(" %s ", l->fstype ? l->fstype : "");
	found = strstr(row->fs, word);
	free(word);
	return found;
}

void settings_read(struct exam *x, struct diag_layer *l)
{
	for (const struct setting_row *row = setting_rows; row->key; row++) {
		struct reading r = { 0 };
		struct diag_setting *s;

		if (!applies(row, l))
			continue;
		row->read(&(struct query){ x, l, row }, &r);
		if (!r.value && !r.unknown) {
			free(r.where);
			continue;
		}
		s = grow((void **)&l->setting, &l->n_settings, sizeof(*s));
		*s = (struct diag_setting){
			.key = row->key,
			.unit = row->unit,
			.effect = row->effect,
			.causes = row->causes,
			.value = r.value,
			.where = r.where,
			.unknown = r.unknown,
		};
	}
}

static const struct setting_row *row_of(const struct diag_layer *l, const char *key)
{
	const struct setting_row *row = setting_rows;

	while (row->key && (strcmp(row->key, key) || !applies(row, l)))
		row++;
	return row;
}

void settings_judge(struct exam *x)
{
	for (size_t i = 0; i < x->d->n_layers; i++) {
		const struct diag_layer *l = &x->d->layer[i];

		for (size_t k = 0; k < l->n_settings; k++) {
			const struct diag_setting *s = &l->setting[k];
			const struct setting_row *row = row_of(l, s->key);

			if (row->judge && s->value && (row->kinds & SETTING_READ_ONLY || !diag_is(l, "read_only", "1")))
				row->judge(x, l, s);
		}
	}
}

void finding_add(struct exam *x, const struct diag_layer *l, const struct diag_setting *s, enum diag_grade grade,
		 const char *advice, const char *fmt, ...)
{
	struct diag_finding *f = grow((void **)&x->d->finding, &x->d->n_findings, sizeof(*f));
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	*f = (struct diag_finding){
		.grade = grade,
		.place = xstrdup(l->name),
		.key = s->key,
		.what = b.data,
		.advice = xstrdup(advice),
		.causes = s->causes,
	};
}
