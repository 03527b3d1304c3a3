/* SPDX-License-Identifier: GPL-2.0-only */
/* workload_barrier.h - what the rows of workload `barrier` are: scores_row.kind, and what their parameter means. */
#ifndef BT_BENCH_WORKLOAD_BARRIER_H
#define BT_BENCH_WORKLOAD_BARRIER_H

enum barrier_test {
	BARRIER_DIRTY,	 /* bytes written since the flush before; 0: nothing, 4096: the call's own write */
	BARRIER_FLUSH,	 /* bytes: a write, then fdatasync */
	BARRIER_FUA,	 /* bytes: a write with O_DSYNC */
	BARRIER_DEPTH,	 /* how many threads write 4 KiB at random places meanwhile */
	BARRIER_BUSY,	 /* bytes of the writes that one thread does meanwhile, in order */
	BARRIER_IDLE,	 /* ns of rest before each */
	BARRIER_DISCARD, /* bytes freed and discarded before each */
	BARRIER_TESTS
};

#endif
