// SPDX-License-Identifier: GPL-2.0-only
/* How sure a verdict is: drawn again here, and figures a tenth above and below a threshold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "rnd.h"
#include "tap.h"
#include "verdict_report.h"

static void is_second(struct report *r, const char *class, const char *second, const char *what)
{
	struct report_verdict *v = &r->verdict;

	verdict_make(r);
	if (!ok(!strcmp(v->class, class) && (second ? v->second && !strcmp(v->second, second) : !v->second), "%s", what))
		diag("is %s, near %s: %s", v->class, v->second ? v->second : "none", v->sentence);
	drop(r);
}

/* ---- other calls ---- */

/* `n` calls of 10 ms, the first `locks` of them nothing but a lock, the others nothing but the journal. */
static struct report *drawn(size_t n, size_t locks)
{
	struct report *r = start();
	struct report_sync *s = &r->sync;

	s->count = n;
	s->total_ns = n * 10 * MS;
	s->n_samples = n;
	s->sample = xcalloc(n, sizeof(*s->sample));
	for (size_t i = 0; i < n; i++) {
		s->sample[i].count = 1;
		s->sample[i].total_ns = 10 * MS;
		s->sample[i].ledger.ns[i < locks ? CAUSE_LOCK : CAUSE_JOURNAL] = 10 * MS;
		ledger_add(&s->ledger, &s->sample[i].ledger);
	}
	return r;
}

enum side { LOCK, JOURNAL, NEITHER, SIDES_DRAWN };

static const char *const side_classes[] = { "lock", "journal", "mixed" };

/* Which of the two is at least three fifths. */
static enum side larger(size_t n, size_t locks)
{
	return locks * 5 >= n * 3 ? LOCK : (n - locks) * 5 >= n * 3 ? JOURNAL : NEITHER;
}

/* Of 1,000 draws of as many. */
static void draw_again(size_t n, size_t locks, unsigned int drew[SIDES_DRAWN])
{
	memset(drew, 0, SIDES_DRAWN * sizeof(*drew));
	seed = 0x9e3779b97f4a7c15;
	for (int i = 0; i < 1000; i++) {
		size_t found = 0;

		for (size_t k = 0; k < n; k++)
			found += rnd() % n < locks;
		drew[larger(n, found)]++;
	}
}

/* In how many of them locks are. */
static double drawn_again(size_t n, size_t locks)
{
	unsigned int drew[SIDES_DRAWN];

	draw_again(n, locks, drew);
	return drew[LOCK] / 1000.0;
}

static void test_draws(void)
{
	static const struct {
		size_t n, locks;
	} rows[] = { { 100, 61 }, { 100, 64 }, { 50, 34 }, { 30, 20 }, { 100, 67 }, { 10, 10 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *r = drawn(rows[i].n, rows[i].locks);
		double want = drawn_again(rows[i].n, rows[i].locks);

		verdict_make(r);
		if (!ok(!strcmp(r->verdict.class, "lock") && fabs(r->verdict.confidence - want) < 1e-9,
			"%zu of %zu calls: %.3f", rows[i].locks, rows[i].n, want))
			diag("is %s %.3f", r->verdict.class, r->verdict.confidence);
		drop(r);
	}
}

/* Far from the threshold, but of few calls: 8 of 10 are drawn fewer than 6 times in about 3 % of the draws, 7 of 10 in 15 %. */
static void test_sure(void)
{
	ok(drawn_again(10, 8) > 0.9 && drawn_again(10, 7) < 0.9, "the draws are on both sides of nine tenths");
	is_second(drawn(10, 8), "lock", NULL, "nine tenths of the draws are sure");
	is_second(drawn(10, 7), "lock", "mixed", "fewer are not");
}

/* Where draws give two other classes, the one that more of them give is near. */
static void test_next(void)
{
	static const size_t rows[][2] = { { 10, 6 }, { 10, 4 }, { 10, 5 }, { 7, 4 }, { 7, 3 }, { 20, 9 }, { 20, 11 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = rows[i][0], locks = rows[i][1];
		enum side class = larger(n, locks), next = class == LOCK ? JOURNAL : LOCK;
		unsigned int drew[SIDES_DRAWN];

		draw_again(n, locks, drew);
		for (int s = 0; s < SIDES_DRAWN; s++)
			if (s != (int)class && drew[s] > drew[next])
				next = (enum side)s;
		is_second(drawn(n, locks), side_classes[class], side_classes[next], "the class that is drawn next to most");
	}
}

/* The parts of the calls say another thing than their sum does. */
static void test_never_drawn(void)
{
	struct report *r = drawn(10, 10);

	r->sync.ledger.ns[CAUSE_JOURNAL] = r->sync.ledger.ns[CAUSE_LOCK];
	r->sync.ledger.ns[CAUSE_LOCK] = 0;
	verdict_make(r);
	ok(r->verdict.confidence == 0, "a class that no draw gives");
	is_second(r, "journal", "lock", "has the one that all give beside it");
}

/* Five calls of 150 µs and five of 60 µs, so much of them locks, the others the journal: a third of the draws are less than 1 ms. */
static struct report *short_calls(unsigned int percent)
{
	struct report *r = drawn(10, 10);

	r->sync.total_ns = 0;
	memset(&r->sync.ledger, 0, sizeof(r->sync.ledger));
	for (size_t i = 0; i < 10; i++) {
		struct call_sums *c = &r->sync.sample[i];

		c->total_ns = i < 5 ? 150 * US : 60 * US;
		c->ledger.ns[CAUSE_LOCK] = c->total_ns * percent / 100;
		c->ledger.ns[CAUSE_JOURNAL] = c->total_ns - c->ledger.ns[CAUSE_LOCK];
		r->sync.total_ns += c->total_ns;
		ledger_add(&r->sync.ledger, &c->ledger);
	}
	return r;
}

/* Where other calls are too little for a verdict, that is no other reading. */
static void test_draws_too_little(void)
{
	struct report *r = short_calls(100);

	verdict_make(r);
	ok(!strcmp(r->verdict.class, "lock") && r->verdict.confidence > 0.5 && r->verdict.confidence < 0.8 &&
		   !r->verdict.second,
	   "a third of the draws are less than a millisecond, which is no other reading: %.3f", r->verdict.confidence);
	drop(r);
	is_second(short_calls(66), "lock", "mixed", "nor does it take back one that a figure is near to");
}

/* ---- other figures ---- */

static struct report *split(unsigned int lock, unsigned int journal)
{
	struct report *r = start();

	spend(r, CAUSE_LOCK, lock);
	spend(r, CAUSE_JOURNAL, journal);
	return r;
}

static void test_first_group(void)
{
	is_second(split(660, 340), "lock", "mixed", "a tenth less than 66 % is less than 60 %");
	is_second(split(667, 333), "lock", NULL, "a tenth less than 66.7 % is more");
	is_second(split(550, 450), "mixed", "lock", "a tenth more than 55 % is more than 60 %");
	is_second(split(545, 455), "mixed", NULL, "a tenth more than 54.5 % is less");
}

/* A command of 1 s with so much in sync calls. */
static struct report *command(uint64_t ns)
{
	struct report *r = split(1000, 0);

	wrap(r);
	r->wall_ns = SEC;
	r->sync.total_ns = ns;
	return r;
}

static void test_sync_time(void)
{
	is_second(command(222 * MS), "lock", "not-sync", "a tenth less than 22.2 % is less than a fifth");
	is_second(command(223 * MS), "lock", NULL, "a tenth less than 22.3 % is more");
	is_second(command(182 * MS), "not-sync", "lock", "a tenth more than 18.2 % is more than a fifth");
	is_second(command(181 * MS), "not-sync", NULL, "a tenth more than 18.1 % is less");
}

/* 100 calls, of which so many had no FLUSH and so many had one. */
static struct report *flushless(uint64_t unsafe, uint64_t durable)
{
	struct report *r = split(1000, 0);

	ops(add_device(r, "sda", "write back"), OP_WRITE_SYNC, 300, 200 * US);
	r->sync.unsafe = unsafe;
	r->sync.durable = durable;
	return r;
}

static void test_unsafe_calls(void)
{
	is_second(flushless(53, 48), "unsafe-fast", "lock", "a tenth less than 53 is 48");
	is_second(flushless(54, 48), "unsafe-fast", NULL, "a tenth less than 54 is 49");
	is_second(flushless(44, 48), "lock", NULL, "a tenth more than 44 is 48");
	is_second(flushless(45, 48), "lock", "unsafe-fast", "a tenth more than 45 is 50");
}

/* Half in FLUSHes, half in writes; hundredths of requests ahead, and how long each takes. */
static struct report *queue(uint64_t ahead, uint64_t flush_ns, uint64_t write_ns)
{
	struct report *r = start();
	struct report_device *d = add_device(r, "sda", "write back");

	ops(d, OP_FLUSH, 100, flush_ns);
	ops(d, OP_WRITE_SYNC, 5000, write_ns);
	spend(r, CAUSE_FLUSH_PRE, 520);
	spend(r, CAUSE_DEVICE_WRITE, 480);
	r->sync.busy_flushes = 100;
	r->sync.busy_in_flight = ahead;
	return r;
}

static void test_queue(void)
{
	is_second(queue(222, 10 * MS, 10 * MS), "device-busy", "mixed", "a tenth less than 2.22 ahead is less than 2");
	is_second(queue(223, 10 * MS, 10 * MS), "device-busy", NULL, "a tenth less than 2.23 is more");
	is_second(queue(182, 10 * MS, 10 * MS), "mixed", "device-busy", "a tenth more than 1.82 ahead is more than 2");
	is_second(queue(181, 10 * MS, 10 * MS), "mixed", NULL, "a tenth more than 1.81 is less");
	is_second(queue(300, 18200 * US, 10 * MS), "device-busy", "mixed",
		  "a tenth more than 18.2 ms is more than two writes");
	is_second(queue(300, 18100 * US, 10 * MS), "device-busy", NULL, "a tenth more than 18.1 ms is less");
	is_second(queue(300, 22200 * US, 10 * MS), "mixed", "device-busy",
		  "a tenth less than 22.2 ms is less than two writes");
	is_second(queue(300, 22300 * US, 10 * MS), "mixed", NULL, "a tenth less than 22.3 ms is more");
}

static void test_not_asked(void)
{
	struct report *r = split(660, 340);

	r->sync.count = 0;
	r->sync.no_ledger = 1;
	verdict_make(r);
	ok(!r->verdict.second && r->verdict.confidence == 0, "of no call there is no other reading");
	drop(r);
	r = command(100 * MS);
	r->sync.others = 1;
	r->sync.others_ns = 210 * MS;
	verdict_make(r);
	ok(!strcmp(r->verdict.scope, "others") && !r->verdict.second && r->verdict.confidence == 0, "nor of others'");
	drop(r);
	r = command(190 * MS);
	add_device(r, "sda", "write back")->kernel.flushes = 5;
	r->device[0].kernel.flush_ns = 800 * MS;
	verdict_make(r);
	ok(!strcmp(r->verdict.scope, "others"), "FLUSHes of others, beside calls of nearly a fifth of the run");
	is_second(r, "device-flush", NULL, "have none either");
}

int main(void)
{
	test_draws();
	test_sure();
	test_next();
	test_never_drawn();
	test_draws_too_little();
	test_first_group();
	test_sync_time();
	test_unsafe_calls();
	test_queue();
	test_not_asked();
	return tap_done();
}
