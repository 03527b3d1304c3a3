// SPDX-License-Identifier: GPL-2.0-only
/* When the requests' own clocks are trusted, tick by tick. */
#include "probe/request_clocks.h"
#include "tap.h"

static struct clocks c;
static struct wire_depth sums;

/* A tick with n requests of 1000 ns, whose clocks were off by so many each. */
static bool tick(unsigned int n, unsigned int off, bool unclocked)
{
	*(c.own ? &sums.by_clocks : &sums.completed) += n;
	sums.of += n * 1000u;
	sums.off += n * off;
	return clocks_tick(&c, &sums, unclocked);
}

/* How many such ticks until something changes; 0: not within 30,000. */
static unsigned int ticks_until(unsigned int n, unsigned int off)
{
	for (unsigned int i = 1; i <= 30000; i++)
		if (tick(n, off, false))
			return i;
	return 0;
}

static void begin(void)
{
	c = (struct clocks){ 0 };
	sums = (struct wire_depth){ 0 };
}

static void trust(void)
{
	begin();
	ok(ticks_until(500, 31) == 2 && c.own, "trusted after two busy ticks with clocks off by less than 1/32");
	begin();
	ok(!ticks_until(500, 32), "not when they are off by more");
	begin();
	ok(!ticks_until(499, 0), "not under a load that is not worth it");
	begin();
	tick(500, 0, false);
	ok(!tick(500, 0, true) && !tick(500, 0, false) && tick(500, 0, false) && c.own,
	   "a request without clocks begins the count anew");
	begin();
	tick(500, 0, false);
	tick(10, 0, false);
	ok(!tick(500, 0, false) && tick(500, 0, false), "so does a quiet tick");
}

static void mistakes(void)
{
	unsigned int again[6];

	begin();
	ticks_until(500, 0);
	for (int i = 0; i < 6; i++) {
		bool back = tick(500, 0, true) && !c.own;

		again[i] = back ? ticks_until(500, 0) : 0;
	}
	ok(again[0] == 20 && again[1] == 200 && again[2] == 2000 && again[3] == 20000 && again[4] == 20000,
	   "each mistake makes it ten times as long, up to 20,000 ticks");
	ok(c.own, "and then they are trusted again");
}

/* Ticks for which they are trusted, under a load whose clocks are right or, from now on, off by so much. */
static unsigned int trusted_for(unsigned int off)
{
	unsigned int n = ticks_until(500, off);

	return c.own ? 0 : n;
}

static void drift(void)
{
	unsigned int spans[7];

	begin();
	for (int i = 0; i < 7; i++) {
		ticks_until(500, 0);
		spans[i] = trusted_for(0);
	}
	ok(spans[0] == 20 && spans[1] == 40 && spans[4] == 320 && spans[5] == 320 && spans[6] == 320,
	   "they are compared again after two seconds, then ever more seldom, but twice a minute");
	ok(!c.penalty && ticks_until(500, 0) == 2, "which is no mistake of theirs");
	ok(trusted_for(100) == 320 && !ticks_until(500, 100), "once they are off, they are trusted no more");
	ok(ticks_until(500, 0) == 2 && trusted_for(0) == 20, "and later for two seconds at first, as at the beginning");
}

static void quiet(void)
{
	begin();
	ticks_until(500, 0);
	for (int i = 0; i < 9; i++)
		tick(49, 0, false);
	ok(!tick(50, 0, false) && c.own, "a load that comes back within a second finds them trusted");
	ok(ticks_until(49, 0) == 10 && !c.own && !c.penalty, "a second of as good as nothing ends it, and is no mistake");
}

int main(void)
{
	trust();
	mistakes();
	drift();
	quiet();
	return tap_done();
}
