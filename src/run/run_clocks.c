// SPDX-License-Identifier: GPL-2.0-only
/* run_clocks.c - by whose clocks the times of requests are: the requests' own, where they do. */
#include "run/run_internal.h"

#include <string.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"

static struct wire_depth all_depths(const struct session *s)
{
	const struct wire_maps *m = probes_maps(s->probes);
	struct wire_depth sum = { 0 };

	for (size_t i = 0; i < (size_t)s->views * m->stripes; i++) {
		sum.completed += m->depths[i].completed;
		sum.by_clocks += m->depths[i].by_clocks;
		sum.off += m->depths[i].off;
		sum.of += m->depths[i].of;
	}
	return sum;
}

static void change_clocks(struct session *s)
{
	/* clang-format off */
	static const char *const said[CLOCKS_KINDS] = {
		[CLOCKS_TRACED] = "taken at insert and issue", [CLOCKS_ALL] = "the requests' own clocks",
		[CLOCKS_ISSUE] = "the requests' own clocks, but for insert",
	};
	/* clang-format on */
	bool unbegun = probes_maps(s->probes)->run->unbegun;
	enum wire_clocks which = !s->clocks.own ? CLOCKS_TRACED : unbegun ? CLOCKS_ISSUE : CLOCKS_ALL;
	int err = probes_use_clocks(s->probes, which);
	uint64_t now;

	s->clocks_failed = err;
	if (err) {
		log_error("cannot %s tracing insert and issue: %s", s->clocks.own ? "stop" : "start", strerror(-err));
		return;
	}
	s->clocks.last = (struct wire_depth){ 0 };
	now = clock_ns();
	s->clocks_ns[s->clocks_now] += now - s->clocks_since_ns;
	s->clocks_since_ns = now;
	s->clocks_now = which;
	log_verbose("times are %s", said[which]);
}

void session_look_at_clocks(struct session *s)
{
	struct wire_run *run = probes_maps(s->probes)->run;
	struct wire_depth now;
	uint32_t unclocked;

	if (!probes_may_use_clocks(s->probes) || s->clocks_failed)
		return;
	unclocked = __atomic_exchange_n(&run->unclocked, UNCLOCKED_NONE, __ATOMIC_SEQ_CST);
	now = all_depths(s);
	if (clocks_tick(&s->clocks, &now, unclocked))
		change_clocks(s);
}

void session_note_clocks(const struct session *s, struct report *r)
{
	static const char *const told[CLOCKS_KINDS] = {
		[CLOCKS_ALL] = "only completions were traced: then a request's times are by its own clocks, its queue begins when it "
			       "came into being, and without valid clocks it has no times",
		[CLOCKS_ISSUE] = "only inserts and completions were traced: then when a request was issued is by its own clock, and "
				 "without a valid one it has no times",
	};

	for (int i = CLOCKS_ALL; i < CLOCKS_KINDS; i++) {
		uint64_t ns = s->clocks_ns[i] + ((int)s->clocks_now == i ? clock_ns() - s->clocks_since_ns : 0);

		if (ns)
			strv_add(&r->notes, xasprintf("for %s of the run %s", num_duration(ns, 0).s, told[i]));
	}
}
