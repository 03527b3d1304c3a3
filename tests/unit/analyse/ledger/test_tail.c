// SPDX-License-Identifier: GPL-2.0-only
/* The slowest calls: what they add up to, and whether they come regularly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/ledger/tail.h"
#include "util/mem.h"
#include "rnd.h"
#include "tap.h"

#define US  1000ull
#define MS  1000000ull
#define SEC 1000000000ull

/* ---- chance ---- */

static double uniform(void) /* (0, 1) */
{
	return ((double)(rnd() >> 11) + 0.5) / 9007199254740992.0;
}

static double jittered(double value, double by)
{
	return value * (1 - by + 2 * by * uniform());
}

/* ---- periods ---- */

static struct tail tail;
static uint64_t now;

/* One after the other, 1 ms apart. */
static void call(double ns)
{
	static const struct ledger nothing;

	tail_add(&tail, now, (uint64_t)ns, &nothing);
	now += (uint64_t)ns + MS;
}

static void start(void)
{
	tail_clear(&tail);
	now = SEC;
}

/* Twelve slow calls, one in `period`, which take 25 times as long. */
static struct tail_period one_in(unsigned int period, double jitter_of_gaps)
{
	double next = period - 1;

	start();
	for (unsigned int i = 0; i < 12 * period; i++) {
		bool slow = i >= (unsigned int)(next + 0.5);

		call(jittered(slow ? 25e6 : 1e6, 0.2));
		if (slow)
			next += jittered(period, jitter_of_gaps);
	}
	return tail_period(&tail);
}

TEST(periods_are_found)
{
	unsigned int exact = 0, near = 0;

	for (unsigned int period = 2; period <= 200; period++) {
		struct tail_period p = one_in(period, 0);

		exact += p.calls == period && p.slow_ns > 20 * MS && p.slow_ns < 30 * MS && p.quick_ns > 700 * US &&
			 p.quick_ns < 1200 * US;
		p = one_in(period, 0.2);
		if (getenv("VERBOSE"))
			diag("%u: %llu", period, (unsigned long long)p.calls);
		near += p.calls >= period - (period + 7) / 8 && p.calls <= period + (period + 7) / 8;
	}
	ok(exact == 199, "one call in 2 to 200 is slow, and times are a fifth off: the period is found in %u of 199",
	   exact);
	ok(near >= 185, "and gaps are a fifth off, too, of eleven of them: to an eighth in %u of 199", near);
}

TEST(periods_of_time_are_found)
{
	unsigned int found = 0;

	for (unsigned int run = 0; run < 100; run++) {
		uint64_t next = 3 * SEC;

		start();
		while (now < 60 * SEC) {
			bool slow = now >= next;

			call(slow ? 25e6 : 1e6);
			next += slow ? 5 * SEC : 0;
			now += (uint64_t)(-log(uniform()) * 2e7);
		}
		found += tail_period(&tail).ns > 4900 * MS && tail_period(&tail).ns < 5100 * MS;
	}
	ok(found >= 95, "a call is slow every 5 s, whatever came between: %u of 100", found);
}

TEST(noise_has_no_period)
{
	unsigned int exponential = 0, bernoulli = 0, wide = 0;

	for (unsigned int run = 0; run < 1000; run++) {
		struct tail_period p;

		start();
		for (unsigned int i = 0; i < 500; i++)
			call(-log(uniform()) * 1e6);
		p = tail_period(&tail);
		exponential += p.calls || p.ns;
		if (run % 4)
			continue;
		start();
		for (unsigned int i = 0; i < 500; i++)
			call(jittered(uniform() < 0.03 ? 25e6 : 1e6, 0.2));
		p = tail_period(&tail);
		bernoulli += p.calls || p.ns;
		start();
		for (unsigned int i = 0; i < 500; i++)
			call(exp(2 * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform())) * 1e6);
		p = tail_period(&tail);
		wide += p.calls || p.ns;
	}
	ok(exponential <= 10, "exponential noise has none: %u false in 1,000 runs", exponential);
	ok(bernoulli <= 2, "slow calls by chance have none: %u in 250", bernoulli);
	ok(wide <= 2, "lognormal noise has none: %u in 250", wide);
}

/* Slow calls by chance, from one in 2 to one in 61: back to back they are as far apart as they are long. */
TEST(chance_has_no_period)
{
	unsigned int found = 0;

	for (unsigned int run = 0; run < 1000; run++) {
		unsigned int in = 2 + run % 60;
		struct tail_period p;

		start();
		for (unsigned int i = 0; i < 300; i++)
			call(jittered(rnd() % in ? 1e6 : 25e6, 0.2));
		p = tail_period(&tail);
		found += p.calls || p.ns;
	}
	ok(found <= 10, "slow calls by chance, however many: %u false in 1,000 runs", found);
}

/* What comes five in a row is no period of what one takes. */
TEST(bursts_have_no_short_period)
{
	start();
	for (unsigned int i = 0; i < 3000; i++)
		call(jittered(i % 100 < 5 ? 25e6 : 1e6, 0.2));
	ok(!tail_period(&tail).calls && !tail_period(&tail).ns,
	   "five slow calls in a row, every 100: not one in so many, nor after so long");
}

/* Eight threads that wait for the same FLUSH, of which one in 20 is slow: one event. */
TEST(waits_together_are_one)
{
	static const struct ledger nothing;
	struct tail_period p;

	start();
	for (unsigned int i = 0; i < 600; i++) {
		uint64_t ns = (uint64_t)jittered(i % 20 == 19 ? 25e6 : 1e6, 0.2);

		for (unsigned int k = 0; k < 8; k++)
			tail_add(&tail, now + k * 10 * US, ns - k * 10 * US, &nothing);
		now += ns + MS;
	}
	p = tail_period(&tail);
	ok(p.calls == 160, "eight callers of one slow FLUSH in 20: one event in 160 calls, not %llu",
	   (unsigned long long)p.calls);
}

/* A bounded memory: the last ones decide. */
TEST(old_events_are_forgotten)
{
	start();
	for (unsigned int i = 0; i < 200000; i++)
		call(i % 7 ? 1e6 : 25e6);
	ok(tail_period(&tail).calls == 7, "one in seven of 200,000");
	tail_clear(&tail);
	ok(!tail_period(&tail).calls && !tail_period(&tail).ns, "without calls there is none");
	call(1e6);
	ok(!tail_period(&tail).calls, "nor with one");
	start();
	for (unsigned int i = 0; i < 1000; i++)
		call(0);
	ok(!tail_period(&tail).calls, "nor where no call takes any time");
}

/* ---- to the call ---- */

/* Slow calls of 25 ms, with so many quick ones of 1 ms before each; up to a gap of 0. */
static struct tail_period of_gaps(const unsigned int *gap)
{
	start();
	for (unsigned int i = 0; i < 40; i++)
		call(1e6);
	for (; *gap; gap++) {
		for (unsigned int i = 1; i < *gap; i++)
			call(1e6);
		call(25e6);
	}
	return tail_period(&tail);
}

/* The first gap only leads to the first slow call. From slow call to slow call it takes 24 ms and 2 ms for each of the gap. */
TEST(gaps_alike)
{
	static const struct {
		const char *what;
		uint64_t calls, ms;
		unsigned int gap[16];
	} all[] = {
		{ "five slow calls are enough", 100, 0, { 1, 100, 100, 100, 100 } },
		{ "four are not", 0, 0, { 1, 100, 100, 100 } },
		{ "one gap in five is a quarter off", 100, 0, { 1, 100, 100, 125, 100, 100 } },
		{ "or a quarter less", 100, 0, { 1, 100, 75, 100, 100, 100 } },
		{ "more than a quarter", 0, 0, { 1, 100, 100, 126, 100, 100 } },
		{ "more than a quarter less", 0, 0, { 1, 100, 74, 100, 100, 100 } },
		{ "one in seven", 0, 0, { 1, 100, 100, 300, 100, 100, 100, 100 } },
		{ "one in eight", 100, 0, { 1, 100, 100, 300, 100, 100, 100, 100, 100 } },
		{ "two in eight: three quarters are alike", 100, 0, { 1, 100, 100, 300, 100, 500, 100, 100, 100 } },
		{ "three in eight", 0, 0, { 1, 100, 100, 300, 100, 500, 100, 700, 100 } },
		{ "their median counts", 108, 0, { 1, 100, 104, 108, 112, 116 } },
		{ "a quarter of it is rounded down", 0, 0, { 1, 102, 102, 128, 102, 102 } },
		{ "a quarter off where gaps are long", 500, 0, { 1, 500, 500, 625, 500, 500 } },
		{ "each second call", 2, 0, { 1, 2, 2, 2, 2, 2, 2, 2, 2 } },
		{ "each call: back to back", 0, 0, { 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tail_period p = of_gaps(all[i].gap);
		bool none = !all[i].calls && !all[i].ms;

		if (!ok(p.calls == all[i].calls && p.ns == all[i].ms * MS && p.slow_ns == (none ? 0 : 25 * MS) &&
				p.quick_ns == (none ? 0 : MS),
			"gaps of slow calls: %s", all[i].what))
			diag("%llu calls, %llu ns", (unsigned long long)p.calls, (unsigned long long)p.ns);
	}
}

/* Ten slow calls, one in 20. */
static struct tail_period ten_slow(double ns)
{
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? ns : 1e6);
	return tail_period(&tail);
}

TEST(kinds_of_calls)
{
	ok(ten_slow(25e6).calls == 20, "ten slow calls");
	ok(ten_slow(3.1e6).calls == 20, "three times as slow is slow, to a bucket");
	ok(!ten_slow(2.9e6).calls, "less is not");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 3 << 20 : 1 << 20); /* where buckets begin */
	ok(tail_period(&tail).calls == 20, "exactly three times as slow is");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 25e6 : i == 7 || i == 48 ? 2.5e6 : 1e6);
	ok(tail_period(&tail).calls == 20, "one call between the kinds for five slow ones is not too many");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 3.2e6 : i == 7 || i == 48 || i == 111 ? 2.5e6 : 1e6);
	ok(!tail_period(&tail).calls && !tail_period(&tail).ns, "more are");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 3.2e6 : i == 7 || i == 48 || i == 111 ? 2.1e6 : 1e6);
	ok(!tail_period(&tail).calls && !tail_period(&tail).ns, "from two thirds of a slow call's time on");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 3.2e6 : i == 7 || i == 48 || i == 111 ? 1.9e6 : 1e6);
	ok(tail_period(&tail).calls == 20, "but not below");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 25e6 : i == 7 ? 2.5e6 : 1e6);
	ok(tail_period(&tail).calls == 20, "fewer are not");
	start();
	for (unsigned int i = 0; i < 400; i++)
		call(i % 40 == 39 ? 300e6 : i % 10 == (i / 10 * 7) % 10 ? 50e6 : 1e6);
	ok(tail_period(&tail).calls == 40, "slow calls among others that are slow without a period: by how slow they are");
}

/* The call above the quickest quarter: of 16 the fifth. */
TEST(quickest_quarter)
{
	struct tail_period p;

	start();
	for (unsigned int i = 0; i < 16; i++)
		call(i < 4 ? 1e6 : 10e6);
	ok(tail.slow_ns == 30 * MS, "a quarter of the calls is quick");
	start();
	for (unsigned int i = 0; i < 16; i++)
		call(i < 5 ? 1e6 : 10e6);
	ok(tail.slow_ns == 3 * MS, "more than a quarter");
	start();
	for (unsigned int i = 0; i < 200; i++)
		call(i % 20 == 19 ? 25e6 : i % 4 ? 1e6 : 5e5);
	p = tail_period(&tail);
	ok(p.calls == 20 && p.quick_ns == MS, "what quick calls take, a quarter of which takes half as long");
}

static void at(uint64_t enter, uint64_t ns)
{
	static const struct ledger nothing;

	tail_add(&tail, enter, ns, &nothing);
}

/* Pairs of slow calls, of which the second begins `after` the first, which takes 25 ms. */
static struct tail_period pairs(uint64_t after)
{
	start();
	for (unsigned int i = 0; i < 40; i++)
		call(1e6);
	for (unsigned int k = 0; k < 6; k++) {
		at(now, 25 * MS);
		at(now + after, 35 * MS);
		now += 100 * MS;
		for (unsigned int i = 0; i < 98; i++)
			call(1e6);
	}
	return tail_period(&tail);
}

TEST(overlapping_calls)
{
	struct tail_period p = pairs(25 * MS);

	ok(p.calls == 100 && p.slow_ns == 60 * MS,
	   "a slow call that begins when another ends is the same event: as long as both");
	p = pairs(5 * MS);
	ok(p.calls == 100 && p.slow_ns == 40 * MS, "so is one that begins in it");
	p = pairs(25 * MS + 1);
	ok(!p.calls && !p.ns, "one that begins later is another one");
}

/* ---- sums ---- */

TEST(slowest_add_up)
{
	struct ledger l = { { 0 } };
	struct tail_sums sums;

	start();
	for (uint64_t i = 1; i <= 100000; i++) {
		l.ns[CAUSE_FLUSH_ONLY] = i * US;
		tail_add(&tail, i, i * US, &l);
	}
	tail_slowest(&tail, 1000, &sums);
	ok(sums.count >= 1000 && sums.count < 1000 + 1100 && sums.least_ns == (100000 - sums.count + 1) * US,
	   "the slowest hundredth, to a bucket: %llu calls", (unsigned long long)sums.count);
	ok(sums.total_ns == ledger_sum(&sums.ledger) && sums.total_ns == sums.count * (sums.least_ns + 100000 * US) / 2,
	   "and what they add up to, to the nanosecond");
	tail_slowest(&tail, 1000000, &sums);
	ok(sums.count == 100000 && sums.least_ns == US, "all of them, where more are asked for");
	start();
	at(1, MS);
	at(2, 10 * MS);
	at(3, 100 * MS);
	tail_slowest(&tail, 2, &sums);
	ok(sums.count == 2 && sums.total_ns == 110 * MS && sums.least_ns == 10 * MS, "two of three");
	tail_slowest(&tail, 0, &sums);
	ok(!sums.count && !sums.total_ns && !sums.least_ns, "none, where none is asked for");
}

int main(void)
{
	tests_run();
	tail_clear(&tail);
	return tap_done();
}
