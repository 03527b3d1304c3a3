// SPDX-License-Identifier: GPL-2.0-only
/* outstanding.c - the verdict where calls that have not returned took more time than all that did, and what else is said of them. */
#include <string.h>

#include "analyse/verdict/facts.h"
#include "model/outstanding.h"
#include "util/num.h"

#define LOG "Look for its errors, timeouts and resets in the kernel's log (dmesg). Risk: none."

static const char *const on_flush[] = {
	"Find out why the drive does not complete the FLUSH. " LOG,
	"Look at what lies below the disk: a RAID controller that rebuilds, a hypervisor's storage, a network. Risk: none.",
	NULL
};
static const char *const on_device[] = {
	"Find out why the drive does not complete the request. " LOG,
	"Look at what else the disk does: barriertrace without a filter shows it. Risk: none.", NULL
};
static const char *const on_scheduler[] = {
	"Look at what holds the disk's queue: barriertrace without a filter shows it, by process. Risk: none.", NULL
};
static const char *const on_throttle[] = {
	"Raise the cgroup's limit (io.max, io.latency, io.cost), or loosen queue/wbt_lat_usec. Risk: its neighbours get less.",
	NULL
};
static const char *const on_task[] = {
	"See in /proc/PID/stack where the task that it waits for stands; echo w > /proc/sysrq-trigger writes all that are blocked to "
	"the kernel's log. Risk: none.",
	NULL
};
static const char *const on_cpu[] = { "See with perf top, or in /proc/PID/stack, what the kernel computes. Risk: none.",
				      NULL };

static const struct {
	const char *step, *class;
	const char *const *advice;
} kinds[] = {
	{ "flush", "device-flush", on_flush },
	{ "flush.wait", "device-flush", on_flush },
	{ "device.write", "device-write", on_device },
	{ "device.read", "device-read", on_device },
	{ "device.fua", "device-fua", on_device },
	{ "device.discard", "device-write", on_device },
	{ "device.other", "device-write", on_device },
	{ "ioq", "io-scheduler", on_scheduler },
	{ "tag", "io-scheduler", on_scheduler },
	{ "throttle", "throttled", on_throttle },
	{ "journal", "journal", on_task },
	{ "lock", "lock", on_task },
	{ "cpu", "cpu", on_cpu },
	{ "unknown", "mixed", on_task },
};

static size_t kind_of(const char *step)
{
	size_t i = 0, last = sizeof(kinds) / sizeof(kinds[0]) - 1;

	while (i < last && strcmp(kinds[i].step, step))
		i++;
	return i;
}

/* Those of others only where there is nothing that was asked for. */
static bool is_of_verdict(const struct report *r, const struct report_outstanding *o)
{
	return !o->other || (!r->sync.count && !r->under_way);
}

/* The time that they took of the report's, ns. */
static double time_of(const struct report *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->n_outstanding; i++) {
		const struct report_outstanding *o = &r->outstanding[i];

		if (is_of_verdict(r, o))
			sum += r->wall_ns && o->ns > r->wall_ns ? (double)r->wall_ns : (double)o->ns;
	}
	return sum;
}

void outstanding_facts(struct facts *f)
{
	const struct report *r = f->r;

	f->hung = NULL;
	f->hung_ns = time_of(r);
	for (size_t i = 0; i < r->n_outstanding && !f->hung; i++)
		if (is_of_verdict(r, &r->outstanding[i]))
			f->hung = &r->outstanding[i];
}

const char *outstanding_class(const struct facts *f, int *family)
{
	enum cause_family of = outstanding_family(f->hung);

	*family = of == FAMILY_UNKNOWN ? -1 : (int)of;
	return kinds[kind_of(f->hung->step)].class;
}

const char *const *outstanding_advice(const struct facts *f)
{
	return kinds[kind_of(f->hung->step)].advice;
}

void outstanding_say(const struct facts *f, struct buf *b)
{
	const struct report *r = f->r;
	uint64_t more = f->hung->other ? r->under_way : r->under_way ? r->under_way - 1 : 0;

	outstanding_who(f->hung, b);
	buf_str(b, " and has not returned. ");
	outstanding_wait(f->hung, b);
	if (f->hung->other)
		buf_str(b, r->command ? " It is none of the command's." : " It is none of the filtered tasks.");
	if (more)
		buf_printf(b, " %s more %s not returned.", num_count(more).s, more == 1 ? "call has" : "calls have");
	if (r->have_exit_status && r->exit_status)
		buf_printf(b, " The command ended with exit status %d.", r->exit_status);
}

/* A second or more is what somebody may look for; where there is no other call, any. */
#define BEGAN_SAID_NS 1000000000ull

void outstanding_say_began(const struct facts *f, struct buf *b)
{
	const struct report *r = f->r;
	struct num n = num_duration(r->began_before_ns, 0);

	if (r->sync.count && r->began_before_ns < BEGAN_SAID_NS)
		return;
	if (r->began_before == 1)
		buf_printf(b, " One call began before the trace and returned after at least %s.", n.s);
	else if (r->began_before)
		buf_printf(b, " %s calls began before the trace and returned, the longest after at least %s.",
			   num_count(r->began_before).s, n.s);
}
