// SPDX-License-Identifier: GPL-2.0-only
/* What is remembered of tasks and requests, asked directly: what is kept, what gives way to what, and from when on. */
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/timeline.h"
#include "rnd.h"
#include "tap.h"
#include "util/mem.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SEC    1000000000ull
#define KEEP   (120 * SEC)
#define SWEEP  (15 * SEC)

#define TASKS	 16384u
#define RING	 65536u
#define REQUESTS 131072u
#define BIOS	 65536u
#define FEW_BIOS 1024u

static struct timeline *tl;

static void begin(void)
{
	tl_free(tl);
	tl = tl_new(NULL, 0);
}

static bool add_sleep(uint32_t tid, uint64_t off, uint64_t on)
{
	const struct wire_sleep s = { .head.size = WIRE_SLEEP_SHORT, .off = off, .wake = on, .on = on, .tid = tid };

	return tl_add_sleep(tl, &s);
}

/* Sleeps of 1 ns that end at `on` and each ns 10 later. */
static void sleeps(uint32_t tid, uint64_t on, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_sleep(tid, on + 10 * i - 1, on + 10 * i);
}

static uint64_t on_at(uint32_t tid, uint32_t i)
{
	return tl_at(tl_task(tl, tid), i)->on;
}

/* ---- which records make sense ---- */

TEST(sane_sleeps)
{
	static const struct {
		struct wire_sleep s;
		bool good;
		uint64_t wake;
	} all[] = {
		{ { .off = 10, .wake = 15, .on = 19 }, true, 15 },
		{ { .off = 10, .wake = 19, .on = 19 }, true, 19 },
		{ { .off = 19, .wake = 19, .on = 19, .how = HOW_IRQ }, true, 19 },
		{ { .off = 10, .wake = 9, .on = 19 }, true, 10 },
		{ { .off = 10, .on = 19 }, true, 0 },
		{ { .wake = 5, .on = 19 }, true, 5 },
		{ { .on = 1 }, true, 0 },
		{ { .off = 0, .wake = 0, .on = 0 }, false, 0 },
		{ { .off = 20, .on = 19 }, false, 0 },
		{ { .off = 10, .wake = 20, .on = 19 }, false, 0 },
		{ { .off = 10, .on = 19, .how = HOW_UNSEEN }, true, 0 },
		{ { .off = 10, .on = 19, .how = HOW_UNSEEN + 1 }, false, 0 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct wire_sleep s = all[i].s;
		const struct tl_task *t;

		begin();
		s.head.size = WIRE_SLEEP_SHORT;
		s.tid = 7;
		ok(tl_add_sleep(tl, &s) == all[i].good, "a sleep: off %llu, wake %llu, on %llu: %s",
		   (unsigned long long)s.off, (unsigned long long)s.wake, (unsigned long long)s.on,
		   all[i].good ? "makes sense" : "does not");
		t = tl_task(tl, 7);
		ok(all[i].good ? t && t->n == 1 && tl_at(t, 0)->wake == all[i].wake : !t,
		   "it is kept, or its task is not known");
	}
}

TEST(sane_requests)
{
	static const struct {
		struct wire_request r;
		bool good;
	} all[] = {
		{ { .done = 10, .alloc = 10 }, true },
		{ { .done = 10, .alloc = 11 }, false },
		{ { .done = 0 }, false },
		{ { .done = 1, .class = WIRE_CLASSES - 1 }, true },
		{ { .done = 1, .class = WIRE_CLASSES }, false },
		{ { .done = 9, .pre = { .issue = 5, .done = 5 } }, true },
		{ { .done = 9, .pre = { .issue = 5, .done = 4 } }, false },
		{ { .done = 9, .data = { .issue = 5, .done = 4 } }, false },
		{ { .done = 9, .post = { .issue = 5, .done = 4 } }, false },
		{ { .done = 9, .pre = { .issue = 5 }, .data = { .issue = 5 }, .post = { .issue = 5 } }, true },
		{ { .done = 9, .pre = { .done = 5 }, .data = { .done = 5 }, .post = { .done = 5 } }, true },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		begin();
		ok(tl_add_request(tl, &all[i].r) == all[i].good && !tl_request(tl, 0, all[i].r.done) == !all[i].good,
		   "request %zu %s", i, all[i].good ? "makes sense" : "does not");
	}
}

TEST(sane_bios)
{
	static const struct {
		struct wire_bio b;
		bool good;
	} all[] = {
		{ { .queued = 5, .done = 5, .flushed = 5 }, true },
		{ { .queued = 0, .done = 5 }, false },
		{ { .queued = 6, .done = 5 }, false },
		{ { .queued = 5, .done = 6, .flushed = 7 }, false },
		{ { .queued = 5, .done = 6, .class = 8 }, true },
		{ { .queued = 5, .done = 6, .class = WIRE_CLASSES }, false },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		begin();
		ok(tl_add_bio(tl, &all[i].b) == all[i].good && !tl_task(tl, 0) == !all[i].good, "bio %zu %s", i,
		   all[i].good ? "makes sense" : "does not");
	}
}

/* ---- sleeps in their order ---- */

TEST(in_any_order)
{
	bool sorted = true, all = true;

	for (int run = 0; run < 200; run++) {
		uint32_t n = 1 + (uint32_t)(rnd() % 40), order[40];

		begin();
		for (uint32_t i = 0; i < n; i++) {
			uint32_t j = (uint32_t)(rnd() % (i + 1));

			order[i] = order[j];
			order[j] = i;
		}
		for (uint32_t i = 0; i < 2 * n; i++)
			add_sleep(7, 100 + 10 * order[i % n], 105 + 10 * order[i % n]);
		all = all && tl_task(tl, 7)->n == n;
		for (uint32_t i = 0; i < n; i++)
			sorted = sorted && on_at(7, i) == 105 + 10 * i;
	}
	ok(sorted, "sleeps that come in any order stand by their ends");
	ok(all, "each once, if they come twice");
}

TEST(same_sleeps)
{
	begin();
	add_sleep(7, 10, 20);
	add_sleep(7, 10, 25);
	add_sleep(7, 15, 20);
	ok(tl_task(tl, 7)->n == 1 && on_at(7, 0) == 20, "two sleeps neither begin nor end at once");
	add_sleep(7, 0, 30);
	add_sleep(7, 0, 40);
	ok(tl_task(tl, 7)->n == 3, "unless it is not known when they began");
	add_sleep(7, 12, 15);
	ok(tl_task(tl, 7)->n == 4 && on_at(7, 0) == 15 && on_at(7, 3) == 40, "one that comes late stands first");
	add_sleep(7, 10, 18);
	ok(tl_task(tl, 7)->n == 4, "the next one may be the same");
	add_sleep(7, 12, 19);
	ok(tl_task(tl, 7)->n == 4, "and the one before");
}

/* ---- room for sleeps ---- */

static bool ring_is(uint32_t tid, uint32_t n, uint32_t cap, uint64_t first, uint64_t lost)
{
	const struct tl_task *t = tl_task(tl, tid);

	if (t && t->n == n && t->cap == cap && (!n || tl_at(t, 0)->on == first) && t->lost == lost)
		return true;
	diag("%u of %u from %llu on, lost %llu", t ? t->n : 0, t ? t->cap : 0,
	     (unsigned long long)(t && t->n ? tl_at(t, 0)->on : 0), (unsigned long long)(t ? t->lost : 0));
	return false;
}

TEST(rings_grow)
{
	begin();
	sleeps(7, 1000, 8);
	ok(ring_is(7, 8, 8, 1000, 0), "eight sleeps have room");
	sleeps(7, 2000, 1);
	ok(ring_is(7, 9, 16, 1000, 0), "more, and it is doubled");
	begin();
	sleeps(7, 1000, RING);
	ok(ring_is(7, RING, RING, 1000, 0), "up to 65,536");
	sleeps(7, 1000 + 10 * RING, 3);
	ok(ring_is(7, RING, RING, 1030, 1020), "then the oldest go, and it is known until when they may be missing");
	add_sleep(7, 1034, 1035);
	ok(ring_is(7, RING, RING, 1035, 1030) && on_at(7, 1) == 1040, "one that comes late stands in its place then, too");
}

/* The second oldest decides: the last one before what may be asked for tells that the task ran. */
TEST(old_sleeps_make_room)
{
	const uint64_t now = 1000 * SEC;

	begin();
	sleeps(7, now - KEEP - 20, 8);
	sleeps(7, now - 5, 1);
	ok(ring_is(7, 8, 8, now - KEEP - 10, now - KEEP - 20), "of two that are older than two minutes the first goes");
	sleeps(7, now, 1);
	ok(ring_is(7, 9, 16, now - KEEP - 10, now - KEEP - 20), "the next stays while the one after it is not that old");
	ok(on_at(7, 6) == now - KEEP + 50 && on_at(7, 7) == now - 5 && on_at(7, 8) == now,
	   "and those that stood before the oldest come behind the others");
	begin();
	sleeps(7, 1000, 8);
	tl_forget(tl, 1010);
	sleeps(7, 2000, 1);
	ok(ring_is(7, 9, 16, 1000, 0), "what is asked for stays, and the one before it");
	begin();
	sleeps(7, 1000, 8);
	tl_forget(tl, 1011);
	sleeps(7, 2000, 1);
	ok(ring_is(7, 8, 8, 1010, 1000), "what is not asked for makes room");
}

/* A million sleeps in all: those give way of whom nothing was heard for longest. */
TEST(rings_give_way)
{
	begin();
	for (uint32_t tid = 1; tid <= 16; tid++)
		sleeps(tid, 1000, RING);
	sleeps(1, 1000 + 10 * RING, 1);
	ok(ring_is(1, RING, RING, 1010, 1000) && ring_is(2, RING, RING, 1000, 0), "room for 16 times 65,536");
	sleeps(17, 5000, 1);
	ok(ring_is(17, 1, 8, 5000, 0), "a 17th task has room");
	ok(ring_is(2, 0, 0, 0, 1000 + 10 * (RING - 1)), "in place of the one that was silent for longest");
	ok(ring_is(1, RING, RING, 1010, 1000) && ring_is(3, RING, RING, 1000, 0), "of no other one");
	sleeps(2, 9000000, 1);
	ok(ring_is(2, 1, 8, 9000000, 1000 + 10 * (RING - 1)), "it may come back, and it is known what is missing");
}

static void follow_in(uint32_t tid, uint32_t tgid, uint64_t since)
{
	const struct wire_follow f = { .since = since, .tid = tid, .tgid = tgid, .kind = TASK_USER, .comm = "t" };

	tl_add_follow(tl, &f);
}

static void follow(uint32_t tid, uint64_t since)
{
	follow_in(tid, tid, since);
}

/* ---- tasks ---- */

TEST(tasks_give_way)
{
	bool known = true;

	begin();
	for (uint32_t i = 1; i <= TASKS; i++)
		follow(i, 5);
	follow(1, 5);
	follow(3, 5);
	follow(TASKS, 5);
	follow(TASKS, 5);
	for (uint32_t i = 1; i <= TASKS; i++)
		known = known && tl_task(tl, i);
	ok(known, "16,384 tasks are known");
	follow(TASKS + 1, 5);
	ok(!tl_task(tl, 2) && tl_task(tl, 1) && tl_task(tl, 3) && tl_task(tl, 4),
	   "for one more that goes which was silent longest");
	follow(TASKS + 2, 5);
	ok(!tl_task(tl, 4) && tl_task(tl, 3) && tl_task(tl, 5), "then the next that has not been heard of since");
	for (uint32_t i = 3; i <= TASKS - 3; i++)
		follow(TASKS + i, 5);
	ok(tl_task(tl, 1) && tl_task(tl, 3) && tl_task(tl, TASKS), "those that were heard of are the last");
	follow(5 * TASKS, 5);
	ok(!tl_task(tl, 1) && tl_task(tl, 3) && tl_task(tl, TASKS), "in the order in which they were");
	follow(5 * TASKS + 1, 5);
	follow(5 * TASKS + 2, 5);
	ok(!tl_task(tl, 3) && !tl_task(tl, TASKS) && tl_task(tl, TASKS + 1), "one after the other");
}

static void remembers(uint32_t tid, bool wanted, const char *what)
{
	ok(!!tl_task(tl, tid) == wanted, "%s", what);
}

/* n tasks; the sleeps of all but the first three are recent. */
static void begin_with_tasks(uint32_t n, uint64_t now)
{
	begin();
	for (uint32_t tid = 1; tid <= n; tid++)
		sleeps(tid, tid <= 3 ? SWEEP + 999 : now, 1);
}

TEST(announced_tasks_stay)
{
	begin_with_tasks(260, 1000 + KEEP);
	follow(1, 1);
	sleeps(2, SWEEP + 999, 1);
	tl_forget(tl, 1000 + KEEP + SWEEP);
	remembers(1, true, "what BPF has announced stays: it does so once");
	remembers(2, true, "and the one that a record was just added to");
	remembers(3, false, "others don't");
	begin_with_tasks(260, 1000 + KEEP);
	tl_forget(tl, SWEEP + 999 + KEEP);
	add_sleep(260, 0, 10 * KEEP);
	sleeps(260, 10 * KEEP, 8);
	remembers(1, true, "what a call that has not ended may ask for stays, whatever the time is");
}

TEST(names)
{
	static const struct {
		const char *comm, *name;
	} all[] = {
		{ "app", "app" },
		{ "kworker/u8:2-xfs-log", "kworker-xf" },
		{ "kworker/u8:2+wb", "kworker-wb" },
		{ "kworker/0:1H", "kworker" },
		{ "kworker/0:1-", "kworker-" },
		{ "kworker", "kworker" },
		{ "kworkers", "kworkers" },
		{ "ksoftirqd/11", "ksoftirqd" },
		{ "iou-wrk-1234", "iou-wrk" },
		{ "iou-sqp-7", "iou-sqp" },
		{ "migration/0", "migration" },
		{ "migration/12345", "migration" },
		{ "rcuc/3", "rcuc" },
		{ "rcu/3", "rcu/3" },
		{ "my-rcuc/3", "my-rcuc/3" },
		{ "jbd2/sda1-8", "jbd2/sda1-8" },
		{ "fifteen letters", "fifteen letters" },
		{ "", "" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct wire_follow f = { .since = 5, .tid = 7, .tgid = 7, .kind = TASK_KTHREAD };
		char padded[16] = "";

		memcpy(f.comm, all[i].comm, strnlen(all[i].comm, 15));
		snprintf(padded, sizeof(padded), "%s", all[i].name);
		begin();
		follow(7, 4);
		tl_add_follow(tl, &f);
		ok(!memcmp(tl_task(tl, 7)->name, padded, 16) && tl_task(tl, 7)->kind == TASK_KTHREAD,
		   "'%s' is called '%s'", all[i].comm, all[i].name);
	}
}

TEST(follows)
{
	struct wire_follow f = { .since = 100, .tid = 7, .tgid = 7, .kind = TASK_USER, .comm = "one" };
	const struct wire_sync call = { .enter = 40, .exit = 60, .tid = 7, .tgid = 7 };
	const struct tl_task *t;

	begin();
	ok(tl_add_follow(tl, &f) && tl_task(tl, 7)->since == 100 && tl_task(tl, 7)->kind == TASK_USER &&
		   tl_task(tl, 7)->tgid == 7,
	   "a task is followed");
	add_sleep(7, 110, 115);
	add_sleep(7, 190, 200);
	add_sleep(7, 210, 220);
	tl_add_call(tl, &call, true);
	f.since = 99;
	strcpy(f.comm, "two");
	ok(tl_add_follow(tl, &f) && tl_task(tl, 7)->since == 100 && !strcmp(tl_task(tl, 7)->name, "one"),
	   "what is older says nothing new");
	f.since = 100;
	tl_add_follow(tl, &f);
	ok(!strcmp(tl_task(tl, 7)->name, "two") && tl_task(tl, 7)->n == 3, "what is of the same time does");
	f.since = 150;
	tl_add_follow(tl, &f);
	t = tl_task(tl, 7);
	ok(t->since == 150 && !strcmp(t->name, "two") && t->n == 3 && t->exit == 60,
	   "followed anew: its sleeps are its own");
	f.since = 200;
	f.tgid = 8;
	tl_add_follow(tl, &f);
	t = tl_task(tl, 7);
	ok(t->tgid == 8 && t->n == 1 && on_at(7, 0) == 220 && t->lost == 200 && !t->enter && !t->exit,
	   "another task of that number: what was before is not its own");
	for (uint32_t kind = 0; kind < 6; kind++) {
		f.kind = kind;
		f.tid = 100 + kind;
		ok(tl_add_follow(tl, &f) == (kind >= TASK_USER && kind <= TASK_KWORKER) &&
			   !tl_task(tl, 100 + kind) == (kind < TASK_USER || kind > TASK_KWORKER),
		   "a task of kind %u", kind);
	}
	f.kind = TASK_USER;
	f.since = 0;
	ok(!tl_add_follow(tl, &f), "since nobody knows when");
	add_sleep(9, 10, 20);
	follow(9, 30);
	ok(tl_task(tl, 9)->n == 1 && !tl_task(tl, 9)->lost, "what a task did before it was known is its own");
}

TEST(calls)
{
	struct wire_sync s = {
		.enter = 10, .exit = 20, .tid = 7, .tgid = 6, .comm = "app", .waited_exit = 30, .voluntary_exit = 40
	};
	const struct tl_task *t;

	begin();
	tl_add_call(tl, &s, true);
	t = tl_task(tl, 7);
	ok(t->enter == 10 && t->exit == 20 && t->waited == 30 && t->voluntary == 40 && t->tgid == 6 &&
		   !strcmp(t->name, "app"),
	   "a call that has ended");
	s = (struct wire_sync){ .enter = 110, .exit = 120, .tid = 7, .tgid = 5, .comm = "new" };
	tl_add_call(tl, &s, false);
	t = tl_task(tl, 7);
	ok(t->enter == 10 && t->exit == 20 && t->tgid == 5 && !strcmp(t->name, "app"), "one of which not all is known");
	s.worker = 9;
	tl_add_call(tl, &s, true);
	t = tl_task(tl, 7);
	ok(t->exit == 20, "one that another task carried out");
	s.worker = 0;
	tl_add_call(tl, &s, true);
	t = tl_task(tl, 7);
	ok(t->enter == 110 && t->exit == 120 && !t->waited && !t->voluntary, "the last one counts");
	s = (struct wire_sync){ .enter = 10, .exit = 20, .tid = 9, .tgid = 9, .comm = "x" };
	tl_add_call(tl, &s, true);
	strcpy(s.comm, "y");
	tl_add_call(tl, &s, true);
	ok(!strcmp(tl_task(tl, 9)->name, "x"), "whoever has a name keeps it, be it a letter");
}

/* ---- stacks ---- */

static const struct kernel_symbol symbol = { "down_read", 0x5000, 0x5100 };

static enum stack_class class_of(uint16_t size, uint64_t address)
{
	const struct wire_sleep s = { .head.size = size, .off = 1, .on = 2, .tid = 1, .stack_len = 1, .stack = { address } };

	tl_free(tl);
	tl = tl_new(&symbol, 1);
	tl_add_sleep(tl, &s);
	return (enum stack_class)tl_at(tl_task(tl, 1), 0)->class;
}

TEST(stacks)
{
	ok(class_of(sizeof(struct wire_sleep), 0x5000) == STACK_LOCK && class_of(WIRE_SLEEP_SHORT, 0x5000) == STACK_NONE,
	   "a sleep keeps the class of its stack");
}

/* ---- bios ---- */

static const struct tl_sleep *sleep_of(uint32_t tid, uint32_t seq)
{
	const struct wire_sleep s = {
		.head.size = WIRE_SLEEP_SHORT, .off = 100 + 10 * seq, .on = 105 + 10 * seq, .tid = tid, .seq = seq
	};

	tl_add_sleep(tl, &s);
	return tl_at(tl_task(tl, tid), tl_task(tl, tid)->n - 1);
}

TEST(bios)
{
	struct wire_bio b = { .queued = 1, .done = 2, .tid = 7, .seq = 3, .disk = 11 };
	const struct tl_sleep *s;
	struct tl_sleep kept, last;

	begin();
	ok(!tl_bio(tl, sleep_of(7, 2)), "no bio");
	tl_add_bio(tl, &b);
	b.disk = 22;
	b.tid = 8;
	tl_add_bio(tl, &b);
	s = sleep_of(7, 3);
	ok(tl_bio(tl, s) && tl_bio(tl, s)->disk == 11, "the bio that ended a sleep");
	kept = *s;
	ok(!tl_bio(tl, sleep_of(7, 4)), "it ended no other one of it");
	s = sleep_of(8, 3);
	ok(tl_bio(tl, s) && tl_bio(tl, s)->disk == 22, "nor one of another task");
	ok(!tl_bio(tl, sleep_of(9, 3)), "who had none has none");
	for (uint32_t i = 0; i < BIOS - 2; i++)
		tl_add_bio(tl, &b);
	ok(tl_bio(tl, &kept) && tl_bio(tl, &kept)->disk == 11, "it is known until 65,535 more have come");
	tl_add_bio(tl, &b);
	ok(!tl_bio(tl, &kept), "then no more");
	begin();
	tl_add_bio(tl, &(struct wire_bio){ .queued = 1, .done = 2, .tid = 7, .seq = 3, .disk = 11 });
	kept = *sleep_of(7, 3);
	b.queued = b.done = 3;
	tl_add_bio(tl, &b);
	last = *sleep_of(8, 3);
	tl_forget(tl, 3 + KEEP);
	b.queued = b.done = 3 + KEEP;
	for (uint32_t i = 0; i < FEW_BIOS - 2; i++)
		tl_add_bio(tl, &b);
	ok(tl_bio(tl, &kept) && tl_bio(tl, &kept)->disk == 11, "there is room for 1,024 at first");
	tl_add_bio(tl, &b);
	ok(!tl_bio(tl, &kept), "one that ended two minutes before anything that is asked for makes room");
	tl_add_bio(tl, &b);
	ok(tl_bio(tl, &last) && tl_bio(tl, &last)->done == 3, "not one that ended later");
}

/* ---- requests ---- */

static void requests(uint64_t from, uint64_t n, uint64_t done)
{
	for (uint64_t i = from; i < from + n; i++) {
		const struct wire_request r = { .rq = i * 64, .done = done + i, .bytes = (uint32_t)i };

		tl_add_request(tl, &r);
	}
}

static uint64_t known(uint64_t from, uint64_t n, uint64_t done)
{
	uint64_t k = 0;

	for (uint64_t i = from; i < from + n; i++) {
		const struct tl_request *r = tl_request(tl, i * 64, done + i);

		k += r && r->r.bytes == (uint32_t)i && r->r.rq == i * 64;
	}
	return k;
}

TEST(requests_are_found)
{
	struct wire_request r = { .rq = 64, .done = 1001, .bytes = 5 };

	begin();
	requests(1, 512, 1000);
	ok(known(1, 512, 1000) == 512 && !tl_request(tl, 64, 1002) && !tl_request(tl, 128, 1001), "each by its key");
	tl_request(tl, 64, 1001)->call = 77;
	tl_add_request(tl, &r);
	ok(tl_request(tl, 64, 1001)->r.bytes == 5 && tl_request(tl, 64, 1001)->call == 77, "it may come again, with more");
	r.bytes = 1;
	tl_add_request(tl, &r);
	requests(513, 1, 1000);
	ok(known(1, 513, 1000) == 513, "more than 512, and all are known");
	requests(514, REQUESTS - 513, 1000);
	ok(known(1, REQUESTS, 1000) == REQUESTS, "131,072 are known");
	requests(REQUESTS + 1, 3, 1000);
	ok(!known(1, 3, 1000) && known(4, REQUESTS, 1000) == REQUESTS, "then the oldest go");
	tl_request(tl, 4 * 64, 1004)->call = 77;
	tl_request(tl, 4 * 64, 1004)->steps = 3;
	requests(REQUESTS + 4, 1, 1000);
	r.done = 1000 + REQUESTS + 4;
	ok(!known(4, 1, 1000) && !tl_request(tl, (REQUESTS + 4) * 64ull, r.done)->call &&
		   !tl_request(tl, (REQUESTS + 4) * 64ull, r.done)->steps,
	   "and nothing of them is left in their places");
}

TEST(old_requests_make_room)
{
	const uint64_t now = 1000 * SEC;

	begin();
	requests(1, 100, now - KEEP - 200);
	requests(101, 412, now);
	requests(513, 100, now);
	ok(!known(1, 100, now - KEEP - 200) && known(101, 512, now) == 512, "those older than two minutes make room");
	requests(613, 1, now);
	ok(known(101, 513, now) == 513, "others do not: there is more room, also where the oldest stands amid the others");
	requests(614, 3000, now);
	ok(known(101, 3513, now) == 3513, "again and again");
	begin();
	requests(1, 512, 1000);
	tl_forget(tl, 1002);
	requests(513, 2, 1000);
	ok(!known(1, 1, 1000) && known(2, 513, 1000) == 513, "so do those that nobody asks for");
}

int main(void)
{
	tests_run();
	tl_free(tl);
	tl_free(NULL);
	return tap_done();
}
