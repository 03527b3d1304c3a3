/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rotation_context.h - what the next file of a rotated recording needs of those before it. Facts that come once (tasks that are
 * followed, names of files) are written again into each file where they are needed; of what a call that is under way may
 * be explained by (sleeps, requests, bios) the latest is written again at the beginning of a file. In bounded memory.
 */
#ifndef BT_RECORDING_ROTATION_CONTEXT_H
#define BT_RECORDING_ROTATION_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct carry;

/* Writes one record into the present file; may be called while the record lives only. */
typedef void carry_fn(void *ctx, const struct wire_head *record);

/* `recent`: bytes of sleeps, requests and bios that are kept. */
struct carry *carry_new(size_t recent, carry_fn *write, void *ctx);
void carry_free(struct carry *c); /* NULL is fine */

/* Writes a record that has come, and before it what it names and is not in this file. `size` in its head is trusted. */
void carry_record(struct carry *c, const struct wire_head *record);

/* A new file has begun. Its header is to say since when its facts are complete, CLOCK_MONOTONIC, and comes first. */
uint64_t carry_known_ns(const struct carry *c);

/* After that header: writes what was kept. */
void carry_begin_file(struct carry *c);

#endif
