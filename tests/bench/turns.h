// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns.h - when each tool of a measurement is attached.
 *
 * A run is cut into blocks, and a block into turns of 90 to 130 ms: turn 0 is the baseline, in which none is attached, each other turn
 * one tool's. Order and lengths are random, as no period of a tool (the tracer looks at its counters each 100 ms) may fall into the
 * same turn each time. They follow from the start alone, so that processes that share nothing else agree.
 *
 * Times are ns of CLOCK_BOOTTIME, the clock of /proc/uptime.
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TURNS_MAX   8
#define TURN_NS	    90000000ull /* at least */
#define TURN_MORE   40000000ull /* .. and less than so much more */
#define TURN_SETTLE 35000000ull /* of each, for tools to detach and attach: not measured */
/*
 * After its begin, a tool attaches. To be attached, a tracepoint that the last program was taken from waits until RCU's readers of then
 * are gone (tracepoint_add_func()): 5 to 8 ms, or 20 to 30 on a busy CPU.
 */
#define TURN_ATTACH 8000000ull

struct turn {
	uint64_t begin, end;
	unsigned slot, block, tool;
};

struct turns {
	uint64_t at, end, random;
	unsigned slot, n;
	unsigned order[TURNS_MAX];
};

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline void sleep_until(uint64_t t)
{
	struct timespec ts = { .tv_sec = (time_t)(t / 1000000000ull), .tv_nsec = (long)(t % 1000000000ull) };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL))
		;
}

/* splitmix64 */
static inline uint64_t turns_random(struct turns *t)
{
	uint64_t z = t->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* F: "START TURNS NS", the turns of a block, 1 to TURNS_MAX, and how long the run is. False: it isn't that. */
static inline bool turns_read(struct turns *t, FILE *f)
{
	unsigned long long start, ns;

	if (fscanf(f, "%llu %u %llu", &start, &t->n, &ns) != 3 || t->n < 1 || t->n > TURNS_MAX)
		return false;
	t->at = t->random = start;
	t->end = start + ns;
	t->slot = 0;
	return true;
}

/* False: the run is over. */
static inline bool turns_next(struct turns *t, struct turn *turn)
{
	unsigned i = t->slot % t->n;

	if (t->at >= t->end)
		return false;
	for (unsigned k = 0; !i && k < t->n; k++) {
		unsigned other = (unsigned)(turns_random(t) % (k + 1));

		t->order[k] = t->order[other];
		t->order[other] = k;
	}
	*turn = (struct turn){ .begin = t->at, .slot = t->slot, .block = t->slot / t->n, .tool = t->order[i] };
	t->at += TURN_NS + turns_random(t) % TURN_MORE;
	turn->end = t->at;
	t->slot++;
	return true;
}

#endif
