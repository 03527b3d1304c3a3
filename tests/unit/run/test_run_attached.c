// SPDX-License-Identifier: GPL-2.0-only
/*
 * When programs are detached and attached again: those that only ledgers need, and those at sys_enter. The kernel's side is ours, and so
 * is time. The linker puts the __wrap functions in the place of the library's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"
#include "run/run_internal.h"
#include "tap.h"
#include "util/mem.h"

#define MS	1000000ull
#define SEC	1000000000ull
#define NO_CALL UINT64_MAX

/* What the kernel's side would answer, and what it was asked for since. */
static struct {
	uint64_t now, last_call, last_sys_enter_call, oldest_call;
	const char *fstype;  /* of the only file system that is mounted; NULL: none is */
	unsigned int looked; /* at what is mounted */
	bool rung;
	enum wire_bell bell;
	int wakes, functions, syscalls; /* what these return */
	struct wire_run sums;
	unsigned int rested, woken, forgotten, dropped, told, at_functions, at_syscalls, enter_stopped, exit_stopped,
		journals;
	bool may_use_clocks;
	enum wire_clocks clocks; /* that times are by now */
	int clocks_fail;
	struct wire_depth depths;
	char said[256];
	enum notice_level level;
} k;

static struct traced_run run;

uint64_t __wrap_clock_ns(void);
void __wrap_mounts_each(void (*each)(void *ctx, const struct mounted *m), void *ctx);

uint64_t __wrap_clock_ns(void)
{
	return k.now;
}

void __wrap_mounts_each(void (*each)(void *ctx, const struct mounted *m), void *ctx)
{
	const struct mounted m = { .fstype = k.fstype };

	k.looked++;
	if (k.fstype)
		each(ctx, &m);
}

struct wire_run *probes_sums(const struct probes *p __attribute__((unused)))
{
	return &k.sums;
}

void probes_drop_idle(struct probes *p __attribute__((unused)))
{
	k.dropped++;
}

bool probes_hear(const struct probes *p __attribute__((unused)), const char *fstype __attribute__((unused)))
{
	return false;
}

void probes_tell_covered(const struct probes *p __attribute__((unused)), const uint32_t *dev __attribute__((unused)),
			 size_t n __attribute__((unused)))
{
	k.told++;
}

void probes_tell_cached(const struct probes *p __attribute__((unused)), struct wire_disk *disk __attribute__((unused)),
			bool cached __attribute__((unused)))
{
}

void probes_tell_elsewhere(const struct probes *p __attribute__((unused)), const uint32_t *dev __attribute__((unused)),
			   size_t n __attribute__((unused)))
{
}

uint64_t probes_last_call(const struct probes *p __attribute__((unused)))
{
	return k.last_call;
}

uint64_t probes_last_sys_enter_call(const struct probes *p __attribute__((unused)))
{
	return k.last_sys_enter_call;
}

uint64_t probes_oldest_call(const struct probes *p __attribute__((unused)), const struct calls_wanted *want)
{
	return k.oldest_call < want->until ? k.oldest_call : NO_CALL;
}

void probes_rest(struct probes *p __attribute__((unused)))
{
	k.rested++;
}

int probes_wake(struct probes *p __attribute__((unused)))
{
	k.woken++;
	k.rung = false;
	return k.wakes;
}

bool probes_rung(const struct probes *p __attribute__((unused)))
{
	return k.rung;
}

void probes_forget_tasks(struct probes *p __attribute__((unused)), bool (*counts)(const void *ctx, uint32_t dev),
			 const void *ctx)
{
	k.forgotten += counts(ctx, 7);
}

int probes_trace_functions(struct probes *p __attribute__((unused)))
{
	k.at_functions++;
	return k.functions;
}

void probes_stop_sys_enter(struct probes *p __attribute__((unused)))
{
	k.enter_stopped++;
	k.bell = BELL_LISTENS;
}

void probes_stop_sys_exit(struct probes *p __attribute__((unused)))
{
	k.exit_stopped++;
}

enum wire_bell probes_sys_enter_bell(const struct probes *p __attribute__((unused)))
{
	return k.bell;
}

int probes_trace_syscalls(struct probes *p __attribute__((unused)))
{
	k.at_syscalls++;
	k.bell = BELL_OFF;
	return k.syscalls;
}

bool run_is_of_run(const void *r, uint32_t dev)
{
	return r == &run && dev == 7;
}

void run_follow_journals(struct traced_run *r __attribute__((unused)))
{
	k.journals++;
}

bool probes_may_use_clocks(const struct probes *p __attribute__((unused)))
{
	return k.may_use_clocks;
}

int probes_use_clocks(struct probes *p __attribute__((unused)), enum wire_clocks which)
{
	k.clocks = which;
	return k.clocks_fail;
}

struct wire_depth probes_depths(const struct probes *p __attribute__((unused)), uint32_t views __attribute__((unused)))
{
	return k.depths;
}

static void said(void *ctx __attribute__((unused)), enum notice_level level, const char *text)
{
	k.level = level;
	snprintf(k.said, sizeof(k.said), "%s", text);
}

/* ---- a run ---- */

static void begin(void)
{
	static char ring;

	memset(&k, 0, sizeof(k));
	memset(&run, 0, sizeof(run));
	k.now = 1000 * SEC;
	k.oldest_call = NO_CALL;
	k.sums.idle_calls = k.sums.idle_ends = 3; /* of earlier pauses */
	k.functions = -EOPNOTSUPP;
	run.opts.want.may_idle = true;
	run.opts.notices.tell = said;
	run.ring = (struct ring *)&ring;
	run_attached_start(&run, k.now);
}

static void tick_after(uint64_t ns)
{
	k.now += ns;
	run_attached_tick(&run);
}

/* Without a call, to rest: some ms later, as it settles first. */
static void begin_at_rest(void)
{
	begin();
	tick_after(10 * SEC);
	tick_after(100 * MS);
	k.said[0] = 0;
}

static void ring(void)
{
	k.rung = true;
	run_attached_wake(&run);
}

/* ---- ledgers ---- */

static void rests_when_quiet(void)
{
	begin();
	tick_after(10 * SEC - 1);
	ok(!k.rested, "ledgers are on for 10 s after the start");
	tick_after(1);
	ok(k.rested == 1 && k.told == 1 && strstr(k.said, "no sync call for 10.0 s: ledgers are off"),
	   "then they are off, once BPF knows who rings");
	k.rung = true;
	run_attached_wake(&run);
	ok(!k.woken && !k.forgotten, "nothing is heard while programs may still run");
	tick_after(100 * MS);
	ok(k.forgotten == 1 && k.woken == 1, "some ms later what they left is forgotten, and the bell is heard");
	begin();
	run.opts.want.may_idle = false;
	tick_after(60 * SEC);
	begin();
	run.ring = NULL;
	run_attached_start(&run, k.now);
	tick_after(60 * SEC);
	ok(!k.rested, "a run that may not, or has no ledgers, does not rest");
}

static void calls_keep_awake(void)
{
	begin();
	k.now += 5 * SEC;
	k.last_call = k.now;
	tick_after(100 * MS);
	tick_after(10 * SEC - 1);
	ok(!k.rested, "a call keeps ledgers on for 10 s");
	tick_after(1);
	ok(k.rested == 1, "but no longer");
	begin();
	k.oldest_call = k.now + SEC;
	tick_after(10 * SEC);
	tick_after(60 * SEC);
	ok(!k.rested, "one that takes long as long as it takes");
	k.oldest_call = NO_CALL;
	tick_after(10 * SEC);
	ok(k.rested == 1, "and 10 s more");
}

static void remote_file_systems_keep_awake(void)
{
	begin();
	run.opts.all = true;
	k.fstype = "nfs4";
	tick_after(10 * SEC);
	ok(!k.rested, "with a file system that rings no bell ledgers stay on");
	k.fstype = "ext4";
	tick_after(10 * SEC - 1);
	ok(!k.rested, "it is looked for every 10 s");
	tick_after(1);
	ok(k.rested == 1, "and not found any more");
	begin();
	k.fstype = "nfs4";
	tick_after(10 * SEC);
	ok(k.rested == 1, "where disks are traced, no file of it counts");
}

static void wakes(void)
{
	begin_at_rest();
	tick_after(20 * SEC - 100 * MS);
	ring();
	ok(k.woken == 1 && k.journals == 1 && k.level == NOTICE_DETAIL &&
		   !strcmp(k.said, "after 20.0 s something asked for durability: ledgers are on again"),
	   "the bell is heard, and journals are followed: %s", k.said);
	tick_after(SEC - 1);
	ok(!k.dropped, "calls that began before may end");
	tick_after(1);
	tick_after(SEC);
	ok(k.dropped == 1, "for a second");
	tick_after(200 * SEC);
	tick_after(SEC);
	ring();
	tick_after(SEC);
	ok(k.woken == 2 && k.dropped == 2, "after each pause");
	begin_at_rest();
	k.wakes = -ENOMEM;
	ring();
	ok(!k.journals && k.level == NOTICE_ERROR &&
		   strstr(k.said, "cannot switch ledgers on again: Cannot allocate memory"),
	   "what fails is said");
	tick_after(0);
	ok(run.attached.state == ATTACHED_ALL, "and not tried again at once");
}

/* Until ledgers rest again; 0: not within two hours. In s. */
static unsigned int awake_for(uint64_t pause, bool call)
{
	begin_at_rest();
	tick_after(pause - 100 * MS);
	k.sums.idle_calls += call;
	ring();
	for (unsigned int s = 1; s <= 7200; s++) {
		tick_after(SEC);
		if (k.rested == 2)
			return s;
	}
	return 0;
}

static void rare_calls_are_traced(void)
{
	ok(awake_for(15 * SEC, true) == 150, "after a pause of 15 s that a call ended, ledgers are on for ten times that");
	ok(awake_for(SEC / 2, true) == 10, "for 10 s at least");
	ok(awake_for(1000 * SEC, true) == 3600, "for an hour at most");
	ok(awake_for(15 * SEC, false) == 10, "for 10 s if it was no call that ended it");
	begin_at_rest();
	tick_after(15 * SEC - 100 * MS);
	ring();
	k.last_call = k.now + 1;
	tick_after(SEC);
	tick_after(20 * SEC);
	ok(k.rested == 1, "a call that comes then counts as well");
}

static void is_reported(void)
{
	struct report r = { 0 };

	begin_at_rest();
	k.sums.idle_calls = 5;
	k.now += 20 * SEC - 100 * MS;
	run_attached_note(&run, SPAN_RUN, &r);
	ok(r.idle_unended == 2 && r.notes && strstr(r.notes[0], "ledgers were off for 20.0 s of the run"),
	   "a pause is noted while it lasts");
	strv_free(r.notes);
	r = (struct report){ 0 };
	ring();
	k.now += 100 * SEC;
	run.turn.run.idle_calls = 4;
	run.turn.run.idle_ends = 3;
	run_attached_note(&run, SPAN_FILE, &r);
	ok(r.idle_unended == 1 && r.notes && strstr(r.notes[0], "20.0 s"), "and after it; in a file its own calls");
	strv_free(r.notes);
	r = (struct report){ 0 };
	begin();
	k.sums.idle_ends = 4;
	run_attached_note(&run, SPAN_RUN, &r);
	ok(!r.idle_unended && !r.notes, "without a pause there is no note");
}

/* ---- sys_enter ---- */

/* Sync calls come all the time. */
static void called_after(uint64_t ns)
{
	k.last_call = k.now + ns;
	tick_after(ns);
}

static void begin_with_functions(void)
{
	begin();
	k.functions = 0;
}

/* sys_enter is detached, and sys_exit is not. */
static void begin_draining(void)
{
	begin_with_functions();
	called_after(9 * SEC);
	called_after(SEC);
	called_after(10 * MS);
}

static void leaves_sys_enter(void)
{
	begin_with_functions();
	called_after(9 * SEC);
	called_after(SEC - 1);
	ok(!k.at_functions, "system calls are seen for 10 s after the start");
	called_after(1);
	ok(k.at_functions == 1 && k.told == 1 && !k.enter_stopped, "then sync calls are traced at their functions");
	called_after(10 * MS - 1);
	ok(!k.enter_stopped, "and twice for 10 ms");
	k.oldest_call = k.now;
	called_after(1);
	ok(k.enter_stopped == 1 && !k.exit_stopped, "before sys_enter is detached");
	called_after(SEC);
	ok(!k.exit_stopped, "sys_exit is needed while a call lasts that began before");
	k.oldest_call = run.attached.sys_enter.changed;
	called_after(SEC);
	ok(k.exit_stopped == 1 && strstr(k.said, "other system calls are not seen any more"),
	   "not for one that began later");
	called_after(60 * SEC);
	ok(k.at_functions == 1 && k.enter_stopped == 1 && k.exit_stopped == 1 && !k.rested, "that was it");
}

static void keeps_sys_enter(void)
{
	begin_with_functions();
	called_after(9 * SEC);
	k.last_sys_enter_call = k.now;
	called_after(SEC);
	called_after(9 * SEC);
	ok(!k.at_functions, "a call that only sys_enter tells of keeps it for 10 s");
	called_after(SEC);
	ok(k.at_functions == 1, "but no longer");
	begin();
	called_after(9 * SEC);
	called_after(SEC);
	ok(k.at_functions == 1 && strstr(k.said, "can't be traced at their functions: Operation not supported"),
	   "a refusal is said");
	called_after(60 * SEC);
	ok(k.at_functions == 1 && !k.enter_stopped, "and not asked for again");
	begin_with_functions();
	run.opts.all = true;
	k.fstype = "ceph";
	called_after(9 * SEC);
	called_after(SEC);
	called_after(SEC);
	ok(!k.at_functions && k.looked == 1,
	   "beside a file system that rings no bell it stays, which is not looked for all the time");
	k.fstype = NULL;
	called_after(8 * SEC);
	called_after(SEC);
	ok(k.at_functions == 1, "until that is unmounted");
}

static void comes_back(void)
{
	begin_draining();
	k.bell = BELL_RUNG;
	k.now += 20 * SEC;
	run_attached_wake(&run);
	ok(k.at_syscalls == 1 && strstr(k.said, "every system call is seen again") && run.attached.state == ATTACHED_ALL,
	   "a write that syncs brings sys_enter back");
	k.last_sys_enter_call = k.now + 1;
	called_after(1 + SEC);
	for (int i = 0; i < 198; i++)
		called_after(SEC);
	ok(k.at_functions == 1, "for ten times the pause");
	ok(k.dropped == 1, "and calls that began before may end for a second");
	called_after(SEC);
	ok(k.at_functions == 2, "but no longer");
	begin_draining();
	k.bell = BELL_RUNG;
	k.syscalls = -EBUSY;
	called_after(SEC);
	ok(k.level == NOTICE_ERROR && strstr(k.said, "cannot trace system calls again: Device or resource busy"),
	   "what fails is said");
}

static void both_rest(void)
{
	uint64_t changed;

	begin_draining();
	tick_after(10 * SEC);
	ok(k.rested == 1 && run.attached.state == ATTACHED_SETTLING, "when ledgers rest, nothing is left to drain");
	tick_after(SEC);
	ring();
	ok(k.woken == 1 && run.attached.state == ATTACHED_FUNCTIONS, "and sync calls go on at their functions");
	begin_draining();
	called_after(SEC);
	changed = run.attached.sys_enter.changed;
	tick_after(10 * SEC);
	ok(k.exit_stopped == 1 && k.rested == 1 && run.attached.sys_enter.changed == changed,
	   "one that was off before has been so since then");
	tick_after(SEC);
	k.bell = BELL_OFF; /* probes_wake() attaches both */
	ring();
	ok(run.attached.state == ATTACHED_ALL && run.attached.sys_enter.since == k.now,
	   "unless that brought sys_enter back");
	begin();
	tick_after(10 * SEC);
	tick_after(SEC);
	ring();
	ok(k.rested == 1 && run.attached.state == ATTACHED_ALL && run.attached.sys_enter.since == k.now,
	   "where there are no functions to trace it is as it was, and its time begins anew");
}

/* ---- the requests' own clocks ---- */

/* A tenth of a second with so many requests, whose own clocks are right. */
static void busy_tick(unsigned int requests)
{
	k.depths.completed += requests;
	k.depths.of += 1000 * requests;
	tick_after(100 * MS);
}

static void clocks_at_rest(void)
{
	struct report r = { 0 };

	begin();
	k.may_use_clocks = true;
	busy_tick(1000);
	busy_tick(1000);
	ok(run.attached.state == ATTACHED_ALL, "while ledgers are on, insert and issue are traced");
	tick_after(10 * SEC);
	tick_after(100 * MS);
	for (int i = 0; i < 3; i++)
		busy_tick(1000);
	ok(k.clocks == CLOCKS_ALL && strstr(k.said, "times are the requests' own clocks"),
	   "at rest the requests' own clocks do");
	k.now += SEC;
	run_attached_note(&run, SPAN_RUN, &r);
	ok(r.notes && strstr(r.notes[0], "for 1.20 s of the run only completions were traced") &&
		   strstr(r.notes[1], "ledgers were off for"),
	   "both are noted: %s", r.notes ? r.notes[0] : "");
	strv_free(r.notes);
	ring();
	ok(run.attached.state == ATTACHED_ALL && !run.attached.clocks.own, "a call takes all back");
	begin();
	k.may_use_clocks = true;
	k.clocks_fail = -EBUSY;
	run.ring = NULL;
	run_attached_start(&run, k.now);
	for (int i = 0; i < 3; i++)
		busy_tick(1000);
	ok(k.level == NOTICE_ERROR && strstr(k.said, "cannot stop tracing insert and issue: Device or resource busy"),
	   "what fails is said, also without ledgers");
}

int main(void)
{
	rests_when_quiet();
	calls_keep_awake();
	remote_file_systems_keep_awake();
	wakes();
	rare_calls_are_traced();
	is_reported();
	leaves_sys_enter();
	keeps_sys_enter();
	comes_back();
	both_rest();
	clocks_at_rest();
	return tap_done();
}
