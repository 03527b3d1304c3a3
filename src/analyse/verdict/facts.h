/* SPDX-License-Identifier: GPL-2.0-only */
/* facts.h - what verdict.c (which class) and words.c (how to say it) go by. Private to the three. */
#ifndef BT_ANALYSE_VERDICT_FACTS_H
#define BT_ANALYSE_VERDICT_FACTS_H

#include "model/report.h"
#include "util/buf.h"

#define TWICE 2 /* clearly more than something else */

/* What competes for being the reason: causes of the ledger, put together as far as one remedy helps them all. */
/* clang-format off */
enum group {
	GROUP_FLUSH, GROUP_WRITE, GROUP_READ, GROUP_FUA, GROUP_DISCARD,
	GROUP_VOLUME,		/* the many writes of a call, behind each other */
	GROUP_BUSY,		/* of the first five, what goes to other requests in the device's queue */
	GROUP_SCHEDULER, GROUP_THROTTLE, GROUP_RUNQ, GROUP_JOURNAL, GROUP_LOCK, GROUP_CPU, GROUP_UNKNOWN,
	GROUPS
};

/* Why calls are taken for unsafe. */
enum unsafe {
	SAFE, UNSAFE_NOBARRIER, UNSAFE_RANGE, UNSAFE_NO_FLUSH, UNSAFE_WRITE_THROUGH, UNSAFE_TOO_FAST
};
/* clang-format on */

struct facts {
	const struct report *r;
	const struct report_sync *s;
	const struct report_device *dev; /* where most of the calls' I/O went; NULL: no device was traced */
	uint64_t flush_mean, flush_p50;	 /* of dev; 0: no FLUSH */
	uint64_t write_mean, write_p50, write_fast;
	double ahead;			/* others in the device when a FLUSH was issued; without FLUSHes, on average */
	bool flush_queued, data_queued; /* they are long because of the others in the device's queue */
	struct volume volume; /* of the report's, or of calls that write for everybody (sync, syncfs): all that the device wrote */
	bool for_everybody; /* the latter */
	bool own_queue; /* most of what is in the device\'s queue is of such calls: then what they wait for it is GROUP_VOLUME */
	uint64_t ns[GROUPS];
	enum group first, second; /* the largest two */
	const struct report_device *flushed; /* most of the run went to FLUSHes of this disk, whoever sent them; NULL: none did any */
	uint64_t flushes, flushes_ns;	     /* of it */
	const struct report_device *written; /* most time went to durable writes of others to this disk; NULL: to none */
	uint64_t writes, writes_ns;	     /* of it, at most */
	const struct report_outstanding *hung; /* has not returned: the oldest of those that the verdict may be about; NULL: none */
	double hung_ns;			       /* what all of these took of the run */
	const char *near; /* of a class that was chosen, the other one that is near: as report_verdict.second */
	enum unsafe unsafe;
	const struct report_device *unsafe_dev;
	const struct report_mount *unsafe_mount;
};

/* Of a report with sync calls; `unsafe` and what goes with it is left to the rules. */
void facts_of(const struct report *r, struct facts *f);

/* The same facts, but these calls in place of the report's. *s is what to->s is then; it owns nothing. */
void facts_with_calls(const struct facts *f, const struct call_sums *calls, struct report_sync *s, struct facts *to);

/* After a change of what the others in the queue are, or how long a FLUSH takes: what waits for them, and the order of the groups. */
void facts_of_queue(struct facts *f);

const struct tally *facts_flush_hist(const struct report_device *d);

/* "write back" or "write through", as the kernel sees it. */
bool facts_cache_is(const struct report_device *d, const char *cache);

/* Its mount without barriers, if it has a volatile cache; NULL: there is none. */
const struct report_mount *facts_nobarrier(const struct report_device *d);

/* Does the first send its bios on to the second, or to a partition of it? */
bool facts_is_leg(const struct report_device *top, const struct report_device *d);

/* Which group a cause belongs to in this run. */
enum group facts_group(const struct facts *f, enum cause c);

/* ---- outstanding.c: calls that have not returned ---- */

void outstanding_facts(struct facts *f);
/* These three where f->hung is one; *family: -1 for none. */
const char *outstanding_class(const struct facts *f, int *family);
const char *const *outstanding_advice(const struct facts *f);
void outstanding_say(const struct facts *f, struct buf *b);
void outstanding_say_began(const struct facts *f,
			   struct buf *b); /* of calls from before that have returned; where there are any */

/* The class of these facts; NULL: it is about calls that have not returned. */
const char *verdict_class(struct facts *f);

/* ---- confidence.c: of a class and scope that were chosen; r->verdict.confidence and .second ---- */

void verdict_confidence(struct facts *f, struct report_verdict *v); /* and f->near */

/* ---- tail_words.c: s->tail.sentence, where there is a tail ---- */

void tail_words(struct report_sync *s);

/* The words for a class that was chosen: r->verdict.sentence, evidence, advice. */
void verdict_words(const struct facts *f, struct report_verdict *v);

#endif
