/* SPDX-License-Identifier: GPL-2.0-only */
/* syscalls.h - private to probe/: the numbers of the system calls that can be sync calls. */
#ifndef BT_PROBE_SYSCALLS_H
#define BT_PROBE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "probe/probe.h"

void syscalls_fill(struct bt_config *cfg);

/* Can that be the number of a call of this kind (enum wire_call), of a program of whatever kind? */
bool syscalls_can_be(long nr, uint32_t call);

#endif
