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

#define HIST_SUB_BITS 6
#define HIST_SUB      (1u << HIST_SUB_BITS)
#define HIST_TOP_BITS 40
#define HIST_BUCKETS  ((HIST_TOP_BITS - HIST_SUB_BITS + 1) * HIST_SUB)

/*
 * Floor of the binary logarithm; 0 for 0. Without branches: those of a search would be mispredicted, and each is a way of its own for
 * the verifier. All bits below the highest are set; what the product's upper six bits then are is another for each.
 */
static inline __attribute__((always_inline)) unsigned int hist_log2_smear(unsigned long long v)
{
	/* clang-format off */
	static const unsigned char of[64] = {
		0, 58, 1, 59, 47, 53, 2, 60, 39, 48, 27, 54, 33, 42, 3, 61,
		51, 37, 40, 49, 18, 28, 20, 55, 30, 34, 11, 43, 14, 22, 4, 62,
		57, 46, 52, 38, 26, 32, 41, 50, 36, 17, 19, 29, 10, 13, 21, 56,
		45, 25, 31, 35, 16, 9, 12, 44, 24, 15, 8, 23, 7, 6, 5, 63,
	};
	/* clang-format on */

	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	return of[(v * 0x03f6eaf2cd271461ull) >> 58];
}

/* The same. BPF before -mcpu=v4 has no count-leading-zeros. */
static inline __attribute__((always_inline)) unsigned int hist_log2(unsigned long long v)
{
#ifndef __bpf__
	return 63 - (unsigned int)__builtin_clzll(v | 1);
#else
	return hist_log2_smear(v);
#endif
}

/* The bucket of a value, 0 to HIST_BUCKETS - 1. */
static inline __attribute__((always_inline)) unsigned int hist_index(unsigned long long v)
{
	const unsigned long long top = (1ull << HIST_TOP_BITS) - 1;
	unsigned int cut;
#ifdef __bpf__
	unsigned long long above = -(v >> HIST_TOP_BITS);

	/* or clang makes a branch of it */
	asm volatile("" : "+r"(above));
	v = (v | -(above >> 63)) & top;
#else
	v = v < top ? v : top;
#endif
	cut = hist_log2(v | HIST_SUB) - HIST_SUB_BITS;
	return cut * HIST_SUB + (unsigned int)(v >> cut);
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
