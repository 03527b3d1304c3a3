/* SPDX-License-Identifier: GPL-2.0-only */
/* file.bpf.h - the file of a sync call: found by its descriptor, named once. */
#ifndef BT_FILE_BPF_H
#define BT_FILE_BPF_H

#include "follow.bpf.h"

/* Files whose names have been sent. */
STATE struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct file_key);
	__type(value, u32);
} files SEC(".maps");

/*
 * The file behind a descriptor of the current task, as a number; 0: there is none. A global function: each typed pointer that is loaded
 * from the task's costs the verifier a look through all types of the kernel. In file.bpf.c, as is the next.
 */
u64 file_address(u32 fd);

static __always_inline struct file *file_of(u32 fd)
{
	return (struct file *)file_address(fd);
}

/* Sends the path of a file, by its dentry and inode, from the file up to the root of its file system. */
int send_file(u64 dentry_address, u64 inode_address);

/* User-space ABI (uapi): these values never change. */
#define S_IFMT	0170000
#define S_IFBLK 0060000

/* A disk's node stands for the disk, wherever the node lies. */
static __always_inline void key_of_inode(struct inode *inode, struct file_key *key)
{
	if ((LOOK(inode, i_mode) & S_IFMT) == S_IFBLK) {
		key->ino = WIRE_INO_DISK;
		key->dev = LOOK(inode, i_rdev);
		key->generation = 0;
		return;
	}
	key->ino = LOOK(inode, i_ino);
	key->dev = LOOK(LOOK(inode, i_sb), s_dev);
	key->generation = LOOK(inode, i_generation);
}

static __always_inline void key_of_file(struct file *file, struct file_key *key)
{
	key_of_inode(LOOK(file, f_inode), key);
}

/*
 * Does it have pages that are dirty or under writeback? What its xarray's flags have beyond the GFP bits are its marks, and those are
 * the page cache's PAGECACHE_TAG_* (include/linux/fs.h); the xarray's own flags are below (include/linux/xarray.h). There are at least 23
 * GFP bits, in 5.10 to 7.2.
 */
#define XARRAY_MARKS(flags) ((flags) >> 23)

static __always_inline bool had_pages(struct file *file)
{
	return XARRAY_MARKS(LOOK(LOOK(file, f_mapping), i_pages.xa_flags)) != 0;
}

/* Is its name to be sent? Once only. */
static __always_inline bool is_to_be_named(const struct file_key *key)
{
	u32 one = 1;

	if (key->ino == WIRE_INO_DISK || bpf_map_lookup_elem(&files, key))
		return false;
	bpf_map_update_elem(&files, key, &one, BPF_ANY);
	return true;
}

static __always_inline void name_file(struct file *file, const struct file_key *key)
{
	if (is_to_be_named(key))
		send_file(address_at(&file->f_path.dentry), address_at(&file->f_inode));
}

/* Wakes the reader only when much has come together; whether it has, it also looks by itself, several times a second. */
static __always_inline u64 wake_flag(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= cfg.ring_wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* Most calls are on the file of the call before, whose name is known. */
static __always_inline void note_file(struct task_state *t, struct file *file, bool whole_fs)
{
	struct file_key key;

	if (whole_fs) {
		t->ino = t->generation = 0;
		t->dev = LOOK(LOOK(LOOK(file, f_inode), i_sb), s_dev);
		return;
	}
	key_of_file(file, &key);
	if (key.ino == t->ino && key.dev == t->dev && key.generation == t->generation)
		return;
	name_file(file, &key);
	t->dev = key.dev;
	t->ino = key.ino;
	t->generation = key.generation;
}

#endif
