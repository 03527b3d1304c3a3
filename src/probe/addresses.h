/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * addresses.h - facts without the kernel's addresses, which would give away where it lies in memory (KASLR) to whoever reads a recording.
 * Functions get numbers, requests a keyed hash. What is analysed is what is recorded.
 */
#ifndef BT_PROBE_ADDRESSES_H
#define BT_PROBE_ADDRESSES_H

#include <stddef.h>

#include "model/names.h"
#include "util/err.h"
#include "wire.h"

struct addresses;

/* Puts numbers into the place of the symbols' addresses: those that facts will have. */
int addresses_new(struct kernel_symbol *symbols, size_t n, struct addresses **out, struct err *e);
void addresses_free(struct addresses *a); /* NULL is fine */

/* The same fact without addresses: itself, or a copy that is valid until the next call. */
const struct wire_head *addresses_replace(struct addresses *a, const struct wire_head *fact);

#endif
