// SPDX-License-Identifier: GPL-2.0-only
/* What is said of the slowest calls: the whole sentence, for sums made by hand. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "tap.h"
#include "verdict_report.h"

/* 1,000 calls of 1 ms at the median, 3 s in all; of the slowest 10, each of 20 ms and longer, 250 ms in all. */
static struct report_sync usual(void)
{
	struct report_sync s = { .count = 1000, .total_ns = 3 * SEC };

	s.tail = (struct report_tail){ .count = 10, .total_ns = 250 * MS, .threshold_ns = 20 * MS, .median_ns = MS };
	return s;
}

static void says(struct report_sync *s, const char *want, const char *what)
{
	tail_words(s);
	if (!ok(s->tail.sentence && !strcmp(s->tail.sentence, want), "%s", what)) {
		diag("is   %s", s->tail.sentence ? s->tail.sentence : "NULL");
		diag("want %s", want);
	}
	free(s->tail.sentence);
	s->tail.sentence = NULL;
}

#define TEN "The slowest 10 of 1,000 calls took 20.0 ms and longer, 25.0 times the median of 1.00 ms on average"
#define ONE "The slowest of 1,000 calls took 250 ms, 250 times the median of 1.00 ms"

static void test_how_far(void)
{
	struct report_sync s = usual();

	says(&s, TEN ".", "ten calls");
	s.tail.median_ns = 30 * US;
	says(&s, "The slowest 10 of 1,000 calls took 20.0 ms and longer, 833 times the median of 30.0 µs on average.",
	     "microseconds");
	s = usual();
	s.tail.count = 1;
	says(&s, ONE ".", "one call");
	s.tail.count = 0;
	tail_words(&s);
	ok(!s.tail.sentence, "no tail, no sentence");
}

static void test_why(void)
{
	struct report_sync s = usual();

	s.tail.ledger.ns[CAUSE_FLUSH_ONLY] = 200 * MS;
	s.tail.ledger.ns[CAUSE_CPU] = 50 * MS;
	s.ledger.ns[CAUSE_FLUSH_ONLY] = 475 * MS;
	says(&s, TEN ": 80.0 % of that is flush.only (10.0 % in the other calls).",
	     "the largest cause, and the others' share of it");
	s.total_ns = 250 * MS;
	says(&s, TEN ": 80.0 % of that is flush.only.", "there are no others");
}

static void test_in_common(void)
{
	struct report_sync s = usual();
	char comm[] = "pg", path[] = "/wal";

	s.tail.pid = 7;
	says(&s, TEN ".", "nothing in common");
	s.tail.comm = comm;
	says(&s, TEN ". Most of them are by pg (7), unlike most others.", "a process");
	s.tail.pid = 0;
	says(&s, TEN ". Most of them are by pg, unlike most others.", "a program");
	s.tail.path = path;
	says(&s, TEN ". Most of them are by pg and on /wal, unlike most others.", "a program and a file");
	s.tail.comm = NULL;
	says(&s, TEN ". Most of them are on /wal, unlike most others.", "a file");
	s.tail.count = 1;
	s.tail.pid = 7;
	says(&s, ONE ". It is on /wal, unlike most others.", "one call");
}

static void test_period(void)
{
	struct report_sync s = usual();

	s.tail.slow_ns = 25 * US;
	s.tail.quick_ns = 15 * US;
	says(&s, TEN ".", "no period");
	s.tail.period_ns = 30 * US;
	says(&s, TEN ". A call is slow every 30.0 µs: 25.0 µs, where quick ones take 15.0 µs.", "by time");
	s.tail.period = 1000;
	says(&s, TEN ". 1 call in 1,000 is slow: 25.0 µs, where quick ones take 15.0 µs.",
	     "by number, which is said first");
	s.tail.period_ns = 0;
	says(&s, TEN ". 1 call in 1,000 is slow: 25.0 µs, where quick ones take 15.0 µs.", "by number alone");
}

int main(void)
{
	test_how_far();
	test_why();
	test_in_common();
	test_period();
	return tap_done();
}
