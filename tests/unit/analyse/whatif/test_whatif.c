// SPDX-License-Identifier: GPL-2.0-only
/* The what-if on runs made by hand whose answers can be worked out: the simulation alone, then from calls to the report. */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "analyse/whatif/sim.h"
#include "tap.h"
#include "analyse/whatif/whatif.h"

#define US 1000u
#define MS 1000000u

static const struct sim_without nothing, flush = { .flush = true }, post = { .post = true };

static bool near(uint64_t have, uint64_t want, double percent)
{
	double off = want ? 100.0 * ((double)have - (double)want) / (double)want : 0;

	if (off <= percent && off >= -percent)
		return true;
	diag("%llu instead of %llu", (unsigned long long)have, (unsigned long long)want);
	return false;
}

/* ---- the simulation ---- */

#define CALLS_MAX 4096u

static struct sim_call calls[CALLS_MAX];
/* clang-format off */
static struct sim_commit commit_record = {
	.before.ns = { [SIM_RUNQ] = 20 * US, [SIM_WRITE] = 280 * US }, .data.ns[SIM_WRITE] = 200 * US, .pre = MS, .post = MS,
};
/* clang-format on */

/* `tasks` tasks take turns in the array; each makes `each` calls like `c`. */
static struct sim_input loops(const struct sim_call *c, uint32_t tasks, uint32_t each, uint32_t cpus)
{
	for (uint32_t i = 0; i < tasks * each; i++) {
		calls[i] = *c;
		calls[i].task = i % tasks;
	}
	return (struct sim_input){
		.call = calls,
		.n_calls = tasks * each,
		.n_tasks = tasks,
		.commit = &commit_record,
		.n_commits = 1,
		.cpus = cpus,
	};
}

static void one_task(void)
{
	struct sim_call empty = {
		.gap = 100 * US,
		.flush = 2 * MS,
		.own.ns[SIM_WRITE] = 250 * US,
		.hop.ns[SIM_RUNQ] = 50 * US,
		.tail.ns[SIM_CPU] = 10 * US,
	};
	struct sim_call commit = { .gap = 100 * US, .commit = true, .own.ns[SIM_CPU] = 50 * US };
	struct sim_input in = loops(&empty, 1, 10, 2);

	ok(sim_run(&in, &nothing, NULL) == 10 * 2410 * US, "one task, empty flushes: the sum of all");
	ok(sim_run(&in, &flush, NULL) == 10 * 360 * US, "without: less the flush and the way there and back");
	ok(sim_run(&in, &post, NULL) == 10 * 2410 * US, "without post-flushes: nothing changes");
	in = loops(&commit, 1, 10, 2);
	ok(sim_run(&in, &nothing, NULL) == 10 * 2650 * US, "one task, commits: the sum of all");
	ok(sim_run(&in, &post, NULL) == 10 * 1650 * US, "without post-flushes: less those");
	ok(sim_run(&in, &flush, NULL) == 10 * 650 * US, "without: blocks and record are left");
	empty.post = MS;
	in = loops(&empty, 1, 10, 2);
	ok(sim_run(&in, &nothing, NULL) == 10 * 3410 * US, "one task, barrier writes of its own: the sum of all");
	ok(sim_run(&in, &post, NULL) == 10 * 2410 * US, "without post-flushes: less those");
	in.n_calls = 0;
	ok(sim_run(&in, &nothing, NULL) == 0, "no calls take no time");
}

static void sharing(void)
{
	struct sim_call commit = { .gap = 10 * US, .commit = true };
	struct sim_call empty = { .gap = 10 * US, .flush = MS };
	struct sim_input in = loops(&commit, 2, 10, 2);

	ok(sim_run(&in, &nothing, NULL) == 10 * 2510 * US, "two tasks in step share their commits");
	ok(sim_run(&in, &flush, NULL) == 10 * 510 * US, "and do so without flushes");
	calls[1].gap = 110 * US;
	ok(near(sim_run(&in, &nothing, NULL), 11 * 2510 * US, 1),
	   "who comes late waits for the next one, then both are in step");
	in = loops(&empty, 16, 10, 16);
	ok(sim_run(&in, &nothing, NULL) < 16 * 10 * MS / 4, "sixteen tasks share FLUSHes");
	ok(sim_run(&in, &nothing, NULL) >= 10 * MS, "but each waits for as many as it has asked for");
	ok(sim_run(&in, &flush, NULL) == 10 * 10 * US, "without, only the CPU is left");
}

static void cpus(void)
{
	struct sim_call c = { .gap = MS, .flush = 10 * MS };
	struct sim_input in = loops(&c, 8, 20, 2);

	ok(sim_run(&in, &flush, NULL) == MS + 8 * 19 * MS / 2, "without flushes eight tasks are bound by two CPUs");
	in.cpus = 8;
	ok(near(sim_run(&in, &flush, NULL), 20 * MS, 1), "with eight they are not");
}

static void held(void)
{
	struct sim_call flushes = { .flush = 10 * MS };
	struct sim_call writes = { .gap = MS, .own.ns[SIM_WRITE] = MS };
	struct sim_input in = loops(&flushes, 1, 1, 2);

	calls[1] = writes;
	calls[1].task = 1;
	in.n_calls = in.n_tasks = 2;
	ok(sim_run(&in, &nothing, NULL) == 10 * MS, "a write goes on while the device flushes");
	in.holds_writes = true;
	ok(sim_run(&in, &nothing, NULL) == 11 * MS, "one that the device holds begins when the flush has ended");
}

static void kinds(void)
{
	struct sim_call c = {
		.own.ns = { [SIM_THROTTLE] = 5 * MS, [SIM_IO_QUEUE] = 3 * MS, [SIM_RUNQ] = MS, [SIM_DELAY] = MS },
	};
	struct sim_input in = loops(&c, 3, 4, 1);

	ok(sim_run(&in, &nothing, NULL) == 40 * MS, "what just passes passes for all at once");
	ok(sim_run(&in, &(struct sim_without){ .kind[SIM_THROTTLE] = true }, NULL) == 20 * MS, "without throttling");
	ok(sim_run(&in, &(struct sim_without){ .kind[SIM_IO_QUEUE] = true }, NULL) == 28 * MS, "without the I/O scheduler");
	ok(sim_run(&in, &(struct sim_without){ .kind[SIM_RUNQ] = true }, NULL) == 36 * MS, "without waiting for CPUs");
}

/* ---- from calls to the report ---- */

static struct walk_slice slice(enum cause cause, uint64_t ns, enum walk_part part, uint64_t barrier)
{
	return (struct walk_slice){
		.ns = ns,
		.cause = cause,
		.part = part,
		.barrier = barrier,
		.via = part > PART_EMPTY ? 1 : 0,
	};
}

/* A call of 5 ms: write, blocks, FLUSH, record, FLUSH. Returns its end. */
static uint64_t commit_call(struct whatif *w, struct report *r, uint32_t tid, uint64_t enter, uint64_t before)
{
	uint64_t exit = enter + 5 * MS;
	struct walk_slice s[] = {
		slice(CAUSE_DEVICE_WRITE, 500 * US, PART_OWN, 0),
		slice(CAUSE_CPU, 200 * US, PART_JOURNAL, 0),
		slice(CAUSE_DEVICE_WRITE, 300 * US, PART_JOURNAL, 0),
		slice(CAUSE_FLUSH_PRE, 1500 * US, PART_PRE, exit),
		slice(CAUSE_DEVICE_WRITE, 800 * US, PART_DATA, exit),
		slice(CAUSE_FLUSH_POST, 1500 * US, PART_POST, exit),
		slice(CAUSE_CPU, 200 * US, PART_OWN, 0),
	};
	struct wire_sync call = { .enter = enter, .exit = exit, .tid = tid, .tgid = tid, .call = CALL_FDATASYNC };
	struct walk_result result = { .slice = s, .n = sizeof(s) / sizeof(s[0]) };

	for (size_t i = 0; i < result.n; i++)
		result.ledger.ns[s[i].cause] += s[i].ns;
	ledger_add(&r->sync.ledger, &result.ledger);
	r->sync.total_ns += exit - enter;
	r->sync.count++;
	whatif_call(w, &call, &result, (struct whatif_gap){ .from = before });
	return exit;
}

static uint64_t wall_without(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_whatif; i++)
		if (!strcmp(r->whatif[i].remove, name))
			return r->whatif[i].wall_ns;
	return 0;
}

static struct report *make(struct whatif *w, struct report *r, uint64_t wall)
{
	r->have_sync = true;
	r->wall_ns = wall;
	whatif_cpu(w, 0);
	whatif_cpu(w, 3);
	whatif_make(r, w);
	return r;
}

static void one_writer(void)
{
	struct whatif *w = whatif_new();
	struct report r = { 0 };
	uint64_t time = 1000 * (uint64_t)MS, end = 0;

	for (int i = 0; i < 100; i++, time = end + MS)
		end = commit_call(w, &r, 7, time, end);
	make(w, &r, 700 * MS);
	ok(near(wall_without(&r, "flush"), 400 * MS, 0.01), "one writer: the wall time less the flushes");
	ok(near(wall_without(&r, "flush.post"), 550 * MS, 0.01), "or less the post-flushes");
	ok(r.n_whatif == 2, "nothing is said of what took no time");
	ok(near((uint64_t)(r.whatif[0].speedup * 1000), 1750, 0.1), "so many times faster");
	report_free(&r);
	whatif_free(w);
}

/* The shell starts the second process when the first has ended: that comes earlier, too. */
static void one_after_the_other(void)
{
	struct whatif *w = whatif_new();
	struct report r = { 0 };
	uint64_t time = 1000 * (uint64_t)MS, end = 0;

	for (uint32_t i = 0; i < 100; i++, time = end + MS)
		end = commit_call(w, &r, 100 + i / 10, time, i % 10 ? end : 0);
	make(w, &r, 600 * MS);
	ok(near(wall_without(&r, "flush"), 300 * MS, 0.01), "ten processes, one after the other");
	report_free(&r);
	whatif_free(w);
}

static void long_run(void)
{
	struct whatif *w = whatif_new();
	struct report r = { 0 };
	uint64_t start = 1000 * (uint64_t)MS, time = start, end = 0;

	for (int i = 0; i < 200000; i++, time = end + MS)
		end = commit_call(w, &r, 7, time, end);
	make(w, &r, end - start);
	ok(near(wall_without(&r, "flush"), (end - start) / 2, 0.1), "200,000 calls: what is kept stands for the rest");
	whatif_forget(w);
	report_free(&r);
	make(w, &r, MS);
	ok(!r.n_whatif, "nothing is predicted from nothing");
	report_free(&r);
	whatif_free(w);
	whatif_free(NULL);
}

static void odd_facts(void)
{
	struct wire_sync call = { .enter = 5 * MS, .exit = 5 * MS, .tid = 1, .call = CALL_FSYNC };
	struct wire_request odd = {
		.flags = REQUEST_SEQUENCE,
		.pre = { .issue = 9, .done = 3 },
		.post = { .issue = 3, .done = UINT64_MAX },
	};
	struct whatif *w = whatif_new();
	struct report r = { 0 };
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		random = random * 1664525 + 1013904223;
		call.tid = random >> 30;
		call.enter = (random >> 8) % (50 * MS);
		call.exit = call.enter + (i % 3 ? 0 : random % MS);
		whatif_call(w, &call, NULL, (struct whatif_gap){ .from = i % 5 ? call.exit : 1 });
		whatif_request(w, &odd);
		whatif_cpu(w, random);
	}
	r.sync.total_ns = 1;
	r.sync.ledger.ns[CAUSE_FLUSH_ONLY] = 1;
	make(w, &r, MS);
	ok(r.n_whatif == 1 && r.whatif[0].wall_ns <= MS, "facts that make no sense do no harm");
	report_free(&r);
	whatif_free(w);
}

/* A CPU that is left alone for 10 ms takes three times as long for its work as after 1 ms, and twice to be woken. */
/* clang-format off */
static struct pace_point points[] = {
	{ .idle_ns = MS, .work_ns = 10 * US, .wake_ns = 2 * US }, { .idle_ns = 10 * MS, .work_ns = 30 * US, .wake_ns = 4 * US },
};
/* clang-format on */
static const struct pace measured = { .point = points, .n = 2 }, unknown = { 0 };

static double work_after(uint64_t idle_ns)
{
	struct pace_sum sum = { .pace = &measured };

	pace_add(&sum, idle_ns);
	return sum.work;
}

static void paces(void)
{
	struct pace reversed = { .point = (struct pace_point[]){ points[1], points[0] }, .n = 2 };
	struct pace_sum sum = { .pace = &measured }, none = { .pace = &unknown };

	ok(work_after(MS) == 10 * US && work_after(10 * MS) == 30 * US, "at the points");
	ok(work_after(5500 * US) == 20 * US, "halfway between them");
	ok(work_after(0) == 10 * US && work_after(90 * MS) == 30 * US, "beyond them: as at the last");
	pace_add(&sum, MS);
	pace_add(&sum, 10 * MS);
	ok(sum.work == 40 * US && sum.wake == 6 * US, "each time counts");
	ok(pace_left(10, 40) == 0.25 && pace_left(40, 10) == 1, "never slower without");
	pace_add(&none, MS);
	ok(!none.work && pace_left(none.work, none.work) == 1, "nothing measured: no difference");
	ok(pace_sane(&measured) && pace_sane(&unknown) && !pace_sane(&reversed), "points in order are sane");
}

/* Of each call the longest rest since the call before, of any task: nothing is known before the first, and a FLUSH rests longer than a write. */
static void rests(void)
{
	struct sim_call c = {
		.gap = MS,
		.busy = true,
		.flush = 10 * MS,
		.own.ns = { [SIM_CPU] = 100 * US, [SIM_WRITE] = 200 * US },
		.tail.ns[SIM_CPU] = US,
	};
	struct pace_sum sum = { .pace = &measured };
	struct sim_input in = loops(&c, 1, 3, 2);

	sim_run(&in, &nothing, &sum);
	ok(sum.work == (10 + 30 + 30) * US && sum.wake == (2 + 4 + 4) * US, "one task: two rests of a FLUSH");
	sum = (struct pace_sum){ .pace = &measured };
	sim_run(&in, &flush, &sum);
	ok(sum.work == 30 * US, "without: short ones");
	sum = (struct pace_sum){ .pace = &measured };
	c.flush = 0;
	c.own.ns[SIM_DELAY] = 10 * MS;
	in = loops(&c, 2, 3, 2);
	sim_run(&in, &nothing, &sum);
	ok(sum.work == (10 + 10 + 30 + 10 + 30 + 10) * US, "two tasks in step: the second one follows the first at once");
}

static void warmer(void)
{
	struct sim_call c = {
		.gap = 300 * US,
		.sleep = MS,
		.gap_wait = 90 * US,
		.busy = true,
		.flush = 2 * MS,
		.own.ns = { [SIM_CPU] = 60 * US, [SIM_WAKE] = 10 * US, [SIM_RUNQ] = 20 * US, [SIM_COMPLETION] = 6 * US },
	};
	struct sim_without warm = { .flush = true, .work = 0.5, .wake = 0.25 };
	struct sim_input in = loops(&c, 1, 1, 2);

	in.n_calls = 2;
	calls[1] = c;
	/* the first call has no gap, but a start */
	ok(sim_run(&in, &nothing, NULL) == 300 * US + 2 * 2096 * US + 1390 * US, "all of a gap is time");
	ok(near(sim_run(&in, &warm, NULL), 300 * US + 2 * 55500 + 1240 * US, 0.01),
	   "computing, waking, completing get faster, waiting doesn't");
	calls[0].busy = calls[1].busy = false;
	ok(near(sim_run(&in, &warm, NULL), 300 * US + 2 * 55500 + 1390 * US, 0.01),
	   "a gap is not known to be computing: it stays");
}

/* A write of 200 µs of which a worker computes 100: four at once on two CPUs. */
static void writes_need_cpus(void)
{
	struct sim_call c = { .own.ns[SIM_WRITE] = 200 * US };
	struct sim_input in = loops(&c, 4, 1, 2);

	ok(sim_run(&in, &nothing, NULL) == 200 * US, "writes don't disturb each other");
	in.beside = 100 * US;
	ok(sim_run(&in, &nothing, NULL) == 300 * US, "but their workers do");
	in.beside = 900 * US;
	ok(sim_run(&in, &nothing, NULL) == 400 * US, "no worker computes longer than the write takes");
}

/* Without its flushes nothing rests for 10 ms: a third of the computing is left. */
static void one_writer_warmer(void)
{
	struct whatif *w = whatif_new();
	struct report r = { .pace = { xcalloc(2, sizeof(*points)), 2 } };
	uint64_t time = 1000 * (uint64_t)MS, end = 0;

	memcpy(r.pace.point, points, sizeof(points));
	for (int i = 0; i < 100; i++, time = end + MS) {
		struct wire_sync call = { .enter = time, .exit = time + 10300 * US, .tid = 7, .call = CALL_FSYNC };
		struct walk_slice s[] = { slice(CAUSE_CPU, 300 * US, PART_OWN, 0),
					  slice(CAUSE_FLUSH_ONLY, 10 * MS, PART_EMPTY, 0) };
		struct walk_result result = { .slice = s, .n = 2 };

		result.ledger.ns[CAUSE_CPU] = 300 * US;
		result.ledger.ns[CAUSE_FLUSH_ONLY] = 10 * MS;
		ledger_add(&r.sync.ledger, &result.ledger);
		r.sync.total_ns += 10300 * US;
		whatif_call(w, &call, &result, (struct whatif_gap){ .from = end, .busy = true });
		end = call.exit;
	}
	ok(whatif_period(w, &r.sync.ledger) == (1130 * (uint64_t)MS - MS) / 100, "a call every so often");
	make(w, &r, 1129 * (uint64_t)MS);
	/* 99 gaps of 1 ms and 100 times 300 us, a third of each */
	ok(near(wall_without(&r, "flush"), 129 * (uint64_t)MS / 3, 1), "a warm CPU needs less time");
	whatif_forget(w);
	ok(!whatif_period(w, &r.sync.ledger), "nothing kept: no period");
	report_free(&r);
	whatif_free(w);
}

int main(void)
{
	paces();
	rests();
	warmer();
	writes_need_cpus();
	one_writer_warmer();
	one_task();
	sharing();
	cpus();
	held();
	kinds();
	one_writer();
	one_after_the_other();
	long_run();
	odd_facts();
	return tap_done();
}
