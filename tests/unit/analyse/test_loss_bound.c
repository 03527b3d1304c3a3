// SPDX-License-Identifier: GPL-2.0-only
/* What lost events can have changed, and from when on that matters. */
#include "analyse/loss_bound.h"

#include <math.h>

#include "tap.h"
#include "util/mem.h"

#define MS 1000000ull

static struct report r;

/* 1,000 calls of 1 s in all. */
static void fill(void)
{
	report_free(&r);
	r = (struct report){ .have_sync = true };
	r.sync.count = 1000;
	r.sync.total_ns = r.sync.ledger.ns[CAUSE_CPU] = 1000 * MS;
}

static void unknown(uint64_t ns)
{
	r.sync.ledger.ns[CAUSE_CPU] -= ns;
	r.sync.ledger.ns[CAUSE_UNKNOWN] += ns;
}

static void requests(uint64_t n)
{
	struct report_device *d = grow((void **)&r.device, &r.n_devices, sizeof(*d));

	d->op[OP_WRITE_SYNC].count = n;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

TEST(ledgers)
{
	fill();
	loss_bound(&r);
	ok(!r.incomplete, "nothing was lost");

	fill();
	unknown(500 * MS);
	loss_bound(&r);
	ok(!r.incomplete, "nor where much is unknown");

	fill();
	report_add_lost(&r, 1000000, LOSS_OF_LEDGERS, "facts");
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 0), "as many as may be, if all time is explained");

	unknown(9 * MS);
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 0.009), "what is unknown may be wrong");

	unknown(1 * MS);
	loss_bound(&r);
	ok(r.incomplete && near(r.lost[0].at_most, 0.01), "from one per cent on it matters");
}

TEST(calls)
{
	fill();
	report_add_lost(&r, 3, LOSS_OF_LEDGERS, "facts");
	report_add_lost(&r, 1, LOSS_OF_LEDGERS, "calls");
	r.sync.no_ledger_ns = 25 * MS;
	r.sync.dropped_ns = 5 * MS;
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 0.75 * 5 / 1025) && near(r.lost[1].at_most, 0.25 * 5 / 1025),
	   "calls without a ledger for other reasons are none that was lost; shares go by the counts");

	r.unrecorded = 1;
	r.unrecorded_ns = 6 * MS;
	loss_bound(&r);
	ok(r.incomplete && near(r.lost[0].at_most + r.lost[1].at_most, 11.0 / 1031),
	   "nor have calls without a record that time");

	fill();
	r.sync.total_ns = r.sync.ledger.ns[CAUSE_CPU] = r.sync.count = 0;
	report_add_lost(&r, 3, LOSS_OF_LEDGERS, "facts");
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 0), "where there was no call, there is nothing to change");

	r.unrecorded_ns = 1;
	loss_bound(&r);
	ok(r.incomplete && near(r.lost[0].at_most, 1), "where there was one, and no record of any, it is all of it");
}

TEST(requests)
{
	fill();
	requests(900);
	requests(99);
	report_add_lost(&r, 1, LOSS_OF_REQUESTS, "requests");
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 1.0 / 1000), "of the requests, those that were missed, of all disks");

	unknown(4 * MS);
	report_add_lost(&r, 4, LOSS_OF_LEDGERS, "facts");
	report_add_lost(&r, 3, LOSS_OF_REQUESTS, "bios");
	loss_bound(&r);
	ok(!r.incomplete && near(r.lost[0].at_most, 1.0 / 1003) && near(r.lost[1].at_most, 0.004) &&
		   near(r.lost[2].at_most, 3.0 / 1003),
	   "each its own");

	unknown(3 * MS);
	loss_bound(&r);
	ok(r.incomplete, "but it is their sum that counts");
}

TEST(unbounded)
{
	fill();
	report_add_lost(&r, 1, LOSS_OF_ANYTHING, "processes");
	report_add_lost(&r, 1, LOSS_OF_LEDGERS, "facts");
	loss_bound(&r);
	ok(r.incomplete && near(r.lost[0].at_most, -1) && near(r.lost[1].at_most, 0),
	   "what has no bound matters, whatever the rest");

	fill();
	report_add_lost(&r, 1, LOSS_OF_ANYTHING, "processes");
	r.lost[0].count = 0;
	loss_bound(&r);
	ok(!r.incomplete, "but not where none were lost");

	fill();
	r.incomplete = true;
	loss_bound(&r);
	ok(r.incomplete, "what was incomplete before, is still");

	fill();
	report_add_lost(&r, 1, (enum loss_reach)77, "of a later version");
	loss_bound(&r);
	ok(r.incomplete && r.lost[0].at_most < 0, "of what is not known, nothing is known");
	report_free(&r);
}

int main(void)
{
	tests_run();
	return tap_done();
}
