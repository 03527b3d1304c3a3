// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_attached.c - decides which programs are attached when. Nothing else does: docs/explanation/architecture.md has the table of states.
 * Three things cost when nobody needs them: what only ledgers need, sys_enter (every system call of the machine then takes the kernel's
 * slow path), and insert and issue where the requests' own clocks do.
 */
#include "run/run_internal.h"

#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/num.h"

#define QUIET_NS     10000000000ull   /* without a call that needs the programs */
#define KEEP_TIMES   10		      /* keep them for this many times the last pause, so that rare calls are traced, */
#define KEEP_MOST_NS 3600000000000ull /* but at most for so long */
#define DROP_IDLE_NS 1000000000ull    /* after they were attached again */
#define STOP_NS	     10000000ull      /* more than probes_trace_functions() needs */

static bool ledgers_on(const struct attached *a)
{
	return a->state <= ATTACHED_FUNCTIONS;
}

static void enter(struct attached *a, enum attached_state state, uint64_t now)
{
	a->ns[a->state] += now - a->since;
	a->since = now;
	a->state = state;
}

static uint64_t spent_in(const struct attached *a, enum attached_state state)
{
	return a->ns[state] + (a->state == state ? clock_ns() - a->since : 0);
}

void run_attached_start(struct traced_run *run, uint64_t now)
{
	run->attached = (struct attached){ .state = run->ring ? ATTACHED_ALL : ATTACHED_REQUESTS, .since = now };
	run->attached.ledgers.since = run->attached.sys_enter.since = now;
}

/* ---- how long is quiet enough ---- */

/* A wake-up that no sync call followed, such as a journal's own commit, keeps nothing attached. */
static bool quiet_enough(const struct quiet *q, uint64_t now)
{
	return now >= q->since + QUIET_NS && (!q->calls || now >= q->keep_until);
}

static void quiet_off(const struct traced_run *run, struct quiet *q, uint64_t now)
{
	if (q->off)
		return;
	q->off = true;
	q->changed = now;
	q->calls_before = probes_sums(run->probes)->idle_calls;
}

static void quiet_on(struct traced_run *run, struct quiet *q, uint64_t now)
{
	uint64_t pause = now - q->changed;

	q->since = now;
	if (!q->off)
		return;
	q->off = false;
	q->keep_until = clock_after(now, pause < KEEP_MOST_NS / KEEP_TIMES ? pause * KEEP_TIMES : KEEP_MOST_NS);
	q->changed = now;
	q->calls = probes_sums(run->probes)->idle_calls != q->calls_before;
	run->attached.drop_ns = now + DROP_IDLE_NS;
}

/* Drop the notes of calls that began during a pause and whose end was not seen. */
static void drop_idle(struct traced_run *run, uint64_t now)
{
	if (!run->attached.drop_ns || now < run->attached.drop_ns)
		return;
	probes_drop_idle(run->probes);
	run->attached.drop_ns = 0;
}

static bool quiet_broken(struct quiet *q, bool call, uint64_t now)
{
	if (call)
		q->since = now;
	q->calls |= call;
	return call;
}

/* ---- what only ledgers need ---- */

/* Is a call under way, or has one come since the last look? */
static bool any_call(struct traced_run *run, uint64_t now)
{
	const struct calls_wanted of_run = { .until = now, .counts = run_is_of_run, .ctx = run };
	uint64_t since = run->attached.ledgers.since;

	if (probes_last_call(run->probes) > since)
		return true;
	return now >= since + QUIET_NS && probes_oldest_call(run->probes, &of_run) < now;
}

static void rest(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;

	run_wake_sources_tell(run);
	probes_rest(run->probes);
	quiet_off(run, &a->ledgers, now);
	if (probes_sys_enter_bell(run->probes) != BELL_OFF)
		quiet_off(run, &a->sys_enter, now);
	enter(a, ATTACHED_SETTLING, now);
	notice(&run->opts.notices, NOTICE_DETAIL, "no sync call for %s: ledgers are off until the next",
	       num_duration(QUIET_NS, 0).s);
}

/* Journals are followed from the start, as at that of the run. */
static void wake(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;
	uint64_t pause = now - a->ledgers.changed;
	int err = probes_wake(run->probes);
	bool functions = probes_sys_enter_bell(run->probes) != BELL_OFF;

	a->clocks = (struct clocks){ .penalty = a->clocks.penalty };
	enter(a, functions ? ATTACHED_FUNCTIONS : ATTACHED_ALL, now);
	quiet_on(run, &a->ledgers, now);
	if (!functions)
		quiet_on(run, &a->sys_enter, now);
	if (err) {
		notice(&run->opts.notices, NOTICE_ERROR, "cannot switch ledgers on again: %s", strerror(-err));
		return;
	}
	run_follow_journals(run);
	notice(&run->opts.notices, NOTICE_DETAIL, "after %s something asked for durability: ledgers are on again",
	       num_duration(pause, 0).s);
}

static void settle(struct traced_run *run, uint64_t now)
{
	probes_forget_tasks(run->probes, run_is_of_run, run);
	enter(&run->attached, ATTACHED_REQUESTS, now);
}

/* ---- sys_enter, where sync calls can be traced at their functions ---- */

static bool any_device(const void *ctx __attribute__((unused)), uint32_t dev __attribute__((unused)))
{
	return true;
}

/* Is a call under way that began before `time`? Only sys_exit may see its end. */
static bool any_call_before(const struct traced_run *run, uint64_t time)
{
	const struct calls_wanted w = { .until = clock_ns(), .counts = any_device };

	return probes_oldest_call(run->probes, &w) < time;
}

static void trace_functions(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;
	int err;

	a->sys_enter.since = now; /* look for remote file systems again later */
	if (run_wake_sources_lacking(run))
		return;
	err = probes_trace_functions(run->probes);
	if (err)
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "every system call is seen, as sync calls can't be traced at their functions: %s", strerror(-err));
	a->functions_refused = err;
	if (err)
		return;
	run_wake_sources_tell(run);
	enter(a, ATTACHED_BOTH, clock_ns());
}

static void tick_all(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;

	if (quiet_broken(&a->sys_enter, probes_last_sys_enter_call(run->probes) > a->sys_enter.since, now))
		return;
	if (!a->functions_refused && quiet_enough(&a->sys_enter, now))
		trace_functions(run, now);
}

static void tick_both(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;

	if (now < a->since + STOP_NS)
		return;
	probes_stop_sys_enter(run->probes);
	quiet_off(run, &a->sys_enter, clock_ns());
	enter(a, ATTACHED_DRAINING, a->sys_enter.changed);
}

static void tick_draining(struct traced_run *run, uint64_t now)
{
	if (any_call_before(run, run->attached.since))
		return;
	probes_stop_sys_exit(run->probes);
	enter(&run->attached, ATTACHED_FUNCTIONS, now);
	notice(&run->opts.notices, NOTICE_DETAIL,
	       "sync calls are traced at their functions: other system calls are not seen any more");
}

static void trace_syscalls(struct traced_run *run)
{
	int err = probes_trace_syscalls(run->probes);
	uint64_t now = clock_ns();

	if (err)
		notice(&run->opts.notices, NOTICE_ERROR, "cannot trace system calls again: %s", strerror(-err));
	else
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "a write that syncs, or a 32-bit program: every system call is seen again");
	enter(&run->attached, ATTACHED_ALL, now);
	quiet_on(run, &run->attached.sys_enter, now);
}

/* ---- the requests' own clocks ---- */

static void change_clocks(struct traced_run *run, uint64_t now)
{
	/* clang-format off */
	static const struct { enum wire_clocks clocks; const char *said; } how[] = {
		[ATTACHED_REQUESTS] = { CLOCKS_TRACED, "taken at insert and issue" },
		[ATTACHED_INSERTS] = { CLOCKS_ISSUE, "the requests' own clocks, but for insert" },
		[ATTACHED_COMPLETIONS] = { CLOCKS_ALL, "the requests' own clocks" },
	};
	/* clang-format on */
	struct attached *a = &run->attached;
	bool unbegun = probes_sums(run->probes)->unbegun;
	enum attached_state state = !a->clocks.own ? ATTACHED_REQUESTS :
				    unbegun	   ? ATTACHED_INSERTS :
						     ATTACHED_COMPLETIONS;
	int err = probes_use_clocks(run->probes, how[state].clocks);

	a->clocks_refused = err;
	if (err) {
		notice(&run->opts.notices, NOTICE_ERROR, "cannot %s tracing insert and issue: %s",
		       a->clocks.own ? "stop" : "start", strerror(-err));
		return;
	}
	a->clocks.last = (struct wire_depth){ 0 };
	enter(a, state, now);
	notice(&run->opts.notices, NOTICE_DETAIL, "times are %s", how[state].said);
}

static void tick_clocks(struct traced_run *run, uint64_t now)
{
	struct attached *a = &run->attached;
	struct wire_depth depths;
	uint32_t unclocked;

	if (!probes_may_use_clocks(run->probes) || a->clocks_refused)
		return;
	unclocked = __atomic_exchange_n(&probes_sums(run->probes)->unclocked, UNCLOCKED_NONE, __ATOMIC_SEQ_CST);
	depths = probes_depths(run->probes, run->views);
	if (clocks_tick(&a->clocks, &depths, unclocked))
		change_clocks(run, now);
}

/* ---- the states ---- */

/* Ledgers rest only if no file system is there whose calls nothing would tell of. */
static bool may_rest(struct traced_run *run, uint64_t now)
{
	struct quiet *q = &run->attached.ledgers;

	if (quiet_broken(q, any_call(run, now), now) || !quiet_enough(q, now))
		return false;
	if (!run_wake_sources_lacking(run))
		return true;
	q->since = now; /* look for them again later */
	return false;
}

static void tick_ledgers(struct traced_run *run, uint64_t now)
{
	drop_idle(run, now);
	if (may_rest(run, now)) {
		rest(run, now);
		return;
	}
	switch (run->attached.state) {
	case ATTACHED_ALL: tick_all(run, now); break;
	case ATTACHED_BOTH: tick_both(run, now); break;
	case ATTACHED_DRAINING: tick_draining(run, now); break;
	default: break;
	}
}

/* While it settles, programs that were detached may still run. */
void run_attached_wake(struct traced_run *run)
{
	const struct attached *a = &run->attached;

	if (run->ring && a->state >= ATTACHED_REQUESTS && probes_rung(run->probes))
		wake(run, clock_ns());
	if ((a->state == ATTACHED_DRAINING || a->state == ATTACHED_FUNCTIONS) &&
	    probes_sys_enter_bell(run->probes) == BELL_RUNG)
		trace_syscalls(run);
}

void run_attached_tick(struct traced_run *run)
{
	const struct attached *a = &run->attached;
	uint64_t now = clock_ns();

	if (a->state == ATTACHED_SETTLING)
		settle(run, now);
	else if (ledgers_on(a) && run->opts.want.may_idle)
		tick_ledgers(run, now);
	run_attached_wake(run);
	if (a->state >= ATTACHED_REQUESTS)
		tick_clocks(run, now);
}

void run_attached_second(struct traced_run *run)
{
	if (run->ring && run->attached.state != ATTACHED_ALL)
		run_wake_sources_tell(run);
}

/* ---- what a report says of it ---- */

static void note_time(struct report *r, const char *before, uint64_t ns, const char *after)
{
	if (ns)
		strv_add(&r->notes, xasprintf("%s %s of the run%s", before, num_duration(ns, 0).s, after));
}

void run_attached_note(const struct traced_run *run, enum span span, struct report *r)
{
	const struct attached *a = &run->attached;
	const struct wire_run *sums = probes_sums(run->probes), *before = span == SPAN_FILE ? &run->turn.run : NULL;
	uint64_t begun = sums->idle_calls - (before ? before->idle_calls : 0);
	uint64_t ended = sums->idle_ends - (before ? before->idle_ends : 0);
	uint64_t rested = 0;

	for (int i = ATTACHED_SETTLING; run->ring && i < ATTACHED_STATES; i++)
		rested += spent_in(a, (enum attached_state)i);
	r->idle_unended = begun > ended ? begun - ended : 0;
	note_time(r, "for", spent_in(a, ATTACHED_COMPLETIONS),
		  " only completions were traced: then a request's times are by its own clocks, its queue begins when it "
		  "came into being, and without valid clocks it has no times");
	note_time(r, "for", spent_in(a, ATTACHED_INSERTS),
		  " only inserts and completions were traced: then when a request was issued is by its own clock, and "
		  "without a valid one it has no times");
	note_time(r, "ledgers were off for", rested, ", as no sync call came (--eager keeps them on)");
}
