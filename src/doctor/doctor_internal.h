/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor_internal.h - private to doctor/ and its tests: the table of settings, how each is read and how it is judged.
 *
 * To add a setting: a row in setting_table.c, and a rule in value_rules.c if its value can hurt by itself; a reader or a
 * judge only if none of those there fits.
 */
#ifndef BT_DOCTOR_DOCTOR_INTERNAL_H
#define BT_DOCTOR_DOCTOR_INTERNAL_H

#include "doctor/doctor.h"

/* One thing that a drive tool told, or why it told nothing. */
struct drive_fact {
	char *disk;	 /* kernel name */
	const char *key; /* static */
	char *value, *where, *unknown;
};

struct exam {
	const struct doctor_opts *o;
	struct diagnosis *d;
	struct drive_fact *fact;
	size_t n_facts;
};

/* What a reader returns. All NULL: this layer has no such setting. Owned by the caller. */
struct reading {
	char *value, *where, *unknown;
};

struct setting_row;

/* What a reader is asked for. */
struct query {
	const struct exam *x;
	const struct diag_layer *l;
	const struct setting_row *row;
};

typedef void read_fn(const struct query *q, struct reading *r);
typedef void judge_fn(struct exam *x, const struct diag_layer *l, const struct diag_setting *s);

/* It is judged also on a device that takes no writes: the other judges speak of what is synced. */
#define SETTING_READ_ONLY (1u << 31)

struct setting_row {
	const char *key;
	unsigned int kinds; /* bits (1 << enum diag_kind) of layers that have it, and SETTING_READ_ONLY */
	const char *fs;	    /* only file systems of these types, " ext4 ext3 "; NULL: any */
	read_fn *read;
	const char *arg; /* the reader's */
	const char *unit;
	uint32_t causes;
	const char *effect;
	judge_fn *judge; /* NULL: never hurts by itself */
};

/* stack.c: adds the layers without their settings, in their order. `word` as for doctor_look(). */
int stack_find(const char *word, struct diagnosis *d, struct err *e);

/* Reads every setting of a layer into it. */
void settings_read(struct exam *x, struct diag_layer *l);

/* Judges every setting of every layer: all have been read. */
void settings_judge(struct exam *x);

/* The parameters are copied; `advice` may be NULL. */
void finding_add(struct exam *x, const struct diag_layer *l, const struct diag_setting *s, enum diag_grade grade,
		 const char *advice, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* readers_block.c; `arg` is ... */
read_fn read_attr;    /* a path below /sys/class/block/NAME; a part may be "*": the first that is there */
read_fn read_mq_attr; /* the same, of devices that have a request queue of their own */
read_fn read_scheduler;
read_fn read_stat; /* the number of a field of /sys/class/block/NAME/stat, from 1 */
read_fn read_transport;
read_fn read_virtio_bit;     /* the number of a bit in device/features */
read_fn read_scsi_host;	     /* an attribute of the disk's /sys/class/scsi_host/hostN */
read_fn read_sys, read_proc; /* a path below /sys, /proc */
read_fn read_sys_size;	     /* the size of a file below /sys */
read_fn read_governor;
read_fn read_cgroup; /* a file of the cgroups that limits this disk */
read_fn read_fstype;
read_fn read_mount;    /* a mount option; only when it is there */
read_fn read_volatile; /* an overlay's */
read_fn read_atime;
read_fn read_barrier;
read_fn read_ext4;	  /* an option in /proc/fs/ext4/NAME/options */
read_fn read_ext4_sys;	  /* an attribute below /sys/fs/ext4/NAME */
read_fn read_fast_commit; /* in the superblock, if that is in memory */
read_fn read_block_size;
read_fn read_dm_targets, read_dm_options;
read_fn read_drive; /* what a tool told under the row's key */

/* drive_tools.c: asks smartctl, nvme and hdparm about a whole disk, once. */
void drive_ask(struct exam *x, const struct diag_layer *l);
void drive_free(struct exam *x);

/* Of a device by its kernel name; owned by the caller. */
char *node_path(const struct exam *x, const char *name);

/* Whether an option stands in a comma-separated list. *value (may be NULL): what follows its "=", owned, or NULL. */
bool option_find(const char *options, const char *name, char **value);

/* checks_block.c, checks_fs.c */
judge_fn judge_write_cache, judge_fua, judge_scheduler, judge_nr_requests, judge_start, judge_flush_ms,
	judge_drive_cache, judge_lpm, judge_dm_targets, judge_barrier, judge_discard, judge_journal, judge_delalloc,
	judge_block_size, judge_governor, judge_dirty, judge_read_only;

/* value_rules.c: by the rules there */
judge_fn judge_by_value;

#endif
