// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_sys_enter.c - a program at sys_enter slows down every system call of the machine. Where sync calls can be traced at their own
 * functions, it is detached while no call needs it: no write that syncs, and no sync call of a 32-bit program. The next such call rings
 * (idle.bpf.h). A run starts with it attached, so that a short run misses nothing and need not detach functions, which is slow.
 */
#include "run/run_internal.h"

#include <string.h>

#include "util/clock.h"

#define STOP_NS 10000000ull /* more than probes_trace_functions() needs */

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
	struct sys_enter *s = &run->sys_enter;
	int err;

	s->quiet.since = now; /* look for remote file systems again later */
	if (run_idle_any_remote(run))
		return;
	err = probes_trace_functions(run->probes);
	if (err)
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "every system call is seen, as sync calls can't be traced at their functions: %s", strerror(-err));
	s->refused = err;
	if (err)
		return;
	run_idle_tell(run);
	s->state = SYS_ENTER_LEAVING;
	s->quiet.changed = clock_ns();
}

static void tick_on(struct traced_run *run, uint64_t now)
{
	struct sys_enter *s = &run->sys_enter;

	run_quiet_drop(run, &s->quiet, now);
	if (probes_last_sys_enter_call(run->probes) > s->quiet.since) {
		s->quiet.since = now;
		s->quiet.calls = true;
	} else if (!s->refused && run_quiet_enough(&s->quiet, now)) {
		trace_functions(run, now);
	}
}

static void tick_leaving(struct traced_run *run, uint64_t now)
{
	if (now < run->sys_enter.quiet.changed + STOP_NS)
		return;
	probes_stop_sys_enter(run->probes);
	run->sys_enter.state = SYS_ENTER_DRAINING;
	run_quiet_off(run, &run->sys_enter.quiet, clock_ns());
}

static void tick_draining(struct traced_run *run)
{
	if (any_call_before(run, run->sys_enter.quiet.changed))
		return;
	probes_stop_sys_exit(run->probes);
	run->sys_enter.state = SYS_ENTER_OFF;
	notice(&run->opts.notices, NOTICE_DETAIL,
	       "sync calls are traced at their functions: other system calls are not seen any more");
}

void run_sys_enter_tick(struct traced_run *run, uint64_t now)
{
	switch (run->sys_enter.state) {
	case SYS_ENTER_ON: tick_on(run, now); break;
	case SYS_ENTER_LEAVING: tick_leaving(run, now); break;
	case SYS_ENTER_DRAINING: tick_draining(run); break;
	case SYS_ENTER_OFF: break;
	}
	run_sys_enter_bell(run);
}

static void on_again(struct traced_run *run, uint64_t now)
{
	run->sys_enter.state = SYS_ENTER_ON;
	run_quiet_on(run, &run->sys_enter.quiet, now);
}

void run_sys_enter_bell(struct traced_run *run)
{
	int err;

	if (run->sys_enter.state < SYS_ENTER_DRAINING || probes_sys_enter_bell(run->probes) != BELL_RUNG)
		return;
	err = probes_trace_syscalls(run->probes);
	if (err)
		notice(&run->opts.notices, NOTICE_ERROR, "cannot trace system calls again: %s", strerror(-err));
	else
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "a write that syncs, or a 32-bit program: every system call is seen again");
	on_again(run, clock_ns());
}

void run_sys_enter_rests(struct traced_run *run)
{
	if (probes_sys_enter_bell(run->probes) == BELL_OFF || run->sys_enter.state == SYS_ENTER_OFF)
		return;
	run->sys_enter.state = SYS_ENTER_OFF;
	run_quiet_off(run, &run->sys_enter.quiet, clock_ns());
}

void run_sys_enter_wakes(struct traced_run *run, uint64_t now)
{
	if (run->sys_enter.state == SYS_ENTER_ON)
		run->sys_enter.quiet.since = now;
	else if (probes_sys_enter_bell(run->probes) == BELL_OFF)
		on_again(run, now);
}
