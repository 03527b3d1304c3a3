/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The geometry of every histogram, shared by the kernel side and user space.
 *
 * Log-linear: each power of two is cut into HIST_SUB equal buckets, so a bucket is at most
 * 1/HIST_SUB of its lower bound wide: any value taken from a bucket is off by at most 1/64, and the
 * middle of one by half of that: 0.8 %.
 * Values below HIST_SUB have a bucket each and are exact. Values from 2^HIST_TOP_BITS on (18
 * minutes, in nanoseconds) share the last bucket; the exact maximum is kept beside.
 */
#ifndef BT_HIST_GEOMETRY_H
#define BT_HIST_GEOMETRY_H

#define HIST_SUB_BITS	6
#define HIST_SUB	(1u << HIST_SUB_BITS)
#define HIST_TOP_BITS	40
#define HIST_BUCKETS	((HIST_TOP_BITS - HIST_SUB_BITS + 1) * HIST_SUB)

/* Floor of the binary logarithm; 0 for 0. BPF before -mcpu=v4 has no count-leading-zeros. */
static inline __attribute__((always_inline)) unsigned int hist_log2(unsigned long long v)
{
#ifndef __bpf__
	return 63 - (unsigned int)__builtin_clzll(v | 1);
#else
	unsigned int r = 0;

	if (v >> 32) { v >>= 32; r += 32; }
	if (v >> 16) { v >>= 16; r += 16; }
	if (v >> 8) { v >>= 8; r += 8; }
	if (v >> 4) { v >>= 4; r += 4; }
	if (v >> 2) { v >>= 2; r += 2; }
	return r + (unsigned int)(v >> 1);
#endif
}

/* The bucket of a value, 0 to HIST_BUCKETS - 1. */
static inline __attribute__((always_inline)) unsigned int hist_index(unsigned long long v)
{
	unsigned int e;

	if (v < HIST_SUB)
		return (unsigned int)v;
	if (v >> HIST_TOP_BITS)
		return HIST_BUCKETS - 1;
	e = hist_log2(v);
	return (e - HIST_SUB_BITS + 1) * HIST_SUB +
	       (unsigned int)((v >> (e - HIST_SUB_BITS)) & (HIST_SUB - 1));
}

/* The smallest value of a bucket. */
static inline __attribute__((always_inline)) unsigned long long hist_lower(unsigned int i)
{
	unsigned int e;

	if (i < HIST_SUB)
		return i;
	e = i / HIST_SUB + HIST_SUB_BITS - 1;
	return (1ull << e) + ((unsigned long long)(i % HIST_SUB) << (e - HIST_SUB_BITS));
}

/* The largest value of a bucket, inclusive. */
static inline __attribute__((always_inline)) unsigned long long hist_upper(unsigned int i)
{
	return hist_lower(i + 1) - 1;
}

#endif
