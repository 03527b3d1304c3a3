// SPDX-License-Identifier: GPL-2.0-only
/* How sure a verdict is: golden/confidence.txt has the class, how often it is drawn, and the one that is near. */
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "situations.h"
#include "verdict_report.h"

static void judged(struct report *r, const char *what)
{
	const struct report_verdict *v = &r->verdict;

	verdict_make(r);
	SAY("%s: %s of %s", what, v->class, v->scope);
	if (v->confidence > 0)
		SAY(", %.3f", v->confidence);
	SAY(v->second ? ", near %s\n" : "\n", v->second);
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

/* Of a thousand draws of as many calls: where fewer than nine tenths give the class, the one that most others give is near. */
TEST(draws)
{
	static const size_t rows[][2] = { { 100, 61 }, { 100, 64 }, { 50, 34 }, { 30, 20 }, { 100, 67 },
					  { 10, 10 },  { 10, 8 },   { 10, 7 },	{ 10, 6 },  { 10, 4 },
					  { 10, 5 },   { 7, 4 },    { 7, 3 },	{ 20, 9 },  { 20, 11 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *what = xasprintf("%zu of %zu calls wait for a lock", rows[i][1], rows[i][0]);

		judged(drawn(rows[i][0], rows[i][1]), what);
		free(what);
	}
}

/* The parts of the calls say another thing than their sum does. */
TEST(never_drawn)
{
	struct report *r = drawn(10, 10);

	r->sync.ledger.ns[CAUSE_JOURNAL] = r->sync.ledger.ns[CAUSE_LOCK];
	r->sync.ledger.ns[CAUSE_LOCK] = 0;
	judged(r, "a class that no draw gives");
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
TEST(draws_too_little)
{
	judged(short_calls(100), "a third of the draws are less than a millisecond, which is no other reading");
	judged(short_calls(66), "nor does it take back one that a figure is near to");
}

/* ---- other figures ---- */

static struct report *split(unsigned int lock, unsigned int journal)
{
	struct report *r = start();

	spend(r, CAUSE_LOCK, lock);
	spend(r, CAUSE_JOURNAL, journal);
	return r;
}

TEST(first_group)
{
	judged(split(660, 340), "a tenth less than 66 % is less than 60 %");
	judged(split(667, 333), "a tenth less than 66.7 % is more");
	judged(split(550, 450), "a tenth more than 55 % is more than 60 %");
	judged(split(545, 455), "a tenth more than 54.5 % is less");
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

TEST(sync_time)
{
	judged(command(222 * MS), "a tenth less than 22.2 % is less than a fifth");
	judged(command(223 * MS), "a tenth less than 22.3 % is more");
	judged(command(182 * MS), "a tenth more than 18.2 % is more than a fifth");
	judged(command(181 * MS), "a tenth more than 18.1 % is less");
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

TEST(unsafe_calls)
{
	judged(flushless(53, 48), "a tenth less than 53 is 48");
	judged(flushless(54, 48), "a tenth less than 54 is 49");
	judged(flushless(44, 48), "a tenth more than 44 is 48");
	judged(flushless(45, 48), "a tenth more than 45 is 50");
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

TEST(queue)
{
	judged(queue(222, 10 * MS, 10 * MS), "a tenth less than 2.22 ahead is less than 2");
	judged(queue(223, 10 * MS, 10 * MS), "a tenth less than 2.23 is more");
	judged(queue(182, 10 * MS, 10 * MS), "a tenth more than 1.82 ahead is more than 2");
	judged(queue(181, 10 * MS, 10 * MS), "a tenth more than 1.81 is less");
	judged(queue(300, 18200 * US, 10 * MS), "a tenth more than 18.2 ms is more than two writes");
	judged(queue(300, 18100 * US, 10 * MS), "a tenth more than 18.1 ms is less");
	judged(queue(300, 22200 * US, 10 * MS), "a tenth less than 22.2 ms is less than two writes");
	judged(queue(300, 22300 * US, 10 * MS), "a tenth less than 22.3 ms is more");
}

TEST(not_asked)
{
	struct report *r = split(660, 340);

	r->sync.count = 0;
	r->sync.no_ledger = 1;
	judged(r, "of no call there is no other reading");
	r = command(100 * MS);
	r->sync.others = 1;
	r->sync.others_ns = 210 * MS;
	judged(r, "nor of others'");
	r = command(190 * MS);
	add_device(r, "sda", "write back")->kernel.flushes = 5;
	r->device[0].kernel.flush_ns = 800 * MS;
	judged(r, "have none either");
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("confidence");
}
