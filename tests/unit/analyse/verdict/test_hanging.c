// SPDX-License-Identifier: GPL-2.0-only
/* The verdict where calls have not returned: golden/hanging.txt has which of them it is about, its class, and what is said of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/verdict/verdict.h"
#include "analyse/verdict/facts.h"
#include "model/outstanding.h"
#include "situations.h"
#include "verdict_report.h"

static struct report_outstanding *add(struct report *r, uint32_t pid, const char *step, uint64_t ns)
{
	struct report_outstanding *o = grow((void **)&r->outstanding, &r->n_outstanding, sizeof(*o));

	o->pid = o->tid = pid;
	o->comm = xstrdup("dd");
	o->call = xstrdup("fsync");
	o->step = xstrdup(step);
	o->ns = ns;
	return o;
}

/* Nothing but what hangs, in a run of 10 s. */
static struct report *hanging(const char *step, uint64_t ns)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->have_sync = true;
	r->wall_ns = 10 * SEC;
	add(r, 5, step, ns);
	return r;
}

static void is_str(const char *have, const char *want, const char *what)
{
	if (!ok(want ? have && !strcmp(have, want) : !have, "%s", what))
		diag("is %s", have ? have : "NULL");
}

TEST(kinds)
{
	static const char *const steps[] = { "flush",	     "flush.wait", "device.write",
					     "device.read",  "device.fua", "device.discard",
					     "device.other", "ioq",	   "tag",
					     "throttle",     "journal",	   "lock",
					     "cpu",	     "unknown",	   "what no version knows" };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		MADE *r = hanging(steps[i], 3 * SEC);

		verdict_make(r);
		SAY("%s: %s, %s, %s\n  %s\n  -> %.60s\n", steps[i], r->verdict.scope, r->verdict.class,
		    r->verdict.family ? r->verdict.family : "no family", r->verdict.sentence, r->verdict.advice[0]);
	}
}

/* ---- of whom ---- */

TEST(whose)
{
	MADE *r = hanging("lock", 3 * SEC);
	struct facts f;

	r->outstanding[0].other = true;
	add(r, 6, "tag", 2 * SEC);
	add(r, 7, "cpu", 20 * SEC);
	facts_of(r, &f);
	ok(f.hung && f.hung->pid == 5 && f.hung_ns == 15e9,
	   "others' count where nothing was asked for; none counts for longer than the run");
	r->under_way = 1;
	facts_of(r, &f);
	ok(f.hung && f.hung->pid == 6 && f.hung_ns == 12e9, "not beside one that was asked for and hangs");
	r->under_way = 0;
	r->sync.count = 1;
	facts_of(r, &f);
	ok(f.hung && f.hung->pid == 6 && f.hung_ns == 12e9, "nor beside one that returned");
	r->wall_ns = 0;
	facts_of(r, &f);
	ok(f.hung_ns == 22e9, "a run whose length is not known cuts none");
	r->outstanding[1].other = r->outstanding[2].other = true;
	facts_of(r, &f);
	ok(!f.hung && f.hung_ns == 0, "only others'");
}

TEST(share)
{
	struct report *r = hanging("lock", 3 * SEC);

	r->sync.count = 20;
	r->sync.total_ns = 3 * SEC;
	verdict_make(r);
	is_str(r->verdict.scope, "asked", "as long as those that returned is not longer");
	drop(r);
	r = hanging("lock", 3 * SEC);
	r->sync.count = 20;
	r->sync.total_ns = SEC;
	verdict_make(r);
	is_str(r->verdict.scope, "outstanding", "longer is");
	ok(fabs(r->verdict.share - 0.75) < 1e-9 && !r->verdict.second && r->verdict.confidence == 0,
	   "its share is of both: %.3f", r->verdict.share);
	drop(r);
}

/* ---- words ---- */

static void says(struct report *r, const char *what)
{
	free(r->verdict.sentence);
	strv_free(r->verdict.evidence);
	strv_free(r->verdict.advice);
	memset(&r->verdict, 0, sizeof(r->verdict));
	r->have_verdict = false;
	verdict_make(r);
	SAY("%s:\n  %s\n", what, r->verdict.sentence);
}

TEST(words)
{
	MADE *r = hanging("lock", 3 * SEC);

	r->under_way = 1;
	says(r, "one call");
	r->under_way = 0;
	says(r, "one that is younger than those that are counted");
	r->under_way = 2;
	says(r, "one more");
	r->under_way = 3;
	says(r, "two more");
	r->exit_status = 4;
	says(r, "a status that is not known");
	r->have_exit_status = true;
	says(r, "a command that failed");
	r->exit_status = 0;
	says(r, "one that did not");
	r->under_way = 0;
	r->outstanding[0].other = true;
	says(r, "another's");
	strv_add(&r->command, xstrdup("x"));
	says(r, "another's, beside a command");
}

/* Calls that returned took more, and the verdict is about these: what hangs is said behind. */
TEST(beside_returned)
{
	MADE *r = hanging("lock", 3 * SEC);

	r->sync.count = r->sync.calls[CALL_FDATASYNC] = 20;
	r->sync.total_ns = r->sync.ledger.ns[CAUSE_CPU] = 4 * SEC;
	says(r, "beside those that returned");
}

/* Of a call of another's none is taken off those of who was asked about. */
TEST(more_than_others)
{
	MADE *r = hanging("lock", 3 * SEC);
	struct facts f;
	FREED(buf) struct buf b = { 0 };

	r->outstanding[0].other = true;
	facts_of(r, &f);
	r->under_way = 1;
	outstanding_say(&f, &b);
	SAY("another's, and one that was asked about:\n  %s\n", b.data);
}

TEST(began)
{
	static const struct {
		uint64_t count, began, ns;
		const char *what;
	} rows[] = {
		{ 0, 0, 0, "none began before" }, { 0, 1, 20 * US, "one, where there is no other" },
		{ 0, 2, 20 * US, "two" },	  { 1, 1, SEC - 1, "less than a second, where there is another" },
		{ 1, 1, SEC, "a second" },
	};
	MADE *r = hanging("lock", 3 * SEC);
	struct facts f;

	facts_of(r, &f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FREED(buf) struct buf b = { 0 };

		r->sync.count = rows[i].count;
		r->began_before = rows[i].began;
		r->began_before_ns = rows[i].ns;
		outstanding_say_began(&f, &b);
		SAY("%s:%s\n", rows[i].what, b.len ? b.data : " nothing is said");
	}
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	tests_run();
	return situations_done("hanging");
}
