// SPDX-License-Identifier: GPL-2.0-only
/* From walked calls to predictions, to the ns: what is kept of a call, what of it goes, what others and warm CPUs change. */
#include <stdlib.h>
#include <string.h>

#include "analyse/whatif/whatif.h"
#include "util/mem.h"
#include "tap.h"

#define US 1000ull
#define MS 1000000ull
#define T0 (1000 * MS)

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct whatif *w;
static struct report r;

/* ---- calls ---- */

/* Slices are given in us. Without `part` they are the caller's own; key: the barrier write that they are a step of. */
struct piece {
	enum cause cause;
	uint64_t us;
	enum walk_part part;
	uint64_t key;
};

#define STEP(part, key, cause, us) \
	{ \
		cause, us, part, key \
	}
#define OF(part, cause, us) STEP(part, 0, cause, us)
#define OWN(cause, us)	    STEP(PART_OWN, 0, cause, us)

static void begin(void)
{
	report_free(&r);
	whatif_free(w);
	w = whatif_new();
	r.have_sync = true;
}

static uint64_t call_in_gap(uint32_t tid, uint64_t enter, const struct piece *p, size_t n, struct whatif_gap gap)
{
	struct wire_sync s = { .enter = enter, .exit = enter, .tid = tid, .call = CALL_FSYNC };
	struct walk_slice slice[32];
	struct walk_result res = { .slice = slice, .n = n };

	for (size_t i = 0; i < n; i++) {
		slice[i] = (struct walk_slice){ .ns = p[i].us * US,
						.cause = (uint8_t)p[i].cause,
						.part = (uint8_t)p[i].part,
						.barrier = p[i].key,
						.via = p[i].part > PART_EMPTY };
		res.ledger.ns[p[i].cause] += p[i].us * US;
		s.exit += p[i].us * US;
	}
	ledger_add(&r.sync.ledger, &res.ledger);
	r.sync.total_ns += s.exit - s.enter;
	whatif_call(w, &s, &res, gap);
	return s.exit;
}

/* A call whose task was last seen at `from`; 0: never. */
static uint64_t call(uint32_t tid, uint64_t enter, const struct piece *p, size_t n, uint64_t from)
{
	return call_in_gap(tid, enter, p, n, (struct whatif_gap){ .from = from });
}

static void flush_seen(uint64_t issue, uint64_t done)
{
	const struct wire_request q = { .flags = REQUEST_SEQUENCE | REQUEST_ONLY, .pre = { .issue = issue, .done = done } };

	whatif_request(w, &q);
}

static uint64_t without(const char *name)
{
	for (size_t i = 0; i < r.n_whatif; i++)
		if (!strcmp(r.whatif[i].remove, name))
			return r.whatif[i].wall_ns;
	return 0;
}

/* The wall time without a family: where two numbers are divided, to 2 ns. */
static void is(const char *name, uint64_t want, const char *what)
{
	uint64_t have = without(name);

	if (!ok(have + 2 >= want && have <= want + 2, "%s, without %s", what, name))
		diag("%llu instead of %llu", (unsigned long long)have, (unsigned long long)want);
}

static void is_not_said(const char *name, const char *what)
{
	ok(!without(name), "%s: nothing is said of %s", what, name);
}

/* ---- one task: the sum of its slices, less some of them ---- */

#define CALLS 10
#define KEY   (1 << 20) /* in a row of the table: a barrier write of each call */

struct row {
	const char *what;
	uint64_t simulated;			 /* us a call */
	uint64_t flush, post, io, cpu, throttle; /* that go away */
	struct piece p[20];
};

/* clang-format off */
static const struct row rows[] = {
	{ "what a call does on its own", 1170 + 30, 0, 0, 70, 170, 50, {
		OWN(CAUSE_CPU, 10), OWN(CAUSE_RUNQ, 20), OWN(CAUSE_IOQ, 30), OWN(CAUSE_TAG, 40), OWN(CAUSE_THROTTLE, 50),
		OWN(CAUSE_DEVICE_WRITE, 60), OWN(CAUSE_DEVICE_FUA, 70), OWN(CAUSE_DEVICE_READ, 80), OWN(CAUSE_DEVICE_DISCARD, 90),
		OWN(CAUSE_DEVICE_OTHER, 100), OWN(CAUSE_COMPLETION, 110), OWN(CAUSE_JOURNAL, 120), OWN(CAUSE_LOCK, 130),
		OWN(CAUSE_UNKNOWN, 140), OWN(CAUSE_RUNQ, 150) } },
	{ "an empty flush: its way goes with it", 136, 118, 0, 5, 7, 0, {
		OWN(CAUSE_CPU, 10), OF(PART_EMPTY, CAUSE_FLUSH_WAIT, 20), OF(PART_EMPTY, CAUSE_IOQ, 5),
		OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 100), OF(PART_EMPTY, CAUSE_COMPLETION, 6), OF(PART_EMPTY, CAUSE_RUNQ, 7),
		OWN(CAUSE_CPU, 8) } },
	{ "a barrier write of its own", 358, 303, 200, 0, 0, 0, {
		OWN(CAUSE_DEVICE_WRITE, 10), OF(PART_PRE, CAUSE_FLUSH_PRE, 100), OF(PART_DATA, CAUSE_DEVICE_WRITE, 40),
		OF(PART_POST, CAUSE_COMPLETION, 3), OF(PART_POST, CAUSE_FLUSH_POST, 200), OWN(CAUSE_CPU, 5) } },
	{ "a barrier write with one FLUSH, behind it", 258, 203, 200, 0, 0, 0, {
		OWN(CAUSE_DEVICE_WRITE, 50), OF(PART_POST, CAUSE_COMPLETION, 3), OF(PART_POST, CAUSE_FLUSH_POST, 200),
		OWN(CAUSE_CPU, 5) } },
	{ "a commit", 403, 218, 115, 14, 27, 0, {
		OWN(CAUSE_DEVICE_WRITE, 10), OF(PART_JOURNAL, CAUSE_RUNQ, 20), OF(PART_JOURNAL, CAUSE_CPU, 30),
		OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 40), STEP(PART_PRE, KEY, CAUSE_FLUSH_WAIT, 15),
		STEP(PART_PRE, KEY, CAUSE_COMPLETION, 3), STEP(PART_PRE, KEY, CAUSE_FLUSH_PRE, 100),
		STEP(PART_DATA, KEY, CAUSE_IOQ, 14), STEP(PART_DATA, KEY, CAUSE_DEVICE_WRITE, 50),
		STEP(PART_POST, KEY, CAUSE_FLUSH_WAIT, 1), STEP(PART_POST, KEY, CAUSE_FLUSH_POST, 110),
		STEP(PART_POST, KEY, CAUSE_RUNQ, 5), OF(PART_JOURNAL, CAUSE_CPU, 6), OWN(CAUSE_RUNQ, 7), OWN(CAUSE_CPU, 8) } },
	{ "what lies between a flush and a commit is not known to be needed", 282, 220, 0, 0, 0, 0, {
		OWN(CAUSE_DEVICE_WRITE, 10), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 120), OWN(CAUSE_CPU, 9),
		OF(PART_JOURNAL, CAUSE_CPU, 30), STEP(PART_PRE, KEY, CAUSE_FLUSH_PRE, 100),
		STEP(PART_DATA, KEY, CAUSE_DEVICE_WRITE, 20), OWN(CAUSE_CPU, 2) } },
	{ "the second of two commits is the one that was needed", 281, 212, 111, 0, 0, 0, {
		OF(PART_JOURNAL, CAUSE_CPU, 30), STEP(PART_PRE, KEY, CAUSE_FLUSH_PRE, 100), STEP(PART_DATA, KEY, CAUSE_DEVICE_WRITE, 50),
		STEP(PART_POST, KEY, CAUSE_FLUSH_POST, 110), OF(PART_JOURNAL, CAUSE_CPU, 6), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 7),
		STEP(PART_PRE, KEY + 1, CAUSE_FLUSH_PRE, 101), STEP(PART_DATA, KEY + 1, CAUSE_DEVICE_WRITE, 51),
		STEP(PART_POST, KEY + 1, CAUSE_FLUSH_POST, 111), OF(PART_JOURNAL, CAUSE_CPU, 3), OWN(CAUSE_CPU, 2) } },
	{ "a commit without a barrier write is no commit", 15, 0, 0, 0, 0, 0, {
		OWN(CAUSE_DEVICE_WRITE, 10), OF(PART_JOURNAL, CAUSE_CPU, 30), OWN(CAUSE_CPU, 5) } },
	{ "more than 4.29 s of a kind are so many", 4294967 + 700 + 1200000, 1200000, 0, 0, 0, 0, {
		OWN(CAUSE_DEVICE_WRITE, 3000000), OWN(CAUSE_CPU, 700), OWN(CAUSE_DEVICE_FUA, 3000000),
		OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1200000) } },
};
/* clang-format on */

/* Each 1 ms after the one before. Saturated times end in 295 ns. */
static void one_row(const struct row *row)
{
	uint64_t time = T0, from = 0, each = row->simulated * US + (row->simulated > 4294967 ? 295 : 0), all, span;
	struct piece p[20];
	size_t n = 0;

	begin();
	while (n < 20 && row->p[n].us)
		n++;
	for (uint64_t i = 0; i < CALLS; i++, time = from + MS) {
		for (size_t k = 0; k < n; k++) {
			p[k] = row->p[k];
			p[k].key += p[k].key ? 2 * i : 0;
		}
		from = call(7, time, p, n, from);
	}
	span = from - T0;
	r.wall_ns = span + 5 * MS;
	whatif_make(&r, w);
	all = CALLS * each + (CALLS - 1) * MS;
#define GOES(name, us) \
	if (us) \
		is(name, 5 * MS + (uint64_t)((double)span * (double)(all - CALLS * (us)*US) / (double)all), row->what); \
	else \
		is_not_said(name, row->what)
	GOES("flush", row->flush);
	GOES("flush.post", row->post);
	GOES("I/O scheduler", row->io);
	GOES("CPU scheduler", row->cpu);
	GOES("throttle", row->throttle);
}

static void single_tasks(void)
{
	for (size_t i = 0; i < LEN(rows); i++)
		one_row(&rows[i]);
}

static const struct piece flush_1ms[] = { OWN(CAUSE_DEVICE_WRITE, 1000), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1000) };

static uint64_t unknown(uint32_t tid, uint64_t enter, uint64_t ns, uint64_t from)
{
	const struct wire_sync s = { .enter = enter, .exit = enter + ns, .tid = tid, .call = CALL_FSYNC };

	whatif_call(w, &s, NULL, (struct whatif_gap){ .from = from });
	return s.exit;
}

static void calls_without_a_ledger(void)
{
	uint64_t end;

	begin();
	end = unknown(7, T0, 5 * MS, 0);
	end = call(7, end + MS, flush_1ms, 2, end);
	end = unknown(8, end + MS, 9 * MS, 0); /* of another task, in its place */
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	/* simulated: 5 + 1 + 2 + 1 + 2 = 11 ms, of 18 ms */
	is("flush", 18 * MS * 9 / 11, "a call without a ledger: as long as it was, or like the one before");
}

/* ---- gaps ---- */

/* Eleven calls of a write and a flush, 1 ms apart, of which it waited so long for a CPU. */
static void waited(struct whatif_gap gap, uint64_t gone, const char *what)
{
	uint64_t end;

	begin();
	end = call_in_gap(7, T0, flush_1ms, 2, gap);
	for (int i = 0; i < 10; i++) {
		gap.from = gap.from == T0 ? end : gap.from;
		end = call_in_gap(7, end + MS, flush_1ms, 2, gap);
		gap.from = gap.from > 1 ? T0 : gap.from;
	}
	r.wall_ns = end - T0;
	r.sync.ledger.ns[CAUSE_RUNQ] = r.sync.total_ns / 50; /* so that it is worth a word */
	whatif_make(&r, w);
	is("CPU scheduler", 32 * MS - 10 * gone, what);
	is("flush", 21 * MS, what);
}

static void gaps(void)
{
	waited((struct whatif_gap){ T0, 300 * US, false }, 300 * US, "waiting for CPUs between calls");
	waited((struct whatif_gap){ T0, MS, false }, MS, "all of the gap");
	waited((struct whatif_gap){ T0, MS + 1, false }, 0, "more than the gap is no sense");
	waited((struct whatif_gap){ 1, 300 * US, false }, 0, "since another time");
}

static void gap_from_the_future(void)
{
	uint64_t end;

	begin();
	end = call(7, T0, flush_1ms, 2, 0);
	/* it says that its task was seen later than it began: then nothing is known, and it may be in another's place */
	end = call(8, end + MS, flush_1ms, 2, end + MS + 1);
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", 3 * MS, "a gap that begins after its end");
	begin();
	end = call(7, T0, flush_1ms, 2, 0);
	end = call(8, end + MS, flush_1ms, 2, end + MS);
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", 4 * MS, "a task that was there before is in nobody's place");
}

/* A hundred calls, each as soon as the one before has returned: 1 us of a write and 1 us of a flush. */
static void no_gaps(void)
{
	const struct piece p[] = { OWN(CAUSE_DEVICE_WRITE, 1), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1) };
	uint64_t end = T0;

	begin();
	for (int i = 0; i < 100; i++)
		end = call(7, end, p, 2, end);
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", 100 * US, "calls without a gap between them");
}

/* ---- who takes whose place ---- */

static const struct piece long_write[] = { OWN(CAUSE_DEVICE_WRITE, 10000) };
static const struct piece mostly_flush[] = { OWN(CAUSE_DEVICE_WRITE, 2000), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 10000) };
static const struct piece longer_write[] = { OWN(CAUSE_DEVICE_WRITE, 20000) };

/* Task 1 writes for 10 ms, task 2 for 2 and flushes for 10; task 3 comes after `ms` and writes for 20. */
static void third(uint64_t ms, uint64_t from, uint64_t want, const char *what)
{
	uint64_t end;

	begin();
	call(1, T0, long_write, 1, 0);
	call(2, T0, mostly_flush, 2, 0);
	end = call(3, T0 + ms * MS, longer_write, 1, from);
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", want * MS, what);
}

static void lanes(void)
{
	third(13, 0, 2 + 1 + 20, "in the place of the one that ended last");
	third(12, 0, 2 + 20, "at once");
	third(11, 0, 10 + 1 + 20, "or of the only one that had ended");
	third(9, 0, 9 + 20, "of nobody: it comes when it came");
	third(13, T0, 13 + 20, "so does one that was there before");
}

/* ---- shared commits ---- */

/* The steps of a commit's barrier write: 3.8 ms, of which 0.8 are no flush. */
#define RECORD(key) \
	STEP(PART_PRE, key, CAUSE_FLUSH_PRE, 1500), STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 800), \
		STEP(PART_POST, key, CAUSE_FLUSH_POST, 1500)
#define BLOCKS OF(PART_JOURNAL, CAUSE_CPU, 200), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 300)

static const struct piece whole_commit[] = { BLOCKS, RECORD(T0 + 1) };

/* Task 1 sees a commit from its beginning; task 2 comes after `us`, and sees this of another one, or of the same. */
static void two_commits(uint64_t us, const struct piece *second, size_t n, uint64_t left_us, uint64_t of_us,
			const char *what)
{
	uint64_t end1, end2;

	begin();
	end1 = call(1, T0, whole_commit, LEN(whole_commit), 0);
	end2 = call(2, T0 + us * US, second, n, T0);
	r.wall_ns = (end1 > end2 ? end1 : end2) - T0;
	whatif_cpu(w, 0);
	whatif_cpu(w, 1);
	whatif_make(&r, w);
	is("flush", (uint64_t)((double)r.wall_ns * (double)left_us / (double)of_us), what);
}

/*
 * The simulation has one journal, whose second commit waits for the first: 4.3 ms, 1.3 of them without flushes. Where blocks were
 * written before task 2 came, it comes 0.5 ms earlier.
 */
static void which_commit(void)
{
	const struct piece own[] = { BLOCKS, RECORD(T0 + 2) }, end_of_own[] = { RECORD(T0 + 2) };
	const struct piece next[] = {
		STEP(PART_PRE, T0 + 1, CAUSE_FLUSH_PRE, 1000),	 STEP(PART_DATA, T0 + 1, CAUSE_DEVICE_WRITE, 800),
		STEP(PART_POST, T0 + 1, CAUSE_FLUSH_POST, 1500), OF(PART_JOURNAL, CAUSE_CPU, 100),
		OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 200),	 RECORD(T0 + 2)
	};

	two_commits(1500, own, LEN(own), 1500 + 1300, 2 * 4300, "a commit that began with the call is its own");
	two_commits(2000, end_of_own, LEN(end_of_own), 1500 + 800, 4300, "one that nobody saw begin had begun before");
	two_commits(1000, next, LEN(next), 1300 + 1100, 4300 + 4100, "the next one began when the one before it ended");
}

/* What is not known of a call is taken from the one before: also which commit it needed. */
static void commit_of_an_unknown_call(void)
{
	const struct piece write[] = { OWN(CAUSE_DEVICE_WRITE, 100) };

	begin();
	call(3, T0, write, 1, 0);
	call(1, T0, whole_commit, LEN(whole_commit), T0);
	r.wall_ns = unknown(2, T0 + 2000 * US, 2300 * US, T0) - T0;
	whatif_cpu(w, 0);
	whatif_make(&r, w);
	is("flush", 1500 * US + 1300 * US, "a call without a ledger shares the commit of the one before");
}

/*
 * One commit after the other, each with 100 us of FLUSHes and 50 of data, and then another call that waited for the first of them,
 * and saw 200 us: it is known again among the last eight.
 */
static void one_more_of_the_first(uint64_t commits, uint64_t flush_us)
{
	const uint64_t span_us = 150 * commits + 250, data_us = 50 * (commits + 1);
	uint64_t end = T0;

	begin();
	for (uint64_t i = 0; i <= commits; i++) {
		const uint64_t key = T0 + 1 + i % commits;
		const struct piece p[] = { STEP(PART_PRE, key, CAUSE_FLUSH_PRE, i < commits ? 100 : 200),
					   STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 50) };

		end = call(7, end, p, 2, end);
	}
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", (uint64_t)((double)(span_us * US) * (double)data_us / (double)(data_us + flush_us)),
	   "commits of one task");
}

static void commits_back(void)
{
	/* commits are taken in turn: with eight of them the last call has the first again */
	one_more_of_the_first(8, 200 + 7 * 100 + 200);
	one_more_of_the_first(9, 9 * 100 + 200);
}

/*
 * Task 2 comes while task 1's write is in the I/O scheduler, and just in time for its commit. Without the scheduler it would come
 * too late, and wait for a second commit.
 */
static void never_slower(void)
{
#define SHARED OF(PART_JOURNAL, CAUSE_RUNQ, 20), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 280), RECORD(T0 + 1)
	const struct piece first[] = { OWN(CAUSE_IOQ, 100), SHARED }, second[] = { OWN(CAUSE_LOCK, 10), SHARED };

	begin();
	r.wall_ns = call(1, T0, first, LEN(first), 0) - T0;
	call(2, T0 + 90 * US, second, LEN(second), T0);
	whatif_cpu(w, 0);
	whatif_cpu(w, 1);
	whatif_make(&r, w);
	is("I/O scheduler", r.wall_ns, "what would make it slower changes nothing");
}

/* Task 1 sees all of a commit of 4.3 ms, task 2 what is left of it after 1 ms. Rounds of 6 ms. */
static void two_share(bool late_first, uint64_t seen_by_second)
{
	uint64_t end1 = 0, end2 = 0;

	begin();
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t time = T0 + 6 * MS * i, key = T0 + i + 1;
		const struct piece all[] = { OF(PART_JOURNAL, CAUSE_CPU, 200), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 300),
					     STEP(PART_PRE, key, CAUSE_FLUSH_PRE, 1500),
					     STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 800),
					     STEP(PART_POST, key, CAUSE_FLUSH_POST, 1500) };
		const struct piece rest[] = { STEP(PART_PRE, key, CAUSE_FLUSH_PRE, seen_by_second - 2300),
					      STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 800),
					      STEP(PART_POST, key, CAUSE_FLUSH_POST, 1500) };

		if (late_first)
			end2 = call(2, time + (4300 - seen_by_second) * US, rest, 3, end2);
		end1 = call(1, time, all, 5, end1);
		if (!late_first)
			end2 = call(2, time + (4300 - seen_by_second) * US, rest, 3, end2);
	}
	r.wall_ns = end1 - T0;
	whatif_cpu(w, 0);
	whatif_cpu(w, 1);
	whatif_make(&r, w);
	/* 1.3 ms are left of a commit, and 1.7 ms between them */
	is("flush", 49 * 3000 * US + 1300 * US, "two tasks share commits");
	is("flush.post", 49 * 4500 * US + 2800 * US, "two tasks share commits");
}

/* ---- writes that a device holds ---- */

/*
 * Task 1 flushes for 10 of each 11 ms. Task 2 writes 2 ms after it began, and is done 1 ms after it has ended. Of so many FLUSHes
 * another task writes for 1 ms `before` the end.
 */
static void held_writes(uint64_t quick, uint64_t before, bool is_held, const char *what)
{
	const struct piece flush[] = { OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 10000) };
	const struct piece held[] = { OWN(CAUSE_DEVICE_WRITE, 500), OWN(CAUSE_UNKNOWN, 500),
				      OWN(CAUSE_DEVICE_WRITE, 8000) };
	const struct piece alone[] = { OWN(CAUSE_DEVICE_WRITE, 1000) }, long_one[] = { OWN(CAUSE_DEVICE_WRITE, 5000) };
	const struct piece short_one[] = { OWN(CAUSE_DEVICE_WRITE, 500) }, no_write[] = { OWN(CAUSE_LOCK, 1) };
	uint64_t end1 = 0, end2 = 0;

	begin();
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t time = T0 + 11 * MS * i;

		end1 = call(1, time, flush, 1, end1);
		/* told in pairs, the later first */
		flush_seen(T0 + 11 * MS * (i ^ 1), T0 + 11 * MS * (i ^ 1) + 10 * MS);
		end2 = call(2, time + 2 * MS, held, 3, end2);
		if (i < quick)
			call(10 + (uint32_t)i, time + 10 * MS - before, alone, 1, T0);
	}
	/* half a ms, one, and five: what writes take that are alone */
	call(30, T0 + 10 * MS, alone, 1, T0);
	call(31, T0 + 10 * MS, long_one, 1, T0);
	call(32, T0 + 10 * MS, short_one, 1, T0);
	call(33, T0 + 10 * MS, long_one, 1, T0);
	call(34, T0 + 10 * MS, short_one, 1, T0);
	for (uint32_t i = 0; i < 20; i++)
		call(40 + i, T0 + 10 * MS, no_write, 1, T0); /* without a write */
	r.wall_ns = 88 * MS;
	for (uint32_t i = 0; i < 16; i++)
		whatif_cpu(w, i);
	whatif_make(&r, w);
	if (is_held && quick)
		ok(without("flush") < 88 * MS, "%s: they are held", what);
	else
		is("flush", (is_held ? 24 : 88) * MS, what);
}

/*
 * The same FLUSHes, and those of another disk that are begun with them and take 9 ms. Task 2 comes so long after each has begun; of
 * seven other writes it is known that they were not held.
 */
static void held_to_the_end(uint64_t at_us, const struct piece *p, size_t n, uint64_t left_us, const char *what)
{
	const struct piece flush[] = { OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 10000) },
			   quick[] = { OWN(CAUSE_DEVICE_WRITE, 1000) };
	uint64_t end1 = 0, end2 = 0;

	begin();
	for (uint64_t i = 0; i < 8; i++) {
		const uint64_t time = T0 + 11 * MS * i;

		end2 = call(2, time + at_us * US, p, n, end2);
		end1 = call(1, time, flush, 1, end1);
		flush_seen(time, time + (9 + i % 2) * MS);
		flush_seen(time, time + (10 - i % 2) * MS);
	}
	for (uint32_t i = 0; i < 7; i++)
		call(10 + i, T0 + 5 * MS, quick, 1, T0);
	r.wall_ns = (end1 > end2 ? end1 : end2) - T0;
	for (uint32_t i = 0; i < 16; i++)
		whatif_cpu(w, i);
	whatif_make(&r, w);
	is("flush", left_us * US, what);
}

/* Eight calls, and seven times from the end of one to the next. */
static void held_parts(void)
{
	const struct piece all[] = { OWN(CAUSE_DEVICE_WRITE, 8000) }, at_once[] = { OWN(CAUSE_DEVICE_WRITE, 10000) };
	const struct piece mostly_unknown[] = { OWN(CAUSE_DEVICE_WRITE, 1000), OWN(CAUSE_UNKNOWN, 7000) };
	const struct piece between[] = { OWN(CAUSE_CPU, 500), OWN(CAUSE_DEVICE_WRITE, 9000), OWN(CAUSE_LOCK, 300) };

	held_to_the_end(2000, all, 1, 2000 + 7 * 3000, "writes that end when the FLUSH does are held");
	held_to_the_end(0, at_once, 1, 7 * 1000, "those that come when it begins, too");
	held_to_the_end(2000, mostly_unknown, 2, 2000 + 7 * 3000, "what is not known of a write is held with it");
	held_to_the_end(1500, between, 3, 1500 + 8 * 1800 + 7 * 1200, "what lies before and after a write is not");
}

/*
 * The blocks of a commit come 0.2 ms after a FLUSH of task 2 has begun, and are written 0.3 ms after its end. A FLUSH of another disk
 * holds the record until 0.8 ms before its end. Task 3 shows that this device holds writes: 0.1 ms of its own are left.
 */
static void held_commit(void)
{
	const struct piece flush[] = { OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 10000) },
			   held[] = { OWN(CAUSE_DEVICE_WRITE, 10000) };
	const struct piece commit[] = { OF(PART_JOURNAL, CAUSE_CPU, 200), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 10100),
					STEP(PART_PRE, T0 + 1, CAUSE_FLUSH_PRE, 1500),
					STEP(PART_DATA, T0 + 1, CAUSE_DEVICE_WRITE, 8000),
					STEP(PART_POST, T0 + 1, CAUSE_FLUSH_POST, 1500) };

	begin();
	call(2, T0, flush, 1, 0);
	flush_seen(T0, T0 + 10 * MS);
	call(3, T0 + 100 * US, held, 1, T0);
	flush_seen(T0 + 11 * MS, T0 + 19 * MS);
	r.wall_ns = call(1, T0, commit, LEN(commit), T0) - T0;
	for (uint32_t i = 0; i < 4; i++)
		whatif_cpu(w, i);
	whatif_make(&r, w);
	/* as it was: the FLUSH, the rest of the blocks, the FLUSHes and the rest of the record */
	is("flush", (uint64_t)(21.3e6 * (200 + 300 + 800) / (10000 + 300 + 1500 + 800 + 1500)),
	   "blocks and records are held, too");
}

static void holding(void)
{
	held_writes(0, 0, true, "writes that end when the FLUSH has");
	held_writes(7, 5 * MS, true, "most of them");
	held_writes(8, 5 * MS, false, "half of them");
	held_writes(8, 1500 * US, false, "half of them, with the time to get done");
	held_writes(8, 1499 * US, true, "those that had not the time to get done don't count");
}

/* ---- blocks that are being written ---- */

/* Task 1 commits three times, each after so long; task 2 is called at once for `first`, then after a gap for 20 ms. */
static void blocks(uint64_t each_us, uint64_t first_us, uint64_t gap_us, uint64_t left_us, uint64_t of_us, const char *what)
{
	const struct piece first[] = { OWN(CAUSE_DEVICE_WRITE, first_us) }, second[] = { OWN(CAUSE_DEVICE_WRITE, 20000) };
	uint64_t end1 = 0, end2;

	begin();
	end2 = call(2, T0, first, 1, 0);
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t key = T0 + i + 1;
		const struct piece all[] = { OF(PART_JOURNAL, CAUSE_CPU, 200), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 300),
					     STEP(PART_PRE, key, CAUSE_FLUSH_PRE, 1500),
					     STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 800),
					     STEP(PART_POST, key, CAUSE_FLUSH_POST, 1500) };

		end1 = call(1, T0 + each_us * US * i, all, 5, end1);
	}
	end2 = call(2, end2 + gap_us * US, second, 1, end2);
	r.wall_ns = end2 - T0;
	whatif_cpu(w, 0);
	whatif_cpu(w, 1);
	whatif_make(&r, w);
	is("flush", (uint64_t)((double)r.wall_ns * (double)left_us / (double)of_us), what);
}

/* Blocks are written for 500 us at the beginning of each commit; without flushes commits come 3 ms sooner. */
static void blocking(void)
{
	blocks(7000, 5000, 500, 25500, 25500, "no blocks were written in the gap");
	blocks(7000, 7100, 2900, 29600, 30000, "the gap began while blocks were written: it stopped for 400 us");
	blocks(7000, 7100, 8900, 35100, 35500, "and for 500 us when they were written again");
	blocks(7000, 6850, 700, 27050, 27500, "it ended soon after they were written");
	blocks(7000, 6850, 640, 27490, 27490, "one that ended before was not stopped");
	blocks(7000, 7200, 300, 27200, 27500, "one that ended when they were written was");
	blocks(7000, 100, 7500, 27100, 27500, "the first blocks of all stop one for 400 us");
}

/* Task 1's commits are seen from their first FLUSH on: nothing is known of their blocks. */
static void blocks_that_nobody_saw(void)
{
	const struct piece first[] = { OWN(CAUSE_DEVICE_WRITE, 7100) };
	const struct piece second[] = { OWN(CAUSE_DEVICE_WRITE, 20000), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 5000) };
	uint64_t end1 = 0, end2;

	begin();
	end2 = call(2, T0, first, 1, 0);
	for (uint64_t i = 0; i < 3; i++) {
		const struct piece rest[] = { RECORD(T0 + i + 1) };

		end1 = call(1, T0 + 7 * MS * i, rest, LEN(rest), end1);
	}
	end2 = call(2, end2 + 7900 * US, second, 2, end2);
	r.wall_ns = end2 - T0;
	whatif_cpu(w, 0);
	whatif_cpu(w, 1);
	whatif_make(&r, w);
	is("flush", 35 * MS, "blocks that nobody saw stop nobody");
}

/*
 * One gap was stopped by blocks, and six calls came while some were written: a seventh of these is taken to be stopped. It is task
 * 2's last, so task 3, whose gap lies in the third commit's blocks, is not.
 */
static void one_of_seven_is_blocked(void)
{
	const struct piece first2[] = { OWN(CAUSE_DEVICE_WRITE, 3000) }, more2[] = { OWN(CAUSE_DEVICE_WRITE, 3850) };
	const struct piece first3[] = { OWN(CAUSE_DEVICE_WRITE, 14100) }, last[] = { OWN(CAUSE_DEVICE_WRITE, 20000) };
	uint64_t end1 = 0, end2, end3;

	begin();
	end3 = call(3, T0, first3, 1, 0);
	end2 = call(2, T0, first2, 1, T0);
	for (uint64_t i = 0; i < 3; i++) {
		const struct piece all[] = { BLOCKS, RECORD(T0 + i + 1) };

		end1 = call(1, T0 + 7 * MS * i, all, LEN(all), end1 ? end1 : T0);
	}
	end2 = call(2, end2, more2, 1, end2);
	call(2, end2 + 700 * US, last, 1, end2);
	end3 = call(3, end3 + 200 * US, last, 1, end3);
	r.wall_ns = end3 - T0;
	for (uint32_t i = 0; i < 3; i++)
		whatif_cpu(w, i);
	whatif_make(&r, w);
	is("flush", r.wall_ns, "no more of them than were stopped");
}

/*
 * Commits of three tasks at 0, 7 and 14 ms, told in another order. Another task has 2 ms of FLUSH in a call until 7.1 ms, and
 * in the gap after it blocks are written for 400 and for 500 us.
 */
static void blocks_in_any_order(void)
{
	static const uint64_t order[] = { 14, 0, 7 };
	const struct piece first[] = { OWN(CAUSE_DEVICE_WRITE, 4400), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 2000),
				       OWN(CAUSE_DEVICE_WRITE, 700) };
	const struct piece second[] = { OWN(CAUSE_DEVICE_WRITE, 20000) };
	uint64_t end;

	begin();
	end = call(2, T0, first, 3, 0);
	for (uint32_t i = 0; i < LEN(order); i++) {
		const uint64_t key = T0 + i + 1;
		const struct piece all[] = { OF(PART_JOURNAL, CAUSE_CPU, 200), OF(PART_JOURNAL, CAUSE_DEVICE_WRITE, 300),
					     STEP(PART_PRE, key, CAUSE_FLUSH_PRE, 1500),
					     STEP(PART_DATA, key, CAUSE_DEVICE_WRITE, 800),
					     STEP(PART_POST, key, CAUSE_FLUSH_POST, 1500) };

		call(10 + i, T0 + order[i] * MS, all, 5, T0);
	}
	end = call(2, end + 8900 * US, second, 1, end);
	r.wall_ns = end - T0;
	for (uint32_t i = 0; i < 8; i++)
		whatif_cpu(w, i);
	whatif_make(&r, w);
	is("flush", (uint64_t)(36e6 * 33.1 / 35.5), "blocks of commits in any order");
}

/* ---- CPU time of requests ---- */

/* Four tasks on one CPU, each with a write of 200 us and the same FLUSH; `kernel_us` of CPU time in the kernel beside. */
static void crowded(uint64_t kernel_us, uint64_t user_us, uint64_t want_us, uint64_t of_us, const char *what)
{
	const struct piece p[] = { OWN(CAUSE_CPU, 10), OWN(CAUSE_DEVICE_WRITE, 200), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 800),
				   OF(PART_EMPTY, CAUSE_COMPLETION, 5), OWN(CAUSE_CPU, 3) };
	struct wire_request plain = { .pre = { .issue = T0, .done = T0 + 1 } };
	uint64_t end = 0;

	begin();
	flush_seen(T0, T0 + 9); /* before any call */
	for (uint32_t i = 0; i < 4; i++)
		end = call(1 + i, T0, p, 5, 0);
	flush_seen(T0, T0 + 5);
	whatif_request(w, &plain);
	flush_seen(T0 + 1, T0 + 5); /* the same */
	flush_seen(0, T0 + 6);
	flush_seen(T0 + 7, T0 + 7);
	flush_seen(T0 + 8, T0 + 7);
	whatif_cpu(w, 0);
	whatif_cpu(w, 4096);
	whatif_cpu(w, 0);
	r.wall_ns = end - T0;
	r.kernel_cpu_ns = kernel_us * US;
	r.user_ns = user_us * US;
	whatif_make(&r, w);
	is("flush", (uint64_t)((double)r.wall_ns * (double)want_us / (double)of_us), what);
}

/*
 * Without: computing by turns, what is left of the write, and the ends. As it was: also a FLUSH of the first, one of the others, a
 * way back.
 */
static void requests_compute(void)
{
	crowded(0, 0, 40 + 200 + 12, 40 + 200 + 1600 + 5 + 9, "the kernel's CPU time is not known");
	crowded(72, 0, 40 + 200 + 12, 40 + 200 + 1600 + 5 + 9, "all of it is known already");
	crowded(200, 122, 240 + 150 + 12, 240 + 150 + 1600 + 5 + 9, "50 us of each request");
	crowded(72 + 500, 0, 440 + 100 + 12, 440 + 100 + 1600 + 5 + 9, "100 us of each");
	crowded(9000, 0, 440 + 100 + 12, 440 + 100 + 1600 + 5 + 9, "more than that is no request's own");
}

/* Two tasks compute for 1 ms each and flush for 1 ms, one after the other: no CPU was seen, but there must be one. */
static void no_cpu_was_seen(void)
{
	const struct piece p[] = { OWN(CAUSE_CPU, 1000), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1000) };

	begin();
	call(1, T0, p, 2, T0);
	r.wall_ns = call(2, T0, p, 2, T0) - T0;
	whatif_make(&r, w);
	is("flush", MS, "one CPU at least");
}

/* ---- warm CPUs ---- */

/* After 10 ms of rest a CPU takes three times as long for its work as after 1 ms, and twice to be woken. */
static const struct pace_point points[] = { { .idle_ns = MS, .work_ns = 10 * US, .wake_ns = 2 * US },
					    { .idle_ns = 10 * MS, .work_ns = 30 * US, .wake_ns = 4 * US } };

static void measured(const struct pace_point *p)
{
	r.pace.point = xcalloc(2, sizeof(*p));
	r.pace.n = 2;
	memcpy(r.pace.point, p, 2 * sizeof(*p));
}

/*
 * Two commits of 21 ms in FLUSHes, and all that computes in between. Bits of `writes`: the own part, the blocks and the record are
 * written, or something else is waited for.
 */
static void commits_on_warm_cpus(unsigned int writes)
{
	const enum cause own = writes & 1 ? CAUSE_DEVICE_WRITE : CAUSE_LOCK,
			 blocks = writes & 2 ? CAUSE_DEVICE_WRITE : CAUSE_LOCK,
			 data = writes & 4 ? CAUSE_DEVICE_FUA : CAUSE_LOCK;
	const uint64_t written = (writes & 1) + (writes >> 1 & 1) + (writes >> 2);
	uint64_t end = 0;

	begin();
	measured(points);
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t key = T0 + i + 1, time = i ? end + 500 * US : T0;
		const struct piece p[] = { OWN(CAUSE_CPU, 11),
					   OWN(own, 200),
					   OF(PART_JOURNAL, CAUSE_CPU, 20),
					   OF(PART_JOURNAL, blocks, 100),
					   STEP(PART_PRE, key, CAUSE_FLUSH_PRE, 20000),
					   STEP(PART_DATA, key, CAUSE_COMPLETION, 7),
					   STEP(PART_DATA, key, data, 300),
					   STEP(PART_POST, key, CAUSE_FLUSH_POST, 1000),
					   OF(PART_JOURNAL, CAUSE_CPU, 4),
					   OWN(CAUSE_RUNQ, 100),
					   OWN(CAUSE_CPU, 3),
					   OWN(CAUSE_RUNQ, 101) };

		end = call_in_gap(7, time, p, LEN(p), (struct whatif_gap){ i ? end : 0, i ? 60 * US : 0, true });
		whatif_request(w, &(struct wire_request){
					  .flags = REQUEST_SEQUENCE,
					  .pre = { .issue = time + 331 * US, .done = time + 20331 * US },
					  .post = { .issue = time + 20638 * US, .done = time + 21638 * US } });
	}
	r.wall_ns = end - T0;
	/* known: 45 us of each call, and 440 us between them; then 40 us of each FLUSH and write */
	r.kernel_cpu_ns = (200 + 2 * (written + 2) * 40) * US;
	r.user_ns = 330 * US;
	whatif_make(&r, w);
	/* 10 and 30 us of work: without flushes 10 and 10; 2 and 4 of waking up: 2 and 2 */
	is("flush", 2 * (22500 + 600 * US - written * 20 * US + 66666 + 101 * US) + 220 * US + 60 * US,
	   "commits on warm CPUs");
}

/* What a gap computes where it lost the CPU: as much as those like it in which it did not. */
static void gaps_on_warm_cpus(void)
{
	static const struct {
		uint64_t gap_us;
		bool busy, known, commit;
	} calls[] = {
		{ 0, false, false, false },   { 100, true, true, false }, { 1000, false, true, false },
		{ 80, false, true, false },   { 500, true, true, true },  { 700, false, true, false },
		{ 300, false, false, false }, { 200, true, true, false },
	};
	const double work = 80.0 / 200; /* before the second call nothing is known to have rested */
	uint64_t end = T0;

	begin();
	measured(points);
	for (size_t i = 0; i < LEN(calls); i++) {
		const struct piece flush[] = { OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 20000) };
		const struct piece commit[] = { STEP(PART_PRE, T0 + 1, CAUSE_FLUSH_PRE, 20000) };

		end = call_in_gap(7, end + calls[i].gap_us * US, calls[i].commit ? commit : flush, 1,
				  (struct whatif_gap){ calls[i].known ? end : 0, 0, calls[i].busy });
	}
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	/* busy ones: 100, 200 and, before the commit, 500; of the one of 1000 as much as the mean of the first two */
	is("flush", (uint64_t)((100 + 150 + 500 + 200) * US * work) + (850 + 80 + 700 + 300) * US, "gaps on warm CPUs");
}

/*
 * With 101 calls, of which nothing is known to have rested before the first: without flushes half of the CPU time is left. In each
 * gap but one the task lost the CPU.
 */
static void row_on_warm_cpus(uint64_t gap_us, uint64_t kernel_ns, uint64_t left_ns, const char *what)
{
	static const struct pace_point halves[] = { { .idle_ns = MS, .work_ns = 100, .wake_ns = 100 },
						    { .idle_ns = 10 * MS, .work_ns = 201, .wake_ns = 201 } };
	const struct piece p[] = { OWN(CAUSE_CPU, 100), OWN(CAUSE_DEVICE_WRITE, 200),
				   OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 20000) };
	uint64_t end = 0;

	begin();
	measured(halves);
	for (uint64_t i = 0; i < 101; i++) {
		const uint64_t gap = i == 50 ? 505 * US : gap_us * US;

		end = call_in_gap(7, i ? end + gap : T0, p, LEN(p), (struct whatif_gap){ end, 0, i == 50 });
		flush_seen(end - 20 * MS, end);
	}
	r.wall_ns = end - T0;
	r.kernel_cpu_ns = kernel_ns;
	whatif_make(&r, w);
	is("flush", left_ns, what);
}

static void rows_on_warm_cpus(void)
{
	/* of each call 50 us of CPU time and 200 of the write; of the busy gap 252.5 us */
	row_on_warm_cpus(505, 0, 101 * 250 * US + 252500 + 99 * 505 * US, "gaps as long as the busy one stay");
	row_on_warm_cpus(600, 0, 101 * 250 * US + 100 * 252500 + 99 * 95 * US, "longer ones computed as long as it");
	/* beyond the calls and the busy gap 40,001 ns of each write and FLUSH: 20,000 and 159,999 ns of a write are left */
	row_on_warm_cpus(505, 101 * (100000 + 5000 + 2 * 40001), 101 * 229999 + 252500 + 99 * 505 * US,
			 "requests compute, too");
}

/*
 * A completion of 8 ms that takes as long as the CPU has rested: two fifths of that after 8 ms instead of 20, then two fifths of
 * what is left, three times.
 */
static void warmer_and_warmer(void)
{
	static const struct pace_point line[] = { { .idle_ns = 0 },
						  { .idle_ns = 20 * MS, .work_ns = 20 * MS, .wake_ns = 20 * MS } };
	const struct piece p[] = { OWN(CAUSE_CPU, 10), OWN(CAUSE_COMPLETION, 8000),
				   OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 12000) };
	uint64_t end = T0;

	begin();
	measured(line);
	end = call(7, end, p, LEN(p), 0);
	end = call(7, end, p, LEN(p), end);
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", 2 * 8010 * 64, "a CPU that gets warmer in three rounds");
}

/* ---- what is kept of a long run ---- */

/* So many calls, 1 us apart, of 1 us and a flush that takes longer with every 1024 of them. */
static void many_calls(uint64_t calls, uint64_t step)
{
	uint64_t end = T0 - US, all = 0, gone = 0;

	for (uint64_t i = 0; i < calls; i++) {
		const struct piece p[] = { OWN(CAUSE_DEVICE_WRITE, 1), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1 + i / 1024) };

		end = call(7, end + US, p, 2, end);
		if (i / 1024 % step)
			continue;
		all += 2 + i / 1024;
		gone += 1 + i / 1024;
		all += i && (step == 1 || i % 1024); /* the gap before it, unless it begins a simulation */
	}
	r.wall_ns = end - T0;
	whatif_make(&r, w);
	is("flush", (uint64_t)((double)r.wall_ns * (double)(all - gone) / (double)all), "a long run");
}

static void long_run(uint64_t calls, uint64_t step)
{
	begin();
	many_calls(calls, step);
}

static void forget(void)
{
	whatif_forget(w);
	report_free(&r);
	r.have_sync = true;
}

static void long_runs(void)
{
	long_run(1024, 1);
	long_run(2000, 1);
	long_run(16 * 1024, 1);
	long_run(16 * 1024 + 1, 2);
	long_run(17 * 1024 + 5, 2);
	long_run(31 * 1024, 2);
	long_run(33 * 1024, 4);
	forget();
	many_calls(2000, 1);
	forget();
	call(7, T0, mostly_flush, 2, 0);
	r.wall_ns = 20 * MS;
	whatif_make(&r, w);
	is("flush", 10 * MS, "after all was forgotten only the new call counts");
}

/* ---- what is said ---- */

static void bounds(void)
{
	const struct piece hundredth[] = { OWN(CAUSE_DEVICE_WRITE, 990), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 10) };
	const struct piece less[] = { OWN(CAUSE_DEVICE_WRITE, 991), OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 9) };
	const struct piece all[] = { OF(PART_EMPTY, CAUSE_FLUSH_ONLY, 1000) };

	begin();
	call(7, T0, hundredth, 2, 0);
	r.wall_ns = MS;
	whatif_make(&r, w);
	is("flush", 990 * US, "a hundredth is worth a word");
	begin();
	call(7, T0, less, 2, 0);
	r.wall_ns = MS;
	whatif_make(&r, w);
	is_not_said("flush", "less is not");
	begin();
	call(7, T0, all, 1, 0);
	r.wall_ns = MS;
	whatif_make(&r, w);
	ok(r.n_whatif == 1 && !r.whatif[0].wall_ns && r.whatif[0].speedup == 0, "nothing is left: no factor");
	begin();
	call(7, T0, mostly_flush, 2, 0);
	r.wall_ns = 6 * MS;
	whatif_make(&r, w);
	is("flush", MS, "calls longer than the run are all of it");
	ok(r.n_whatif == 1 && r.whatif[0].speedup == 6, "six times as fast");
}

static void nothing_is_said(void)
{
	begin();
	call(7, T0, mostly_flush, 2, 0);
	whatif_make(&r, w);
	ok(!r.n_whatif, "nothing is said where the wall time is not known");
	r.wall_ns = 12 * MS;
	r.have_sync = false;
	whatif_make(&r, w);
	ok(!r.n_whatif, "nor where calls were not traced");
}

static void periods(void)
{
	const struct piece fifth[] = { OWN(CAUSE_DEVICE_WRITE, 800), OWN(CAUSE_FLUSH_PRE, 50), OWN(CAUSE_RUNQ, 60),
				       OWN(CAUSE_TAG, 90) };
	const struct piece less[] = { OWN(CAUSE_DEVICE_WRITE, 701), OWN(CAUSE_THROTTLE, 100), OWN(CAUSE_FLUSH_ONLY, 199) };

	begin();
	call(7, T0 + 5 * MS, fifth, 4, 0);
	ok(whatif_period(w, &r.sync.ledger) == MS, "a fifth can be taken away: the time from call to call");
	r.sync.ledger.ns[CAUSE_TAG]--;
	ok(!whatif_period(w, &r.sync.ledger), "not a nanosecond less");
	r.sync.ledger.ns[CAUSE_TAG]++;
	call(7, T0 + 7 * MS, fifth, 4, 0);
	ok(!whatif_period(w, &r.sync.ledger), "400 us of 3 ms are less");
	call(7, T0 + 6 * MS, fifth, 4, 0);
	ok(whatif_period(w, &r.sync.ledger) == MS, "600 are a fifth again, whatever came first");
	begin();
	call(7, T0, less, 3, 0);
	ok(!whatif_period(w, &r.sync.ledger), "a cause that is no family does not count");
}

int main(void)
{
	single_tasks();
	calls_without_a_ledger();
	gaps();
	gap_from_the_future();
	no_gaps();
	lanes();
	two_share(false, 3300);
	two_share(true, 3300);
	two_share(false, 3100);
	which_commit();
	commit_of_an_unknown_call();
	commits_back();
	never_slower();
	holding();
	held_parts();
	held_commit();
	blocking();
	blocks_in_any_order();
	blocks_that_nobody_saw();
	one_of_seven_is_blocked();
	requests_compute();
	no_cpu_was_seen();
	for (unsigned int writes = 0; writes < 8; writes++)
		commits_on_warm_cpus(writes);
	gaps_on_warm_cpus();
	rows_on_warm_cpus();
	warmer_and_warmer();
	long_runs();
	bounds();
	nothing_is_said();
	periods();
	report_free(&r);
	whatif_free(w);
	return tap_done();
}
