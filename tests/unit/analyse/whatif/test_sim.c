// SPDX-License-Identifier: GPL-2.0-only
/* The closed loop: whose turn it is at the journal, the FLUSH and the CPUs, in runs made by hand whose ends can be worked out. */
#include <string.h>

#include "analyse/whatif/sim.h"
#include "rnd.h"
#include "tap.h"

#define US 1000u
#define MS 1000000u

#define LEN(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

static const struct sim_without nothing, no_flush = { .flush = true }, no_post = { .post = true };

/* Woken after 20 us, 280 us of blocks, a record of 200 us between two FLUSHes: 2,500 us. */
/* clang-format off */
static const struct sim_commit record = {
	.before.ns = { [SIM_RUNQ] = 20 * US, [SIM_WRITE] = 280 * US }, .data.ns[SIM_WRITE] = 200 * US, .pre = MS, .post = MS,
};
/* clang-format on */

static struct sim_input tasks(const struct sim_call *call, uint32_t n_calls, uint32_t n_tasks)
{
	return (struct sim_input){
		.call = call,
		.n_calls = n_calls,
		.n_tasks = n_tasks,
		.commit = &record,
		.n_commits = 1,
		.cpus = 64,
	};
}

static void ends(const struct sim_input *in, const struct sim_without *without, uint64_t want, const char *what)
{
	uint64_t have = sim_run(in, without, NULL);

	if (!ok(have == want, "%s", what))
		diag("%llu instead of %llu", (unsigned long long)have, (unsigned long long)want);
}

/* Of calls of as many tasks as there are calls. */
#define ENDS(call, without, want, what) \
	ends(&(struct sim_input){ .call = (call), \
				  .n_calls = LEN(call), \
				  .n_tasks = LEN(call), \
				  .commit = &record, \
				  .n_commits = 1, \
				  .cpus = 64 }, \
	     without, want, what)

/* ---- one task: the sum of its parts ---- */

static const struct sim_phase primes = { { 101, 211, 307, 401, 503, 601, 7001, 809 } };

static struct sim_phase times(uint32_t factor)
{
	struct sim_phase p;

	for (int k = 0; k < SIM_KINDS; k++)
		p.ns[k] = primes.ns[k] * factor;
	return p;
}

/* What is left of a phase: primes times `factor`, when CPU time and waking up are halved or quartered, or one kind is gone. */
static uint64_t left_of(uint32_t factor, const struct sim_without *w, uint64_t beside)
{
	uint64_t ns = 0;

	for (int k = 0; k < SIM_KINDS; k++) {
		uint64_t all = primes.ns[k] * factor;

		if (w->kind[k])
			continue;
		if (w->work > 0 && (k == SIM_CPU || k == SIM_COMPLETION))
			all = (uint64_t)((double)all * w->work);
		if (w->wake > 0 && k == SIM_WAKE)
			all = (uint64_t)((double)all * w->wake);
		ns += all;
	}
	return ns - beside + (w->work > 0 ? (uint64_t)((double)beside * w->work) : beside);
}

static const struct sim_without withouts[] = {
	{ .flush = false },
	{ .kind[SIM_CPU] = true },
	{ .kind[SIM_WAKE] = true },
	{ .kind[SIM_RUNQ] = true },
	{ .kind[SIM_COMPLETION] = true },
	{ .kind[SIM_IO_QUEUE] = true },
	{ .kind[SIM_THROTTLE] = true },
	{ .kind[SIM_DELAY] = true },
	{ .work = 0.5, .wake = 0.25 },
	{ .work = 1, .wake = 1 },
};

/* Two calls, of which the second has a gap: of a first one only `gap` counts. */
static void phases_add_up(uint64_t beside)
{
	struct sim_call c = { .gap = 1000, .sleep = 2000, .gap_wait = 4000, .flush = 50000, .post = 60000 }, call[2];
	struct sim_commit com = { times(4), times(5), times(6), 70000, 80000 };

	c.own = times(1);
	c.hop = times(2);
	c.tail = times(3);
	for (uint32_t i = 0; i < LEN(withouts); i++) {
		const struct sim_without *w = &withouts[i];
		uint64_t gap = 1000 + 1000 + 2000 + (w->kind[SIM_RUNQ] ? 0 : 4000);
		uint64_t own = left_of(1, w, beside) + left_of(3, w, beside), hop = left_of(2, w, beside);
		/* the journal is woken before its blocks: nothing of that is beside a write */
		uint64_t commit = left_of(4, w, beside) + left_of(5, w, beside) + left_of(6, w, beside);
		struct sim_input in = tasks(call, 2, 1);

		in.beside = beside;
		in.commit = &com;
		c.commit = false;
		call[0] = call[1] = c;
		ends(&in, w, gap + 2 * (own + hop + 110000), "two flushes of its own, without one kind of time or none");
		call[0].commit = call[1].commit = true;
		ends(&in, w, gap + 2 * (own + hop + commit + 260000), "and after a commit");
		call[0].flush = call[0].post = call[1].flush = call[1].post = 0;
		ends(&in, w, gap + 2 * (own + commit + 150000), "a commit alone");
	}
}

static void flushes_go(void)
{
	struct sim_call c = { .own = times(1), .hop = times(2), .tail = times(3), .flush = 50000, .post = 60000 }, call[1];
	struct sim_commit com = { times(4), times(5), times(6), 70000, 80000 };
	struct sim_input in = tasks(call, 1, 1);
	const uint64_t one = left_of(1, &nothing, 0);

	in.commit = &com;
	call[0] = c;
	ends(&in, &no_flush, one * 4, "without flushes: no way there and back either");
	ends(&in, &no_post, one * 6 + 50000, "without the second: the first and its way stay");
	call[0].flush = 0;
	ends(&in, &nothing, one * 6 + 60000, "only a second one");
	ends(&in, &no_post, one * 6, "without it: its way stays");
	ends(&in, &no_flush, one * 4, "without any: that goes, too");
	call[0].flush = call[0].post = 0;
	ends(&in, &nothing, one * 4, "none: no way");
	call[0].commit = true;
	ends(&in, &no_flush, one * 19, "a commit without flushes");
	ends(&in, &no_post, one * 19 + 70000, "a commit without the one behind its record");
	com.pre = 0;
	ends(&in, &nothing, one * 19 + 80000, "a commit that has only that");
	com.post = 0;
	ends(&in, &nothing, one * 19, "a commit that has none");
	in.n_commits = 0;
	ends(&in, &nothing, one * 4, "no commits: nobody waits for one");
}

static void whose_call_comes_first(void)
{
	struct sim_call call[] = { { .task = 1, .own.ns[SIM_DELAY] = 5 * MS }, { .own.ns[SIM_DELAY] = 3 * MS } };

	ENDS(call, &nothing, 5 * MS, "the first call need not be the first task's");
}

/* ---- the journal ---- */

static void turns(void)
{
	const struct sim_commit some[] = { record, { .before.ns[SIM_WRITE] = 5 * MS }, { .before.ns[SIM_WRITE] = 7 * MS } };
	const struct sim_call call[] = { { .commit = true }, { .commit = true }, { .commit = true } };
	struct sim_input in = tasks(call, 3, 1);

	in.commit = some;
	in.n_commits = 2;
	ends(&in, &nothing, 2500 * US + 5 * MS + 2500 * US, "commits are taken in turn");
	in.n_commits = 3;
	ends(&in, &nothing, 2500 * US + 5 * MS + 7 * MS, "the first one first");
	in.n_calls = 2;
	ends(&in, &nothing, 2500 * US + 5 * MS, "then the second");
}

static void who_is_in_time(void)
{
	struct sim_call call[] = { { .commit = true }, { .commit = true, .task = 1 } };

	call[1].gap = 19 * US;
	ENDS(call, &nothing, 2500 * US, "who comes before the journal runs is in time");
	call[1].gap = 21 * US;
	ENDS(call, &nothing, 5000 * US, "who comes then waits for the next commit, too");
	call[1].before = true;
	ENDS(call, &nothing, 2500 * US, "unless the change is older than the call");
	call[1].gap = 2499 * US;
	ENDS(call, &nothing, 2500 * US, "until the commit ends");
	call[1].gap = 2501 * US;
	ENDS(call, &nothing, 5001 * US, "then a new one is begun");
	call[1].before = false;
	ENDS(call, &nothing, 5001 * US, "for each");
}

static void many_wait(void)
{
	struct sim_call call[] = {
		{ .commit = true },
		{ .commit = true, .task = 1, .gap = 100 * US },
		{ .commit = true, .task = 2, .gap = 200 * US, .before = true, .tail.ns[SIM_DELAY] = 2600 * US },
		{ .commit = true, .task = 3, .gap = 300 * US, .tail.ns[SIM_DELAY] = 5 * US },
		{ .commit = true, .task = 4, .gap = 2600 * US },
	};

	ENDS(call, &nothing, 7500 * US, "three commits: who waits for which");
	call[4].commit = false;
	ENDS(call, &nothing, 5100 * US, "one of the first waits for the first");
	call[2].tail.ns[SIM_DELAY] = 0;
	ENDS(call, &nothing, 5005 * US, "all that came in it wait for the second");
}

/* Its own commit has ended before it asks: it has a flush of its own, as long as others have on average. */
static void commit_was_there(void)
{
	struct sim_call call[] = {
		{ .commit = true },
		{ .commit = true, .task = 1, .before = true, .own.ns[SIM_DELAY] = 20 * MS, .tail.ns[SIM_DELAY] = 7 },
		{ .task = 2, .flush = 2 * MS, .hop.ns = { [SIM_RUNQ] = 100 * US, [SIM_DELAY] = 1 * US } },
		{ .task = 3, .flush = 4 * MS, .hop.ns = { [SIM_RUNQ] = 300 * US, [SIM_DELAY] = 2 * US } },
		{ .task = 4 },
	};

	ENDS(call, &nothing, 23 * MS + 201500 + 7, "a commit that has ended: a flush as others have");
	ENDS(call, &no_flush, 20 * MS + 7, "none without flushes");
	call[1].before = false;
	ENDS(call, &nothing, 22500 * US + 7, "a change in the call: a new commit");
	call[1].before = true;
	call[2].flush = call[3].flush = 0;
	ENDS(call, &nothing, 20 * MS + 7, "nobody has one: none");
	call[1].post = MS;
	call[1].hop.ns[SIM_DELAY] = 3;
	ENDS(call, &nothing, 21 * MS + 10, "but a second one of its own, and its way");
}

static void usual_is_the_only_one(void)
{
	struct sim_call call[] = {
		{ .flush = 3 * MS, .hop.ns = { [SIM_CPU] = 5, [SIM_DELAY] = 11 } },
		{ .task = 1, .commit = true },
		{ .task = 2, .commit = true, .before = true, .own.ns[SIM_DELAY] = 20 * MS, .tail.ns[SIM_DELAY] = 7 },
	};

	ENDS(call, &nothing, 23 * MS + 16 + 7, "a flush as the only other one: as long, with its way");
}

static void nothing_was_committed(void)
{
	struct sim_call call[] = { { .commit = true, .before = true } };

	ENDS(call, &nothing, 2500 * US, "a change that is older than the first commit needs it");
}

static void blocked(void)
{
	struct sim_call call[] = {
		{ .commit = true },
		{ .task = 1, .own.ns[SIM_DELAY] = 100 * US },
		{ .task = 1, .gap = 10 * US, .blocked = true, .tail.ns[SIM_DELAY] = 10 * MS },
		{ .task = 2, .own.ns[SIM_DELAY] = 5 * US },
		{ .task = 2, .gap = 150 * US, .blocked = true },
	};
	struct sim_input in = tasks(call, 5, 3);

	ends(&in, &nothing, 10310 * US, "what it does before the call waits until blocks are written");
	call[2].gap = 500 * US;
	ends(&in, &nothing, 10800 * US, "all of it");
	call[4].tail.ns[SIM_DELAY] = 11 * MS;
	ends(&in, &nothing, 11300 * US, "at its end likewise");
	call[4].blocked = false;
	ends(&in, &nothing, 11155 * US, "only who is blocked");
	call[2].blocked = false;
	call[2].tail.ns[SIM_DELAY] = 20 * MS;
	ends(&in, &nothing, 20600 * US, "each for itself");
	call[1].own.ns[SIM_DELAY] = 301 * US;
	call[2].blocked = true;
	ends(&in, &nothing, 20801 * US, "nobody once they are written");
}

/* ---- the device ---- */

static void one_flush_at_a_time(void)
{
	struct sim_call call[] = {
		{ .flush = 2 * MS },
		{ .task = 1, .gap = 100 * US, .flush = 3 * MS },
		{ .task = 2, .gap = 200 * US, .flush = 9 * MS },
		{ .task = 3, .gap = 5001 * US, .flush = 4 * MS },
	};

	ENDS(call, &nothing, 9001 * US, "who comes during a FLUSH waits for the next, as long as the first of them takes");
	call[3].gap = 4999 * US;
	ENDS(call, &nothing, 9000 * US, "and so does who comes during that");
	call[3].gap = 300 * US;
	ENDS(call, &nothing, 5000 * US, "three at once");
}

static void record_keeps_flushes_back(void)
{
	struct sim_call call[] = { { .commit = true }, { .task = 1, .flush = 3 * MS } };

	call[1].gap = 1400 * US;
	ENDS(call, &nothing, 4500 * US, "no FLUSH begins while a record is written; then one serves both");
	call[1].gap = 1200 * US;
	ENDS(call, &nothing, 4500 * US, "also for who came before it");
	ENDS(call, &no_post, 4500 * US, "also where the record has none behind it");
	call[1].gap = 1600 * US;
	ENDS(call, &nothing, 5500 * US, "who comes after the record has to wait for its FLUSH");
}

static void order_in_the_list(void)
{
	struct sim_call call[] = {
		{ .commit = true },
		{ .task = 1, .gap = 100 * US, .flush = MS, .post = 5 * MS },
		{ .task = 2, .flush = 2 * MS },
	};

	ENDS(call, &nothing, 9000 * US, "served before the commit: its second FLUSH begins at once");
	call[1].gap = 500 * US;
	ENDS(call, &nothing, 8200 * US, "served after it: the record comes first");
}

static void holds_writes(void)
{
	struct sim_call call[] = {
		{ .flush = 10 * MS },
		{ .task = 1, .gap = MS, .own.ns[SIM_WRITE] = MS },
		{ .task = 2, .gap = MS, .own.ns[SIM_WRITE] = 2 * MS },
		{ .task = 3, .gap = MS, .own.ns[SIM_DELAY] = 3 * MS, .tail.ns[SIM_DELAY] = 8500 * US },
		{ .task = 4, .gap = MS, .commit = true },
	};
	struct sim_input in = tasks(call, 5, 5);

	in.n_commits = 0;
	in.holds_writes = true;
	ends(&in, &nothing, 12500 * US, "the device begins no write while it flushes, other time passes");
	call[3].tail.ns[SIM_DELAY] = 0;
	ends(&in, &nothing, 12000 * US, "all that were held begin when it has ended");
	ends(&in, &no_flush, 4000 * US, "without flushes nothing is held");
	in.n_commits = 1;
	ends(&in, &nothing, 12480 * US, "a commit writes its blocks then, too");
	in.holds_writes = false;
	ends(&in, &nothing, 12200 * US, "where nothing is held, only its FLUSH waits");
	call[0].gap = 9 * MS;
	in.holds_writes = true;
	ends(&in, &nothing, 19 * MS, "a write that is over before is not held");
}

static void holds_no_gaps(void)
{
	struct sim_call call[] = {
		{ .flush = 10 * MS },
		{ .task = 1, .own.ns[SIM_DELAY] = US },
		{ .task = 1, .gap = 2 * MS, .tail.ns[SIM_DELAY] = 9 * MS },
	};
	struct sim_input in = tasks(call, 3, 2);

	in.holds_writes = true;
	ends(&in, &nothing, 11 * MS + US, "what a task does between its calls goes on while the device flushes");
}

/* ---- CPUs ---- */

#define SHARERS 24

/* Processor sharing by small steps of the plain definition: from event to event, each of n computes at min(1, cpus / n). */
static double shared(const uint64_t *start, const uint64_t *work, uint32_t n, double cpus)
{
	double left[SHARERS], now = 0;
	uint32_t done = 0;

	for (uint32_t i = 0; i < n; i++)
		left[i] = (double)work[i];
	while (done < n) {
		double next = 1e30, rate;
		uint32_t busy = 0;

		for (uint32_t i = 0; i < n; i++)
			busy += left[i] > 0 && (double)start[i] <= now;
		rate = busy > cpus ? cpus / busy : 1;
		for (uint32_t i = 0; i < n; i++) {
			double at = (double)start[i] > now ? (double)start[i] : now + left[i] / rate;

			if (left[i] > 0 && at < next)
				next = at;
		}
		for (uint32_t i = 0; i < n; i++) {
			if (left[i] <= 0 || (double)start[i] > now)
				continue;
			left[i] -= rate * (next - now);
			if (left[i] < 1e-3) {
				left[i] = 0;
				done++;
			}
		}
		now = next;
	}
	return now;
}

static void cpus_are_shared(void)
{
	struct sim_call call[SHARERS];
	uint64_t start[SHARERS], work[SHARERS];
	unsigned int good = 0;

	for (int run = 0; run < 300; run++) {
		uint32_t n = 1 + (uint32_t)(rnd() % SHARERS);
		struct sim_input in = tasks(call, n, n);
		double want, have;

		in.cpus = 1 + (unsigned int)(rnd() % 4);
		for (uint32_t i = 0; i < n; i++) {
			start[i] = rnd() % MS;
			work[i] = 1 + rnd() % (MS / 2);
			call[i] = (struct sim_call){ .task = i, .gap = start[i], .own.ns[SIM_CPU] = (uint32_t)work[i] };
		}
		want = shared(start, work, n, in.cpus);
		have = (double)sim_run(&in, &nothing, NULL);
		good += have > want - SHARERS && have < want + SHARERS;
	}
	ok(good == 300, "300 random crowds end as processor sharing has it, to a ns each (%u)", good);
}

/* Each of three waits for the FLUSH after its computing: with one CPU the first is done at 3 ms of 1, the last at 6 of 3. */
static void then_what_passes(void)
{
	struct sim_call call[] = {
		{ .own.ns = { [SIM_CPU] = MS, [SIM_DELAY] = 10 * MS } },
		{ .task = 1, .own.ns = { [SIM_CPU] = 2 * MS, [SIM_DELAY] = 9 * MS } },
		{ .task = 2, .own.ns = { [SIM_CPU] = 3 * MS, [SIM_DELAY] = MS } },
	};
	struct sim_input in = tasks(call, 3, 3);

	in.cpus = 1;
	ends(&in, &nothing, 14 * MS, "three on one CPU: the second is done after 5 ms");
	call[1].own.ns[SIM_DELAY] = 0;
	ends(&in, &nothing, 13 * MS, "the first after 3");
	call[0].own.ns[SIM_DELAY] = 0;
	ends(&in, &nothing, 7 * MS, "the last after 6");
	in.cpus = 2;
	ends(&in, &nothing, 4500 * US, "on two: after 3.5");
	in.cpus = 3;
	ends(&in, &nothing, 4 * MS, "on three: each as if it were alone");
}

/* ---- rests ---- */

/* Work takes as many ns as the CPU rested, up to 10 ms. */
static const struct pace_point line[] = { { .idle_ns = 0 }, { .idle_ns = 10 * MS, .work_ns = 10 * MS, .wake_ns = 10 * MS } };

static double rested(const struct sim_input *in, const struct sim_without *w)
{
	const struct pace p = { .point = (struct pace_point *)line, .n = 2 };
	struct pace_sum sum = { .pace = &p };

	sim_run(in, w, &sum);
	return sum.work;
}

static void rests_are_noted(void)
{
	struct sim_call call[] = {
		{ .gap = 5 * MS,
		  .own.ns = { [SIM_CPU] = 100 * US, [SIM_DELAY] = 3 * MS },
		  .tail.ns = { [SIM_CPU] = US, [SIM_DELAY] = 2 * MS } },
		{ .gap = 10 * US, .own.ns[SIM_CPU] = 100 * US },
		{ .gap = 20 * US, .own.ns[SIM_CPU] = 100 * US },
		{ .task = 1, .gap = 20 * MS, .own.ns[SIM_CPU] = 100 * US },
		{ .task = 1, .gap = 10 * US, .own.ns[SIM_CPU] = 100 * US },
	};
	struct sim_input in = tasks(call, 5, 2);

	/* task 0 ends after 10,331 us: its second call has the longer of 3 and 2 ms; task 1's second the time until that began */
	ok(rested(&in, &nothing) == 3000 * US + (20000 - 10331) * US, "of each call the longest rest since the one before");
	call[0].tail.ns[SIM_DELAY] = 4 * MS;
	ok(rested(&in, &nothing) == 4000 * US + (20000 - 12331) * US, "wherever it was");
	ok(rested(&in, &(struct sim_without){ .kind[SIM_DELAY] = true }) == 10 * MS, "none where it is taken away");
}

int main(void)
{
	phases_add_up(0);
	phases_add_up(100);
	flushes_go();
	whose_call_comes_first();
	turns();
	who_is_in_time();
	many_wait();
	commit_was_there();
	usual_is_the_only_one();
	nothing_was_committed();
	blocked();
	one_flush_at_a_time();
	record_keeps_flushes_back();
	order_in_the_list();
	holds_writes();
	holds_no_gaps();
	cpus_are_shared();
	then_what_passes();
	rests_are_noted();
	return tap_done();
}
