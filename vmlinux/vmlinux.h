/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that are read, and only the members that are read. Offsets here mean nothing: every access is
 * relocated against the running kernel's BTF, so one header serves all kernels and architectures. A type
 * with a ___suffix is another kernel's form of the type before the suffix (libbpf's "flavours").
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef u64 sector_t;
typedef u32 dev_t;

#define true 1
#define false 0
#define NULL ((void *)0)

/* User-space ABI of bpf(2) (uapi/linux/bpf.h); these values never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rb_node {
	unsigned long __rb_parent_color;
};

struct list_head {
	struct list_head *next, *prev;
};

typedef struct {
	int counter;
} atomic_t;

struct kernfs_node {
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

enum cgroup_subsys_id {
	io_cgrp_id
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct gendisk;
struct request_queue;
struct request;

struct block_device {
	dev_t bd_dev;
	struct gendisk *bd_disk;
};

struct bvec_iter {
	sector_t bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct block_device *bi_bdev;
	u32 bi_opf;
	unsigned short bi_flags;
	u8 bi_status;
	struct bvec_iter bi_iter;
	struct blkcg_gq *bi_blkg;
};

/* up to 5.11 (before 309dca309fc3 "block: store a block_device pointer in struct bio") */
struct bio___disk {
	struct gendisk *bi_disk;
	u8 bi_partno;
};

struct gendisk {
	int major;
	int first_minor;
	struct request_queue *queue;
	u64 diskseq;
};

struct request_queue {
	int id;
	struct gendisk *disk;
	const void *mq_ops;
};

struct blk_flush_queue {
	unsigned int flush_pending_idx : 1;
	unsigned int flush_running_idx : 1;
	struct list_head flush_queue[2];
};

struct blk_mq_hw_ctx {
	struct blk_flush_queue *fq;
	unsigned int queue_num;
};

struct blk_plug {
	u64 cur_ktime;
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	u32 cmd_flags;
	u32 rq_flags;
	int tag;
	int internal_tag;
	unsigned int __data_len;
	sector_t __sector;
	struct bio *bio;
	struct bio *biotail;
	struct list_head queuelist;
	struct block_device *part;
	u64 start_time_ns;
	u64 io_start_time_ns;
	atomic_t ref;		/* a refcount_t up to 5.15 */
	struct {
		unsigned int seq;
	} flush;
};

/* up to 6.3 (before 81ada09cc25e "blk-flush: reuse rq queuelist in flush state machine") */
struct request___flush_list {
	struct {
		struct list_head list;
	} flush;
};

/* up to 5.16: the disk stood in the request (before f3fa33acca9f "block: remove the ->rq_disk field") */
struct request___rq_disk {
	struct gendisk *rq_disk;
};

/* up to 5.11: partitions were hd_structs (before 0d02129e76ed "block: merge struct block_device and hd_struct") */
struct device___devt {
	dev_t devt;
};

struct hd_struct {
	struct device___devt __dev;
};

struct request___hd_struct {
	struct hd_struct *part;
};

struct trace_entry {
	int pid;
};

struct trace_event_raw_sys_enter {
	struct trace_entry ent;
	long id;
	unsigned long args[6];
};

struct trace_event_raw_sys_exit {
	struct trace_entry ent;
	long id;
	long ret;
};

struct signal_struct {
	atomic_t live;
};

struct super_block {
	dev_t s_dev;
	unsigned long s_flags;
};

struct qstr {
	const unsigned char *name;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct super_block *d_sb;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct xarray {
	unsigned int xa_flags;
};

struct address_space {
	struct xarray i_pages;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_flags;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
	u32 i_generation;
	struct hlist_head i_dentry;
};

struct xfs_inode {
	struct inode i_vnode;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct address_space *f_mapping;
	struct inode *f_inode;
	unsigned int f_flags;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct workqueue_struct {
	char name[24];
};

struct work_struct {
	void (*func)(struct work_struct *);
};

struct pool_workqueue {
	struct workqueue_struct *wq;
};

struct worker {
	void *current_func;
	struct pool_workqueue *current_pwq;
};

struct kthread {
	void *data;
};

struct thread_info {
	unsigned long flags;
	u32 status;	/* x86 */
};

/* CONFIG_SCHED_INFO */
struct sched_info {
	unsigned long long run_delay;
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_info sched_info;
	void *worker_private;
	int *set_child_tid;
	void *stack;
	int pid;
	int tgid;
	unsigned int flags;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct files_struct *files;
	unsigned int __state;
	unsigned long nvcsw, nivcsw;
	char comm[16];
};

/* up to 5.13 (before 2f064a59a11f "sched: Change task_struct::state") */
struct task_struct___state {
	volatile long state;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 orig_x0;
	s32 syscallno;
};
struct user_pt_regs {
	u64 regs[31];
};
#endif

struct io_cqe {
	int fd;
};

struct io_kiocb {
	u8 opcode;
	struct io_cqe cqe;
};

#pragma clang attribute pop

#endif
