// SPDX-License-Identifier: GPL-2.0-only
/* run_clocks.c - by whose clocks the times of requests are: the requests' own, where they do. */
#include "run/run_internal.h"

#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/num.h"

static void note_change(struct traced_run *run, enum wire_clocks which)
{
	uint64_t now = clock_ns();

	run->clocks.last = (struct wire_depth){ 0 };
	run->clocks_ns[run->clocks_now] += now - run->clocks_since_ns;
	run->clocks_since_ns = now;
	run->clocks_now = which;
}

void run_clocks_traced(struct traced_run *run)
{
	run->clocks = (struct clocks){ .penalty = run->clocks.penalty };
	note_change(run, CLOCKS_TRACED);
}

static void change_clocks(struct traced_run *run)
{
	/* clang-format off */
	static const char *const said[CLOCKS_KINDS] = {
		[CLOCKS_TRACED] = "taken at insert and issue", [CLOCKS_ALL] = "the requests' own clocks",
		[CLOCKS_ISSUE] = "the requests' own clocks, but for insert",
	};
	/* clang-format on */
	bool unbegun = probes_sums(run->probes)->unbegun;
	enum wire_clocks which = !run->clocks.own ? CLOCKS_TRACED : unbegun ? CLOCKS_ISSUE : CLOCKS_ALL;
	int err = probes_use_clocks(run->probes, which);

	run->clocks_failed = err;
	if (err) {
		notice(&run->opts.notices, NOTICE_ERROR, "cannot %s tracing insert and issue: %s",
		       run->clocks.own ? "stop" : "start", strerror(-err));
		return;
	}
	note_change(run, which);
	notice(&run->opts.notices, NOTICE_DETAIL, "times are %s", said[which]);
}

void run_look_at_clocks(struct traced_run *run)
{
	struct wire_run *sums = probes_sums(run->probes);
	struct wire_depth now;
	uint32_t unclocked;

	if (!probes_may_use_clocks(run->probes) || run->clocks_failed || (run->ring && run->idle.state == IDLE_AWAKE))
		return;
	unclocked = __atomic_exchange_n(&sums->unclocked, UNCLOCKED_NONE, __ATOMIC_SEQ_CST);
	now = probes_depths(run->probes, run->views);
	if (clocks_tick(&run->clocks, &now, unclocked))
		change_clocks(run);
}

void run_note_clocks(const struct traced_run *run, struct report *r)
{
	static const char *const told[CLOCKS_KINDS] = {
		[CLOCKS_ALL] = "only completions were traced: then a request's times are by its own clocks, its queue begins when it "
			       "came into being, and without valid clocks it has no times",
		[CLOCKS_ISSUE] = "only inserts and completions were traced: then when a request was issued is by its own clock, and "
				 "without a valid one it has no times",
	};

	for (int i = CLOCKS_ALL; i < CLOCKS_KINDS; i++) {
		uint64_t ns = run->clocks_ns[i] + ((int)run->clocks_now == i ? clock_ns() - run->clocks_since_ns : 0);

		if (ns)
			strv_add(&r->notes, xasprintf("for %s of the run %s", num_duration(ns, 0).s, told[i]));
	}
}
