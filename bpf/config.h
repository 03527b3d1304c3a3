/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * config.h - what user space decides before the programs are loaded. It stands in read-only data, so the
 * verifier sees constants and drops what a run does not need. Kernel constants come from the running kernel's BTF.
 */
#ifndef BT_CONFIG_H
#define BT_CONFIG_H

#include "wire.h"

#define CONFIG_OPS	64
#define CONFIG_SYSCALLS 512
#define CONFIG_COMMS	8
#define CONFIG_GROUPS	8

/*
 * A call of no helper that there is: before a program is loaded, user space makes it one of the kernel's bpf_rdonly_cast(pointer, type)
 * (a35b9af4ec2c "bpf: Add a kfunc for generic type cast", 6.2), where there is that. libbpf would look for it in all types of the kernel.
 */
#define CONFIG_CAST	     0x7ca57
#define CONFIG_CAST_FUNCTION "bpf_rdonly_cast"

struct bt_config {
	__bt_u32 stripes;	       /* copies of each counter; CPUs share one by cpu % stripes */
	__bt_u32 atomic;	       /* 1: stripes are shared between CPUs, add atomically */
	__bt_u32 op_class[CONFIG_OPS]; /* REQ_OP_x: enum wire_class (sync form); reads and writes refined by flags */
	__bt_u32 op_flush;	       /* REQ_OP_FLUSH */
	__bt_u32 req_sync, req_fua, req_preflush, req_rahead, req_idle, req_meta; /* masks in cmd_flags / bi_opf */
	__bt_u32 rqf_flush_seq, rqf_io_stat, rqf_stats;				  /* masks in rq_flags */
	__bt_u32 fseq_preflush, fseq_data, fseq_postflush;			  /* masks in request.flush.seq */
	__bt_u32 queue_first;	  /* 1: block_rq_insert/issue/merge/requeue pass (queue, request) */
	__bt_u32 bio_queue_first; /* 1: block_bio_queue passes (queue, bio) */
	__bt_u32 track_task;	  /* 1: remember which task sent a request */
	__bt_u32 command;	  /* 1: a command is wrapped: count its requests */
	__bt_u32 filter;	  /* 1: only some tasks count: those of the next four, joined */
	__bt_u32 filter_family;	  /* 1: processes in the map `family` */
	__bt_u32 no_children;	  /* 1: theirs do not join it */
	__bt_u32 task_groups;	  /* how many of groups.of_task count; */
	__bt_u32 bio_groups;	  /* and of groups.of_bio */
	__bt_u32 n_comms;
	__bt_u64 comm[CONFIG_COMMS][2]; /* processes that take such a name join the family */
	__bt_u32 ledger;		/* 1: sync calls are traced: requests remember their steps */
	__bt_u32 may_idle;		/* 1: what only ledgers need may be detached while there are no sync calls */
	__bt_u32 flush_path;		/* 1: all three probes of the flush machinery's functions are attached */
	__bt_u32 own_clocks;  /* 1: run.own_clocks may be set: nothing is asked for that only insert and issue show */
	__bt_u32 bios;	      /* 1: disks without requests may be traced */
	__bt_u32 ring_wake;   /* wake the reader when this many bytes wait in the ring buffer */
	__bt_u32 thread_size; /* of a task's kernel stack: THREAD_SIZE */
	/* the kernel's own numbers of these types, for CONFIG_CAST; 0: it has no such function */
	__bt_u32 type_address_space, type_dentry, type_file, type_inode, type_pt_regs, type_rb_node, type_request,
		type_super_block, type_task_struct;
	__bt_u32 nr_pwritev2, nr_pwritev2_32; /* system call numbers, the second of the 32-bit kind */
	struct { /* enum wire_call, 0: none; compat: of the 32-bit kind, which are numbered in another way */
		__bt_u8 native, compat;
	} call_of_nr[CONFIG_SYSCALLS];
};

/* Why a process is in the map `family`. By its name alone it is so while it has that: with no_children. */
enum family_member { MEMBER = 1, MEMBER_BY_NAME = 2 };

/*
 * The groups that are asked for, by kernfs ids; 0: there is none at present. User space changes them while a run goes on: who restarts
 * a service gives it another group. In those of tasks a bio is told by who sends it, in those of bios by what it is charged to.
 */
struct bt_groups {
	__bt_u64 of_task[CONFIG_GROUPS], of_bio[CONFIG_GROUPS];
};

#endif
