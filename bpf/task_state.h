/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_state.h - what the kernel side knows of a task that sync calls depend on, see follow.bpf.h. User space looks at it for the calls that
 * have begun and not ended.
 */
#ifndef BT_TASK_STATE_H
#define BT_TASK_STATE_H

#include "wire.h"

#define PIDS_PER_CHUNK 64

/* Where the states of tasks stand, by their numbers. */
struct pid_chunk {
	__bt_u16 entry[PIDS_PER_CHUNK]; /* index in `tasks`, plus 1; 0: none */
};

/* In place of that: a task of this number ends or has ended, and no other has come onto a CPU since. Who asks then comes too late. */
#define ENTRY_ENDED 0xffff
_Static_assert(WIRE_TASKS < ENTRY_ENDED, "an entry would be taken for the mark");

#define CALL_NO_NR 0xffff
/* In `nr`: the call is traced at its own function, both begin and end. */
#define CALL_BY_FUNCTION 0x8000
/* In `call` of a task that is no caller: it is in this call, and was not asked about. Only its times are told; nothing follows it. */
#define CALL_OF_OTHER 0x80000000u
/* Of one that was asked about: it began while what ledgers need was not attached. Of it, too, only the times are told. */
#define CALL_OF_IDLE 0x40000000u

/*
 * The first line of 64 bytes is all that most sleeps of a helper touch, the second what a sync call adds. Programs change it on several
 * CPUs at once: the task's own, its waker's, and those that complete what it sent. What these count is added atomically, and `caller` and
 * `history` are members of their own. Of the rest the last write holds: where two meet, it costs what is known of one sleep.
 */
struct task_state {
	__bt_u64 off, wake, on; /* lost the CPU, woken, came onto it: of the present or last sleep */
	__bt_u64 last_wake;	/* of the sleep before `on` */
	__bt_u64 rq, done;	/* what woke it, as in struct wire_sleep */
	__bt_u32 waker;
	__bt_u32 seq;
	__bt_u8 how, waker_kind, stack_len, announced;
	__bt_u8 idle;
	__bt_u8 caller;	  /* 1: followed, as it is in a sync call that is asked for */
	__bt_u16 history; /* not 0: followed, as a helper: index in `histories`, plus 1 */
	/* the sync call that it is in */
	__bt_u64 enter, ino;
	__bt_u64 waited; /* for a CPU, at its beginning, see struct wire_sync */
	__bt_u32 dev, generation;
	__bt_u32 call;
	__bt_u16 first_seq;	/* at its beginning, modulo 2^16 */
	__bt_u16 voluntary;	/* likewise: see struct wire_sync */
	__bt_u32 switches;	/* of the task, at its beginning, and those since that no sleep stands for */
	__bt_u32 seen_switches; /* of the task, when it was last seen to come onto a CPU; 0: not yet */
	__bt_u32 flushes;	/* this and the next two as in struct wire_sync; bytes in sectors of 512 */
	__bt_u32 write_sectors;
	__bt_u32 writes;
	__bt_u16 nr;  /* of the system call that the sync call is; CALL_NO_NR: it is none */
	__bt_u8 had;  /* enum wire_had, but for HAD_FUA */
	__bt_u8 aio;  /* 1: a worker that carries out an AIO fsync, see async.bpf.c */
	__bt_u32 fua; /* FUA writes among `writes` */
	__bt_u32 tgid;
	__bt_u32 tid;	   /* of the task; 0: the entry is free */
	__bt_u32 work;	   /* a worker: number of the work that it is at, or was at last; 0: none was seen to begin */
	__bt_u64 since;	   /* helper: followed from then on */
	__bt_u64 mattered; /* a helper: when it last woke a followed task, or had more to tell than a wake-up may */
	__bt_u64 stack[WIRE_STACK];
} __attribute__((aligned(64)));
WIRE_ASSERT_SIZE(struct task_state, 256);

struct file_key {
	__bt_u64 ino;
	__bt_u32 dev, generation;
};

/* A sync call that one task has asked for and another carries out, see async.bpf.c. */
struct pending {
	__bt_u64 enter;
	struct file_key file;
	__bt_u32 tid, tgid, worker, pad;
	char comm[16];
};

#endif
