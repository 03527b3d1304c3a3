/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline.h - what is remembered of tasks' sleeps and of requests, for as long as a sync call may still ask for it.
 * Memory is bounded whatever the length of the run: what doesn't fit any more is forgotten, oldest first, and the
 * timeline knows since when it is complete.
 */
#ifndef BT_ANALYSE_LEDGER_TIMELINE_H
#define BT_ANALYSE_LEDGER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ledger/functions.h"
#include "model/names.h"
#include "wire.h"

struct tl_sleep {
	uint64_t off, wake, on; /* as in struct wire_sleep */
	uint64_t rq, done;
	uint32_t waker, seq;
	uint8_t how;	    /* enum wire_how */
	uint8_t class;	    /* enum stack_class */
	uint8_t waker_kind; /* enum wire_task_kind, or 0 */
	uint8_t idle;	    /* for want of work */
	uint32_t bio;	    /* see tl_bio(); 0: none */
};

struct tl_task {
	uint32_t tid, tgid;
	uint64_t since;	      /* of its WIRE_FOLLOW record; 0: none seen */
	uint64_t lost;	      /* sleeps that ended up to then may have been forgotten */
	uint64_t enter, exit; /* its last sync call that has ended; 0: none */
	uint64_t waited;      /* at its end: see struct wire_sync */
	uint16_t voluntary;   /* likewise */
	char name[16];	      /* its comm but for numbers, padded with NULs; "" if not known */
	uint8_t kind;	      /* enum wire_task_kind, or 0 */
	uint32_t bio;	      /* number of the last bio that ended a sleep of it */
	uint32_t work_bio;    /* and of the last one that queued a work of it */
	/* sleeps by the time that they ended, in a ring: see tl_at() */
	struct tl_sleep *ring;
	uint32_t cap, head, n;
	/* the table's own */
	uint32_t newer, older; /* by last use */
};

struct tl_request {
	struct wire_request r;
	uint64_t call; /* the last call whose FLUSH count it is in, and the steps counted there */
	uint32_t steps;
};

struct timeline;

struct timeline *tl_new(const struct kernel_symbol *symbols, size_t n);
void tl_free(struct timeline *tl); /* NULL is fine */

/* A sleep's record may end before its stack: its head says so. Each returns false if the record makes no sense; then nothing has changed. */
bool tl_add_sleep(struct timeline *tl, const struct wire_sleep *s);
bool tl_add_request(struct timeline *tl, const struct wire_request *r);
bool tl_add_bio(struct timeline *tl, const struct wire_bio *b);
bool tl_add_work(struct timeline *tl, const struct wire_work *w);
bool tl_add_follow(struct timeline *tl, const struct wire_follow *f);

/* What ended before that time makes room for what comes, but for each task's last sleep. Callers that have ended go altogether. */
void tl_forget(struct timeline *tl, uint64_t until);

/* Notes that a call has ended, after it was walked, and whether the caller's sleeps within it are all known. */
void tl_add_call(struct timeline *tl, const struct wire_sync *s, bool complete);

/* NULL: never heard of, or forgotten. Valid until the next tl_add_*(). */
const struct tl_task *tl_task(const struct timeline *tl, uint32_t tid);
struct tl_request *tl_request(const struct timeline *tl, uint64_t rq, uint64_t done);

/* The bio of a disk without requests whose completion ended this sleep; NULL: none, or forgotten. Valid as above. */
const struct wire_bio *tl_bio(const struct timeline *tl, const struct tl_sleep *s);

/* Work number `no` of a worker; NULL: not known, or forgotten. Valid as above. */
const struct wire_work *tl_work(const struct timeline *tl, uint32_t tid, uint32_t no);
/* The number of the bio whose completion queued it, as in struct tl_sleep; 0: not known. */
uint32_t tl_work_bio(const struct timeline *tl, const struct wire_work *w);
/* Of what it runs; NULL: none that is known. */
const char *tl_work_name(const struct timeline *tl, const struct wire_work *w);

static inline const struct tl_sleep *tl_at(const struct tl_task *t, uint32_t i)
{
	return &t->ring[(t->head + i) & (t->cap - 1)];
}

/* Index of the first sleep that ended after `time`; t->n if there is none. */
uint32_t tl_first(const struct tl_task *t, uint64_t time);

#endif
