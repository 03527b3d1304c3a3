/* SPDX-License-Identifier: GPL-2.0-only */
/* covered_devices.h - disks and partitions by who uses them. */
#ifndef BT_HOST_COVERED_DEVICES_H
#define BT_HOST_COVERED_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covered_devices {
	uint32_t *dev; /* kernel dev_t */
	size_t n;
};

/*
 * Those that nobody uses but mounted file systems of types that `covers` accepts: themselves, or by way of dm and md. A file system that
 * is mounted in another mount namespace only is not seen: its device counts as used by somebody else.
 */
void covered_devices_read(bool (*covers)(const void *ctx, const char *fstype), const void *ctx,
			  struct covered_devices *out);
void covered_devices_free(struct covered_devices *c);

#endif
