// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_idle.c - while no sync call comes, the programs that only ledgers need are detached. The next sync call rings (idle.bpf.h), and they
 * are attached again within some ms.
 */
#include "run/run_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/covered_devices.h"
#include "host/sysfs.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/num.h"

#define QUIET_NS     10000000000ull   /* without a call that needs the programs */
#define KEEP_TIMES   10		      /* keep them for this many times the last pause, so that rare calls are traced, */
#define KEEP_MOST_NS 3600000000000ull /* but at most for so long */
#define DROP_IDLE_NS 1000000000ull    /* after they were attached again */

/* ---- when to detach and attach ---- */

/* A bell that no sync call followed, such as a journal's own commit, keeps nothing attached. */
bool run_quiet_enough(const struct quiet *q, uint64_t now)
{
	return now >= q->since + QUIET_NS && (!q->calls || now >= q->keep_until);
}

void run_quiet_off(const struct traced_run *run, struct quiet *q, uint64_t now)
{
	q->changed = now;
	q->calls_before = probes_sums(run->probes)->idle_calls;
}

void run_quiet_on(const struct traced_run *run, struct quiet *q, uint64_t now)
{
	uint64_t pause = now - q->changed;

	q->keep_until = clock_after(now, pause < KEEP_MOST_NS / KEEP_TIMES ? pause * KEEP_TIMES : KEEP_MOST_NS);
	q->changed = q->since = now;
	q->calls = probes_sums(run->probes)->idle_calls != q->calls_before;
	q->dropped = false;
}

/* Drop the notes of calls that began during the pause and whose end was not seen. */
void run_quiet_drop(const struct traced_run *run, struct quiet *q, uint64_t now)
{
	if (!q->changed || q->dropped || now < q->changed + DROP_IDLE_NS)
		return;
	probes_drop_idle(run->probes);
	q->dropped = true;
}

/* ---- who rings ---- */

static bool covers(const void *ctx, const char *fstype)
{
	return probes_hear(ctx, fstype);
}

static void tell_covered(struct traced_run *run)
{
	struct covered_devices c;

	covered_devices_read(covers, run->probes, &c);
	probes_tell_covered(run->probes, c.dev, c.n);
	covered_devices_free(&c);
}

static void look_for_remote(void *ctx, const struct mounted *m)
{
	static const char *const remote[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "lustre", "gpfs" };
	bool *any = ctx;

	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		*any |= !strcmp(m->fstype, remote[i]);
}

/* True if all file systems are traced and some ring no bell, as they are on none of our disks. */
bool run_idle_any_remote(const struct traced_run *run)
{
	bool any = false;

	if (run->opts.all)
		mounts_each(look_for_remote, &any);
	return any;
}

/* A disk's cache can be turned on and off meanwhile, and so can what the kernel believes of it. */
static void tell_caches(struct traced_run *run)
{
	for (size_t i = 0; i < run->n_disks; i++) {
		char *cache = block_text(run->disk[i].name, "queue/write_cache");

		probes_tell_cached(run->probes, &run->disk[i].wire, cache && !strcmp(cache, "write back"));
		free(cache);
	}
}

void run_idle_start(struct traced_run *run)
{
	uint32_t *dev = xcalloc(run->places.n, sizeof(*dev));
	size_t n = 0;

	for (size_t i = 0; i < run->places.n && run->opts.want.may_idle; i++)
		if (!run_is_of_run(run, run->places.device[i].dev))
			dev[n++] = run->places.device[i].dev;
	probes_tell_elsewhere(run->probes, dev, n);
	free(dev);
}

/* ---- rest and wake ---- */

static bool counts(const void *ctx, uint32_t dev)
{
	return run_is_of_run(ctx, dev);
}

/* Is a call under way, or has one come since the last look? */
static bool any_call(struct traced_run *run, uint64_t now)
{
	const struct calls_wanted of_run = { .until = now, .counts = counts, .ctx = run };

	if (probes_last_call(run->probes) > run->idle.quiet.since)
		return true;
	return now >= run->idle.quiet.since + QUIET_NS && probes_oldest_call(run->probes, &of_run) < now;
}

static void rest(struct traced_run *run, uint64_t now)
{
	run_idle_tell(run);
	probes_rest(run->probes);
	run_sys_enter_rests(run);
	run->idle.state = IDLE_SETTLING;
	run_quiet_off(run, &run->idle.quiet, now);
	notice(&run->opts.notices, NOTICE_DETAIL, "no sync call for %s: ledgers are off until the next",
	       num_duration(QUIET_NS, 0).s);
}

/* Journals are followed from the start, as at that of the run. */
static void wake(struct traced_run *run, uint64_t now)
{
	struct idle *i = &run->idle;
	uint64_t slept = now - i->quiet.changed;
	int err = probes_wake(run->probes);

	run_clocks_traced(run);
	run_sys_enter_wakes(run, now);
	if (err) {
		notice(&run->opts.notices, NOTICE_ERROR, "cannot switch ledgers on again: %s", strerror(-err));
	} else {
		run_follow_journals(run);
		notice(&run->opts.notices, NOTICE_DETAIL,
		       "after %s something asked for durability: ledgers are on again", num_duration(slept, 0).s);
	}
	i->state = IDLE_AWAKE;
	i->ns += slept;
	run_quiet_on(run, &i->quiet, now);
}

static void tick_awake(struct traced_run *run, uint64_t now)
{
	struct idle *i = &run->idle;

	run_quiet_drop(run, &i->quiet, now);
	if (any_call(run, now)) {
		i->quiet.since = now;
		i->quiet.calls = true;
	} else if (run_quiet_enough(&i->quiet, now)) {
		if (run_idle_any_remote(run))
			i->quiet.since = now; /* look for them again later */
		else
			rest(run, now);
	}
	if (i->state == IDLE_AWAKE)
		run_sys_enter_tick(run, now);
}

/* While it settles, programs that were detached may still run. */
void run_idle_bell(struct traced_run *run)
{
	if (run->idle.state == IDLE_RESTS && probes_rung(run->probes))
		wake(run, clock_ns());
	if (run->idle.state == IDLE_AWAKE)
		run_sys_enter_bell(run);
}

void run_idle_tick(struct traced_run *run)
{
	if (!run->opts.want.may_idle || !run->ring)
		return;
	if (run->idle.state == IDLE_AWAKE) {
		tick_awake(run, clock_ns());
		return;
	}
	if (run->idle.state == IDLE_SETTLING) {
		probes_forget_tasks(run->probes, counts, run);
		run->idle.state = IDLE_RESTS;
	}
	run_idle_bell(run);
}

void run_idle_tell(struct traced_run *run)
{
	tell_covered(run);
	tell_caches(run);
}

void run_idle_second(struct traced_run *run)
{
	if (run->idle.state != IDLE_AWAKE || run->sys_enter.state != SYS_ENTER_ON)
		run_idle_tell(run);
}

void run_note_idle(const struct traced_run *run, enum span span, struct report *r)
{
	const struct wire_run *sums = probes_sums(run->probes), *before = span == SPAN_FILE ? &run->turn.run : NULL;
	uint64_t ns = run->idle.ns + (run->idle.state == IDLE_AWAKE ? 0 : clock_ns() - run->idle.quiet.changed);
	uint64_t begun = sums->idle_calls - (before ? before->idle_calls : 0);
	uint64_t ended = sums->idle_ends - (before ? before->idle_ends : 0);

	r->idle_unended = begun > ended ? begun - ended : 0;
	if (ns)
		strv_add(&r->notes,
			 xasprintf("ledgers were off for %s of the run, as no sync call came (--eager keeps them on)",
				   num_duration(ns, 0).s));
}
