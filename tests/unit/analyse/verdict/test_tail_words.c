// SPDX-License-Identifier: GPL-2.0-only
/* What is said of the slowest calls, for sums made by hand: golden/tail_words.txt. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "situations.h"
#include "verdict_report.h"

/* 1,000 calls of 1 ms at the median, 3 s in all; of the slowest 10, each of 20 ms and longer, 250 ms in all. */
static struct report_sync usual(void)
{
	struct report_sync s = { .count = 1000, .total_ns = 3 * SEC };

	s.tail = (struct report_tail){ .count = 10, .total_ns = 250 * MS, .threshold_ns = 20 * MS, .median_ns = MS };
	return s;
}

static void says(struct report_sync *s, const char *what)
{
	tail_words(s);
	SAY("%s:\n  %s\n", what, s->tail.sentence ? s->tail.sentence : "nothing");
	free(s->tail.sentence);
	s->tail.sentence = NULL;
}

TEST(how_far)
{
	struct report_sync s = usual();

	says(&s, "ten calls");
	s.tail.median_ns = 30 * US;
	says(&s, "microseconds");
	s = usual();
	s.tail.count = 1;
	says(&s, "one call");
	s.tail.count = 0;
	says(&s, "no tail, no sentence");
}

TEST(why)
{
	struct report_sync s = usual();

	s.tail.ledger.ns[CAUSE_FLUSH_ONLY] = 200 * MS;
	s.tail.ledger.ns[CAUSE_CPU] = 50 * MS;
	s.ledger.ns[CAUSE_FLUSH_ONLY] = 475 * MS;
	says(&s, "the largest cause, and the others' share of it");
	s.total_ns = 250 * MS;
	says(&s, "there are no others");
}

TEST(in_common)
{
	struct report_sync s = usual();
	char comm[] = "pg", path[] = "/wal";

	s.tail.pid = 7;
	says(&s, "nothing in common");
	s.tail.comm = comm;
	says(&s, "a process");
	s.tail.pid = 0;
	says(&s, "a program");
	s.tail.path = path;
	says(&s, "a program and a file");
	s.tail.comm = NULL;
	says(&s, "a file");
	s.tail.count = 1;
	s.tail.pid = 7;
	says(&s, "one call");
}

TEST(period)
{
	struct report_sync s = usual();

	s.tail.slow_ns = 25 * US;
	s.tail.quick_ns = 15 * US;
	says(&s, "no period");
	s.tail.period_ns = 30 * US;
	says(&s, "by time");
	s.tail.period = 1000;
	says(&s, "by number, which is said first");
	s.tail.period_ns = 0;
	says(&s, "by number alone");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("tail_words");
}
