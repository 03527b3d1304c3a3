/* SPDX-License-Identifier: GPL-2.0-only */
/* names.h - what numbers in facts stand for: of devices and of kernel functions. */
#ifndef BT_MODEL_NAMES_H
#define BT_MODEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Where a kernel function lies, or what stands for that (probe/addresses.h): to tell what a sleeping task's stack means. */
struct kernel_symbol {
	char name[48];
	uint64_t start, end; /* [start, end) */
};

/* What a device number that calls or requests name stands for. */
struct device_name {
	uint32_t dev;	 /* kernel dev_t: of a file system (may be anonymous, btrfs), a partition or a disk */
	char name[32];	 /* kernel name of the device: "sda1"; for an anonymous one its first disk's */
	char mount[256]; /* where it is mounted, "" if it isn't */
	char fstype[16];
	bool traced;	     /* its requests are traced */
	bool volatile_cache; /* its disk has a write-back cache */
	bool nobarrier;	     /* its file system is mounted to send no FLUSH */
};

#endif
