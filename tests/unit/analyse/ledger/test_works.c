// SPDX-License-Identifier: GPL-2.0-only
/* A kernel worker has no past, its work has: sleeps that workers ended; golden/works.txt has what they come to, to the nanosecond. */
#include <string.h>

#include "analyse/ledger/timeline.h"
#include "analyse/ledger/walk.h"
#include "model/report.h"
#include "situations.h"
#include "wire.h"

#define T0	1000000000ull /* times in here count from it; 0 stays 0 */
#define APP	100
#define JBD2	50
#define WORKER	60
#define WORKER2 61
#define SDA	WIRE_DEV(8, 0)
#define WORK(n) ((uint64_t)(n) << 32) /* beside a seq, in a sleep's or work's rq */

/* One that works are known by, one in whose middle an address may lie, one that nobody asks for */
static const struct kernel_symbol symbols[] = {
	{ "ext4_end_io_rsv_work", 0x1000, 0x1100 },
	{ "mutex_lock", 0x2000, 0x2100 },
	{ "a_work_of_its_own", 0x3000, 0x3100 },
};

static struct timeline *tl;
static struct walk *w;
static const struct walk_result *r;

static uint64_t at(uint64_t t)
{
	return t ? T0 + t : 0;
}

static void begin(void)
{
	walk_free(w);
	tl_free(tl);
	tl = tl_new(symbols, 3);
	w = walk_new(tl);
}

static void follow(uint32_t tid, const char *comm, uint32_t kind, uint64_t since)
{
	struct wire_follow f = { .since = at(since), .tid = tid, .tgid = tid, .kind = kind };

	strcpy(f.comm, comm);
	tl_add_follow(tl, &f);
}

static void begin_with_worker(void)
{
	begin();
	follow(WORKER, "kworker/u8:2", TASK_KWORKER, 5);
}

static void sleep_fact(struct wire_sleep s)
{
	s.head.size = WIRE_SLEEP_SHORT;
	s.off = at(s.off);
	s.wake = at(s.wake);
	s.on = at(s.on);
	s.done = s.how == HOW_TASK ? s.done : at(s.done);
	tl_add_sleep(tl, &s);
}

#define SLEEP(...) sleep_fact((struct wire_sleep){ __VA_ARGS__ })

static bool work_fact(struct wire_work k)
{
	k.begun = at(k.begun);
	k.queued = at(k.queued);
	k.done = k.how == HOW_TASK ? k.done : at(k.done);
	return tl_add_work(tl, &k);
}

#define BEGUN(...) work_fact((struct wire_work){ __VA_ARGS__ })

/* A write that the caller sent. */
static void write_fact(uint64_t rq, uint64_t alloc, uint64_t issue, uint64_t done)
{
	const struct wire_request q = {
		.rq = rq,
		.alloc = at(alloc),
		.done = at(done),
		.dev = SDA,
		.disk = SDA,
		.tid = APP,
		.tgid = APP,
		.class = WIRE_WRITE_SYNC,
		.data = { .issue = at(issue), .done = at(done) },
	};

	tl_add_request(tl, &q);
}

/* What the caller's call from 1,000 to 1,100 comes to. */
static void comes_to(const char *what)
{
	const struct wire_sync call = { .enter = at(1000), .exit = at(1100), .tid = APP, .tgid = APP };

	ok(walk_call(w, &call, &r) && !r->mended && ledger_sum(&r->ledger) == 100, "%s: it tiles", what);
	SAY("%s:\n ", what);
	for (int c = 0; c < CAUSE_COUNT; c++)
		if (r->ledger.ns[c])
			SAY(" %s %llu", cause_name((enum cause)c), (unsigned long long)r->ledger.ns[c]);
	SAY("\n");
}

/* The caller sleeps from 1,010 until a worker wakes it at 1,090 in its work number `no`. */
static void woken_by(uint32_t worker, uint32_t no, uint32_t seq)
{
	SLEEP(.tid = APP, .off = 1010, .wake = 1090, .on = 1094, .how = HOW_TASK, .waker = worker,
	      .waker_kind = TASK_KWORKER, .rq = WORK(no) | seq, .done = 1);
}

#define DM WIRE_DEV(253, 0)

static void bio_fact(uint32_t no, uint64_t queued, uint64_t done, bool of_work)
{
	const struct wire_bio b = {
		.queued = at(queued), .done = at(done), .tid = WORKER, .seq = no, .disk = DM, .class = WIRE_WRITE_SYNC, .work = of_work
	};

	tl_add_bio(tl, &b);
}

static void request_of_a_bio(uint32_t no, bool of_work)
{
	begin_with_worker();
	write_fact(7, 1046, 1046, 1051);
	bio_fact(no, 1005, 1052, of_work);
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1053, .begun = 1070, .how = HOW_REQUEST, .rq = 7, .done = 1051);
	woken_by(WORKER, 3, 12);
}

/* dm-delay holds a write for long before it sends it to the disk below. The sender there is the caller, or is not known. */
TEST(queued_by_a_bio)
{
	request_of_a_bio(3, true);
	comes_to("before the request below, the bio was with its disk");
	request_of_a_bio(2, true);
	comes_to("not the bio of another work");
	request_of_a_bio(3, false);
	comes_to("nor that of a sleep");
	begin_with_worker();
	bio_fact(3, 1005, 1052, true);
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1053, .begun = 1070, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("also one that no request completed");
}

TEST(begun_before)
{
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 950, .begun = 960, .how = HOW_TASK, .by = APP,
	      .by_kind = TASK_USER);
	SLEEP(.tid = WORKER, .seq = 12, .off = 1030, .wake = 1040, .on = 1045, .how = HOW_IRQ);
	woken_by(WORKER, 3, 13);
	comes_to("a work that began before the sleep");
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 950, .begun = 1040, .how = HOW_TASK, .by = JBD2,
	      .by_kind = TASK_KTHREAD);
	woken_by(WORKER, 3, 12);
	comes_to("and one that was queued before it");
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 950, .begun = 1010, .how = HOW_TASK, .by = APP,
	      .by_kind = TASK_USER);
	SLEEP(.tid = WORKER, .seq = 9, .off = 900, .wake = 1000, .on = 1010, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("one that began with it: what is missing of the worker's sleeps before is no matter");
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1030, .begun = 1090, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("and one that began when it was over");
}

TEST(queuer_unknown)
{
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .begun = 1040);
	SLEEP(.tid = WORKER, .seq = 11, .off = 1000, .wake = 1020, .on = 1030, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("queued unseen: nothing is known of before it began");
	SLEEP(.tid = WORKER, .seq = 10, .off = 900, .wake = 1012, .on = 1013, .how = HOW_IRQ, .idle = 1);
	comes_to("nor if the worker came from an idle sleep to other works first");
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1030, .begun = 1040, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("queued by a timer");
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1030, .begun = 1040, .how = HOW_REQUEST, .rq = 7, .done = 1029);
	woken_by(WORKER, 3, 12);
	comes_to("by a completion of which there is no record");
	begin();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1030, .begun = 1040, .how = HOW_IRQ);
	woken_by(WORKER, 3, 12);
	comes_to("for a worker of which nothing else is known");
}

/* ---- without numbers of works: what a worker did before its last sleep for want of work was for others ---- */

/* Its sleep that a write ends, two ns after that is done. */
static void idle_until_written(uint32_t seq, uint64_t off, uint64_t wake)
{
	write_fact(7, 1005, 1008, wake - 2);
	SLEEP(.tid = WORKER, .seq = seq, .off = off, .wake = wake, .on = wake + 5, .how = HOW_REQUEST, .rq = 7,
	      .done = wake - 2, .idle = 1);
}

TEST(out_of_idleness)
{
	begin_with_worker();
	woken_by(WORKER, 0, 12);
	comes_to("a worker of which no sleep is known");
	idle_until_written(11, 900, 1030);
	comes_to("a worker that was idle: until it was woken, with who woke it");
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1015, .on = 1016, .how = HOW_IRQ, .idle = 1);
	idle_until_written(12, 1025, 1040);
	woken_by(WORKER, 0, 13);
	comes_to("idle twice: the last time counts");
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1015, .on = 1015, .how = HOW_IRQ, .idle = 1);
	SLEEP(.tid = WORKER, .seq = 12, .off = 1030, .wake = 1040, .on = 1042, .how = HOW_IRQ);
	woken_by(WORKER, 0, 13);
	comes_to("then what its work waited for counts, too");
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1005, .on = 1020, .how = HOW_IRQ, .idle = 1);
	woken_by(WORKER, 0, 12);
	comes_to("it was woken before: it only waited for a CPU");
}

/* Sleeps for want of work that did not end before the worker woke the caller say nothing about that work. */
TEST(idle_afterwards)
{
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1000, .on = 1000, .how = HOW_IRQ);
	SLEEP(.tid = WORKER, .seq = 12, .off = 1020, .wake = 1020, .on = 1030, .how = HOW_PREEMPTED);
	woken_by(WORKER, 0, 13);
	comes_to("a worker that was never idle");
	SLEEP(.tid = WORKER, .seq = 13, .off = 1090, .on = 1200, .idle = 1);
	comes_to("idle when it had woken the caller");
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1000, .on = 1000, .how = HOW_IRQ);
	SLEEP(.tid = WORKER, .seq = 12, .off = 1020, .wake = 1020, .on = 1030, .how = HOW_PREEMPTED);
	SLEEP(.tid = WORKER, .seq = 13, .off = 1050, .wake = 1090, .on = 1095, .how = HOW_IRQ, .idle = 1);
	woken_by(WORKER, 0, 14);
	comes_to("idle until then, by times that do not fit");
	begin_with_worker();
	SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1000, .on = 1000, .how = HOW_IRQ);
	SLEEP(.tid = WORKER, .seq = 12, .off = 1020, .wake = 1090, .on = 1095, .how = HOW_IRQ, .idle = 1);
	woken_by(WORKER, 0, 13);
	comes_to("from when it fell asleep");
}

/* The work in which it woke the caller is not known: what the worker did before may have been for somebody else. */
TEST(number_unknown)
{
	static const struct {
		const char *what;
		struct wire_work known;
	} cases[] = {
		{ "only another number is known", { .no = 4, .queued = 1030, .begun = 1040 } },
		{ "one that began only afterwards", { .no = 3, .queued = 1090, .begun = 1095 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct wire_work *k = &cases[i].known;

		begin_with_worker();
		BEGUN(.tid = WORKER, .no = k->no, .seq = 12, .queued = k->queued, .begun = k->begun, .how = HOW_IRQ);
		SLEEP(.tid = WORKER, .seq = 11, .off = 900, .wake = 1005, .on = 1008, .how = HOW_IRQ);
		woken_by(WORKER, 3, 12);
		comes_to(cases[i].what);
	}
}

TEST(bad_facts)
{
	begin();
	ok(!BEGUN(.tid = WORKER, .begun = 10), "a work without a number is refused");
	ok(!BEGUN(.tid = WORKER, .no = 1), "and one that never began");
	ok(!BEGUN(.tid = WORKER, .no = 1, .begun = 10, .queued = 11), "and one that began before it was queued");
	ok(!BEGUN(.tid = WORKER, .no = 1, .begun = 10, .how = HOW_PREEMPTED) &&
		   !BEGUN(.tid = WORKER, .no = 1, .begun = 10, .how = 5),
	   "and one that came by no way that there is");
	ok(!tl_work(tl, WORKER, 1) && !tl_work(tl, WORKER, 0), "none of them is kept");
	ok(BEGUN(.tid = WORKER, .no = 1, .begun = 10, .queued = 10) && tl_work(tl, WORKER, 1) &&
		   !tl_work(tl, WORKER, 2) && !tl_work(tl, WORKER2, 1),
	   "one that makes sense is, under its worker and number");
}

#define WORKS 32768u /* of one worker there is room for */
#define FEW   1024u  /* and at first */
#define KEEP  120000000000ull

TEST(numbers)
{
	begin();
	for (uint32_t no = 1; no <= WORKS; no++)
		BEGUN(.tid = WORKER, .no = no, .begun = 10 + no);
	ok(tl_work(tl, WORKER, 1) && tl_work(tl, WORKER, 1)->begun == at(11) &&
		   tl_work(tl, WORKER, WORKS)->begun == at(10 + WORKS),
	   "32,768 works of a worker are known");
	ok(!tl_work(tl, WORKER, 1 + WORKS) && !tl_work(tl, WORKER + WORKS, 1), "not those of another number or worker");
	BEGUN(.tid = WORKER, .no = 1 + WORKS, .begun = 90000);
	ok(!tl_work(tl, WORKER, 1) && tl_work(tl, WORKER, 2) && tl_work(tl, WORKER, 1 + WORKS), "then the oldest goes");
	begin();
	BEGUN(.tid = WORKER, .no = 1, .begun = 10);
	BEGUN(.tid = WORKER, .no = 2, .begun = 11);
	tl_forget(tl, at(11) + KEEP);
	BEGUN(.tid = WORKER, .no = 1 + FEW, .begun = KEEP + 20);
	BEGUN(.tid = WORKER, .no = 2 + FEW, .begun = KEEP + 20);
	ok(!tl_work(tl, WORKER, 1) && tl_work(tl, WORKER, 1 + FEW),
	   "one that began two minutes before anything that is asked for makes room at once");
	ok(tl_work(tl, WORKER, 2) && tl_work(tl, WORKER, 2 + FEW), "not one that began later");
	begin();
	tl_add_bio(tl, &(struct wire_bio){ .queued = at(5), .done = at(9), .tid = WORKER, .seq = 1, .work = 1 });
	BEGUN(.tid = WORKER, .no = 1, .begun = 10);
	BEGUN(.tid = WORKER, .no = 1 + FEW, .begun = 20);
	ok(tl_work_bio(tl, tl_work(tl, WORKER, 1)) == 1 && !tl_work_bio(tl, tl_work(tl, WORKER, 1 + FEW)),
	   "and each keeps the bio that queued it");
	begin();
	BEGUN(.tid = WORKER, .no = 5, .begun = 10);
	BEGUN(.tid = WORKER2, .no = 5, .begun = 20);
	ok(tl_work(tl, WORKER, 5) && tl_work(tl, WORKER, 5)->begun == at(10) && tl_work(tl, WORKER2, 5)->begun == at(20),
	   "two workers may have come equally far");
}

/* Through whom its last nanosecond came; NULL: nobody, or more than one. */
static const char *through(uint64_t function)
{
	const struct wire_sync call = { .enter = at(1000), .exit = at(1100), .tid = APP, .tgid = APP };
	const char *name[VIAS_DEPTH] = { 0 };
	begin_with_worker();
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 990, .begun = 995, .how = HOW_TASK, .by = APP,
	      .function = function);
	woken_by(WORKER, 3, 12);
	if (!walk_call(w, &call, &r) || r->n != 4 || r->slice[1].cause != CAUSE_CPU)
		return NULL;
	return walk_via(w, r->slice[1].via, name) == 1 ? name[0] : NULL;
}

TEST(names)
{
	const char *name = through(0x1000);

	ok(name && !strcmp(name, "ext4_end_io_rsv_work"), "a worker is called by what it runs");
	name = through(0x1001);
	ok(name && !strcmp(name, "kworker"), "where that is known");
	name = through(0x2000);
	ok(name && !strcmp(name, "kworker"), "and is a work");
	name = through(0x3000);
	ok(name && !strcmp(name, "kworker"), "that is listed");
}

/* Whatever works say of each other. */
TEST(circle)
{
	begin_with_worker();
	follow(WORKER2, "kworker/u8:3", TASK_KWORKER, 5);
	BEGUN(.tid = WORKER, .no = 3, .seq = 12, .queued = 1080, .begun = 1082, .how = HOW_TASK, .by = WORKER2,
	      .rq = WORK(8), .done = 1);
	BEGUN(.tid = WORKER2, .no = 8, .seq = 12, .queued = 1078, .begun = 1079, .how = HOW_TASK, .by = WORKER,
	      .rq = WORK(3), .done = 1);
	woken_by(WORKER, 3, 12);
	comes_to("works that queued each other come to an end");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	walk_free(w);
	tl_free(tl);
	return situations_done("works");
}
