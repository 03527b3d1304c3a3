/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map_sizes.h - how large the kernel side's maps are to be, from what there is (CPUs, disks, their queues and tags) and what they may
 * take. Plain arithmetic: machines that are not here can be planned for.
 */
#ifndef BT_PROBE_MAP_SIZES_H
#define BT_PROBE_MAP_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZES_DEFAULT (512ull << 20) /* bytes, without --memory: then the least is taken where even that is more */

/* Room for disks that appear while every disk is traced, and request slots for each of them. */
#define SIZES_SPARE_DISKS 8u
#define SIZES_SPARE_SLOTS 1024u

/* Where disks are named, room for one that takes the place of another: if no CPU has to share its counters for it. */
#define SIZES_SPARE_VIEWS 1u

struct sizes_disk {
	uint32_t hw_queues; /* 0: bio-based */
	uint32_t depth;	    /* tags of each */
};

struct sizes_input {
	uint32_t cpus; /* possible */
	uint32_t pid_max;
	uint32_t page; /* bytes */
	const struct sizes_disk *disk;
	size_t n_disks;
	uint32_t views; /* disks, and partitions that are shown on their own */
	bool all;	/* disks may appear */
	bool ledger, command, bios;
	uint64_t memory; /* bytes at most; 0: SIZES_DEFAULT */
};

struct sizes {
	uint32_t views, slots;		       /* spare ones included */
	uint32_t stripes;		       /* copies of each counter */
	uint32_t depth;			       /* of each hardware queue at most so many tags have a slot */
	uint32_t ring_bytes;		       /* a power of two */
	uint64_t counters, slot_bytes, tables; /* bytes; with ring_bytes they add up to: */
	uint64_t bytes;
	bool smaller_ring, fewer_slots; /* than would be taken were there no bound */
};

/*
 * What is largest is halved first, until all fits: copies of the counters down to one (which CPUs then share), the ring buffer
 * down to 1 MiB, slots down to 64 tags of a queue. False: it doesn't fit; *out is then the least that makes sense.
 */
bool sizes_plan(const struct sizes_input *in, struct sizes *out);

/* Slots of a disk. */
uint32_t sizes_slots(const struct sizes_disk *d, uint32_t depth);

#endif
