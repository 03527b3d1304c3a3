// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_entry.c - a program at sys_enter costs every system call of the machine. Where sync calls can be traced at functions of their own, it
 * is attached only while somebody needs it: writes to files that are open for synchronous writing, and 32-bit programs. Otherwise such a
 * call rings (idle.bpf.h). The run begins with it: a short one misses nothing, and need not detach from functions, which is slow.
 */
#include "run/run_internal.h"

#include <string.h>

#include "util/clock.h"

#define QUIET_NS     10000000000ull /* as in run_idle.c */
#define KEEP_TIMES   10
#define KEEP_MOST_NS 3600000000000ull
#define DROP_NS	     1000000000ull
#define STOP_NS	     10000000ull /* more than probes_trace_functions() wants */

static bool any(const void *ctx __attribute__((unused)), uint32_t dev __attribute__((unused)))
{
	return true;
}

/* Is a call under way that began before? Its end may be one that sys_exit tells of. */
static bool any_before(const struct traced_run *run, uint64_t time)
{
	const struct calls_wanted w = { .until = clock_ns(), .counts = any };

	return probes_oldest_call(run->probes, &w) < time;
}

static bool may_leave(const struct entry *i, uint64_t now)
{
	return !i->refused && now >= i->quiet_since + QUIET_NS && (!i->calls || now >= i->keep_until);
}

static void leave(struct traced_run *run, uint64_t now)
{
	struct entry *i = &run->entry;
	int err;

	i->quiet_since = now; /* where it is remote: looked for again later */
	if (run_idle_any_remote(run))
		return;
	err = probes_trace_functions(run->probes);
	if (err)
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "every system call is seen, as sync calls can't be traced at their functions: %s", strerror(-err));
	i->refused = err;
	if (err)
		return;
	run_idle_tell(run);
	i->state = ENTRY_LEAVING;
	i->since = clock_ns();
}

static void tick_traced(struct traced_run *run, uint64_t now)
{
	struct entry *i = &run->entry;

	if (i->since && !i->dropped && now >= i->since + DROP_NS) {
		probes_drop_idle(run->probes);
		i->dropped = true;
	}
	if (probes_last_sys_enter_call(run->probes) > i->quiet_since) {
		i->quiet_since = now;
		i->calls = true;
	} else if (may_leave(i, now)) {
		leave(run, now);
	}
}

/* sys_enter has been detached. */
static void is_off(struct traced_run *run, enum entry_state state)
{
	run->entry.state = state;
	run->entry.since = clock_ns();
	run->entry.calls_before = probes_sums(run->probes)->idle_calls;
}

static void tick_leaving(struct traced_run *run, uint64_t now)
{
	if (now < run->entry.since + STOP_NS)
		return;
	probes_stop_sys_enter(run->probes);
	is_off(run, ENTRY_ENDING);
}

static void tick_ending(struct traced_run *run)
{
	if (any_before(run, run->entry.since))
		return;
	probes_stop_sys_exit(run->probes);
	run->entry.state = ENTRY_OFF;
	notice(&run->opts.notices, NOTICE_DETAIL,
	       "sync calls are traced at their functions: other system calls are not seen any more");
}

void run_entry_tick(struct traced_run *run, uint64_t now)
{
	switch (run->entry.state) {
	case ENTRY_TRACED: tick_traced(run, now); break;
	case ENTRY_LEAVING: tick_leaving(run, now); break;
	case ENTRY_ENDING: tick_ending(run); break;
	case ENTRY_OFF: break;
	}
	run_entry_bell(run);
}

static void traced_again(struct traced_run *run, uint64_t now)
{
	struct entry *i = &run->entry;
	uint64_t slept = now - i->since;

	i->keep_until = clock_after(now, slept < KEEP_MOST_NS / KEEP_TIMES ? slept * KEEP_TIMES : KEEP_MOST_NS);
	i->state = ENTRY_TRACED;
	i->since = i->quiet_since = now;
	i->calls = probes_sums(run->probes)->idle_calls != i->calls_before;
	i->dropped = false;
}

void run_entry_bell(struct traced_run *run)
{
	int err;

	if (run->entry.state < ENTRY_ENDING || probes_sys_enter_bell(run->probes) != BELL_RUNG)
		return;
	err = probes_trace_syscalls(run->probes);
	if (err)
		notice(&run->opts.notices, NOTICE_ERROR, "cannot trace system calls again: %s", strerror(-err));
	else
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "a write that syncs, or a 32-bit program: every system call is seen again");
	traced_again(run, clock_ns());
}

void run_entry_rests(struct traced_run *run)
{
	if (probes_sys_enter_bell(run->probes) != BELL_OFF && run->entry.state != ENTRY_OFF)
		is_off(run, ENTRY_OFF);
}

void run_entry_wakes(struct traced_run *run, uint64_t now)
{
	if (run->entry.state == ENTRY_TRACED)
		run->entry.quiet_since = now;
	else if (probes_sys_enter_bell(run->probes) == BELL_OFF)
		traced_again(run, now);
}
