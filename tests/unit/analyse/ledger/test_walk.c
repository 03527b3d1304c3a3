// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices one by one: what they are a part of, through whom they came, and when a task is known to have run: golden/walks.txt has the slices
 * of each.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/timeline.h"
#include "analyse/ledger/walk.h"
#include "situations.h"

#define APP   100 /* the caller */
#define JBD2  50
#define OTHER 200
#define SDA   WIRE_DEV(8, 0)
#define KEY   1415 /* the end of the barrier write */

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Where a task may sleep. */
#define IN_JOURNAL 0x1000
#define IN_TAG	   0x2000
static const struct kernel_symbol symbols[] = {
	{ "start_this_handle", IN_JOURNAL, IN_JOURNAL + 0x100 },
	{ "blk_mq_get_tag", IN_TAG, IN_TAG + 0x100 },
};

static struct timeline *tl;
static struct walk *w;

static void begin(void)
{
	walk_free(w);
	tl_free(tl);
	tl = tl_new(symbols, LEN(symbols));
	w = walk_new(tl);
}

static void sleep_fact(struct wire_sleep s)
{
	s.head.size = s.stack_len ? sizeof(s) : WIRE_SLEEP_SHORT;
	tl_add_sleep(tl, &s);
}

#define SLEEP(...) sleep_fact((struct wire_sleep){ __VA_ARGS__ })

static void request_fact(struct wire_request r)
{
	r.dev = r.disk = SDA;
	r.tgid = r.tgid ? r.tgid : r.tid;
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

/* A task that ran from 1,000 on: its next sleep is to be number 6. */
static void ran(uint32_t tid)
{
	SLEEP(.tid = tid, .seq = 5, .off = 900, .wake = 900, .on = 1000, .how = HOW_PREEMPTED);
}

/* It wakes the caller, who slept from 1,010, at 1,090. */
static void woken_by(uint32_t tid, uint32_t kind, uint32_t next_seq)
{
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = tid, .waker_kind = kind, .how = HOW_TASK,
	      .rq = next_seq, .done = 1);
}

/* ---- slices ---- */

static void through(uint32_t via)
{
	const char *name[VIAS_DEPTH];
	size_t n = walk_via(w, via, name);

	for (size_t i = 0; i < n; i++)
		SAY("%s%s", i ? ", " : " by way of ", name[i]);
}

static void says(const struct walk_result *r, const char *what)
{
	SAY("%s:\n", what);
	for (size_t i = 0; i < r->n; i++) {
		const struct walk_slice *s = &r->slice[i];

		SAY("  %llu %s", (unsigned long long)s->ns, cause_name(s->cause));
		through(s->via);
		SAY(s->dev ? " in %x\n" : "\n", s->dev);
	}
	also("flush_own_ns", r->flush_own_ns);
	also("flush_foreign_ns", r->flush_foreign_ns);
	also("flushes", r->flushes);
	also("in_flight", r->in_flight);
	also("not all is known", r->blind);
	ok(!r->mended, "%s: it tiles", what);
}

#define J "jbd2/sda1-8"

static void barrier_write(uint32_t tid)
{
	REQUEST(.rq = 2, .done = KEY, .alloc = 1106, .tid = tid, .class = WIRE_WRITE_BARRIER, .flags = REQUEST_SEQUENCE,
		.pre = { .begin = 1107, .issue = 1115, .done = 1215, .in_flight = 1 },
		.data = { .begin = 1220, .issue = 1225, .done = 1300 },
		.post = { .begin = 1302, .issue = 1310, .done = 1410, .in_flight = 4 });
}

TEST(commit)
{
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
	WALK(&r, .enter = 1000, .exit = 1510);
	says(r, "its slices: of the call, the journal, and the steps of the barrier write");
}

TEST(empty_flush)
{
	const struct walk_result *r;

	begin();
	REQUEST(.rq = 1, .done = 1102, .alloc = 1005, .tid = APP, .class = WIRE_FLUSH,
		.flags = REQUEST_SEQUENCE | REQUEST_ONLY, .pre = { .begin = 1015, .issue = 1020, .done = 1100 });
	SLEEP(.tid = APP, .off = 1010, .wake = 1106, .on = 1110, .rq = 1, .done = 1102, .how = HOW_REQUEST);
	WALK(&r, .enter = 1000, .exit = 1120);
	says(r, "an empty flush: until the sleeper runs again");
}

TEST(bio)
{
	struct wire_bio b = {
		.queued = 1020, .flushed = 1050, .done = 1100, .tid = APP, .disk = SDA, .class = WIRE_WRITE_BARRIER
	};
	const struct walk_result *r;

	begin();
	tl_add_bio(tl, &b);
	SLEEP(.tid = APP, .off = 1010, .wake = 1104, .on = 1110, .how = HOW_IRQ);
	WALK(&r, .enter = 1000, .exit = 1120);
	says(r, "a write with PREFLUSH in a disk without requests");
}

/* ---- what a slice is a part of ---- */

/* The journal counts as such for those who wait for it themselves. */
TEST(behind_another)
{
	const struct walk_result *r;

	begin();
	follow(OTHER, "hog", TASK_USER, 5);
	follow(JBD2, J, TASK_KTHREAD, 5);
	ran(JBD2);
	ran(OTHER);
	SLEEP(.tid = OTHER, .seq = 6, .off = 1020, .wake = 1070, .on = 1070, .waker = JBD2, .waker_kind = TASK_KTHREAD,
	      .how = HOW_TASK, .rq = 6, .done = 1);
	woken_by(OTHER, TASK_USER, 7);
	WALK(&r, .enter = 1000, .exit = 1100);
	says(r, "another that waits for the journal");
}

TEST(woken_before_it_slept)
{
	const struct walk_result *r;

	begin();
	follow(JBD2, J, TASK_KTHREAD, 5);
	SLEEP(.tid = APP, .off = 1010, .wake = 1010, .on = 1015, .waker = JBD2, .waker_kind = TASK_KTHREAD,
	      .how = HOW_TASK);
	WALK(&r, .enter = 1000, .exit = 1100);
	says(r, "woken by the journal before it slept: it did not wait for that");
}

/* ---- requests ---- */

/* The caller sleeps from 1,010 until its FLUSH, which was begun at 1,020 and issued at 1,080, is done at 1,100. */
TEST(issuers)
{
	static const struct {
		const char *what;
		uint64_t wake, on; /* of who issued it */
		uint32_t who;
	} all[] = {
		{ "it was told, waited for a CPU, and ran", 1030, 1050, OTHER },
		{ "who told it was not seen", 0, 1050, OTHER },
		{ "it had a CPU at once", 1030, 1030, OTHER },
		{ "it did so as soon as it had a CPU", 1030, 1080, OTHER },
		{ "it ran before", 900, 1015, OTHER },
		{ "it is not followed", 0, 0, OTHER },
		{ "it ran before it was woken: nonsense", 1060, 1050, OTHER },
		{ "it ran only afterwards: nonsense", 1030, 1081, OTHER },
		{ "a task that is not known", 1030, 1050, 999 },
		{ "who is not known", 1030, 1050, 0 },
		{ "the caller itself", 1030, 1050, APP },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		const struct walk_result *r;

		begin();
		follow(OTHER, "hog", TASK_USER, 5);
		follow(APP, "app", TASK_USER, 5);
		REQUEST(.rq = 1, .done = 1100, .alloc = 1005, .tid = APP, .class = WIRE_FLUSH,
			.flags = REQUEST_SEQUENCE | REQUEST_ONLY,
			.pre = { .begin = 1020,
				 .issue = 1080,
				 .done = 1100,
				 .issuer = all[i].who,
				 .issuer_wake = all[i].wake,
				 .issuer_on = all[i].on });
		SLEEP(.tid = APP, .off = 1010, .wake = 1100, .on = 1100, .rq = 1, .done = 1100, .how = HOW_REQUEST);
		WALK(&r, .enter = 1000, .exit = 1110);
		says(r, all[i].what);
	}
}

/* The caller sleeps from 1,010 until its barrier write is done at 1,190. */
TEST(half_known_requests)
{
	const struct wire_step pre = { .begin = 1030, .issue = 1040, .done = 1090 },
			       data = { .begin = 1092, .issue = 1100, .done = 1150 },
			       post = { .begin = 1152, .issue = 1160, .done = 1180 };
	const struct {
		const char *what;
		struct wire_request r;
	} all[] = {
		{ "all of it", { .alloc = 1005, .pre = pre, .data = data, .post = post } },
		{ "not when it came into being", { .pre = pre, .data = data } },
		{ "when it did so is no good", { .alloc = 1020, .flags = REQUEST_NO_START, .pre = pre, .data = data } },
		{ "nor when its first step began", { .pre = { .issue = 1040, .done = 1090 }, .data = data } },
		{ "a first FLUSH without an end", { .alloc = 1005, .pre = { .begin = 1030, .issue = 1040 }, .data = data } },
		{ "nor is the data's beginning known",
		  { .alloc = 1005, .pre = { .begin = 1030, .issue = 1040 }, .data = { .issue = 1100, .done = 1150 } } },
		{ "of the first FLUSH only the end", { .alloc = 1005, .pre = { .done = 1090 }, .data = data } },
		{ "data without an end",
		  { .alloc = 1005, .pre = pre, .data = { .begin = 1092, .issue = 1100 }, .post = post } },
		{ "of the data only the end", { .alloc = 1005, .pre = pre, .data = { .done = 1150 } } },
		{ "a last FLUSH without an end",
		  { .alloc = 1005, .pre = pre, .data = data, .post = { .begin = 1152, .issue = 1160 } } },
		{ "or without a beginning",
		  { .alloc = 1005, .pre = pre, .data = data, .post = { .issue = 1160, .done = 1180 } } },
		{ "the first FLUSH alone", { .alloc = 1005, .pre = pre } },
		{ "no step", { .alloc = 1005 } },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct wire_request q = all[i].r;
		const struct walk_result *r;

		begin();
		q.rq = 1;
		q.done = 1190;
		q.tid = APP;
		q.class = WIRE_WRITE_BARRIER;
		q.flags |= REQUEST_SEQUENCE;
		request_fact(q);
		SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190, .how = HOW_REQUEST);
		WALK(&r, .enter = 1000, .exit = 1200);
		says(r, all[i].what);
	}
}

TEST(flushes_waited_for)
{
	const struct walk_result *r;

	begin();
	barrier_write(APP);
	SLEEP(.tid = APP, .off = 1250, .wake = 1416, .on = 1420, .rq = 2, .done = KEY, .how = HOW_REQUEST);
	WALK(&r, .enter = 1240, .exit = 1430);
	says(r, "a FLUSH that was over before the sleep is not counted");
	begin();
	barrier_write(APP);
	SLEEP(.tid = APP, .off = 1215, .wake = 1310, .on = 1310, .rq = 2, .done = KEY, .how = HOW_REQUEST);
	WALK(&r, .enter = 1200, .exit = 1430);
	says(r, "nor one that came when the sleep was over");
}

/* The caller waits for a FLUSH from 1,010 to 1,090. */
TEST(whose_flush)
{
	static const struct {
		const char *what;
		uint32_t tid, tgid;
		uint32_t kind;	    /* it is followed */
		bool slept, synced; /* a sleep of it is known, a call of its own */
	} all[] = {
		{ "the caller's own", APP, APP, 0, false, false },
		{ "of another thread of it", APP + 1, APP, TASK_USER, false, false },
		{ "of nobody known", 0, 0, 0, false, false },
		{ "of another user process", OTHER, OTHER, TASK_USER, false, false },
		{ "of a kernel thread", OTHER, OTHER, TASK_KTHREAD, false, false },
		{ "of a kernel worker", OTHER, OTHER, TASK_KWORKER, false, false },
		{ "of a task that may be the kernel's", OTHER, OTHER, 0, false, false },
		{ "of one of which a sleep is known", OTHER, OTHER, 0, true, false },
		{ "of a thread of another process", OTHER + 1, OTHER, 0, false, false },
		{ "of one that made a sync call", OTHER, OTHER, 0, false, true },
		{ "of a kernel thread whatever else it did", OTHER + 1, OTHER, TASK_KTHREAD, true, true },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		const struct wire_sync own = { .enter = 800, .exit = 850, .tid = all[i].tid, .tgid = all[i].tgid };
		const struct walk_result *r;

		begin();
		if (all[i].kind)
			follow(all[i].tid, "t", all[i].kind, 5);
		if (all[i].slept)
			ran(all[i].tid);
		if (all[i].synced)
			tl_add_call(tl, &own, true);
		REQUEST(.rq = 1, .done = 1090, .alloc = 1005, .tid = all[i].tid, .tgid = all[i].tgid, .class = WIRE_FLUSH,
			.flags = REQUEST_SEQUENCE | REQUEST_ONLY, .pre = { .begin = 1010, .issue = 1010, .done = 1090 });
		SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .rq = 1, .done = 1090, .how = HOW_REQUEST);
		WALK(&r, .enter = 1000, .exit = 1100);
		says(r, all[i].what);
	}
}

/* ---- senders ---- */

/* Each slept until 10 ns before it sent a request, which took 10 ns to end the sleep of the one before. */
TEST(chain_of_senders)
{
	const struct walk_result *r;

	begin();
	SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190, .how = HOW_REQUEST);
	for (uint32_t i = 1; i <= 12; i++) {
		uint64_t sent = 1200 - 20 * i, woken = sent - 10;

		follow(300 + i, "link", TASK_USER, 5);
		REQUEST(.rq = i, .done = sent + 10, .alloc = sent, .tid = 300 + i, .class = WIRE_WRITE_SYNC,
			.data = { .begin = sent, .issue = sent, .done = sent + 10 });
		SLEEP(.tid = 300 + i, .seq = 1, .off = 900, .wake = woken, .on = woken, .rq = i + 1, .done = woken,
		      .how = HOW_REQUEST);
		SLEEP(.tid = 300 + i, .seq = 2, .off = 1300, .wake = 1300, .on = 1310, .how = HOW_PREEMPTED);
	}
	WALK(&r, .enter = 1000, .exit = 1200);
	says(r, "of a chain of senders eight are looked at");
}

TEST(sender_that_waits_for_itself)
{
	const struct walk_result *r;

	begin();
	follow(OTHER, "hog", TASK_USER, 5);
	REQUEST(.rq = 1, .done = 1190, .alloc = 1100, .tid = OTHER, .class = WIRE_WRITE_SYNC,
		.data = { .begin = 1100, .issue = 1100, .done = 1190 });
	REQUEST(.rq = 2, .done = 1090, .alloc = 1050, .tid = OTHER, .class = WIRE_WRITE_SYNC,
		.data = { .begin = 1050, .issue = 1060, .done = 1090 });
	SLEEP(.tid = OTHER, .seq = 4, .off = 900, .wake = 1090, .on = 1090, .rq = 2, .done = 1090, .how = HOW_REQUEST);
	SLEEP(.tid = OTHER, .seq = 5, .off = 1300, .wake = 1300, .on = 1310, .how = HOW_PREEMPTED);
	SLEEP(.tid = APP, .off = 1010, .wake = 1190, .on = 1190, .rq = 1, .done = 1190, .how = HOW_REQUEST);
	WALK(&r, .enter = 1000, .exit = 1200);
	says(r, "a sender that slept until a request was done that it sent in that sleep: nonsense");
}

/* ---- handles of the journal ---- */

/* Who ran all the time until it woke the caller, which needed room in the journal. */
TEST(holders)
{
	static const struct {
		const char *what;
		uint32_t kind, told; /* of the task if it is followed, and by the sleep that it ended */
		uint64_t in;
	} all[] = {
		{ "a user task that it waited for in the journal", TASK_USER, TASK_USER, IN_JOURNAL },
		{ "a kernel thread", TASK_KTHREAD, TASK_KTHREAD, IN_JOURNAL },
		{ "a kernel worker", TASK_KWORKER, TASK_KWORKER, IN_JOURNAL },
		{ "a task of which nothing is known", 0, 0, IN_JOURNAL },
		{ "a kernel thread, by the sleep that it ended", 0, TASK_KTHREAD, IN_JOURNAL },
		{ "what is known of the task goes first", TASK_USER, TASK_KTHREAD, IN_JOURNAL },
		{ "also when that is another kind", TASK_KTHREAD, TASK_USER, IN_JOURNAL },
		{ "not waited for in the journal", TASK_USER, TASK_USER, 0 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		const struct walk_result *r;

		begin();
		if (all[i].kind)
			follow(OTHER, "hog", all[i].kind, 5);
		ran(OTHER);
		SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .waker_kind = all[i].told,
		      .how = HOW_TASK, .rq = 6, .done = 1, .stack_len = 1, .stack = { all[i].in });
		WALK(&r, .enter = 1000, .exit = 1100);
		says(r, all[i].what);
	}
}

/* The journal itself waits from 1,020 to 1,070. */
TEST(held_from_the_journal)
{
	for (uint32_t kind = TASK_USER; kind <= TASK_KWORKER; kind++) {
		const struct walk_result *r;

		begin();
		follow(JBD2, J, TASK_KTHREAD, 5);
		follow(OTHER, "hog", kind, 5);
		ran(JBD2);
		ran(OTHER);
		SLEEP(.tid = JBD2, .seq = 6, .off = 1020, .wake = 1070, .on = 1070, .waker = OTHER, .waker_kind = kind,
		      .how = HOW_TASK, .rq = 6, .done = 1);
		woken_by(JBD2, TASK_KTHREAD, 7);
		WALK(&r, .enter = 1000, .exit = 1100);
		says(r, kind == TASK_USER    ? "a user task" :
			kind == TASK_KTHREAD ? "a kernel thread" :
					       "a kernel worker");
	}
}

/* ---- what there is no room for ---- */

#define SLICES (1u << 18)

/* Of each sleep five: it ran; the write was in the scheduler, in the device, and done; it waited for a CPU. */
TEST(too_many_slices)
{
	const uint64_t start = 1000000, last = start + SLICES / 5 * 100, end = start + 53000 * 100;
	const struct walk_slice *s;
	const struct walk_result *r;

	begin();
	for (uint32_t i = 0; i < 53000; i++) {
		uint64_t t = start + 100 * i;

		REQUEST(.rq = i, .done = t + 60, .alloc = t, .tid = APP, .class = WIRE_WRITE_SYNC,
			.data = { .begin = t + 10, .issue = t + 20, .done = t + 60 });
		SLEEP(.tid = APP, .seq = i, .off = t + 10, .wake = t + 70, .on = t + 80, .rq = i, .done = t + 60,
		      .how = HOW_REQUEST);
	}
	WALK(&r, .enter = start, .exit = end);
	s = &r->slice[r->n - 1];
	ok(r->n == SLICES + 1 && r->blind && !r->mended && ledger_sum(&r->ledger) == end - start,
	   "a call of more slices than are kept");
	ok(s->cause == CAUSE_UNKNOWN && !s->via && !s->dev && s->ns == end - (last + 70) &&
		   r->ledger.ns[CAUSE_UNKNOWN] == s->ns,
	   "the rest is one, of which nothing is known");
}

#define RING 65536u /* sleeps of a task that are kept */

TEST(forgotten_sleeps)
{
	const struct walk_result *r;

	begin();
	for (uint32_t i = 0; i <= RING; i++)
		SLEEP(.tid = APP, .seq = i, .off = 999 + 10 * i, .wake = 999 + 10 * i, .on = 1000 + 10 * i,
		      .how = HOW_PREEMPTED);
	ok(WALK(&r, .enter = 1000, .exit = 1015), "what was forgotten ended before the call");
	ok(!WALK(&r, .enter = 999, .exit = 1015) && walk_why(w) == NO_LEDGER_LIMIT, "or it may have been in it");
}

/* ---- when all sleeps of the caller are known ---- */

TEST(complete)
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

	for (size_t i = 0; i < LEN(all); i++) {
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
TEST(came_unseen)
{
	static const struct {
		const char *what;
		uint64_t waited; /* by the kernel's count, in the call */
		bool again;	 /* a second time, in [1150, 1170) */
		bool no_wake;	 /* the last sleep's end was not seen */
	} all[] = {
		{ "the kernel's count tells how long it waited", 42, false, false },
		{ "not at all", 12, false, false },
		{ "it counted less than was seen", 5, false, false },
		{ "or more than there is", 200, false, false },
		{ "it has no count", 0, false, false },
		{ "which of two waits it was can't be told", 42, true, false },
		{ "nor where something else was not seen", 42, false, true },
	};

	for (size_t i = 0; i < LEN(all); i++) {
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
		/* behind the call: it does not matter */
		SLEEP(.tid = APP, .seq = 77, .off = 1200, .wake = 1200, .on = 1230, .how = HOW_PREEMPTED);
		WALK(&r, .enter = 1000, .exit = 1200, .sleeps = (uint16_t)(sleeps + 1),
		     .switches = (uint16_t)(sleeps + 1), .waited_enter = enter, .waited_exit = enter + all[i].waited);
		says(r, all[i].what);
	}
}

/* Of a helper's waiting for a CPU the caller's count tells nothing. */
TEST(helper_came_unseen)
{
	const struct walk_result *r;

	begin();
	follow(OTHER, "hog", TASK_USER, 5);
	ran(OTHER);
	SLEEP(.tid = OTHER, .seq = 6, .off = 1030, .on = 1070, .how = HOW_UNSEEN);
	woken_by(OTHER, TASK_USER, 7);
	WALK(&r, .enter = 1000, .exit = 1100, .waited_enter = 1000000, .waited_exit = 1000020);
	says(r, "a helper came onto a CPU unseen");
}

/* ---- when a helper is known to have run ---- */

/* The caller sleeps in [1010, 1090) until the helper wakes it. The helper's last sleep is number 5 and ended at `on`. */
TEST(helper_ran)
{
	static const struct {
		const char *what;
		uint64_t since, on;
		uint32_t next;	      /* what its next sleep's number will be; 0: not known */
		uint64_t enter, exit; /* a call of its own */
	} all[] = {
		{ "its next sleep is the one that follows", 5, 1000, 6, 0, 0 },
		{ "a sleep is missing", 5, 1000, 7, 0, 0 },
		{ "also where others within the caller's are known", 5, 1020, 7, 0, 0 },
		{ "nothing is known since its last sleep", 5, 1000, 0, 0, 0 },
		{ "its last sleep ended in the caller's", 5, 1020, 0, 0, 0 },
		{ "or began with it", 5, 1010, 0, 0, 0 },
		{ "also where nobody saw it begin to be followed", 0, 1020, 0, 0, 0 },
		{ "it is followed from the end of that sleep on", 1020, 1020, 0, 0, 0 },
		{ "not where it was known only for a call of its own, which has ended", 0, 1020, 0, 990, 1050 },
		{ "likewise just before", 0, 1020, 0, 990, 1089 },
		{ "but where it is followed beside", 1020, 1020, 0, 990, 1050 },
		{ "not where it is so later", 1021, 1020, 0, 990, 1050 },
		{ "its sleeps in a call of its own are known", 0, 1000, 0, 1030, 1060 },
		{ "also when the call ends after the caller has run", 0, 1020, 0, 990, 1095 },
		{ "or lasts longer than the caller's sleep", 0, 1000, 0, 1005, 1095 },
		{ "a call that it began later, and that lasts until then, is no matter", 0, 1020, 0, 1060, 1090 },
		{ "not where its call ended with its last sleep", 0, 1050, 0, 990, 1050 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		const struct wire_sync own = {
			.enter = all[i].enter, .exit = all[i].exit, .tid = OTHER, .tgid = OTHER, .comm = "hog"
		};
		const struct walk_result *r;

		begin();
		if (all[i].since)
			follow(OTHER, "hog", TASK_USER, all[i].since);
		SLEEP(.tid = OTHER, .seq = 5, .off = 900, .wake = 900, .on = all[i].on, .how = HOW_PREEMPTED);
		if (all[i].exit)
			tl_add_call(tl, &own, true);
		SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .waker_kind = TASK_USER,
		      .how = HOW_TASK, .rq = all[i].next, .done = all[i].next ? 1 : 0);
		WALK(&r, .enter = 1000, .exit = 1100);
		says(r, all[i].what);
	}
}

/* Its sleeps after the one that ended at `on` are missing up to number 7, which begins as it has woken the caller. */
TEST(helper_slept_afterwards)
{
	static const struct {
		const char *what;
		uint64_t on;
		uint32_t next;
		uint64_t off;
	} all[] = {
		{ "by the number that it had then", 1000, 6, 1090 },
		{ "by its sleeps within the caller's", 1020, 0, 1090 },
		{ "not where it began to sleep before", 1000, 6, 1089 },
		{ "nor so within the caller's", 1020, 0, 1089 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		const struct walk_result *r;

		begin();
		follow(OTHER, "hog", TASK_USER, 5);
		SLEEP(.tid = OTHER, .seq = 5, .off = 900, .wake = 900, .on = all[i].on, .how = HOW_PREEMPTED);
		SLEEP(.tid = OTHER, .seq = 7, .off = all[i].off, .wake = all[i].off, .on = 1200, .how = HOW_PREEMPTED);
		SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1090, .waker = OTHER, .waker_kind = TASK_USER,
		      .how = HOW_TASK, .rq = all[i].next, .done = all[i].next ? 1 : 0);
		WALK(&r, .enter = 1000, .exit = 1100);
		says(r, all[i].what);
	}
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	walk_free(w);
	walk_free(NULL);
	tl_free(tl);
	return situations_done("walks");
}
