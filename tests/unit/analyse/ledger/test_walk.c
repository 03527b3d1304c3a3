// SPDX-License-Identifier: GPL-2.0-only
/* Slices one by one: what they are a part of, through whom they came, and when a task is known to have run. */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/timeline.h"
#include "analyse/ledger/walk.h"
#include "tap.h"

#define APP   100 /* the caller */
#define JBD2  50
#define OTHER 200
#define SDA   WIRE_DEV(8, 0)
#define KEY   1415 /* the end of the barrier write */

static struct timeline *tl;
static struct walk *w;

static void begin(void)
{
	walk_free(w);
	tl_free(tl);
	tl = tl_new(NULL, 0);
	w = walk_new(tl);
}

static void sleep_fact(struct wire_sleep s)
{
	s.head.size = WIRE_SLEEP_SHORT;
	tl_add_sleep(tl, &s);
}

#define SLEEP(...) sleep_fact((struct wire_sleep){ __VA_ARGS__ })

static void request_fact(struct wire_request r)
{
	r.dev = r.disk = SDA;
	r.tgid = r.tid;
	tl_add_request(tl, &r);
}

#define REQUEST(...) request_fact((struct wire_request){ __VA_ARGS__ })

static void follow(uint32_t tid, const char *comm, uint32_t kind, uint64_t since)
{
	struct wire_follow f = { .since = since, .tid = tid, .tgid = tid, .kind = kind };

	memcpy(f.comm, comm, strnlen(comm, 15));
	tl_add_follow(tl, &f);
}

static bool walk(struct wire_sync s, const struct walk_result **r)
{
	s.call = CALL_FSYNC;
	s.tid = s.tgid = APP;
	return walk_call(w, &s, r);
}

#define WALK(r, ...) walk((struct wire_sync){ __VA_ARGS__ }, r)

/* ---- slices ---- */

struct piece {
	uint64_t ns;
	enum cause cause;
	enum walk_part part;
	uint64_t barrier;
	const char *via; /* NULL: the caller itself */
	uint32_t dev;
};

static bool same(const struct walk_slice *s, const struct piece *p)
{
	const char *name[VIAS_DEPTH];
	size_t n = walk_via(w, s->via, name);

	return s->ns == p->ns && s->cause == p->cause && s->part == p->part && s->barrier == p->barrier &&
	       s->dev == p->dev && (p->via ? n == 1 && !strcmp(name[0], p->via) : n == 0);
}

static void is(const struct walk_result *r, const struct piece *p, size_t n, const char *what)
{
	bool good = r->n == n && !r->mended;

	for (size_t i = 0; good && i < n; i++)
		good = same(&r->slice[i], &p[i]);
	if (ok(good, "%s", what))
		return;
	for (size_t i = 0; i < r->n; i++)
		diag("%llu %s part %d barrier %llu via %u dev %x", (unsigned long long)r->slice[i].ns,
		     cause_name(r->slice[i].cause), r->slice[i].part, (unsigned long long)r->slice[i].barrier,
		     r->slice[i].via, r->slice[i].dev);
}

#define IS(r, pieces, what) is(r, pieces, sizeof(pieces) / sizeof((pieces)[0]), what)
#define J		    "jbd2/sda1-8"

static void barrier_write(uint32_t tid)
{
	REQUEST(.rq = 2, .done = KEY, .alloc = 1106, .tid = tid, .class = WIRE_WRITE_BARRIER, .flags = REQUEST_SEQUENCE,
		.pre = { .begin = 1107, .issue = 1115, .done = 1215, .in_flight = 1 },
		.data = { .begin = 1220, .issue = 1225, .done = 1300 },
		.post = { .begin = 1302, .issue = 1310, .done = 1410, .in_flight = 4 });
}

static void commit(void)
{
	const struct piece want[] = {
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },	   { 10, CAUSE_RUNQ, PART_JOURNAL, 0, J, 0 },
		{ 10, CAUSE_CPU, PART_JOURNAL, 0, J, 0 },	   { 68, CAUSE_DEVICE_WRITE, PART_JOURNAL, 0, J, SDA },
		{ 2, CAUSE_COMPLETION, PART_JOURNAL, 0, J, SDA },  { 4, CAUSE_RUNQ, PART_JOURNAL, 0, J, 0 },
		{ 6, CAUSE_CPU, PART_JOURNAL, 0, J, 0 },	   { 5, CAUSE_IOQ, PART_PRE, KEY, J, SDA },
		{ 100, CAUSE_FLUSH_PRE, PART_PRE, KEY, J, SDA },   { 5, CAUSE_COMPLETION, PART_PRE, KEY, J, SDA },
		{ 5, CAUSE_IOQ, PART_DATA, KEY, J, SDA },	   { 75, CAUSE_DEVICE_WRITE, PART_DATA, KEY, J, SDA },
		{ 2, CAUSE_FLUSH_WAIT, PART_POST, KEY, J, SDA },   { 8, CAUSE_COMPLETION, PART_POST, KEY, J, SDA },
		{ 100, CAUSE_FLUSH_POST, PART_POST, KEY, J, SDA }, { 6, CAUSE_COMPLETION, PART_JOURNAL, 0, J, SDA },
		{ 4, CAUSE_RUNQ, PART_JOURNAL, 0, J, 0 },	   { 80, CAUSE_CPU, PART_JOURNAL, 0, J, 0 },
		{ 5, CAUSE_RUNQ, PART_JOURNAL, 0, NULL, 0 },	   { 5, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
	};
	const struct walk_result *r;

	begin();
	follow(JBD2, J, TASK_KTHREAD, 5);
	REQUEST(.rq = 1, .done = 1098, .alloc = 1025, .tid = JBD2, .class = WIRE_WRITE_SYNC,
		.data = { .begin = 1026, .issue = 1028, .done = 1098 });
	barrier_write(JBD2);
	SLEEP(.tid = JBD2, .seq = 7, .off = 500, .wake = 1009, .on = 1020, .waker = APP, .waker_kind = TASK_USER,
	      .how = HOW_TASK);
	SLEEP(.tid = JBD2, .seq = 8, .off = 1030, .wake = 1100, .on = 1104, .rq = 1, .done = 1098, .how = HOW_REQUEST);
	SLEEP(.tid = JBD2, .seq = 9, .off = 1110, .wake = 1416, .on = 1420, .rq = 2, .done = KEY, .how = HOW_REQUEST);
	SLEEP(.tid = APP, .off = 1010, .wake = 1500, .on = 1505, .waker = JBD2, .waker_kind = TASK_KTHREAD,
	      .how = HOW_TASK);
	ok(WALK(&r, .enter = 1000, .exit = 1510), "a call that waits for a commit");
	IS(r, want, "its slices: of the call, the journal, and the steps of the barrier write");
	ok(r->flush_own_ns == 202 && !r->flush_foreign_ns && r->flushes == 2 && r->in_flight == 5 && !r->blind,
	   "two FLUSHes of its own");
	ok(WALK(&r, .enter = 1000, .exit = 1510) && r->flushes == 2, "they are counted for each call");
}

static void own_barrier_write(void)
{
	const struct piece want[] = {
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
		{ 5, CAUSE_IOQ, PART_PRE, 0, NULL, SDA },
		{ 100, CAUSE_FLUSH_PRE, PART_PRE, 0, NULL, SDA },
		{ 5, CAUSE_COMPLETION, PART_PRE, 0, NULL, SDA },
		{ 5, CAUSE_IOQ, PART_DATA, 0, NULL, SDA },
		{ 75, CAUSE_DEVICE_WRITE, PART_DATA, 0, NULL, SDA },
		{ 2, CAUSE_FLUSH_WAIT, PART_POST, 0, NULL, SDA },
		{ 8, CAUSE_COMPLETION, PART_POST, 0, NULL, SDA },
		{ 100, CAUSE_FLUSH_POST, PART_POST, 0, NULL, SDA },
		{ 6, CAUSE_COMPLETION, PART_OWN, 0, NULL, SDA },
		{ 4, CAUSE_RUNQ, PART_OWN, 0, NULL, 0 },
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
	};
	const struct walk_result *r;

	begin();
	barrier_write(APP);
	SLEEP(.tid = APP, .off = 1110, .wake = 1416, .on = 1420, .rq = 2, .done = KEY, .how = HOW_REQUEST);
	WALK(&r, .enter = 1100, .exit = 1430);
	IS(r, want, "a barrier write of the caller's own: steps of no commit");
}

static void empty_flush(void)
{
	const struct piece want[] = {
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },	   { 5, CAUSE_FLUSH_WAIT, PART_EMPTY, 0, NULL, SDA },
		{ 5, CAUSE_IOQ, PART_EMPTY, 0, NULL, SDA },	   { 80, CAUSE_FLUSH_ONLY, PART_EMPTY, 0, NULL, SDA },
		{ 6, CAUSE_COMPLETION, PART_EMPTY, 0, NULL, SDA }, { 4, CAUSE_RUNQ, PART_EMPTY, 0, NULL, 0 },
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
	};
	const struct walk_result *r;

	begin();
	REQUEST(.rq = 1, .done = 1102, .alloc = 1005, .tid = APP, .class = WIRE_FLUSH,
		.flags = REQUEST_SEQUENCE | REQUEST_ONLY, .pre = { .begin = 1015, .issue = 1020, .done = 1100 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1106, .on = 1110, .rq = 1, .done = 1102, .how = HOW_REQUEST);
	WALK(&r, .enter = 1000, .exit = 1120);
	IS(r, want, "an empty flush: until the sleeper runs again");
}

static void bio(void)
{
	const struct piece want[] = {
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
		{ 10, CAUSE_UNKNOWN, PART_OWN, 0, NULL, 0 },
		{ 30, CAUSE_FLUSH_PRE, PART_PRE, 1100, NULL, SDA },
		{ 50, CAUSE_DEVICE_WRITE, PART_OWN, 0, NULL, SDA },
		{ 4, CAUSE_UNKNOWN, PART_OWN, 0, NULL, 0 },
		{ 6, CAUSE_RUNQ, PART_OWN, 0, NULL, 0 },
		{ 10, CAUSE_CPU, PART_OWN, 0, NULL, 0 },
	};
	struct wire_bio b = {
		.queued = 1020, .flushed = 1050, .done = 1100, .tid = APP, .disk = SDA, .class = WIRE_WRITE_BARRIER
	};
	const struct walk_result *r;

	begin();
	tl_add_bio(tl, &b);
	SLEEP(.tid = APP, .off = 1010, .wake = 1104, .on = 1110, .how = HOW_IRQ);
	WALK(&r, .enter = 1000, .exit = 1120);
	IS(r, want, "a write with PREFLUSH in a disk without requests");
	ok(r->flush_own_ns == 30 && r->blind, "its FLUSH is the caller's, and not all is known");
}

/* ---- when all sleeps of the caller are known ---- */

static void complete(void)
{
	static const struct {
		const char *what;
		bool before, followed;	/* a sleep number 4 before the call; it is followed */
		uint32_t first, second; /* numbers of those in it */
		uint16_t sleeps, switches;
		bool known;
	} all[] = {
		{ "one after the other", true, false, 5, 6, 2, 2, true },
		{ "the first is missing", true, false, 6, 7, 2, 2, false },
		{ "where it is followed its sleeps between calls are counted, too", true, true, 9, 10, 2, 2, true },
		{ "the second is missing", true, true, 9, 11, 2, 2, false },
		{ "the same number twice", true, true, 9, 9, 2, 2, false },
		{ "the first ever", false, false, 9, 10, 2, 2, true },
		{ "a new task counts from 0", true, false, 0, 1, 2, 2, true },
		{ "the kernel counted more", true, false, 5, 6, 2, 3, false },
		{ "or fewer", true, false, 5, 6, 2, 1, false },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct walk_result *r;

		begin();
		if (all[i].followed)
			follow(APP, "app", TASK_USER, 5);
		if (all[i].before)
			SLEEP(.tid = APP, .seq = 4, .off = 900, .wake = 900, .on = 910, .how = HOW_PREEMPTED);
		SLEEP(.tid = APP, .seq = all[i].first, .off = 1010, .wake = 1010, .on = 1020, .how = HOW_PREEMPTED);
		SLEEP(.tid = APP, .seq = all[i].second, .off = 1030, .wake = 1030, .on = 1040, .how = HOW_PREEMPTED);
		/* behind the call: it does not matter */
		SLEEP(.tid = APP, .seq = 77, .off = 1100, .wake = 1100, .on = 1140, .how = HOW_PREEMPTED);
		ok(WALK(&r, .enter = 1000, .exit = 1100, .sleeps = all[i].sleeps, .switches = all[i].switches) ==
			   all[i].known,
		   "sleeps of the caller: %s", all[i].what);
		ok(all[i].known || walk_why(w) == NO_LEDGER_DROPPED, "facts were dropped");
		ok(walk_missed_switches(w) == (all[i].sleeps != all[i].switches),
		   "and switches, if the kernel's number says so");
	}
}

/*
 * Woken at 1,030 and seen to run at 1,090 only. In the rest of the call it waited for 12 ns; what the kernel counted beyond these was then.
 */
static void came_unseen(void)
{
	static const struct {
		const char *what;
		uint64_t waited; /* by the kernel's count, in the call */
		uint64_t runq, cpu, unknown;
		bool again;   /* a second time, in [1150, 1170) */
		bool no_wake; /* the last sleep's end was not seen */
	} all[] = {
		{ "the kernel's count tells how long it waited", 42, 42, 138, 0, false, false },
		{ "not at all", 12, 12, 168, 0, false, false },
		{ "it counted less than was seen", 5, 12, 168, 0, false, false },
		{ "or more than there is", 200, 72, 108, 0, false, false },
		{ "it has no count", 0, 12, 108, 60, false, false },
		{ "which of two waits it was can't be told", 42, 12, 88, 80, true, false },
		{ "nor where something else was not seen", 42, 10, 108, 62, false, true },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t enter = all[i].waited ? 1000000 : 0, sleeps = all[i].again ? 4 : 3;
		const struct walk_result *r;

		begin();
		SLEEP(.tid = APP, .seq = 0, .off = 1010, .wake = 1030, .on = 1030, .how = HOW_REQUEST, .rq = 1,
		      .done = 1030);
		REQUEST(.rq = 1, .done = 1030, .alloc = 1010, .tid = APP, .class = WIRE_WRITE_SYNC,
			.data = { .begin = 1010, .issue = 1010, .done = 1030 });
		SLEEP(.tid = APP, .seq = 1, .off = 1030, .on = 1090, .how = HOW_UNSEEN);
		if (all[i].again)
			SLEEP(.tid = APP, .seq = 2, .off = 1150, .on = 1170, .how = HOW_UNSEEN);
		SLEEP(.tid = APP, .seq = (uint32_t)sleeps - 1, .off = 1180, .wake = all[i].no_wake ? 0 : 1180,
		      .on = 1182, .how = all[i].no_wake ? HOW_UNKNOWN : HOW_PREEMPTED);
		SLEEP(.tid = APP, .seq = (uint32_t)sleeps, .off = 1184, .wake = 1184, .on = 1194, .how = HOW_PREEMPTED);
		ok(WALK(&r, .enter = 1000, .exit = 1200, .sleeps = (uint16_t)(sleeps + 1),
			.switches = (uint16_t)(sleeps + 1), .waited_enter = enter, .waited_exit = enter + all[i].waited) &&
			   r->ledger.ns[CAUSE_RUNQ] == all[i].runq && r->ledger.ns[CAUSE_CPU] == all[i].cpu &&
			   r->ledger.ns[CAUSE_UNKNOWN] == all[i].unknown && !r->mended,
		   "it came onto a CPU unseen: %s", all[i].what);
	}
}

/* ---- when a helper is known to have run ---- */

/* The caller sleeps in [1010, 1090) until the helper wakes it. The helper's last sleep is number 5 and ended at `on`. */
static void helper_ran(void)
{
	static const struct {
		const char *what;
		uint64_t since, on;
		uint32_t next;	      /* what its next sleep's number will be; 0: not known */
		uint64_t enter, exit; /* a call of its own */
		uint64_t known;
	} all[] = {
		{ "its next sleep is the one that follows", 5, 1000, 6, 0, 0, 80 },
		{ "a sleep is missing", 5, 1000, 7, 0, 0, 0 },
		{ "nothing is known since its last sleep", 5, 1000, 0, 0, 0, 0 },
		{ "its last sleep ended in the caller's", 5, 1020, 0, 0, 0, 70 },
		{ "or began with it", 5, 1010, 0, 0, 0, 0 },
		{ "also where nobody saw it begin to be followed", 0, 1020, 0, 0, 0, 70 },
		{ "it is followed from the end of that sleep on", 1020, 1020, 0, 0, 0, 70 },
		{ "not where it was known only for a call of its own, which has ended", 0, 1020, 0, 990, 1050, 30 },
		{ "likewise just before", 0, 1020, 0, 990, 1089, 69 },
		{ "but where it is followed beside", 1020, 1020, 0, 990, 1050, 70 },
		{ "not where it is so later", 1021, 1020, 0, 990, 1050, 30 },
		{ "its sleeps in a call of its own are known", 0, 1000, 0, 1030, 1060, 30 },
		{ "also when the call ends after the caller has run", 0, 1020, 0, 990, 1095, 70 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct wire_sync own = {
			.enter = all[i].enter, .exit = all[i].exit, .tid = OTHER, .tgid = OTHER, .comm = "hog"
		};
		const struct walk_result *r;
		uint64_t asleep = all[i].on > 1010 ? all[i].on - 1010 : 0;

		begin();
		if (all[i].since)
			follow(OTHER, "hog", TASK_USER, all[i].since);
		SLEEP(.tid = OTHER, .seq = 5, .off = 900, .wake = 900, .on = all[i].on, .how = HOW_PREEMPTED);
		if (all[i].exit)
			tl_add_call(tl, &own, true);
		SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .waker_kind = TASK_USER,
		      .how = HOW_TASK, .rq = all[i].next, .done = all[i].next ? 1 : 0);
		WALK(&r, .enter = 1000, .exit = 1100);
		ok(r->ledger.ns[CAUSE_CPU] == 20 + all[i].known && r->ledger.ns[CAUSE_RUNQ] == asleep &&
			   r->ledger.ns[CAUSE_UNKNOWN] == 80 - all[i].known - asleep &&
			   r->blind == (all[i].known + asleep < 80),
		   "a helper ran: %s", all[i].what);
	}
}

int main(void)
{
	commit();
	own_barrier_write();
	empty_flush();
	bio();
	complete();
	came_unseen();
	helper_ran();
	walk_free(w);
	walk_free(NULL);
	tl_free(tl);
	return tap_done();
}
