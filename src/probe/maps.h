/* SPDX-License-Identifier: GPL-2.0-only */
/* maps.h - the maps of the kernel side. Private to probe/: others ask by probe.h, kernel_side.h and counters.h. */
#ifndef BT_PROBE_MAPS_H
#define BT_PROBE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bt_groups;
struct probes;

/* The counters, mapped: the kernel side writes, we read (and step run->generation). */
struct wire_maps {
	struct wire_cell *cells;   /* [(view * WIRE_CELLS + cell) * stripes + stripe] */
	struct wire_view *views;   /* [view * stripes + stripe] */
	struct wire_queue *queues; /* [WIRE_MAX_QUEUES] */
	struct wire_depth *depths; /* [view * stripes + stripe] */
	struct wire_run *run;
	volatile struct bt_groups *groups;
	volatile unsigned long long *aio_fsync_work;
	uint32_t stripes;
	bool own_numbers;				  /* see struct probe_want */
	volatile unsigned long long *callers;		  /* how many are within a sync call */
	volatile unsigned long long *last_call;		  /* when one last began, see follow.bpf.h */
	volatile unsigned long long *last_sys_enter_call; /* as above */
	int elsewhere_fd;				  /* hash: kernel dev_t -> 1 */
	int disks_fd;					  /* hash: kernel dev_t -> struct wire_disk */
	int covered_fd;					  /* hash: kernel dev_t -> 1, see idle.bpf.h */
	int family_fd;					  /* hash: process id -> 1 */
	int ring_fd;  /* ring buffer of wire records; -1: sync calls are not traced */
	int slots_fd; /* array of struct slot (slot.h), of n_slots */
	uint32_t n_slots;
	int tasks_fd;	  /* array of struct task_state, of WIRE_TASKS */
	int histories_fd; /* array of struct history (follow.bpf.h), of WIRE_HISTORIES */
	uint32_t history_size;
	int free_tasks_fd;		  /* stacks: entries of the two that nobody uses */
	int free_histories_fd;		  /* as above */
	volatile uint32_t *sweep_wanted;  /* 1: entries of the two could come back, see follow.bpf.h */
	volatile uint32_t *history_owner; /* tid of who took that history; 0: free */
	int pendings_fd;		  /* hash: key of async.bpf.c -> struct pending */
	int pids_fd;			  /* array of struct pid_chunk: where in that array a task's state stands */
};

const struct wire_maps *probes_maps(const struct probes *p);

#endif
