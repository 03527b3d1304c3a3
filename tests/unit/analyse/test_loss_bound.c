// SPDX-License-Identifier: GPL-2.0-only
/* What lost events can have changed, and from when on that matters: golden/loss_bound.txt. */
#include "analyse/loss_bound.h"

#include "situations.h"
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

static void bound(const char *what)
{
	loss_bound(&r);
	SAY("%s:", what);
	for (size_t i = 0; i < r.n_lost; i++)
		SAY(" %s at most %.9f,", r.lost[i].reason, r.lost[i].at_most);
	SAY(r.incomplete ? " incomplete\n" : " as good as complete\n");
}

TEST(ledgers)
{
	fill();
	bound("nothing was lost");

	fill();
	unknown(500 * MS);
	bound("nor where much is unknown");

	fill();
	report_add_lost(&r, 1000000, LOSS_OF_LEDGERS, "facts");
	bound("as many as may be, if all time is explained");

	unknown(9 * MS);
	bound("what is unknown may be wrong");

	unknown(1 * MS);
	bound("from one per cent on it matters");
}

TEST(calls)
{
	fill();
	report_add_lost(&r, 3, LOSS_OF_LEDGERS, "facts");
	report_add_lost(&r, 1, LOSS_OF_LEDGERS, "calls");
	r.sync.no_ledger_ns = 25 * MS;
	r.sync.dropped_ns = 5 * MS;
	bound("calls without a ledger for other reasons are none that was lost; shares go by the counts");

	r.unrecorded = 1;
	r.unrecorded_ns = 6 * MS;
	bound("nor have calls without a record that time");

	fill();
	r.sync.total_ns = r.sync.ledger.ns[CAUSE_CPU] = r.sync.count = 0;
	report_add_lost(&r, 3, LOSS_OF_LEDGERS, "facts");
	bound("where there was no call, there is nothing to change");

	r.unrecorded_ns = 1;
	bound("where there was one, and no record of any, it is all of it");
}

TEST(requests)
{
	fill();
	requests(900);
	requests(99);
	report_add_lost(&r, 1, LOSS_OF_REQUESTS, "requests");
	bound("of the requests, those that were missed, of all disks");

	unknown(4 * MS);
	report_add_lost(&r, 4, LOSS_OF_LEDGERS, "facts");
	report_add_lost(&r, 3, LOSS_OF_REQUESTS, "bios");
	bound("each its own");

	unknown(3 * MS);
	bound("but it is their sum that counts");
}

TEST(unbounded)
{
	fill();
	report_add_lost(&r, 1, LOSS_OF_ANYTHING, "processes");
	report_add_lost(&r, 1, LOSS_OF_LEDGERS, "facts");
	bound("what has no bound matters, whatever the rest");

	fill();
	report_add_lost(&r, 1, LOSS_OF_ANYTHING, "processes");
	r.lost[0].count = 0;
	bound("but not where none were lost");

	fill();
	r.incomplete = true;
	bound("what was incomplete before, is still");

	fill();
	report_add_lost(&r, 1, (enum loss_reach)77, "of a later version");
	bound("of what is not known, nothing is known");
	report_free(&r);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("loss_bound");
}
