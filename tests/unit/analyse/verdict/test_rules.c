// SPDX-License-Identifier: GPL-2.0-only
/* The rules of the verdict, at their thresholds: exactly there, one below, one above. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/facts.h"
#include "analyse/verdict/verdict.h"
#include "tap.h"
#include "verdict_report.h"

/* Judges as often as is wanted; what is found is "scope class". */
static void is_judged(struct report *r, const char *scope, const char *class, const char *what)
{
	struct report_verdict *v = &r->verdict;

	free(v->sentence);
	strv_free(v->evidence);
	strv_free(v->advice);
	memset(v, 0, sizeof(*v));
	r->have_verdict = false;
	verdict_make(r);
	if (!ok(!strcmp(v->scope, scope) && !strcmp(v->class, class), "%s, %s: %s", class, scope, what))
		diag("is %s, %s: %s", v->class, v->scope, v->sentence);
}

static bool near(double have, double want)
{
	if (fabs(have - want) < 1e-9)
		return true;
	diag("is %.6f, not %.6f", have, want);
	return false;
}

/* A command of 1 s whose 20 calls took so much, all of it for the CPU, on sda. */
static struct report *command(uint64_t sync_ns)
{
	struct report *r = start();

	add_device(r, "sda", "write back");
	wrap(r);
	r->wall_ns = SEC;
	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 20;
	r->sync.total_ns = r->sync.ledger.ns[CAUSE_CPU] = sync_ns;
	return r;
}

/* ---- others ---- */

TEST(none)
{
	MADE *r = xcalloc(1, sizeof(*r));
	uint64_t *nothing[] = { &r->sync.count, &r->sync.no_ledger, &r->sync.lost,
				&r->under_way,	&r->began_before,   &r->idle_unended };

	r->have_sync = true;
	r->wall_ns = SEC;
	is_judged(r, "asked", "no-sync", "nothing");
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		*nothing[i] = 1;
		is_judged(r, "asked", "too-little-data", "one that was made, or may have been");
		*nothing[i] = 0;
	}
}

TEST(others)
{
	MADE *r = command(190 * MS);

	r->sync.others = 1;
	r->sync.others_ns = 200 * MS;
	is_judged(r, "others", "too-little-data", "a fifth of the run in calls of others");
	ok(isnan(r->verdict.share), "has no share");
	r->sync.others_ns--;
	is_judged(r, "asked", "not-sync", "less than a fifth");
	r->sync.others_ns = 900 * MS;
	r->sync.elsewhere = 1;
	r->sync.elsewhere_ns = 10 * MS - 1;
	is_judged(r, "others", "too-little-data", "its own and those elsewhere are less than a fifth");
	r->sync.elsewhere_ns++;
	is_judged(r, "asked", "cpu", "its own and those elsewhere are a fifth");
	r->sync.elsewhere_ns = 0;
	r->sync.count = 0;
	r->sync.no_ledger = 1;
	is_judged(r, "asked", "too-little-data", "its own could not be followed");
	r->sync.no_ledger = 0;
	is_judged(r, "others", "too-little-data", "it has none");
	r->sync.count = 20;
	strv_free(r->command);
	r->command = NULL;
	is_judged(r, "asked", "cpu", "nobody was asked about: there are no others");
	r->filter = xstrdup("pid 4");
	is_judged(r, "others", "too-little-data", "a filter");
}

TEST(others_flush)
{
	MADE *r = command(100 * MS);
	struct report_kernel *k = &r->device[0].kernel;

	k->flushes = 5;
	k->flush_ns = 300 * MS;
	is_judged(r, "others", "too-little-data", "a fifth in FLUSHes, what its own calls took left out");
	k->flush_ns--;
	is_judged(r, "asked", "not-sync", "less than a fifth");
	k->flush_ns = 500 * MS;
	is_judged(r, "others", "device-flush", "half of the run in FLUSHes");
	ok(near(r->verdict.share, 0.4), "its share is what is left of it");
	k->flush_ns--;
	is_judged(r, "others", "too-little-data", "less than half");
	r->sync.others = 1;
	r->sync.others_ns = 600 * MS;
	k->flush_ns = 300 * MS;
	is_judged(r, "others", "device-flush", "half of others' calls");
	ok(near(r->verdict.share, 0.6), "its share is that of the calls, which is more");
	k->flush_ns--;
	is_judged(r, "others", "too-little-data", "less than half of them");
	r->sync.others_ns = 3 * SEC;
	k->flush_ns = 3 * SEC;
	is_judged(r, "others", "device-flush", "more than the run");
	ok(r->verdict.share == 1, "is all of it");
	k->flush_ns = 100 * MS;
	r->sync.others_ns = r->sync.others = 0;
	is_judged(r, "asked", "not-sync", "as much in FLUSHes as in its own calls is nobody else's");
}

/* ---- unsafe ---- */

static struct report *unsafe(uint64_t n, uint64_t durable)
{
	struct report *r = command(500 * MS);

	ops(&r->device[0], OP_WRITE_SYNC, 20, 2 * MS);
	r->sync.unsafe = n;
	r->sync.durable = durable;
	return r;
}

TEST(unflushed)
{
	MADE *r = unsafe(11, 10);
	struct report_device *d = &r->device[0];

	is_judged(r, "asked", "unsafe-fast", "one more unsafe than durable");
	ok(near(r->verdict.share, 0.55), "its share is of the calls");
	r->sync.durable = 11;
	is_judged(r, "asked", "cpu", "as many");
	r->sync.durable = 0;
	d->op[OP_FLUSH].count = 1;
	is_judged(r, "asked", "cpu", "a FLUSH was seen");
	d->op[OP_FLUSH].count = 0;
	d->op[OP_FUA].count = 1;
	is_judged(r, "asked", "cpu", "a FUA write was");
	d->op[OP_FUA].count = 0;
	d->kernel.have_flush = false;
	is_judged(r, "asked", "unsafe-fast", "the kernel doesn't count FLUSHes, and nothing is left out");
	r->filter = xstrdup("pid 4");
	is_judged(r, "asked", "cpu", "a filter may leave them out");
	d->kernel.have_flush = true;
	is_judged(r, "asked", "unsafe-fast", "the kernel counted none");
	d->op[OP_WRITE_SYNC].count = 0;
	is_judged(r, "asked", "cpu", "nothing was written");
	d->op[OP_READ_SYNC].count = d->op[OP_DISCARD].count = 5;
	is_judged(r, "asked", "cpu", "reads and discards are no writes");
	d->op[OP_WRITE_ASYNC].count = 1;
	is_judged(r, "asked", "unsafe-fast", "background writes are");
	r->sync.calls[CALL_SYNC_FILE_RANGE] = 10;
	d->kernel.flushes = 1;
	is_judged(r, "asked", "cpu", "half of the calls are sync_file_range, and there was a FLUSH");
	r->sync.calls[CALL_SYNC_FILE_RANGE] = 11;
	is_judged(r, "asked", "unsafe-fast", "more than half are");
	free(d->write_cache);
	d->write_cache = NULL;
	is_judged(r, "asked", "cpu", "whether it has a cache is not known");
	r->n_devices = 0;
	is_judged(r, "asked", "cpu", "no disk");
	r->n_devices = 1;
}

TEST(nobarrier)
{
	static const struct {
		const char *device;
		uint64_t unsafe;
		bool found;
		const char *what;
	} rows[] = {
		{ "sda", 1, true, "a file on the disk" },
		{ "sda1", 1, true, "on a partition of it" },
		{ "sdb", 1, false, "on another" },
		{ "sda", 0, false, "one whose calls were safe" },
		{ NULL, 1, true, "where it is is not known" },
		{ "sd", 1, false, "on one with a shorter name" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		MADE *r = unsafe(1, 19);

		add_mount(&r->device[0], "/srv", "nobarrier");
		add_file(r, "f", "sdz", 0);
		add_file(r, "f", rows[i].device, rows[i].unsafe);
		is_judged(r, "asked", rows[i].found ? "unsafe-fast" : "cpu", rows[i].what);
		ok(rows[i].found == (r->verdict.confidence == 1), "sure where it is known why");
	}
}

/* A disk that turns, whose writes and FLUSHes took so long. */
static struct report *platter(const char *cache, unsigned int writes, uint64_t write_ns, unsigned int flushes,
			      uint64_t flush_ns)
{
	struct report *r = command(500 * MS);
	struct report_device *d = &r->device[0];

	free(d->write_cache);
	d->write_cache = xstrdup(cache);
	d->model = xstrdup("ST4000");
	d->have_rotational = d->rotational = true;
	ops(d, OP_WRITE_SYNC, writes, write_ns);
	ops(d, OP_FLUSH, flushes, flush_ns);
	return r;
}

TEST(platter)
{
	static const struct {
		const char *cache;
		unsigned int writes;
		uint64_t write_ns;
		unsigned int flushes;
		uint64_t flush_ns;
		bool unsafe;
		const char *what;
	} rows[] = {
		{ "write through", 10, MS - 1, 0, 0, true, "ten writes in less than a millisecond" },
		{ "write through", 10, MS, 0, 0, false, "in a millisecond" },
		{ "write through", 9, MS - 1, 0, 0, false, "nine writes" },
		{ "write back", 10, 1, 10, MS - 1, true, "ten FLUSHes in less than a millisecond" },
		{ "write back", 10, 1, 10, MS, false, "in a millisecond" },
		{ "write back", 10, 1, 9, MS - 1, false, "nine FLUSHes" },
		{ "write back", 10, 1, 11, MS - 1, false, "fewer writes than FLUSHes" },
		{ NULL, 10, 1, 10, 1, false, "a cache of no known kind" },
	};
	struct report *r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = platter(rows[i].cache, rows[i].writes, rows[i].write_ns, rows[i].flushes, rows[i].flush_ns);
		is_judged(r, "asked", rows[i].unsafe ? "unsafe-fast" : "cpu", rows[i].what);
		drop(r);
	}
	r = platter("write through", 10, 1, 0, 0);
	r->device[0].have_rotational = false;
	is_judged(r, "asked", "cpu", "whether it turns is not known");
	r->device[0].have_rotational = true;
	r->device[0].rotational = false;
	is_judged(r, "asked", "cpu", "it doesn't turn");
	r->device[0].rotational = true;
	free(r->device[0].model);
	r->device[0].model = NULL;
	is_judged(r, "asked", "cpu", "its model is not known");
	r->device[0].model = xstrdup("iSCSI disk");
	is_judged(r, "asked", "cpu", "the last of the models that are no disk");
	r->n_devices = 0;
	is_judged(r, "asked", "cpu", "no disk");
	r->n_devices = 1;
	drop(r);
}

/* Half of the writes took less than a millisecond, not three fifths. */
TEST(platter_median)
{
	MADE *r = platter("write through", 10, MS / 2, 0, 0);

	ops(&r->device[0], OP_WRITE_SYNC, 10, 2 * MS);
	is_judged(r, "asked", "unsafe-fast", "the median is what counts");
}

/* ---- not sync, too little ---- */

TEST(not_sync)
{
	MADE *r = command(200 * MS - 4);
	uint64_t *more[] = { &r->sync.no_ledger_ns, &r->sync.elsewhere_ns, &r->under_way_ns };

	is_judged(r, "asked", "not-sync", "less than a fifth of the run");
	ok(near(r->verdict.share, 0.199999996), "its share is of the run");
	r->sync.total_ns += 4;
	is_judged(r, "asked", "cpu", "a fifth");
	r->sync.total_ns -= 4;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		*more[i] = 3;
		is_judged(r, "asked", "not-sync", "less than a fifth with what is not in the figures");
		*more[i] = 4;
		is_judged(r, "asked", "cpu", "a fifth with what is not in the figures");
		*more[i] = 0;
	}
	r->sync.no_ledger = 19;
	is_judged(r, "asked", "not-sync", "fewer without a ledger than with one");
	r->sync.no_ledger = 20;
	is_judged(r, "asked", "cpu", "as many");
	r->sync.no_ledger = 21;
	is_judged(r, "asked", "too-little-data", "more");
}

TEST(short)
{
	MADE *r = command(100 * US);

	r->wall_ns = MS;
	is_judged(r, "asked", "not-sync", "a run of a millisecond");
	r->wall_ns = MS - 1;
	is_judged(r, "asked", "too-little-data", "a shorter one");
	r->wall_ns = SEC;
	strv_free(r->command);
	r->command = NULL;
	r->sync.total_ns = MS;
	is_judged(r, "asked", "cpu", "calls of a millisecond");
	r->sync.total_ns--;
	is_judged(r, "asked", "too-little-data", "of less");
	r->sync.total_ns = SEC;
	r->sync.ledger.ns[CAUSE_CPU] = 0;
	is_judged(r, "asked", "too-little-data", "nothing in the ledger");
}

/* ---- the largest ---- */

TEST(largest)
{
	static const struct {
		unsigned int lock, journal, cpu, runq;
		const char *class, *what;
	} rows[] = {
		{ 600, 400, 0, 0, "lock", "three fifths" },
		{ 599, 401, 0, 0, "mixed", "less, and more than half in the next" },
		{ 300, 150, 150, 300 - 1, "mixed", "next to another as large" },
		{ 300, 150, 150, 150, "lock", "more than a third, and twice the next" },
		{ 300, 151, 150, 150, "mixed", "less than twice the next" },
		{ 200, 100, 100, 100, "lock", "twice the next" },
		{ 5, 2, 2, 2, "lock", "more than twice" },
	};
	struct report *r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = start();
		spend(r, CAUSE_LOCK, rows[i].lock);
		spend(r, CAUSE_JOURNAL, rows[i].journal);
		spend(r, CAUSE_CPU, rows[i].cpu);
		spend(r, CAUSE_RUNQ, rows[i].runq);
		is_judged(r, "asked", rows[i].class, rows[i].what);
		ok(near(r->verdict.share,
			(double)rows[i].lock / (rows[i].lock + rows[i].journal + rows[i].cpu + rows[i].runq)),
		   "its share");
		drop(r);
	}
	r = start();
	spend(r, CAUSE_LOCK, 300);
	spend(r, CAUSE_JOURNAL, 150);
	spend(r, CAUSE_CPU, 150);
	spend(r, CAUSE_RUNQ, 150);
	spend(r, CAUSE_THROTTLE, 150);
	is_judged(r, "asked", "lock", "a third");
	r->sync.ledger.ns[CAUSE_THROTTLE] = 149 * MS;
	r->sync.ledger.ns[CAUSE_TAG] = 2 * MS;
	is_judged(r, "asked", "mixed", "less than a third");
	drop(r);
}

int main(void)
{
	tests_run();
	return tap_done();
}
