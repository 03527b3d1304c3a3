/* SPDX-License-Identifier: GPL-2.0-only */
/* call_recorder.h - keeps every call with its slices, and every request that came with them: struct report_detail. Bounded. */
#ifndef BT_ANALYSE_LEDGER_CALL_RECORDER_H
#define BT_ANALYSE_LEDGER_CALL_RECORDER_H

#include "model/report.h"
#include "analyse/ledger/walk.h"
#include "wire.h"

struct detail;

struct detail *detail_new(uint64_t start_ns);
void detail_free(struct detail *d); /* NULL is fine */

/* The index of a name; the same for the same text. */
uint32_t detail_name(struct detail *d, const char *text);

/* The index of a name that is nobody else's, and may turn out to be another one. */
uint32_t detail_own_name(struct detail *d, const char *text);
void detail_rename(struct detail *d, uint32_t name, const char *to);

/* `path` and `device` of the file; via[] and dev[] of each slice are names already. */
void detail_add_call(struct detail *d, const struct wire_sync *s, uint32_t path, uint32_t device, const struct ledger *l);

/* A slice of the call that was added last, in order of time. */
void detail_add_slice(struct detail *d, const struct walk_slice *s, uint32_t via, uint32_t device);

void detail_add_request(struct detail *d, const struct wire_request *r, uint32_t device, uint32_t disk);

/* What was kept so far; the caller's. Nothing may be added any more. */
struct report_detail *detail_take(struct detail *d);

#endif
